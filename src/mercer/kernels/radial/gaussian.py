"""k(x, z) = exp(-|x - z|^2 / (2 lengthscale^2))."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.kernels.domain import REALS
from mercer.kernels.fields import length
from mercer.kernels.frequencies import Normal
from mercer.kernels.latex import exponential, gap, over
from mercer.kernels.law import Law
from mercer.kernels.precision import gaps
from mercer.kernels.proof.judgement import Fact
from mercer.kernels.radial.base import Radial


class Gaussian(Radial):
    """The Gaussian (radial basis function) kernel.

    `k(x, z) = exp(-|x - z|^2 / (2 lengthscale^2))`

    Parameters
    ----------
    lengthscale : float or "median", default=1.0
        Positive scale of the distance; "median" takes the median distance of the data.

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> Gaussian(2.0)([[0.0], [2.0]]).round(4)
    array([[1.    , 0.6065],
           [0.6065, 1.    ]])

    References
    ----------
    Rasmussen and Williams, Gaussian Processes for Machine Learning (2006), section 4.2.
    """

    aliases = ("rbf", "squared_exponential", "se")
    formula = "exp(-|x - z|^2 / (2 lengthscale^2))"

    lengthscale: float | str = length(default=1.0)

    def profile(self, u: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(np.exp(u / -2))

    def gap(self, u: NDArray[Any]) -> NDArray[Any]:
        return gaps.decay(u / 2)

    @property
    def divisible(self) -> bool:
        return True

    def facts(self) -> tuple[Fact, ...]:
        reason = (
            "its Fourier transform is (2 pi)^(d/2) lengthscale^d exp(-lengthscale^2 |w|^2 / 2), which is "
            "positive for every frequency w (Bochner's theorem)"
        )
        return (Fact(REALS, reason),)

    def law(self, d: int) -> Law | None:
        return Normal(d, self.lengthscale)

    def latex(self, x: str = "x", z: str = "z") -> str:
        return exponential("-" + over(f"{gap(x, z)}^2", self.lengthscale, power=2, factor=2))
