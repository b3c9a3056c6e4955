"""From a kernel back to its formula, where that is a polynomial of the columns."""

from __future__ import annotations

from mercer.kernels import Constant, Kernel, Linear, On, Parabolic, Polynomial, Power, Product, Subsets, Sum
from mercer.kernels.formulas import build
from mercer.kernels.formulas.signed import plain_fraction
from mercer.kernels.formulas.tree import Add, Column, Dot, Multiply, Node, Norm, Number, Over, X, Z, number


def node_of(kernel: Kernel) -> Node | None:
    """The formula of a kernel of constants, inner products, their sums, products and powers; None of others.

    >>> from mercer.kernels.formulas import Expression
    >>> print(Expression(node_of(2 * Linear() + Polynomial(3))))
    2 x.z + (1 + x.z)^3
    """
    if isinstance(kernel, Constant):
        return Number(plain_fraction(kernel.variance))
    if isinstance(kernel, Linear):
        return Dot(X, Z)
    if isinstance(kernel, Parabolic):
        return Add((Dot(X, Z), Multiply(tuple(build.power(Norm(each), number(2)) for each in (X, Z)))))
    if isinstance(kernel, Polynomial):
        inside = build.add((Number(plain_fraction(kernel.offset)), Dot(X, Z)))
        return build.power(inside, number(kernel.degree))
    if isinstance(kernel, Subsets) and kernel == Subsets():
        return Over("prod", Add((number(1), Multiply((X, Z)))))
    if isinstance(kernel, On) and kernel.kernel == Linear() and all(_is_place(each) for each in kernel.columns):
        return build.add(tuple(Multiply((Column(0, each), Column(1, each))) for each in kernel.columns))
    if isinstance(kernel, Power) and isinstance(kernel.exponent, int):
        inside_power = node_of(kernel.kernel)
        return None if inside_power is None else build.power(inside_power, number(kernel.exponent))
    if isinstance(kernel, Sum | Product):
        parts = tuple(node for node in map(node_of, kernel.parts) if node is not None)
        if len(parts) == len(kernel.parts):
            return build.add(parts) if isinstance(kernel, Sum) else build.multiply(parts)
    return None


def _is_place(column: int | str) -> bool:
    return isinstance(column, int) and column >= 0
