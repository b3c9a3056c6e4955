"""k(x, z)^p."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mercer.errors import KernelError, message
from mercer.kernels.algebra.single import Single
from mercer.kernels.base import ATOM, POWER, Kernel
from mercer.kernels.feature_gap import FeatureGap
from mercer.kernels.fields import check_positive
from mercer.kernels.latex import numeral, parens
from mercer.kernels.law import Law, convolution
from mercer.kernels.lift_builder import Features, LiftBuilder
from mercer.kernels.near_pairs import NearPairs
from mercer.kernels.pairs import Block, Pairs
from mercer.kernels.points import Points

if TYPE_CHECKING:
    from mercer.kernels.waves import FrequencyGrid, WaveWeights


MAX_FACTORS = 1000
"""The largest power whose law is told: it is drawn as the sum of so many draws."""


def check_exponent(owner: str, name: str, value: Any) -> int | float:
    """A positive number; integers become int."""
    checked = check_positive(owner, name, value)
    return int(checked) if checked == int(checked) else checked


class Power(Single):
    """A power of a kernel, written k ** p: p a positive integer, or any p > 0 for infinitely divisible k.

    `k(x, z) = k(x, z)^p`

    Parameters
    ----------
    kernel : Kernel
        The base.
    exponent : int or float, default=2
        A positive integer; any positive number where `kernel.divisible`.

    Examples
    --------
    >>> from mercer.kernels import Gaussian, Linear
    >>> (Linear() ** 2)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[121.]])
    >>> (Gaussian(1.0) ** 0.25)([[0.0]], [[1.0]]) == Gaussian(2.0)([[0.0]], [[1.0]])
    array([[ True]])
    """

    formula = "k(x, z)^p"

    kernel: Kernel
    exponent: int | float = field(default=2, metadata={"check": check_exponent})

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.whole or self.kernel.divisible:
            return
        got = f"got {self.exponent}, and {self.kernel} is not known to be infinitely divisible"
        remedy = "Use a whole exponent; fractions are allowed for Gaussian(), Laplace() and others like them."
        raise KernelError(message("a positive whole exponent", got, remedy, subject="A power of a kernel"))

    @property
    def whole(self) -> bool:
        """Whether the exponent is an integer."""
        return isinstance(self.exponent, int)

    def evaluate(self, pairs: Pairs) -> Block:
        block: Block = self.kernel.evaluate(pairs) ** self.exponent
        return block

    def evaluate_diagonal(self, points: Points) -> NDArray[Any]:
        return np.asarray(self.kernel.evaluate_diagonal(points) ** self.exponent)

    def evaluate_gap(self, pairs: NearPairs) -> FeatureGap | None:
        gap = self.kernel.evaluate_gap(pairs)
        return None if gap is None else gap**self.exponent

    def law(self, d: int) -> Law | None:
        if not isinstance(self.exponent, int) or self.exponent > MAX_FACTORS:
            return None
        return convolution([self.kernel.law(d)] * self.exponent)

    def waves(self, grid: FrequencyGrid) -> WaveWeights | None:
        from mercer.kernels.waves import multiplied  # few kernels are asked

        if not isinstance(self.exponent, int) or self.exponent > MAX_FACTORS:
            return None
        return multiplied([self.kernel.waves(grid)] * self.exponent)

    def finite_lift(self, build: LiftBuilder[Features]) -> Features:
        return build.raised(build.of(self.kernel), int(self.exponent)) if self.whole else super().finite_lift(build)

    def rule(self) -> str:
        if self.whole:
            return f"a whole power is a product of {self.exponent} equal kernels (product rule)"
        return "the kernel is infinitely divisible: each of its positive powers is a kernel"

    def write(self, python: bool) -> tuple[str, int]:
        star = " ** " if python else "**"
        return f"{self.kernel.write_inside(python, ATOM)}{star}{self.exponent!r}", POWER

    def latex(self, x: str = "x", z: str = "z") -> str:
        return rf"{parens(self.kernel.latex(x, z))}^{{{numeral(self.exponent)}}}"
