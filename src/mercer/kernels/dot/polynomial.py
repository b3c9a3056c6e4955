"""k(x, z) = (offset + <x, z>)^degree."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from numpy.typing import NDArray

from mercer.errors import KernelError
from mercer.kernels.domain import REALS
from mercer.kernels.dot.base import Dot
from mercer.kernels.feature_gap import FeatureGap
from mercer.kernels.fields import check_integer, check_number, nonnegative
from mercer.kernels.latex import inner, numeral, parens
from mercer.kernels.lift_builder import Features, LiftBuilder
from mercer.kernels.near_pairs import NearPairs
from mercer.kernels.precision import formulas
from mercer.kernels.proof.judgement import Fact


def check_degree(owner: str, name: str, value: Any) -> int:
    """An integer of at least one; a fraction gets the reason why it is refused."""
    checked = check_number(owner, name, value)
    if checked != int(checked):
        raise KernelError(
            f"{owner} needs an integer for {name}; got {value!r}. (offset + <x, z>)^p with a fractional p has a "
            "negative Taylor coefficient, so it is not a kernel. Round the degree."
        )
    return check_integer(owner, name, value, 1, None)


class Polynomial(Dot):
    """The polynomial kernel: all monomials up to the degree, weighted.

    `k(x, z) = (offset + <x, z>)^degree`

    Parameters
    ----------
    degree : int, default=2
        At least 1.
    offset : float, default=1.0
        At least zero; with 0 only the monomials of exactly this degree remain.

    Examples
    --------
    >>> from mercer.kernels import Polynomial
    >>> Polynomial(degree=2)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[144.]])
    """

    aliases = ("poly",)
    formula = "(offset + <x, z>)^degree"

    degree: int = field(default=2, metadata={"check": check_degree})
    offset: float = nonnegative(default=1.0)

    def profile(self, t: NDArray[Any]) -> NDArray[Any]:
        return formulas.power_of_sum(self.offset, t, self.degree)

    def evaluate_gap(self, pairs: NearPairs) -> FeatureGap | None:
        return (pairs.inner + self.offset) ** self.degree

    def finite_lift(self, build: LiftBuilder[Features]) -> Features:
        return build.polynomial(self.degree, self.offset)

    def facts(self) -> tuple[Fact, ...]:
        reason = (
            f"offset = {self.offset} is at least zero, so offset + <x, z> is a kernel (rule of the constant, sum "
            "rule), and a power of it with a whole exponent is a repeated product (product rule)"
        )
        return (Fact(REALS, reason),)

    def latex(self, x: str = "x", z: str = "z") -> str:
        return rf"{parens(f'{numeral(self.offset)} + {inner(x, z)}')}^{{{self.degree}}}"
