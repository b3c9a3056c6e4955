"""What formulas share that differ in numbers, vectors and rows only: the same nodes, and so the same generated text.

Kernels are frozen, and folds, candidates and fits of one kernel write the same formula again and again. All that
follows from its structure (what it asks, its lines, its text) is found once for each structure, on a formula whose
leaves are places; who binds it to data puts there what the formula at hand has.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import SimpleNamespace
from typing import Any

from mercer.compute.codegen.formula import Group, Total, asked, nodes
from mercer.compute.codegen.precision import exponents
from mercer.compute.codegen.symbols import Symbol

Key = tuple[tuple[Any, ...], ...]
MAX_STRUCTURES = 256
"""Structures that are remembered; a search over kernels has some ten."""
SPARSE = SimpleNamespace(nnz=0)
"""Stands for sparse rows."""


@dataclass(frozen=True)
class Place:
    """Where a formula has a number or a vector: the k-th of its own."""

    k: int


@dataclass(frozen=True, eq=False)
class Structure:
    """A formula without its numbers, vectors and rows.

    formula : the same nodes, with places for numbers and vectors, and groups of no rows
    groups : these, in the order of their first use
    size : how many nodes it has, those of the terms of its totals included
    """

    formula: Symbol
    groups: tuple[Group, ...]
    size: int

    @cached_property
    def asked(self) -> tuple[frozenset[str], ...]:
        """The statistics that are asked of each group: "square", "root", "dot"; none where only totals are."""
        return tuple(frozenset(asked(self.formula, group)) for group in self.groups)

    @cached_property
    def is_parted(self) -> bool:
        """Whether the precision "mixed" serves it."""
        return bool(exponents(self.formula))


@dataclass(frozen=True, eq=False)
class Leaves:
    """What a formula puts into its structure.

    structure : the rest of it
    values : numbers and vectors, by places
    groups : as in the structure
    """

    structure: Structure
    values: tuple[Any, ...]
    groups: tuple[Group, ...]

    @property
    def asked(self) -> dict[Group, frozenset[str]]:
        """The groups of which statistics are asked, and which."""
        return {group: names for group, names in zip(self.groups, self.structure.asked, strict=True) if names}


def leaves(formula: Symbol) -> Leaves:
    """A formula's structure and what is in it, found the first time that they are asked for."""
    if formula.leaves is None:
        walk = _Walk()
        key = walk.key(formula)
        structure = _structure(key, tuple(group.sparse for group in walk.groups))
        formula.leaves = Leaves(structure, tuple(walk.values), tuple(walk.groups))
    found: Leaves = formula.leaves
    return found


class _Walk:
    """Collects the leaves of a formula in the order of its nodes."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self.groups: list[Group] = []
        self._places: dict[int, int] = {}

    def key(self, formula: Symbol) -> Key:
        """All nodes, each after its parts, with their places among the nodes."""
        known: dict[int, int] = {}
        found = []
        for node in nodes(formula):
            known[id(node)] = len(known)
            parts = tuple([known[id(part)] for part in node.parts])
            found.append((node.name, parts, node.level, node.sign, None if parts else self._leaf(node)))
        return tuple(found)

    def _leaf(self, node: Symbol) -> Any:
        """What formulas of the same structure have in common at a leaf: an integer, or places."""
        value = node.value
        if isinstance(value, Group):
            return self._place(value, self.groups)
        if isinstance(value, Total):
            return self._place(value.group, self.groups), value.joined_by, self.key(value.term)
        if value is None or node.name == "whole":
            return value
        if node.name == "number":  # equal ones are not the same one
            self.values.append(value)
            return len(self.values) - 1
        return self._place(value, self.values)

    def _place(self, thing: Any, among: list[Any]) -> int:
        if id(thing) not in self._places:
            self._places[id(thing)] = len(among)
            among.append(thing)
        return self._places[id(thing)]


@lru_cache(MAX_STRUCTURES)
def _structure(key: Key, sparse: tuple[bool, ...]) -> Structure:
    groups = tuple(Group(SPARSE if each else None, None) for each in sparse)
    places: dict[int, Place] = {}  # two nodes of one vector have one place

    def value_of(name: str, leaf: Any) -> Any:
        if leaf is None or name == "whole":
            return leaf
        if name in ("square", "root", "dot"):
            return groups[leaf]
        if name == "total":
            place, joined_by, term = leaf
            return Total(groups[place], joined_by, built(term)[-1])
        return places.setdefault(leaf, Place(leaf))

    def built(inner: Key) -> list[Symbol]:
        found: list[Symbol] = []
        for name, parts, level, sign, leaf in inner:
            of = tuple([found[part] for part in parts])
            found.append(Symbol(name, of, value_of(name, leaf), level, sign))
        return found

    return Structure(built(key)[-1], groups, _size(key))


def _size(key: Key) -> int:
    return sum(1 + (_size(leaf[2]) if name == "total" else 0) for name, _, _, _, leaf in key)
