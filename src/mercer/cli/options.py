"""Options that verbs share, as records: a verb is a function of one of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from mercer.cli.config import use_config
from mercer.cli.exit_codes import Exit, Failure
from mercer.cli.outputs import Reads

if TYPE_CHECKING:
    from mercer.cli.output import Voice
    from mercer.models.table_model import TableModel
    from mercer.tables.limits import TableLimits
    from mercer.tables.read import Sheet, TableOptions

Result = TypeVar("Result")
TABLE = "CSV (also .gz), Parquet, Arrow or Feather, NPY, NPZ, LIBSVM; - for standard input."
READING, EVERYWHERE = "How the table is read", "Of every verb"
"""Panels of the help."""
MAX_SEED = 2**32 - 1
"""What NumPy and scikit-learn take as a seed."""
UNITS = {"": 1.0, "s": 1.0, "min": 60.0, "m": 60.0, "h": 3600.0}


@dataclass(frozen=True, kw_only=True)
class Common:
    """What every verb takes."""

    json: Annotated[
        bool,
        typer.Option("--json", help="One JSON object on standard output, with a schema.", rich_help_panel=EVERYWHERE),
    ] = False
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Only warnings on standard error.", rich_help_panel=EVERYWHERE)
    ] = False
    verbose: Annotated[
        bool,
        typer.Option(
            "--verbose",
            "-v",
            help="On standard error, all that was looked at and decided, not what is odd alone; --quiet counts more.",
            rich_help_panel=EVERYWHERE,
        ),
    ] = False
    random_state: Annotated[
        int,
        typer.Option("--random-state", min=0, max=MAX_SEED, help="Random seed.", rich_help_panel=EVERYWHERE),
    ] = 0
    config: Annotated[
        Path | None,
        typer.Option(
            "--config",
            is_eager=True,
            callback=use_config,
            help="A TOML file with a section per verb.",
            rich_help_panel=EVERYWHERE,
        ),
        Reads(),
    ] = None
    dump_config: Annotated[
        bool, typer.Option("--dump-config", help="Write this run as TOML; do nothing else.", rich_help_panel=EVERYWHERE)
    ] = False


@dataclass(frozen=True, kw_only=True)
class Writing(Common):
    """What verbs take that write files."""

    force: Annotated[
        bool, typer.Option("--force", help="Replace files that Mercer did not write; an input never is replaced.")
    ] = False


@dataclass(frozen=True, kw_only=True)
class Reading(Common):
    """What verbs take that read a table."""

    format: Annotated[
        str, typer.Option("--format", help="csv, parquet, arrow, npy, npz or libsvm.", rich_help_panel=READING)
    ] = ""
    separator: Annotated[
        str, typer.Option("--separator", help="Separator of text tables (default: detected).", rich_help_panel=READING)
    ] = ""
    no_header: Annotated[
        bool, typer.Option("--no-header", help="The first line is a row: f0, f1, ...", rich_help_panel=READING)
    ] = False
    decimal: Annotated[
        str,
        typer.Option("--decimal", help="Decimal mark in text: . or , (default: detected).", rich_help_panel=READING),
    ] = ""
    dates: Annotated[
        str,
        typer.Option("--dates", help="day-first or month-first, for texts such as 1/2/2020.", rich_help_panel=READING),
    ] = ""
    as_is: Annotated[
        list[str] | None,
        typer.Option("--as-is", help="Column to read as text (repeatable).", rich_help_panel=READING),
    ] = None
    encoding: Annotated[
        str, typer.Option("--encoding", help="Of text: utf-8, cp1252, latin-1, ...", rich_help_panel=READING)
    ] = "utf-8"
    max_rows: Annotated[int, typer.Option("--max-rows", min=1, help="Refuse more rows.", rich_help_panel=READING)] = (
        10_000_000
    )
    max_columns: Annotated[
        int, typer.Option("--max-columns", min=1, help="Refuse more columns.", rich_help_panel=READING)
    ] = 10_000
    max_cells: Annotated[
        int, typer.Option("--max-cells", min=1, help="Refuse more cells.", rich_help_panel=READING)
    ] = 100_000_000
    max_bytes: Annotated[str, typer.Option("--max-bytes", help="Refuse more, unpacked.", rich_help_panel=READING)] = (
        "1 GiB"
    )

    def limits(self) -> TableLimits:
        """The limits of a table."""
        from mercer.tables.limits import TableLimits

        return TableLimits(self.max_rows, self.max_columns, self.max_cells, size("--max-bytes", self.max_bytes))

    def table_options(self) -> TableOptions:
        """How a table is read."""
        from mercer.tables.coerce import DAY_FIRST, MONTH_FIRST
        from mercer.tables.delimited import TextOptions, check_encoding
        from mercer.tables.read import TableOptions
        from mercer.tables.source_bytes import FORMATS

        orders = {"": "", "day-first": DAY_FIRST, "month-first": MONTH_FIRST}
        one_of("--format", self.format, ("", *FORMATS))
        one_of("--decimal", self.decimal, ("", ".", ","))
        one_of("--dates", self.dates, tuple(orders))
        if len(self.separator.encode()) > 1:
            raise Failure(Exit.USAGE, f"--separator needs one character; got {self.separator!r}.")
        usage("--encoding", check_encoding, self.encoding)
        text = TextOptions(self.separator, not self.no_header, decimal=self.decimal, encoding=self.encoding)
        return TableOptions(self.format, text, order=orders[self.dates], as_is=frozenset(self.as_is or ()))

    def read_for(self, model: TableModel, table: str, voice: Voice) -> Sheet:
        """The table, with the types of columns that the model knows."""
        from mercer.tables.read import read_table

        asked = self.table_options()
        options = replace(model.options(asked.format, asked.text), order=asked.order, as_is=asked.as_is)
        sheet = read_table(table, self.limits(), options)
        for doubt in sheet.doubts:
            voice.warn(doubt)
        if gaps := model.gaps(sheet):
            listed = ", ".join(f"{name!r} in {count:,} row{'s' * (count != 1)}" for name, count in gaps.items())
            taken = "numbers and dates are taken as the median of the fit, labels as one of their own, texts as empty"
            voice.warn(f"entries are missing in columns that had all of them in the fit ({listed}): {taken}")
        return sheet


def one_of(flag: str, given: str, known: tuple[str, ...]) -> None:
    """Complain of a value that is none; an empty one is as if it had not come."""
    if given not in known:
        raise Failure(Exit.USAGE, f"{flag} needs one of {' '.join(filter(None, known))}; got {given!r}.")


def size(flag: str, text: str) -> int:
    """Bytes of a text such as "4GB"."""
    from mercer.compute.runtime.memory import Budget

    return usage(flag, Budget.of, text).bytes


def usage(flag: str, read: Callable[[str], Result], text: str) -> Result:
    """What is read of an option; what is wrong with it is wrong with the command line, not with data."""
    from mercer.errors import InputError

    try:
        return read(text)
    except InputError as error:
        raise Failure(Exit.USAGE, f"{flag}: {error}") from error


def seconds(text: str | None) -> float | None:
    """Seconds of a text such as "60s", "2min" or "1h".

    >>> seconds("60s"), seconds("2 min"), seconds("0.5"), seconds(None)
    (60.0, 120.0, 0.5, None)
    """
    if text is None:
        return None
    number = text.strip().rstrip("smhin ").strip()
    unit = text.strip()[len(number) :].strip()
    try:
        found = float(number) * UNITS[unit]
    except (ValueError, KeyError):
        found = 0.0
    if not 0 < found < float("inf"):
        raise Failure(Exit.USAGE, f"--time-limit needs a positive time; got {text!r}. Write 60s, 2min or 1h.")
    return found
