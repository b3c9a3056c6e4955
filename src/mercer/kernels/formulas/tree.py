"""Formulas as trees: small frozen nodes, each a number for one point x, or for two points x and z."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

RUN, ONLY = -1, -2
"""Columns without a number: the running one of a sum or a product over columns, and the only one."""


class Node:
    """A number for a pair of points; inside of Dot, Norm and Over, one for each column.

    >>> Power(Add((Number(Fraction(1)), Dot(X, Z))), Number(Fraction(2))).nodes
    7
    """

    __slots__ = ()

    @property
    def children(self) -> tuple[Node, ...]:
        """The nodes below."""
        return ()

    @property
    def nodes(self) -> int:
        """How many nodes, itself included."""
        return 1 + sum(child.nodes for child in self.children)


@dataclass(frozen=True, slots=True)
class Number(Node):
    """A fraction, as it was typed."""

    value: Fraction


@dataclass(frozen=True, slots=True)
class Constant(Node):
    """A number that is no fraction and no root: pi or e."""

    name: str


@dataclass(frozen=True, slots=True)
class Column(Node):
    """A coordinate of the first point (0) or of the second (1): by position from 0, by name, RUN or ONLY."""

    point: int
    column: int | str


X, Z = Column(0, RUN), Column(1, RUN)
"""The points themselves: what runs over all of their columns."""


@dataclass(frozen=True, slots=True)
class Add(Node):
    """A sum."""

    terms: tuple[Node, ...]

    @property
    def children(self) -> tuple[Node, ...]:
        return self.terms


@dataclass(frozen=True, slots=True)
class Multiply(Node):
    """A product."""

    factors: tuple[Node, ...]

    @property
    def children(self) -> tuple[Node, ...]:
        return self.factors


@dataclass(frozen=True, slots=True)
class Negative(Node):
    """Minus another."""

    of: Node

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.of,)


@dataclass(frozen=True, slots=True)
class Divide(Node):
    """A quotient."""

    above: Node
    below: Node

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.above, self.below)


@dataclass(frozen=True, slots=True)
class Power(Node):
    """A power."""

    base: Node
    exponent: Node

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.base, self.exponent)


@dataclass(frozen=True, slots=True)
class Call(Node):
    """A named function of one number, or min or max of two; or what is only named: f(x), k(x, z), a number c."""

    name: str
    arguments: tuple[Node, ...]

    @property
    def children(self) -> tuple[Node, ...]:
        return self.arguments


@dataclass(frozen=True, slots=True)
class Dot(Node):
    """The sum over columns of a product: <x, z>."""

    left: Node
    right: Node

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.left, self.right)


@dataclass(frozen=True, slots=True)
class Norm(Node):
    """The Euclidean length of a vector: |x - z|."""

    of: Node

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.of,)


@dataclass(frozen=True, slots=True)
class Over(Node):
    """A sum or a product over all columns: prod(1 + x_k z_k)."""

    join: str
    of: Node

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.of,)


GAP = Add((X, Negative(Z)))
"""x - z, column by column."""


def number(value: int | float | Fraction) -> Number:
    """A number as a node."""
    return Number(Fraction(value))


def with_column(node: Node, column: int | str) -> Node:
    """The node with another column in place of the running one."""
    if isinstance(node, Column):
        return Column(node.point, column) if node.column == RUN else node
    return rebuilt(node, tuple(with_column(child, column) for child in node.children))


def swapped(node: Node) -> Node:
    """The node with both points exchanged."""
    if isinstance(node, Column):
        return Column(1 - node.point, node.column)
    return rebuilt(node, tuple(swapped(child) for child in node.children))


def rebuilt(node: Node, children: tuple[Node, ...]) -> Node:
    """The same node over other children."""
    if children == node.children:
        return node
    if isinstance(node, Add | Multiply):
        return type(node)(children)
    if isinstance(node, Call):
        return Call(node.name, children)
    if isinstance(node, Over):
        return Over(node.join, children[0])
    return type(node)(*children)


def points_in(node: Node) -> frozenset[int]:
    """Which points a formula looks at: 0, 1 or both; a number that is only named is a kernel, of both."""
    if isinstance(node, Column):
        return frozenset({node.point})
    if isinstance(node, Call) and not node.arguments:
        return frozenset({0, 1})
    return frozenset().union(*(points_in(child) for child in node.children))


def columns_in(node: Node) -> frozenset[int | str]:
    """The columns that a formula names: positions, names, RUN and ONLY."""
    if isinstance(node, Column):
        return frozenset({node.column})
    return frozenset().union(*(columns_in(child) for child in node.children))
