"""The columns of a model, and its kernel: as given, or as `mercer.kernels.tables.kernel_for` proposes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from mercer.cli.exit_codes import Exit, Failure
from mercer.errors import InputError, message
from mercer.lifts.base import Lift
from mercer.models.table_model import DATES, AnyLearner, TableModel, rows_of_table
from mercer.tables.columns import kind_of, numbers
from mercer.tables.read import Sheet

Note = TypeVar("Note")
MAX_SEEN_ROWS = 100_000
"""Rows that a proposal looks at; of more, so many are drawn."""
SPARSE = "gaussian(lengthscale='median')"
"""The kernel of sparse rows, of whose columns nothing is known."""
ASIDE = "_"
"""Columns whose names begin so are notes about rows, and no features."""
PLAIN = ("number", "truth", "date")
MAY_MISS = ("number", "date", "text")
"""Columns for whose missing entries a proposal must be told; among labels a missing one is one more."""
THINGS = {"strings": ("text", "label"), "categories": ("text", "label", "truth", "number"), "graphs": ("graph",)}
"""Columns for a kernel of structured data that names none."""


@dataclass(frozen=True, eq=False)
class Look:
    """What a model looks at.

    kernel : of the columns, which it names; columns, kinds : these, and what they hold; () for sparse rows
    filled : texts whose missing entries are read as empty ones
    proposal : the reasons, where the kernel was proposed
    """

    kernel: Any
    columns: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    filled: tuple[str, ...] = ()
    proposal: Any = None

    def rows(self, sheet: Sheet) -> Any:
        """The rows of a table as a learner with this kernel takes them."""
        if sheet.sparse is not None:
            return sheet.sparse.rows
        return rows_of_table(sheet.table, self.kernel, self.columns, self.filled)

    def model(self, learner: AnyLearner | Lift, task: str, target: str, sheet: Sheet, train: Sheet) -> TableModel:
        """A fitted learner with what it takes to give it new tables: how these are read, and what fills gaps."""
        shared = (self.columns, self.kinds, self.filled, sheet.decimal)
        if sheet.sparse is not None:
            return TableModel(learner, task, target, *shared)
        complete = tuple(name for name in self.columns if not _misses(sheet.table.column(name)))
        medians, written = tuple(self._medians(train, frozenset(complete))), sheet.written
        noted = self._noted(written.units), self._noted(written.spellings), self._noted(written.sentinels)
        return TableModel(learner, task, target, *shared, complete, medians, *noted)

    def _noted(self, notes: Mapping[str, Note]) -> tuple[tuple[str, Note], ...]:
        """Of notes about columns, those about columns that are looked at."""
        return tuple((name, notes[name]) for name in self.columns if name in notes)

    def _medians(self, train: Sheet, complete: frozenset[str]) -> Iterator[tuple[str, float]]:
        """Of columns of numbers and dates in which the kernel has no place for a missing entry."""
        placed = {name for name, kind in self.kernel.kinds.items() if kind == "categories"}
        for name, kind in zip(self.columns, self.kinds, strict=True):
            if name in complete and name not in placed and (kind in PLAIN or kind in DATES):
                yield name, float(np.median(numbers([train.table.column(name)], [name])[:, 0]))


def look(sheet: Sheet, aside: tuple[str, ...], kernel: str | None, seed: int, whole: Sheet | None = None) -> Look:
    """The kernel and its columns, from the rows that will be fitted; `aside` are the target and dropped columns.

    Of the `whole` table, with the rows that are held out, nothing is known but in which columns entries are missing.
    """
    for name in aside:
        sheet.column(name)  # complain of what is not there
    if sheet.sparse is not None:
        return Look(_parsed(kernel or SPARSE))
    left_out = set(map(sheet.called, aside))
    table = sheet.table.drop_columns([n for n in sheet.names if n in left_out or n.startswith(ASIDE)])
    if not table.num_columns:
        raise InputError(message("a column beside the target", "there is none", "Add features.", subject=sheet.name))
    if kernel is None:
        found = _proposed(_with_gaps(_sample(table, seed), (whole or sheet).table))
    else:
        found = _told(sheet.name, table, _parsed(kernel))
    kinds = (sheet.orders.get(name, kind) for name, kind in zip(found.columns, found.kinds, strict=True))
    return replace(found, kinds=tuple(kinds))


def _parsed(text: str) -> Any:
    from mercer.errors import KernelError
    from mercer.kernels.text import parse

    try:
        return parse(text, open=True)
    except KernelError as error:
        raise Failure(Exit.USAGE, f"--kernel: {error}") from error


def _sample(table: Any, seed: int) -> Any:
    if table.num_rows <= MAX_SEEN_ROWS:
        return table
    return table.take(np.sort(np.random.default_rng(seed).choice(table.num_rows, MAX_SEEN_ROWS, replace=False)))


def _with_gaps(table: Any, whole: Any) -> Any:
    """The table with its first entry taken for missing in columns that miss entries in other rows alone.

    So a proposal has a place for them: otherwise one gap among the rows held out would end the fit.
    """
    import pyarrow

    for at, name in enumerate(table.column_names):
        column = table.column(name)
        if kind_of(column) in MAY_MISS and _misses(whole.column(name)) and not _misses(column):
            parts = [pyarrow.nulls(1, column.type), *column.slice(1).chunks]
            table = table.set_column(at, name, pyarrow.chunked_array(parts, column.type))
    return table


def _misses(column: Any) -> bool:
    from pyarrow import compute

    return bool(compute.any(compute.is_null(column, nan_is_null=True)).as_py())


def by_position(kernel: Any, columns: tuple[Any, ...]) -> Any:
    """The same kernel with positions for names, as lifts of arrays need it.

    >>> from mercer.kernels import Linear
    >>> print(by_position(2 * Linear().on(["b"]), ("a", "b")))
    2.0*linear.on([1])
    """
    return _renamed(kernel, columns, lambda c, names: names.index(c) if isinstance(c, str) else c)


def by_name(kernel: Any, columns: tuple[Any, ...]) -> Any:
    """The same kernel with names for positions; positions that there are not stay.

    >>> from mercer.kernels import Linear
    >>> print(by_name(Linear().on([0, -1]), ("a", "b")))
    linear.on(['a', 'b'])
    """
    return _renamed(kernel, columns, _name)


def _name(column: Any, names: tuple[Any, ...]) -> Any:
    known = isinstance(column, int) and -len(names) <= column < len(names)
    return names[column] if known else column


def _renamed(kernel: Any, columns: tuple[Any, ...], rename: Callable[[Any, tuple[Any, ...]], Any]) -> Any:
    from mercer.kernels.algebra.on import On

    if isinstance(kernel, On):
        inner = _renamed(kernel.kernel, kernel.columns, rename)
        return On(inner, tuple(rename(column, columns) for column in kernel.columns))
    return kernel.with_children(tuple(_renamed(child, columns, rename) for child in kernel.children))


# -- a proposed kernel ------------------------------------------------------------------------------------------------


def _proposed(table: Any) -> Look:
    from mercer.kernels.tables import kernel_for

    proposal = kernel_for(table, empty_texts=True)
    _refuse_nothing(proposal)
    filled = tuple(str(choice.name) for choice in proposal.columns if _is_filled(choice, table))
    kernel = proposal.kernel
    columns = tuple(name for name in table.column_names if name in (kernel.needed or ()))
    return Look(kernel, columns, _kinds(table, columns), tuple(n for n in filled if n in columns), proposal)


def _refuse_nothing(proposal: Any) -> None:
    """Refuse a table whose columns tell nothing, with the reason of the first."""
    if all(choice.place == "left out" for choice in proposal.columns):
        first = proposal.columns[0]
        got = f"all are left out; {first.name!r} is taken for {first.taken_for}: {first.why}"
        remedy = "Give other columns, or a --kernel for these."
        raise InputError(message("a column that a kernel can look at", got, remedy, subject="The table"))


def _is_filled(choice: Any, table: Any) -> bool:
    """Whether missing entries of a column are read as empty texts."""
    return choice.taken_for == "text" and choice.place != "left out" and _misses(table.column(choice.name))


def _kinds(table: Any, columns: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(kind_of(table.column(name)) for name in columns)


# -- a kernel that was told -------------------------------------------------------------------------------------------


def _told(name: str, table: Any, kernel: Any) -> Look:
    """The columns that a kernel names; else all that hold what it reads."""
    if kernel.needed is not None:
        kernel = by_name(kernel, tuple(table.column_names))
        columns = _named(name, table.column_names, kernel.needed)
    else:
        readable = THINGS.get(kernel.kinds.get(None, ""), PLAIN)
        columns = tuple(key for key in table.column_names if kind_of(table.column(key)) in readable)
    if not columns:
        got, remedy = "no column holds such", "Leave --kernel out to have one proposed."
        raise InputError(message(f"columns for {kernel}", got, remedy, subject=name))
    return Look(kernel, columns, _kinds(table, columns))


def _named(name: str, names: list[str], needed: frozenset[Any]) -> tuple[str, ...]:
    strange = next((key for key in needed if key not in names), None)
    if strange is not None:
        got = f"the features are {', '.join(map(repr, names[:20]))}"
        raise InputError(message(f"a column {strange!r} for the kernel", got, "Check the spelling.", subject=name))
    return tuple(key for key in names if key in needed)
