"""Exact components: from the eigenvectors of the centred kernel matrix, or from products with it alone."""

from __future__ import annotations

import warnings
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from mercer.compute.runtime.run import Run
from mercer.compute.runtime.threads import one_thread_blas
from mercer.errors import InputError, NumericalWarning, caller_level, message, speaker
from mercer.kernels.evaluation.evaluate import matrix
from mercer.kernels.points import SINGLE
from mercer.learners.data.views import KernelView, MatrixView, View, definite
from mercer.learners.pca.features import start_of
from mercer.learners.pca.problem import PCAProblem
from mercer.learners.pca.result import PCAResult, floor_of, leading_part
from mercer.learners.pca.settings import PCASettings
from mercer.learners.pca.signs import signs_of
from mercer.learners.streaming.predictor import ByDuals
from mercer.operators import Dense, Operator
from mercer.operators.base import Index
from mercer.operators.dense import tiles
from mercer.operators.precomputed import MAX_NEGATIVE_SHARE, negligible, slightly_indefinite
from mercer.planner.pca import PCAPlan
from mercer.solvers import Eigen
from mercer.solvers.eigenvalues.block_krylov import EXTRA_VECTORS, MIN_BASIS_COLUMNS, leading
from mercer.solvers.eigenvalues.certified_lanczos import MAX_ONE_THREAD_ROWS, certified, expected_products
from mercer.solvers.eigenvalues.lanczos import edges

Array = NDArray[np.float64]
MAX_TRUSTED_RESIDUAL = 1e-9
"""Residuals of a decomposition, relative to the largest eigenvalue, above which it is not to be trusted."""
MAX_ONE_THREAD_WHOLE = 256
"""Rows up to which one thread decomposes a matrix as fast as several, and a copy costs less than another matrix."""

MIN_SINGLE_ROWS = 2048
"""Rows of float32 from which on their matrix is stored as float32: smaller ones stay in caches, and another pass over
all pairs in float64 takes as long as products with numbers of half the size save."""
MIN_SINGLE_TOLERANCE = 1e-7
"""Smaller residuals than these do not come from a matrix of float32."""
NEAR = 1e-5
"""The residual of a vector from such a matrix, relative to its own eigenvalue, up to which it is kept."""


@dataclass(frozen=True, eq=False)
class _Eigenpairs:
    """Eigenvalues that fall, eigenvectors, and the products of the centred matrix with these."""

    values: Array
    vectors: Array
    images: Array

    def residuals(self) -> Array:
        """Relative to the largest value."""
        sizes = np.linalg.norm(self.images - self.vectors * self.values, axis=0)
        return np.asarray(sizes / self.values[:1])


def _result(view: View, means: Array, total: float, pairs: _Eigenpairs, converged: bool, reason: str) -> PCAResult:
    """With signs that are fixed; eigenvectors, and so the coefficients of rows, add up to zero."""
    signs = signs_of(pairs.vectors)
    vectors = pairs.vectors * signs
    roots = np.sqrt(pairs.values)
    duals = vectors / roots
    return PCAResult(
        values=pairs.values,
        total=total,
        residuals=pairs.residuals(),
        predictor=ByDuals(view, duals, -(means @ duals)),
        rows=view.count,
        converged=converged,
        reason=reason,
        vectors=vectors,
        scores=pairs.images * (signs / roots),
    )


# -- the matrix -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Decomposed:
    """What is known of a stored kernel matrix.

    means : those of its rows
    total : the trace of the centred matrix
    how : how its eigenvectors were found, in words
    """

    pairs: _Eigenpairs
    means: Array
    total: float
    how: str


def by_matrix(problem: PCAProblem, plan: PCAPlan, run: Run) -> PCAResult:
    """By the eigenvectors of the centred kernel matrix, which is stored: the leading ones alone, or all of them.

    Cost: for the leading ones some dozens of products with a vector, and n^2 numbers; for all 9 n^3 operations, and 3
    n^2 numbers.
    """
    view, settings = problem.view, problem.settings
    count = settings.components if plan.details.partial else None
    found = _leading_single(view, problem.settings, run) if count and _is_single(view, problem) else None
    if found is None:
        with run.stage("kernel matrix"):
            K = view.dense(run.watch)
            view = definite(view, K)
        found = _leading(view, K, count, run) if count else None
        if found is None:
            found = _whole(view, K, settings.components, run)
        del K
    worst = float(found.pairs.residuals().max(initial=0.0))
    reason = f"{found.how}, with residuals of at most {worst:.1e} of the largest eigenvalue."
    converged = worst <= max(MAX_TRUSTED_RESIDUAL, settings.tolerance)
    return _result(view, found.means, found.total, found.pairs, converged, reason)


