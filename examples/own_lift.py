"""A lift of your own: its features, their names, and the kernel that they induce.

    python examples/own_lift.py

It prints the side that was solved, and the weight of each feature.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer import KernelRidge
from mercer.kernels import REALS, Coordinate, Fact, Kernel
from mercer.lifts import Lift
from mercer.testing import check_kernel, check_lift


class SameSign(Coordinate):
    """The inner product of those coordinates in which both points have the same sign."""

    formula = "sum_k max(x_k z_k, 0)"

    def term(self, x: NDArray[Any], z: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(np.maximum(x * z, 0))

    def facts(self) -> tuple[Fact, ...]:
        return (Fact(REALS, "it is the inner product of phi(x) = (max(x_k, 0), max(-x_k, 0) for each k)"),)


class Bent(Lift):
    """What is above zero and what is below, column by column: a linear model of it has a bend at zero.

    Time and memory O(n d).
    """

    @property
    def kernel(self) -> Kernel:
        """The kernel phi(x).phi(z)."""
        return SameSign()

    def learn(self, X: Any) -> None:
        """Nothing is learned from the rows; their number of columns is known as `n_features_in_`."""

    def n_features(self) -> int:
        return 2 * int(self.n_features_in_)

    def features(self, X: NDArray[Any]) -> NDArray[Any]:
        return np.concatenate([np.maximum(X, 0), np.maximum(-X, 0)], axis=1)

    def feature_names(self, inputs: list[str]) -> list[str]:
        return [f"max({name}, 0)" for name in inputs] + [f"max(-{name}, 0)" for name in inputs]


def main() -> None:
    check_lift(Bent())  # phi(x).phi(z) is the kernel, rows are on their own, names fit, ...
    check_kernel(SameSign())
    X = np.random.default_rng(0).normal(size=(500, 2))
    y = np.abs(X[:, 0]) + np.where(X[:, 1] > 0, 3 * X[:, 1], 0.5 * X[:, 1])
    model = KernelRidge(Bent(), alpha=1e-6).fit(X, y)
    print(f"solved on the {model.plan_.details.side} side, R^2 {model.score(X, y):.4f}")
    for name, weight in zip(Bent().fit(X).get_feature_names_out(), model.coef_, strict=True):
        print(f"  {weight:6.3f} {name}")


if __name__ == "__main__":
    main()
