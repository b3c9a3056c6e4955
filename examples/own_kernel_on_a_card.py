"""A kernel of your own on a graphics card: one method, and no CUDA. Without a card the same script runs on the cores.

    python examples/own_kernel_on_a_card.py [rows]

It prints the plan, and where there is a card how far predictions of both are from each other, and how long each took.
"""

from __future__ import annotations

import sys
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer import KernelRidge
from mercer.errors import InputError
from mercer.kernels import positive
from mercer.kernels.radial.base import Radial

ROWS = 4000


class Cauchy(Radial):
    """1 / (1 + |x - z|^2 / lengthscale^2), whose tails are far longer than a Gaussian's.

    lengthscale : positive number
    """

    formula = "1 / (1 + |x - z|^2 / lengthscale^2)"

    lengthscale: float = positive(default=1.0)

    def profile(self, t: Any) -> Any:
        """From |x - z|^2 in squared lengthscales to the value. It is followed once, and compiled where it runs."""
        return 1 / (1 + t)


def waves(rows: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Rows of six columns, and a target with noise."""
    random = np.random.default_rng(0)
    X = random.normal(size=(rows, 6))
    return X, np.sin(X[:, 0] * X[:, 1]) + np.cos(X[:, 2:]).sum(axis=1) + 0.1 * random.normal(size=rows)


def fitted(backend: str, X: NDArray[Any], y: NDArray[Any]) -> tuple[KernelRidge, float]:
    """A model, and the seconds that it took."""
    start = perf_counter()
    model = KernelRidge(Cauchy(2.0), alpha=0.1, backend=backend).fit(X, y)
    return model, perf_counter() - start


def main(rows: int = ROWS) -> None:
    X, y = waves(rows + 1000)
    X, new, y, wanted = X[:rows], X[rows:], y[:rows], y[rows:]
    cores, seconds = fitted("cpu", X, y)
    print(cores.plan_)
    print(f"on the cores: R^2 {cores.score(new, wanted):.3f} on new rows, in {seconds:.1f} s")
    try:
        fitted("cuda", X, y)  # the first fit on a card loads PyTorch, and compiles
        card, seconds = fitted("cuda", X, y)
    except InputError as error:
        print(f"no card: {error}")
        return
    print(card.plan_)
    far = np.abs(card.predict(new) - cores.predict(new)).max() / np.abs(wanted).max()
    print(f"on {card.plan_.backend}: R^2 {card.score(new, wanted):.3f} on new rows, in {seconds:.1f} s")
    print(f"predictions of both differ by {far:.0e} of the largest")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
