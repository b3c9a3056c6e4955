"""Kernels of compact support: zero beyond one lengthscale."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import j0

from mercer.kernels.domain import REALS
from mercer.kernels.fields import integer, length
from mercer.kernels.latex import gap, over
from mercer.kernels.precision import formulas, gaps
from mercer.kernels.proof.judgement import Fact
from mercer.kernels.radial.base import Radial

OMEGA = np.cos, j0, lambda t: np.sinc(t / np.pi)
"""The mean of a plane wave over the sphere of R^1, R^2 and R^3."""
QUADRATURE, SPACING, TABLE_NUMBERS = 64, 0.02, 1 << 20
"""Nodes beside those that waves need; the distance of tabulated frequencies, for errors of 1e-9; values at once."""


class Wendland(Radial):
    """Wendland's piecewise polynomial of least degree; `Wendland(1, 0)` is the triangle max(0, 1 - u).

    `k(x, z) = max(0, 1 - u)^(l + smoothness) p(u), u = |x - z| / lengthscale`

    With l = floor(dimension / 2) + smoothness + 1 and `u = |x - z| / lengthscale`, it is max(0, 1 - u)^(l +
    smoothness) times a polynomial of degree `smoothness`. It is exactly zero for u >= 1.

    Parameters
    ----------
    dimension : int, default=3
        At least 1; the kernel is valid to d = 2 floor(dimension / 2) + 1.
    smoothness : int, default=1
        From 0 to 3; the kernel has 2 smoothness continuous derivatives.
    lengthscale : float or "median", default=1.0
        Positive radius of the support; "median" takes the median distance of the data.

    Examples
    --------
    >>> from mercer.kernels import Wendland
    >>> Wendland(dimension=3, smoothness=1)([[0.0]], [[0.5], [1.0]])
    array([[0.1875, 0.    ]])

    References
    ----------
    Wendland, Piecewise polynomial, positive definite and compactly supported radial functions of minimal degree,
    Advances in Computational Mathematics 4 (1995); Zastavnyi, On some properties of Buhmann functions, Ukrainian
    Mathematical Journal 58 (2006).
    """

    argument = "distance"
    formula = "max(0, 1 - u)^(l + smoothness) p(u), u = |x - z| / lengthscale"

    dimension: int = integer(default=3, minimum=1, maximum=50)
    smoothness: int = integer(default=1, minimum=0, maximum=3)
    lengthscale: float | str = length(default=1.0)

    @property
    def order(self) -> int:
        """The l of the formula."""
        return self.dimension // 2 + self.smoothness + 1

    @property
    def coefficients(self) -> tuple[float, ...]:
        """The polynomial p, from the constant upwards; all positive, so that nothing cancels."""
        n = self.order
        return (
            (1.0,),
            (1.0, n + 1.0),
            (1.0, n + 2.0, (n * n + 4 * n + 3) / 3),
            (1.0, n + 3.0, (6 * n * n + 36 * n + 45) / 15, (n**3 + 9 * n * n + 23 * n + 15) / 15),
        )[self.smoothness]

    def profile(self, u: NDArray[Any]) -> NDArray[Any]:
        inside = np.minimum(u, 1.0)
        power = formulas.power_of_sum(1.0, -inside, self.order + self.smoothness)
        polynomial = self.coefficients[-1] * np.ones_like(inside)
        for coefficient in self.coefficients[-2::-1]:
            polynomial = polynomial * inside + coefficient
        return np.asarray(power * polynomial)

    def gap(self, u: NDArray[Any]) -> NDArray[Any]:
        return gaps.truncated_power(u, self.order + self.smoothness, self.coefficients)

    def facts(self) -> tuple[Fact, ...]:
        most = 2 * (self.dimension // 2) + 1
        reason = (
            f"Askey's function max(0, 1 - u)^{self.dimension // 2 + 1} has a non-negative Fourier transform for "
            f"d <= {most}, and Wendland's integration keeps it so (Wendland 1995)"
        )
        if self.smoothness == 0:
            reason = f"Askey's function max(0, 1 - u)^p has a non-negative Fourier transform for d <= 2 p - 1 = {most}"
        return (Fact(REALS, reason, max_dimension=most),)

    def objection(self) -> str:
        return (
            "its Fourier transform is a positive multiple of 1F2(p; p + l/2, p + (l + 1)/2; -w^2/4) with p = (d + 1)/2 "
            f"+ smoothness and l = {self.order}, which is nowhere negative exactly when l >= p (Zastavnyi 2006)"
        )

    def spectrum(self, mp: Any, w: float, d: int) -> Any:
        p = mp.mpf(d + 1) / 2 + self.smoothness
        half = mp.mpf(self.order) / 2
        return mp.hyp1f2(p, p + half, p + half + mp.mpf(1) / 2, -(mp.mpf(w) ** 2) / 4)

    def suspect_frequencies(self, d: int) -> Iterable[float]:
        """Where the wave in the transform outweighs its mean.

        For large w the hypergeometric function is A w^(-2p) (1 + R w^(p - l) cos(w - pi (p + l) / 2)) with
        R = 2^(1-p) Gamma(l) / Gamma(p): beyond R w^(p - l) = 1 it is negative where the cosine is -1.
        """
        p, order = (d + 1) / 2 + self.smoothness, self.order
        if order >= p:
            return ()
        start = math.exp((math.lgamma(p) - math.lgamma(order) + (p - 1) * math.log(2)) / (p - order))
        phase = math.pi * (p + order) / 2
        turns = math.ceil((1.3 * start - phase) / (2 * math.pi))
        return (phase + math.pi * (2 * (turns + more) + 1) for more in range(40))

    def density(self, lengths: NDArray[np.float64], d: int) -> NDArray[np.float64] | None:
        """By quadrature at equal distances, and splines between: the transform of a compact kernel is smooth."""
        if d > len(OMEGA):
            return None
        from scipy.interpolate import CubicSpline  # few ask

        w = self.scale * lengths
        most = float(w.max(initial=1.0)) + 1.0
        r, weights = np.polynomial.legendre.leggauss(QUADRATURE + int(most / 2))
        r, weights = (r + 1) / 2, weights / 2
        sphere = 2 * math.pi ** (d / 2) / math.gamma(d / 2)
        parts = weights * self.profile(r) * r ** (d - 1) * (sphere * (self.scale / (2 * math.pi)) ** d)
        table = np.linspace(0.0, most, 2 + int(most / SPACING))
        step = max(1, TABLE_NUMBERS // len(r))
        blocks = (table[start : start + step] for start in range(0, len(table), step))
        values = np.concatenate([OMEGA[d - 1](block[:, None] * r) @ parts for block in blocks])
        return np.asarray(np.maximum(CubicSpline(table, values)(w), 0.0))

    def latex(self, x: str = "x", z: str = "z") -> str:
        terms = [
            f"{c:.6g}" + ("" if i == 0 else " u" if i == 1 else f" u^{i}") for i, c in enumerate(self.coefficients)
        ]
        polynomial = "" if self.smoothness == 0 else rf" ({' + '.join(terms)})"
        power = self.order + self.smoothness
        return rf"\max(0, 1 - u)^{{{power}}}{polynomial}, \quad u = {over(gap(x, z), self.lengthscale)}"
