"""The basis: functions of a row whose combinations are the model, and the features that are made of them.

One-pass methods add up products of *raw* functions, which are cheap, and go over to the *features* phi afterwards, in
matrices of p rows. For a Nystrom lift the raw functions are k(x, l_j), and phi(x) = R^-T k(L, x); for other lifts they
are the features themselves.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas

from mercer.compute.consistency import shapes
from mercer.compute.runtime.lapack import divide_by_triangle
from mercer.compute.runtime.run import IDLE, Run
from mercer.compute.runtime.threads import Watch
from mercer.kernels import Kernel
from mercer.kernels.evaluation.evaluate import matrix
from mercer.kernels.evaluation.strips import Strip, over_strips, over_table
from mercer.kernels.points import DOUBLE, Points, alike
from mercer.learners.data.views import EPS, features
from mercer.lifts.base import Lift
from mercer.lifts.pivoting import strips
from mercer.operators import Gram

Array = NDArray[np.float64]
MAX_STRETCH_OF_WEIGHTS = 1e8
"""Where whitening magnifies rounding by more than this, weights of raw functions are too large to predict with."""


class Basis(ABC):
    """p raw functions, and as many features made of them: phi(x) = T' raw(x) for a square T."""

    @property
    @abstractmethod
    def width(self) -> int:
        """p."""

    @property
    def plain(self) -> bool:
        """Whether the features are the raw functions: T = I."""
        return True

    @property
    def stretch(self) -> float:
        """How far T'ST magnifies the rounding of S, about."""
        return 1.0

    @property
    def rounding(self) -> float:
        """How far eigenvalues of T'ST may be off by the rounding of S, for each row that was summed, about."""
        return EPS

    @abstractmethod
    def raw(self, points: Points, out: Array | None = None) -> Array:
        """(rows, p): the raw functions, in float64, to be overwritten.

        out : memory of as many rows or more that may be used: new memory takes longer to get than values to compute
        """

    def over_strips(self, points: Points, strip: Strip, memory: Sequence[Array], watch: Watch | None = None) -> None:
        """Hand the raw functions of all rows to workers, strip by strip (`mercer.kernels.evaluation.strips`)."""
        for part in strips(points.values.shape[0], self.width):
            over_table(self.raw(points.rows(part)), part.start, strip, memory)

    def times(self, points: Points, W: Array, run: Run = IDLE) -> Array:
        """(rows, outputs): raw(x) W, without the table of raw functions where that is faster."""
        return np.concatenate([self.raw(points.rows(part)) @ W for part in strips(points.values.shape[0], self.width)])

    def to_features(self, rows: Array) -> Array:
        """rows T: rows of raw functions, (r, p), become rows of features."""
        return rows

    def whiten(self, rows: Array) -> Array:
        """The same in place, in C order, by a thread that keeps no other waiting."""
        return rows

    def to_raw(self, weights: Array) -> Array:
        """T weights: weights of features, (p, outputs), become weights of raw functions."""
        return weights

    def features(self, points: Points, out: Array | None = None) -> Array:
        """(rows, p): phi; `out` as for `raw`."""
        return self.to_features(self.raw(points, out))


@dataclass(frozen=True, eq=False)
class LiftBasis(Basis):
    """The features of a fitted lift, as they are."""

    lift: Lift

    @property
    def width(self) -> int:
        return int(self.lift.n_features())

    def raw(self, points: Points, out: Array | None = None) -> Array:
        return features(self.lift, points)


@dataclass(frozen=True, eq=False)
class LandmarkBasis(Basis):
    """k(x, l) at landmarks, whitened by the upper triangular R with k(L, L) = R'R.

    kernel : with its numbers
    landmarks : (p, d)
    upper : R
    """

    kernel: Kernel
    landmarks: Points
    upper: Array

    def _inconsistency(self) -> str:
        p = self.landmarks.shape[0]
        return shapes((self.upper, (p, p)))

    @property
    def width(self) -> int:
        return len(self.upper)

    @property
    def plain(self) -> bool:
        return False

    @property
    def stretch(self) -> float:
        diagonal = np.abs(np.diagonal(self.upper))
        return float((diagonal.max() / diagonal.min()) ** 2)

    @property
    def rounding(self) -> float:
        return float(EPS * np.abs(np.diagonal(self.upper)).max() ** 2 * self.stretch)

    def raw(self, points: Points, out: Array | None = None) -> Array:
        left, right = alike(replace(points, dtype=DOUBLE), self.landmarks)
        place = None if out is None else out[: left.values.shape[0]]
        return np.asarray(matrix(self.kernel, left, right, out=place))

    def over_strips(self, points: Points, strip: Strip, memory: Sequence[Array], watch: Watch | None = None) -> None:
        left, right = alike(replace(points, dtype=DOUBLE), self.landmarks)
        over_strips(self.kernel, left, right, strip, memory, watch)

    def times(self, points: Points, W: Array, run: Run = IDLE) -> Array:
        left, right = alike(points, self.landmarks)
        return np.asarray(Gram.of(self.kernel, left, right, watch=run.watch) @ W, dtype=np.float64)

    def to_features(self, rows: Array) -> Array:
        return np.asarray(blas.dtrsm(1.0, self.upper, rows.T, trans_a=1).T)

    def whiten(self, rows: Array) -> Array:
        divide_by_triangle(rows, self._lower)
        return rows

    @cached_property
    def _lower(self) -> Array:
        return np.ascontiguousarray(self.upper.T)

    def to_raw(self, weights: Array) -> Array:
        return np.asarray(blas.dtrsm(1.0, self.upper, weights))


@dataclass(frozen=True, eq=False)
class FeatureBasis(Basis):
    """The features of another basis as raw functions: p^2 operations per row more, and no digits lost to whitening."""

    inner: Basis

    def _inconsistency(self) -> str:
        return "a basis of features stands inside of another" if isinstance(self.inner, FeatureBasis) else ""

    @property
    def width(self) -> int:
        return self.inner.width

    def raw(self, points: Points, out: Array | None = None) -> Array:
        return self.inner.features(points, out)

    def over_strips(self, points: Points, strip: Strip, memory: Sequence[Array], watch: Watch | None = None) -> None:
        def whitened(worker: int, rows: slice, raw: Array) -> None:
            strip(worker, rows, self.inner.whiten(raw))

        self.inner.over_strips(points, whitened, memory, watch)


def landmark_basis(lift: Any, points: Points) -> LandmarkBasis:
    """The basis of a fitted Nystrom lift; `points` tell the names of columns."""
    return LandmarkBasis(lift.kernel_, lift.landmark_points(points.names), lift.factor_)


def steady(basis: Basis) -> Basis:
    """The basis, or its features as raw functions where predictions would lose the digits that small penalties need.

    Each row costs p^2 operations more then, also where it is predicted.
    """
    return FeatureBasis(basis) if basis.stretch > MAX_STRETCH_OF_WEIGHTS else basis
