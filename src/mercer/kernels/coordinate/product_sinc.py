"""k(x, z) = prod_k sin(t_k) / t_k with t_k = (x_k - z_k) / lengthscale."""

from __future__ import annotations

from functools import reduce
from operator import mul
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.kernels.coordinate.base import Coordinate
from mercer.kernels.domain import REALS
from mercer.kernels.feature_gap import FeatureGap
from mercer.kernels.fields import length
from mercer.kernels.frequencies import Cube
from mercer.kernels.latex import over
from mercer.kernels.law import Law
from mercer.kernels.near_pairs import NearPairs
from mercer.kernels.precision import formulas, gaps
from mercer.kernels.proof.judgement import Fact


class ProductSinc(Coordinate):
    """The product of one sinc per coordinate: unlike the radial `Sinc`, a kernel for every number of columns.

    `k(x, z) = prod_k sin(t_k) / t_k, t_k = (x_k - z_k) / lengthscale`

    Parameters
    ----------
    lengthscale : float or "median", default=1.0
        Positive scale; "median" takes the median distance of the data.

    Examples
    --------
    >>> from mercer.kernels import ProductSinc
    >>> ProductSinc()([[0.0, 0.0]], [[1.0, 2.0]]).round(6)
    array([[0.382574]])
    """

    joined_by = "product"
    formula = "prod_k sin(t_k) / t_k, t_k = (x_k - z_k) / lengthscale"

    lengthscale: float | str = length(default=1.0)

    def term(self, x: NDArray[Any], z: NDArray[Any]) -> NDArray[Any]:
        return formulas.sin_over(np.abs(x - z) / self.lengthscale)

    def evaluate_gap(self, pairs: NearPairs) -> FeatureGap | None:
        rises = gaps.sin_over(np.abs(pairs.apart) / self.lengthscale)
        return reduce(mul, FeatureGap.stationary(1.0, rises).columns())

    def facts(self) -> tuple[Fact, ...]:
        reason = (
            "on the line sin(t) / t is the average of the waves cos(w t) over -1 <= w <= 1, and an average of kernels "
            "is a kernel; the coordinates are multiplied (product rule)"
        )
        return (Fact(REALS, reason),)

    def law(self, d: int) -> Law | None:
        return Cube(d, self.lengthscale)

    def latex(self, x: str = "x", z: str = "z") -> str:
        t = over(rf"{{{x}}}_k - {{{z}}}_k", self.lengthscale)
        return rf"\prod_k \frac{{\sin(t_k)}}{{t_k}}, \quad t_k = {t}"
