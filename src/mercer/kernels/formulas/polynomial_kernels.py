"""Polynomials as kernels: of the inner product for every number of columns, others by their exact coefficients."""

from __future__ import annotations

from mercer.kernels import Kernel, Linear
from mercer.kernels.formulas.coefficients import Coefficients
from mercer.kernels.formulas.expression import Expression
from mercer.kernels.formulas.polynomials import Polynomial
from mercer.kernels.formulas.signed import ONE, Signed, of_feature, plain_fraction, summed
from mercer.kernels.formulas.surds import Surd, TooLargeError
from mercer.kernels.formulas.tree import RUN, Column, Dot, Node, Norm, Over, X, Z, columns_in


def powers_of_dot(expression: Expression) -> dict[int, Surd] | None:
    """The coefficients of (x.z)^n, where a formula is a polynomial of x.z alone; None for others.

    On rows of one column x.z is the product xz, so the coefficients can be read there.
    """
    if not _is_of_dot(expression.root):
        return None
    found = expression.polynomial(expression.width or 1)
    if found is None or expression.width not in (None, 1):
        return None
    return {monomial[0][1] if monomial else 0: factor for monomial, factor in found.items()}


def _is_of_dot(node: Node) -> bool:
    if isinstance(node, Dot):
        return {node.left, node.right} == {X, Z}
    return not isinstance(node, Column | Over | Norm) and all(map(_is_of_dot, node.children))


def of_inner_products(expression: Expression) -> Kernel | None:
    """The kernel of a polynomial of x.z without negative coefficients, for every number of columns."""
    powers = powers_of_dot(expression)
    if powers is None or any(factor.sign < 0 for factor in powers.values()):
        return None
    terms: Signed = [
        (plain_fraction(float(factor)), Linear() ** n if n else ONE) for n, factor in sorted(powers.items())
    ]
    return summed(terms)


def of_coefficients(expression: Expression, d: int | None) -> Kernel | None:
    """The kernel of a polynomial with a positive semidefinite matrix of coefficients; None for others."""
    named = columns_in(expression.root)
    width = expression.width or d or (None if RUN in named else expression.least_width)
    found = None if width is None else expression.polynomial(width)
    try:
        return None if found is None else of_polynomial(found, expression.width or d)
    except TooLargeError:
        return None


def of_polynomial(found: Polynomial, width: int | None) -> Kernel | None:
    """The sum of the features of an exact factorisation; None where there is none.

    width : the number of columns, where it is known
    """
    coefficients = Coefficients(found)
    decision = coefficients.decided() if coefficients.symmetric else None
    if decision is None or decision.direction is not None:
        return None
    linear = bool(decision.features) and all(len(m) == 1 and m[0][1] == 1 for m in decision.monomials)
    if linear and width is not None and all(each.weight.fraction == 1 for each in decision.features):
        rows = [[0.0] * width for _ in decision.features]
        for row, feature in zip(rows, decision.features, strict=True):
            for (((_, column), _),), factor in feature.row:
                row[column] = float(factor)
        return Linear().after(rows)
    return summed([(plain_fraction(float(each.weight)), of_feature(each.polynomial)) for each in decision.features])
