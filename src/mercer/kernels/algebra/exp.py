"""exp(k(x, z))."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from mercer.kernels.algebra.operations import as_kernel
from mercer.kernels.algebra.single import Single
from mercer.kernels.base import ATOM, SUM, Kernel
from mercer.kernels.feature_gap import FeatureGap
from mercer.kernels.latex import exponential
from mercer.kernels.near_pairs import NearPairs
from mercer.kernels.pairs import Block, Pairs
from mercer.kernels.points import Points
from mercer.kernels.precision import formulas


class Exp(Single):
    """The exponential of a kernel, written exp(k).

    `k(x, z) = exp(k(x, z))`

    Parameters
    ----------
    kernel : Kernel
        The exponent.

    Examples
    --------
    >>> import mercer
    >>> from mercer.kernels import Linear
    >>> mercer.exp(Linear())([[1.0]], [[2.0]]).round(3)
    array([[7.389]])
    """

    formula = "exp(k(x, z))"

    kernel: Kernel

    def evaluate(self, pairs: Pairs) -> Block:
        return formulas.exp(self.kernel.evaluate(pairs))

    def evaluate_diagonal(self, points: Points) -> NDArray[Any]:
        return formulas.exp(self.kernel.evaluate_diagonal(points))

    def evaluate_gap(self, pairs: NearPairs) -> FeatureGap | None:
        gap = self.kernel.evaluate_gap(pairs)
        return None if gap is None else gap.exp()

    @property
    def divisible(self) -> bool:
        return True  # exp(k)^p = exp(p k)

    def rule(self) -> str:
        return "exp(k) is the limit of 1 + k + k^2/2! + ..., a sum of powers of k (rule of the exponential)"

    def write(self, python: bool) -> tuple[str, int]:
        return f"exp({self.kernel.write_inside(python, SUM)})", ATOM

    def latex(self, x: str = "x", z: str = "z") -> str:
        return exponential(self.kernel.latex(x, z))


def exp(kernel: Kernel | float) -> Kernel:
    """The kernel exp(k(x, z)).

    Parameters
    ----------
    kernel : Kernel
        The exponent.

    Returns
    -------
    Exp

    Examples
    --------
    >>> import mercer
    >>> from mercer.kernels import Linear
    >>> print(mercer.exp(0.5 * Linear()))
    exp(0.5*linear)
    """
    return Exp(as_kernel(kernel, "exp"))
