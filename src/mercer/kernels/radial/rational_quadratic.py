"""k(x, z) = (1 + |x - z|^2 / (2 shape lengthscale^2))^(-shape)."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from mercer.kernels.domain import REALS
from mercer.kernels.fields import length, positive
from mercer.kernels.frequencies import GammaMixed
from mercer.kernels.latex import gap, numeral, over, parens
from mercer.kernels.law import Law
from mercer.kernels.precision import formulas, gaps
from mercer.kernels.proof.judgement import Fact
from mercer.kernels.radial.base import Radial


class RationalQuadratic(Radial):
    """The rational quadratic kernel: Gaussians of many lengthscales at once.

    `k(x, z) = (1 + |x - z|^2 / (2 shape lengthscale^2))^(-shape)`

    Parameters
    ----------
    shape : float, default=1.0
        Positive; the larger, the closer to the Gaussian.
    lengthscale : float or "median", default=1.0
        Positive scale of the distance; "median" takes the median distance of the data.

    Examples
    --------
    >>> from mercer.kernels import RationalQuadratic
    >>> RationalQuadratic(shape=0.5)([[0.0]], [[3.0]]).round(6)
    array([[0.316228]])

    References
    ----------
    Rasmussen and Williams, Gaussian Processes for Machine Learning (2006), equation 4.19.
    """

    formula = "(1 + |x - z|^2 / (2 shape lengthscale^2))^(-shape)"

    shape: float = positive(default=1.0)
    lengthscale: float | str = length(default=1.0)

    def profile(self, u: NDArray[Any]) -> NDArray[Any]:
        return formulas.inverse_power(u, self.shape)

    def gap(self, u: NDArray[Any]) -> NDArray[Any]:
        return gaps.inverse_power(u, self.shape)

    @property
    def divisible(self) -> bool:
        return True

    def facts(self) -> tuple[Fact, ...]:
        reason = (
            "it is the average of Gaussian kernels exp(-t |x - z|^2 / (2 lengthscale^2)) over t drawn from a "
            "Gamma law, and an average of kernels is a kernel"
        )
        return (Fact(REALS, reason),)

    def law(self, d: int) -> Law | None:
        return GammaMixed(d, self.lengthscale, self.shape)

    def latex(self, x: str = "x", z: str = "z") -> str:
        ratio = over(f"{gap(x, z)}^2", self.lengthscale, power=2)
        inside = parens(rf"1 + \frac{{1}}{{2 \cdot {numeral(self.shape)}}} {ratio}")
        return rf"{inside}^{{-{numeral(self.shape)}}}"
