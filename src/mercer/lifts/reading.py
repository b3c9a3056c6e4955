"""The reading `lift` of a kernel: its exact features, where finitely many suffice.

`features_of(kernel, points)` asks a node for its part; a class of kernels is answered by one function here. What is a
polynomial stays one as long as it can, so that sums, products and maps of such kernels are simplified as a whole.
"""

from __future__ import annotations

import math
from functools import reduce, singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer import kernels as k
from mercer.compute.runtime.memory import Budget
from mercer.errors import KernelError
from mercer.kernels.algebra.mapped import Mapped
from mercer.kernels.evaluation.evaluate import SURE
from mercer.kernels.points import Points
from mercer.lifts import algebra
from mercer.lifts.expanded import Expanded
from mercer.lifts.expansion import Expansion
from mercer.lifts.monomials import Monomials
from mercer.lifts.parabolic import Parabolic
from mercer.lifts.parts import Chosen, Joined, Lifted, Moved, Multiplied, Part, Polynomials, Unit, Weighed
from mercer.lifts.polynomial import Polynomial
from mercer.lifts.powers import Powers
from mercer.lifts.subsets import Subsets
from mercer.lifts.trigonometric import Trigonometric

WIDEST = 1 << 22
"""Numbers in the matrix of all monomials of mapped columns, at most, for a map to be multiplied out."""


class NotFiniteError(KernelError):
    """A kernel, or a part of one, without a finite lift that Mercer knows."""

    def __init__(self, part: k.Kernel) -> None:
        super().__init__(f"{part} has no finite lift that Mercer knows.")


@singledispatch
def features_of(kernel: Any, points: Points) -> Part:
    """The exact features of a kernel, for data like `points`: their columns and names count, not their values."""
    raise NotFiniteError(kernel)


# -- leaves ------------------------------------------------------------------------------------------------------


@features_of.register
def _constant(kernel: k.Constant, points: Points) -> Part:
    found = algebra.constant(_width(points), math.sqrt(kernel.variance))
    return Polynomials(found if kernel.variance else algebra.simplified(found))


@features_of.register
def _linear(kernel: k.Linear, points: Points) -> Part:
    return Polynomials(algebra.linear(np.eye(_width(points))))


@features_of.register
def _polynomial(kernel: k.Polynomial, points: Points) -> Part:
    return _of_lift(Polynomial(kernel.degree, kernel.offset), points)


@features_of.register
def _monomials(kernel: k.Monomials, points: Points) -> Part:
    return _of_lift(Monomials((kernel.min_degree, kernel.degree), kernel.include_bias), points)


@features_of.register
def _powers(kernel: k.Powers, points: Points) -> Part:
    return _of_lift(Powers(kernel.degree), points)


@features_of.register
def _parabolic(kernel: k.Parabolic, points: Points) -> Part:
    return _of_lift(Parabolic(), points)


@features_of.register
def _subsets(kernel: k.Subsets, points: Points) -> Part:
    d = _width(points)
    highest = d if kernel.max_order is None else min(kernel.max_order, d)
    if highest == 0 or kernel.min_order > d:
        return _constant(k.Constant(1.0 if kernel.min_order == 0 else 0.0), points)
    found = _of_lift(Subsets(highest), points).expansion
    orders = (found.factors >= 0).sum(axis=1)
    return Polynomials(algebra.simplified(algebra.rows(found, np.flatnonzero(orders >= kernel.min_order))))


@features_of.register
def _trigonometric(kernel: k.Trigonometric, points: Points) -> Part:
    return Lifted(Trigonometric(kernel.order, kernel.period).fit(np.zeros((1, _width(points)))))


def _of_lift(lift: Expanded, points: Points) -> Polynomials:
    return Polynomials(lift.fit(np.zeros((1, _width(points)))).expansion_)


def _width(points: Points) -> int:
    return int(points.values.shape[1])


# -- rules -------------------------------------------------------------------------------------------------------


