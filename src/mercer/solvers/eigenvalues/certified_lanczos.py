"""The largest eigenvalues of a stored matrix by the method of Lanczos, with a bound on what may have been missed.

Of a matrix in memory a few eigenvalues are found quickest with one vector at a time, which has one weakness: of equal
eigenvalues a chain of vectors A q, A A q, ... finds one. So the search ends only where what the basis Q leaves of the
matrix, C = (I - QQ') A (I - QQ'), is known to be too small to matter. There are three bounds: the Frobenius norm of A
less that of Q'A Q; a chain from a random start in the complement, by its largest value, enlarged so that it holds but
for a probability of `MISSED`; and chains that have ended, since they have seen all that C has. Where C may still be too
large, one more chain goes on beside the others.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dsymv, ssymv

from mercer.compute.runtime.run import IDLE, Run
from mercer.compute.runtime.threads import one_thread_blas

Array = NDArray[np.float64]
TOLERANCE = 1e-12
"""Residuals at which to end, relative to the largest eigenvalue."""
ROUNDINGS = {"float64": 16.0, "float32": 2.0}
"""Products with A are off by at most so many units of rounding of its Frobenius norm; in float32 it is the random part
of rounding that counts, since who asks for that looks at residuals anyway."""
MISSED = 1e-8
"""The probability with which a larger eigenvalue may be missed where the Frobenius norm does not exclude it."""
SPARE_PRODUCTS = 25
"""Products beyond two for each eigenvalue that are expected."""
MOST_TIMES = 4
"""How many times as many are made, at most."""
FIRST_LOOK, PAUSE = 4, 8
"""Products beyond two for each eigenvalue before the first look at what there is; and the next one is after a part of
those so far."""
NEAR, SETTLED = 0.9, 1e-3
"""A chain whose largest value comes so near to the smallest eigenvalue requested cannot exclude that there are more,
once its residual is at most this part of it."""
MAX_ONE_THREAD_ROWS = 2048
"""Rows up to which one thread of BLAS multiplies by a vector as fast as several, which wait for each other."""
SQUARABLE = {"float64": (1e-100, 1e100), "float32": (1e-12, 1e12)}
"""Numbers between these have squares whose sums neither vanish nor overflow."""


@dataclass(frozen=True, eq=False)
class Certified:
    """The largest eigenvalues.

    values : (k,), falling
    vectors : (n, k), orthonormal, and orthogonal to the vector that was kept apart
    products : how often A was multiplied by a vector
    """

    values: Array
    vectors: Array
    products: int


def expected_products(count: int) -> int:
    """How many products so many eigenvalues take, about."""
    return 2 * count + SPARE_PRODUCTS


def certified(A: NDArray[Any], count: int, apart: Array, run: Run = IDLE) -> Certified | None:
    """The largest eigenvalues of P A P with P = I - uu', for a symmetric positive semi-definite A; or None.

    None where they lie so close together that a decomposition of A is better, where it has too few rows, and where its
    numbers are so large or so small that their squares are not known. The random starts are always the same ones, and
    so are the results.

    Cost: about 2 k + 25 products with half of A, of 2 n^2 operations each, and 4 n m^2 operations for m of them; n m
    numbers.

    A : (n, n), of float64 or float32, of which one triangle is read; products with float32 round like that, and so does
        what is found
    count : how many, k
    apart : (n,), the unit vector u
    run : takes the products

    >>> import numpy as np
    >>> A = np.diag(np.repeat([3.0, 2.0, 1.0], 100))
    >>> certified(A, 2, np.eye(300)[0]).values.round(6)
    array([3., 3.])

    Kuczynski and Wozniakowski (1992), Estimating the largest eigenvalue by the power and Lanczos algorithms with a
    random start.
    """
    most = MOST_TIMES * expected_products(count)
    least, largest = SQUARABLE[A.dtype.name]
    if most >= len(A) or not least < np.abs(A.diagonal()).max() < largest:
        return None
    search = _Search(np.asfortranarray(A.T), apart, most)
    look = 2 * count + FIRST_LOOK
    while search.size < most and np.isfinite(search.squares):
        search.step()
        if search.closed and search.size < count:
            search.begin()
        elif search.closed or search.size >= look:
            run.tell(search.size)
            look = search.size + max(FIRST_LOOK, search.size // PAUSE)
            found = search.found(count)
            if found is not None:
                return found
    return None


@dataclass(frozen=True, eq=False)
class _Next:
    """A vector that waits to join the basis.

    vector : (n,), of length 1
    place : the vector of the basis that A made it of; None for a random one
    length : of what A made
    newest : whether it belongs to the chain that began last
    """

    vector: Array
    place: int | None
    length: float
    newest: bool


class _Search:
    """The basis Q, which consists of chains, and Q'A Q.

    basis : (most + 1, n), u and the vectors of Q, one per row
    size : how many vectors Q has
    small : (most, most), the upper triangle of Q'A Q
    squares : the square of the Frobenius norm of P A P
    rounding : that of a product, relative to the norm
    unit : the rounding of a product
    """

    def __init__(self, A: NDArray[Any], apart: Array, most: int) -> None:
        self.A, self.random = A, np.random.default_rng(0)
        self.basis, self.small = np.empty((most + 1, len(A))), np.zeros((most, most))
        self.basis[0], image = apart, _times(A, apart)
        with np.errstate(all="ignore"):
            self.whole = _squares(A)
            self.squares = self.whole - 2 * float(image @ image) + float(apart @ image) ** 2
        self.rounding = ROUNDINGS[A.dtype.name] * float(np.finfo(A.dtype).eps)
        self.unit = self.rounding * float(np.sqrt(self.whole))
        self.size, self._waiting = 0, list[_Next]()
        self.begin()

    @property
    def closed(self) -> bool:
        """Whether all chains have ended: then Q is invariant."""
        return not self._waiting

    def begin(self) -> None:
        """A random vector in the complement begins a chain, beside those that go on."""
        vector, _ = self._without_basis(self.random.standard_normal(len(self.A)))
        self._waiting = [replace(each, newest=False) for each in self._waiting]
        self._waiting.append(_Next(vector / np.linalg.norm(vector), None, 0.0, newest=True))
        self.begun, self.steps = self.size, 0

    def step(self) -> None:
        """The next vector joins the basis, and what A makes of it waits."""
        following = self._waiting.pop(0)
        vector = following.vector
        if self._waiting or following.place != self.size - 1:  # others have joined meanwhile
            vector, _ = self._without_basis(vector)
            left = float(np.linalg.norm(vector))
            if following.place is not None and left * following.length <= self.unit:
                return
            vector = vector / left
        self.size += 1
        self.steps += following.newest
        self.basis[self.size] = vector
        image, parts = self._without_basis(_times(self.A, vector))
        self.small[: self.size, self.size - 1] = parts[1:]
        length = float(np.linalg.norm(image))
        if length > self.unit:
            self._waiting.append(_Next(image / length, self.size - 1, length, following.newest))

    def _without_basis(self, vector: Array) -> tuple[Array, Array]:
        """What the basis leaves of a vector, and its parts in the basis."""
        known = self.basis[: self.size + 1]
        first = known @ vector
        vector = vector - first @ known
        second = known @ vector  # once leaves what rounding left
        return vector - second @ known, first + second

    # -- the end ------------------------------------------------------------------------------------------------------

    def found(self, count: int) -> Certified | None:
        """The eigenvalues, where they are known to be the largest; else the search goes on, or begins a chain."""
        # Threads wait longer than they work on matrices as small as Q'A Q; of few rows there is one thread already.
        with one_thread_blas() if len(self.A) > MAX_ONE_THREAD_ROWS else nullcontext():
            return self._found(count)

    def _found(self, count: int) -> Certified | None:
        values, turns, ends = self._spectrum(0)
        close = max(TOLERANCE * float(values[0]), self.unit)
        if ends[:, :count].sum(axis=0).max(initial=0.0) <= close:
            least = float(values[count - 1])
            rest, near = self._bound(values)
            if _top(values[count:], ends[:, count:], rest) <= least + 2 * close:
                return Certified(values[:count], self.basis[1 : self.size + 1].T @ turns[:, :count], self.size)
            if near >= NEAR * least or self.begun == 0:
                self.begin()
        if self.closed:
            self.begin()
        return None

    def _spectrum(self, begun: int) -> tuple[Array, Array, Array]:
        """Of Q'A Q from a place on: falling eigenvalues, eigenvectors, and what A leaves of these in each chain."""
        part = slice(begun, self.size)
        rising, turns = np.linalg.eigh(self.small[part, part], UPLO="U")
        lengths = [(each.place, each.length) for each in self._waiting if each.place is not None]
        ends = [length * np.abs(turns[place - begun, ::-1]) for place, length in lengths if place >= begun]
        return rising[::-1], turns[:, ::-1], np.array(ends).reshape(len(ends), len(rising))

    def _bound(self, values: Array) -> tuple[float, float]:
        """At least the largest eigenvalue of C; and the largest that the last chain has seen, if it is settled, else 0.

        values : all of Q'A Q
        """
        lost = self.rounding * self.whole
        by_norm = float(np.sqrt(max(self.squares - float(values @ values), 0.0) + lost))
        seen, _, ends = self._spectrum(self.begun)
        top = float(seen[0])
        if self.closed:
            return min(by_norm, top + self.unit), top
        settled = ends[:, 0].sum() <= SETTLED * top
        root = np.log(1.648 * np.sqrt(len(self.A)) / MISSED) / (2 * self.steps - 1)
        by_chance = float(top / (1 - root**2)) if self.begun and 0 < root < 1 else np.inf
        return min(by_norm, by_chance), top if settled else 0.0


def _squares(A: NDArray[Any]) -> float:
    """The sum of the squares of all numbers; of float32 by rows, whose sums are added up in float64."""
    if A.dtype == np.float64:
        return float(np.vdot(A.T, A.T))  # by rows, which are not copied
    return float(sum(float(np.vdot(row, row)) for row in A.T))


def _times(A: NDArray[Any], vector: Array) -> Array:
    """The product with a vector, in the precision of A."""
    if A.dtype == np.float64:
        return np.asarray(dsymv(1.0, A, vector))
    return np.asarray(ssymv(1.0, A, vector.astype(np.float32)), dtype=np.float64)


def _top(values: Array, ends: Array, rest: float) -> float:
    """At least the largest eigenvalue of A beside those requested.

    values : the other approximations
    ends : (chains, values), by how much each chain couples them to the complement
    rest : at least the largest eigenvalue there
    """
    chains, count = ends.shape
    bound = np.diag(np.append(values, np.full(max(chains, 1), rest)))
    bound[count : count + chains, :count] = np.sqrt(chains) * ends
    return float(np.linalg.eigvalsh(bound)[-1])
