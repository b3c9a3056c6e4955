"""`mercer plan`: what a fit would take, of a table or of shapes alone."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mercer.cli.exit_codes import Exit, Failure
from mercer.cli.options import TABLE, Reading, seconds, size
from mercer.cli.outputs import Reads

if TYPE_CHECKING:
    from mercer.cli.output import Voice


@dataclass(frozen=True, kw_only=True)
class PlanOptions(Reading):
    """What `mercer plan` takes."""

    table: Annotated[str | None, typer.Argument(help=f"{TABLE} Left out, give --rows and --columns."), Reads()] = None
    target: Annotated[str, typer.Option("--target", "-t", help="The column of a table to predict.")] = ""
    learner: Annotated[str, typer.Option("--learner", "-l", help="Of a table: ridge, svm, logistic or perceptron.")] = (
        "ridge"
    )
    rows: Annotated[str, typer.Option("--rows", "-n", help="Without a table: how many, 5000 or 1e6.")] = ""
    columns: Annotated[str, typer.Option("--columns", "-d", help="Without a table: how many.")] = ""
    outputs: Annotated[str, typer.Option("--outputs", help="Without a table: targets, or classes.")] = "1"
    kernel: Annotated[
        str | None,
        typer.Option("--kernel", "-k", help="A kernel as text (default: proposed, or Matern 5/2)."),
    ] = None
    memory_limit: Annotated[str | None, typer.Option("--memory-limit", help="Memory limit, e.g. 4GB.")] = None
    time_limit: Annotated[str | None, typer.Option("--time-limit", help="Time limit, e.g. 60s.")] = None
    backend: Annotated[str, typer.Option("--backend", help="What computes: auto, cpu, cuda or cuda:1.")] = "auto"


def plan(options: PlanOptions, voice: Voice) -> None:
    """Plan a fit without fitting: methods, their time and memory, and why one is chosen.

    Of a table, as `mercer fit` would; without one, of kernel ridge regression from shapes alone.
    """
    if options.memory_limit is not None:
        size("--memory-limit", options.memory_limit)
    found = _of_shapes(options) if options.table is None else _of_table(options, voice)
    record = {"plan": found.record(), "others": [other.record() for other in found.others], "text": str(found)}
    voice.data(record, str(found))


def _of_shapes(options: PlanOptions) -> Any:
    from mercer.planner.from_shapes import plan as planned

    if options.target:
        raise Failure(Exit.USAGE, "--target is a column of a table; got none. Write mercer plan TABLE --target COLUMN.")
    shape = (count("--rows", options.rows), count("--columns", options.columns), count("--outputs", options.outputs))
    return planned(
        *shape, kernel=options.kernel, memory_limit=options.memory_limit, time_limit=seconds(options.time_limit)
    )


def _of_table(options: PlanOptions, voice: Voice) -> Any:
    from mercer.cli.fit import FitOptions
    from mercer.cli.pipeline import planned

    given = {"--rows": options.rows, "--columns": options.columns, "--outputs": options.outputs.removeprefix("1")}
    if said := [flag for flag, value in given.items() if value]:
        raise Failure(Exit.USAGE, f"{said[0]} is for plans without a table, which says that itself.")
    if not options.target:
        raise Failure(Exit.USAGE, "a plan of a table needs its --target, the column to predict.")
    shared = {item.name: getattr(options, item.name) for item in fields(FitOptions) if hasattr(options, item.name)}
    return planned(FitOptions(**shared), voice)


def count(flag: str, text: str) -> int:
    """An integer of a text such as "1e6".

    >>> count("--rows", "1e6"), count("--rows", "5_000")
    (1000000, 5000)
    """
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if not (1 <= found < 1e15 and found.is_integer()):
        raise Failure(Exit.USAGE, f"{flag} needs a positive integer; got {text!r}. Write 5000 or 1e6.")
    return int(found)
