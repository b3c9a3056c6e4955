"""A + alpha I, nearly: a randomly pivoted Cholesky factor F of A, and the inverse of F F' + alpha I."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.backends.squares import Features, Inverse, Square
from mercer.compute.runtime.lapack import MAX_CALL_OPERATIONS
from mercer.compute.runtime.memory import Budget
from mercer.compute.runtime.run import Run
from mercer.errors import InputError, message
from mercer.lifts.pivoting import RandomPivots
from mercer.operators import Operator
from mercer.solvers.eigenvalues.lanczos import edges
from mercer.solvers.ridge.cholesky_factor import factorize
from mercer.solvers.ridge.eigen import Eigen
from mercer.solvers.ridge.outcome import Decomposition
from mercer.solvers.ridge.price import Price

Array = NDArray[np.float64]
EPS = float(np.finfo(np.float64).eps)
MAX_RANK = 4000
"""The highest rank that is chosen where none is given."""
MAX_FACTOR_NUMBERS = 1 << 27
"""Numbers of a factor (1 GiB), at most, where no rank is given."""
MIN_ROWS_PER_COLUMN = 4
"""Rows for each of its columns, at least, where no rank is given."""
MAX_TRACE_LEFT = 0.1
"""What a factor may leave of the trace of A, in units of that of alpha I: then a few iterations do. Where it is known
what a pivot takes, that is weighed instead."""
RANK_GROWTH = 1.25
"""How much higher the next rank is that is asked whether it pays."""


@dataclass(frozen=True, eq=False)
class Preconditioner:
    """M = F F' + alpha I, with M^-1 v = (v - F (F'F + alpha I)^-1 F'v) / alpha.

    The error of this form, relative to M^-1, is that of F'F relative to alpha, about k eps |F'F| / alpha: so alpha is
    never taken to be less than `floor` here, and M stays positive definite whatever rounding does. This changes how
    many iterations there are, and no solution.

    features : F, (n, k), in this process or at a backend
    top : the largest eigenvalue of F'F, estimated from below: at most that of A
    left : the trace of A - F F'
    slope : how fast that falls with the rank: like rank^-slope
    inner : of F'F, for the alphas that were asked for; None where the rank is 0
    whole : M^-1 for the one alpha that was asked for, at a backend, in place of `inner`
    """

    features: Array | Features
    top: float
    left: float
    slope: float
    inner: Decomposition | None = None
    whole: Inverse | None = None

    @property
    def rank(self) -> int:
        """The number of columns of F."""
        return int(self.features.shape[1])

    @property
    def floor(self) -> float:
        """The least alpha that M is made with."""
        return max(16 * max(1, self.rank) * EPS * self.top, float(np.finfo(np.float64).tiny))

    def ridges(self, alphas: Array) -> Array:
        """The alphas that M is made with: for an alpha of 0 the mean of what F leaves of the diagonal of A."""
        mean = self.left / self.features.shape[0]
        return np.maximum(np.where(alphas > 0, alphas, mean if mean > 0 else 1.0), self.floor)

    def solve(self, R: Array, alphas: Array) -> Array:
        """M^-1 r for each column r with its alpha. Cost: 4 n k operations per column."""
        if self.whole is not None:
            return self.whole.solve(R)
        ridges = self.ridges(alphas)
        if self.inner is None:
            return np.asarray(R / ridges)
        if not isinstance(self.features, np.ndarray):
            return (R - self.features.along(self.inner.solve(self.features.across(R), ridges))) / ridges
        inner, Z = np.zeros((self.rank, R.shape[1])), np.empty_like(R)
        parts = list(strips(len(R), 2 * self.rank * R.shape[1]))
        for part in parts:
            inner += self.features[part].T @ R[part]
        inner = self.inner.solve(inner, ridges)
        for part in parts:
            Z[part] = (R[part] - self.features[part] @ inner) / ridges
        return Z

    def iterations(self, alphas: Array, tolerance: float) -> int:
        """How many iterations are to be expected, about."""
        ridges = self.ridges(alphas)
        return max(1, math.ceil(_iterations(self.left, self.rank, self.slope, float(ridges.min()), tolerance)))


def build(
    matrix: Operator,
    alphas: Array,
    rank: int | None,
    tolerance: float,
    seed: int,
    run: Run,
    price: Price | None = None,
) -> Preconditioner:
    """The preconditioner of a rank; None for one that pays.

    Cost: about 3 n k^2 operations and n k + k^2 numbers; 9 k^3 and 3 k^2 for several different alphas.

    tolerance : to which the system is to be solved, for what pays
    run : where it stops, the rank that was reached is taken
    price : of steps and ranks; None for operations
    """
    n = matrix.shape[0]
    square = matrix.at_backend()
    widest = MAX_FACTOR_NUMBERS // n if square is None else square.most_features()
    most = min(n // MIN_ROWS_PER_COLUMN, MAX_RANK, widest) if rank is None else min(rank, n)
    worth = Worth(n, float(alphas.min(initial=np.inf)), tolerance, price)
    asked = worth if rank is None else worth.note
    pivots = _pivots(matrix, square, most)

    def enough(rank: int, left: float) -> bool:
        over = run.over(rank)  # with any rank there is a model: the steps after it stop
        return asked(rank, left) or over

    with run.stage("preconditioner", max(1, most)):
        features = pivots.run(np.random.default_rng(seed), enough).features
        if not isinstance(features, np.ndarray):
            return _there(features, float(pivots.left.sum()), worth.slope, alphas)
        product = _square(_finite(features))
        top = max(edges(product).high, 0.0) if len(product) else 0.0
        made = Preconditioner(features, top, float(pivots.left.sum()), worth.slope)
        return replace(made, inner=_decomposed(product, np.unique(made.ridges(alphas)))) if len(product) else made


def _there(features: Features, left: float, slope: float, alphas: Array) -> Preconditioner:
    """That of features at a backend, where its inverse stays; several alphas are solved for in this process."""
    if features.shape[1] == 0:
        return Preconditioner(features, 0.0, left, slope)
    made = Preconditioner(features, max(float(_finite(np.asarray(features.top()))), 0.0), left, slope)
    ridges = np.unique(made.ridges(alphas))
    whole = features.inverse(float(ridges[0])) if len(ridges) == 1 else None
    return replace(made, inner=_decomposed(features.squares(), ridges)) if whole is None else replace(made, whole=whole)


def _pivots(matrix: Operator, square: Square | None, most: int) -> RandomPivots:
    """Those of the rows, with room for so many columns in this process or at a backend."""
    diagonal = _finite(matrix.diagonal())
    if square is None:
        Budget.of(None).require(8 * len(diagonal) * most, f"a preconditioner of rank {most}", "Use a lower rank.")
        return RandomPivots(diagonal, matrix.block, most)
    from mercer.solvers.ridge.at_backend import PivotsAtBackend  # most matrices are in this process

    return PivotsAtBackend(diagonal, square, most)


def _finite(values: NDArray[Any]) -> NDArray[Any]:
    if not np.isfinite(values).all():
        got = "there are infinities or NaN in it"
        raise InputError(
            message("a matrix of finite numbers", got, "Check the data and the kernel.", subject="A system")
        )
    return values


def strips(rows: int, operations: int) -> Iterator[slice]:
    """Parts of the rows of about `MAX_CALL_OPERATIONS` operations, of which each row takes so many."""
    step = max(1, int(MAX_CALL_OPERATIONS / max(1, operations)))
    return (slice(start, start + step) for start in range(0, rows, step))


def _square(features: Array) -> Array:
    """F'F, in short calls."""
    n, k = features.shape
    product = np.zeros((k, k))
    for part in strips(n, 2 * k * k):
        product += features[part].T @ features[part]
    return product


