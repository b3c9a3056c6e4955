"""Columns as they are meant: texts that are numbers or dates, labels in one spelling, numbers that stand for none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mercer.tables.coerce import Texts, odd_entries, read_columns, read_text_column
from mercer.tables.columns import kind_of
from mercer.tables.labels import sentinel_of, spellings_of, spelt, trimmed

FIRST_DAY, LAST_DAY = 19000101, 21001231
"""Integers between them, each a day of the calendar, are dates: 20150426."""
MIN_DIFFERENT_DAYS = 3
"""If so many of them differ."""


@dataclass(frozen=True)
class Written:
    """How entries of columns were written in the table of a fit, so that those of other tables are read alike.

    units : of numbers; spellings : of labels; sentinels : the number that stands for a missing one
    dates : columns of dates
    """

    units: Mapping[str, str] = field(default_factory=dict)
    spellings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    sentinels: Mapping[str, float] = field(default_factory=dict)
    dates: frozenset[str] = frozenset()


class Cleaner:
    """A table whose columns are read one kind of entry after the other, with a record of what was done.

    known : how entries were written in a fit; None where that is to be found
    as_is : columns whose entries are not interpreted
    """

    def __init__(self, table: Any, texts: Texts, known: Written | None, as_is: frozenset[str] = frozenset()) -> None:
        self.table, self.texts, self.known, self.as_is = table, texts, known, as_is
        self.given: dict[str, Any] = {}
        self.remarks: list[str] = []
        self.doubts: list[str] = []
        self.orders: dict[str, str] = {}
        self.units: dict[str, str] = {}
        self.spellings: dict[str, tuple[str, ...]] = {}
        self.sentinels: dict[str, float] = {}

    @property
    def written(self) -> Written:
        """How entries were written."""
        return self.known or Written(self.units, self.spellings, self.sentinels)

    def clean(self) -> Cleaner:
        """Read all columns. Cost: a few passes over each."""
        self._trim()
        self._read_texts()
        self._read_whole_dates()
        self._spell()
        self._miss()
        self.doubts += odd_entries(self.table, self.texts)
        return self

    def _trim(self) -> None:
        for name in self._names("text", "label"):
            column, changed = trimmed(self.table.column(name))
            if changed:
                self._set(name, column)
                if self.known is None:
                    self.remarks.append(f"{name!r}: blanks around {changed:,} entries removed")

    def _read_texts(self) -> None:
        for name, found in read_columns(self.table, self.texts).items():
            self._set(name, found.column)
            (self.doubts if found.doubt else self.remarks).append(found.remark)
            self.orders |= {name: found.order} if found.order else {}
            self.units |= {name: found.unit} if found.unit else {}

    def _read_whole_dates(self) -> None:
        import pyarrow
        from pyarrow import compute, types

        for name in self._names("number"):
            column = self.table.column(name)
            if not types.is_integer(column.type) or not _between(column, FIRST_DAY, LAST_DAY):
                continue
            few = len(column.drop_null().unique()) < MIN_DIFFERENT_DAYS
            if few if self.known is None else name not in self.known.dates:
                continue
            found = read_text_column(name, compute.cast(column, pyarrow.string()), Texts())
            if types.is_timestamp(found.column.type):
                self._set(name, found.column)
                self.remarks.append(f"{name!r}: integers such as {column.drop_null()[0]} read as dates")

    def _spell(self) -> None:
        for name in self._names("text", "label"):
            column = self.table.column(name)
            found = spellings_of(column) if self.known is None else self.known.spellings.get(name, ())
            if found:
                self._set(name, spelt(column, found))
                self.spellings[name] = found
                if self.known is None:
                    count = len(column.unique().drop_null()) - len(found)
                    told = f"{count} labels that differ" if count > 1 else "a label that differs"
                    are = "are" if count > 1 else "is"
                    self.remarks.append(f"{name!r}: {told} from others by case alone {are} joined")

    def _miss(self) -> None:
        from pyarrow import compute, types

        for name in self._names("number"):
            column = self.table.column(name)
            if types.is_duration(column.type):
                continue
            values = compute.cast(column, "float64", safe=False).to_numpy()
            found = sentinel_of(values) if self.known is None else self._known_sentinel(name)
            if found is None:
                continue
            value, clear = found
            alike = compute.fill_null(
                compute.equal(compute.cast(column, "float64", safe=False), value), fill_value=False
            )
            count = int(compute.sum(alike).as_py() or 0)
            if not clear:
                told = f"{count:,} entries are {value:g}, far from the others. If that means missing, leave them empty"
                self.doubts.append(f"{name!r}: {told}; they are read as numbers")
            elif count:
                self._set(name, compute.if_else(alike, None, column))
                self.sentinels[name] = value
                if self.known is None:
                    self.remarks.append(f"{name!r}: {count:,} entries of {value:g}, far from all others, as missing")

    def _known_sentinel(self, name: str) -> tuple[float, bool] | None:
        value = self.known.sentinels.get(name) if self.known is not None else None
        return None if value is None else (value, True)

    def _names(self, *kinds: str) -> list[str]:
        names = (name for name in self.table.column_names if name not in self.as_is)
        return [name for name in names if kind_of(self.table.column(name)) in kinds]

    def _set(self, name: str, column: Any) -> None:
        self.given.setdefault(name, self.table.column(name))
        self.table = self.table.set_column(self.table.column_names.index(name), name, column)


def _between(column: Any, low: int, high: int) -> bool:
    from pyarrow import compute

    ends = compute.min_max(column)
    first, last = ends["min"].as_py(), ends["max"].as_py()
    return first is not None and low <= first and bool(np.all(last <= high))
