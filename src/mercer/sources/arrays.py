"""Arrays and memory maps, read in slices."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.errors import InputError, message
from mercer.sources.base import Batch, Source
from mercer.sources.tables import digest, names_of, rows_at_once, table_of, targets_of, weights_of

SKIPPED_ROWS = 256
"""Rows that are read through rather than skipped: a slice takes about as long as its first few pages."""


@dataclass(frozen=True, eq=False)
class Arrays(Source):
    """Rows of an array, of a memory map, or of a frame, with their targets and weights.

    A memory map is never in memory as a whole: pages that were read are given back after each batch.

    Parameters
    ----------
    X : array, memory map, DataFrame or sparse array of shape (n, d)
        The rows, such as `np.load(path, mmap_mode="r")`.
    y : array of shape (n,) or (n, outputs), or None, default=None
        Numbers or labels.
    weight : array of shape (n,), float or None, default=None
        How often each row counts, or one number for all.

    Examples
    --------
    >>> source = Arrays(np.arange(10.0).reshape(5, 2), y=[1, 2, 3, 4, 5])
    >>> [batch.targets.tolist() for batch in source.batches(2, start=1)]
    [[2, 3], [4, 5]]
    """

    X: Any
    y: Any = None
    weight: Any = None

    def __post_init__(self) -> None:
        if self.count == 0:
            raise InputError(message("at least one row", "X has none", "Check how it was selected.", subject="Arrays"))
        _ = self._targets, self._weights  # complain of what does not fit

    @property
    def count(self) -> int:
        return int(self._table.shape[0])

    @cached_property
    def names(self) -> tuple[str, ...] | None:
        return names_of(self.X)

    @property
    def grain(self) -> int:
        return SKIPPED_ROWS

    def batches(self, size: int, start: int = 0, what: str = "all") -> Iterator[Batch]:
        every = what == "all" or (self._targets is None and self._weights is None)
        whole = Batch(self._table if every else None, self._targets, self._weights)
        for first in range(start, self.count, size):
            yield whole.part(slice(first, first + size))
            self._let_go()

    def fingerprint(self) -> bytes:
        return digest(self._parts())

    def _parts(self) -> Iterator[Any]:
        for batch in self.batches(rows_at_once(self._table.shape[1])):
            yield from (part for part in (batch.rows, batch.targets, batch.weights) if part is not None)

    @cached_property
    def _table(self) -> Any:
        return table_of("Arrays", "X", self.X)

    @cached_property
    def _targets(self) -> NDArray[Any] | None:
        return None if self.y is None else targets_of("Arrays", "y", self.y, self.count)

    @cached_property
    def _weights(self) -> NDArray[Any] | None:
        return None if self.weight is None else weights_of("Arrays", "weight", self.weight, self.count)

    def _let_go(self) -> None:
        """Give the pages of memory maps back to the system: they would stay until it is short of memory."""
        for pages in self._pages:
            pages.madvise(mmap.MADV_DONTNEED)

    @cached_property
    def _pages(self) -> tuple[mmap.mmap, ...]:
        found = (_map_below(array) for array in (self._table, self._targets, self._weights))
        return tuple(pages for pages in found if pages is not None)

    def __getstate__(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in ("X", "y", "weight")}  # maps cannot be pickled


def _map_below(array: Any) -> mmap.mmap | None:
    """The file behind an array; None where there is none, or where its pages may hold what no file does."""
    private = not hasattr(mmap, "MADV_DONTNEED")  # Windows
    while isinstance(array, np.ndarray):
        private = private or (isinstance(array, np.memmap) and array.mode == "c")
        array = array.base
    return array if isinstance(array, mmap.mmap) and not private else None
