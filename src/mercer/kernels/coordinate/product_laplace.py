"""k(x, z) = exp(-sum_k |x_k - z_k| / lengthscale)."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist

from mercer.kernels.coordinate.base import Coordinate
from mercer.kernels.domain import REALS
from mercer.kernels.feature_gap import FeatureGap
from mercer.kernels.fields import length
from mercer.kernels.frequencies import Cauchy
from mercer.kernels.latex import exponential, over
from mercer.kernels.law import Law
from mercer.kernels.near_pairs import NearPairs
from mercer.kernels.precision import formulas, gaps
from mercer.kernels.proof.judgement import Fact

if TYPE_CHECKING:
    from mercer.kernels.processes import StateSpace


class ProductLaplace(Coordinate):
    """The Laplace kernel on the sum of absolute differences: the product of one Laplace kernel per coordinate.

    `k(x, z) = exp(-sum_k |x_k - z_k| / lengthscale)`

    Parameters
    ----------
    lengthscale : float or "median", default=1.0
        Positive scale; "median" takes the median sum of absolute differences.

    Examples
    --------
    >>> from mercer.kernels import ProductLaplace
    >>> ProductLaplace()([[0.0, 0.0]], [[3.0, 4.0]]).round(6)
    array([[0.000912]])
    """

    formula = "exp(-sum_k |x_k - z_k| / lengthscale)"

    lengthscale: float | str = length(default=1.0)

    def term(self, x: NDArray[Any], z: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(np.abs(x - z))

    def profile(self, total: NDArray[Any]) -> NDArray[Any]:
        return formulas.decay(1 / Fraction(self.lengthscale), total)

    def evaluate_gap(self, pairs: NearPairs) -> FeatureGap | None:
        return FeatureGap.stationary(1.0, gaps.decay(np.abs(pairs.apart).sum(axis=1) / self.lengthscale))

    def distances(self, values: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(pdist(values, "cityblock"))

    @property
    def divisible(self) -> bool:
        return True

    def facts(self) -> tuple[Fact, ...]:
        reason = (
            "exp(-|x_k - z_k| / lengthscale) has the Fourier transform (2 / lengthscale) / (1 / lengthscale^2 + w^2) "
            "> 0 on the line (Bochner's theorem), and the coordinates are multiplied (product rule)"
        )
        return (Fact(REALS, reason),)

    def law(self, d: int) -> Law | None:
        return Cauchy(d, self.lengthscale)

    def state_space(self) -> StateSpace:
        from mercer.kernels.processes import Process, StateSpace  # of one column alone

        return StateSpace((Process(1, 1 / float(self.lengthscale)),))

    def latex(self, x: str = "x", z: str = "z") -> str:
        return exponential("-" + over(rf"\lVert {x} - {z} \rVert_1", self.lengthscale))
