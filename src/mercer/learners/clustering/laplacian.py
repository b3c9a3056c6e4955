"""The graph of a kernel: rows are tied by its values, and a walk goes along the ties in proportion to them."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer import kernels
from mercer.compute.runtime.run import Run
from mercer.compute.runtime.threads import one_thread_blas
from mercer.errors import InputError, message, number_of
from mercer.kernels import Kernel
from mercer.learners.data.views import KernelView, MatrixView, View
from mercer.operators import Dense, Operator
from mercer.operators.base import EVERYTHING, Index
from mercer.planner.clustering import DECOMPOSING, DEGREES
from mercer.solvers import Eigen
from mercer.solvers.eigenvalues.block_krylov import leading
from mercer.solvers.eigenvalues.certified_lanczos import MAX_ONE_THREAD_ROWS, Certified, certified
from mercer.solvers.kmeans.cluster_sums import EPS, ZERO_DISTANCE_ROUNDINGS, parts

Array = NDArray[np.float64]
POSITIVE = (
    kernels.Gaussian,
    kernels.Laplace,
    kernels.ProductLaplace,
    kernels.Matern,
    kernels.RationalQuadratic,
    kernels.Wendland,
    kernels.Periodic,
    kernels.Exponential,
    kernels.ExponentialChiSquared,
    kernels.ChiSquared,
    kernels.Min,
    kernels.Constant,
    kernels.ArcCosine,
    kernels.Exp,
)
"""Kernels without negative values, wherever they are defined."""
KEPT = (kernels.Sum, kernels.Product, kernels.Power, kernels.Normalized, kernels.Scaled, kernels.On, kernels.After)
"""Rules that make none of values that are not negative."""


@dataclass(frozen=True, eq=False)
class Graph:
    """Ties between rows.

    K : their strengths, at least 0
    degrees : (n,), the sums of its rows, above 0
    sure : whether K is proven positive semi-definite
    """

    K: Operator
    degrees: Array
    sure: bool


@dataclass(frozen=True, eq=False)
class Embedding:
    """Eigenvectors of the walk.

    values : (components,), falling, from 1 on
    vectors : (n, components), with a mean square of one where rows count as much as their degrees; the largest number
        of each by size is positive, and all of the first are one
    residuals : (components,), how far they are from eigenvectors of the symmetric matrix
    products : with the matrix; 1 where it was decomposed
    converged, reason : whether residuals are within the tolerance, and a sentence about it
    parts : how many parts of the graph no tie above rounding connects, as far as eigenvalues were computed
    """

    values: Array
    vectors: Array
    residuals: Array
    products: int
    converged: bool
    reason: str
    parts: int = 1


class Normalised(Operator):
    """D^-1/2 K D^-1/2, for the degrees D of a graph: symmetric, with 1 as its largest eigenvalue.

    K : (n, n), symmetric
    roots : (n,), those of 1 / D
    """

    def __init__(self, K: Operator, roots: Array) -> None:
        self.K = K
        self.roots = roots.astype(K.dtype)
        super().__init__(K.shape, K.dtype, symmetric=True)

    def _multiply(self, V: NDArray[Any]) -> NDArray[Any]:
        roots = self.roots.astype(V.dtype, copy=False)[:, None]
        return np.asarray(roots * (self.K @ (roots * V)))

    def _transposed(self) -> Operator:
        return self

    def _block(self, i: Index, j: Index) -> NDArray[Any]:
        return np.asarray(self.roots[i][:, None] * self.K.block(i, j) * self.roots[j])

    def diagonal(self) -> NDArray[Any]:
        return np.asarray(self.roots**2 * self.K.diagonal())

    def narrowed(self) -> Operator:
        return Normalised(self.K.narrowed(), self.roots)

    def rough(self) -> Operator:
        return Normalised(self.K.rough(), self.roots)

    def peak(self, columns: int = 1) -> int:
        return self.K.peak(columns) + 2 * self.shape[0] * columns * self.dtype.itemsize


# -- from rows to a graph ---------------------------------------------------------------------------------------------


def graph_of(view: View, stored: bool, run: Run) -> Graph:
    """The graph of rows, or an error where a tie is negative, or a row has none.

    stored : whether the matrix is to be stored
    """
    with run.stage(DEGREES):
        whole = stored or isinstance(view, MatrixView)
        K = Dense(view.dense(run.watch), symmetric=True) if whole else view.operator(run.watch)
        if not (isinstance(view, KernelView) and never_negative(view.kernel)):
            _refuse_negative(view, K, run)
        degrees = np.asarray(K @ np.ones(view.count), dtype=np.float64)
    bad = np.flatnonzero(~(np.isfinite(degrees) & (degrees > 0)))
    if len(bad):
        got = f"those of row {bad[0]} add up to {degrees[bad[0]]:g}"
        raise InputError(message("rows with a finite positive tie", got, "Drop such rows, or scale the data."))
    return Graph(K, degrees, view.sure)


def never_negative(kernel: Kernel) -> bool:
    """Whether no value of a kernel is negative, as far as its parts tell."""
    if isinstance(kernel, POSITIVE):
        return True
    return isinstance(kernel, KEPT) and all(never_negative(child) for child in kernel.children)


def _refuse_negative(view: View, K: Operator, run: Run) -> None:
    """Look at all values. Cost: n^2 of them, and memory for a block."""
    n, least, at = view.count, 0.0, (0, 0)
    for part in parts(n, n):
        block = K.block(part, EVERYTHING)
        i, j = divmod(int(block.argmin()), n)
        if block[i, j] < least:
            least, at = float(block[i, j]), (part.start + i, j)
        run.tell(part.stop / n)
    if least < -ZERO_DISTANCE_ROUNDINGS * EPS * float(np.abs(K.diagonal()).max()):
        needs = "ties of at least 0"
        source = "the matrix" if view.kernel is None else str(view.kernel)
        got = f"the smallest value of {source} is {least:.3g}, of the rows {at[0]} and {at[1]}"
        raise InputError(message(needs, got, "Use a Gaussian, say, or KernelKMeans, which takes any kernel."))


# -- from a graph to eigenvectors -------------------------------------------------------------------------------------


def embedded(
    graph: Graph, count: int, tolerance: float, most: int, stored: bool, random: np.random.Generator, run: Run
) -> Embedding:
    """The leading eigenvectors of the walk D^-1 K, from those of D^-1/2 K D^-1/2.

    count : how many
    tolerance, most : of residuals, and of products
    stored : whether all eigenvectors of a stored matrix are computed
    """
    roots = 1.0 / np.sqrt(graph.degrees)
    A = Normalised(graph.K, roots)
    if stored:
        return _decomposed(A, graph, count, run)
    shift = 0.0 if graph.sure else 1.0  # eigenvalues are at least -1
    shifted = A if graph.sure else A.ridge(shift)
    fast = A.narrowed().rough() if graph.sure else None
    found = leading(shifted, count, tolerance=tolerance, max_products=most, fast=fast, random=random, run=run)
    vectors = _scaled(found.vectors, graph.degrees)
    values = found.values - shift
    accuracy = found.residuals, found.products, found.converged, found.reason
    return Embedding(values, vectors, *accuracy, _parts(values, len(vectors)))


def _decomposed(A: Normalised, graph: Graph, count: int, run: Run) -> Embedding:
    """The same to rounding: the leading eigenvectors alone where that is quicker, and shows all parts of the graph."""
    with run.stage(DECOMPOSING):
        matrix = np.asarray(A.rows(EVERYTHING), dtype=np.float64)
        found = _few(matrix, graph, count, run)
        if found is None:
            whole = Eigen().decompose(matrix.copy())
            vectors, products, reason = whole.vectors[:, ::-1][:, :count].copy(), 1, "One eigendecomposition."
            values, parts = whole.values[::-1][:count].copy(), _parts(whole.values, len(matrix))
        else:
            values, vectors, products = found.values, found.vectors, found.products
            reason, parts = f"Lanczos' method with {number_of(products, 'product')}.", _parts(values, len(matrix))
    residuals = np.linalg.norm(matrix @ vectors - vectors * values, axis=0)
    return Embedding(values, _scaled(vectors, graph.degrees), residuals, products, True, reason, parts)


def _few(matrix: Array, graph: Graph, count: int, run: Run) -> Certified | None:
    """The leading eigenvectors, of which the first is known; None where a decomposition is better."""
    known = np.sqrt(graph.degrees / graph.degrees.sum())
    if not graph.sure or count < 2:
        return None
    with one_thread_blas() if len(matrix) <= MAX_ONE_THREAD_ROWS else nullcontext():
        found = certified(matrix, count - 1, known, run)
    if found is None or _parts(found.values, len(matrix)) == count - 1:  # there may be more parts
        return None
    return Certified(np.append(1.0, found.values), np.column_stack([known, found.vectors]), found.products)


def _parts(values: Array, count: int) -> int:
    """How many parts a graph of so many rows has: as many of the eigenvalues of its walk are one."""
    return int(np.sum(values > 1 - 10 * EPS * count))


def _scaled(vectors: Array, degrees: Array) -> Array:
    """D^-1/2 times the vectors, and the root of all degrees together, with signs by the rule."""
    found = vectors * np.sqrt(degrees.sum() / degrees)[:, None]
    largest = found[np.abs(found).argmax(axis=0), np.arange(found.shape[1])]
    return np.asarray(found * np.where(largest < 0, -1.0, 1.0))
