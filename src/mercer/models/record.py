"""The record of a model: what wrote it, and the list of its objects, as JSON that was checked and not yet used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mercer.models.refusing import refuse, shown
from mercer.models.strict_json import strict_json


@dataclass(frozen=True)
class Record:
    """What the record states.

    mercer : the version of Mercer that wrote it
    objects : each an entry and its fields; the last is the model
    """

    mercer: str
    objects: list[Any]


def record_of(text: str) -> Record:
    """The record from its text."""
    found = strict_json(text, "record")
    if not isinstance(found, dict) or set(found) != {"mercer", "objects"}:
        refuse("a record of mercer and objects", f"got {shown(found)}")
    if not isinstance(found["mercer"], str) or not isinstance(found["objects"], list) or not found["objects"]:
        refuse("a version and a list of objects", f"got {shown(found)}")
    return Record(found["mercer"], found["objects"])
