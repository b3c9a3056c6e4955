"""k(x, z) = <x, z> + |x|^2 |z|^2: the kernel of the parabolic lift."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.kernels.base import Kernel
from mercer.kernels.domain import REALS
from mercer.kernels.feature_gap import FeatureGap
from mercer.kernels.latex import inner
from mercer.kernels.lift_builder import Features, LiftBuilder
from mercer.kernels.near_pairs import NearPairs
from mercer.kernels.pairs import Block, Pairs, lengths
from mercer.kernels.points import Points
from mercer.kernels.proof.judgement import Fact


class Parabolic(Kernel):
    """The kernel of the parabolic lift, under which balls become halfspaces.

    `k(x, z) = <x, z> + |x|^2 |z|^2`

    The lift is phi(x) = [x, `|x|^2`]. Cost: d operations per pair.

    Examples
    --------
    >>> from mercer.kernels import Parabolic
    >>> Parabolic()([[1.0, 2.0]], [[3.0, 4.0]])  # 11 + 5 * 25
    array([[136.]])

    References
    ----------
    Edelsbrunner and Seidel, Voronoi diagrams and arrangements (1986).
    """

    formula = "<x, z> + |x|^2 |z|^2"

    def evaluate(self, pairs: Pairs) -> Block:
        left, right = pairs.norms()
        squares = pairs.block(left * left) * pairs.block(right * right)
        return pairs.block(pairs.dot() + squares)

    def evaluate_diagonal(self, points: Points) -> NDArray[Any]:
        squares = lengths(points.values)[:, 0] ** 2
        return np.asarray(squares + squares * squares)

    def evaluate_gap(self, pairs: NearPairs) -> FeatureGap | None:
        x, z = pairs.lengths
        apart = 2 * pairs.inner.tilt
        return pairs.inner + FeatureGap.feature(x * x, z * z, apart, 2 * pairs.inner.wobble)

    def finite_lift(self, build: LiftBuilder[Features]) -> Features:
        return build.added([build.linear(), build.squared_length()])

    def facts(self) -> tuple[Fact, ...]:
        reason = (
            "<x, z> is the inner product itself, |x|^2 |z|^2 is a kernel with the lift |x|^2, and they are added (sum "
            "rule)"
        )
        return (Fact(REALS, reason),)

    def latex(self, x: str = "x", z: str = "z") -> str:
        return rf"{inner(x, z)} + \lVert {x} \rVert^2 \lVert {z} \rVert^2"