def _decomposed(product: Array, ridges: Array) -> Decomposition:
    """A Cholesky factor for one ridge, and the spectrum for several."""
    factor = factorize(product, float(ridges[0])) if len(ridges) == 1 else None
    return Eigen().decompose(product) if factor is None else factor


class Worth:
    """Whether a higher rank pays, from how the trace falls: fewer iterations, for more work on the factor.

    Where eigenvalues fall like j^-p, their sum beyond k falls like k^(1 - p), and the largest of them is (p - 1) / k
    of it. The condition number is then about 1 + that / alpha, and iterations grow with its root.
    """

    def __init__(self, n: int, alpha: float, tolerance: float, price: Price | None = None) -> None:
        self.n = n
        self.alpha = alpha
        self.tolerance = tolerance
        self.price = Price.of_operations(n) if price is None else price
        self.seen: list[tuple[int, float]] = []
        self.slope = 1.0

    def note(self, rank: int, left: float) -> bool:
        """Take down what a rank leaves of the trace; never enough."""
        self.seen.append((rank, left))
        before = next((pair for pair in self.seen if pair[0] >= rank / 2), (rank, left))
        if before[0] < rank and 0 < left < before[1]:
            self.slope = math.log(before[1] / left) / math.log(rank / before[0])
        return False

    def __call__(self, rank: int, left: float) -> bool:
        """Whether this rank is enough."""
        self.note(rank, left)
        if left <= (MAX_TRACE_LEFT * self.alpha * self.n if self.price.pivot == 0 else 0.0):
            return True
        return len(self.seen) > 1 and self._cost(rank * RANK_GROWTH, left * RANK_GROWTH**-self.slope) >= self._cost(
            rank, left
        )

    def _cost(self, rank: float, left: float) -> float:
        alpha = self.alpha if self.alpha > 0 else left / self.n
        many = _iterations(left, rank, self.slope, alpha, self.tolerance)
        return self.price.total(rank, many)


def _iterations(left: float, rank: float, slope: float, alpha: float, tolerance: float) -> float:
    """About so many iterations, for a condition number of 1 + (largest eigenvalue that is left) / alpha."""
    condition = 1 + left * (slope / rank if rank else 1.0) / alpha
    return math.sqrt(condition) * math.log(2 / min(max(tolerance, EPS), 1.0)) / 2
