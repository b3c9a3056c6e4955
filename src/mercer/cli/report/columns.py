"""What the columns of a table hold, in a line each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.cli.report.numbers import number, percent
from mercer.html import short
from mercer.tables.columns import kind_of, numbers
from mercer.tables.read import Sheet


@dataclass(frozen=True)
class ColumnLine:
    """One column: its name, what it holds, how many entries are missing and are different, and what they are."""

    name: str
    kind: str
    missing: int
    different: int | None
    entries: str


def column_line(sheet: Sheet, name: str) -> ColumnLine:
    """Look at one column. Cost: a pass or two over it."""
    column = sheet.table.column(name)
    kind = kind_of(column)
    if kind in ("other", "graph"):
        held = kind if kind == "graph" else str(column.type)
        return ColumnLine(name, held, column.null_count, None, "")
    if kind == "number":
        return _of_numbers(name, column)
    different = len(column.drop_null().unique())
    return ColumnLine(name, kind, column.null_count, different, _entries(column, kind))


def _of_numbers(name: str, column: Any) -> ColumnLine:
    values = numbers([column], [name])[:, 0]
    known = values[np.isfinite(values)]
    shown = ""
    if known.size:
        low, high, middle = (number(float(v)) for v in (known.min(), known.max(), np.median(known)))
        shown = f"{low} to {high}, median {middle}"
    return ColumnLine(name, "number", int(np.isnan(values).sum()), len(np.unique(known)), shown)


def _entries(column: Any, kind: str) -> str:
    """The range of dates; of others the most frequent entry."""
    from pyarrow import compute

    known = column.drop_null()
    if not len(known) or kind == "nothing":
        return ""
    if kind == "date":
        ends = compute.min_max(known)
        return f"{ends['min'].as_py()} to {ends['max'].as_py()}"
    counts = compute.value_counts(known)
    best = max(range(len(counts)), key=lambda i: counts[i]["counts"].as_py()) if len(counts) <= 10_000 else 0
    first = counts[best]
    share = percent(first["counts"].as_py() / len(column))
    return f"{short(str(first['values'].as_py()), 40)!r}" + (f" in {share}" if len(counts) < len(known) else ", say")
