"""Sums of numbers times kernels, the numbers of either sign; and how they are put together as kernels."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from mercer.errors import KernelError
from mercer.kernels import Constant, Kernel, Linear, Parabolic, Product, Sum
from mercer.kernels.formulas import build
from mercer.kernels.formulas.evaluation import is_assumed
from mercer.kernels.formulas.expression import Expression, function_of_rows
from mercer.kernels.formulas.terms import Term, Value, is_number, value_of
from mercer.kernels.formulas.tree import ONLY, RUN, Column, Multiply, Node, Number, Power, number

ONE = Constant()
Signed = list[tuple[Value, Kernel]]
"""A sum of numbers times kernels; the numbers may be negative."""


class UnknownError(ArithmeticError):
    """A part of a formula that is none of the known kernels."""


def collected(terms: Signed) -> Signed:
    """Like terms added up; those that vanish are left out."""
    found: dict[Kernel, Value] = {}
    for factor, kernel in terms:
        own, rest = parted(kernel)
        found[rest] = found.get(rest, Fraction(0)) + factor * own
    return [(factor, kernel) for kernel, factor in found.items() if factor]


def parted(kernel: Kernel) -> tuple[Value, Kernel]:
    """A kernel as a number times a kernel; decimal numbers are taken as they are written, so that 0.1 is 1/10."""
    if isinstance(kernel, Constant) and kernel.variance:
        return plain_fraction(kernel.variance), ONE
    if isinstance(kernel, Product) and isinstance(kernel.parts[0], Constant):
        factor, rest = parted(times(kernel.parts[1:]))
        return plain_fraction(kernel.parts[0].variance) * factor, rest
    return Fraction(1), kernel


def summed(terms: Signed) -> Kernel:
    """The sum of positive numbers times kernels."""
    parts = [scaled(factor, kernel) for factor, kernel in _joined(terms)]
    return Constant(0.0) if not parts else parts[0] if len(parts) == 1 else Sum(tuple(parts))


def plain_fraction(value: float) -> Fraction:
    """A float as the decimal number that it prints as: 0.1 is 1/10."""
    return Fraction(repr(float(value)))


def scaled(factor: Value, kernel: Kernel) -> Kernel:
    """A positive number times a kernel."""
    if kernel == ONE:
        return Constant(float(factor))
    return kernel if factor == 1 else Constant(float(factor)) * kernel


def _joined(terms: Signed) -> Signed:
    """Linear kernels of single columns, with the same number in front, as one of several columns; and so on."""
    found: Signed = []
    together: dict[Value, list[int]] = {}
    for factor, kernel in terms:
        columns = _linear_columns(kernel)
        if columns is None or set(columns) & set(together.get(factor, ())):
            found.append((factor, kernel))
        elif factor in together:
            together[factor].extend(columns)
        else:
            together[factor] = list(columns)
            found.append((factor, kernel))
    joined = [
        (factor, Linear().on(sorted(together[factor])) if _linear_columns(kernel) else kernel)
        for factor, kernel in found
    ]
    return _with_parabola(joined)


def _with_parabola(terms: Signed) -> Signed:
    squares = Constant().weighted("|x|^2")
    for i, (factor, kernel) in enumerate(terms):
        if kernel == Linear() and (factor, squares) in terms:
            rest = [term for j, term in enumerate(terms) if j != i and term != (factor, squares)]
            return [*rest[:i], (factor, Parabolic()), *rest[i:]]
    return terms


def _linear_columns(kernel: Kernel) -> tuple[int, ...] | None:
    columns = getattr(kernel, "columns", ())
    is_linear = bool(columns) and kernel == Linear().on(columns)
    return columns if is_linear else None


def times(parts: Iterable[Kernel]) -> Kernel:
    """The product; numbers that are 1 are left out."""
    listed = [part for part in parts if part != ONE]
    return ONE if not listed else listed[0] if len(listed) == 1 else Product(tuple(listed))


def of_feature(node: Node) -> Kernel:
    """f(x) f(z) for a formula f of the first point."""
    if is_number(node):
        return ONE if value_of(node) == 1 else Constant(float(value_of(node)) ** 2)
    if isinstance(node, Column) and node.column == ONLY:
        return Linear()
    if isinstance(node, Column) and isinstance(node.column, int) and node.column >= 0:
        return Linear().on(node.column)
    if isinstance(node, Power) and isinstance(node.base, Column) and whole_number(node.exponent) > 1:
        return of_feature(node.base) ** whole_number(node.exponent)
    if isinstance(node, Multiply) and all(isinstance(each, Column | Power) for each in node.factors):
        return times(map(of_feature, node.factors))
    return weighted(ONE, node)


def weighted(kernel: Kernel, node: Node) -> Kernel:
    """f(x) k(x, z) f(z) for a formula f that reads back."""
    text = str(Expression(node, 1))
    try:
        found = Expression(node, 1) if is_assumed(node) else function_of_rows(text)
    except KernelError as error:  # a ParseError: nothing that was read from two points, so an unknown part
        raise UnknownError(text) from error
    return kernel.weighted(found)


def whole_number(node: Node) -> int:
    """An integer exponent; 0 where it is none."""
    return int(node.value) if isinstance(node, Number) and node.value.denominator == 1 else 0


def as_node(term: Term) -> Node:
    """A number times a formula, as a formula."""
    factor = term[0] if isinstance(term[0], Fraction) else plain_fraction(term[0])
    return build.multiply((number(factor), term[1]))


def at_column(kernel: Kernel, column: int | str) -> Kernel:
    """A kernel of one column, or of all."""
    return kernel if column in (RUN, ONLY) or isinstance(column, str) else kernel.on(column)
