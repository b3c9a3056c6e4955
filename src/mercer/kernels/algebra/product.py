"""k1(x, z) * k2(x, z) * ..."""

from __future__ import annotations

from functools import reduce
from operator import mul
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from mercer.kernels.algebra.several import Several
from mercer.kernels.base import POWER, PRODUCT
from mercer.kernels.constant import Constant
from mercer.kernels.feature_gap import FeatureGap
from mercer.kernels.latex import parens
from mercer.kernels.law import Law, convolution
from mercer.kernels.lift_builder import Features, LiftBuilder
from mercer.kernels.near_pairs import NearPairs
from mercer.kernels.pairs import Block, Pairs
from mercer.kernels.points import Points

if TYPE_CHECKING:
    from mercer.kernels.processes import StateSpace
    from mercer.kernels.waves import FrequencyGrid, WaveWeights


class Product(Several):
    """The product of kernels, written k1 * k2 (or a * k for a number a); its lift is all products of features.

    `k(x, z) = k1(x, z) k2(x, z)`

    Parameters
    ----------
    parts : tuple of Kernel
        The factors, two or more.

    Examples
    --------
    >>> from mercer.kernels import Gaussian, Linear, Product
    >>> Gaussian() * Linear() == Product((Gaussian(), Linear()))
    True
    """

    formula = "k1(x, z) k2(x, z)"

    def evaluate(self, pairs: Pairs) -> Block:
        return reduce(mul, (part.evaluate(pairs) for part in self.parts))

    def evaluate_diagonal(self, points: Points) -> NDArray[Any]:
        return reduce(mul, (part.evaluate_diagonal(points) for part in self.parts))

    def evaluate_gap(self, pairs: NearPairs) -> FeatureGap | None:
        gaps = [part.evaluate_gap(pairs) for part in self.parts]
        return None if None in gaps else reduce(mul, gaps)

    @property
    def divisible(self) -> bool:
        return all(part.divisible for part in self.parts)

    def law(self, d: int) -> Law | None:
        return convolution(part.law(d) for part in self.parts)

    def state_space(self) -> StateSpace:
        numbers = [part for part in self.parts if isinstance(part, Constant)]
        rest = [part for part in self.parts if not isinstance(part, Constant)]
        if len(rest) != 1:
            return super().state_space()
        factor = reduce(mul, (part.variance for part in numbers))
        return rest[0].state_space().scaled(factor, Constant(factor))

    def waves(self, grid: FrequencyGrid) -> WaveWeights | None:
        from mercer.kernels.waves import multiplied  # few kernels are asked

        return multiplied(part.waves(grid) for part in self.parts)

    def finite_lift(self, build: LiftBuilder[Features]) -> Features:
        return reduce(build.multiplied, [build.of(part) for part in self.parts])

    def rule(self) -> str:
        if len(self.parts) == 2 and isinstance(self.parts[0], Constant):
            return "a kernel times a number of at least zero is a kernel (rules of the constant and the product)"
        return "the product of kernels is a kernel (product rule; Schur's theorem)"

    def write(self, python: bool) -> tuple[str, int]:
        star = " * " if python else "*"
        return star.join(part.write_inside(python, POWER) for part in self.parts), PRODUCT

    def latex(self, x: str = "x", z: str = "z") -> str:
        numbers = [part.latex(x, z) for part in self.parts if isinstance(part, Constant)]
        others = [parens(part.latex(x, z)) for part in self.parts if not isinstance(part, Constant)]
        return r" \cdot ".join(numbers + others)
