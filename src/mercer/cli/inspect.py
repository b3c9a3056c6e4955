"""`mercer inspect`: what a model file says of itself, without building anything of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mercer.cli.options import Common
from mercer.cli.outputs import Reads

if TYPE_CHECKING:
    from mercer.cli.output import Voice

MAX_VALUE_CHARACTERS = 100
"""Characters of a value that a line shows."""


@dataclass(frozen=True, kw_only=True)
class InspectOptions(Common):
    """What `mercer inspect` takes."""

    model: Annotated[Path, typer.Argument(help="A model file."), Reads()]


def inspect(options: InspectOptions, voice: Voice) -> None:
    """Show what a model file holds: its kernel, its settings, its arrays; nothing in it is run or built."""
    from mercer.cli.models import describe_model

    found = describe_model(options.model)
    record = asdict(found) if is_dataclass(found) and not isinstance(found, type) else found
    text = "\n".join(_lines(record)) if isinstance(found, Mapping) else str(found)
    voice.data({"model": record}, text)


def _lines(record: Mapping[str, Any], indent: str = "") -> Iterator[str]:
    """A line a value, deeper ones further in."""
    for key, value in record.items():
        if isinstance(value, Mapping):
            yield f"{indent}{key}:"
            yield from _lines(value, indent + "  ")
        else:
            yield f"{indent}{key}: {value!s:.{MAX_VALUE_CHARACTERS}}"
