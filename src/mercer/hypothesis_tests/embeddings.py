"""Features that stand for a kernel, strip by strip: exact ones, random waves, or values at landmarks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mercer.hypothesis_tests.validation import Seen
from mercer.kernels.points import Points
from mercer.lifts.base import Lift
from mercer.lifts.exact import exact_lift
from mercer.lifts.fourier import RandomFourier
from mercer.lifts.landmarks import HELD, MIN_ROWS_PER_LANDMARK
from mercer.lifts.n_features import most_features
from mercer.lifts.nystrom import nystrom_of

Array = NDArray[np.float64]

EXACT, WAVES, LANDMARKS = "exact features", "random Fourier features", "landmarks"
STRIP_NUMBERS = 1 << 21
"""Numbers of features that are held at once (16 MiB)."""


@dataclass(frozen=True, eq=False)
class Embedding:
    """phi(x) of rows, with phi(x).phi(z) about k(x, z), that are computed when they are needed.

    lift : fitted to all rows, whichever sample they belong to
    detail : what the features are, in words
    """

    points: Points
    lift: Lift
    detail: str

    @property
    def count(self) -> int:
        """How many rows there are."""
        return int(self.points.values.shape[0])

    @property
    def width(self) -> int:
        """How many features there are; a kernel that is zero at all rows has one, which is zero."""
        return max(1, int(self.lift.n_features()))

    def features(self, rows: slice) -> Array:
        """(rows, width): those of some rows, new memory."""
        values = self.points.values[rows]
        if not self.lift.n_features():
            return np.zeros((values.shape[0], 1))
        found = self.lift.features(self.points.rows(rows) if self.points.stores else values)
        dense = found.toarray() if hasattr(found, "toarray") else found
        own = np.ascontiguousarray(dense, dtype=np.float64)
        return own.copy() if np.shares_memory(own, values) else own

    def strips(self, most: int | None = None) -> Iterator[tuple[slice, Array]]:
        """All features, some rows at a time.

        most : rows at a time, at most
        """
        step = max(1, min(STRIP_NUMBERS // self.width, most or self.count))
        for start in range(0, self.count, step):
            rows = slice(start, min(start + step, self.count))
            yield rows, self.features(rows)


def kind_of(seen: Seen, rank: int, waves: bool) -> str:
    """What stands for a kernel: its exact lift where that has at most `rank` features, waves, or landmarks.

    waves : whether random Fourier features are wanted, where the kernel has a spectral law
    """
    width = seen.points.values.shape[1]
    exact = None if seen.points.sparse else most_features(seen.kernel, width)
    if exact is not None and 0 < exact <= rank:
        return EXACT
    return WAVES if waves and seen.kernel.law(width) is not None else LANDMARKS


def embedding_of(seen: Seen, rank: int, kind: str, random: np.random.Generator) -> Embedding:
    """Features of a kernel: about `rank`, or those of its exact lift; fewer landmarks where rounding ends them."""
    kernel, points = seen.kernel, seen.points
    if kind == EXACT:
        lift: Lift = exact_lift(kernel, points)
    elif kind == WAVES:
        lift = RandomFourier(kernel, rank + rank % 2, random_state=int(random.integers(2**31))).fit(points.values)
    else:
        lift = nystrom_of(kernel, points, min(rank, seen.count), random)
    return Embedding(points, lift, f"{lift.n_features():,} {kind}")


def bytes_to_choose(kind: str, rows: int, rank: int) -> int:
    """What is held while landmarks are chosen, at most; the others need no choice."""
    return 8 * min(rows * rank, max(HELD, MIN_ROWS_PER_LANDMARK * rank**2)) if kind == LANDMARKS else 0
