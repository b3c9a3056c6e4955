"""k1(x, z) + k2(x, z) + ..."""

from __future__ import annotations

from functools import reduce
from itertools import chain
from operator import add
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from mercer.kernels.algebra.several import Several
from mercer.kernels.base import PRODUCT, SUM
from mercer.kernels.feature_gap import FeatureGap
from mercer.kernels.latex import parens
from mercer.kernels.law import Law, mixture
from mercer.kernels.lift_builder import Features, LiftBuilder
from mercer.kernels.near_pairs import NearPairs
from mercer.kernels.pairs import Block, Pairs
from mercer.kernels.points import Points

if TYPE_CHECKING:
    from mercer.kernels.processes import StateSpace
    from mercer.kernels.waves import FrequencyGrid, WaveWeights


class Sum(Several):
    """The sum of kernels, written k1 + k2; its lift is the lifts side by side.

    `k(x, z) = k1(x, z) + k2(x, z)`

    Parameters
    ----------
    parts : tuple of Kernel
        The terms, two or more.

    Examples
    --------
    >>> from mercer.kernels import Gaussian, Linear, Sum
    >>> Gaussian() + Linear() == Sum((Gaussian(), Linear()))
    True
    """

    formula = "k1(x, z) + k2(x, z)"

    def evaluate(self, pairs: Pairs) -> Block:
        return reduce(add, (part.evaluate(pairs) for part in self.parts))

    def evaluate_diagonal(self, points: Points) -> NDArray[Any]:
        return reduce(add, (part.evaluate_diagonal(points) for part in self.parts))

    def evaluate_gap(self, pairs: NearPairs) -> FeatureGap | None:
        gaps = [part.evaluate_gap(pairs) for part in self.parts]
        return None if None in gaps else reduce(add, gaps)

    def law(self, d: int) -> Law | None:
        return mixture(part.law(d) for part in self.parts)

    def state_space(self) -> StateSpace:
        from mercer.kernels.processes import StateSpace  # of one column alone

        found = [part.state_space() for part in self.parts]
        processes, others = ([each.processes for each in found], [each.others for each in found])
        return StateSpace(tuple(chain.from_iterable(processes)), tuple(chain.from_iterable(others)))

    def waves(self, grid: FrequencyGrid) -> WaveWeights | None:
        from mercer.kernels.waves import added  # few kernels are asked

        return added(part.waves(grid) for part in self.parts)

    def finite_lift(self, build: LiftBuilder[Features]) -> Features:
        return build.added([build.of(part) for part in self.parts])

    def rule(self) -> str:
        return "the sum of kernels is a kernel (sum rule)"

    def write(self, python: bool) -> tuple[str, int]:
        return " + ".join(part.write_inside(python, PRODUCT) for part in self.parts), SUM

    def latex(self, x: str = "x", z: str = "z") -> str:
        shown = (part.latex(x, z) for part in self.parts)
        return " + ".join(parens(text) if r"\quad" in text else text for text in shown)  # what it names stays with it
