"""k(x, z) / sqrt(k(x, x) k(z, z))."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.errors import DomainError, message
from mercer.kernels.algebra.single import Single
from mercer.kernels.base import Kernel
from mercer.kernels.feature_gap import FeatureGap
from mercer.kernels.law import Law
from mercer.kernels.lift_builder import Features, LiftBuilder
from mercer.kernels.near_pairs import NearPairs
from mercer.kernels.pairs import Block, Pairs
from mercer.kernels.points import Points
from mercer.kernels.precision.mpmath_arrays import precisely


class Normalized(Single):
    """A kernel whose lifted points all have length one, written k.normalized(); 0 where k(x, x) is 0.

    `k(x, z) = k(x, z) / sqrt(k(x, x) k(z, z))`

    Parameters
    ----------
    kernel : Kernel
        The kernel inside.

    Examples
    --------
    >>> from mercer.kernels import Polynomial
    >>> Polynomial(degree=2).normalized()([[1.0], [2.0]]).round(4)
    array([[1. , 0.9],
           [0.9, 1. ]])
    """

    formula = "k(x, z) / sqrt(k(x, x) k(z, z))"

    kernel: Kernel

    def evaluate(self, pairs: Pairs) -> Block:
        left, right = self._factors(pairs.left), self._factors(pairs.right)
        block: Block = left[:, None] * self.kernel.evaluate(pairs) * right[None, :]
        return block

    def evaluate_diagonal(self, points: Points) -> NDArray[Any]:
        return np.where(self.kernel.evaluate_diagonal(points) > 0, 1.0, 0.0)

    def evaluate_gap(self, pairs: NearPairs) -> FeatureGap | None:
        gap = self.kernel.evaluate_gap(pairs)
        if gap is None:
            return None
        here, there = (np.where(diagonal > 0, 1.0, 0.0) for diagonal in pairs.diagonal(self.kernel))
        unit, whole = gap.normalized(), here * there > 0  # k is 0 where one of both is
        middle = (here + there) / 2
        return FeatureGap(
            middle, (here - there) / 2, np.where(whole, unit.half, middle), np.where(whole, unit.size, middle)
        )

    def _factors(self, points: Points) -> NDArray[Any]:
        squares = self.kernel.evaluate_diagonal(points)
        negative = np.flatnonzero(squares < 0)
        if len(negative):
            row = int(negative[0])
            got = f"row {row} has k(x, x) = {float(squares[row]):g}"
            raise DomainError(message("k(x, x) >= 0", got, "Use a proven kernel.", subject="normalized"))
        safe = np.where(squares > 0, squares, 1.0)
        if squares.dtype == object:  # NumPy's root asks for numbers of 50 digits only
            safe = precisely(safe)
        return np.asarray(np.where(squares > 0, 1 / np.sqrt(safe), 0.0))

    def law(self, d: int) -> Law | None:
        inner = self.kernel.law(d)
        return None if inner is None else replace(inner, mass=float(inner.mass > 0))

    def finite_lift(self, build: LiftBuilder[Features]) -> Features:
        return build.unit(build.of(self.kernel))

    def rule(self) -> str:
        return "it is f(x) k(x, z) f(z) with f(x) = 1 / sqrt(k(x, x)) (rule of the weight)"

    def write(self, python: bool) -> tuple[str, int]:
        return self.write_postfix(python, "normalized", "")

    def latex(self, x: str = "x", z: str = "z") -> str:
        inside, h = self.kernel.latex(), "h"  # k is the whole
        while f"{h}(" in inside:  # another one that was normalized
            h += "'"
        below = rf"\sqrt{{{h}({x}, {x}) \, {h}({z}, {z})}}"
        return rf"\frac{{{h}({x}, {z})}}{{{below}}}, \quad {h}(x, z) = {inside}"
