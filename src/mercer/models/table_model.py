"""A fitted learner with what it takes to give it new tables: which columns it looks at, and what it predicts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.errors import InputError, message
from mercer.kernels import Kernel
from mercer.learners.estimator import KernelEstimator
from mercer.lifts.base import Lift
from mercer.tables.clean import Written
from mercer.tables.coerce import ORDERS
from mercer.tables.columns import kind_of, numbers
from mercer.tables.delimited import TextOptions
from mercer.tables.frame import Frame
from mercer.tables.read import Sheet, TableOptions

AnyLearner = KernelEstimator[Any, Any, Any]
TASKS = ("regression", "classification", "lift")
DATES = ("date", *ORDERS)
KINDS = ("number", "truth", *DATES, "text", "label", "graph")
LIKE = (
    {"number": ("number", "truth", "nothing"), "truth": ("truth", "nothing")}
    | dict.fromkeys(DATES, ("date", "nothing"))
    | {"graph": ("graph",)}
)
"""Kinds of columns that a model takes for one that it was fitted to."""


@dataclass(frozen=True, eq=False)
class TableModel:
    """A learner or a lift that was fitted to columns of a table.

    learner : fitted
    task : "regression", "classification" or "lift"
    target : the name of the column that it predicts; "" for a lift
    columns : the names of the columns that its kernel looks at, in the order of the fit; () for sparse rows
    kinds : what each of them held: "number", "truth", "text", "label", "graph" or "date"; "date, day first" or
        "date, month first" where it was written so in texts
    filled : those of them in which a missing text is read as the empty one
    decimal : what parted the whole from the decimals in the text of the fit, "." or ","; "" where it was no text
    complete : columns that had all entries in the fit
    medians : of columns whose kernel has no place for a missing number or date: what is taken for one
    units, spellings, sentinels : how entries were written in the fit, as in `Written`
    """

    learner: AnyLearner | Lift
    task: str
    target: str
    columns: tuple[str, ...]
    kinds: tuple[str, ...]
    filled: tuple[str, ...] = ()
    decimal: str = ""
    complete: tuple[str, ...] = ()
    medians: tuple[tuple[str, float], ...] = ()
    units: tuple[tuple[str, str], ...] = ()
    spellings: tuple[tuple[str, tuple[str, ...]], ...] = ()
    sentinels: tuple[tuple[str, float], ...] = ()

    def _inconsistency(self) -> str:
        if self.task not in TASKS:
            return f"one of the tasks {', '.join(TASKS)} is needed; got {self.task[:40]!r}"
        if (self.task == "lift") == bool(self.target):
            return "a target for a learner and none for a lift is needed"
        if len(self.columns) != len(self.kinds) or not set(self.kinds) <= set(KINDS):
            return f"columns of kinds that it knows are needed; got {self.kinds[:5]}"
        if len(set(self.columns)) < len(self.columns) or not set(self.filled) <= set(self.columns):
            return "columns with names of their own are needed, those that are filled among them"
        noted = (*self.medians, *self.units, *self.spellings, *self.sentinels)
        if (
            not {*self.complete, *(name for name, _ in noted)} <= set(self.columns)
            or not np.isfinite([m for _, m in self.medians]).all()
        ):
            return "finite medians, and notes about columns that it looks at, are needed"
        return "" if self.decimal in ("", ".", ",") else f"a point or a comma is needed; got {self.decimal[:40]!r}"

    @property
    def kernel(self) -> Kernel:
        """The kernel with its numbers."""
        kernel: Kernel = self.learner.kernel_
        return kernel

    def options(self, form: str = "", text: TextOptions | None = None) -> TableOptions:
        """How a table for this model is read: as that of the fit was; labels that look like numbers stay texts."""
        import pyarrow

        kinds = dict(zip(self.columns, self.kinds, strict=True))
        types = {name: pyarrow.string() for name, kind in kinds.items() if kind in ("text", "label")}
        if self.target and getattr(self.learner, "classes_", np.empty(0)).dtype.kind == "U":
            types[self.target] = pyarrow.string()
        width = None if self.columns else int(self.learner.n_features_in_)
        orders = {name: kind for name, kind in kinds.items() if kind in ORDERS}
        known = frozenset(name for name, kind in kinds.items() if kind in ("number", "truth", *DATES))
        text = text or TextOptions()
        text = replace(text, types=types, decimal=text.decimal or self.decimal)
        dates = frozenset(name for name, kind in kinds.items() if kind in DATES)
        written = Written(dict(self.units), dict(self.spellings), dict(self.sentinels), dates)
        return TableOptions(form, text, width, orders=orders, known=known, written=written)

    def rows(self, sheet: Sheet) -> Any:
        """The rows of a table as the learner takes them. Cost: the columns that are looked at are copied."""
        if (sheet.sparse is None) != bool(self.columns):
            needs = "a table with names" if self.columns else "rows in LIBSVM's format"
            raise InputError(message(needs, f"got {sheet.format}", "Give what it was fitted to.", subject="The model"))
        if sheet.sparse is not None:
            return sheet.sparse.rows
        return rows_of_table(self._completed(self._alike(sheet)), self.kernel, self.columns, self.filled)

    def gaps(self, sheet: Sheet) -> dict[str, int]:
        """How many entries are missing in columns that had all of them in the fit, by column."""
        if sheet.sparse is not None:
            return {}
        table = self._alike(sheet)
        counts = {name: _missing(table.column(name)) for name in self.complete}
        return {name: count for name, count in counts.items() if count}

    def predict(self, sheet: Sheet) -> Any:
        """A number or a label for each row."""
        return self.learner.predict(self.rows(sheet))

    def _completed(self, table: Any) -> Any:
        """A table without missing entries where the kernel has no place for them."""
        import pyarrow

        for name, median in self.medians:
            if _missing(table.column(name)):
                values = numbers([table.column(name)], [name])[:, 0].astype(np.float64)
                column = pyarrow.array(np.where(np.isfinite(values), values, median))
                table = table.set_column(table.column_names.index(name), name, column)
        kinds = self.kernel.kinds
        for name in self.columns:
            if kinds.get(name, kinds.get(None)) == "strings":
                table = table.set_column(table.column_names.index(name), name, table.column(name).fill_null(""))
        return table

    def _alike(self, sheet: Sheet) -> Any:
        """The columns of the fit, with an error for one that is missing or holds something else."""
        import pyarrow

        found = {}
        for name, kind in zip(self.columns, self.kinds, strict=True):
            column = sheet.column(name)
            got = kind_of(column)
            if got == "nothing":
                column = column.cast(pyarrow.float64() if kind in ("number", "truth", *DATES) else pyarrow.string())
            elif got not in LIKE.get(kind, ("text", "label")):
                holds = f"column {name!r} holds {got}s"
                raise InputError(
                    message(f"{kind}s as in the fit", holds, "Give what it was fitted to.", subject="The model")
                )
            found[name] = column
        return pyarrow.table(found)


def _missing(column: Any) -> int:
    """How many entries are missing, or no finite numbers."""
    from pyarrow import compute, types

    known = compute.is_finite(column) if types.is_floating(column.type) else column.is_valid()
    return len(column) - int(compute.sum(known).as_py() or 0)


def rows_of_table(table: Any, kernel: Kernel, columns: tuple[str, ...], filled: tuple[str, ...] = ()) -> Any:
    """Columns as a learner with this kernel takes them: an Arrow table for structured data, else numbers."""
    chosen = table.select(list(columns))
    for name in filled:
        at = columns.index(name)
        chosen = chosen.set_column(at, name, chosen.column(name).fill_null(""))
    if kernel.kinds:
        return chosen
    values = numbers(chosen.columns, list(columns))
    _refuse_gaps(values, columns)
    return Frame(columns, values) if any(isinstance(c, str) for c in kernel.needed or ()) else values


def _refuse_gaps(values: NDArray[Any], columns: tuple[str, ...]) -> None:
    """Complain of the first number that is missing or infinite: a kernel of plain numbers has no place for it."""
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        row, column = bad[0]
        got = f"column {columns[column]!r} holds {values[row, column]} in row {row + 1:,}"
        remedy = "Fill or drop such rows, or leave --kernel out: a proposed kernel has a place for them."
        raise InputError(message("finite numbers", got, remedy, subject="The kernel"))
