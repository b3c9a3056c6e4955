"""k(x, z) = exp(-|x - z| / lengthscale), on the Euclidean norm."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mercer.kernels.domain import REALS
from mercer.kernels.fields import length
from mercer.kernels.frequencies import Student
from mercer.kernels.latex import exponential, gap, over
from mercer.kernels.law import Law
from mercer.kernels.precision import gaps
from mercer.kernels.proof.judgement import Fact
from mercer.kernels.radial.base import Radial

if TYPE_CHECKING:
    from mercer.kernels.processes import StateSpace


class Laplace(Radial):
    """The Laplace kernel on the Euclidean norm; `ProductLaplace` is the one on the sum of absolute values.

    `k(x, z) = exp(-|x - z| / lengthscale)`

    Parameters
    ----------
    lengthscale : float or "median", default=1.0
        Positive scale of the distance; "median" takes the median distance of the data.

    Examples
    --------
    >>> from mercer.kernels import Laplace
    >>> Laplace()([[0.0, 0.0]], [[3.0, 4.0]]).round(6)
    array([[0.006738]])

    References
    ----------
    Rasmussen and Williams, Gaussian Processes for Machine Learning (2006), section 4.2 (Matern, nu = 1/2).
    """

    argument = "distance"
    formula = "exp(-|x - z| / lengthscale)"

    lengthscale: float | str = length(default=1.0)

    def profile(self, u: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(np.exp(-u))

    def gap(self, u: NDArray[Any]) -> NDArray[Any]:
        return gaps.decay(u)

    @property
    def divisible(self) -> bool:
        return True

    def facts(self) -> tuple[Fact, ...]:
        reason = (
            "its Fourier transform is a positive multiple of (1 / lengthscale^2 + |w|^2)^(-(d + 1) / 2), "
            "which is positive for every frequency w (Bochner's theorem)"
        )
        return (Fact(REALS, reason),)

    def law(self, d: int) -> Law | None:
        return Student(d, self.lengthscale, nu=0.5)

    def state_space(self) -> StateSpace:
        from mercer.kernels.processes import Process, StateSpace  # of one column alone

        return StateSpace((Process(1, 1 / float(self.lengthscale)),))

    def latex(self, x: str = "x", z: str = "z") -> str:
        return exponential("-" + over(gap(x, z), self.lengthscale))
