"""How training rows are seen: through a kernel, through a lift, or as a matrix that somebody else computed.

A view answers what least squares needs to know of the rows: the kernel matrix, products with it, its diagonal, and the
same for new rows. Where a finite lift exists it also gives the features.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mercer.backends.tensors import on_host
from mercer.compute.codegen.pair_statistics import extremes
from mercer.compute.consistency import shapes
from mercer.compute.runtime.threads import Watch, one_thread_blas
from mercer.errors import InputError, KernelError, message, speaker, speaking
from mercer.kernels import Kernel
from mercer.kernels.evaluation.evaluate import is_few, matrix
from mercer.kernels.points import DOUBLE, Points, alike, stacked
from mercer.lifts.base import Lift
from mercer.lifts.coerce import stated
from mercer.operators import Dense, Gram, LowRank, Operator
from mercer.operators.precomputed import check_precomputed, check_semidefinite, made_semidefinite

if TYPE_CHECKING:
    from mercer.operators.at_backend import AtBackend

Array = NDArray[np.float64]
BLOCK = 1 << 22
"""Numbers in a block of new rows, about: 32 MB."""
EPS = float(np.finfo(np.float64).eps)
SAMPLE_ROWS = 128
"""Rows among which the fused pass is compared with NumPy, at most, and new rows on which predictions are tried."""
SAMPLED_AGAINST = 4
"""One of so many of these rows is compared with all of them: some thousand pairs say how far entries are off."""
MIN_THREADED_PAIRS = 1 << 12
"""Pairs from which on BLAS may use several threads."""
BEYOND_DISTANCES = 0.25
"""How far such new rows may lie beyond a pair of rows, in units of its distance."""


class View(ABC):
    """The training rows, as least squares sees them."""

    @property
    @abstractmethod
    def count(self) -> int:
        """How many rows there are."""

    kernel: Kernel | None
    lift: Lift | None

    @property
    def sure(self) -> bool:
        """Whether the matrix is known to be positive semi-definite."""
        return True

    @property
    def most_features(self) -> int | None:
        """How many features the finite lift has, at most; None where there is none."""
        return None

    def finite_lift(self) -> Lift:
        """The finite lift of the rows, fitted."""
        raise AttributeError("coef_: the kernel has no finite lift that is known, so there are no weights of features")

    def lifted(self) -> TableView:
        """The same rows with their finite lift."""
        raise AttributeError("coef_: the kernel has no finite lift that is known, so there are no weights of features")

    def unit(self, K: Array | AtBackend | Operator, sizes: Array) -> float:
        """How far entries of the kernel matrix K are off, relative to the sizes of rows, sqrt(k(x, x)).

        Of an operator those in its products are meant.
        """
        return EPS

    @property
    def dtype(self) -> np.dtype[Any]:
        """What the entries of the kernel matrix were rounded to."""
        return DOUBLE

    @property
    def exact_features(self) -> bool:
        """Whether features are columns as they are, so that no digit of theirs was lost."""
        return False

    @property
    def on_card(self) -> bool:
        """Whether a graphics card can compute with the rows: dense numbers that a kernel sees."""
        return False

    @abstractmethod
    def operator(self, watch: Watch | None = None) -> Operator:
        """The kernel matrix of the rows, in float64, as an operator."""

    @abstractmethod
    def cross(self, new: Any) -> Operator:
        """The matrix of new rows (as `read` gave them) against the training rows."""

    def times(self, V: Array) -> Array:
        """Products with the kernel matrix of the rows."""
        return np.asarray(self.operator() @ V)

    def predicted(self, new: Any, duals: Array) -> Array:
        """Products of that matrix with coefficients of the training rows."""
        return np.asarray(self.cross(new) @ duals)

    def dense_cross(self, new: Any) -> Array:
        """The same, stored."""
        return np.asarray(self.cross(new).to_dense(), dtype=np.float64)

    @abstractmethod
    def among(self, new: Any) -> Array:
        """The matrix of new rows against themselves, to be overwritten."""

    @abstractmethod
    def diagonal(self, new: Any) -> Array:
        """k(x, x) of new rows."""

    @abstractmethod
    def chosen(self, rows: Any) -> View:
        """The view of some of the rows."""

    def between(self) -> Any:
        """Some new rows like the training rows, to try predictions on; None where none can be made."""
        return None

    def dense(self, watch: Watch | None = None) -> Array:
        """The kernel matrix, to be overwritten."""
        return np.asarray(self.operator(watch).to_dense(), dtype=np.float64)

    def square(self, watch: Watch | None = None) -> Array | AtBackend:
        """The same, at the backend at hand where large matrices live there."""
        return self.dense(watch)

    def features(self) -> Array:
        """The features of the rows, to be overwritten, where there is a lift."""
        raise NotImplementedError

    def features_of(self, new: Any) -> Array:
        """The features of new rows, where there is a lift."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class TableView(View):
    """Rows of numbers, of which new ones can be made, and features where there is a lift."""

    points: Points

    def _inconsistency(self) -> str:
        columns, width = getattr(self.lift, "n_features_in_", None), self.points.shape[1]
        return "" if columns in (None, width) else f"got a lift of {columns} columns for {width}"

    @property
    def count(self) -> int:
        return int(self.points.values.shape[0])

    @property
    def exact_features(self) -> bool:
        return first_degree(self.lift)

    def chosen(self, rows: Any) -> View:
        return replace(self, points=self.points.rows(rows))

    def between(self) -> Points:
        return mixed(self.points)

    def features(self) -> Array:
        return self.features_of(self.points)

    def features_of(self, new: Points) -> Array:
        return features(self.lift, new)


