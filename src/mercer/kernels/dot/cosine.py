"""k(x, z) = <x, z> / (|x| |z|)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.kernels.domain import REALS
from mercer.kernels.dot.angular import Angular
from mercer.kernels.latex import inner
from mercer.kernels.lift_builder import Features, LiftBuilder
from mercer.kernels.proof.judgement import Fact


class Cosine(Angular):
    """The cosine similarity: the linear kernel, normalized; zero where a point is the origin.

    `k(x, z) = <x, z> / (|x| |z|)`

    Examples
    --------
    >>> from mercer.kernels import Cosine
    >>> Cosine()([[1.0, 0.0]], [[3.0, 3.0]]).round(4)
    array([[0.7071]])
    """

    formula = "<x, z> / (|x| |z|)"

    def profile(self, angle: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(np.cos(angle))

    def gap(self, angle: NDArray[Any]) -> NDArray[Any]:
        sine = np.sin(angle / 2)
        return np.asarray(2 * sine * sine)

    def finite_lift(self, build: LiftBuilder[Features]) -> Features:
        return build.unit(build.linear())

    def facts(self) -> tuple[Fact, ...]:
        return (Fact(REALS, "it is f(x) <x, z> f(z) with f(x) = 1 / |x| (rule of the weight)"),)

    def latex(self, x: str = "x", z: str = "z") -> str:
        return rf"\frac{{{inner(x, z)}}}{{\lVert {x} \rVert \lVert {z} \rVert}}"
