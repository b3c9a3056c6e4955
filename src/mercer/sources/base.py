"""The source: rows that come in batches, as often as they are needed, and need not fit the memory together."""

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

    Parameters
    ----------
    rows : array, sparse array or table of shape (b, d)
        The rows.
    targets : array of shape (b,) or (b, outputs), or None, default=None
        Numbers or labels; None where the source has none.
    weights : array of shape (b,) or None, default=None
        How often each row counts; None for once each.

    Examples
    --------
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
        """Some of the rows.

        Parameters
        ----------
        rows : slice or array
            Which; a slice copies nothing.

        Returns
        -------
        Batch
        """
        return Batch(*(None if x is None else x[rows] for x in (self.rows, self.targets, self.weights)))


class Source(ABC):
    """Rows in batches: the same ones in the same order, each time.

    A family states `count`, `names`, `batches` and `fingerprint`; one that can start late says so by its
    `grain`.

    Examples
    --------
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
        """All rows from a position on, in batches of exactly `size` rows.

        Parameters
        ----------
        size : int
            Rows per batch; the last one may be shorter.
        start : int, default=0
            The position of the first row.
        what : {"all", "targets"}, default="all"
            With "targets" the `rows` of batches may be None: labels are read before the rows are.

        Returns
        -------
        iterator of Batch
        """

    @property
    def grain(self) -> int:
        """A gap of more rows than that is cheaper to skip, by a later start, than to read through."""
        return self.count

    @abstractmethod
    def fingerprint(self) -> bytes:
        """A few bytes that change when the data does.

        Returns
        -------
        bytes
        """
