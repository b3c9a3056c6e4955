"""The basis: functions of a row whose combinations are the model, and the features that are made of them.

One-pass methods add up products of *raw* functions, which are cheap, and go over to the *features* phi afterwards, in
matrices of p rows. For a Nystrom lift the raw functions are k(x, l_j), and phi(x) = R^-T k(L, x); for other lifts they
are the features themselves.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas

from mercer.backends.base import Accumulator, RowValues
from mercer.backends.context import current
from mercer.backends.passes import Column, Operations, Pass
from mercer.backends.squares import Triangle
from mercer.compute.consistency import shapes
from mercer.compute.runtime.run import IDLE, Run
from mercer.compute.runtime.threads import Progress, Watch
from mercer.kernels import Kernel
from mercer.kernels.evaluation.evaluate import evaluator, matrix
from mercer.kernels.points import DOUBLE, Points, alike
from mercer.learners.data.views import EPS, features
from mercer.lifts.base import Lift
from mercer.lifts.landmarks import factor_of
from mercer.lifts.pivoting import strips
from mercer.operators import Gram
from mercer.planner.batches import layout

if TYPE_CHECKING:
    from mercer.lifts.fourier_grid import FourierGrid

Array = NDArray[np.float64]
Times = Callable[[slice, Array], Array]
"""times(part, W): raw(x) W of a part of the rows."""
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
    def compared(self) -> int:
        """How many raw functions a card can make of dense rows: all, or none."""
        return 0

    @property
    def rounding(self) -> float:
        """How far eigenvalues of T'ST may be off by the rounding of S, for each row that was summed, about."""
        return EPS

    @abstractmethod
    def raw(self, points: Points, out: Array | None = None) -> Array:
        """(rows, p): the raw functions, in float64, to be overwritten.

        out : memory of as many rows or more that may be used: new memory takes longer to get than values to compute
        """

    def at_backend(self, points: Points) -> RowValues | None:
        """The raw functions of all rows as a backend makes them; None where tables of them have to be given."""
        return None

    def table(self, points: Points) -> RowValues:
        """Those of some rows, as a table."""
        return RowValues(table=self.raw(points))

    def add_to(
        self, sums: Accumulator, points: Points, rows: Mapping[str, Any], watch: Watch | None = None
    ) -> dict[str, Any]:
        """The raw functions of all rows to a pass, with columns of the rows; what it leaves with them."""
        count, whole = points.values.shape[0], self.at_backend(points)
        parts = strips(count, self.width)
        if whole is not None or len(parts) == 1:
            return sums.add(whole or self.table(points), rows, watch)
        left = []
        for part in parts:
            own = {name: column[part] for name, column in rows.items()}
            told = None if watch is None else _part_of(watch, part.start / count, len(range(count)[part]) / count)
            left.append(sums.add(self.table(points.rows(part)), own, told))
        return {name: rows[name] if name in rows else np.concatenate([each[name] for each in left]) for name in left[0]}

    def times(self, points: Points, W: Array, run: Run = IDLE) -> Array:
        """(rows, outputs): raw(x) W, without the table of raw functions where that is faster."""
        found = self.combined(points, W, np.zeros(len(W)), run)
        if found is not None:
            return found
        return np.concatenate([self.raw(points.rows(part)) @ W for part in strips(points.values.shape[0], self.width)])

    def bound(self, points: Points) -> Times:
        """`times` of parts of some rows."""
        return lambda part, W: self.times(points.rows(part), W)

    def combined(self, points: Points, W: Array, origin: Array, run: Run = IDLE) -> Array | None:
        """(rows, outputs): (raw(x) - origin) W, where a backend holds tables and makes these; else None."""
        values = self.at_backend(points) if current().holds_tables else None
        if values is None:
            return None
        sums = current().accumulate(Combined(W, origin), self.width, layout())
        return np.asarray(sums.add(values, {}, run.watch)["found"])

    def to_features(self, rows: Array) -> Array:
        """rows T: rows of raw functions, (r, p), become rows of features."""
        return rows

    @property
    def lower(self) -> Array | None:
        """T'^-1, lower triangular, in C order; None where T = I."""
        return None

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

    def at_backend(self, points: Points) -> RowValues | None:
        if not current().holds_tables or points.stores:
            return None
        from mercer.lifts.row_functions import row_functions  # where tables are arrays, nobody asks

        functions = row_functions(self.lift, points.values)
        return None if functions is None else RowValues(functions=functions, points=points.values)

    @property
    def compared(self) -> int:
        from mercer.lifts.row_functions import row_functions  # where tables are arrays, nobody asks

        zero = np.zeros((1, int(getattr(self.lift, "n_features_in_", 0))))
        return 0 if row_functions(self.lift, zero) is None else self.width


