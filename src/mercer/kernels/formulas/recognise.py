"""From a formula of two points to the kernel that it is: `exp(-|x - z|^2/2)` is gaussian(lengthscale=1.0).

Each rule of the algebra is read backwards: a sum is a sum of kernels, what x and z share as a factor is a weight, and a
few formulas are leaves. What is recognised is the formula itself as a function; whether it is a kernel is what
`mercer.prove` says of it.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

from mercer.errors import KernelError
from mercer.kernels import (
    Cosine,
    Kernel,
    Linear,
    Min,
    Polynomial,
    ProductSinc,
    RationalQuadratic,
    Sigmoid,
    Sinc,
    Subsets,
)
from mercer.kernels.formulas import build
from mercer.kernels.formulas.evaluation import FUNCTIONS
from mercer.kernels.formulas.exponentials import exponential, of_quadratic_forms
from mercer.kernels.formulas.expression import Expression
from mercer.kernels.formulas.polynomial_kernels import of_coefficients, of_inner_products
from mercer.kernels.formulas.premises import Assumed
from mercer.kernels.formulas.signed import (
    ONE,
    Signed,
    UnknownError,
    as_node,
    at_column,
    collected,
    of_feature,
    plain_fraction,
    scaled,
    summed,
    times,
    weighted,
)
from mercer.kernels.formulas.terms import (
    Term,
    UndecidedError,
    Value,
    distance_in,
    factors_of,
    gap_in,
    is_number,
    mirrored,
    scalar_gap,
    squared_gap,
    terms_of,
    value_of,
)
from mercer.kernels.formulas.tree import (
    RUN,
    Add,
    Call,
    Column,
    Divide,
    Dot,
    Multiply,
    Node,
    Norm,
    Number,
    Over,
    Power,
    X,
    Z,
    number,
    points_in,
    with_column,
)

MAX_COLUMNS = 64
"""Columns over which a sum or a product is written out."""
MAX_PRODUCTS = 64
"""Terms of a product of sums with negative terms that is multiplied out."""


def kernel_of(expression: Expression, d: int | None = None) -> Kernel | None:
    """The kernel that a formula of two points is, as a tree; None where it is none that is known here.

    Parameters
    ----------
    expression : Expression
        Of two points.
    d : int or None, default=None
        The number of columns; some formulas can only be taken apart where it is known.

    Returns
    -------
    Kernel or None
        Equal to the formula as a function, up to the rounding of its numbers; `mercer.prove` says where it is a kernel.

    Examples
    --------
    >>> from mercer.kernels.formulas import read_kernel
    >>> for text in ["(1 + x.z)^2", "exp(-|x-z|^2/8)", "exp(x + x')", "x1 z1 + x2 z2", "x.z - 1"]:
    ...     print(kernel_of(read_kernel(text)))
    polynomial(degree=2, offset=1.0)
    gaussian(lengthscale=2.0)
    constant(variance=1.0).weighted(exp)
    linear.on([0, 1])
    None
    """
    found = signed_kernels(expression, d)
    if found is not None and all(factor > 0 for factor, _ in found):
        return summed(found)
    return of_inner_products(expression) or of_coefficients(expression, d)


def signed_kernels(expression: Expression, d: int | None = None) -> Signed | None:
    """The formula as a sum of numbers times kernels, like terms collected; None where a part is not known."""
    try:
        return collected(_Recogniser(expression.width or d).signed(expression.root))
    except (UnknownError, UndecidedError, KernelError, OverflowError, ZeroDivisionError):
        return None


class _Recogniser:
    """Walks a formula; an `UnknownError` ends the walk."""

    def __init__(self, d: int | None) -> None:
        self.d = d

    def signed(self, node: Node) -> Signed:
        """A sum with signs."""
        found: Signed = []
        for factor, term in terms_of(node):
            found.extend((factor * inner, kernel) for inner, kernel in self.term(term))
        return found

    def kernel(self, node: Node) -> Kernel:
        """A formula without negative terms."""
        found = collected(self.signed(node))
        if any(factor <= 0 for factor, _ in found):
            raise UnknownError(node)
        return summed(found)

    def term(self, node: Node) -> Signed:
        """One term; a product of sums with negative terms is multiplied out."""
        if is_number(node):
            return [(value_of(node), ONE)]
        if isinstance(node, Multiply | Divide):
            return self.product(list(factors_of(node)))
        if isinstance(node, Power):
            return self.power(node)
        if isinstance(node, Call) and node.name in ("cos", "cosh"):
            return self.wave(node)
        return [(Fraction(1), self.single(node))]

    # -- products ---------------------------------------------------------------------------------------------------

    def product(self, factors: list[Node]) -> Signed:
        factors = _with_sinc(factors)
        whole = self.cosine(factors)
        if whole is not None:
            return [(Fraction(1), whole)]
        value: Value = Fraction(1)
        for each in filter(is_number, factors):
            value = value * value_of(each)
        left, right = ([each for each in factors if points_in(each) == {side}] for side in (0, 1))
        both = [
            self.term(each) if not isinstance(each, Add) else self.signed(each)
            for each in factors
            if len(points_in(each)) == 2
        ]
        if not mirrored(left, right) or math.prod(map(len, both)) > MAX_PRODUCTS:
            raise UnknownError(factors)
        if all(factor > 0 for part in both for factor, _ in part):
            kernel = times(map(summed, map(collected, both)))
            return [(value, self.under(left, kernel))]
        return [
            (
                value * math.prod(factor for factor, _ in chosen),
                self.under(left, times(kernel for _, kernel in chosen)),
            )
            for chosen in product(*both)
        ]

    def under(self, left: list[Node], kernel: Kernel) -> Kernel:
        """The weight f(x) f(z) of a kernel, for the factors of x."""
        if not left:
            return kernel
        f = build.multiply(tuple(left))
        own = of_feature(f)
        if kernel == ONE:
            return own
        is_weight = own == weighted(ONE, f)
        return weighted(kernel, f) if is_weight else times((kernel, own))

    def cosine(self, factors: list[Node]) -> Kernel | None:
        """x.z / (|x| |z|)."""
        below = {build.power(Norm(each), number(-1)) for each in (X, Z)}
        return Cosine() if len(factors) == 3 and set(factors) == {Dot(X, Z), *below} else None

    # -- powers -----------------------------------------------------------------------------------------------------

    def power(self, node: Power) -> Signed:
        if is_number(node.base) and value_of(node.base) > 0:
            return [(Fraction(1), exponential([(math.log(value_of(node.base)), node.exponent)], self.signed))]
        if not isinstance(node.exponent, Number):
            raise UnknownError(node)
        exponent = node.exponent.value
        if exponent < 0:
            return [(Fraction(1), self.inverse(node.base, -exponent))]
        base = collected(self.signed(node.base))
        if any(factor <= 0 for factor, _ in base):
            if exponent.denominator != 1 or exponent > MAX_PRODUCTS or len(base) ** int(exponent) > MAX_PRODUCTS:
                raise UnknownError(node)
            chosen = product(base, repeat=int(exponent))
            return [(math.prod(f for f, _ in each), times(k for _, k in each)) for each in chosen]
        return [(Fraction(1), self.raised(summed(base), {kernel: factor for factor, kernel in base}, exponent))]

    def raised(self, kernel: Kernel, terms: dict[Kernel, Value], exponent: Fraction) -> Kernel:
        """A power of a kernel; of c + x.z it is the polynomial kernel."""
        if exponent.denominator != 1:
            return kernel ** float(exponent)
        if terms.keys() == {ONE, Linear()} and terms[Linear()] == 1:
            return Polynomial(int(exponent), float(terms[ONE]))
        return kernel ** int(exponent)

    def inverse(self, base: Node, exponent: Fraction) -> Kernel:
        """(a + b |x - z|^2)^-p, the rational quadratic."""
        if isinstance(base, Power) and isinstance(base.exponent, Number) and base.exponent.value > 0:
            return self.inverse(base.base, exponent * base.exponent.value)
        if isinstance(base, Call) and base.name == "sqrt":
            return self.inverse(base.arguments[0], exponent / 2)
        constant, slope, column = 0.0, 0.0, None
        for factor, term in terms_of(base):
            square = squared_gap(term)
            if is_number(term):
                constant += float(factor)
            elif square is not None and column in (None, square[1]):
                slope, column = slope + float(factor) * square[0], square[1]
            else:
                raise UnknownError(base)
        if constant <= 0 or slope <= 0 or column is None:
            raise UnknownError(base)
        p = float(exponent)
        kernel = at_column(RationalQuadratic(p, math.sqrt(constant / (2 * p * slope))), column)
        return scaled(plain_fraction(constant**-p), kernel)

    # -- functions ----------------------------------------------------------------------------------------------------

    def single(self, node: Node) -> Kernel:
        """What is no sum, product or power."""
        if isinstance(node, Call) and node.name not in FUNCTIONS and not node.arguments:
            return Assumed(node.name)
        if isinstance(node, Call) and node.name not in FUNCTIONS and set(node.arguments) == {X, Z}:
            return Assumed(f"{node.name}(x, z)")
        if isinstance(node, Dot) and {node.left, node.right} == {X, Z}:
            return Linear()
        if isinstance(node, Over):
            return self.over(node)
        if isinstance(node, Call):
            return self.call(node)
        raise UnknownError(node)

    def call(self, node: Call) -> Kernel:
        if node.name == "min":
            return self.minimum(node)
        (inside,) = node.arguments[:1]
        if node.name == "exp":
            try:
                return exponential(list(terms_of(inside)), self.signed)
            except UnknownError:
                return of_quadratic_forms(inside, self.d)
        if node.name == "sinc":
            found = distance_in(inside) or scalar_gap(inside)
            return at_column(Sinc(1 / found[0]), found[1]) if found is not None else self.unknown(node)
        if node.name == "tanh":
            found_terms = collected(self.signed(inside))
            slopes = {kernel: float(factor) for factor, kernel in found_terms}
            if slopes.keys() <= {ONE, Linear()}:
                return Sigmoid(slopes.get(Linear(), 0.0), slopes.get(ONE, 0.0))
        return self.unknown(node)

    def unknown(self, node: Node) -> Kernel:
        raise UnknownError(node)

    def minimum(self, node: Call) -> Kernel:
        match node.arguments:
            case (Column(point, column), Column(other, same)) if point != other and column == same != RUN:
                return at_column(Min(), column)
        return self.unknown(node)

    def wave(self, node: Call) -> Signed:
        """cos(u(x) - u(z)) = cos u cos u + sin u sin u, and its like."""
        left: list[Term] = []
        right: list[Term] = []
        for factor, term in terms_of(node.arguments[0]):
            side = points_in(term)
            if len(side) != 1:
                return [(Fraction(1), self.unknown(node))]
            (left if side == {0} else right).append((factor, term))
        same = mirrored(map(as_node, left), map(as_node, right))
        opposite = mirrored(map(as_node, left), (as_node((-factor, term)) for factor, term in right))
        if not left or not (same or opposite):
            return [(Fraction(1), self.unknown(node))]
        u = build.add(tuple(map(as_node, left)))
        second = "sin" if node.name == "cos" else "sinh"
        sign = 1 if (node.name == "cos") == opposite else -1
        return [
            (Fraction(1), weighted(ONE, Call(node.name, (u,)))),
            (Fraction(sign), weighted(ONE, Call(second, (u,)))),
        ]

    # -- columns ------------------------------------------------------------------------------------------------------

    def over(self, node: Over) -> Kernel:
        body = node.of
        if node.join == "sum" and body == Call("min", (X, Z)):
            return Min()
        if node.join == "prod":
            terms = {term: factor for factor, term in terms_of(body)}
            if terms == {number(1): 1, build.multiply((X, Z)): 1}:
                return Subsets()
            if isinstance(body, Call) and body.name == "sinc" and (found := gap_in(body.arguments[0])) is not None:
                return ProductSinc(1 / found[0])
        if self.d is None or self.d > MAX_COLUMNS:
            raise UnknownError(node)
        columns = [self.kernel(with_column(body, k)) for k in range(self.d)]
        return summed([(Fraction(1), each) for each in columns]) if node.join == "sum" else times(columns)


def _with_sinc(factors: list[Node]) -> list[Node]:
    """The factors with sin(u) and 1/u, or 1/(2 u), as one function, which is 1 at 0."""
    for wave in factors:
        for below in factors:
            if (
                isinstance(wave, Call)
                and wave.name == "sin"
                and isinstance(below, Power)
                and below.exponent == number(-1)
            ):
                found = build.divide(wave, below.base)
                if not isinstance(found, Divide):
                    rest = [each for each in factors if each is not wave and each is not below]
                    return _with_sinc([*factors_of(found), *rest])
    return factors
