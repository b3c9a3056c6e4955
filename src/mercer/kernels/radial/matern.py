"""The Matern kernel: a Gaussian whose smoothness can be chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from mercer.kernels.domain import REALS
from mercer.kernels.fields import length, positive
from mercer.kernels.frequencies import Student
from mercer.kernels.latex import gap, numeral, over
from mercer.kernels.law import Law
from mercer.kernels.precision import formulas, gaps
from mercer.kernels.proof.judgement import Fact
from mercer.kernels.radial.base import Radial

if TYPE_CHECKING:
    from mercer.kernels.processes import StateSpace


class Matern(Radial):
    """The Matern kernel, of a given smoothness nu.

    `k(x, z) = 2^(1-nu) / Gamma(nu) t^nu K_nu(t), t = sqrt(2 nu) |x - z| / lengthscale`

    Closed forms serve nu = 1/2 (Laplace), 3/2, 5/2 and further half integers, quadrature serves every other nu.
    As nu grows the kernel tends to the Gaussian of the same lengthscale.

    Parameters
    ----------
    nu : float, default=1.5
        Positive smoothness: sample functions are differentiable fewer than nu times.
    lengthscale : float or "median", default=1.0
        Positive scale of the distance; "median" takes the median distance of the data.

    Examples
    --------
    >>> from mercer.kernels import Matern
    >>> Matern(nu=1.5)([[0.0]], [[1.0]]).round(6)
    array([[0.483358]])

    References
    ----------
    Stein, Interpolation of Spatial Data (1999), section 2.7.
    """

    argument = "distance"
    formula = "2^(1-nu) / Gamma(nu) t^nu K_nu(t), t = sqrt(2 nu) |x - z| / lengthscale"

    nu: float = positive(default=1.5)
    lengthscale: float | str = length(default=1.0)

    def profile(self, u: NDArray[Any]) -> NDArray[Any]:
        return formulas.matern(self.nu, u)

    def gap(self, u: NDArray[Any]) -> NDArray[Any]:
        return gaps.matern(self.nu, u)

    @property
    def divisible(self) -> bool:
        return True

    def facts(self) -> tuple[Fact, ...]:
        reason = (
            "its Fourier transform is a positive multiple of (2 nu / lengthscale^2 + |w|^2)^(-(nu + d/2)), "
            "which is positive for every frequency w (Bochner's theorem)"
        )
        return (Fact(REALS, reason),)

    def law(self, d: int) -> Law | None:
        return Student(d, self.lengthscale, self.nu)

    def state_space(self) -> StateSpace:
        from mercer.kernels.processes import StateSpace, matern  # of one column alone

        found = matern(self.nu, float(self.lengthscale))
        return super().state_space() if found is None else StateSpace((found,))

    def latex(self, x: str = "x", z: str = "z") -> str:
        nu = numeral(self.nu)
        t = over(rf"\sqrt{{2 \cdot {nu}}} {gap(x, z)}", self.lengthscale)
        return rf"\frac{{2^{{1 - {nu}}}}}{{\Gamma({nu})}} t^{{{nu}}} K_{{{nu}}}(t), \quad t = {t}"
