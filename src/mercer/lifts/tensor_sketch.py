"""TensorSketch: random features for powers of an inner product, by count sketches multiplied in the Fourier domain."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import reduce
from operator import mul
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import fft
from scipy.sparse import csc_array

from mercer.compute.codegen.sparse import is_sparse
from mercer.compute.consistency import shapes, within
from mercer.compute.runtime import threads

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class TensorSketch:
    """m random features T(x) with E T(x).T(z) = <x, z>^k.

    Each of k count sketches adds column j to one of m places, with a random sign; T(x) is their circular convolution.
    Cost: k (d + m log m) for a dense row, k (stored + m log m) for a sparse one; 9 d k bytes.

    places : (d, k) integers from 0 to k m - 1: i m + (where the i-th count sketch puts column j)
    signs : (d, k), 1 or -1
    width : m
    shift : k m numbers, the count sketches of a fixed vector s: what is sketched is x + g s, with a number g a row

    References
    ----------
    Pham and Pagh, Fast and scalable polynomial kernels via explicit feature maps, KDD 2013.
    """

    places: NDArray[np.int64]
    signs: NDArray[np.int8]
    width: int
    shift: NDArray[np.float64]

    def _inconsistency(self) -> str:
        if self.places.ndim != 2 or self.places.shape[1] == 0 or self.width < 1:
            return f"got places of shape {self.places.shape}"
        room = self.places.shape[1] * self.width
        if not within(self.places, 0, room):
            return f"places lie beyond {room}"
        return shapes((self.signs, self.places.shape), (self.shift, (room,)))

    @classmethod
    def draw(cls, degree: int, width: int, columns: int, rng: np.random.Generator) -> TensorSketch:
        """Places and signs, all independent and uniform; nothing is added to the rows."""
        places = rng.integers(0, width, size=(columns, degree)) + width * np.arange(degree)
        signs = 2 * rng.integers(0, 2, size=(columns, degree), dtype=np.int8) - 1
        return cls(places, signs, width, np.zeros(degree * width))

    @classmethod
    def draw_with_constant(cls, degree: int, width: int, columns: int, rng: np.random.Generator) -> TensorSketch:
        """A sketch of (x, g): the number g of each row has places and signs of its own, as one more column has."""
        drawn = cls.draw(degree, width, columns + 1, rng)
        shift = np.zeros(degree * width)
        shift[drawn.places[-1]] = drawn.signs[-1]
        return cls(drawn.places[:-1], drawn.signs[:-1], width, shift)

    def moved(self, vector: NDArray[np.float64]) -> TensorSketch:
        """The sketch of x + g s."""
        return replace(self, shift=self._dense(vector[None, :])[:, 0])

    @property
    def degree(self) -> int:
        """k."""
        return int(self.places.shape[1])

    def features(self, X: Any, g: Array) -> Array:
        """T(x + g s) of each row x, one column per row of X, in its dtype."""
        counts = self._sparse(X) if is_sparse(X) else self._dense(X)
        counts += np.multiply.outer(self.shift.astype(X.dtype), g)
        if self.degree == 1:
            return counts
        waves = fft.rfft(counts.reshape(self.degree, self.width, -1), axis=1, workers=threads.available())
        return np.asarray(fft.irfft(reduce(mul, waves), self.width, axis=0, workers=threads.available()))

    def _dense(self, X: Array) -> Array:
        """The count sketches: a sparse matrix of signs, with k numbers per column, times the rows."""
        d, k = self.places.shape
        starts = np.arange(0, d * k + 1, k)
        signs = self.signs.astype(X.dtype).ravel()
        return np.asarray(csc_array((signs, self.places.ravel(), starts), shape=(k * self.width, d)) @ X.T)

    def _sparse(self, X: Any) -> Array:
        """The same for sparse rows, in one sum over what is stored."""
        n, lines = X.shape[0], self.degree * self.width
        row = np.repeat(np.arange(n), np.diff(X.indptr))
        where = self.places[X.indices] * n + row[:, None]
        values = self.signs[X.indices] * X.data[:, None]
        return np.bincount(where.ravel(), values.ravel(), lines * n).reshape(lines, n).astype(X.dtype, copy=False)


def variance(dots: Array, squares: Array, fourths: Array, degree: int, width: int) -> Array:
    """The variance of T(x).T(z), exactly.

    With t = <x, z>, P = |x|^2 |z|^2 - Q, M = t^2 - Q and Q = sum_j x_j^2 z_j^2 it is

        ((t^2 + P)^k + (t^2 + M)^k - 2 t^2k) / m
        + gcd(2, m) ((t^2 + P + M)^k - (t^2 + P)^k - (t^2 + M)^k + t^2k) / m^2.

    In the second moment each factor has two pairs of columns, (u, v) and (u', v'), and its signs leave u = v and
    u' = v' (t^2), or u = u' and v = v' (P), or u = v' and v = u' (M). Let a be the sum of how far u is from v, in
    places, over the factors of the second kind, b over those of the third. Both products are kept where a + b = 0 and
    a - b = 0 modulo m: with probability 1 / m where only one of the two kinds occurs, gcd(2, m) / m^2 where both do.

    dots, squares, fourths : <x, z>, |x|^2 |z|^2 and Q, of any pairs
    """
    own = dots * dots
    alike, crossed = (own + squares - fourths) ** degree, (2 * own - fourths) ** degree
    both, none = (2 * own + squares - 2 * fourths) ** degree, own**degree
    first = alike + crossed - 2 * none
    second = both - alike - crossed + none
    return np.asarray(first / width + math.gcd(2, width) * second / width**2)


def fast_length(width: int) -> int:
    """The largest number up to a width whose Fourier transform is fast: with no prime factor above 11.

    >>> fast_length(1000), fast_length(997)
    (1000, 990)
    """
    low, above = 1, width + 1  # from low on there is one up to the width, from above on there is none
    while above - low > 1:
        middle = (low + above) // 2
        low, above = (middle, above) if fft.next_fast_len(middle) <= width else (low, middle)
    return low
