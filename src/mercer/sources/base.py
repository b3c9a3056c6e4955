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
    """

    rows: Any
    targets: NDArray[Any] | None = None
    weights: NDArray[np.float64] | None = None


class Source(ABC):
    """Rows in batches: the same ones in the same order, each time that they are asked for.

    A family states four things: `count`, `names`, `batches` and `fingerprint`.
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
        """All rows from position `start` on, in batches of `size` rows (the last one may be shorter).

        what : "all", or "targets" for batches whose `rows` may be None: labels are looked through before the rows are
        """

    @abstractmethod
    def fingerprint(self) -> bytes:
        """A few bytes that change when the data does."""
