"""k(x, z) = exp(-sum_k (x_k - z_k)^2 / (x_k + z_k) / lengthscale), on non-negative data."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.kernels.coordinate.base import Coordinate
from mercer.kernels.domain import NONNEGATIVE, Domain
from mercer.kernels.feature_gap import FeatureGap
from mercer.kernels.fields import length
from mercer.kernels.latex import exponential, over
from mercer.kernels.near_pairs import NearPairs
from mercer.kernels.pairs import Pairs
from mercer.kernels.points import Points
from mercer.kernels.precision import formulas, gaps
from mercer.kernels.proof.judgement import Fact


class ExponentialChiSquared(Coordinate):
    """The exponential of the chi-squared distance of two histograms.

    `k(x, z) = exp(-sum_k (x_k - z_k)^2 / (x_k + z_k) / lengthscale)`

    Parameters
    ----------
    lengthscale : float or "median", default=1.0
        Positive scale; "median" takes the median chi-squared distance of the data.

    Examples
    --------
    >>> from mercer.kernels import ExponentialChiSquared
    >>> ExponentialChiSquared()([[1.0, 0.0]], [[3.0, 0.0]]).round(4)
    array([[0.3679]])

    References
    ----------
    Zhang, Marszalek, Lazebnik and Schmid, Local features and kernels for classification (2007).
    """

    formula = "exp(-sum_k (x_k - z_k)^2 / (x_k + z_k) / lengthscale)"

    lengthscale: float | str = length(default=1.0)

    def term(self, x: NDArray[Any], z: NDArray[Any]) -> NDArray[Any]:
        gap, total = np.abs(x - z), x + z
        return np.asarray(gap * (gap / np.where(gap > 0, total, 1.0)))  # 0 / 0 counts as 0

    def profile(self, total: NDArray[Any]) -> NDArray[Any]:
        return formulas.decay(1 / Fraction(self.lengthscale), total)

    def evaluate_gap(self, pairs: NearPairs) -> FeatureGap | None:
        apart, total = pairs.apart, pairs.x + pairs.z
        terms = apart * np.divide(apart, total, out=np.zeros_like(apart), where=total > 0)
        return FeatureGap.stationary(1.0, gaps.decay(terms.sum(axis=1) / self.lengthscale))

    def distances(self, values: NDArray[Any]) -> NDArray[Any]:
        points = Points(values)
        return np.asarray(self.total(Pairs(points, points))[np.triu_indices(len(values), 1)])

    @property
    def domain(self) -> Domain:
        return NONNEGATIVE

    @property
    def divisible(self) -> bool:
        return True

    def facts(self) -> tuple[Fact, ...]:
        reason = (
            "(x - z)^2 / (x + z) = x + z - 4 x z / (x + z), so it is exp(2 c / lengthscale) with c the chi-squared "
            "kernel (rule of the exponential), weighted by f(x) = exp(-sum_k x_k / lengthscale) (rule of the weight)"
        )
        return (Fact(NONNEGATIVE, reason),)

    def latex(self, x: str = "x", z: str = "z") -> str:
        fraction = rf"\frac{{({{{x}}}_k - {{{z}}}_k)^2}}{{{{{x}}}_k + {{{z}}}_k}}"
        return exponential("-" + over(rf"\sum_k {fraction}", self.lengthscale))
