"""What a reader meets on its way beside numbers: vectors, and matrices of numbers."""

from __future__ import annotations

from dataclasses import dataclass

from mercer.errors import KernelError
from mercer.kernels.formulas.build import absolute, add, multiply, negative, power, total
from mercer.kernels.formulas.tree import ONLY, RUN, Call, Column, Dot, Node, Norm, Over, number, with_column

MAX_ENTRIES = 64
"""Entries of a vector that is written out, and rows and columns of a matrix."""
UNIT = number(1)


class ShapeError(KernelError):
    """Vectors and matrices that do not fit."""


@dataclass(frozen=True)
class Vector:
    """A number times a vector: either one entry for each column (`body`, with RUN), or entries that are written out."""

    body: Node | None = None
    entries: tuple[Node, ...] = ()
    scale: Node = UNIT

    def at(self, k: int) -> Node:
        """One entry, without the scale."""
        return with_column(self.body, k) if self.body is not None else self.entries[k]

    @property
    def only(self) -> Node:
        """Its only entry."""
        if self.body is not None:
            return multiply((self.scale, with_column(self.body, ONLY)))
        if len(self.entries) != 1:
            raise ShapeError(f"Here a number is needed; got a vector of {len(self.entries)} entries")
        return multiply((self.scale, self.entries[0]))

    def times(self, factor: Node) -> Vector:
        """The vector times a number."""
        return Vector(self.body, self.entries, multiply((self.scale, factor)))

    @property
    def listed(self) -> tuple[Node, ...]:
        """All entries with the scale; empty where there is one for each column."""
        return tuple(multiply((self.scale, entry)) for entry in self.entries)

    @property
    def running(self) -> Node:
        """The entry of the running column, with the scale."""
        return multiply((self.scale, self.at(RUN)))

    def plus(self, other: Vector) -> Vector:
        """The sum of both, entry by entry."""
        if self.body is not None and other.body is not None:
            return Vector(add((self.running, other.running)))
        size = _size(self, other)
        pairs = ((multiply((self.scale, self.at(k))), multiply((other.scale, other.at(k)))) for k in range(size))
        return Vector(entries=tuple(add(pair) for pair in pairs))

    @property
    def norm(self) -> Node:
        """The Euclidean length."""
        if self.body is not None:
            return multiply((absolute(self.scale), Norm(self.body)))
        squares = add(tuple(power(entry, number(2)) for entry in self.entries))
        return multiply((absolute(self.scale), Call("sqrt", (squares,))))

    @property
    def sum_of_sizes(self) -> Node:
        """The 1-norm."""
        if self.body is not None:
            return multiply((absolute(self.scale), total("sum", absolute(self.body))))
        return multiply((absolute(self.scale), add(tuple(map(absolute, self.entries)))))

    def squared(self) -> Node:
        """The squared length."""
        scale = power(self.scale, number(2))
        if self.body is not None:
            return multiply((scale, power(Norm(self.body), number(2))))
        return multiply((scale, add(tuple(power(entry, number(2)) for entry in self.entries))))

    def dot(self, other: Vector) -> Node:
        """The inner product."""
        scale = multiply((self.scale, other.scale))
        if self.body is not None and self.body == other.body:
            return multiply((scale, power(Norm(self.body), number(2))))
        if self.body is not None and other.body is not None:
            return multiply((scale, ordered(self.body, other.body)))
        products = (multiply((self.at(k), other.at(k))) for k in range(_size(self, other)))
        return multiply((scale, add(tuple(products))))

    @property
    def width(self) -> int | None:
        """How many columns it must have: those that are written out."""
        return None if self.body is not None else len(self.entries)


def ordered(left: Node, right: Node) -> Dot:
    """The inner product of two running vectors, the first point on the left."""
    first = isinstance(right, Column) and right.point == 0 and not (isinstance(left, Column) and left.point == 0)
    return Dot(right, left) if first else Dot(left, right)


def _size(first: Vector, second: Vector) -> int:
    sizes = {vector.width for vector in (first, second)} - {None}
    if len(sizes) != 1:
        raise ShapeError(f"A vector of {first.width} entries meets one of {second.width}")
    return sizes.pop() or 0


@dataclass(frozen=True)
class Matrix:
    """Rows of numbers."""

    rows: tuple[tuple[Node, ...], ...]

    @property
    def turned(self) -> Matrix:
        """Its transpose."""
        return Matrix(tuple(zip(*self.rows, strict=True)))

    def times(self, other: Vector) -> Vector:
        """The matrix times a vector."""
        width = len(self.rows[0])
        if other.width not in (None, width):
            raise ShapeError(f"A matrix of {width} columns meets a vector of {other.width} entries")
        entries = (add(tuple(multiply((row[k], other.at(k))) for k in range(width))) for row in self.rows)
        return Vector(entries=tuple(entries), scale=other.scale)


Value = Node | Vector | Matrix
"""What operands are: numbers for each pair of points, vectors, and matrices."""


def minimum(first: Vector, second: Vector) -> Node:
    """The sum over columns of the smaller entries."""
    return total("sum", Call("min", (first.running, second.running)))


def minus(vector: Vector) -> Vector:
    """The vector with the other sign."""
    return Vector(vector.body, vector.entries, negative(vector.scale))


def runs(node: Node) -> bool:
    """Whether a formula looks at the running column, outside of sums over it."""
    if isinstance(node, Column):
        return node.column == RUN
    if isinstance(node, Dot | Norm | Over):
        return False
    return any(runs(child) for child in node.children)