def _leading(view: View, K: Array, count: int, run: Run) -> _Decomposed | None:
    """By products with the stored matrix; None where it is better decomposed."""
    n = len(K)
    with one_thread_blas() if n <= MAX_ONE_THREAD_ROWS else nullcontext():
        with run.stage("decompose", expected_products(count)):
            found = certified(K, count, np.full(n, n**-0.5), run)
        if found is None:
            return None
        with run.stage("residuals"):
            sizes, means = K.diagonal(), K @ np.full(n, 1 / n)
            floor = floor_of(n, float(found.values[0]), float(sizes.max()), view.dtype)
            kept = leading_part(found.values, floor, count)
            vectors = np.ascontiguousarray(found.vectors[:, :kept])
            pairs = _Eigenpairs(found.values[:kept], *_with_images(Dense(K, symmetric=True), vectors))
    total = float(sizes.sum()) - n * float(means.mean())
    return _Decomposed(pairs, means, total, f"Lanczos' method with {found.products} products")


def _is_single(view: View, problem: PCAProblem) -> TypeGuard[KernelView]:
    """Whether rows are float32 and so many that a matrix of float32 saves time, and `tol` is not too small for it."""
    return (
        isinstance(view, KernelView)
        and view.sure
        and problem.dtype == SINGLE
        and view.count >= MIN_SINGLE_ROWS
        and problem.settings.tolerance >= MIN_SINGLE_TOLERANCE
    )


def _leading_single(view: KernelView, settings: PCASettings, run: Run) -> _Decomposed | None:
    """By products with a matrix of float32; values, residuals and scores are those of one product in float64.

    The vectors span what float32 found; within that span values are the best (Rayleigh and Ritz), so that their error
    is the square of that of the vectors. None where residuals show that rounding moved vectors too far, as it does for
    eigenvalues far below the largest, and where a decomposition finds them better.
    """
    n, count, points = view.count, settings.components or 1, replace(view.points, dtype=SINGLE)
    with run.stage("kernel matrix"):
        K = matrix(view.kernel, points, points, watch=run.watch)
    with run.stage("decompose", expected_products(count)):
        found = certified(K, count, np.full(n, n**-0.5), run)
    del K
    if found is None:
        return None
    with run.stage("residuals"):
        centred = _Centred(_exact(view, run))
        vectors = np.linalg.qr(found.vectors - found.vectors.mean(axis=0))[0]
        images = np.asarray(centred @ vectors)
        rising, turns = np.linalg.eigh(vectors.T @ images)
        pairs = _Eigenpairs(rising[::-1], vectors @ turns[:, ::-1], images @ turns[:, ::-1])
        off, sizes = pairs.residuals(), centred.inner.diagonal()
    floor = floor_of(n, float(pairs.values[0]), float(sizes.max()), view.dtype)
    own = pairs.values / pairs.values[0]
    if leading_part(pairs.values, floor, count) < count or (off > np.minimum(settings.tolerance, NEAR * own)).any():
        return None
    total = float(sizes.sum()) - n * float(centred.means.mean())
    return _Decomposed(pairs, centred.means, total, f"Lanczos' method with {found.products} products in float32")


def _whole(view: View, K: Array, count: int | None, run: Run) -> _Decomposed:
    """By a decomposition, which overwrites K."""
    largest = float(K.diagonal().max())
    known = Dense(K.copy(), symmetric=True) if len(K) <= MAX_ONE_THREAD_WHOLE else _exact(view, run)
    means = _centre(K)
    total = float(K.diagonal().sum())
    with run.stage("decompose"), one_thread_blas() if len(K) <= MAX_ONE_THREAD_WHOLE else nullcontext():
        found = Eigen().decompose(K)
    values = found.values[::-1]
    kept = leading_part(values, floor_of(view.count, float(values[0]), largest, view.dtype), count)
    with run.stage("residuals"):
        vectors = np.ascontiguousarray(found.vectors[:, ::-1][:, :kept])
        del found
        pairs = _Eigenpairs(values[:kept].copy(), *_with_images(known, vectors))
    return _Decomposed(pairs, means, total, "One eigendecomposition")


def _with_images(K: Operator, vectors: Array) -> tuple[Array, Array]:
    """Centred vectors, and the products of the centred matrix with them."""
    vectors = vectors - vectors.mean(axis=0)  # rounding leaves some of the constant vector in them, which K sees
    images = np.asarray(K @ vectors)
    return vectors, images - images.mean(axis=0)


def _centre(K: Array) -> Array:
    """Take the means of rows and of columns off, in place; these means."""
    n = len(K)
    means: Array = np.asarray(K.mean(axis=1))
    shifts = means - means.mean() / 2
    for part in tiles(n, n):
        K[part] -= shifts[part, None] + shifts
    return means