@dataclass(frozen=True, eq=False)
class KernelView(TableView):
    """Rows seen through a kernel; `lift` is its exact lift, fitted, where it is wanted."""

    kernel: Kernel
    lift: Lift | None = None

    @cached_property
    def sure(self) -> bool:
        most = self.kernel.max_dimension
        return most is None or most >= self.points.values.shape[1]

    @property
    def on_card(self) -> bool:
        return not (self.points.sparse or self.points.stores)

    @property
    def most_features(self) -> int | None:
        if self.points.sparse or type(self.kernel).finite_lift is Kernel.finite_lift:
            return None
        from mercer.lifts.n_features import most_features  # most kernels have no finite lift

        # A kernel that is zero everywhere has no feature, and so no lift.
        return most_features(self.kernel, self.points.values.shape[1]) or None

    def finite_lift(self) -> Lift:
        if self.lift is not None:
            return self.lift
        from mercer.lifts.exact import exact_lift  # most kernels have no finite lift
        from mercer.lifts.n_features import needs_data

        if self.points.sparse:
            raise AttributeError(
                "coef_: the features of a kernel are dense, and the rows are sparse; give a lift instead"
            )
        if self.most_features is None and not needs_data(self.kernel, self.points.values.shape[1]):
            return super().finite_lift()
        try:
            return exact_lift(self.kernel, self.points)
        except KernelError:  # behind a function: it was not looked at
            return super().finite_lift()

    def lifted(self) -> TableView:
        return self if self.lift is not None else replace(self, lift=self.finite_lift())

    def unit(self, K: Array | AtBackend | Operator, sizes: Array) -> float:
        """What the fused pass made of a sample of pairs, against plain NumPy, which is off by a unit."""
        if is_few(self.points, self.points):
            return EPS
        others = np.arange(0, self.count, -(-self.count // SAMPLE_ROWS))
        rows = others[::SAMPLED_AGAINST]
        if isinstance(K, Gram):
            some = K.evaluator.within(rows, others).matrix(K.dtype, 1)[0]
        else:
            some = K.block(rows, others) if not isinstance(K, np.ndarray) else K[np.ix_(rows, others)]
        off = np.abs(some - matrix(self.kernel, self.points.rows(rows), self.points.rows(others)))
        scale = np.outer(sizes[rows], sizes[others])
        return max(EPS, float(np.divide(off, scale, out=np.zeros_like(off), where=scale > 0).max()))

    def operator(self, watch: Watch | None = None) -> Operator:
        return Gram.of(self.kernel, self.points, watch=watch)

    def dense(self, watch: Watch | None = None) -> Array:
        watch = None if is_few(self.points, self.points) else watch
        return np.asarray(matrix(self.kernel, self.points, self.points, watch=watch), dtype=np.float64)

    def square(self, watch: Watch | None = None) -> Array | AtBackend:
        if is_few(self.points, self.points):
            return np.asarray(matrix(self.kernel, self.points, self.points), dtype=np.float64)
        found = self.operator(watch).at_backend() if self.sure else None
        if found is None:
            return self.dense(watch)
        from mercer.operators.at_backend import AtBackend  # most matrices are in this process

        return AtBackend(found)

    def cross(self, new: Points) -> Operator:
        left, right = alike(replace(new, dtype=DOUBLE), self.points)
        return Gram.of(self.kernel, left, right)

    def dense_cross(self, new: Points) -> Array:
        left, right = alike(replace(new, dtype=DOUBLE), self.points)
        return np.asarray(matrix(self.kernel, left, right), dtype=np.float64)

    def times(self, V: Array) -> Array:
        return self.dense() @ V if is_few(self.points, self.points) else super().times(V)

    def predicted(self, new: Points, duals: Array) -> Array:
        if not is_few(new, self.points):
            return super().predicted(new, duals)
        if new.values.shape[0] * self.count < MIN_THREADED_PAIRS:
            return self.dense_cross(new) @ duals
        with one_thread_blas():  # for so little work threads wait longer than they work
            return self.dense_cross(new) @ duals

    def among(self, new: Points) -> Array:
        return np.asarray(Gram.of(self.kernel, replace(new, dtype=DOUBLE)).to_dense(), dtype=np.float64)

    def diagonal(self, new: Points) -> Array:
        return np.asarray(self.kernel.evaluate_diagonal(new), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class LiftView(TableView):
    """Rows seen through a fitted lift: the kernel is the inner product of its features."""

    lift: Lift

    @property
    def kernel(self) -> Kernel:  # type: ignore[override]
        return stated(getattr(self.lift, "kernel_", self.lift.kernel), subject=type(self.lift).__name__)

    @property
    def most_features(self) -> int | None:
        return self.lift.n_features()

    def finite_lift(self) -> Lift:
        return self.lift

    def lifted(self) -> TableView:
        return self

    def operator(self, watch: Watch | None = None) -> Operator:
        return LowRank(self.features())

    def cross(self, new: Points) -> Operator:
        return LowRank(self.features_of(new), self.features())

    def among(self, new: Points) -> Array:
        return LowRank(self.features_of(new)).to_dense()

    def diagonal(self, new: Points) -> Array:
        found = self.features_of(new)
        return np.asarray(np.einsum("ij,ij->i", found, found))


@dataclass(frozen=True, eq=False)
class MatrixView(View):
    """Rows of which only the kernel matrix is known, as its owner gave it."""

    matrix: NDArray[Any]
    kernel: None = None
    lift: None = None

    def _inconsistency(self) -> str:
        return shapes((self.matrix, (None, None)))

    @property
    def sure(self) -> bool:
        return False

    @property
    def count(self) -> int:
        return len(self.matrix)

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.matrix.dtype

    def operator(self, watch: Watch | None = None) -> Operator:
        return Dense(np.asarray(self.matrix, dtype=np.float64), symmetric=True)

    def cross(self, new: Array) -> Operator:
        return Dense(np.asarray(new, dtype=np.float64), symmetric=False)

    def among(self, new: Array) -> Array:
        needs, got = "k(x, z) of all pairs of new rows for a covariance", "the kernel is precomputed"
        raise InputError(message(needs, got, "Give the kernel itself."))

    def diagonal(self, new: Array) -> Array:
        needs, got = "k(x, x) of new rows for a standard deviation", "the kernel is precomputed"
        raise InputError(message(needs, got, "Give the kernel itself."))

    def chosen(self, rows: Any) -> View:
        return replace(self, matrix=self.matrix[np.ix_(rows, rows)])

    def dense(self, watch: Watch | None = None) -> Array:
        return check_precomputed(self.matrix)


def definite(view: View, K: Array) -> View:
    """The view of a positive semi-definite matrix, or an error.

    A given matrix that is slightly indefinite is changed, in K and in the view that is returned; a warning says how.

    K : the matrix of the view, in float64
    """
    if view.sure:
        return view
    if not isinstance(view, MatrixView):
        with speaking(f"{speaker()} with {view.kernel}"):
            check_semidefinite(K, view.dtype)
        return view
    if made_semidefinite(K, view.dtype) == 0:
        return view
    return replace(view, matrix=K.astype(view.dtype if view.dtype.kind == "f" else np.float64))


def with_landmarks(view: View) -> KernelView | LiftView:
    """The view, if landmarks can stand for it; else an error: it has no points, or is not known to be a kernel."""
    if not isinstance(view, KernelView | LiftView):
        needs, got = 'a kernel or a lift for method="landmarks"', "the kernel is precomputed"
        raise InputError(message(needs, got, 'Use "exact", or give the rows.'))
    if not view.sure:
        needs, got = 'a kernel that is proven for method="landmarks"', f"{view.kernel} is not"
        raise InputError(message(needs, got, 'Use "exact", which looks at the matrix.'))
    return view


def joined(view: TableView, rows: Points) -> TableView:
    """The rows of a view, and others after them; all are sparse where some are."""
    return replace(view, points=stacked(*alike(view.points, rows)))


def features(lift: Lift | None, points: Points) -> Array:
    """The features of points, in float64 and dense."""
    if lift is None:
        raise AttributeError("there is no finite lift")
    found = lift.features(points if points.stores else points.values)
    dense = found.toarray() if hasattr(found, "toarray") else found
    own = np.ascontiguousarray(dense, dtype=np.float64)
    shared = isinstance(points.values, np.ndarray) and np.shares_memory(own, points.values)
    return own.copy() if shared else own


def mixed(points: Points) -> Points:
    """Rows like the given ones: each takes every column from the line through two of them, between them or near by.

    Columns without negative numbers get none, for kernels that need that.
    """
    random, count = np.random.default_rng(0), points.values.shape[0]
    first, second = random.integers(count, size=(2, SAMPLE_ROWS))
    left, right = on_host(points.values[first]), on_host(points.values[second])
    if points.sparse:
        return replace(points, values=(left + right) / 2)
    values = left + (right - left) * random.uniform(-BEYOND_DISTANCES, 1 + BEYOND_DISTANCES, left.shape)
    things = [i for i, store in enumerate(points.stores) if store is not None]
    values[:, things] = left[:, things]  # there is nothing between two objects
    least = np.where(extremes(points.values)[1] >= 0, 0.0, -np.inf)
    return replace(points, values=np.maximum(values, least))


def first_degree(lift: Lift | None) -> bool:
    """Whether features are the columns themselves, or sums of them with integers."""
    expansion = getattr(lift, "expansion_", None)
    return expansion is not None and expansion.degree <= 1


def blocks(count: int, width: int) -> list[slice]:
    """Slices that cover so many rows, each of about `BLOCK` numbers where a row has a given width."""
    step = max(1, BLOCK // max(1, width))
    return [slice(start, min(start + step, count)) for start in range(0, count, step)]
