"""The spectral laws of single kernels: how their frequencies are drawn, and what is known of their variance."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import gamma, gammaincinv, gammaln, ive, kve, ndtri

from mercer.errors import InputError, message
from mercer.kernels.fields import MEDIAN
from mercer.kernels.law import Array, Doubling, Law, Source


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
            got = "a lengthscale is still 'median'"
            remedy = "Call kernel.resolve(X) on the training data."
            raise InputError(
                message("the open numbers of its kernel found first", got, remedy, subject="A spectral law")
            )
        return 1 / float(self.lengthscale)


class Normal(_Leaf):
    """w = g / lengthscale with g standard normal: the Gaussian kernel."""

    @property
    def doubling(self) -> Doubling:
        return Doubling.GAUSSIAN

    def density(self, lengths: Array) -> Array:
        scale = 1 / self.unit
        return np.asarray((scale / np.sqrt(2 * np.pi)) ** self.d * np.exp(-0.5 * (scale * lengths) ** 2))

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

    def density(self, lengths: Array) -> Array:
        power, scale = self.nu + self.d / 2, 1 / (self.unit * np.sqrt(2 * self.nu))
        size = gammaln(power) - gammaln(self.nu) + self.d * np.log(scale / np.sqrt(np.pi))
        return np.asarray(np.exp(size - power * np.log1p((scale * lengths) ** 2)))

    def draw(self, source: Source) -> Array:
        drawn = np.maximum(gammaincinv(self.nu, source.uniforms(1)), 1e-200)  # its root may be divided by
        return np.asarray(source.normals(self.d) * (self.unit * np.sqrt(self.nu / drawn)))


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

    def density(self, lengths: Array) -> Array:
        """The mean of normal densities over G, a Bessel function: c b^(q / 2) K_q(2 sqrt(b)) with q = shape - d / 2."""
        order, scale = self.shape - self.d / 2, np.sqrt(self.shape) / self.unit
        b = np.asarray(0.5 * (scale * lengths) ** 2)
        with np.errstate(all="ignore"):
            found = 2 * b ** (order / 2) * kve(order, 2 * np.sqrt(b)) * np.exp(-2 * np.sqrt(b))
        at_zero = gamma(order) if order > 0 else np.inf
        return np.asarray(np.where(b > 0, found, at_zero) * (scale / np.sqrt(2 * np.pi)) ** self.d / gamma(self.shape))

    def draw(self, source: Source) -> Array:
        drawn = gammaincinv(self.shape, source.uniforms(1))
        return np.asarray(source.normals(self.d) * (self.unit * np.sqrt(drawn / self.shape)))


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
