"""`mercer plan`: what a fit would take, before there is any data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from mercer.cli.exits import Exit, Failure
from mercer.cli.options import Common, seconds, size

if TYPE_CHECKING:
    from mercer.cli.voice import Voice


@dataclass(frozen=True, kw_only=True)
class PlanOptions(Common):
    """What `mercer plan` takes."""

    rows: Annotated[str, typer.Option("--rows", "-n", help="How many: 5000, 1e6.")]
    columns: Annotated[str, typer.Option("--columns", "-d", help="How many.")]
    outputs: Annotated[str, typer.Option("--outputs", help="Targets, or classes.")] = "1"
    kernel: Annotated[str | None, typer.Option("--kernel", "-k", help="Left out, Matern 5/2.")] = None
    memory: Annotated[str | None, typer.Option("--memory", help="What the fit may hold, such as 4GB.")] = None
    time: Annotated[str | None, typer.Option("--time", help="What the fit may take, such as 60s.")] = None


def plan(options: PlanOptions, voice: Voice) -> None:
    """Plan a fit of kernel ridge regression from shapes alone: ways, their time and memory, and why one is taken."""
    from mercer.cli.fitted import plan_record
    from mercer.planner.shapes import plan as planned

    shape = (count("--rows", options.rows), count("--columns", options.columns), count("--outputs", options.outputs))
    if options.memory is not None:
        size("--memory", options.memory)
    found = planned(*shape, kernel=options.kernel, memory_limit=options.memory, time_limit=seconds(options.time))
    record = {"plan": plan_record(found), "others": [plan_record(other) for other in found.others], "text": str(found)}
    voice.data(record, str(found))


def count(flag: str, text: str) -> int:
    """A whole number of a text such as "1e6".

    >>> count("--rows", "1e6"), count("--rows", "5_000")
    (1000000, 5000)
    """
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if not (1 <= found < 1e15 and found.is_integer()):
        raise Failure(Exit.USAGE, f"{flag} needs a whole number above zero; {text!r} came. Write 5000 or 1e6.")
    return int(found)
