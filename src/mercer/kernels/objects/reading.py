"""Reading tables with columns of strings, graphs or categories beside numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.errors import InputError, message, speaker, speaking
from mercer.kernels.objects.store import Store
from mercer.kernels.objects.table import Table, table_of
from mercer.kernels.points import DOUBLE, Points, refuse_empty

Column = int | str
Kinds = dict[Column | None, str]


def objects_from(data: Any, needed: frozenset[Column] | None, kinds: Kinds) -> Points:
    """Read columns of objects, and those of numbers beside them; columns that no kernel uses are read as zeros.

    data : a table of pandas, polars or Arrow, a 2-D array of objects, or, where a kernel looks at one column only, a
        list, an array or a column of objects
    needed : the columns at which the kernel looks; None for all
    kinds : which of them hold objects of which kind; {None: kind} where all do
    """
    whole = kinds.get(None)
    table = table_of(data, whole=whole)
    refuse_empty((table.count, table.width))
    at = _positions(table, kinds) if whole is None else dict.fromkeys(range(table.width), whole)
    looked = range(table.width) if needed is None else sorted({table.position(c) for c in needed} | set(at))
    values, stores = np.zeros((table.count, table.width)), [None] * table.width
    for i in looked:
        if i in at:
            with speaking(f"{speaker()}, {table.label(i)}" if table.named else speaker()):
                store, codes = stored(at[i], table.things(i))
            values[:, i], stores[i] = codes, store  # type: ignore[call-overload]
        else:
            values[:, i] = table.numbers(i)
    return Points(values, table.names, DOUBLE, stores=tuple(stores))


def _positions(table: Table, kinds: Kinds) -> dict[int, str]:
    found: dict[int, str] = {}
    for column, kind in ((column, kind) for column, kind in kinds.items() if column is not None):
        at = table.position(column)
        if found.setdefault(at, kind) != kind:
            got = f"{table.label(at)} should be both {found[at]} and {kind}"
            raise InputError(message("one kind of objects per column", got, "Give each kernel its own column."))
    return found


def stored(kind: str, things: Sequence[Any]) -> tuple[Store, NDArray[np.intp]]:
    """Objects of a kind, checked, each equal one once; and which of them stands in each row."""
    items = _normaliser(kind)(things)
    if kind == "graphs":  # compared by identity: telling equal ones is no easier than the kernels are
        return Store(kind, items), np.arange(len(items))
    places: dict[Any, int] = {}
    codes = np.fromiter((places.setdefault(item, len(places)) for item in items), np.intp, len(items))
    return Store(kind, tuple(places)), codes


def _normaliser(kind: str) -> Callable[[Sequence[Any]], tuple[Any, ...]]:
    """The reader of a kind; its package is loaded when it is first needed."""
    found: Callable[[Sequence[Any]], tuple[Any, ...]] = import_module(f"mercer.kernels.{kind}.items").items_of
    return found
