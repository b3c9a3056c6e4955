"""From tokens to a tree, by recursive descent, never `eval`.

::

    sum     = ["-"] product { ("+" | "-") product }
    product = power { ["*" | "/" | "." | "@"] power }          nothing between two of them is a product, too
    power   = ["-"] atom [ ("^" | "**") power ]
    atom    = number | point | column | constant | function "(" sum { "," sum } ")" | "(" sum ")"
            | ("|" sum "|" | "||" sum "||") ["_1" | "_2"] | "<" sum "," sum ">" | "[" sum { "," sum } "]"
            | ("sum" | "prod") product
"""

from __future__ import annotations

import math
import re
from fractions import Fraction

from mercer.kernels.formulas import build
from mercer.kernels.formulas.reading.arithmetic import Arithmetic
from mercer.kernels.formulas.reading.coordinates import Coordinates
from mercer.kernels.formulas.reading.cursor import Cursor
from mercer.kernels.formulas.reading.vectors import Matrix, Value, Vector, runs
from mercer.kernels.formulas.reading.vocabulary import (
    CONSTANTS,
    FUNCTIONS,
    LETTER,
    OF_VECTORS,
    OTHER_NAMES,
    OVER,
    Vocabulary,
)
from mercer.kernels.formulas.tree import Call, Constant, Node, Number, X, Z, number
from mercer.kernels.lexer import Token

MAX_NUMBER = 40
"""Letters of a number."""


