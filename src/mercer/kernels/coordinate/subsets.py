"""k(x, z) = prod_k (1 + x_k z_k): all 2^d interaction features for the cost of d products; or those of some orders."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field, fields
from functools import reduce
from operator import add, mul
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.compute.codegen.symbols import Untraceable
from mercer.errors import KernelError, message
from mercer.kernels.base import ATOM
from mercer.kernels.coordinate.base import Coordinate
from mercer.kernels.domain import REALS
from mercer.kernels.evaluation.trace import TracedPairs
from mercer.kernels.feature_gap import FeatureGap
from mercer.kernels.fields import check_choice, check_integer, integer
from mercer.kernels.lift_builder import Features, LiftBuilder
from mercer.kernels.near_pairs import NearPairs
from mercer.kernels.pairs import Block, Pairs
from mercer.kernels.points import Points
from mercer.kernels.proof.judgement import Fact


def check_order(owner: str, name: str, value: Any) -> int | None:
    """An integer of at least zero, or None."""
    return None if value is None else check_integer(owner, name, value, 0, None)


class Subsets(Coordinate):
    """The all-subsets kernel: its lift holds the product of the coordinates of every subset, 2^d features.

    `k(x, z) = prod_k (1 + x_k z_k); with orders, the terms of min_order to max_order factors x_k z_k`

    With orders, only subsets of so many coordinates count: the sum over S with `min_order <= |S| <= max_order` of
    prod_{k in S} x_k z_k. With min_order = max_order this is the ANOVA kernel of that degree. Cost: d operations a
    pair; with orders, d times the highest that is bounded, by the recursion over coordinates, without subtraction.

    Parameters
    ----------
    min_order : int, default=0
        The smallest subset, at least 0; above d, no subset is left and k is zero.
    max_order : int or None, default=None
        The largest subset, at least min_order; None for d.
    include_bias : bool, default=True
        Whether the empty subset, the constant 1, counts where min_order is 0: without it
        k(x, z) = prod_k (1 + x_k z_k) - 1, of 2^d - 1 features. Texts write 1 or 0.

    Examples
    --------
    >>> from mercer.kernels import Subsets
    >>> Subsets()([[1.0, 2.0]], [[3.0, 4.0]])
    array([[36.]])
    >>> Subsets(min_order=1, max_order=1)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[11.]])
    >>> Subsets(include_bias=False)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[35.]])

    References
    ----------
    Shawe-Taylor and Cristianini, Kernel Methods for Pattern Analysis (2004), section 9.2.
    """

    joined_by = "product"
    aliases = ("all_subsets",)
    formula = "prod_k (1 + x_k z_k); with orders, the terms of min_order to max_order factors x_k z_k"

    min_order: int = integer(default=0, minimum=0)
    max_order: int | None = field(default=None, metadata={"check": check_order})
    include_bias: bool = field(default=True, metadata={"check": check_choice})

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_order is not None and self.max_order < self.min_order:
            got = f"got {self.max_order} with min_order={self.min_order}"
            raise KernelError(message("max_order of at least min_order", got, "Exchange them.", subject="Subsets"))
        if self.max_order == 0 and not self.include_bias:
            got = "got max_order=0 with include_bias=False, which leaves no subset"
            raise KernelError(message("some subset", got, "Raise max_order.", subject="Subsets"))

    def term(self, x: NDArray[Any], z: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(1.0 + x * z)

    def evaluate(self, pairs: Pairs) -> Block:
        width = pairs.left.values.shape[1]
        if self._takes_all(width):
            return super().evaluate(pairs)
        if self._lowest > width:
            return pairs.full(0.0)
        if isinstance(pairs, TracedPairs):  # a formula joins one number per coordinate, and this needs several
            raise Untraceable("subsets of some orders")
        return np.asarray(self._of_orders((x * z for x, z in pairs.coordinates()), width) + pairs.full(0.0))

    def evaluate_diagonal(self, points: Points) -> NDArray[Any]:
        values = points.values
        if self._takes_all(values.shape[1]):
            return super().evaluate_diagonal(points)
        none = np.zeros(values.shape[0])
        some = self._lowest <= values.shape[1]
        return none + self._of_orders((values * values).T, values.shape[1]) if some else none

    def evaluate_gap(self, pairs: NearPairs) -> FeatureGap | None:
        products, width = pairs.coordinates.columns(), pairs.left.values.shape[1]
        if self._takes_all(width):
            return reduce(mul, (1 + product for product in products))
        return pairs.constant(0.0) + (self._of_orders(products, width) if self._lowest <= width else 0.0)

    @property
    def _lowest(self) -> int:
        """The smallest subset that counts."""
        return self.min_order if self.include_bias else max(1, self.min_order)

    def _takes_all(self, width: int) -> bool:
        return self._lowest == 0 and (self.max_order is None or self.max_order >= width)

    def _of_orders(self, products: Iterable[Any], width: int) -> Any:
        """The sum over the subsets of admitted orders.

        sums[m] is that over the subsets of m coordinates among those seen so far. Where there is no upper bound, the
        last of them holds all subsets from min_order on, and gains from itself too.
        """
        bounded = self.max_order is not None and self.max_order < width
        top = self.max_order if self.max_order is not None and bounded else self._lowest
        sums: list[Any] = [1.0] + [0.0] * top
        for seen, product in enumerate(products, start=1):
            for m in range(min(top, seen), 0, -1):
                grown = sums[m - 1] if bounded or m < top else sums[m - 1] + sums[m]
                sums[m] = sums[m] + product * grown
        return reduce(add, sums[self._lowest :])

    def finite_lift(self, build: LiftBuilder[Features]) -> Features:
        d = build.n_columns
        return build.monomials(self._lowest, d if self.max_order is None else min(self.max_order, d), repeated=False)

    def facts(self) -> tuple[Fact, ...]:
        reason = (
            "each 1 + x_k z_k is a kernel with the lift [1, x_k], and the coordinates are multiplied (product rule)"
        )
        if not (self._lowest == 0 and self.max_order is None):
            reason = (
                "for each subset S, prod_{k in S} x_k z_k is a kernel with the lift prod_{k in S} x_k, and they are "
                "added (sum rule)"
            )
        return (Fact(REALS, reason),)

    def write(self, python: bool) -> tuple[str, int]:
        given = [item.name for item in fields(self) if getattr(self, item.name) != item.default]
        values = [getattr(self, name) for name in given]
        written = [value if python or value is not False else 0 for value in values]
        inside = ", ".join(f"{name}={value!r}" for name, value in zip(given, written, strict=True))
        if python:
            return f"Subsets({inside})", ATOM
        return (f"subsets({inside})" if given else "subsets"), ATOM

    def latex(self, x: str = "x", z: str = "z") -> str:
        if self._lowest == 0 and self.max_order is None:
            return rf"\prod_k \left(1 + {{{x}}}_k {{{z}}}_k\right)"
        least = rf"{self._lowest} \le " if self._lowest else ""
        most = "" if self.max_order is None else rf" \le {self.max_order}"
        return rf"\sum_{{{least}\lvert S \rvert{most}}} \prod_{{k \in S}} {{{x}}}_k {{{z}}}_k"
