"""The source: rows that come in batches, as often as they are asked for, and need not fit the memory together."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Batch:
    """Some rows that follow each other.

    rows : a table, (b, d): an array of numbers (or a sparse one of SciPy)
    targets : (b,) or (b, outputs), numbers or labels; None where the source has none
    weights : (b,), how often each row counts; None for once each

    >>> import numpy as np
    >>> from mercer.sources import Batch
    >>> batch = Batch(np.zeros((3, 2)), np.arange(3))
    >>> batch.count, batch.part(slice(1, 3)).targets
    (3, array([1, 2]))
    """

    rows: Any
    targets: NDArray[Any] | None = None
    weights: NDArray[np.float64] | None = None

    @property
    def count(self) -> int:
        """How many rows there are."""
        known = next((x for x in (self.rows, self.targets, self.weights) if x is not None), np.empty(0))
        return int(known.shape[0])

    def part(self, rows: slice | NDArray[Any]) -> Batch:
        """Some of the rows; a slice copies nothing."""
        return Batch(*(None if x is None else x[rows] for x in (self.rows, self.targets, self.weights)))


class Source(ABC):
    """Rows in batches: the same ones in the same order, each time that they are asked for.

    A family states `count`, `names`, `batches` and `fingerprint`; one that can start late says so by its
    `grain`.

    >>> import numpy as np
    >>> from mercer.sources import Batches, Source
    >>> rows = Batches([np.zeros((3, 2)), np.ones((2, 2))])
    >>> isinstance(rows, Source), rows.count, [batch.count for batch in rows.batches(4)]
    (True, 5, [4, 1])
    """

    @property
    @abstractmethod
    def count(self) -> int:
        """How many rows there are."""

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...] | None:
        """The names of the columns of `rows`; None where they have none."""

    @abstractmethod
    def batches(self, size: int, start: int = 0, what: str = "all") -> Iterator[Batch]:
        """All rows from position `start` on, in batches of exactly `size` rows (the last one may be shorter).

        what : "all", or "targets" for batches whose `rows` may be None: labels are looked through before the rows are
        """

    @property
    def grain(self) -> int:
        """A gap of more rows than that is cheaper to skip, by a later start, than to read through."""
        return self.count

    @abstractmethod
    def fingerprint(self) -> bytes:
        """A few bytes that change when the data does."""
