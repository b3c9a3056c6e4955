"""What a column of a table holds, as far as a choice of kernels needs to know it."""

from __future__ import annotations

import math
import numbers
from collections.abc import Hashable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mercer.errors import InputError, speaking
from mercer.kernels.categories.items import NOTHING, items_of
from mercer.kernels.objects.table import Table, listed, numbers_of

Holds = Literal["numbers", "integers", "booleans", "texts", "times", "graphs", "nothing", "other objects"]
DECLARED = ("category", "categorical", "enum", "dictionary")
"""How pandas, polars and Arrow call types of columns that are labels by declaration."""


@dataclass(frozen=True, eq=False)
class Survey:
    """One column.

    name : its name, or its position where it has none
    holds : what its entries are
    rows, missing : how many entries it has, and how many of them are missing
    declared : whether its type says that they are labels; of graphs, whether edges have labels
    values : numbers, and times as days since 1970, those that are there; empty for others
    texts : texts of labels, those that are there; empty for numbers and times
    remark : what is wrong with a column that holds neither numbers nor labels
    gaps : which entries are missing, as bits
    """

    name: int | str
    holds: Holds
    rows: int
    missing: int = 0
    declared: bool = False
    values: NDArray[np.float64] | None = None
    texts: tuple[str, ...] = ()
    remark: str = ""
    gaps: bytes = b""

    @property
    def content(self) -> Hashable:
        """What all entries are, the missing ones included: equal where two columns are."""
        if self.holds == "graphs":
            return self.holds, self.name  # telling equal graphs is no easier than comparing them
        known = self.texts if self.values is None else self.values.tobytes()
        return self.holds, self.declared, known, self.gaps

    @property
    def numbers(self) -> NDArray[np.float64]:
        """The values of a column that holds numbers or times."""
        if self.values is None:
            raise TypeError(f"column {self.name!r} holds {self.holds}, no numbers")
        return self.values

    @property
    def counts(self) -> NDArray[np.int64]:
        """How often each different value stands there."""
        return np.unique(self.texts if self.values is None else self.values, return_counts=True)[1]

    @property
    def different(self) -> int:
        """How many different values there are."""
        return len(self.counts) if self.rows > self.missing else 0


def survey_of(table: Table, i: int) -> Survey:
    """Look through one column. Cost: a pass over its entries, and sorting them."""
    name, column = name_of(table, i), table.column(i)
    declared = str(getattr(column, "dtype", getattr(column, "type", ""))).lower().startswith(DECLARED)
    kind = None if declared else _kind(column)
    if kind is None:
        things = listed(column)
        return _of_graphs(name, things) if _are_graphs(things) else _of_labels(name, things, declared)
    return _of_numbers(name, numbers_of(table.label(i), column), kind)


def name_of(table: Table, i: int) -> int | str:
    """How a kernel calls a column: by its name, where it has one of its own, else by its position."""
    named = table.names is not None and table.names.count(table.names[i]) == 1
    return table.names[i] if named and table.names is not None else i


def _kind(column: Any) -> str | None:
    """Whether entries are "numbers" or "times": by the dtype, or by looking at each where that says nothing."""
    values = column.to_numpy() if hasattr(column, "to_numpy") else np.asarray(column)
    if values.dtype.kind != "O":
        return {"M": "times", "f": "numbers", "i": "numbers", "u": "numbers", "m": "numbers"}.get(values.dtype.kind)
    found = {_kind_of(thing) for thing in values.tolist()} - {"missing"}
    kind = found.pop() if len(found) == 1 else None
    return kind if kind in ("numbers", "times") else None


def _kind_of(thing: Any) -> str:
    if type(thing).__name__ in NOTHING or (isinstance(thing, float) and math.isnan(thing)):
        return "missing"
    if isinstance(thing, bool | np.bool_ | str):
        return "labels"
    if isinstance(thing, numbers.Real | timedelta):
        return "numbers"
    return "times" if hasattr(thing, "toordinal") else "others"


def _of_numbers(name: int | str, values: NDArray[np.float64], kind: str) -> Survey:
    if np.isinf(values).any():
        return Survey(name, "other objects", len(values), remark="some numbers are infinite")
    known = values[~np.isnan(values)]
    if not _has_squares(known):
        return Survey(
            name, "other objects", len(values), remark="float64 cannot hold the squares of its numbers: scale it"
        )
    holds: Holds = "times" if kind == "times" else "numbers"
    if holds == "numbers" and bool((known == np.rint(known)).all()):
        holds = "integers"
    count, gaps = len(values), np.packbits(np.isnan(values)).tobytes()
    return Survey(name, holds if len(known) else "nothing", count, count - len(known), values=known, gaps=gaps)


def _has_squares(values: NDArray[np.float64]) -> bool:
    """Whether numbers that differ have a positive and finite deviation."""
    if not len(values) or values.min() == values.max():
        return True
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        return bool(0 < float(values.std()) < np.inf)


def _are_graphs(things: list[Any]) -> bool:
    """Whether all that is there is a graph, or a dict that describes one."""
    known = [thing for thing in things if thing is not None]
    return bool(known) and all(
        type(thing).__name__ == "Graph" or (isinstance(thing, dict) and {"nodes", "edges"} <= thing.keys())
        for thing in known
    )


def _of_graphs(name: int | str, things: list[Any]) -> Survey:
    labelled = any(_edge_labels(thing) is not None for thing in things)
    missing = sum(thing is None for thing in things)
    return Survey(name, "graphs", len(things), missing, declared=labelled)


def _edge_labels(graph: Any) -> Any:
    return graph.get("edge_labels") if isinstance(graph, dict) else getattr(graph, "edge_labels", None)


def _of_labels(name: int | str, things: list[Any], declared: bool) -> Survey:
    if any(isinstance(thing, list | dict) for thing in things):
        remark = "its entries are lists: give each place a column; of graphs, call the columns nodes and edges"
        return Survey(name, "other objects", len(things), remark=remark)
    try:
        with speaking("it"):  # the column: a remark about it
            labels = items_of(things)
    except InputError as error:
        return Survey(name, "other objects", len(things), remark=str(error))
    texts = tuple(label for label in labels if label is not None)
    holds: Holds = "texts" if texts else "nothing"
    if any(isinstance(thing, bool | np.bool_) for thing in things):
        holds = "booleans"
    gaps = np.packbits([label is None for label in labels]).tobytes()
    return Survey(name, holds, len(things), len(things) - len(texts), declared, texts=texts, gaps=gaps)
