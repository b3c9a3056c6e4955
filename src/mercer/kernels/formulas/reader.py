"""From a text to a formula, by recursive descent, never `eval`.

::

    sum     = ["-"] product { ("+" | "-") product }
    product = power { ["*" | "/" | "." | "@"] power }          nothing between two of them is a product, too
    power   = ["-"] atom [ ("^" | "**") power ]
    atom    = number | point | column | constant | function "(" sum { "," sum } ")" | "(" sum ")"
            | "|" sum "|" | "||" sum "||" | "<" sum "," sum ">" | "[" sum { "," sum } "]" | ("sum" | "prod") product
"""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NoReturn, cast

from mercer.errors import KernelError, ParseError
from mercer.kernels.formulas import build
from mercer.kernels.formulas.points import names_of_one, names_of_two
from mercer.kernels.formulas.tokens import plain, tokens_of
from mercer.kernels.formulas.tree import RUN, Call, Column, Constant, Node, Number, X, Z, columns_in, number
from mercer.kernels.formulas.vectors import MAX_ENTRIES, Matrix, ShapeError, Vector, minimum, minus, runs
from mercer.kernels.lexer import Token

MAX_NESTING = 60
"""How deep parentheses may nest."""
MAX_NODES = 4096
"""Nodes of the tree."""
MAX_DEPTH = 200
"""How deep the tree may be: whatever reads it calls itself a few times for each level."""
MAX_QUOTIENTS = 60
"""Divisions by columns: each stands inside of the next one."""
MAX_GLUED = 30
"""Letters of a word that is taken apart into names."""
MAX_NUMBER = 40
"""Letters of a number."""
MAX_EXPONENT = 1_000_000
"""The largest exponent that is a number."""
MAX_COLUMNS = 1 << 20
"""The largest number of a column."""
FUNCTIONS = ("abs", "cos", "cosh", "exp", "log", "log1p", "sin", "sinh", "sqrt", "tan", "tanh")
"""Functions of a number."""
OTHER_NAMES = {"ln": "log", "sen": "sin"}
OF_VECTORS = ("dist", "distance", "dot", "frac", "inner", "max", "min", "norm", "prod", "sum")
CONSTANTS = ("e", "pi")
SCALES = ("ell", "gamma", "l", "lambda", "s", "sigma", "tau")
"""What is 1 where a formula of two points has no value for it."""
KNOWN = frozenset({*FUNCTIONS, *OTHER_NAMES, *OF_VECTORS, "pi", "e", *(name for name in SCALES if len(name) > 1)})
OVER = re.compile(r"(?:sum|prod)(?:_[a-z])?")
BEHIND_TRANSPOSE = ("(", "[", ".", "@", "*", "<")
Value = Node | Vector | Matrix


@dataclass(frozen=True)
class Read:
    """What was read: the tree, the letters of scale that were taken as 1, and the number of columns it insists on."""

    root: Node
    assumed: tuple[str, ...] = ()
    width: int | None = None


def read_tree(
    text: str,
    points: int,
    names: Mapping[str, Any],
    columns: Sequence[str] = (),
    scales: bool = True,
    assumed: bool = False,
) -> list[Read]:
    """The trees of a text: one, or one for each entry where the text of one point is a list.

    points : 1 or 2
    names : numbers, vectors and matrices by name
    columns : names of columns, which formulas of one point may use
    scales : whether a letter of scale without a value is 1
    assumed : whether functions of the points may only be named, as in f(x) k(x, z) f(z)
    """
    signs = plain(text)
    reader = _Reader(signs, points, names, columns, scales, assumed)
    value = reader.whole()
    entries = list(value.listed) if points == 1 and isinstance(value, Vector) and value.body is None else [value]
    roots = [reader.scalar(entry, reader.tokens[0]) for entry in entries]
    if any(map(is_deeper, roots)):
        reader.fail(f"The formula nests deeper than {MAX_DEPTH} levels", reader.tokens[0])
    for column in frozenset().union(*map(columns_in, roots)):
        if reader.width is not None and isinstance(column, int) and column >= reader.width:
            reader.fail(f"Column {column + 1} is not among the {reader.width} that a matrix or a list insists on")
    return [Read(root, tuple(sorted(reader.assumed)), reader.width) for root in roots]


