"""k(x, z) = <x, z>."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from mercer.kernels.domain import REALS
from mercer.kernels.dot.base import Dot
from mercer.kernels.feature_gap import FeatureGap
from mercer.kernels.latex import inner
from mercer.kernels.lift_builder import Features, LiftBuilder
from mercer.kernels.near_pairs import NearPairs
from mercer.kernels.proof.judgement import Fact


class Linear(Dot):
    """The inner product itself; its lift is phi(x) = x.

    `k(x, z) = <x, z>`

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> Linear()([[1.0, 2.0]], [[3.0, 4.0]])
    array([[11.]])
    """

    formula = "<x, z>"

    def profile(self, t: NDArray[Any]) -> NDArray[Any]:
        return t

    def evaluate_gap(self, pairs: NearPairs) -> FeatureGap | None:
        return pairs.inner

    def finite_lift(self, build: LiftBuilder[Features]) -> Features:
        return build.linear()

    def facts(self) -> tuple[Fact, ...]:
        return (Fact(REALS, "it is the inner product itself, with the lift phi(x) = x"),)

    def latex(self, x: str = "x", z: str = "z") -> str:
        return inner(x, z)