# -- products ---------------------------------------------------------------------------------------------------------


def by_products(problem: PCAProblem, plan: PCAPlan, random: np.random.Generator, run: Run) -> PCAResult:
    """By products with the centred kernel matrix, of which nothing is stored.

    Cost: a few products with blocks, most of them in float32, and 2 n m numbers for a basis of m columns.
    """
    view, settings = problem.view, problem.settings
    n, count = view.count, settings.components or 1
    exact = _exact(view, run)
    if not view.sure:
        _refuse_indefinite(view, exact)
    start = start_of(problem, plan, count + EXTRA_VECTORS, random, run)
    centred = _Centred(exact)
    rough = _Centred(exact.narrowed().rough()) if isinstance(view, KernelView) else None
    found = leading(
        centred,
        count,
        tolerance=settings.tolerance,
        max_products=settings.products,
        start=start,
        fast=rough,
        random=random,
        run=run,
        most=_columns(problem, count),
    )
    means = (centred if centred.noted or rough is None else rough).means
    sizes = exact.diagonal()
    floor = floor_of(n, float(found.values[0]), float(sizes.max()), view.dtype)
    kept = leading_part(found.values, floor, count)
    vectors = found.vectors[:, :kept] - found.vectors[:, :kept].mean(axis=0)
    pairs = _Eigenpairs(found.values[:kept], vectors, found.images[:, :kept])
    total = float(sizes.sum()) - n * float(means.mean())
    return _result(view, means, total, pairs, found.converged or kept == 0, found.reason)


class _Centred(Operator):
    """P K P of a symmetric K, with P = I - 1 1' / n; the means of the rows of K come with the first product.

    noted : the means, once there was one
    """

    def __init__(self, inner: Operator) -> None:
        self.inner = inner
        self.noted: list[Array] = []
        super().__init__(inner.shape, np.float64, symmetric=True)

    def _multiply(self, V: NDArray[Any]) -> NDArray[Any]:
        n, columns = V.shape
        block = V - V.mean(axis=0)
        if self.noted:
            found = np.asarray(self.inner @ block)
        else:
            found = np.asarray(self.inner @ np.column_stack([block, np.full(n, 1 / n)]), dtype=np.float64)
            self.noted.append(found[:, columns].copy())
        return np.asarray(found[:, :columns] - found[:, :columns].mean(axis=0))

    @property
    def means(self) -> Array:
        """The mean of each row of K."""
        if not self.noted:
            self.noted.append(np.asarray(self.inner @ np.full(self.shape[0], 1 / self.shape[0])))
        return self.noted[0]

    def _transposed(self) -> Operator:
        return self

    def _block(self, i: Index, j: Index) -> NDArray[Any]:
        shifts = self.means - self.means.mean() / 2
        return np.asarray(self.inner.block(i, j) - shifts[i][:, None] - shifts[j])

    def diagonal(self) -> NDArray[Any]:
        return np.asarray(self.inner.diagonal() - 2 * self.means + self.means.mean())

    def peak(self, columns: int = 1) -> int:
        return self.inner.peak(columns + 1) + 3 * 8 * self.shape[0] * (columns + 1)


def _columns(problem: PCAProblem, count: int) -> int:
    """Columns of the basis: as many as the plan counts on."""
    width = min(count + EXTRA_VECTORS, problem.view.count)
    return width + max(width, MIN_BASIS_COLUMNS)


def _exact(view: View, run: Run) -> Operator:
    """The kernel matrix in float64: products with it, or the one that was given, made symmetric."""
    return Dense(view.dense(), symmetric=True) if isinstance(view, MatrixView) else view.operator(run.watch)


def _refuse_indefinite(view: View, K: Operator) -> None:
    """Refuse a matrix with a negative eigenvalue that a few products show."""
    ends = edges(K)
    if isinstance(view, MatrixView) and -MAX_NEGATIVE_SHARE * ends.top <= ends.low < -negligible(
        view.count, ends.top, view.dtype
    ):
        text = f"{slightly_indefinite(ends.low, ends.top)} Negative eigenvalues count as 0."
        warnings.warn(f"{text} Give K with more digits.", NumericalWarning, stacklevel=caller_level())
    elif ends.low < -negligible(view.count, ends.top, view.dtype):
        got = f"K is indefinite: an eigenvalue is at most {ends.low:.3g}, and the largest {ends.high:.3g}"
        remedy = "mercer.repair(K) makes it so, and says what that removes."
        name = f"{speaker()} with {view.kernel}" if isinstance(view, KernelView) else speaker()
        raise InputError(message("a positive semi-definite matrix of similarities", got, remedy, subject=name))
