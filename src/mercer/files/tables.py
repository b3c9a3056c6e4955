"""Tables in: CSV, Parquet, Arrow, NPY, NPZ and LIBSVM, from files or standard input, within limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from mercer.errors import InputError, sentence
from mercer.files.tables_arrow import read_arrow
from mercer.files.tables_columns import plain
from mercer.files.tables_input import FORMATS, TableInput, table_input
from mercer.files.tables_libsvm import SparseRows, read_libsvm
from mercer.files.tables_limits import TableLimits
from mercer.files.tables_numpy import read_npy, read_npz
from mercer.files.tables_parquet import read_parquet
from mercer.files.tables_text import TextOptions, read_text
from mercer.files.tables_texts import Texts, odd_entries, read_columns

NEVER_PACKED = {"parquet": read_parquet, "arrow": read_arrow, "npy": read_npy, "npz": read_npz}
"""Who reads formats that gzip is not applied to."""
TARGET = "target"
"""How the labels of LIBSVM's format are called."""
LISTED = 20
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
    """

    name: str
    format: str
    table: Any = None
    sparse: SparseRows | None = None
    remarks: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    orders: Mapping[str, str] = field(default_factory=dict)
    decimal: str = ""

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
            known = ", ".join(map(repr, self.names[:LISTED])) + ", ..." * (len(self.names) > LISTED)
            remedy = "Check the spelling, or give --no-header if the first line is a row."
            raise InputError(sentence(self.name, f"a column {name!r}", f"the columns are {known}", remedy))
        return self.table.column(name) if self.sparse is None else pyarrow.chunked_array([self.sparse.labels])

    def take(self, rows: Any) -> Sheet:
        """Some of the rows, by their positions."""
        if self.sparse is None:
            return replace(self, table=self.table.take(rows))
        return replace(self, sparse=SparseRows(self.sparse.rows[rows], self.sparse.labels[rows]))


@dataclass(frozen=True)
class TableOptions:
    """How a table is read.

    format : one of FORMATS; "" for what its first bytes say
    text : how text is read
    columns : how many columns the rows of LIBSVM's format have; None for what the file says
    order : of all dates in texts; "" where each column shows its own; orders : of columns where it is known
    known : columns that were numbers or dates in a fit
    """

    format: str = ""
    text: TextOptions = field(default_factory=TextOptions)
    columns: int | None = None
    order: str = ""
    orders: Mapping[str, str] = field(default_factory=dict)
    known: frozenset[str] = frozenset()


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
        raise InputError(sentence(given.name, "at least one row", "it has none", "Check how it was written."))
    table = plain(given.name, table, limits)
    texts = Texts(decimal, options.order, options.orders, frozenset(options.text.types or ()), options.known)
    read = read_columns(table, texts)
    for name, found in read.items():
        table = table.set_column(table.column_names.index(name), name, found.column)
    orders = {name: found.order for name, found in read.items() if found.order}
    told = ("numbers are read with a comma before their decimals",) if decimal == "," else ()
    remarks = *told, *(found.remark for found in read.values() if not found.doubt)
    doubts = *(found.remark for found in read.values() if found.doubt), *odd_entries(table, texts)
    return Sheet(given.name, form, table, None, remarks, doubts, orders, decimal or "")


def _table(given: TableInput, form: str, limits: TableLimits, options: TableOptions) -> tuple[Any, str | None]:
    """An Arrow table, and how decimals are written in its texts."""
    if form not in NEVER_PACKED:
        return read_text(given, limits, options.text)
    if given.gzipped:
        came = f"gzipped {form} came"
        raise InputError(sentence(given.name, "a text inside of gzip", came, "Unpack it first with gunzip."))
    return NEVER_PACKED[form](given, limits), None


def _format(given: TableInput, asked: str) -> str:
    if asked and asked not in FORMATS:
        raise InputError(sentence("--format", f"one of {', '.join(FORMATS)}", f"{asked!r} came", "Leave it out."))
    return asked or given.format()


def _require_pyarrow() -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        remedy = 'Run: pip install "mercer[files]"'
        raise ImportError(sentence("Reading tables", "pyarrow", "it is not installed", remedy)) from error
