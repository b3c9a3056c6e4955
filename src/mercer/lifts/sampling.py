"""Where the numbers of random frequencies come from: independent, orthogonal, or quasi-random draws.

Each is a source in the sense of `mercer.kernels.law.Source`: every row has the law that it should have, so that the
mean of the waves is the kernel; they differ in how rows depend on each other.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import qmc

from mercer.errors import InputError, message
from mercer.kernels.law import Source

Array = NDArray[np.float64]

MAX_SOBOL_COLUMNS = 21201
"""Columns for which SciPy has Sobol's numbers."""


class Independent:
    """Independent draws: those for which the bounds of `components_for` are proven."""

    def __init__(self, count: int, columns: int, rng: np.random.Generator) -> None:
        self.count = count
        self.rng = rng

    def normals(self, q: int) -> Array:
        """Standard normal rows."""
        return self.rng.standard_normal((self.count, q))

    def uniforms(self, q: int) -> Array:
        """Rows of uniform numbers, never 0 or 1."""
        return _opened(self.rng.random((self.count, q)))

    def choices(self) -> Array:
        """Independent uniform numbers."""
        return self.uniforms(1)[:, 0]


class Orthogonal(Independent):
    """Normal rows in blocks of q, orthogonal to each other inside a block, with independent lengths.

    A row is a uniform direction times a length that has the law of |g|: standard normal, as it should be. Orthogonal
    rows repel each other, which removes most of the variance at distances of about a lengthscale. Uniform numbers are
    independent, but those that choose the parts of a sum are evenly spread.

    References
    ----------
    Yu, Suresh, Choromanski, Holtmann-Rice, Kumar, Orthogonal random features, NIPS 2016.
    """

    def __init__(self, count: int, columns: int, rng: np.random.Generator) -> None:
        super().__init__(count, columns, rng)
        self._chosen_before = False

    def normals(self, q: int) -> Array:
        """Standard normal rows, orthogonal in blocks of q."""
        if q < 2:
            return super().normals(q)
        height = min(q, self.count)
        blocks = math.ceil(self.count / height)
        frames, upper = np.linalg.qr(self.rng.standard_normal((blocks, q, height)))
        # The signs of the diagonal make the frames uniform: LAPACK's own signs depend on the matrix.
        frames *= np.sign(np.diagonal(upper, axis1=1, axis2=2))[:, None, :]
        directions = frames.transpose(0, 2, 1).reshape(-1, q)[: self.count]
        return np.asarray(directions * np.sqrt(self.rng.chisquare(q, size=(self.count, 1))))

    def choices(self) -> Array:
        """Each of m equal intervals once, at a common random place in it: each part gets its share to less than one.

        The first time they ascend, so that the rows of a part stand together, in whole blocks. From then on their
        order is random, so that the choices of two sums that are multiplied do not depend on each other.
        """
        order = self.rng.permutation(self.count) if self._chosen_before else np.arange(self.count)
        self._chosen_before = True
        return _opened((order + self.rng.random()) / self.count)


class QuasiRandom:
    """The columns of scrambled points of Sobol's sequence, one after the other; beyond 21,201 columns, of Halton's.

    Scrambling makes each point uniform on the cube; together they fill it more evenly than independent ones.

    References
    ----------
    Avron, Sindhwani, Yang, Mahoney, Quasi-Monte Carlo feature maps for shift-invariant kernels, JMLR 17 (2016).
    """

    def __init__(self, count: int, columns: int, rng: np.random.Generator) -> None:
        self.count = count
        self._points = _quasi_random(count, columns, rng)
        self._used = 0

    def normals(self, q: int) -> Array:
        """Standard normal rows, by the inverse distribution function."""
        return np.asarray(ndtri(self.uniforms(q)))

    def uniforms(self, q: int) -> Array:
        """The next columns."""
        self._used += q
        return self._points[:, self._used - q : self._used]

    def choices(self) -> Array:
        """The next column."""
        return self.uniforms(1)[:, 0]


def _quasi_random(count: int, columns: int, rng: np.random.Generator) -> Array:
    if columns == 0:
        return np.empty((count, 0))
    if columns > MAX_SOBOL_COLUMNS:
        return _opened(qmc.Halton(columns, seed=rng).random(count))
    # The first points of a power of two, since SciPy warns of other numbers; 52 bits instead of 30, for the tails.
    points = qmc.Sobol(columns, bits=52, seed=rng).random_base2(math.ceil(math.log2(max(count, 2))))
    return _opened(points[:count])


def _opened(u: Array) -> Array:
    """Numbers of [0, 1), multiples of 2^-53, moved by half a step into (0, 1): tails have no infinite frequency."""
    return np.asarray(np.minimum(u + 2.0**-54, 1 - 2.0**-53))


SAMPLINGS: dict[str, type[Independent | QuasiRandom]] = {
    "orthogonal": Orthogonal,
    "iid": Independent,
    "qmc": QuasiRandom,
}
"""The sources by the names of the parameter `sampling`."""


def source(sampling: str, count: int, columns: int, rng: np.random.Generator) -> Source:
    """The source of a name, for `count` frequencies that take `columns` numbers each."""
    if sampling not in SAMPLINGS:
        needs = f"sampling to be None or one of {', '.join(map(repr, SAMPLINGS))}"
        raise InputError(message(needs, f"got {sampling!r}", "Leave it out if in doubt."))
    return SAMPLINGS[sampling](count, columns, rng)
