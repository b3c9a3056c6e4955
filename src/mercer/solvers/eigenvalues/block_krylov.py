"""The largest eigenvalues of a symmetric matrix and their eigenvectors, from a few products with blocks of vectors.

The basis Q holds vectors together with their products A Q, and the best approximations in it are those of the small
matrix Q'A Q (Rayleigh and Ritz). What A leaves of them, (A - value) vector, are the directions that come next: from any
start this is a block Krylov method, and where the basis is full it goes on from the best part of it (a thick restart).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mercer.compute.runtime.lapack import squares_of
from mercer.compute.runtime.memory import Budget
from mercer.compute.runtime.run import IDLE, Run, Stopped
from mercer.errors import InputError, message, number_of, speaks
from mercer.operators import Operator
from mercer.operators.base import read
from mercer.operators.dense import product
from mercer.solvers.ridge.base import opening
from mercer.solvers.ridge.eigen import Eigen

Array = NDArray[np.float64]
STAGE = "components"
"""The stage that a run sees; its steps are products."""
EXPECTED_PRODUCTS = 8
"""Products that a stage counts on."""
EXTRA_VECTORS = 6
"""Vectors beyond those requested: the last of these converge as fast as the gap behind them is wide."""
MIN_BASIS_COLUMNS = 64
"""The columns that a basis has beyond a block, at least: the more, the fewer products after a restart."""
RANDOM_VECTORS = 2
"""Random vectors beside a start: what that lacks altogether would not be found without."""
MIN_SQUARED_LENGTH = 1e-12
"""A direction is lost to rounding where the square of what is left of a unit vector is at most this."""
ROUNDED_RESIDUAL = 2e-5
"""Relative residuals from which on it may be the rounding of fast products that keeps them from falling."""


@dataclass(frozen=True, eq=False)
class Leading:
    """The largest eigenvalues, and how accurate they are.

    values : (k,), falling
    vectors : (n, k), orthonormal
    images : (n, k), A times the vectors
    residuals : (k,), |A v - value v|, by A itself; by fast products where a run was stopped before A was multiplied
    products : how often A, or a faster one in its place, was multiplied by a block
    converged : whether all residuals are at most the tolerance times the largest eigenvalue
    reason : why it ended, in a sentence
    """

    values: Array
    vectors: Array
    images: Array
    residuals: Array
    products: int
    converged: bool
    reason: str


@speaks
def leading(
    A: Operator,
    count: int,
    *,
    tolerance: float = 1e-6,
    max_products: int = 60,
    start: Array | None = None,
    fast: Operator | None = None,
    random: np.random.Generator,
    run: Run = IDLE,
    most: int | None = None,
) -> Leading:
    """The largest eigenvalues of a symmetric positive semi-definite A, by block Krylov and Rayleigh-Ritz.

    Blocks have `EXTRA_VECTORS` columns more than requested; vectors that have converged are multiplied no more. A run
    sees the products, and may stop it once there is one: what was computed by then is returned.

    Cost: a few products with blocks of about `count` columns, and 4 n m count operations beside each, for a basis of m
    columns, which are twice a block or 64 more than one; 2 n m numbers.

    A : (n, n)
    count : how many, at least 1; of more than n there are n
    tolerance : the residual at which to end, relative to the largest eigenvalue
    max_products : the most products, at least 1
    start : (n, any), a block to begin with; None for a random one
    fast : a cheaper operator near A, for the first products: as long as its own errors do not show
    random : the source of random vectors
    most : the columns of the basis; it gets more where it could hold no two blocks

    >>> import numpy as np
    >>> from mercer.operators import Diagonal
    >>> found = leading(Diagonal(np.arange(100.0)), 3, random=np.random.default_rng(0))
    >>> found.values.round(6), found.converged
    (array([99., 98., 97.]), True)

    Li and Zhang, Convergence of the block Lanczos method for eigenvalue clusters, Numer. Math. 131 (2015).
    Wu and Simon, Thick-restart Lanczos method for large symmetric eigenvalue problems, SIAM J. Matrix Anal. 22 (2000).
    """
    if count < 1 or max_products < 1:
        got = f"got count={count!r} and max_products={max_products!r}"
        raise InputError(message("positive integers", got, "Use 10 and 60, say."))
    n, count = A.shape[0], min(count, A.shape[0])
    width = min(n, count + EXTRA_VECTORS)
    first, stopped_by = _first(n, width, start, random), ""
    search = _Search(first, count, width, most, run)
    rough = fast if max_products > 1 else None
    with run.stage(STAGE, min(EXPECTED_PRODUCTS, max_products)):
        search.begin(A if rough is None else rough, first)
        try:
            with run.stoppable():
                if rough is not None:
                    _advance(search, rough, tolerance, max_products - 1, rough=True)
                    search.begin(A, search.vectors[:, :width])
                search.true = True
                _advance(search, A, tolerance, max_products, rough=False)
        except Stopped as stopped:
            stopped_by = opening(stopped)
    return search.found(tolerance, stopped_by)


def _advance(search: _Search, A: Operator, tolerance: float, last: int, rough: bool) -> None:
    """Products with A until the residuals are small enough, nothing new comes, or so many products were made.

    One product is not trusted, since a start may lack a direction; rough ones end where their rounding does.
    """
    errors: list[float] = []
    while search.products < last:
        errors.append(search.error)
        if (errors[-1] <= tolerance and search.products > 1) or (rough and _exhausted(errors)):
            return
        block = search.following(tolerance)
        if block.shape[1] == 0:
            return
        search.expand(A, block)
        search.run.tell(search.products)


def _exhausted(errors: list[float]) -> bool:
    """Whether residuals have ceased to fall: halved no more where rounding may be the reason, or stayed for long."""
    if len(errors) > 1 and errors[-1] <= ROUNDED_RESIDUAL and errors[-1] > 0.5 * errors[-2]:
        return True
    return len(errors) > 4 and errors[-1] > 0.9 * errors[-5]


class _Search:
    """The basis Q, A Q and Q'A Q, and the best approximations of eigenvectors in it.

    first : (n, any), the block that it will begin with
    width : how many approximations are looked at
    true : whether products are those of A itself
    values, vectors, images : the approximations, falling; and A times the vectors
    norms : how far they are from eigenvectors
    """

    def __init__(self, first: Array, count: int, width: int, most: int | None, run: Run) -> None:
        n, given = first.shape
        size = min(n, max(width + max(width, MIN_BASIS_COLUMNS) if most is None else most, 2 * width, given + width))
        self.count, self.width, self.run = count, width, run
        self.basis, self.products_of = np.empty((n, size), order="F"), np.empty((n, size), order="F")
        self.small = np.zeros((size, size))
        self.size = self.products = 0
        self.true = False
        self.values = self.norms = self._all_values = np.empty(0)
        self.vectors = self.images = self._turns = np.empty((n, 0))

    # -- the basis ----------------------------------------------------------------------------------------------------

    def begin(self, A: Operator, block: Array) -> None:
        """An orthonormal block as the whole basis."""
        image = self._times(A, block)  # where a run stops it, the basis is as it was
        self.size = 0
        self._append(block, image)
        self._look(block.shape[1])

    def expand(self, A: Operator, block: Array) -> None:
        """More vectors, which are orthonormal and orthogonal to the basis; before that less of it where it is full."""
        image = self._times(A, block)
        if self.size + block.shape[1] > self.basis.shape[1]:
            self._shrink(max(self.width, (self.basis.shape[1] - block.shape[1]) // 2))
        self._append(block, image)
        self._look(self.width)

    def _times(self, A: Operator, block: Array) -> Array:
        """A times a block, in parts where memory needs that."""
        step, result = _at_once(A, block.shape[1]), np.empty(block.shape, order="F")
        for start in range(0, block.shape[1], step):
            part = np.ascontiguousarray(block[:, start : start + step], dtype=A.dtype)
            result[:, start : start + step] = A @ part
            self.products += 1
        if not np.isfinite(result).all():
            got, remedy = "a product with it holds infinities or NaN", "Check the data and the kernel."
            raise InputError(message("a matrix of finite numbers", got, remedy))
        return result

    def _append(self, block: Array, image: Array) -> None:
        before, size = self.size, self.size + block.shape[1]
        self.basis[:, before:size], self.products_of[:, before:size] = block, image
        strip = product(self.basis[:, :size].T, image)
        strip[before:] = (strip[before:] + strip[before:].T) / 2
        self.small[:size, before:size], self.small[before:size, :size] = strip, strip.T
        self.size = size

    def _shrink(self, kept: int) -> None:
        """The best so many of the approximations become the basis."""
        turns = np.asfortranarray(self._turns[:, :kept])
        for held in (self.basis, self.products_of):
            held[:, :kept] = product(held[:, : self.size], turns)
        self.small[:kept, :kept] = np.diag(self._all_values[:kept])
        self.size = kept

    # -- the approximations -------------------------------------------------------------------------------------------

    def _look(self, width: int) -> None:
        """The approximations, by the eigenvectors of the small matrix."""
        size = self.size
        found = Eigen().decompose(self.small[:size, :size].copy())
        self._all_values, self._turns = found.values[::-1], found.vectors[:, ::-1]
        turns = np.asfortranarray(self._turns[:, :width])
        self.values = self._all_values[:width]
        self.vectors = product(self.basis[:, :size], turns)
        self.images = product(self.products_of[:, :size], turns)
        self.norms = np.linalg.norm(self.images - self.vectors * self.values, axis=0)

    @property
    def scale(self) -> float:
        """The largest eigenvalue, as far as it is known: |A| is at least this."""
        return float(max(np.abs(self._all_values).max(), self.norms.max()))

    @property
    def error(self) -> float:
        """The largest residual of those requested, relative to the largest eigenvalue."""
        return float(self.norms[: self.count].max()) / self.scale if self.scale > 0 else 0.0

    def following(self, tolerance: float) -> Array:
        """New directions: what A leaves of the approximations that are not good enough yet."""
        left = self.norms > tolerance * self.scale
        residuals = self.images[:, left] - self.vectors[:, left] * self.values[left]
        return orthonormal(residuals, self.basis[:, : self.size])

    # -- the end ------------------------------------------------------------------------------------------------------

    def found(self, tolerance: float, stopped_by: str) -> Leading:
        """What there is, and why it ended."""
        k, converged = self.count, self.true and self.error <= tolerance
        parts = self.values[:k].copy(), self.vectors[:, :k].copy(), self.images[:, :k].copy(), self.norms[:k].copy()
        return Leading(*parts, self.products, converged, self._reason(tolerance, stopped_by, converged))

    def _reason(self, tolerance: float, stopped_by: str, converged: bool) -> str:
        after = f"fter {number_of(self.products, 'product')} the largest residual is {self.error:.1e} of "
        after += f"the largest eigenvalue{'' if self.true else ', by fast products'}"
        if converged:
            return f"A{after}, within the tolerance of {tolerance:.1e}."
        missed = f"{after}, and not within the tolerance of {tolerance:.1e}"
        return f"{stopped_by}: a{missed}." if stopped_by else f"A{missed}: use a larger max_iter or tol."


# -- blocks -----------------------------------------------------------------------------------------------------------


def _first(n: int, width: int, start: Array | None, random: np.random.Generator) -> Array:
    """The block to begin with, orthonormal, of at least `width` columns."""
    if width == n:
        return np.eye(n)
    block = np.empty((n, 0)) if start is None else orthonormal(_checked(start, n))
    wanted = min(n, max(width, block.shape[1] + (RANDOM_VECTORS if start is not None else 0)))
    while block.shape[1] < wanted:
        drawn = random.standard_normal((n, wanted - block.shape[1]))
        block = np.hstack([block, orthonormal(drawn, block)])
    return block


def _checked(start: Array, n: int) -> Array:
    block = np.asarray(read(start, subject="leading"), dtype=np.float64)
    if block.ndim != 2 or len(block) != n or not np.isfinite(block).all():
        got = f"got one of shape {block.shape}, or it holds infinities or NaN"
        raise InputError(message(f"a start of {n} rows of finite numbers", got, "Leave it out."))
    return block


def orthonormal(block: Array, basis: Array | None = None) -> Array:
    """An orthonormal basis of what some columns add to those of another one; what is lost to rounding is left out.

    Cost: 4 n c (m + c) operations for c columns and m of the basis, by products so short that Ctrl-C comes through.
    """
    for _ in range(2):  # once leaves what rounding left
        lengths = np.linalg.norm(block, axis=0)
        block = block[:, lengths > 0] / lengths[lengths > 0]
        if basis is not None and basis.shape[1]:
            block = block - product(basis, product(basis.T, block))
        if block.shape[1] == 0:
            return block
        found = Eigen().decompose(squares_of(np.ascontiguousarray(block)))
        kept = found.values > MIN_SQUARED_LENGTH
        block = product(block, found.vectors[:, kept] / np.sqrt(found.values[kept]))
    return block


def _at_once(A: Operator, columns: int) -> int:
    """How many columns are multiplied at once: all, or as many as take at most half of the memory that is free."""
    room = Budget.of(None).bytes // 2
    while columns > 1 and A.peak(columns) > room:
        columns = -(-columns // 2)
    return columns
