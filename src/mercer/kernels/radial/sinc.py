"""k(x, z) = sin(t) / t with t = |x - z| / lengthscale: a kernel up to three dimensions."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from mercer.kernels.domain import REALS
from mercer.kernels.fields import length
from mercer.kernels.frequencies import Sphere
from mercer.kernels.latex import gap, over
from mercer.kernels.law import Law
from mercer.kernels.precision import formulas, gaps
from mercer.kernels.proof.judgement import Fact
from mercer.kernels.radial.base import Radial


class Sinc(Radial):
    """The radial sinc; `ProductSinc` is the form that is a kernel for every number of columns.

    `k(x, z) = (lengthscale / |x - z|) sin(|x - z| / lengthscale)`

    Parameters
    ----------
    lengthscale : float or "median", default=1.0
        Positive scale of the distance; "median" takes the median distance of the data.

    Examples
    --------
    >>> import mercer
    >>> from mercer.kernels import Sinc
    >>> mercer.prove(Sinc(), d=3).status, mercer.prove(Sinc(), d=4).status
    ('proven', 'refuted')

    References
    ----------
    Schoenberg, Metric spaces and completely monotone functions, Annals of Mathematics 39 (1938).
    """

    argument = "distance"
    formula = "(lengthscale / |x - z|) sin(|x - z| / lengthscale)"

    lengthscale: float | str = length(default=1.0)

    def profile(self, u: NDArray[Any]) -> NDArray[Any]:
        return formulas.sin_over(u)

    def gap(self, u: NDArray[Any]) -> NDArray[Any]:
        return gaps.sin_over(u)

    def facts(self) -> tuple[Fact, ...]:
        reason = (
            "on R^3 it is the average of the plane waves cos(<w, x - z>) over the sphere |w| = 1 / lengthscale, "
            "and an average of kernels is a kernel; on R^1 and R^2 it is the same on a line or plane of R^3"
        )
        return (Fact(REALS, reason, max_dimension=3),)

    def objection(self) -> str:
        return (
            "by Schoenberg's theorem a continuous radial kernel on R^4 with k(x, x) = 1 is an average of "
            "2 J_1(t) / t and so never falls below -0.133, but sin(t) / t falls to -0.217; R^d with d > 4 contains R^4"
        )

    def law(self, d: int) -> Law | None:
        return Sphere(d, self.lengthscale) if d <= 3 else None

    def latex(self, x: str = "x", z: str = "z") -> str:
        return rf"\frac{{\sin(t)}}{{t}}, \quad t = {over(gap(x, z), self.lengthscale)}"
