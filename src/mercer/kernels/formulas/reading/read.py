"""The trees of a text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mercer.kernels.formulas.reading.arithmetic import Arithmetic
from mercer.kernels.formulas.reading.coordinates import Coordinates
from mercer.kernels.formulas.reading.cursor import Cursor
from mercer.kernels.formulas.reading.given import value_of
from mercer.kernels.formulas.reading.grammar import Grammar
from mercer.kernels.formulas.reading.tokens import plain
from mercer.kernels.formulas.reading.vectors import Vector
from mercer.kernels.formulas.reading.vocabulary import Vocabulary
from mercer.kernels.formulas.tree import Node, columns_in

MAX_DEPTH = 200
"""How deep the tree may be: whatever reads it calls itself a few times for each level."""


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
    assumed : whether functions of the points and numbers may only be named, as in f(x) k(x, z) f(z) + c
    """
    given = {name: value_of(name, value) for name, value in names.items()}
    cursor = Cursor(plain(text))
    words = Vocabulary(cursor, points, given, columns, scales, assumed)
    arithmetic = Arithmetic(cursor)
    grammar = Grammar(cursor, arithmetic, words, Coordinates(cursor, words))
    value = grammar.whole()
    first = cursor.tokens[0]
    entries = list(value.listed) if points == 1 and isinstance(value, Vector) and value.body is None else [value]
    roots = [arithmetic.scalar(entry, first) for entry in entries]
    if any(map(is_deeper, roots)):
        cursor.fail(f"The formula nests deeper than {MAX_DEPTH} levels", first)
    width = arithmetic.width
    for column in frozenset().union(*map(columns_in, roots)):
        if width is not None and isinstance(column, int) and column >= width:
            cursor.fail(f"Column {column + 1} is not among the {width} that a matrix or a list insists on")
    return [Read(root, tuple(sorted(words.assumed)), width) for root in roots]


def is_deeper(root: Node, most: int = MAX_DEPTH) -> bool:
    """Whether a tree has more than so many levels; it is walked level by level."""
    level: Sequence[Node] = [root]
    for _ in range(most):
        level = [child for node in level for child in node.children]
        if not level:
            return False
    return True