class _Reader:
    """One pass over the tokens."""

    def __init__(
        self,
        text: str,
        points: int,
        names: Mapping[str, Any],
        columns: Sequence[str],
        scales: bool,
        abstract: bool,
    ) -> None:
        self.text, self.points, self.columns, self.scales = text, points, tuple(columns), scales
        self.abstract = abstract
        self.names = {name: _value(name, given) for name, given in names.items()}
        self.tokens = tokens_of(text)
        known = {*KNOWN, *self.names, *self.columns}
        joins = any(OVER.fullmatch(token.text) for token in self.tokens)
        self.called = names_of_two(self.tokens, known, joins) if points == 2 else names_of_one(self.tokens, known)
        self.at = self.depth = self.bars = self.nodes = self.quotients = 0
        self.index: str | None = None
        """The letter of the running column, empty where none was named; None outside of sums over columns."""
        self.assumed: set[str] = set()
        self.width: int | None = None

    # -- tokens ---------------------------------------------------------------------------------------------------

    @property
    def next(self) -> Token:
        return self.tokens[self.at]

    def sees(self, *symbols: str) -> bool:
        return self.next.kind == "symbol" and self.next.text in symbols

    def take(self, symbol: str) -> bool:
        found = self.sees(symbol)
        self.at += found
        return found

    def expect(self, symbol: str) -> None:
        if not self.take(symbol):
            self.fail(f"Here {symbol!r} is needed; got {self.next.text or 'the end'!r}")

    def fail(self, message: str, token: Token | None = None) -> NoReturn:
        token = token or self.next
        where = "at the end" if token.kind == "end" else f"at position {token.position}"
        raise ParseError(f"{message} ({where}).", self.text, min(token.position, len(self.text)), len(token.text))

    def built(self, token: Token, make: Callable[..., Any], *arguments: Any) -> Any:
        """What `make` gives; it is counted, and a refusal is raised again with its place."""
        self.count(token)
        try:
            return make(*arguments)
        except ShapeError as error:
            self.fail(str(error), token)

    def count(self, token: Token) -> None:
        self.nodes += 1
        if self.nodes > MAX_NODES:
            self.fail(f"A formula has at most {MAX_NODES:,} pieces, and here is one more", token)

    def scalar(self, value: Value, token: Token) -> Node:
        """A number; of a vector its only entry."""
        if isinstance(value, Matrix):
            self.fail("Here a number is needed; got a matrix", token)
        if isinstance(value, Vector):
            return cast(Node, self.built(token, lambda: value.only))
        return value

    # -- the grammar ------------------------------------------------------------------------------------------------

    def whole(self) -> Value:
        if self.next.kind == "end":
            self.fail("A formula is needed; got nothing")
        value = self.sum()
        if self.next.kind != "end":
            self.fail(f"{self.next.text!r} cannot stand here")
        return value

    def nested(self, part: Callable[[], Any]) -> Any:
        self.depth += 1
        if self.depth > MAX_NESTING:
            self.fail(f"The formula nests deeper than {MAX_NESTING} levels")
        found = part()
        self.depth -= 1
        return found

    def sum(self) -> Value:
        return cast(Value, self.nested(self._sum))

    def _sum(self) -> Value:
        first = self.next
        terms: list[Value] = []
        minus_sign = self.take("-")
        while True:
            token = self.next
            value = self.product()
            terms.append(self.opposite(value, token) if minus_sign else value)
            if not self.sees("+", "-"):
                return self.added(terms, first)
            minus_sign = self.next.text == "-"
            self.at += 1

    def opposite(self, value: Value, token: Token) -> Value:
        if isinstance(value, Matrix):
            self.fail("A matrix stands between two vectors, as in x'Mz", token)
        return minus(value) if isinstance(value, Vector) else build.negative(value)

    def added(self, terms: list[Value], token: Token) -> Value:
        if len(terms) == 1:
            return terms[0]
        if all(isinstance(term, Vector) for term in terms):
            found = cast(Vector, terms[0])
            for term in terms[1:]:
                found = self.built(token, found.plus, term)
            return found
        return cast(Node, self.built(token, build.add, tuple(self.scalar(term, token) for term in terms)))

    def product(self) -> Value:
        value = self.power()
        while True:
            token = self.next
            if self.sees("*", ".", "@"):
                self.at += 1
                right = self.power(behind=token.text)
                value = self.times(value, right, token)
            elif self.take("/"):
                value = self.over(value, token)
            elif self.begins_factor():
                value = self.times(value, self.power(), token)
            else:
                return value

    def begins_factor(self) -> bool:
        """Whether a factor follows with nothing between."""
        token = self.next
        if token.kind in ("name", "string"):
            return True
        if token.kind == "number":
            before = self.tokens[self.at - 1]
            if before.kind == "number":
                self.fail(f"Between {before.text!r} and {token.text!r} an operator is needed")
            return True
        return self.sees("(", "[", "<") or (self.sees("|") and self.bars == 0)

    def over(self, value: Value, token: Token) -> Value:
        below_at = self.next
        below = self.scalar(self.power(), below_at)
        self.quotients += not isinstance(below, Number)
        if self.quotients > MAX_QUOTIENTS:
            self.fail(f"A formula divides at most {MAX_QUOTIENTS} times by columns, and here is one more", token)
        after = self.next
        close = after.position == self.tokens[self.at - 1].position + len(self.tokens[self.at - 1].text)
        if below_at.kind == "number" and close and self.begins_factor():
            there = f"{below_at.text}{after.text}"
            self.fail(f"'/{there}' may be read in two ways. Write /({there}...), or a * behind the number", below_at)
        if isinstance(value, Matrix):
            self.fail("A matrix stands between two vectors, as in x'Mz", token)
        if isinstance(value, Vector):
            return cast(Vector, self.built(token, value.times, build.divide(number(1), below)))
        return cast(Node, self.built(token, build.divide, value, below))

    def times(self, left: Value, right: Value, token: Token) -> Value:
        if isinstance(left, Matrix) or isinstance(right, Matrix):
            return self.by_matrix(left, right, token)
        if isinstance(left, Vector) and isinstance(right, Vector):
            if (left.width is None) != (right.width is None):
                self.insist(left.width or right.width or 1, token)
            return cast(Node, self.built(token, left.dot, right))
        if isinstance(left, Vector):
            return cast(Vector, self.built(token, left.times, right))
        if isinstance(right, Vector):
            return cast(Vector, self.built(token, right.times, left))
        return cast(Node, self.built(token, build.multiply, (left, right)))

    def by_matrix(self, left: Value, right: Value, token: Token) -> Value:
        if isinstance(left, Matrix) and isinstance(right, Vector):
            self.insist(len(left.rows[0]), token, right)
            return cast(Vector, self.built(token, left.times, right))
        if isinstance(left, Vector) and isinstance(right, Matrix):
            self.insist(len(right.rows), token, left)
            return cast(Vector, self.built(token, right.turned.times, left))
        return self.fail("A matrix stands between two vectors, as in x'Mz", token)

    def insist(self, columns: int, token: Token, vector: Vector | None = None) -> None:
        """Points have so many columns."""
        if vector is not None and vector.width is not None:
            return
        if self.width not in (None, columns):
            self.fail(f"Here points of {columns} columns are needed, and of {self.width} before", token)
        self.width = columns

    def power(self, behind: str = "") -> Value:
        return cast(Value, self.nested(lambda: self._power(behind)))

    def _power(self, behind: str) -> Value:
        token = self.next
        if self.take("-"):
            return self.opposite(self.power(), token)
        base = self.atom()
        while True:
            if self.sees("'") and isinstance(base, Matrix | Vector):
                self.at += 1
                base = base.turned if isinstance(base, Matrix) else base
            elif self.sees("^", "**") and self.tokens[self.at + 1].text == "T" and "T" not in self.names:
                self.at += 2
                base = base.turned if isinstance(base, Matrix) else base
            else:
                break
        if not self.sees("^", "**"):
            return base
        operator = self.next
        self.at += 1
        exponent = self.scalar(self.power(), operator)
        if isinstance(exponent, Number) and abs(exponent.value) > MAX_EXPONENT:
            self.fail(f"An exponent is at most {MAX_EXPONENT:,}", operator)
        if isinstance(base, Vector) and behind == ".":
            self.fail("A power of the inner product needs parentheses, as in (x.z)^2", operator)
        if isinstance(base, Matrix):
            self.fail("A matrix stands between two vectors, as in x'Mz", token)
        if isinstance(base, Vector):
            if exponent == number(2):
                return cast(Node, self.built(operator, base.squared))
            base = self.scalar(base, token)
        return cast(Node, self.built(operator, build.power, base, exponent))

    def atom(self) -> Value:
        token = self.next
        self.count(token)
        if token.kind == "number":
            self.at += 1
            return self.number(token)
        if token.kind == "string":
            self.at += 1
            return self.column(token.text[1:-1], token)
        if token.kind == "name":
            return self.word()
        if self.take("("):
            return self.inside(")")
        if self.take("["):
            return self.listed(token)
        if self.take("<"):
            left = self.sum()
            self.expect(",")
            right = self.sum()
            self.expect(">")
            return self.times(left, right, token)
        if self.sees("|"):
            return self.between_bars()
        return self.fail(f"A number, a point or a function is needed; got {token.text or 'the end'!r}")

    def inside(self, closing: str) -> Value:
        bars, self.bars = self.bars, 0
        value = self.sum()
        self.expect(closing)
        self.bars = bars
        return value

    def between_bars(self) -> Node:
        token = self.next
        self.at += 1
        double = self.sees("|") and self.next.position == token.position + 1
        self.at += double
        bars, self.bars = self.bars, self.bars + 1
        value = self.sum()
        self.expect("|")
        if double:
            self.expect("|")
        self.bars = bars
        return self.length(value, token)

    def length(self, value: Value, token: Token) -> Node:
        if isinstance(value, Vector):
            return cast(Node, self.built(token, lambda: value.norm))
        return cast(Node, self.built(token, build.absolute, self.scalar(value, token)))

    def listed(self, token: Token) -> Value:
        """A vector that is written out, or a matrix as a list of lists."""
        found: list[Value] = []
        while not self.take("]"):
            if found and not self.take(","):
                self.fail(f"Here ',' or ']' is needed; got {self.next.text or 'the end'!r}")
            if self.sees("]"):
                continue
            found.append(self.sum())
        if not 1 <= len(found) <= MAX_ENTRIES:
            self.fail(f"A list has 1 to {MAX_ENTRIES} entries, got {len(found)}", token)
        if all(isinstance(each, Vector) and each.body is None for each in found):
            return self.matrix(token, [cast(Vector, each).listed for each in found])
        return Vector(entries=tuple(self.scalar(each, token) for each in found))

    def matrix(self, token: Token, rows: list[tuple[Node, ...]]) -> Matrix:
        if len({len(row) for row in rows}) != 1:
            self.fail("The rows of a matrix are of equal length", token)
        self.nodes += sum(map(len, rows))
        return Matrix(tuple(rows))

    def number(self, token: Token) -> Number:
        if len(token.text) > MAX_NUMBER:
            self.fail(f"A number has at most {MAX_NUMBER} letters, got {len(token.text)}", token)
        size = float(token.text)
        if math.isinf(size) or (size == 0.0) != (not re.sub(r"[eE].*|[.0]", "", token.text)):
            self.fail(f"Here a number of ordinary size is needed; got {token.text!r}", token)
        return Number(Fraction(token.text))

    # -- words ------------------------------------------------------------------------------------------------------

    def word(self) -> Value:
        """A name, or several that stand without a space between: the first one; the others follow as tokens."""
        if self.abstract and self.names_function(self.next):
            return self.assumed_function(self.next)
        self.tokens[self.at : self.at + 1] = self.names_in(self.next)
        token = self.next
        self.at += 1
        return self.named(token)

    def names_function(self, token: Token) -> bool:
        """Whether a name that means nothing else stands in front of a parenthesis, as f in f(x)."""
        match = re.fullmatch(r"([A-Za-z]+)_?[0-9]*", token.text)
        if match is None or token.text in self.names or token.text in KNOWN or match.group(1) in self.called.letters:
            return False
        return self.tokens[self.at + 1].text == "("

    def assumed_function(self, token: Token) -> Node:
        """f(x), or k(x, z)."""
        self.at += 1
        found = self.arguments()
        points = [each.body for each in found if isinstance(each, Vector) and each.scale == number(1)]
        if self.index is not None or not 1 <= len(found) == len(points) <= 2 or not set(points) <= {X, Z}:
            called = f"{self.called.first}) or {token.text}({self.called.first}, {self.called.second or 'z'}"
            self.fail(f"A function that is only named takes the points: {token.text}({called})", token)
        return Call(token.text, tuple(each for each in points if each is not None))

    def names_in(self, token: Token) -> list[Token]:
        """The names of which a word is made, each the longest one such that the rest can be read, too."""
        text = token.text
        if text in self.names or text in self.columns or text in KNOWN or OVER.fullmatch(text):
            return [token]
        if len(text) > MAX_GLUED:
            self.fail(f"There is no {text[:20]!r}... in formulas", token)
        ends = self.readable_ends(text)
        if ends[0] is None:
            self.unknown(text, token)
        found, start = [], 0
        while start < len(text):
            end = ends[start] or len(text)
            piece = text[start:end]
            found.append(Token("number" if piece.isdigit() else "name", piece, token.position + start))
            start = end
        return found

    def readable_ends(self, text: str) -> list[int | None]:
        """For each place, where a name ends that begins there, such that names follow up to the end of the word."""
        ends: list[int | None] = [None] * len(text)
        for start in range(len(text) - 1, -1, -1):
            lengths = (end for end in range(len(text), start, -1) if self.is_name(text[start:end], start, end, text))
            ends[start] = next((end for end in lengths if end == len(text) or ends[end] is not None), None)
        return ends

    def is_name(self, piece: str, start: int, end: int, text: str) -> bool:
        if piece in self.names or piece in self.columns or piece in CONSTANTS:
            return True
        if piece.isdigit():  # sqrt2
            return text[:start].endswith("sqrt")
        if piece in KNOWN:
            return end == len(text) or piece == "sqrt" or piece in SCALES
        match = re.fullmatch(r"([A-Za-z])(?:_?([0-9]+)|_([a-z]))?", piece)
        if match is None:
            return False
        if match.group(1) in self.called.letters:
            return True
        return piece in SCALES and self.points == 2

    def unknown(self, text: str, token: Token) -> NoReturn:
        if self.points == 1 and self.columns:
            known = ", ".join(self.columns[:8])
            self.fail(f"There is no column {text!r}. The columns are {known}, or x1, x2, ... by their places", token)
        left = re.sub(rf"[{''.join(self.called.letters)}](_?[0-9]+)?", "", text)
        if len(left) == 1 and left.isalpha():
            self.fail(
                f"There is no value of {left!r}. Give a number or a matrix, names={{{left!r}: ...}}, or write the "
                "matrix itself, as in x'[[2, 1], [1, 2]]z",
                token,
            )
        known = ", ".join((*FUNCTIONS, "min", "max", "norm", "dot", "sum", "prod"))
        points = f"{self.called.first} and {self.called.second}" if self.points == 2 else self.called.first
        names = "" if self.points == 2 else ". Columns go by names where a table has some, else they are x1, x2, ..."
        self.fail(f"There is no {text!r} in formulas: they have {points}, numbers, and {known}{names}", token)

    def named(self, token: Token) -> Value:
        text = token.text
        if text in self.names:
            return self.names[text]
        if text in self.columns:
            return self.column(text, token)
        if text in FUNCTIONS or text in OTHER_NAMES:
            return self.function(OTHER_NAMES.get(text, text), token)
        if OVER.fullmatch(text):
            return self.over_columns(token)
        if text in OF_VECTORS:
            return self.of_vectors(token)
        match = re.fullmatch(r"([A-Za-z])(?:_?([0-9]+)|_([a-z]))?", text)
        if match is not None and match.group(1) in self.called.letters:
            return self.point(match.group(1), match.group(2), match.group(3), token)
        if text in CONSTANTS:
            return Constant(text)
        return self.assumption(token)

    def assumption(self, token: Token) -> Node:
        """A letter of scale that has no value is 1, where that is allowed."""
        if self.points == 1 or token.text not in SCALES:
            self.fail(
                f"There is no value of {token.text!r}. Write a number, or give names={{{token.text!r}: 2.0}}", token
            )
        if not self.scales:
            self.fail(
                f"There is no value of {token.text!r}. Write a number, or the kernel by its name, such as gaussian, "
                "whose lengthscale is found from the data",
                token,
            )
        self.assumed.add(token.text)
        return number(1)

    def function(self, name: str, token: Token) -> Node:
        power: Node | None = None
        if self.sees("^", "**"):  # sin^2(x)
            self.at += 1
            exponent = self.next
            if exponent.kind != "number":
                self.fail(f"Behind {name}^ a number is needed", exponent)
            self.at += 1
            power = self.number(exponent)
        if self.take("("):
            bars, self.bars = self.bars, 0
            value = self.sum()
            self.expect(")")
            self.bars = bars
        elif name == "sqrt" and self.next.kind in ("number", "name"):
            value = self.atom()
        else:
            self.fail(f"Behind {name} a parenthesis is needed, as in {name}(x)")
        found = self.applied(name, value, token)
        return found if power is None else cast(Node, self.built(token, build.power, found, power))

    def applied(self, name: str, value: Value, token: Token) -> Node:
        if name == "abs":
            return self.length(value, token)
        inside = self.scalar(value, token)
        if name == "sqrt":
            return cast(Node, self.built(token, build.root, inside))
        return cast(Node, self.built(token, Call, name, (inside,)))

    def of_vectors(self, token: Token) -> Value:
        name, arguments = token.text, self.arguments()
        if name == "frac" and len(arguments) == 1 and self.sees("("):
            arguments += self.arguments()
        if name in ("min", "max"):
            return self.extreme(name, arguments, token)
        if name == "norm":
            self.needs(1, arguments, token)
            return self.length(arguments[0], token)
        self.needs(2, arguments, token)
        left, right = arguments
        if name == "frac":
            return cast(Node, self.built(token, build.divide, self.scalar(left, token), self.scalar(right, token)))
        if name in ("dot", "inner"):
            return self.times(left, right, token)
        return self.length(self.added([left, self.opposite(right, token)], token), token)

    def needs(self, count: int, arguments: list[Value], token: Token) -> None:
        if len(arguments) != count:
            self.fail(f"{token.text} takes {count} argument{'s' * (count != 1)}, got {len(arguments)}", token)

    def extreme(self, name: str, arguments: list[Value], token: Token) -> Node:
        if len(arguments) < 2:
            self.fail(f"{name} takes two arguments, got {len(arguments)}", token)
        vectors = [each for each in arguments if isinstance(each, Vector) and each.body is not None]
        if name == "min" and len(vectors) == len(arguments) == 2:
            return cast(Node, self.built(token, minimum, *vectors))
        return cast(Node, self.built(token, Call, name, tuple(self.scalar(each, token) for each in arguments)))

    def arguments(self) -> list[Value]:
        bars, self.bars = self.bars, 0
        self.expect("(")
        found = [self.sum()]
        while self.take(","):
            found.append(self.sum())
        self.expect(")")
        self.bars = bars
        return found

    def over_columns(self, token: Token) -> Node:
        """A sum or a product over columns."""
        join, _, index = token.text.partition("_")
        if self.index is not None:
            self.fail("A sum or product over columns cannot stand inside of another", token)
        self.index = index
        here = self.next
        value = self.inside(")") if self.take("(") else self.product()
        self.index = None
        body = self.scalar(value, here)
        if not runs(body):
            self.fail(f"{join} goes over the columns, as in {join}(1 + x_k z_k); here it has none", token)
        return cast(Node, self.built(token, build.total, join, body))

    # -- points and columns -------------------------------------------------------------------------------------------

    def column(self, name: str, token: Token) -> Node:
        if self.points == 2 or name not in self.columns:
            self.unknown(name, token)
        return Column(0, name)

    def point(self, letter: str, digits: str | None, index: str | None, token: Token) -> Value:
        called = self.called
        if called.indexed:
            which = f"{letter}_{digits or index}" if digits or index else letter
            if which not in (called.first, called.second):
                self.fail(
                    f"The points are {called.first} and {called.second} here, and {token.text!r} is neither", token
                )
            return self.coordinate(0 if which == called.first else 1, None, None, token)
        primes = 0
        while self.sees("'"):
            self.at += 1
            primes += 1
        if primes and (digits, index) == (None, None):
            digits, index = self.index_behind_prime()
        return self.coordinate(self.which(letter, primes, token), digits, index, token)

    def index_behind_prime(self) -> tuple[str | None, str | None]:
        """Of x'_1 the index."""
        match = re.match(r"_(?:([0-9]+)|([a-z])(?![A-Za-z]))", self.next.text) if self.next.kind == "name" else None
        if match is None:
            return None, None
        token, rest = self.next, self.next.text[match.end() :]
        if rest:
            self.tokens[self.at] = Token("name", rest, token.position + match.end())
        else:
            self.at += 1
        return match.group(1), match.group(2)

    def which(self, letter: str, primes: int, token: Token) -> int:
        """0 for the first point, 1 for the second; a prime that tells no points apart transposes what it follows."""
        called = self.called
        if called.primed:
            if primes > 1:
                self.fail(f"The points are {called.first} and {called.second}, and this would be another", token)
            return primes
        if primes and not self.transposes():
            known = f"{called.first} and {called.second}" if self.points == 2 else called.first
            self.fail(f"The points are called {known} here, and {letter}' would be one more", token)
        return int(letter != called.first)

    def transposes(self) -> bool:
        return self.next.kind in ("name", "string") or self.sees(*BEHIND_TRANSPOSE)

    def coordinate(self, point: int, digits: str | None, index: str | None, token: Token) -> Value:
        if self.sees("["):
            after = self.tokens[self.at + 1 : self.at + 3]
            if after and after[0].kind == "number" and after[-1].text == "]":
                self.fail("Columns are written x1, x2, ..., counted from 1")
        if digits is not None:
            if not 1 <= int(digits[:9]) <= MAX_COLUMNS:
                self.fail(f"Columns count from {self.called.first}1; got {token.text!r}", token)
            return Column(point, int(digits[:9]) - 1)
        if index is not None and self.index is None:
            self.fail(f"The index of {token.text!r} belongs into sum(...) or prod(...), as in sum(x_k z_k)", token)
        if index is not None and self.index not in ("", index):
            self.fail(f"The sum goes over {self.index}, and {token.text!r} has another index", token)
        return Vector(Column(point, RUN)) if self.index is None else Column(point, RUN)


