"""From a formula to lines of one operation each, whose types and levels are known; printers make text of them.

A line depends on nothing, on the row, on the column, or on the pair, and is of the type of the statistics (wide) or of
the values. How a statistic comes about is the printer's business: tiles of a processor and of a graphics card differ.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from mercer.compute.codegen.formula import Group, asked, groups, nodes
from mercer.compute.codegen.precision import exponents
from mercer.compute.codegen.symbols import Level, Symbol

STATISTIC = frozenset({"square", "root", "dot", "total"})
"""Lines whose value is a group of rows, or a total over its coordinates."""
LEAF = STATISTIC | {"whole", "number", "row", "column", "x", "z"}
"""Lines that stand for what is there before the formula."""


@dataclass(eq=False, slots=True)
class Line:
    """One number of every pair, made of those of other lines.

    operation : what is done, as the symbols have it; or "exp2_down" (of what is never positive), or "exp2_parts" (of
        a wide exponent, which is parted into an integer and a fraction), or what a leaf is
    parts : the lines on which it is done
    level : on what it depends
    wide : whether it is of the type of the statistics, and not of the values
    value : what a leaf stands for
    """

    operation: str
    parts: tuple[Line, ...]
    level: Level
    wide: bool
    value: Any = None


@dataclass(frozen=True, eq=False)
class Lowered:
    """A formula as lines.

    precision : "float32", "mixed" or "float64"
    wanted : the statistics that are asked of each group ("square", "root", "dot"), in the order of their first use
    lines : each after those that it needs
    result : the last of them
    """

    precision: str
    wanted: dict[Group, set[str]]
    lines: tuple[Line, ...]
    result: Line


def lower(formula: Symbol, precision: str) -> Lowered:
    """The lines of a formula; in mixed precision exponents are wide, and the rest is not."""
    wanted = {group: found for group in groups(formula) if (found := asked(formula, group))}
    parted = exponents(formula) if precision == "mixed" else []
    lines: list[Line] = []
    known: dict[int, Line] = {}
    for exponential in parted:
        exponent = list(_each(exponential.parts[0], {}, frozenset(), True))
        known[id(exponential)] = Line("exp2_parts", (exponent[-1],), exponential.level, False)
        lines += [*exponent, known[id(exponential)]]
    lines += _each(formula, known, frozenset(map(id, parted)), False)
    return Lowered(precision, wanted, tuple(lines), known[id(formula)])


def lower_term(term: Symbol) -> tuple[Line, ...]:
    """The lines of a term of a total, which is a formula of "x" and "z"."""
    return tuple(_each(term, {}, frozenset(), True))


def _each(formula: Symbol, known: dict[int, Line], leaves: frozenset[int], wide: bool) -> Iterator[Line]:
    """The lines of the nodes that are not known yet."""
    for node in nodes(formula, leaves):
        if id(node) not in known:
            leaf = node.value is not None and not node.parts
            parts = tuple(known[id(part)] for part in node.parts)
            value = node.value if leaf else None
            known[id(node)] = Line(_operation(node), parts, node.level, wide, value)
            yield known[id(node)]


def _operation(node: Symbol) -> str:
    return "exp2_down" if node.name == "exp2" and node.parts[0].sign < 0 else node.name
