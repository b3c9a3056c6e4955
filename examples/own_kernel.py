"""A kernel of your own: one class with one method. What it states beyond that makes it proven, and printed.

    python examples/own_kernel.py

It prints a proof, whether its text parses back, and how well it fits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import mercer
from mercer import KernelRidge
from mercer.kernels import REALS, Coordinate, Fact, Linear, positive
from mercer.testing import check_kernel


class Sech(Coordinate):
    """The hyperbolic secant of each coordinate's difference, multiplied: nearly a Gaussian, with longer tails.

    lengthscale : positive number
    """

    formula = "prod_k 1 / cosh((x_k - z_k) / lengthscale)"
    joined_by = "product"

    lengthscale: float = positive(default=1.0)

    def term(self, x: NDArray[Any], z: NDArray[Any]) -> NDArray[Any]:
        t = np.exp(-np.abs(x - z) / self.lengthscale)  # cosh itself overflows
        return np.asarray(2 * t / (1 + t * t))

    def facts(self) -> tuple[Fact, ...]:
        reason = (
            "1 / cosh(t) has the Fourier transform pi / cosh(pi w / 2) > 0 on the line (Bochner's theorem), and the "
            "coordinates are multiplied (product rule)"
        )
        return (Fact(REALS, reason),)


def main() -> None:
    check_kernel(Sech(2.0))  # the laws that every kernel must obey, and a search for points that refute it
    kernel = Sech(2.0) + 0.1 * Linear()
    print(mercer.prove(kernel))
    print(mercer.parse("sech(lengthscale=2)", {"sech": Sech}) == Sech(2.0))
    X = np.linspace(-3, 3, 60)[:, None]
    model = KernelRidge(kernel).fit(X, np.tanh(2 * X[:, 0]))
    print(f"{model.kernel_}: R^2 {model.score(X, np.tanh(2 * X[:, 0])):.4f}")


if __name__ == "__main__":
    main()
