"""k(x, z) = exp(-2 sum_k sin^2(pi (x_k - z_k) / period) / lengthscale^2)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.kernels.coordinate.base import Coordinate
from mercer.kernels.domain import REALS
from mercer.kernels.feature_gap import FeatureGap
from mercer.kernels.fields import positive
from mercer.kernels.frequencies import Lattice
from mercer.kernels.latex import exponential, numeral, over
from mercer.kernels.law import Law
from mercer.kernels.near_pairs import NearPairs
from mercer.kernels.precision import formulas, gaps
from mercer.kernels.proof.judgement import Fact


def rounded(sine: NDArray[Any], angle: NDArray[Any]) -> NDArray[Any]:
    """In units of rounding, what that of angles, many turns away from 0, does to the sum of the squares of sines."""
    turned = np.abs(angle)
    return np.asarray((2 * np.abs(sine) * turned + np.finfo(float).eps * turned * turned).sum(axis=1))


class Periodic(Coordinate):
    """The periodic kernel, coordinate by coordinate, which keeps it a kernel for every number of columns.

    `k(x, z) = exp(-2 sum_k sin^2(pi (x_k - z_k) / period) / lengthscale^2)`

    (The same formula on the Euclidean distance, as some libraries have it, is not a kernel for d > 1.)

    Parameters
    ----------
    period : float, default=1.0
        Positive, in the units of x.
    lengthscale : float, default=1.0
        Positive; it has no unit, since a sine has none.

    Examples
    --------
    >>> from mercer.kernels import Periodic
    >>> Periodic(period=12.0)([[3.0]], [[3.0], [9.0], [15.0]]).round(4)
    array([[1.    , 0.1353, 1.    ]])

    References
    ----------
    MacKay, Introduction to Gaussian processes (1998), section 5.2.
    """

    formula = "exp(-2 sum_k sin^2(pi (x_k - z_k) / period) / lengthscale^2)"

    period: float = positive(default=1.0)
    lengthscale: float = positive(default=1.0)

    def term(self, x: NDArray[Any], z: NDArray[Any]) -> NDArray[Any]:
        sine = formulas.sin_half_turns(x - z, self.period)
        return sine * sine

    def profile(self, total: NDArray[Any]) -> NDArray[Any]:
        return formulas.decay(2 / Fraction(self.lengthscale) ** 2, total)

    def evaluate_gap(self, pairs: NearPairs) -> FeatureGap | None:
        sine = formulas.sin_half_turns(pairs.apart, self.period)
        rate = 2 / self.lengthscale / self.lengthscale
        half = gaps.decay(rate * (sine * sine).sum(axis=1))
        # x - z is rounded where x is whole periods away.
        return FeatureGap.stationary(1.0, half, half + rate * rounded(sine, np.pi / self.period * pairs.apart))

    @property
    def divisible(self) -> bool:
        return True

    def facts(self) -> tuple[Fact, ...]:
        reason = (
            "it is a Gaussian kernel after each coordinate was wound around a circle, x_k -> (cos, sin)(2 pi x_k / "
            "period), since there |g(x) - g(z)|^2 = 4 sum_k sin^2(pi (x_k - z_k) / period) (rule of the map)"
        )
        return (Fact(REALS, reason),)

    def law(self, d: int) -> Law | None:
        return Lattice(d, self.period, self.lengthscale)

    def latex(self, x: str = "x", z: str = "z") -> str:
        sine = rf"2 \sum_k \sin^2\left(\frac{{\pi ({{{x}}}_k - {{{z}}}_k)}}{{{numeral(self.period)}}}\right)"
        return exponential("-" + over(sine, self.lengthscale, power=2))
