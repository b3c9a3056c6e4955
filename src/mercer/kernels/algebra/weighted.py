"""f(x) k(x, z) f(z)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.errors import InputError, KernelError, message
from mercer.kernels.algebra.functions import name_of, of_each, real
from mercer.kernels.algebra.single import Single, refuse_kernel
from mercer.kernels.base import Kernel
from mercer.kernels.feature_gap import FeatureGap
from mercer.kernels.latex import parens
from mercer.kernels.lift_builder import Features, LiftBuilder
from mercer.kernels.near_pairs import NearPairs
from mercer.kernels.pairs import Block, Pairs
from mercer.kernels.points import Column, Points, refuse_sparse


def check_function(owner: str, name: str, value: Any) -> Any:
    """Something that can be called with rows."""
    refuse_kernel(owner, "a function of rows", value)
    if not callable(value):
        raise KernelError(message("a function of rows", f"got {value!r}", "Give a function.", subject=owner))
    return value


class Weighted(Single):
    """A kernel weighted on both sides, written k.weighted(f); its lift is f(x) phi(x).

    `k(x, z) = f(x) k(x, z) f(z)`

    Parameters
    ----------
    kernel : Kernel
        The kernel inside.
    function : callable
        Of rows of numbers, it takes all of them (n, d) and returns n real numbers. Of strings, graphs or labels, it
        takes one as the kernel reads it (a str, bytes or tuple of tokens; a `Graph`; the label's text, None where it is
        missing), and returns a real number; where a table has several columns, it takes a tuple, the row. The result is
        checked at each evaluation. Functions are equal by identity.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Constant
    >>> Constant(1.0).weighted(np.exp)([[1.0]], [[2.0]]).round(4)  # exp(x + z)
    array([[20.0855]])
    >>> from mercer.kernels import Spectrum
    >>> Spectrum(1).weighted(lambda text: 1 / len(text))(["aaaa", "b"])
    array([[1., 0.],
           [0., 1.]])
    """

    formula = "f(x) k(x, z) f(z)"

    kernel: Kernel
    function: Callable[[NDArray[Any]], NDArray[Any]] = field(metadata={"check": check_function})

    def evaluate(self, pairs: Pairs) -> Block:
        left, right = self.weights(pairs.left), self.weights(pairs.right)
        block: Block = left[:, None] * self.kernel.evaluate(pairs) * right[None, :]
        return block

    def evaluate_diagonal(self, points: Points) -> NDArray[Any]:
        weights = self.weights(points)
        return np.asarray(weights * self.kernel.evaluate_diagonal(points) * weights)

    def evaluate_gap(self, pairs: NearPairs) -> FeatureGap | None:
        gap = self.kernel.evaluate_gap(pairs)
        return None if gap is None else FeatureGap.feature(*pairs.of_rows(self.weights)) * gap

    def inner_points(self, points: Points) -> Points:
        refuse_sparse(points, subject="weighted")
        return points

    def weights(self, points: Points) -> NDArray[Any]:
        """f of each row, checked: one real, finite number per row.

        Parameters
        ----------
        points : Points
            The rows.

        Returns
        -------
        array of shape (n,)
        """
        refuse_sparse(points, subject="weighted")
        if points.first_object is not None:
            return of_each("weighted", self.function, points, self._known(points))
        values = real("weighted", name_of(self.function), self.function(points.values))
        rows = len(points.values)
        if values.shape not in ((rows,), (rows, 1)):
            got = f"{name_of(self.function)} gave an array of shape {values.shape} for {rows} rows"
            raise InputError(message("one number per row", got, "Return f(X) of shape (n,).", subject="weighted"))
        return values.reshape(rows)

    def _known(self, points: Points) -> dict[int, float]:
        """What was found of the objects of the only column: it is kept with their store."""
        store = points.stores[0]
        return {} if store is None else store.beside(store, self, lambda _: {})

    @property
    def needed(self) -> frozenset[Column] | None:
        return None

    @property
    def radial(self) -> bool:
        return False

    @property
    def divisible(self) -> bool:
        return False

    def finite_lift(self, build: LiftBuilder[Features]) -> Features:
        return build.weighted(self)

    def rule(self) -> str:
        return (
            "f(x) k(x, z) f(z) is a kernel for every real function f, with the lift f(x) phi(x) (rule of the weight; "
            f"{name_of(self.function)} real-valued on the domain: checked at each evaluation)"
        )

    def write(self, python: bool) -> tuple[str, int]:
        return self.write_postfix(python, "weighted", name_of(self.function))

    def latex(self, x: str = "x", z: str = "z") -> str:
        f = rf"\mathrm{{{name_of(self.function)}}}"
        return rf"{f}({x}) \, {parens(self.kernel.latex(x, z))} \, {f}({z})"
