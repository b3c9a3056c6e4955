"""k(x, z) = prod_k (1 + x_k z_k): all 2^d interaction features at the price of d products."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.kernels.coordinate.base import Coordinate
from mercer.kernels.domain import REALS
from mercer.kernels.proof.judgement import Fact


class Subsets(Coordinate):
    """The all-subsets kernel: its lift holds the product of the coordinates of every subset, 2^d features.

    Examples
    --------
    >>> from mercer.kernels import Subsets
    >>> Subsets()([[1.0, 2.0]], [[3.0, 4.0]])
    array([[36.]])

    References
    ----------
    Shawe-Taylor and Cristianini, Kernel Methods for Pattern Analysis (2004), section 9.2.
    """

    joined_by = "product"
    formula = "prod_k (1 + x_k z_k)"

    def term(self, x: NDArray[Any], z: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(1.0 + x * z)

    def facts(self) -> tuple[Fact, ...]:
        reason = (
            "each 1 + x_k z_k is a kernel with the lift [1, x_k], and the coordinates are multiplied (product rule)"
        )
        return (Fact(REALS, reason),)

    def latex(self, x: str = "x", z: str = "z") -> str:
        return rf"\prod_k \left(1 + {{{x}}}_k {{{z}}}_k\right)"
