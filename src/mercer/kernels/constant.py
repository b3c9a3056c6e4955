"""k(x, z) = c: the first of the lecture's rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mercer.kernels.base import ATOM, Kernel
from mercer.kernels.feature_gap import FeatureGap
from mercer.kernels.fields import nonnegative
from mercer.kernels.frequencies import Still
from mercer.kernels.latex import numeral
from mercer.kernels.law import Law
from mercer.kernels.lift_builder import Features, LiftBuilder
from mercer.kernels.near_pairs import NearPairs
from mercer.kernels.pairs import Block, Pairs
from mercer.kernels.points import Column, Points
from mercer.kernels.proof.judgement import Judgement, Situation

if TYPE_CHECKING:
    from mercer.kernels.waves import FrequencyGrid, WaveWeights


class Constant(Kernel):
    """The constant kernel, k(x, z) = variance.

    Its lift is one feature, sqrt(variance). In sums and products a plain number stands for it. Cost: n m
    numbers for n x m pairs.

    Parameters
    ----------
    variance : float, default=1.0
        The constant, at least zero.

    Examples
    --------
    >>> from mercer.kernels import Constant, Linear
    >>> print(0.5 * Linear() + Constant(2.0))
    0.5*linear + 2.0
    """

    formula = "variance"
    of_numbers = False

    variance: float = nonnegative(default=1.0)

    def evaluate(self, pairs: Pairs) -> Block:
        return pairs.full(self.variance)

    def evaluate_diagonal(self, points: Points) -> NDArray[Any]:
        return np.full(points.values.shape[0], self.variance)

    def evaluate_gap(self, pairs: NearPairs) -> FeatureGap | None:
        return pairs.constant(self.variance)

    @property
    def needed(self) -> frozenset[Column] | None:
        return frozenset()

    @property
    def radial(self) -> bool:
        return True

    @property
    def divisible(self) -> bool:
        return True

    def law(self, d: int) -> Law | None:
        return Still(d, mass=self.variance)

    def waves(self, grid: FrequencyGrid) -> WaveWeights:
        from mercer.kernels.waves import constant  # few kernels are asked

        return constant(self.variance, grid)

    def finite_lift(self, build: LiftBuilder[Features]) -> Features:
        return build.constant(self.variance)

    def judge(self, situation: Situation) -> Judgement:
        return Judgement(
            f"{self} is a kernel: its lift is the single feature sqrt({self.variance}) (rule of the constant)"
        )

    def write(self, python: bool) -> tuple[str, int]:
        return super().write(python) if python else (repr(self.variance), ATOM)

    def latex(self, x: str = "x", z: str = "z") -> str:
        return numeral(self.variance)
