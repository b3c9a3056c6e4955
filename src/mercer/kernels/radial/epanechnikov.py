"""max(0, 1 - |x - z|^2 / lengthscale^2): a fine smoother, and not a kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.kernels.fields import length
from mercer.kernels.latex import gap, over
from mercer.kernels.radial.base import Radial


class Epanechnikov(Radial):
    """The Epanechnikov function, here to be refuted: smoothing statistics calls it a kernel, but no lift gives it.

    `k(x, z) = max(0, 1 - |x - z|^2 / lengthscale^2)`

    Parameters
    ----------
    lengthscale : float or "median", default=1.0
        Positive radius of the support; "median" takes the median distance of the data.

    Examples
    --------
    >>> import mercer
    >>> mercer.prove("epanechnikov", d=1).status
    'refuted'

    References
    ----------
    Epanechnikov, Non-parametric estimation of a multivariate probability density (1969).
    """

    formula = "max(0, 1 - |x - z|^2 / lengthscale^2)"

    lengthscale: float | str = length(default=1.0)

    def profile(self, u: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(np.maximum(1.0 - u, 0.0))

    def gap(self, u: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(np.minimum(u, 1.0))

    def objection(self) -> str:
        return (
            "on a line its Fourier transform is 4 (sin(w) - w cos(w)) / w^3 (for lengthscale 1), which is negative "
            "at w = 6 for instance; and every R^d contains a line. Use Wendland() for compact support"
        )

    def latex(self, x: str = "x", z: str = "z") -> str:
        ratio = over(f"{gap(x, z)}^2", self.lengthscale, power=2)
        return rf"\max\left(0, 1 - {ratio}\right)"
