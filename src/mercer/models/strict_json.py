"""JSON from untrusted files: of limited depth, every key once, every number one that Python holds."""

from __future__ import annotations

import json
import math
import re
from typing import Any

from mercer.models.refusing import refuse, shown

MAX_DEPTH = 32
"""How deep lists and objects may nest."""
MAX_INTEGER_LETTERS = 20
"""Letters of an integer: those of 64 bits."""
MARKS = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[\]{}]')
"""Texts, which are stepped over whether they end or not, and what opens and closes: one pass, whatever comes."""


def strict_json(text: str, what: str) -> Any:
    """The value of a text of JSON; `what` is what a message calls it. Cost: two passes over the text."""
    _check_depth(text, what)
    try:
        return json.loads(
            text, object_pairs_hook=_object, parse_int=_whole, parse_float=_float, parse_constant=_constant
        )
    except json.JSONDecodeError as error:
        refuse(f"JSON in its {what}", f"that breaks off at letter {error.pos}: {error.msg}")


def _check_depth(text: str, what: str) -> None:
    """Refuse deep nesting before a reader that calls itself meets it."""
    depth = 0
    for mark in MARKS.finditer(text):
        letter = text[mark.start()]
        if letter in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                refuse(f"at most {MAX_DEPTH} levels in its {what}", f"it nests deeper at letter {mark.start()}")
        elif letter in "]}":
            depth -= 1


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            refuse("every key once", f"{shown(key)} stands twice")
        found[key] = value
    return found


def _whole(text: str) -> int:
    if len(text) > MAX_INTEGER_LETTERS:
        refuse("integers of 64 bits", f"got one of {len(text)} letters")
    return int(text)


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        refuse("numbers that float64 holds", f"got {shown(text)}")
    return value


def _constant(text: str) -> float:
    refuse("numbers of JSON", f"got {text}")
