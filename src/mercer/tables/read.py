"""Tables in: CSV, Parquet, Arrow, NPY, NPZ and LIBSVM, from files or standard input, within limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from mercer.errors import InputError, message
from mercer.tables.arrow import read_arrow
from mercer.tables.clean import Cleaner, Written
from mercer.tables.coerce import Texts
from mercer.tables.columns import plain, with_graphs
from mercer.tables.delimited import TextOptions, read_text
from mercer.tables.libsvm import SparseRows, read_libsvm
from mercer.tables.limits import TableLimits
from mercer.tables.numpy_files import read_npy, read_npz
from mercer.tables.parquet import read_parquet
from mercer.tables.source_bytes import FORMATS, TableInput, table_input

NEVER_PACKED = {"parquet": read_parquet, "arrow": read_arrow, "npy": read_npy, "npz": read_npz}
"""Readers of formats that gzip is not applied to."""
TARGET = "target"
"""How the labels of LIBSVM's format are called."""
MAX_LISTED_NAMES = 20
"""Names of columns that a message shows."""


@dataclass(frozen=True, eq=False)
class Sheet:
    """A table that was read.

    name : how messages call it; format : one of FORMATS
    table : of Arrow; None for LIBSVM's format
    sparse : rows and labels of LIBSVM's format; None for others
    remarks : what was done to columns of texts that are numbers or dates; doubts : what was not, and perhaps should be
    orders : of columns of dates, whether the day or the month comes first, where that must be known
    decimal : what parts the whole from the decimals in its text; "" where the format has numbers of its own
    written : how entries were written; given : columns as they were before they were read so, by name
    """

    name: str
    format: str
    table: Any = None
    sparse: SparseRows | None = None
    remarks: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    orders: Mapping[str, str] = field(default_factory=dict)
    decimal: str = ""
    written: Written = field(default_factory=Written)
    given: Mapping[str, Any] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self.table.num_rows if self.sparse is None else self.sparse.rows.shape[0])

    @property
    def names(self) -> tuple[str, ...]:
        """Of the columns; LIBSVM's format names its labels only."""
        return tuple(self.table.column_names) if self.sparse is None else (TARGET,)

    @property
    def width(self) -> int:
        """How many columns there are, the target among them."""
        return len(self.names) if self.sparse is None else int(self.sparse.rows.shape[1]) + 1

    def called(self, name: str) -> str:
        """How the table calls a column: names are read without the blanks around them."""
        return name if name in self.names else name.strip()

    def column(self, name: str) -> Any:
        """A column of Arrow by its name."""
        import pyarrow

        name = self.called(name)
        if name not in self.names:
            known = ", ".join(map(repr, self.names[:MAX_LISTED_NAMES])) + ", ..." * (len(self.names) > MAX_LISTED_NAMES)
            remedy = "Check the spelling, or give --no-header if the first line is a row."
            raise InputError(message(f"a column {name!r}", f"the columns are {known}", remedy, subject=self.name))
        return self.table.column(name) if self.sparse is None else pyarrow.chunked_array([self.sparse.labels])

    def with_numbers_as_given(self, name: str) -> Sheet:
        """The sheet with all numbers of a column, those included that may stand for a missing one."""
        if name not in self.written.sentinels or name not in self.given:
            return self
        sentinels = {key: value for key, value in self.written.sentinels.items() if key != name}
        table = self.table.set_column(self.names.index(name), name, self.given[name])
        remarks = tuple(each for each in self.remarks if not each.startswith(f"{name!r}: "))
        return replace(self, table=table, remarks=remarks, written=replace(self.written, sentinels=sentinels))

    def take(self, rows: Any) -> Sheet:
        """Some of the rows, by their positions."""
        if self.sparse is None:
            return replace(self, table=self.table.take(rows), given={})
        return replace(self, sparse=SparseRows(self.sparse.rows[rows], self.sparse.labels[rows]))


@dataclass(frozen=True)
class TableOptions:
    """How a table is read.

    format : one of FORMATS; "" for what its first bytes say
    text : how text is read
    columns : how many columns the rows of LIBSVM's format have; None for what the file says
    order : of all dates in texts; "" where each column shows its own; orders : of columns where it is known
    known : columns that were numbers or dates in a fit
    written : how entries were written in a fit; None where that is to be found
    as_is : columns whose entries are not interpreted
    """

    format: str = ""
    text: TextOptions = field(default_factory=TextOptions)
    columns: int | None = None
    order: str = ""
    orders: Mapping[str, str] = field(default_factory=dict)
    known: frozenset[str] = frozenset()
    written: Written | None = None
    as_is: frozenset[str] = frozenset()


def read_table(
    source: str | Path,
    limits: TableLimits | None = None,
    options: TableOptions | None = None,
    stdin: Any = None,
) -> Sheet:
    r"""Read a table within limits; "-" is standard input. Cost: the table, and a pass over text before.

    Raises InputError where it is no table, is damaged, or is larger than the limits say.

    Examples
    --------
    >>> import io
    >>> sheet = read_table("-", stdin=io.BytesIO(b"price,size\n3.5,10\n,20\n"))
    >>> sheet.names, sheet.rows, sheet.column("price").null_count
    (('price', 'size'), 2, 1)
    """
    limits, options = limits or TableLimits(), options or TableOptions()
    _require_pyarrow()
    with table_input(source, limits, stdin) as given:
        return _read(given, _format(given, options.format), limits, options)


def _read(given: TableInput, form: str, limits: TableLimits, options: TableOptions) -> Sheet:
    if form == "libsvm":
        return Sheet(given.name, form, sparse=read_libsvm(given, limits, options.columns))
    table, decimal = _table(given, form, limits, options)
    if not table.num_rows:
        raise InputError(message("at least one row", "it has none", "Check how it was written.", subject=given.name))
    table, graphs = with_graphs(plain(given.name, table, limits))
    units = options.written.units if options.written is not None else {}
    kept = frozenset(options.text.types or ()) | options.as_is
    texts = Texts(decimal, options.order, options.orders, kept, options.known, units)
    found = Cleaner(table, texts, options.written, options.as_is).clean()
    told = ("numbers are read with a comma before their decimals",) if decimal == "," else ()
    remarks, doubts = (*told, *filter(None, (graphs,)), *found.remarks), tuple(found.doubts)
    sheet = Sheet(given.name, form, found.table, None, remarks, doubts, found.orders, decimal or "")
    return replace(sheet, written=found.written, given=found.given)


def _table(given: TableInput, form: str, limits: TableLimits, options: TableOptions) -> tuple[Any, str | None]:
    """An Arrow table, and how decimals are written in its texts."""
    if form not in NEVER_PACKED:
        return read_text(given, limits, options.text)
    if given.gzipped:
        got = f"got gzipped {form}"
        raise InputError(message("a text inside of gzip", got, "Unpack it first with gunzip.", subject=given.name))
    return NEVER_PACKED[form](given, limits), None


def _format(given: TableInput, asked: str) -> str:
    if asked and asked not in FORMATS:
        raise InputError(message(f"one of {', '.join(FORMATS)}", f"got {asked!r}", "Leave it out.", subject="--format"))
    return asked or given.format()


def _require_pyarrow() -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        remedy = 'Run: pip install "mercer[files]"'
        raise ImportError(message("pyarrow", "it is not installed", remedy, subject="Reading tables")) from error
