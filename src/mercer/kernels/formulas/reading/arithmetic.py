"""Sums, products, powers and lengths of what a reader meets: numbers, vectors and matrices."""

from __future__ import annotations

from typing import NoReturn, cast

from mercer.kernels.formulas import build
from mercer.kernels.formulas.reading.cursor import Cursor
from mercer.kernels.formulas.reading.vectors import MAX_ENTRIES, Matrix, Value, Vector, minimum, minus
from mercer.kernels.formulas.tree import Call, Node, Number, number
from mercer.kernels.lexer import Token

MAX_QUOTIENTS = 60
"""Divisions by columns: each stands inside of the next one."""
MAX_EXPONENT = 1_000_000
"""The largest exponent that is a number."""


class Arithmetic:
    """What operators make of their operands; `width` is the number of columns that matrices and lists insist on."""

    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self.width: int | None = None
        self.quotients = 0

    def scalar(self, value: Value, token: Token) -> Node:
        """A number; of a vector its only entry."""
        if isinstance(value, Matrix):
            self.cursor.fail("Here a number is needed; got a matrix", token)
        if isinstance(value, Vector):
            return self.cursor.built(token, lambda: value.only)
        return value

    def opposite(self, value: Value, token: Token) -> Value:
        """Minus a value."""
        if isinstance(value, Matrix):
            self.refuse_matrix(token)
        return minus(value) if isinstance(value, Vector) else build.negative(value)

    def refuse_matrix(self, token: Token) -> NoReturn:
        """Refuse a matrix where none may stand."""
        self.cursor.fail("A matrix stands between two vectors, as in x'Mz", token)

    def added(self, terms: list[Value], token: Token) -> Value:
        """The sum of vectors, or of numbers."""
        if len(terms) == 1:
            return terms[0]
        if all(isinstance(term, Vector) for term in terms):
            found = cast(Vector, terms[0])
            for term in terms[1:]:
                found = self.cursor.built(token, found.plus, cast(Vector, term))
            return found
        return self.cursor.built(token, build.add, tuple(self.scalar(term, token) for term in terms))

    def times(self, left: Value, right: Value, token: Token) -> Value:
        """A product; of two vectors the inner one."""
        if isinstance(left, Matrix) or isinstance(right, Matrix):
            return self._by_matrix(left, right, token)
        if isinstance(left, Vector) and isinstance(right, Vector):
            if (left.width is None) != (right.width is None):
                self._insist(left.width or right.width or 1, token)
            return self.cursor.built(token, left.dot, right)
        if isinstance(left, Vector):
            return self.cursor.built(token, left.times, cast(Node, right))
        if isinstance(right, Vector):
            return self.cursor.built(token, right.times, left)
        return self.cursor.built(token, build.multiply, (left, right))

    def _by_matrix(self, left: Value, right: Value, token: Token) -> Value:
        if isinstance(left, Matrix) and isinstance(right, Vector):
            self._insist(len(left.rows[0]), token, right)
            return self.cursor.built(token, left.times, right)
        if isinstance(left, Vector) and isinstance(right, Matrix):
            self._insist(len(right.rows), token, left)
            return self.cursor.built(token, right.turned.times, left)
        return self.refuse_matrix(token)

    def _insist(self, columns: int, token: Token, vector: Vector | None = None) -> None:
        """Points have so many columns."""
        if vector is not None and vector.width is not None:
            return
        if self.width not in (None, columns):
            self.cursor.fail(f"Here points of {columns} columns are needed, and of {self.width} before", token)
        self.width = columns

    def count_quotient(self, below: Node, token: Token) -> None:
        """Refuse a division that nests too deep: divisions by numbers do not."""
        self.quotients += not isinstance(below, Number)
        if self.quotients > MAX_QUOTIENTS:
            message = f"A formula divides at most {MAX_QUOTIENTS} times by columns, and here is one more"
            self.cursor.fail(message, token)

    def over(self, value: Value, below: Node, token: Token) -> Value:
        """A value divided by a number."""
        if isinstance(value, Matrix):
            self.refuse_matrix(token)
        if isinstance(value, Vector):
            return self.cursor.built(token, value.times, build.divide(number(1), below))
        return self.cursor.built(token, build.divide, value, below)

    def raised(self, base: Value, exponent: Node, token: Token, operator: Token) -> Value:
        """A power; of a vector the square is its squared length."""
        if isinstance(base, Matrix):
            self.refuse_matrix(token)
        if isinstance(base, Vector):
            if exponent == number(2):
                return self.cursor.built(operator, base.squared)
            base = self.scalar(base, token)
        return self.cursor.built(operator, build.power, base, exponent)

    def exponent(self, value: Value, operator: Token) -> Node:
        """An exponent, within limits."""
        found = self.scalar(value, operator)
        if isinstance(found, Number) and abs(found.value) > MAX_EXPONENT:
            self.cursor.fail(f"An exponent is at most {MAX_EXPONENT:,}", operator)
        return found

    def length(self, value: Value, token: Token, order: int = 2) -> Node:
        """The length of a vector, or its 1-norm; the absolute value of a number."""
        if isinstance(value, Vector):
            return self.cursor.built(token, lambda: value.norm if order == 2 else value.sum_of_sizes)
        return self.cursor.built(token, build.absolute, self.scalar(value, token))

    def extreme(self, name: str, arguments: list[Value], token: Token) -> Node:
        """The least or greatest of numbers; min of two vectors is the sum over columns of the smaller entries."""
        if len(arguments) < 2:
            self.cursor.fail(f"{name} takes two arguments, got {len(arguments)}", token)
        vectors = [each for each in arguments if isinstance(each, Vector) and each.body is not None]
        if name == "min" and len(vectors) == len(arguments) == 2:
            return self.cursor.built(token, minimum, *vectors)
        return self.cursor.built(token, Call, name, tuple(self.scalar(each, token) for each in arguments))

    def applied(self, name: str, value: Value, token: Token) -> Node:
        """A function of a number, by its name."""
        if name == "abs":
            return self.length(value, token)
        inside = self.scalar(value, token)
        if name == "sqrt":
            return self.cursor.built(token, build.root, inside)
        return self.cursor.built(token, Call, name, (inside,))

    def listed(self, found: list[Value], token: Token) -> Vector | Matrix:
        """A vector of entries, or a matrix of rows."""
        if not 1 <= len(found) <= MAX_ENTRIES:
            self.cursor.fail(f"A list has 1 to {MAX_ENTRIES} entries, got {len(found)}", token)
        if not all(isinstance(each, Vector) and each.body is None for each in found):
            return Vector(entries=tuple(self.scalar(each, token) for each in found))
        rows = [cast(Vector, each).listed for each in found]
        if len({len(row) for row in rows}) != 1:
            self.cursor.fail("The rows of a matrix are of equal length", token)
        self.cursor.count(token, sum(map(len, rows)))
        return Matrix(tuple(rows))
