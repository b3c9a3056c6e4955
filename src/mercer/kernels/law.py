"""Spectral laws: a stationary kernel is an average of waves, k(x, z) = mass E[cos(w.(x - z))].

By Bochner's theorem every continuous kernel of x - z is one. A law says how to draw the frequencies w from standard
normal and uniform numbers; whether these are independent, orthogonal or quasi-random is the matter of their source.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Source(Protocol):
    """Random numbers for m frequencies; each call gives new ones."""

    @property
    def count(self) -> int:
        """How many frequencies are drawn: m."""

    def normals(self, q: int) -> Array:
        """(m, q): each row is standard normal on R^q."""

    def uniforms(self, q: int) -> Array:
        """(m, q): each row is uniform on the open cube (0, 1)^q."""

    def choices(self) -> Array:
        """(m,): numbers of (0, 1) that together are uniform; they say which part of a mixture a frequency is from."""


class Doubling(IntEnum):
    """What is known of k(2 t) from k(t), where k is divided by its mass and t = x - z; each implies the next.

    Since 2 cos^2 = 1 + cos(2 .), the variance of cos(w.t) is 1/2 + k(2 t)/2 - k(t)^2. Hence its largest value:

    GAUSSIAN: w.t is normal, k(2 t) = k(t)^4, and the variance (1 - k(t)^2)^2 / 2 is at most 1/2.
    SQUARE: 0 <= k(2 t) <= k(t)^2, and (1 - k(t)^2) / 2 is at most 1/2.
    POSITIVE: 0 <= k(2 t) <= k(t), and 1/2 + k(t)/2 - k(t)^2 is largest at k(t) = 1/4: at most 9/16.
    SIGNED: |k(2 t)| <= |k(t)|; the same bound, with |k(t)|.
    UNKNOWN: the variance of a number within -1 .. 1 is at most 1.

    Multiplying kernels keeps each of these (with the weakest of the factors), so does moving the points by a matrix;
    adding kernels keeps POSITIVE: an average of k_i(t)^2 exceeds the square of the average.
    """

    GAUSSIAN = 0
    SQUARE = 1
    POSITIVE = 2
    SIGNED = 3
    UNKNOWN = 4

    @property
    def spread(self) -> float:
        """The largest variance of cos(w.t) over all t."""
        return (0.5, 0.5, 9 / 16, 9 / 16, 1.0)[self]


@dataclass(frozen=True, eq=False)
class Law(ABC):
    """The law of the frequencies w on R^d for which k(x, z) = mass E[cos(w.(x - z))].

    Parameters
    ----------
    d : int
        The number of columns.
    mass : float, default=1.0
        k(x, x).

    Examples
    --------
    >>> from mercer.kernels import Gaussian, Linear
    >>> (3 * Gaussian()).law(2).mass, Linear().law(2)
    (3.0, None)
    """

    d: int
    mass: float = field(default=1.0, kw_only=True)

    @property
    @abstractmethod
    def columns(self) -> int:
        """How many random numbers a frequency takes: the dimension of a quasi-random sequence."""

    @property
    @abstractmethod
    def doubling(self) -> Doubling:
        """What is known of k at twice a difference, from which the variance is bounded."""

    def density(self, lengths: Array) -> Array | None:
        """mass times the density of w on R^d where it depends on |w| alone; None where it does not, or is not known.

        Parameters
        ----------
        lengths : array
            Lengths of frequencies w.

        Returns
        -------
        array or None
            Infinite at 0 where the kernel has no integral.
        """
        return None

    @abstractmethod
    def draw(self, source: Source) -> Array:
        """Draw frequencies.

        Parameters
        ----------
        source : Source
            A source of random or quasi-random numbers.

        Returns
        -------
        array of shape (m, d)
        """


@dataclass(frozen=True, eq=False)
class Mixture(Law):
    """Each frequency from one of several laws, with probabilities in proportion to their masses: a sum of kernels."""

    parts: tuple[Law, ...]

    @property
    def columns(self) -> int:
        return 1 + sum(part.columns for part in self.parts)

    @property
    def doubling(self) -> Doubling:
        weakest = max(part.doubling for part in self.parts)
        return Doubling.POSITIVE if weakest <= Doubling.POSITIVE else Doubling.UNKNOWN

    def draw(self, source: Source) -> Array:
        edges = np.cumsum([part.mass for part in self.parts])
        chosen = np.searchsorted(edges[:-1], source.choices() * edges[-1], side="right")
        drawn = np.stack([part.draw(source) for part in self.parts])
        return np.asarray(drawn[chosen, np.arange(source.count)])


@dataclass(frozen=True, eq=False)
class Convolution(Law):
    """The sum of independent frequencies: a product of kernels."""

    parts: tuple[Law, ...]

    @property
    def columns(self) -> int:
        return sum(part.columns for part in self.parts)

    @property
    def doubling(self) -> Doubling:
        return max(part.doubling for part in self.parts)

    def draw(self, source: Source) -> Array:
        return np.asarray(sum(part.draw(source) for part in self.parts))


@dataclass(frozen=True, eq=False)
class Moved(Law):
    """A^T w: a kernel of A x, since w.(A x) = (A^T w).x.

    matrix : A, of shape (columns of the inner law, d), dense or sparse
    """

    inner: Law
    matrix: Any

    @property
    def columns(self) -> int:
        return self.inner.columns

    @property
    def doubling(self) -> Doubling:
        return self.inner.doubling

    def draw(self, source: Source) -> Array:
        return np.asarray(self.inner.draw(source) @ self.matrix)


def mixture(parts: Iterable[Law | None]) -> Law | None:
    """The law of a sum of kernels; None where one has none."""
    known = _all(parts)
    return None if known is None else Mixture(known[0].d, known, mass=sum(part.mass for part in known))


def convolution(parts: Iterable[Law | None]) -> Law | None:
    """The law of a product of kernels; None where one has none."""
    known = _all(parts)
    return None if known is None else Convolution(known[0].d, known, mass=float(np.prod([p.mass for p in known])))


def moved(inner: Law | None, matrix: Any) -> Law | None:
    """The law of a kernel of A x; None where the kernel has none."""
    return None if inner is None else Moved(matrix.shape[1], inner, matrix, mass=inner.mass)


def _all(parts: Iterable[Law | None]) -> tuple[Law, ...] | None:
    listed = tuple(parts)
    known = tuple(part for part in listed if part is not None)
    return known if len(known) == len(listed) else None
