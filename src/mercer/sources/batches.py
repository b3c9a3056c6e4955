"""Batches that somebody else makes: a function that gives them afresh, or a list of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

import numpy as np

from mercer.errors import InputError, message
from mercer.sources.base import Batch, Source
from mercer.sources.rebatch import rebatched
from mercer.sources.tables import (
    NUMBERS,
    digest,
    is_sparse,
    names_of,
    rows_at_once,
    table_of,
    targets_of,
    weights_of,
)

SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)


@dataclass(frozen=True)
class _Form:
    """What all batches share: as many columns, targets and weights or none, and how these are written."""

    columns: int
    sparse: bool
    outputs: tuple[int, ...] | None
    text: bool
    weighted: bool

    @classmethod
    def of(cls, batch: Batch) -> _Form:
        targets = batch.targets
        outputs = None if targets is None else targets.shape[1:]
        text = targets is not None and targets.dtype.kind not in NUMBERS
        return cls(batch.rows.shape[1], is_sparse(batch.rows), outputs, text, batch.weights is not None)

    def __str__(self) -> str:
        targets = "no targets" if self.outputs is None else f"{'labels' if self.text else 'numbers'} as targets"
        kind = "sparse columns" if self.sparse else "columns"
        several = "" if not self.outputs else f" ({self.outputs[0]} a row)"
        return f"{self.columns} {kind}, {targets}{several} and {'weights' if self.weighted else 'no weights'}"


@dataclass(frozen=True, eq=False)
class _Known:
    """What the first pass found, and every later one must find.

    single : whether all rows are of float32
    first : a hash of the first batch
    """

    count: int
    single: bool
    first: bytes


@dataclass(frozen=True, eq=False)
class Batches(Source):
    """Rows in batches of any lengths, which are read as often as they are needed.

    The first pass counts the rows; later ones must find as many, and the same first batch.

    Parameters
    ----------
    make : callable or list
        A function without arguments that returns a fresh iterator of batches, or a list of them. A batch is X, (X, y),
        or (X, y, weights): X a table of numbers, y its targets or labels, weights how often each row counts.
    names : sequence of str or None, default=None
        The names of the columns of X; None for those of the first batch where it is a frame.

    Examples
    --------
    >>> def make():
    ...     for part in range(3):
    ...         yield np.full((2, 1), part), np.full(2, 10 * part)
    >>> [batch.targets.tolist() for batch in Batches(make).batches(4)]
    [[0, 0, 10, 10], [20, 20]]
    """

    make: Callable[[], Iterable[Any]] | Iterable[Any]
    names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        _refuse_what_ends(self.make)
        names = names_of(_parts(self._first)[0]) if self.names is None else tuple(self.names)
        if names is not None and len(names) != self._form.columns:
            got = f"got {len(names)} names for {self._form.columns} columns"
            raise InputError(message("one name per column", got, "Name all columns of X.", subject="Batches"))
        object.__setattr__(self, "names", names)

    @property
    def count(self) -> int:
        return self._known.count

    def batches(self, size: int, start: int = 0, what: str = "all") -> Iterator[Batch]:
        return rebatched(self._again(), size, start)

    def fingerprint(self) -> bytes:
        every = self.batches(rows_at_once(self._form.columns))
        return digest(x for batch in every for x in _present(batch))

    # -- passes -------------------------------------------------------------------------------------------------------

    def _items(self) -> Iterator[Any]:
        found = self.make() if callable(self.make) else self.make
        if not isinstance(found, Iterable):
            got = f"the function gave something of type {type(found).__name__}"
            raise InputError(
                message("a function that gives an iterator", got, "Write it with yield.", subject="Batches")
            )
        return iter(found)

    def _read(self) -> Iterator[Batch]:
        """All batches that have rows, each of the form of the first."""
        form = None
        for number, item in enumerate(self._items()):
            batch = _batch(number, item)
            form = form or _Form.of(batch)
            if _Form.of(batch) != form:
                got = f"batch 0 has {form}, and batch {number} has {_Form.of(batch)}"
                raise InputError(message("batches that are alike", got, "Make all in the same way.", subject="Batches"))
            if batch.count:
                yield batch

    @cached_property
    def _first(self) -> Any:
        first = next(self._items(), None)
        if first is None:
            remedy = "Check the list, or the function that makes them."
            raise InputError(message("at least one batch", "got none", remedy, subject="Batches"))
        return first

    @cached_property
    def _form(self) -> _Form:
        return _Form.of(_batch(0, self._first))

    @cached_property
    def _known(self) -> _Known:
        """One pass over everything."""
        count, single, first = 0, True, b""
        for batch in self._read():
            first = first or _hashed(batch)
            count, single = count + batch.count, single and batch.rows.dtype == SINGLE
        if count == 0:
            raise InputError(
                message("at least one row", "all batches are empty", "Check what makes them.", subject="Batches")
            )
        return _Known(count, single, first)

    def _again(self) -> Iterator[Batch]:
        """A later pass: the same rows, in one dtype."""
        known, count = self._known, 0
        dtype = SINGLE if known.single else DOUBLE
        for batch in self._read():
            if count == 0 and _hashed(batch) != known.first:
                _refuse_change("the first batch is another one")
            count += batch.count
            yield Batch(batch.rows.astype(dtype, copy=False), batch.targets, batch.weights)
        if count != known.count:
            _refuse_change(f"there were {known.count} rows, and now there are {count}")


# -- one batch --------------------------------------------------------------------------------------------------------


def _parts(item: Any) -> tuple[Any, ...]:
    """X, y and weights as they are: a tuple, or a list whose first entry is a table."""
    if isinstance(item, Batch):
        return item.rows, item.targets, item.weights
    several = isinstance(item, tuple) or (isinstance(item, list) and len(item) > 0 and _ndim(item[0]) == 2)
    return tuple(item) if several else (item,)


def _ndim(given: Any) -> int:
    return int(getattr(given, "ndim", 0))


def _batch(number: int, item: Any) -> Batch:
    parts = _parts(item)
    if not 1 <= len(parts) <= 3:
        got = f"batch {number} has {len(parts)} parts"
        raise InputError(message("X, (X, y) or (X, y, weights)", got, "Put targets in one array.", subject="Batches"))
    rows, y, weights = (*parts, None, None)[:3]
    table = table_of("Batches", f"X of batch {number}", rows)
    targets = None if y is None else targets_of("Batches", f"y of batch {number}", y, table.shape[0])
    where = f"the third part of batch {number}"
    return Batch(table, targets, None if weights is None else weights_of("Batches", where, weights, table.shape[0]))


def _present(batch: Batch) -> list[Any]:
    return [part for part in (batch.rows, batch.targets, batch.weights) if part is not None]


def _hashed(batch: Batch) -> bytes:
    return digest(iter(_present(batch)))


def _refuse_change(got: str) -> NoReturn:
    remedy = "Give the same rows in the same order each time: no shuffling, and a fresh iterator from each call."
    raise InputError(message("the same data in every pass", got, remedy, subject="Batches"))


def _refuse_what_ends(make: Any) -> None:
    """Refuse an iterator, which can be read once, and what is no batches at all."""
    if isinstance(make, Iterator):
        got = f"{type(make).__name__} can be read once"
        remedy = "Give the function that makes it, as in Batches(make) rather than Batches(make()), or a list."
        raise InputError(message("batches that can be read again", got, remedy, subject="Batches"))
    if isinstance(make, str | bytes | dict | np.ndarray) or hasattr(make, "columns") or is_sparse(make):
        got = f"got something of type {type(make).__name__}"
        remedy = "Use Arrays(X, y) for a table, Parquet(path) for files."
        raise InputError(message("a function that gives batches, or a list of them", got, remedy, subject="Batches"))
    if not callable(make) and not isinstance(make, Iterable):
        got, remedy = f"got something of type {type(make).__name__}", "Write a function that yields (X, y)."
        raise InputError(message("a function that gives batches, or a list of them", got, remedy, subject="Batches"))