class Grammar:
    """The rules over one row of tokens."""

    def __init__(self, cursor: Cursor, arithmetic: Arithmetic, words: Vocabulary, coordinates: Coordinates) -> None:
        self.cursor, self.arithmetic, self.words, self.coordinates = cursor, arithmetic, words, coordinates
        self.bars = 0

    def whole(self) -> Value:
        """What all of the tokens are."""
        if self.cursor.next.kind == "end":
            self.cursor.fail("A formula is needed; got nothing")
        value = self.sum()
        if self.cursor.next.kind != "end":
            self.cursor.fail(f"{self.cursor.next.text!r} cannot stand here")
        return value

    # -- operators ----------------------------------------------------------------------------------------------------

    def sum(self) -> Value:
        return self.cursor.nested(self._sum)

    def _sum(self) -> Value:
        cursor = self.cursor
        first = cursor.next
        terms: list[Value] = []
        minus_sign = cursor.take("-")
        while True:
            token = cursor.next
            value = self.product()
            terms.append(self.arithmetic.opposite(value, token) if minus_sign else value)
            if not cursor.sees("+", "-"):
                return self.arithmetic.added(terms, first)
            minus_sign = cursor.step().text == "-"

    def product(self) -> Value:
        value = self.power()
        while True:
            token = self.cursor.next
            if self.cursor.sees("*", ".", "@"):
                self.cursor.step()
                value = self.arithmetic.times(value, self.power(behind=token.text), token)
            elif self.cursor.take("/"):
                value = self.quotient(value, token)
            elif self.begins_factor():
                value = self.arithmetic.times(value, self.power(), token)
            else:
                return value

    def begins_factor(self) -> bool:
        """Whether a factor follows with nothing between."""
        token = self.cursor.next
        if token.kind in ("name", "string"):
            return True
        if token.kind == "number":
            before = self.cursor.tokens[self.cursor.at - 1]
            if before.kind == "number":
                self.cursor.fail(f"Between {before.text!r} and {token.text!r} an operator is needed")
            return True
        return self.cursor.sees("(", "[", "<") or (self.cursor.sees("|") and self.bars == 0)

    def quotient(self, value: Value, token: Token) -> Value:
        cursor, below_at = self.cursor, self.cursor.next
        below = self.arithmetic.scalar(self.power(), below_at)
        self.arithmetic.count_quotient(below, token)
        before, after = cursor.tokens[cursor.at - 1], cursor.next
        touches = after.position == before.position + len(before.text)
        if below_at.kind == "number" and touches and self.begins_factor():
            there = f"{below_at.text}{after.text}"
            cursor.fail(f"'/{there}' may be read in two ways. Write /({there}...), or a * behind the number", below_at)
        return self.arithmetic.over(value, below, token)

    def power(self, behind: str = "") -> Value:
        return self.cursor.nested(lambda: self._power(behind))

    def _power(self, behind: str) -> Value:
        cursor, token = self.cursor, self.cursor.next
        if cursor.take("-"):
            return self.arithmetic.opposite(self.power(), token)
        base = self.transposed(self.atom())
        if not cursor.sees("^", "**"):
            return base
        operator = cursor.step()
        exponent = self.arithmetic.exponent(self.power(), operator)
        if isinstance(base, Vector) and behind == ".":
            cursor.fail("A power of the inner product needs parentheses, as in (x.z)^2", operator)
        return self.arithmetic.raised(base, exponent, token, operator)

    def transposed(self, base: Value) -> Value:
        """A value with the signs of a transpose that follow it; of all but a matrix that is the value itself."""
        cursor = self.cursor
        while True:
            if cursor.sees("'") and isinstance(base, Matrix | Vector):
                cursor.step()
            elif cursor.sees("^", "**") and self.words.transposes(cursor.behind):
                cursor.step()
                cursor.cut(1)
            else:
                return base
            base = base.turned if isinstance(base, Matrix) else base

    # -- atoms --------------------------------------------------------------------------------------------------------

    def atom(self) -> Value:
        cursor, token = self.cursor, self.cursor.next
        cursor.count(token)
        if token.kind == "number":
            return self.number(cursor.step())
        if token.kind == "string":
            cursor.step()
            return self.coordinates.column(token.text[1:-1], token)
        if token.kind == "name":
            return self.word()
        if cursor.take("("):
            return self.inside(")")
        if cursor.take("["):
            return self.listed(token)
        if cursor.take("<"):
            left = self.sum()
            cursor.expect(",")
            right = self.sum()
            cursor.expect(">")
            return self.arithmetic.times(left, right, token)
        if cursor.sees("|"):
            return self.between_bars()
        return cursor.fail(f"A number, a point or a function is needed; got {token.text or 'the end'!r}")

    def number(self, token: Token) -> Number:
        if len(token.text) > MAX_NUMBER:
            self.cursor.fail(f"A number has at most {MAX_NUMBER} letters, got {len(token.text)}", token)
        size = float(token.text)
        if math.isinf(size) or (size == 0.0) != (not re.sub(r"[eE].*|[.0]", "", token.text)):
            self.cursor.fail(f"Here a number of ordinary size is needed; got {token.text!r}", token)
        return Number(Fraction(token.text))

    def inside(self, closing: str) -> Value:
        """A sum, and what closes it."""
        bars, self.bars = self.bars, 0
        value = self.sum()
        self.cursor.expect(closing)
        self.bars = bars
        return value

    def between_bars(self) -> Node:
        token = self.cursor.step()
        double = self.cursor.next.position == token.position + 1 and self.cursor.take("|")
        bars, self.bars = self.bars, self.bars + 1
        value = self.sum()
        self.cursor.expect("|")
        if double:
            self.cursor.expect("|")
        self.bars = bars
        return self.arithmetic.length(value, token, self.order())

    def order(self) -> int:
        """Which norm it is, by the index that follows: |x - z|_1."""
        token = self.cursor.next
        if token.kind != "name" or not token.text.startswith("_"):
            return 2
        match = re.match(r"_([12])(?![0-9])", token.text)
        if match is None:
            self.cursor.fail(f"Norms have the index 1 or 2, as in |x - z|_1; got {token.text!r}")
        self.cursor.cut(match.end())
        return int(match.group(1))

    def listed(self, token: Token) -> Value:
        """A vector that is written out, or a matrix as a list of lists."""
        cursor = self.cursor
        found: list[Value] = []
        while not cursor.take("]"):
            if found and not cursor.take(","):
                cursor.fail(f"Here ',' or ']' is needed; got {cursor.next.text or 'the end'!r}")
            if not cursor.sees("]"):
                found.append(self.sum())
        return self.arithmetic.listed(found, token)

    def arguments(self) -> list[Value]:
        """What stands in parentheses, between commas."""
        bars, self.bars = self.bars, 0
        self.cursor.expect("(")
        found = [self.sum()]
        while self.cursor.take(","):
            found.append(self.sum())
        self.cursor.expect(")")
        self.bars = bars
        return found

    # -- words --------------------------------------------------------------------------------------------------------

    def word(self) -> Value:
        """A name, or several that stand without a space between: the first one; the others follow as tokens."""
        cursor, words = self.cursor, self.words
        if words.names_function():
            return self.only_named(cursor.step())
        cursor.replace(*words.names_in(cursor.next))
        return self.named(cursor.step())

    def only_named(self, token: Token) -> Node:
        """f(x), or k(x, z)."""
        found, called = self.arguments(), self.words.called
        points = [each.body for each in found if isinstance(each, Vector) and each.scale == number(1)]
        in_sum = self.coordinates.index is not None
        if in_sum or not 1 <= len(found) == len(points) <= 2 or not set(points) <= {X, Z}:
            either = f"{called.first}) or {token.text}({called.first}, {called.second or 'z'}"
            self.cursor.fail(f"A function that is only named takes the points: {token.text}({either})", token)
        return Call(token.text, tuple(each for each in points if each is not None))

    def named(self, token: Token) -> Value:
        text, words = token.text, self.words
        if text in words.names:
            return words.names[text]
        if text in words.columns:
            return self.coordinates.column(text, token)
        if text in FUNCTIONS or text in OTHER_NAMES:
            return self.function(OTHER_NAMES.get(text, text), token)
        if OVER.fullmatch(text):
            return self.over_columns(token)
        if text in OF_VECTORS:
            return self.of_vectors(token)
        match = LETTER.fullmatch(text)
        if match is not None and match.group(1) in words.called.letters:
            return self.coordinates.point(match.group(1), match.group(2), match.group(3), token)
        if text in CONSTANTS:
            return Constant(text)
        if words.names_number(text):
            return Call(text.replace("_", ""), ())
        words.assume(token)
        return number(1)

    def function(self, name: str, token: Token) -> Node:
        cursor = self.cursor
        power: Node | None = None
        if cursor.sees("^", "**"):  # sin^2(x)
            cursor.step()
            if cursor.next.kind != "number":
                cursor.fail(f"Behind {name}^ a number is needed")
            power = self.number(cursor.step())
        if cursor.take("("):
            value = self.inside(")")
        elif name == "sqrt" and cursor.next.kind in ("number", "name"):
            value = self.atom()
        else:
            cursor.fail(f"Behind {name} a parenthesis is needed, as in {name}(x)")
        found = self.arithmetic.applied(name, value, token)
        return found if power is None else cursor.built(token, build.power, found, power)

    def of_vectors(self, token: Token) -> Value:
        name, arguments, arithmetic = token.text, self.arguments(), self.arithmetic
        if name == "frac" and len(arguments) == 1 and self.cursor.sees("("):
            arguments += self.arguments()
        if name in ("min", "max"):
            return arithmetic.extreme(name, arguments, token)
        needed = 1 if name == "norm" else 2
        if len(arguments) != needed:
            self.cursor.fail(f"{name} takes {needed} argument{'s' * (needed != 1)}, got {len(arguments)}", token)
        if name == "norm":
            return arithmetic.length(arguments[0], token, self.order())
        left, right = arguments
        if name == "frac":
            above, below = arithmetic.scalar(left, token), arithmetic.scalar(right, token)
            return self.cursor.built(token, build.divide, above, below)
        if name in ("dot", "inner"):
            return arithmetic.times(left, right, token)
        if name == "geodesic":  # of points of a sphere the distance along it, of others their angle
            above = arithmetic.scalar(arithmetic.times(left, right, token), token)
            lengths = tuple(arithmetic.scalar(arithmetic.length(each, token), token) for each in (left, right))
            cosine = self.cursor.built(token, build.divide, above, build.multiply(lengths))
            return Call("arccos", (cosine,))
        return arithmetic.length(arithmetic.added([left, arithmetic.opposite(right, token)], token), token)

    def over_columns(self, token: Token) -> Node:
        """A sum or a product over columns."""
        join, _, index = token.text.partition("_")
        if self.coordinates.index is not None:
            self.cursor.fail("A sum or product over columns cannot stand inside of another", token)
        self.coordinates.index = index
        here = self.cursor.next
        value = self.inside(")") if self.cursor.take("(") else self.product()
        self.coordinates.index = None
        body = self.arithmetic.scalar(value, here)
        if not runs(body):
            self.cursor.fail(f"{join} goes over the columns, as in {join}(1 + x_k z_k); here it has none", token)
        return self.cursor.built(token, build.total, join, body)
