"""k(x, z) = sum_k 2 x_k z_k / (x_k + z_k), on non-negative data."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.kernels.coordinate.base import Coordinate
from mercer.kernels.domain import NONNEGATIVE, Domain
from mercer.kernels.feature_gap import FeatureGap
from mercer.kernels.near_pairs import NearPairs
from mercer.kernels.proof.judgement import Fact


class ChiSquared(Coordinate):
    """The additive chi-squared kernel on histograms: the sum of the harmonic means of the bins.

    `k(x, z) = sum_k 2 x_k z_k / (x_k + z_k)`

    Examples
    --------
    >>> from mercer.kernels import ChiSquared
    >>> ChiSquared()([[1.0, 0.0]], [[3.0, 0.0]])
    array([[1.5]])

    References
    ----------
    Vedaldi and Zisserman, Efficient additive kernels via explicit feature maps (2012).
    """

    formula = "sum_k 2 x_k z_k / (x_k + z_k)"

    def term(self, x: NDArray[Any], z: NDArray[Any]) -> NDArray[Any]:
        small, large = np.minimum(x, z), np.maximum(x, z)
        # small / (1 + small / large) * 2: nothing overflows, and the term is 0 where one of both is, 0 / 0 included.
        known = large != 0
        small = np.where(known, small, large)
        ratio = small / np.where(known, large, 1.0)
        return np.asarray(2 * small / (1 + ratio))

    def evaluate_gap(self, pairs: NearPairs) -> FeatureGap | None:
        middle, apart = (pairs.x + pairs.z) / 2, pairs.apart
        half = np.divide(apart * apart, 4 * middle, out=np.zeros_like(apart), where=middle > 0)
        return FeatureGap(middle, apart / 2, half, half).sum()

    @property
    def domain(self) -> Domain:
        return NONNEGATIVE

    def facts(self) -> tuple[Fact, ...]:
        reason = (
            "1 / (x + z) is the integral of exp(-t x) exp(-t z) over t >= 0, an inner product of functions; it is "
            "weighted by f(x) = sqrt(2) x (rule of the weight), and the coordinates are added (sum rule)"
        )
        return (Fact(NONNEGATIVE, reason),)

    def objection(self) -> str:
        return "with a negative number x, k(x, x) = x is negative, and k(x, x) = |phi(x)|^2 may not be"

    def latex(self, x: str = "x", z: str = "z") -> str:
        return rf"\sum_k \frac{{2 \, {{{x}}}_k {{{z}}}_k}}{{{{{x}}}_k + {{{z}}}_k}}"
