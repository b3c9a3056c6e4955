"""Exponentials: numbers, weights, leaves that fall with the distance, and exponentials of kernels."""

from __future__ import annotations

import math
from collections.abc import Callable

from mercer.kernels import Exp, Gaussian, Geodesic, Kernel, Laplace, Periodic, ProductLaplace
from mercer.kernels.formulas import build
from mercer.kernels.formulas.coefficients import of_monomial, of_surd
from mercer.kernels.formulas.expression import Expression
from mercer.kernels.formulas.polynomial_kernels import of_polynomial
from mercer.kernels.formulas.polynomials import Polynomial
from mercer.kernels.formulas.signed import (
    Signed,
    UnknownError,
    as_node,
    at_column,
    collected,
    plain_fraction,
    scaled,
    summed,
    times,
    weighted,
)
from mercer.kernels.formulas.terms import (
    Term,
    distance_in,
    gap_in,
    is_angle,
    mirrored,
    squared_gap,
    terms_of,
    value_of,
)
from mercer.kernels.formulas.tree import (
    RUN,
    Call,
    Node,
    Number,
    Over,
    Power,
    columns_in,
    number,
    points_in,
)


def exponential(terms: list[Term], signed: Callable[[Node], Signed]) -> Kernel:
    """exp of a sum: numbers, weights, leaves that fall with the distance, and exponentials of kernels.

    signed : takes a formula apart into numbers times kernels
    """
    value, parts = 1.0, []
    left: list[Node] = []
    right: list[Node] = []
    inside: Signed = []
    falling: dict[tuple[str, int | str], float] = {}
    for factor, term in (each for scale, node in terms for each in terms_of(node, scale)):
        sides = points_in(term)
        if not sides:
            value *= math.exp(factor * value_of(term))
        elif len(sides) == 1:
            (left if sides == {0} else right).append(as_node((factor, term)))
        elif (known := decay(term)) is not None:
            kind, size, column = known
            falling[kind, column] = falling.get((kind, column), 0.0) - float(factor) * size
        else:
            inside += [(factor * own, kernel) for own, kernel in signed(term)]
    if not mirrored(left, right):
        raise UnknownError(terms)
    exponent = collected(inside)
    if any(size <= 0 for size in falling.values()) or any(factor <= 0 for factor, _ in exponent):
        raise UnknownError(terms)
    parts = [_falling(kind, size, column) for (kind, column), size in falling.items()]
    parts += [Exp(summed(exponent))] if exponent else []
    kernel = times(parts)
    if left:
        kernel = weighted(kernel, Call("exp", (build.add(tuple(left)),)))
    return scaled(plain_fraction(value), kernel)


def of_quadratic_forms(exponent: Node, d: int | None) -> Kernel:
    """exp of a polynomial a(x) + a(z) + x'Mz, M positive semidefinite: weights, and the exponential of a kernel."""
    named = columns_in(exponent)
    width = d or (None if RUN in named else max((c + 1 for c in named if isinstance(c, int)), default=1))
    found = None if width is None else Expression(exponent).polynomial(max(width, 1))
    if found is None:
        raise UnknownError(exponent)
    parts: dict[int, Polynomial] = {0: {}, 1: {}, 2: {}}
    for monomial, factor in found.items():
        sides = {point for (point, _), _ in monomial}
        parts[2 if len(sides) != 1 else sides.pop()][monomial] = factor
    left = {tuple(((1, column), power) for (_, column), power in m): factor for m, factor in parts[0].items()}
    inside = of_polynomial(parts[2], d) if left == parts[1] and parts[2] else None
    if inside is None:
        raise UnknownError(exponent)
    weight = [build.multiply((of_surd(factor), of_monomial(m))) for m, factor in parts[0].items()]
    return weighted(Exp(inside), Call("exp", (build.add(tuple(weight)),))) if weight else Exp(inside)


def decay(node: Node) -> tuple[str, float, int | str] | None:
    """What falls in exp(-...): the kind of kernel, the number in front, and the column."""
    angle, power = (node.base, node.exponent) if isinstance(node, Power) else (node, number(1))
    if is_angle(angle) and isinstance(power, Number) and power.value > 0:
        return f"angle {float(power.value)!r}", 1.0, RUN
    square, distance = squared_gap(node), distance_in(node)
    if square is not None:
        return "square", *square
    if distance is not None:
        return "distance", *distance
    if isinstance(node, Over) and node.join == "sum":
        inside = gap_in(node.of) if isinstance(node.of, Call) and node.of.name == "abs" else None
        if inside is not None:
            return "sum", *inside
    body = node.of if isinstance(node, Over) and node.join == "sum" else node
    if isinstance(body, Power) and body.exponent == number(2):
        sine = body.base
        inside = gap_in(sine.arguments[0]) if isinstance(sine, Call) and sine.name == "sin" else None
        if inside is not None and (inside[1] != RUN or isinstance(node, Over)):
            return f"sine {math.pi / inside[0]!r}", 1.0, inside[1]
    return None


def _falling(kind: str, size: float, column: int | str) -> Kernel:
    """exp(-size |x - z|^2), and its like."""
    if kind == "square":
        return at_column(Gaussian(_root(2 * size)), column)
    if kind == "distance":
        return at_column(Laplace(1 / size), column)
    if kind == "sum":
        return ProductLaplace(1 / size)
    if kind.startswith("angle"):
        power = float(kind.split()[1])
        return Geodesic(power, size ** (-1 / power))
    return at_column(Periodic(float(kind.split()[1]), math.sqrt(2 / size)), column)


def _root(size: float) -> float:
    """1 / sqrt(size)."""
    return math.sqrt(1 / size)
