"""What a formula is made of beyond numbers: the statistics of pairs, and the data from which they come."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from mercer.compute.codegen.symbols import Level, Symbol, as_symbol


@dataclass(frozen=True, eq=False)
class Group:
    """The rows of both sides, as some leaves of a tree see them (after maps, on some columns).

    left : (n, d) array of float64, or a sparse matrix
    right : (m, d) array of the same kind
    """

    left: Any
    right: Any

    @property
    def sparse(self) -> bool:
        """Whether the rows are sparse."""
        return hasattr(self.left, "nnz") or hasattr(self.right, "nnz")

    @property
    def width(self) -> int:
        """The number of columns."""
        return int(self.left.shape[1])

    @cached_property
    def coarseness(self) -> float:
        """How far a row moves when it is rounded to float32: 0 where all numbers are such already."""
        sides = (self.left,) if self.right is self.left else (self.left, self.right)
        with np.errstate(over="ignore", invalid="ignore"):
            return max(map(_coarseness, sides))


def _coarseness(side: Any) -> float:
    """That of the rows of one side."""
    if hasattr(side, "rounding_to_float32"):  # on a device
        return float(side.rounding_to_float32())
    gap = np.abs(side - side.astype(np.float32))
    return float(np.sqrt((gap * gap).sum(axis=1)).max())


@dataclass(frozen=True, eq=False)
class Total:
    """A sum or product over the coordinates of a group; the term is a formula of the symbols "x" and "z"."""

    group: Group
    joined_by: Literal["sum", "product"]
    term: Symbol


def square(group: Group) -> Symbol:
    """|x - z|^2."""
    return Symbol("square", value=group, level=Level.PAIR, sign=1)


def root(group: Group) -> Symbol:
    """|x - z|, accurate for near-equal points too."""
    return Symbol("root", value=group, level=Level.PAIR, sign=1)


def dot(group: Group) -> Symbol:
    """<x, z>."""
    return Symbol("dot", value=group, level=Level.PAIR)


def total(group: Group, joined_by: Literal["sum", "product"], term: Callable[[Any, Any], Any]) -> Symbol:
    """The terms of all coordinates, joined."""
    written = unwrap(term(Symbol("x", level=Level.ROW), Symbol("z", level=Level.COLUMN)))
    return Symbol("total", value=Total(group, joined_by, written), level=Level.PAIR, sign=max(written.sign, 0))


def unwrap(result: Any) -> Symbol:
    """The symbol that a kernel's code gave back, also where that code wrapped it into an array."""
    return as_symbol(result)


def nodes(symbol: Symbol, leaves: frozenset[int] = frozenset()) -> Iterator[Symbol]:
    """Every node once, parts before what is made of them; the terms of totals are formulas of their own.

    Nodes whose id is among `leaves` are taken as leaves.
    """
    seen: set[int] = set()
    stack: list[tuple[Symbol, bool]] = [(symbol, False)]
    while stack:
        node, ready = stack.pop()
        if ready:
            yield node
        elif id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            stack.extend((part, False) for part in reversed(node.parts) if id(node) not in leaves)


def groups(symbol: Symbol) -> list[Group]:
    """The groups that a formula asks, in the order of their first use."""
    found: dict[int, Group] = {}
    for node in nodes(symbol):
        group = node.value.group if isinstance(node.value, Total) else node.value
        if isinstance(group, Group):
            found.setdefault(id(group), group)
    return list(found.values())


def asked(symbol: Symbol, group: Group) -> set[str]:
    """Which statistics of a group a formula asks: "square", "root", "dot"."""
    return {node.name for node in nodes(symbol) if node.value is group}
