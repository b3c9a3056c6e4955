"""k(x, z) = sum of prod_k (x_k z_k)^a_k over exponents a of |a| <= degree: all monomials, each with the weight one."""

from __future__ import annotations

from dataclasses import field
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.errors import KernelError, message
from mercer.kernels.base import ATOM, Kernel
from mercer.kernels.coordinate.powers import refuse_unsteady
from mercer.kernels.domain import REALS
from mercer.kernels.feature_gap import FeatureGap
from mercer.kernels.fields import check_choice, integer
from mercer.kernels.lift_builder import Features, LiftBuilder
from mercer.kernels.near_pairs import NearPairs
from mercer.kernels.pairs import Block, Pairs
from mercer.kernels.points import Points
from mercer.kernels.proof.judgement import Fact


class Monomials(Kernel):
    """The kernel of all monomials up to a degree, unweighted, where `Polynomial` weights them by multinomials.

    k(x, z) = h_0 + h_1 + ... + h_degree, the complete homogeneous symmetric polynomials of the products x_k z_k, from
    their power sums p_i = sum_k (x_k z_k)^i by Newton's identity m h_m = p_1 h_(m-1) + ... + p_m h_0. It has no minus
    sign, so that nothing cancels but the signs of the data. Cost: d degree + degree^2 operations per pair.

    Parameters
    ----------
    degree : int, default=2
        The highest degree, from 1 to 100.
    include_bias : bool, default=True
        Whether the constant monomial 1 is included; texts write 1 or 0.
    min_degree : int, default=0
        Monomials of a lower degree, except 1, are left out; from 0 to degree.

    Examples
    --------
    >>> from mercer.kernels import Monomials
    >>> Monomials(degree=2)([[1.0, 2.0]], [[3.0, 4.0]])  # 1 + 3 + 8 + 9 + 24 + 64
    array([[109.]])

    References
    ----------
    Macdonald, Symmetric Functions and Hall Polynomials (1995), section I.2.
    """

    dense_only = True
    formula = "sum over exponents a with |a| <= degree of prod_k (x_k z_k)^a_k"

    degree: int = integer(default=2, minimum=1, maximum=100)
    include_bias: bool = field(default=True, metadata={"check": check_choice})
    min_degree: int = integer(default=0, minimum=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.min_degree > self.degree:
            given = f"got {self.min_degree} with degree={self.degree}"
            raise KernelError(message("min_degree of at most degree", given, "Exchange them.", subject="Monomials"))

    def evaluate(self, pairs: Pairs) -> Block:
        refuse_unsteady(self.degree, pairs)
        return pairs.block(self._joined([_power_sum(pairs, i) for i in range(1, self.degree + 1)]))

    def evaluate_diagonal(self, points: Points) -> NDArray[Any]:
        squares = points.values * points.values
        return np.asarray(self._joined([(squares**i).sum(axis=1) for i in range(1, self.degree + 1)]))

    def evaluate_gap(self, pairs: NearPairs) -> FeatureGap | None:
        sums = [(pairs.coordinates**i).sum() for i in range(1, self.degree + 1)]
        gap: FeatureGap = self._joined(sums)
        return gap

    def _joined(self, sums: list[Any]) -> Any:
        """h_1 + ... + h_degree from the power sums, without those of low degrees, and the one where it is included."""
        complete: list[Any] = [1]
        for m in range(1, self.degree + 1):
            complete.append(reduce(add, (sums[i] * complete[m - 1 - i] for i in range(m))) / m)
        total = reduce(add, complete[max(1, self.min_degree) :])
        return total + 1 if self.include_bias else total

    def finite_lift(self, build: LiftBuilder[Features]) -> Features:
        return build.monomials(max(1, self.min_degree), self.degree, bias=self.include_bias)

    def facts(self) -> tuple[Fact, ...]:
        reason = "each prod_k (x_k z_k)^a_k is a kernel with the lift prod_k x_k^a_k, and they are added (sum rule)"
        return (Fact(REALS, reason),)

    def write(self, python: bool) -> tuple[str, int]:
        if python:
            return super().write(python)
        lowest = f", min_degree={self.min_degree}" if self.min_degree else ""
        return f"{self.name}(degree={self.degree}, include_bias={int(self.include_bias)}{lowest})", ATOM

    def latex(self, x: str = "x", z: str = "z") -> str:
        gap = self.include_bias and self.min_degree > 1
        lowest = self.min_degree if gap or not self.include_bias else 0
        least = rf"{max(1, lowest)} \le " if gap or not self.include_bias else ""
        below = rf"{least}\lvert a \rvert \le {self.degree}"
        return ("1 + " if gap else "") + rf"\sum_{{{below}}} \prod_k \left({{{x}}}_k {{{z}}}_k\right)^{{a_k}}"


def _power_sum(pairs: Pairs, exponent: int) -> Any:
    """The sum of (x_k z_k)^exponent over the coordinates k: asked once by all such kernels of a tree."""
    return pairs.ask(("power sum", exponent), lambda: pairs.total(lambda x, z: (x * z) ** exponent, "sum"))
