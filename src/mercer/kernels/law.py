"""Spectral laws: a stationary kernel is an average of waves, k(x, z) = mass E[cos(w.(x - z))].

By Bochner's theorem every continuous kernel of x - z is one. A law says how to draw the frequencies w from standard
normal and uniform numbers; whether these are independent, orthogonal or quasi-random is the matter of their source.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincinv, ive, ndtri

from mercer.errors import InputError, sentence
from mercer.kernels.fields import MEDIAN

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

    d : the number of columns
    mass : k(x, x)
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

    @abstractmethod
    def draw(self, source: Source) -> Array:
        """(m, d): the frequencies."""


@dataclass(frozen=True, eq=False)
class _Leaf(Law):
    """The law of a kernel with a lengthscale, which may still be open until frequencies are drawn."""

    lengthscale: float | str

    @property
    def columns(self) -> int:
        return self.d

    @property
    def unit(self) -> float:
        """1 / lengthscale."""
        if self.lengthscale == MEDIAN:
            came = "a lengthscale is still 'median'"
            remedy = "Call kernel.resolve(X) on the training data."
            raise InputError(sentence("A spectral law", "the open numbers of its kernel found first", came, remedy))
        return 1 / float(self.lengthscale)


class Normal(_Leaf):
    """w = g / lengthscale with g standard normal: the Gaussian kernel."""

    @property
    def doubling(self) -> Doubling:
        return Doubling.GAUSSIAN

    def draw(self, source: Source) -> Array:
        return source.normals(self.d) * self.unit


@dataclass(frozen=True, eq=False)
class Student(_Leaf):
    """w = g sqrt(nu / G) / lengthscale with G ~ Gamma(nu): Student's law of 2 nu degrees of freedom, of Matern kernels.

    Its density is a multiple of (2 nu / lengthscale^2 + |w|^2)^(-(nu + d/2)), which is the kernel's transform.

    For nu >= 1/2 the kernel f(t) = t^nu K_nu(t) is log-concave in t >= 0, whence f(2 t) f(0) <= f(t)^2: the derivative
    of log f is -K_{nu-1}(t) / K_nu(t), which does not rise. For K_a(t) is the integral of exp(-t cosh s) cosh(a s) over
    s > 0; a larger t moves weight to smaller s, where cosh(nu s) / cosh((nu - 1) s) is smaller, as nu >= |nu - 1|. So
    K_nu / K_{nu-1} falls. For smaller nu it is still a mixture of Gaussians, so positive and falling.
    """

    nu: float

    @property
    def columns(self) -> int:
        return self.d + 1

    @property
    def doubling(self) -> Doubling:
        return Doubling.SQUARE if self.nu >= 0.5 else Doubling.POSITIVE

    def draw(self, source: Source) -> Array:
        gamma = np.maximum(gammaincinv(self.nu, source.uniforms(1)), 1e-200)  # its root may be divided by
        return np.asarray(source.normals(self.d) * (self.unit * np.sqrt(self.nu / gamma)))


@dataclass(frozen=True, eq=False)
class GammaMixed(_Leaf):
    """w = g sqrt(G / shape) / lengthscale with G ~ Gamma(shape): the rational quadratic kernel.

    E exp(-G s) = (1 + s)^(-shape), here with s = |x - z|^2 / (2 shape lengthscale^2).
    """

    shape: float

    @property
    def columns(self) -> int:
        return self.d + 1

    @property
    def doubling(self) -> Doubling:
        return Doubling.POSITIVE  # as every mixture of Gaussians

    def draw(self, source: Source) -> Array:
        gamma = gammaincinv(self.shape, source.uniforms(1))
        return np.asarray(source.normals(self.d) * (self.unit * np.sqrt(gamma / self.shape)))


class Sphere(_Leaf):
    """w uniform on the sphere |w| = 1 / lengthscale of R^3, of which d <= 3 coordinates are kept: the radial sinc.

    sin(2 t) / (2 t) = cos(t) sin(t) / t, whence |k(2 t)| <= |k(t)|.
    """

    @property
    def columns(self) -> int:
        return 1 if self.d == 1 else 3

    @property
    def doubling(self) -> Doubling:
        return Doubling.SIGNED

    def draw(self, source: Source) -> Array:
        if self.d == 1:  # Archimedes: each coordinate of a point on the sphere is uniform
            return (2 * source.uniforms(1) - 1) * self.unit
        points = source.normals(3)
        return np.asarray(points[:, : self.d] * (self.unit / np.linalg.norm(points, axis=1, keepdims=True)))


class Cauchy(_Leaf):
    """Independent Cauchy coordinates: the Laplace kernel of the sum of absolute differences; k(2 t) = k(t)^2."""

    @property
    def doubling(self) -> Doubling:
        return Doubling.SQUARE

    def draw(self, source: Source) -> Array:
        u = source.uniforms(self.d)
        return np.asarray(np.tan(np.pi * (u - 0.5))) * self.unit


class Cube(_Leaf):
    """Independent coordinates, uniform on -1 .. 1 over lengthscale: the product of sincs; |k(2 t)| <= |k(t)|."""

    @property
    def doubling(self) -> Doubling:
        return Doubling.SIGNED

    def draw(self, source: Source) -> Array:
        return (2 * source.uniforms(self.d) - 1) * self.unit


@dataclass(frozen=True, eq=False)
class Lattice(Law):
    """Independent whole multiples j of 2 pi / period, with probabilities exp(-a) I_j(a): the periodic kernel.

    This is the Fourier series of exp(a (cos(s) - 1)), and a = 1 / lengthscale^2. j has the variance a. Where the table
    of j would be long, a > 1e8, a rounded normal number stands for it: the kernel differs by less than 1 / a.
    """

    period: float
    lengthscale: float

    @property
    def columns(self) -> int:
        return self.d

    @property
    def doubling(self) -> Doubling:
        return Doubling.UNKNOWN  # k is 1 at a period, twice a half

    @cached_property
    def _cumulated(self) -> Array:
        a = self.lengthscale**-2
        most = int(9 * np.sqrt(a) + 30)
        return np.asarray(np.cumsum(ive(np.arange(-most, most + 1), a)))

    def draw(self, source: Source) -> Array:
        u = source.uniforms(self.d)
        if self.lengthscale < 1e-4:
            return np.asarray(np.rint(ndtri(u) / self.lengthscale)) * (2 * np.pi / self.period)
        sums = self._cumulated
        multiples = np.searchsorted(sums[:-1], u * sums[-1], side="right") - len(sums) // 2
        return np.asarray(multiples * (2 * np.pi / self.period))


class Still(Law):
    """w = 0: the constant kernel."""

    @property
    def columns(self) -> int:
        return 0

    @property
    def doubling(self) -> Doubling:
        return Doubling.GAUSSIAN  # of variance 0

    def draw(self, source: Source) -> Array:
        return np.zeros((source.count, self.d))


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
