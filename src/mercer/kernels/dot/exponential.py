"""k(x, z) = exp(<x, z> / lengthscale^2)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from numpy.typing import NDArray

from mercer.kernels.domain import REALS
from mercer.kernels.dot.base import Dot
from mercer.kernels.feature_gap import FeatureGap
from mercer.kernels.fields import positive
from mercer.kernels.latex import exponential, inner, over
from mercer.kernels.near_pairs import NearPairs
from mercer.kernels.precision import formulas
from mercer.kernels.proof.judgement import Fact


class Exponential(Dot):
    """The exponential of the inner product: all monomials of every degree. Its normalized form is the Gaussian.

    `k(x, z) = exp(<x, z> / lengthscale^2)`

    Parameters
    ----------
    lengthscale : float, default=1.0
        Positive scale.

    Examples
    --------
    >>> from mercer.kernels import Exponential
    >>> Exponential()([[1.0]], [[2.0]]).round(4)
    array([[7.3891]])
    """

    formula = "exp(<x, z> / lengthscale^2)"

    lengthscale: float = positive(default=1.0)

    def profile(self, t: NDArray[Any]) -> NDArray[Any]:
        return formulas.decay(1 / Fraction(self.lengthscale) ** 2, -t)

    def evaluate_gap(self, pairs: NearPairs) -> FeatureGap | None:
        return (pairs.inner / self.lengthscale / self.lengthscale).exp()

    @property
    def divisible(self) -> bool:
        return True

    def facts(self) -> tuple[Fact, ...]:
        reason = (
            "it is the limit of 1 + t + t^2/2! + ... with t = <x, z> / lengthscale^2: powers, sums and limits of "
            "kernels are kernels"
        )
        return (Fact(REALS, reason),)

    def latex(self, x: str = "x", z: str = "z") -> str:
        return exponential(over(inner(x, z), self.lengthscale, power=2))