def _value(name: str, given: Any) -> Value:
    """A number, a vector or a matrix that was given by name, exactly."""
    if isinstance(given, numbers.Real) and not isinstance(given, bool):
        return _number(name, given)
    rows = given.tolist() if hasattr(given, "tolist") else given
    if isinstance(rows, numbers.Real):
        return _number(name, rows)
    if isinstance(rows, list | tuple) and 1 <= len(rows) <= MAX_ENTRIES:
        if all(isinstance(row, numbers.Real) for row in rows):
            return Vector(entries=tuple(_number(name, each) for each in rows))
        if all(isinstance(row, list | tuple) and 1 <= len(row) == len(rows[0]) <= MAX_ENTRIES for row in rows):
            return Matrix(tuple(tuple(_number(name, each) for each in row) for row in rows))
    raise KernelError(
        f"A formula needs a number, a vector or a matrix of at most {MAX_ENTRIES} rows for {name!r}; got {given!r:.60}."
    )


def _number(name: str, given: Any) -> Number:
    if isinstance(given, numbers.Rational):
        return Number(Fraction(given))
    if isinstance(given, numbers.Real) and math.isfinite(given):
        return Number(Fraction(float(given)))
    raise KernelError(f"A formula needs finite numbers for {name!r}; got {given!r:.60}.")


def is_deeper(root: Node, most: int = MAX_DEPTH) -> bool:
    """Whether a tree has more than so many levels; it is walked level by level."""
    level: Sequence[Node] = [root]
    for _ in range(most):
        level = [child for node in level for child in node.children]
        if not level:
            return False
    return True
