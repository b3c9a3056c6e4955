"""Polynomials of two points: proven with their features, or refuted, always; by exact elimination."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from mercer.kernels.domain import INTEGERS, NATURALS, NONNEGATIVE, REALS, Domain
from mercer.kernels.formulas.coefficients import Coefficients, Decision, of_monomial
from mercer.kernels.formulas.expression import Expression
from mercer.kernels.formulas.polynomials import Monomial
from mercer.kernels.formulas.surds import TooLargeError
from mercer.kernels.formulas.tree import RUN, columns_in
from mercer.kernels.proof.limit import Limit, TimeUp
from mercer.kernels.proof.record import Witness
from mercer.kernels.proof.search import quick_witness
from mercer.kernels.proof.subject import KernelSubject
from mercer.kernels.proof.unrecognised import Unrecognised

INDEPENDENT = (REALS, NONNEGATIVE, INTEGERS, NATURALS)
"""Domains on which different monomials are independent functions."""
MAX_SHOWN = 6
"""Monomials whose matrix is written down."""
MAX_SOLVED = 40
"""Monomials for which points are found by solving a system."""
WITNESS_SECONDS = 2.0
"""Seconds for points that show why a text is refused."""
SCALES = (1, 2)
"""Multiples of the grid of points that is tried."""


def decided(expression: Expression, d: int) -> tuple[Coefficients, Decision] | None:
    """What the coefficients of a symmetric polynomial in d columns say; None of other formulas, and of long ones."""
    found = expression.polynomial(d)
    if found is None:
        return None
    coefficients = Coefficients(found)
    try:
        decision = coefficients.decided() if coefficients.symmetric else None
    except TooLargeError:
        return None
    return None if decision is None else (coefficients, decision)


def refuted(expression: Expression, d: int | None) -> Witness | None:
    """What shows that a polynomial in a known number of columns is no kernel on the reals; None where it may be one."""
    width = d or expression.width or (None if RUN in columns_in(expression.root) else expression.least_width)
    found = None if width is None else decided(expression, width)
    if found is None or width is None or found[1].direction is None:
        return None
    try:
        return witness_of(expression, found[1], width, REALS, Limit(WITNESS_SECONDS))
    except TimeUp:
        return None


def words_of(coefficients: Coefficients, decision: Decision) -> tuple[str, ...]:
    """The argument, to be read by a student."""
    if not decision.monomials:
        return (_expanded(coefficients),)
    return (_expanded(coefficients), _features(decision) if decision.direction is None else _direction(decision))


def _expanded(coefficients: Coefficients) -> str:
    monomials = coefficients.monomials
    if not monomials:
        return "multiplied out, the formula is 0"
    if len(monomials) > MAX_SHOWN:
        return f"multiplied out, the formula is m(x)' C m(z) with {len(monomials):,} monomials m"
    names = ", ".join(_monomial(each) for each in monomials)
    rows = [[str(row.get(j, 0)) for j in range(len(monomials))] for row in coefficients.rows]
    matrix = ", ".join(f"[{', '.join(row)}]" for row in rows)
    return f"multiplied out, the formula is m(x)' C m(z) with the monomials m = [{names}] and C = [{matrix}]"


def _features(decision: Decision) -> str:
    shown = [str(Expression(each.scaled, 1)) for each in decision.features[:MAX_SHOWN]]
    more = f", ... ({len(decision.features):,} features)" if len(decision.features) > MAX_SHOWN else ""
    return (
        "C is positive semidefinite, by exact elimination, and so the formula is an inner product of features, "
        f"phi(x).phi(z) with phi(x) = [{', '.join(shown)}{more}]"
    )


def _direction(decision: Decision) -> str:
    direction = decision.direction or {}
    shown = {_monomial(decision.monomials[place]): value for place, value in sorted(direction.items())}
    text = ", ".join(f"{value} at {name}" for name, value in itertools.islice(shown.items(), MAX_SHOWN))
    return (
        f"C is not positive semidefinite: v' C v is negative for the vector v with the entries {text}"
        f"{', ...' * (len(shown) > MAX_SHOWN)}, and else 0; monomials are independent functions, so v is sum_i c_i "
        "m(x_i) for some points x_i and weights c_i"
    )


def _monomial(monomial: Monomial) -> str:
    return str(Expression(of_monomial(monomial), 1))


def witness_of(expression: Expression, decision: Decision, d: int, domain: Domain, limit: Limit) -> Witness | None:
    """Points and weights for a direction in which the coefficients are negative, verified; None where none is found."""
    subject = KernelSubject.of(Unrecognised(expression), limit)
    found = quick_witness(subject.matrix, domain.place, d, subject.scale)
    if found.points is not None and found.weights is not None:
        check = subject.check(found.points, found.weights, domain.place)
        if check.negative:
            return Witness(found.points, found.weights, check.value, check.digits)
    if len(decision.monomials) > MAX_SOLVED:
        return None
    for scale in SCALES:
        points, weights = _solved(decision, d, scale)
        check = subject.check(points, weights, domain.place)
        if check.negative:
            return Witness(points, weights, check.value, check.digits)
    return None


def _solved(decision: Decision, d: int, scale: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Points of a grid of natural numbers and weights c with sum_i c_i m(x_i) = v, exact but for their rounding."""
    monomials = decision.monomials
    rows: list[list[Fraction]] = []
    chosen: list[tuple[int, ...]] = []
    reduced: list[tuple[int, list[Fraction]]] = []
    for point in _grid(d):
        values = [_value(monomial, [scale * each for each in point]) for monomial in monomials]
        left = list(values)
        for pivot, row in reduced:
            factor = left[pivot]
            left = [a - factor * b for a, b in zip(left, row, strict=True)]
        first = next((j for j, each in enumerate(left) if each), None)
        if first is None:
            continue
        reduced.append((first, [each / left[first] for each in left]))
        rows.append(values)
        chosen.append(tuple(scale * each for each in point))
        if len(rows) == len(monomials):
            break
    direction = decision.direction or {}
    v = [Fraction(float(direction[j])) if j in direction else Fraction(0) for j in range(len(monomials))]
    weights = _solution([list(column) for column in zip(*rows, strict=True)], v)
    used = [i for i, weight in enumerate(weights) if weight]
    largest = max(abs(weights[i]) for i in used)
    return (
        np.array([chosen[i] for i in used], dtype=np.float64),
        np.array([float(weights[i] / largest) for i in used]),
    )


def _grid(d: int) -> Iterator[tuple[int, ...]]:
    """Points of natural numbers, those with small sums first."""
    for total in itertools.count():
        for bars in itertools.combinations(range(total + d - 1), d - 1):
            edges = (-1, *bars, total + d - 1)
            yield tuple(b - a - 1 for a, b in itertools.pairwise(edges))


def _value(monomial: Monomial, point: list[int]) -> Fraction:
    found = 1
    for (_, column), power in monomial:
        found *= point[column] ** power
    return Fraction(found)


def _solution(matrix: list[list[Fraction]], right: list[Fraction]) -> list[Fraction]:
    """The solution of a regular system, in fractions."""
    size = len(right)
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for j in range(size):
        pivot = next(i for i in range(j, size) if rows[i][j])
        rows[j], rows[pivot] = rows[pivot], rows[j]
        rows[j] = [each / rows[j][j] for each in rows[j]]
        for i in range(size):
            if i != j and rows[i][j]:
                factor = rows[i][j]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[j], strict=True)]
    return [row[-1] for row in rows]