@features_of.register
def _sum(kernel: k.Sum, points: Points) -> Part:
    return joined([features_of(part, points) for part in kernel.parts])


@features_of.register
def _product(kernel: k.Product, points: Points) -> Part:
    return reduce(multiplied, [features_of(part, points) for part in kernel.parts])


@features_of.register
def _power(kernel: k.Power, points: Points) -> Part:
    if not kernel.whole:
        raise NotFiniteError(kernel)
    return reduce(multiplied, [features_of(kernel.kernel, points)] * int(kernel.exponent))


@features_of.register
def _normalized(kernel: k.Normalized, points: Points) -> Part:
    return Unit(features_of(kernel.kernel, points))


@features_of.register
def _cosine(kernel: k.Cosine, points: Points) -> Part:
    return Unit(features_of(k.Linear(), points))


@features_of.register
def _weighted(kernel: k.Weighted, points: Points) -> Part:
    return Weighed(features_of(kernel.kernel, points), kernel, points.names)


@features_of.register
def _on(kernel: k.On, points: Points) -> Part:
    columns = [points.position(column, subject="on") for column in kernel.columns]
    inside = features_of(kernel.kernel, points.chosen(columns))
    if isinstance(inside, Polynomials):
        return Polynomials(algebra.on_columns(inside.expansion, columns, _width(points)))
    return Chosen(inside, tuple(columns))


@features_of.register(k.Scaled)
@features_of.register(k.After)
def _mapped(kernel: Mapped, points: Points) -> Part:
    moved = kernel.inner_points(points)
    inside = features_of(kernel.kernel, moved)
    matrix = _matrix_of(kernel)
    if isinstance(inside, Polynomials) and matrix is not None:
        opened = _opened(inside.expansion, matrix)
        if opened is not None:
            return Polynomials(opened)
    if matrix is not None:
        return Moved(inside, kernel, points.names, algebra.linear(matrix))
    return Moved(inside, kernel, points.names, tuple(f"{kernel.map_label}[{j + 1}]" for j in range(_width(moved))))


def _matrix_of(kernel: Mapped) -> NDArray[np.float64] | None:
    if isinstance(kernel, k.Scaled):
        return np.diag(1 / np.array(kernel.lengthscales))
    return kernel.matrix if isinstance(kernel, k.After) else None


def _opened(inside: Expansion, matrix: NDArray[np.float64]) -> Expansion | None:
    """The features of mapped columns, multiplied out; None where they would be too many numbers."""
    most = max(np.count_nonzero(matrix, axis=1).max(initial=1), 1)
    if len(inside.factors) * float(most) ** inside.degree > WIDEST:
        return None
    return algebra.simplified(algebra.substituted(inside, matrix))


# -- sums and products of parts ----------------------------------------------------------------------------------


def joined(parts: list[Part]) -> Part:
    """Parts side by side; all polynomials among them become one part, simplified."""
    expansions = [part.expansion for part in parts if isinstance(part, Polynomials)]
    others = [part for part in parts if not isinstance(part, Polynomials)]
    if expansions:
        together = reduce(algebra.added, expansions)
        others = [Polynomials(algebra.simplified(together) if len(expansions) > 1 else together), *others]
    return others[0] if len(others) == 1 else Joined(tuple(others))


def multiplied(first: Part, second: Part) -> Part:
    """All products of two parts; those of polynomials are simplified."""
    if not (isinstance(first, Polynomials) and isinstance(second, Polynomials)):
        return Multiplied(first, second)
    pairs = len(first.expansion.factors) * len(second.expansion.factors)
    needed = 8 * pairs * (first.expansion.degree + second.expansion.degree + 4)
    if needed > SURE:
        remedy = "Use the kernel, or Nystrom."
        Budget.of(None).require(
            needed, f"the products of {len(first)} and {len(second)} features", remedy, subject="lift"
        )
    return Polynomials(algebra.simplified(algebra.multiplied(first.expansion, second.expansion)))
