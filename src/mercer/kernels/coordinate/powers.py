"""k(x, z) = sum_k sum_{b=1..degree} (x_k z_k)^b: the powers of each coordinate, without interactions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.compute.codegen.symbols import Untraceable
from mercer.kernels.coordinate.base import Coordinate
from mercer.kernels.domain import REALS
from mercer.kernels.evaluation.trace import TracedPairs
from mercer.kernels.feature_gap import FeatureGap
from mercer.kernels.fields import integer
from mercer.kernels.lift_builder import Features, LiftBuilder
from mercer.kernels.near_pairs import NearPairs
from mercer.kernels.pairs import Block, Pairs
from mercer.kernels.points import SINGLE
from mercer.kernels.proof.judgement import Fact

MAX_FLOAT32_POWER = 8
"""The largest power of a product that float32 keeps: its rounding, multiplied by the power, stays below 1e-6."""


class Powers(Coordinate):
    """The kernel of the features x_k, x_k^2, ..., x_k^degree of every coordinate.

    k(x, z) = sum_k sum_{b=1..degree} (x_k z_k)^b, by Horner's rule. Cost: d degree operations per pair.

    Parameters
    ----------
    degree : int, default=3
        The highest power, from 1 to 10,000.

    Examples
    --------
    >>> from mercer.kernels import Powers
    >>> Powers(degree=2)([[1.0, 2.0]], [[3.0, 4.0]])  # 3 + 9 + 8 + 64
    array([[84.]])

    References
    ----------
    Hastie, Tibshirani and Friedman, The Elements of Statistical Learning (2009), section 5.1.
    """

    formula = "sum_k sum_{b=1..degree} (x_k z_k)^b"

    degree: int = integer(default=3, minimum=1, maximum=10_000)

    def term(self, x: NDArray[Any], z: NDArray[Any]) -> NDArray[Any]:
        total = product = np.asarray(x * z)
        for _ in range(self.degree - 1):
            total = np.asarray(product * (1 + total))
        return total

    def evaluate_gap(self, pairs: NearPairs) -> FeatureGap | None:
        product = total = pairs.coordinates
        for _ in range(self.degree - 1):
            total = product * (1 + total)
        return total.sum()

    def evaluate(self, pairs: Pairs) -> Block:
        refuse_unsteady(self.degree, pairs)
        return super().evaluate(pairs)

    def finite_lift(self, build: LiftBuilder[Features]) -> Features:
        return build.powers(self.degree)

    def facts(self) -> tuple[Fact, ...]:
        reason = "each (x_k z_k)^b is a kernel with the lift x_k^b, and they are added (sum rule)"
        return (Fact(REALS, reason),)

    def latex(self, x: str = "x", z: str = "z") -> str:
        return rf"\sum_k \sum_{{b=1}}^{{{self.degree}}} \left({{{x}}}_k {{{z}}}_k\right)^b"


def refuse_unsteady(degree: int, pairs: Pairs) -> None:
    """Leave high powers of float32 data to plain NumPy, which works in float64.

    (x z)^b is off by b times the rounding of x z. The rehearsal of the fused pass does not see inside of a term.
    """
    if degree > MAX_FLOAT32_POWER and isinstance(pairs, TracedPairs) and pairs.left.dtype == SINGLE:
        raise Untraceable(f"the power {degree} of products of float32")
