"""A kernel's formula, written down by the kernel's own code: `evaluate` on pairs whose statistics are symbols."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from mercer.compute.codegen import formula
from mercer.compute.codegen.structure import leaves
from mercer.compute.codegen.symbols import Symbol, Untraceable, apply, number
from mercer.kernels.pairs import Pairs, unit_rows
from mercer.kernels.points import Points, refuse_sparse

if TYPE_CHECKING:
    from mercer.kernels.base import Kernel

MAX_SYMBOLS = 1000
"""Symbols of a formula: to compile so many takes some ten seconds, and the time grows faster than their number."""


class TracedPairs(Pairs):
    """Pairs that answer with symbols; what belongs to one side only (lengths, weights) stays numbers."""

    def __init__(self, left: Points, right: Points) -> None:
        super().__init__(left, right)
        self.group = formula.Group(left.values, left.values if right is left else right.values)

    def after(self, key: Any, change: Callable[[Points], Points]) -> Self:
        def changed() -> TracedPairs:
            left = change(self.left)
            return TracedPairs(left, left if self.right is self.left else change(self.right))

        return self.ask(key, changed)  # type: ignore[no-any-return]

    def compared(self, key: Any, values: Callable[[Points, Points], Any]) -> Any:
        raise Untraceable("a value of each pair that no statistic gives")

    def block(self, values: Any) -> Any:
        return formula.unwrap(values)

    def full(self, value: float) -> Any:
        return number(value)

    def total(self, term: Callable[[Any, Any], Any], joined_by: Literal["sum", "product"]) -> Any:
        refuse_sparse(self.left, subject="A kernel of single coordinates")
        return formula.total(self.group, joined_by, term)

    def coordinates(self) -> Any:
        raise Untraceable("all coordinates of all pairs, one by one")

    def _squared_distance(self) -> Any:
        return formula.square(self.group)

    def _distance(self) -> Any:
        return formula.root(self.group)

    def _dot(self) -> Any:
        # From sparse distances, inner products of a long and a short row would lose digits: they get a product.
        left, right = self.group.left, self.group.right
        return formula.dot(formula.Group(left, right) if self.group.sparse else self.group)

    def _angle(self) -> Any:
        # The same as for numbers: from the sum and the difference of unit vectors; its cosine is their product.
        left = unit_rows(self.left.values)
        right = left if self.right is self.left else unit_rows(self.right.values)
        units = formula.Group(left, right)
        if units.sparse:
            apart, opposite = formula.root(formula.Group(left, right)), formula.root(formula.Group(left, -right))
        else:
            apart = formula.unwrap(np.sqrt(formula.total(units, "sum", lambda x, z: (x - z) * (x - z))))
            opposite = formula.unwrap(np.sqrt(formula.total(units, "sum", lambda x, z: (x + z) * (x + z))))
        turned = 2 * apply("atan2_positive", apart, opposite)
        return Symbol("angle", (turned,), value=formula.dot(units), sign=1)


def trace(kernel: Kernel, pairs: TracedPairs) -> Symbol:
    """The formula of a kernel; raises `Untraceable` where it cannot be followed, or is too long to compile."""
    written = formula.unwrap(kernel.evaluate(pairs))
    if leaves(written).structure.size > MAX_SYMBOLS:
        raise Untraceable(f"a formula of more than {MAX_SYMBOLS} symbols")
    return written
