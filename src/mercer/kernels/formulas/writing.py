"""Formulas as texts that read back to equal ones, and as LaTeX."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from mercer.kernels.formulas.evaluation import FUNCTIONS
from mercer.kernels.formulas.tree import (
    GAP,
    ONLY,
    RUN,
    Add,
    Call,
    Column,
    Constant,
    Divide,
    Dot,
    Multiply,
    Negative,
    Node,
    Norm,
    Number,
    Over,
    Power,
    X,
    Z,
)
from mercer.kernels.latex import escaped

GREEK = {name: rf"\{name}" for name in ("alpha", "beta", "eta", "kappa", "lambda", "mu", "phi", "psi", "theta")}
SIZES: dict[Node, Node] = {Call("abs", (each,)): each for each in (X, Z, GAP)}
"""What a 1-norm adds up, and the vector that it is of."""
SUM, PRODUCT, POWER, ATOM = 0, 1, 2, 3
"""How tightly a text binds."""
Written = tuple[str, int]


class Writer:
    """Writes a formula.

    latex : whether as LaTeX
    points : how the points are called
    columns : the names of columns by position; of others x1, x2, ...
    """

    def __init__(self, latex: bool = False, points: tuple[str, str] = ("x", "z"), columns: Sequence[str] = ()) -> None:
        self.latex, self.points, self.columns = latex, points, tuple(columns)

    def text(self, node: Node) -> str:
        """The text of a node."""
        return self.written(node, False)[0]

    def written(self, node: Node, over: bool) -> Written:
        """The text and how tightly it binds; `over` is whether it stands in a sum or product over columns."""
        return _BY_TYPE[type(node)](self, node, over)

    def inside(self, node: Node, over: bool, place: int) -> str:
        """The text, in parentheses where its place binds more tightly."""
        text, binding = self.written(node, over)
        return text if binding >= place else self.parens(text)

    def parens(self, text: str) -> str:
        return rf"\left( {text} \right)" if self.latex else f"({text})"

    def number(self, node: Number, over: bool) -> Written:
        text, binding = number_text(abs(node.value), self.latex)
        return (f"-{text}", SUM) if node.value < 0 else (text, binding)

    def constant(self, node: Constant, over: bool) -> Written:
        return (rf"\{node.name}" if self.latex and node.name == "pi" else node.name), ATOM

    def column(self, node: Column, over: bool) -> Written:
        point, column = self.points[node.point], node.column
        if isinstance(column, str):
            return self.named(column), ATOM
        if column == ONLY or (column == RUN and not over):
            return point, ATOM
        if column == RUN:
            return (f"{{{point}}}_k" if self.latex else f"{point}_k"), ATOM
        if node.point == 0 and column < len(self.columns):
            return self.named(self.columns[column]), ATOM
        return (f"{{{point}}}_{{{column + 1}}}" if self.latex else f"{point}{column + 1}"), ATOM

    def named(self, column: str) -> str:
        if self.latex:
            return rf"\mathrm{{{escaped(column)}}}"
        return column if column.isidentifier() else f'"{column}"'

    def sum(self, node: Add, over: bool) -> Written:
        text = ""
        for term in node.terms:
            piece = self.inside(term, over, SUM + (isinstance(term, Add)))
            text += (f" - {piece[1:]}" if piece.startswith("-") else f" + {piece}") if text else piece
        return text, SUM

    def product(self, node: Multiply, over: bool) -> Written:
        first, *others = node.factors
        text, binding = self.written(first, over)
        minus = isinstance(first, Number) and first.value < 0
        pieces = [text if binding >= PRODUCT or minus else self.parens(text)]
        for factor in others:
            loose = isinstance(factor, Divide | Multiply | Number)
            piece = self.inside(factor, over, ATOM if loose else PRODUCT)
            pieces.append(self.parens(piece) if piece[0].isdigit() else piece)  # 2 3^x would be two numbers
        return (r" \, " if self.latex else " ").join(pieces), SUM if minus else PRODUCT

    def negative(self, node: Negative, over: bool) -> Written:
        return f"-{self.inside(node.of, over, PRODUCT)}", SUM

    def quotient(self, node: Divide, over: bool) -> Written:
        if self.latex:
            return rf"\frac{{{self.written(node.above, over)[0]}}}{{{self.written(node.below, over)[0]}}}", PRODUCT
        return f"{self.inside(node.above, over, PRODUCT)}/{self.inside(node.below, over, ATOM)}", PRODUCT

    def power(self, node: Power, over: bool) -> Written:
        base = self.inside(node.base, over, ATOM)
        if self.latex:
            return f"{{{base}}}^{{{self.written(node.exponent, over)[0]}}}", POWER
        return f"{base}^{self.inside(node.exponent, over, ATOM)}", POWER

    def call(self, node: Call, over: bool) -> Written:
        pieces = [self.written(each, over)[0] for each in node.arguments]
        if node.name == "sinc":
            below = self.inside(node.arguments[0], over, ATOM)
            if self.latex:
                return rf"\frac{{\sin({pieces[0]})}}{{{pieces[0]}}}", PRODUCT
            return f"sin({pieces[0]})/{below}", PRODUCT
        if not pieces:
            return (assumed_name(node.name) if self.latex else node.name), ATOM
        if not self.latex:
            return f"{node.name}({', '.join(pieces)})", ATOM
        if node.name == "sqrt":
            return rf"\sqrt{{{pieces[0]}}}", ATOM
        if node.name == "abs":
            return rf"\left| {pieces[0]} \right|", ATOM
        if node.name not in FUNCTIONS:
            return f"{assumed_name(node.name)}({', '.join(pieces)})", ATOM
        name = rf"\operatorname{{{node.name}}}" if node.name == "log1p" else rf"\{node.name}"
        return rf"{name}\left( {', '.join(pieces)} \right)", ATOM

    def inner(self, node: Dot, over: bool) -> Written:
        left, right = (self.written(each, False)[0] for each in (node.left, node.right))
        if self.latex:
            return rf"\langle {left}, {right} \rangle", ATOM
        return (f"{left}.{right}", PRODUCT) if node == Dot(X, Z) else (f"<{left}, {right}>", ATOM)

    def norm(self, node: Norm, over: bool) -> Written:
        inside = self.written(node.of, False)[0]
        if self.latex:
            return rf"\lVert {inside} \rVert", ATOM
        return (f"|{inside}|" if node.of in (X, Z, GAP) else f"norm({inside})"), ATOM

    def over(self, node: Over, over: bool) -> Written:
        if isinstance(node.of, Call) and node.of.name == "min" and node.of.arguments == (X, Z) and not self.latex:
            return f"min({self.points[0]}, {self.points[1]})", ATOM
        if node.join == "sum" and node.of in SIZES:
            size = self.written(SIZES[node.of], False)[0]
            return (rf"\lVert {size} \rVert_1" if self.latex else f"|{size}|_1"), ATOM
        inside = self.written(node.of, True)[0]
        if self.latex:
            return rf"\{node.join}_k {self.parens(inside)}", PRODUCT
        return f"{node.join}({inside})", ATOM


_BY_TYPE: dict[type, Callable[[Writer, Any, bool], Written]] = {
    Number: Writer.number,
    Constant: Writer.constant,
    Column: Writer.column,
    Add: Writer.sum,
    Multiply: Writer.product,
    Negative: Writer.negative,
    Divide: Writer.quotient,
    Power: Writer.power,
    Call: Writer.call,
    Dot: Writer.inner,
    Norm: Writer.norm,
    Over: Writer.over,
}


def assumed_name(name: str) -> str:
    r"""A function that a formula only names, in LaTeX: k_1.

    >>> assumed_name("k1"), assumed_name("phi")
    ('k_{1}', '\\phi')
    """
    letters, digits = re.fullmatch(r"(.*?)_?([0-9]*)", name, re.DOTALL).groups()  # type: ignore[union-attr]
    shown = escaped(letters) if len(letters) == 1 else GREEK.get(letters, rf"\mathrm{{{escaped(letters)}}}")
    return f"{shown}_{{{digits}}}" if digits else shown


def number_text(value: Fraction, latex: bool = False) -> Written:
    """A fraction of at least zero: as a decimal number where that is exact and short, else as a quotient."""
    if value.denominator == 1:
        return str(value.numerator), ATOM
    decimal = _decimal(value)
    if decimal is not None:
        return decimal, ATOM
    if latex:
        return rf"\frac{{{value.numerator}}}{{{value.denominator}}}", ATOM
    return f"{value.numerator}/{value.denominator}", PRODUCT


def _decimal(value: Fraction) -> str | None:
    twos = fives = 0
    rest = value.denominator
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    places = max(twos, fives)
    if rest != 1 or places > 17:
        return None
    digits = str(value.numerator * 10**places // value.denominator).rjust(places + 1, "0")
    return f"{digits[:-places]}.{digits[-places:]}" if len(digits) <= 20 else None
