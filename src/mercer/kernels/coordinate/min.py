"""k(x, z) = sum_k min(x_k, z_k), on non-negative data."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.kernels.coordinate.base import Coordinate
from mercer.kernels.domain import NONNEGATIVE, Domain
from mercer.kernels.feature_gap import FeatureGap
from mercer.kernels.near_pairs import NearPairs
from mercer.kernels.proof.judgement import Fact


class Min(Coordinate):
    """The histogram intersection: the sum of the smaller of the two values, coordinate by coordinate.

    `k(x, z) = sum_k min(x_k, z_k)`

    Examples
    --------
    >>> import mercer
    >>> from mercer.kernels import Min
    >>> Min()([[1.0, 5.0]], [[2.0, 3.0]])
    array([[4.]])
    >>> mercer.prove(Min()).status, mercer.prove(Min(), domain="integers").status
    ('proven', 'refuted')
    """

    formula = "sum_k min(x_k, z_k)"

    def term(self, x: NDArray[Any], z: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(np.minimum(x, z))

    def evaluate_gap(self, pairs: NearPairs) -> FeatureGap | None:
        half = np.abs(pairs.apart).sum(axis=1) / 2
        return FeatureGap((pairs.x + pairs.z).sum(axis=1) / 2, pairs.apart.sum(axis=1) / 2, half, half)

    @property
    def domain(self) -> Domain:
        return NONNEGATIVE

    def facts(self) -> tuple[Fact, ...]:
        reason = (
            "min(x, z) is the integral of 1[t <= x] 1[t <= z] over t >= 0, an inner product of functions with the "
            "lift phi(x) = 1[0, x]; the coordinates are added (sum rule)"
        )
        return (Fact(NONNEGATIVE, reason),)

    def objection(self) -> str:
        return "with a negative number x, k(x, x) = x is negative, and k(x, x) = |phi(x)|^2 may not be"

    def latex(self, x: str = "x", z: str = "z") -> str:
        return rf"\sum_k \min({{{x}}}_k, {{{z}}}_k)"
