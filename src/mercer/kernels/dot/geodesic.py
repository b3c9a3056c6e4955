"""k(x, z) = exp(-(a / lengthscale)^power), a the angle of x and z: the distance along the sphere."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.kernels.domain import REALS
from mercer.kernels.dot.angular import Angular
from mercer.kernels.fields import positive
from mercer.kernels.latex import exponential, numeral
from mercer.kernels.precision import gaps
from mercer.kernels.proof.judgement import Fact


class Geodesic(Angular):
    """A kernel that falls with the distance along the sphere; of points at other lengths with their angle.

    `k(x, z) = exp(-(a / lengthscale)^power), a the angle of x and z`; zero where a point is the origin.

    A kernel for `power` from 0 to 1 on every sphere; for a larger one, as in exp(-geodesic^2), on none but two points.
    The straight distance through the sphere keeps every kernel one: `Gaussian().on_sphere()`.

    Parameters
    ----------
    power : float, default=1.0
        Positive.
    lengthscale : float, default=1.0
        Positive, in radians: a distance along the sphere divided by its radius.

    Examples
    --------
    >>> import mercer
    >>> from mercer.kernels import Geodesic
    >>> Geodesic()([[1.0, 0.0]], [[0.0, 2.0]]).round(4)  # exp(-pi / 2)
    array([[0.2079]])
    >>> mercer.prove(Geodesic()).status, mercer.prove(Geodesic(power=2.0), d=3).status
    ('proven', 'refuted')

    References
    ----------
    Gneiting, Strictly and non-strictly positive definite functions on spheres, Bernoulli 19 (2013), example 2.
    """

    formula = "exp(-(a / lengthscale)^power), a the angle of x and z"

    power: float = positive(default=1.0)
    lengthscale: float = positive(default=1.0)

    def profile(self, angle: NDArray[Any]) -> NDArray[Any]:
        u = angle / self.lengthscale
        return np.asarray(np.exp(-u if self.power == 1.0 else -(u**self.power)))

    def gap(self, angle: NDArray[Any]) -> NDArray[Any]:
        u = angle / self.lengthscale
        return gaps.decay(u if self.power == 1.0 else u**self.power)

    @property
    def divisible(self) -> bool:
        return self.power <= 1.0

    def facts(self) -> tuple[Fact, ...]:
        if self.power > 1.0:
            return ()
        whole = (
            "1 - a/pi is a kernel (arc-cosine, order 0), so that -a is one but for functions of one point, and so is "
            "-a^power for a power of at most 1 (Bernstein); exp of these is a kernel for every lengthscale (Schoenberg)"
        )
        return (Fact(REALS, whole),)

    def objection(self) -> str:
        if self.power <= 1.0:
            return ""
        return "on a sphere exp(-(a / lengthscale)^power) is a kernel for no power above 1 (Gneiting 2013)"

    def latex(self, x: str = "x", z: str = "z") -> str:
        angle = rf"\theta / {numeral(self.lengthscale)}" if self.lengthscale != 1.0 else r"\theta"
        power = "" if self.power == 1.0 else rf"^{{{numeral(self.power)}}}"
        inside = rf"\left({angle}\right){power}" if power else angle
        return rf"{exponential('-' + inside)}, \quad \theta = \angle({x}, {z})"