@dataclass(frozen=True, eq=False)
class LandmarkBasis(Basis):
    """k(x, l) at landmarks, whitened by the upper triangular R with k(L, L) = R'R.

    kernel : with its numbers
    landmarks : (p, d)
    upper : R; None where a fit left it on a card: then it is computed when it is needed
    """

    kernel: Kernel
    landmarks: Points
    upper: Array | None

    def _inconsistency(self) -> str:
        p = self.landmarks.shape[0]
        return "" if self.upper is None else shapes((self.upper, (p, p)))

    @property
    def width(self) -> int:
        return int(self.landmarks.shape[0])

    @property
    def plain(self) -> bool:
        return False

    @property
    def stretch(self) -> float:
        diagonal = np.abs(np.diagonal(self.factor))
        return float((diagonal.max() / diagonal.min()) ** 2)

    @property
    def compared(self) -> int:
        return 0 if self.landmarks.sparse or any(self.landmarks.stores) else self.width

    @property
    def rounding(self) -> float:
        return float(EPS * np.abs(np.diagonal(self.factor)).max() ** 2 * self.stretch)

    def raw(self, points: Points, out: Array | None = None) -> Array:
        left, right = alike(replace(points, dtype=DOUBLE), self.landmarks)
        place = None if out is None else out[: left.values.shape[0]]
        return np.asarray(matrix(self.kernel, left, right, out=place))

    def at_backend(self, points: Points) -> RowValues:
        left, right = alike(replace(points, dtype=DOUBLE), self.landmarks)
        across = cache(lambda: evaluator(self.kernel, right, left)) if current().holds_tables else None
        return RowValues(evaluator(self.kernel, left, right), across=across, subject=self.kernel)

    def times(self, points: Points, W: Array, run: Run = IDLE) -> Array:
        left, right = alike(points, self.landmarks)
        return np.asarray(Gram.of(self.kernel, left, right, watch=run.watch) @ W, dtype=np.float64)

    def bound(self, points: Points) -> Times:
        if not current().holds_tables:
            return super().bound(points)
        left, right = alike(points, self.landmarks)
        values, everything = Gram.of(self.kernel, left, right), np.arange(self.width)
        values.prepare()  # rows and landmarks are sent, and the formula is bound, once
        return lambda part, W: np.asarray(values.combine(everything, W, np.arange(part.start, part.stop)))

    def first(self, count: int) -> LandmarkBasis:
        """That of the first landmarks, whose R is a part of R."""
        upper = None if self.upper is None else self.upper[:count, :count].copy("F")
        return replace(self, landmarks=self.landmarks.rows(slice(count)), upper=upper)

    @cached_property
    def factor(self) -> Array:
        """R in this process."""
        return factor_of(self.kernel, self.landmarks) if self.upper is None else self.upper

    def _there(self) -> Triangle | None:
        """R at a backend, where it was left on a card; None where it is in this process, or no card computes."""
        if self.upper is not None or not current().holds_squares:
            return None
        square = Gram.of(self.kernel, self.landmarks).at_backend()
        return None if square is None else square.triangle()

    def to_features(self, rows: Array) -> Array:
        there = self._there()
        if there is not None:
            return there.to_features(rows.T).T
        return np.asarray(blas.dtrsm(1.0, self.factor, rows.T, trans_a=1).T)

    @cached_property
    def lower(self) -> Array:
        return np.ascontiguousarray(self.factor.T)

    def to_raw(self, weights: Array) -> Array:
        there = self._there()
        return np.asarray(blas.dtrsm(1.0, self.factor, weights)) if there is None else there.to_raw(weights)


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

    def at_backend(self, points: Points) -> RowValues | None:
        values = self.inner.at_backend(points)
        return None if values is None else replace(values, triangle=self.inner.lower)

    @property
    def compared(self) -> int:
        return self.inner.compared


@dataclass(frozen=True, eq=False)
class Combined(Pass):
    """(z - origin) W of each row z of values."""

    W: Array
    origin: Array

    def columns(self, width: int) -> Mapping[str, Column]:
        return {"found": Column((self.W.shape[1],))}

    def add(self, values: Any, rows: Mapping[str, Any], sums: dict[str, Any], ops: Operations) -> None:
        values -= self.origin
        rows["found"][...] = values @ self.W


def _part_of(watch: Watch, start: float, share: float) -> Watch:
    """A watch of all rows, for some of them: tells parts of a million."""

    def tell(progress: Progress) -> None:
        done = start + share * progress.done / max(progress.total, 1)
        watch(Progress(int(1e6 * done), 10**6, progress.seconds))

    return tell


def landmark_basis(lift: Any, points: Points) -> LandmarkBasis:
    """The basis of a fitted Nystrom lift; `points` tell the names of columns."""
    return LandmarkBasis(lift.kernel_, lift.landmark_points(points.names), lift.factor_)


def basis_of(lift: Lift, points: Points) -> Basis:
    """The basis of a fitted lift, by its landmarks where it has some."""
    from mercer.lifts.nystrom import Nystrom

    if type(lift).__name__ == "FourierGrid":  # its module is loaded where there is one
        from mercer.learners.streaming.grid import GridBasis

        return GridBasis(cast("FourierGrid", lift))
    return landmark_basis(lift, points) if isinstance(lift, Nystrom) else LiftBasis(lift)


def steady(basis: Basis) -> Basis:
    """The basis, or its features as raw functions where predictions would lose the digits that small penalties need.

    Each row costs p^2 operations more then, also where it is predicted.
    """
    return FeatureBasis(basis) if basis.stretch > MAX_STRETCH_OF_WEIGHTS else basis
