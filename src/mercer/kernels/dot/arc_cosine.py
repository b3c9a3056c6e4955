"""The arc-cosine kernels: infinitely wide layers of steps (order 0) or ramps (order 1)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.kernels.domain import REALS
from mercer.kernels.dot.angular import Angular
from mercer.kernels.fields import integer
from mercer.kernels.precision import formulas, gaps
from mercer.kernels.proof.judgement import Fact


class ArcCosine(Angular):
    """The arc-cosine kernel of order 0 or 1.

    `k(x, z) = 1 - a/pi (order 0); |x| |z| (sin a + (pi - a) cos a) / pi (order 1); a the angle of x and z`

    Parameters
    ----------
    order : {0, 1}, default=1
        The order.

    Examples
    --------
    >>> from mercer.kernels import ArcCosine
    >>> ArcCosine(order=0)([[1.0, 0.0]], [[0.0, 2.0]])
    array([[0.5]])

    References
    ----------
    Cho and Saul, Kernel methods for deep learning, NIPS 2009.
    """

    formula = "1 - a/pi (order 0); |x| |z| (sin a + (pi - a) cos a) / pi (order 1); a the angle of x and z"

    order: int = integer(default=1, minimum=0, maximum=1)

    @property
    def homogeneity(self) -> int:
        return self.order

    def profile(self, angle: NDArray[Any]) -> NDArray[Any]:
        return formulas.rest_of_angle(angle) if self.order == 0 else formulas.ramp_of_angle(angle)

    def gap(self, angle: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(angle / np.pi) if self.order == 0 else gaps.ramp_of_angle(angle)

    def facts(self) -> tuple[Fact, ...]:
        unit = "the step 1[<w, x> > 0]" if self.order == 0 else "the ramp max(0, <w, x>)"
        reason = f"it is twice the average of phi_w(x) phi_w(z) over Gaussian w, with {unit} as the feature phi_w(x)"
        return (Fact(REALS, reason),)

    def latex(self, x: str = "x", z: str = "z") -> str:
        angle = rf"\quad \theta = \angle({x}, {z})"
        if self.order == 0:
            return rf"1 - \frac{{\theta}}{{\pi}}, {angle}"
        lengths = rf"\frac{{\lVert {x} \rVert \lVert {z} \rVert}}{{\pi}}"
        return rf"{lengths} \left(\sin\theta + (\pi - \theta) \cos\theta\right), {angle}"
