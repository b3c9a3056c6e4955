"""A kernel's formula, written down by the kernel's own code: `evaluate` on pairs whose statistics are symbols."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from mercer.compute import formula
from mercer.compute.symbols import Symbol, number
from mercer.kernels.pairs import Pairs, unit_rows
from mercer.kernels.points import Points

if TYPE_CHECKING:
    from mercer.kernels.base import Kernel


class TracedPairs(Pairs):
    """Pairs that answer with symbols; what belongs to one side only (lengths, weights) stays numbers."""

    def __init__(self, left: Points, right: Points) -> None:
        super().__init__(left, right)
        self.group = formula.Group(left.values, left.values if right is left else right.values)

    def after(self, key: Any, change: Callable[[Points], Points]) -> Pairs:
        def changed() -> Pairs:
            left = change(self.left)
            return TracedPairs(left, left if self.right is self.left else change(self.right))

        return self.ask(key, changed)  # type: ignore[no-any-return]

    def block(self, values: Any) -> Any:
        return formula.unwrap(values)

    def full(self, value: float) -> Any:
        return number(value)

    def total(self, term: Callable[[Any, Any], Any], joined_by: Literal["sum", "product"]) -> Any:
        return formula.total(self.group, joined_by, term)

    def _squared_distance(self) -> Any:
        return formula.square(self.group)

    def _distance(self) -> Any:
        return formula.root(self.group)

    def _dot(self) -> Any:
        return formula.dot(self.group)

    def _angle(self) -> Any:
        # The same as for numbers: from the sum and the difference of unit vectors; its cosine is their product.
        left = unit_rows(self.left.values)
        units = formula.Group(left, left if self.right is self.left else unit_rows(self.right.values))
        apart = np.sqrt(formula.total(units, "sum", lambda x, z: (x - z) * (x - z)))
        opposite = np.sqrt(formula.total(units, "sum", lambda x, z: (x + z) * (x + z)))
        turned = 2 * formula.apply("atan2_positive", apart, opposite)
        return Symbol("angle", (turned,), value=formula.dot(units), sign=1)


def trace(kernel: Kernel, pairs: TracedPairs) -> Symbol:
    """The formula of a kernel; raises `Untraceable` where its code cannot be followed."""
    return formula.unwrap(kernel.evaluate(pairs))
