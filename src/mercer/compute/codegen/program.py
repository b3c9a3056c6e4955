"""What is computed by generated code, and how: the methods of groups, and the arguments of a text."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

from mercer.compute.codegen.formula import Group
from mercer.compute.codegen.structure import Leaves, Place
from mercer.compute.codegen.symbols import Level


@dataclass(frozen=True)
class Method:
    """How the statistics of a group come about.

    kind : "product" (of matrices: of sparse ones a tile), "differences" (of coordinates), or "ready" (a tile holds
        squared distances)
    shifted : whether both sides were moved to a common origin, which inner products must undo
    repaired : whether small squared distances are computed again from differences
    swept : whether all are, for few columns, and the small ones taken: then vector code serves where many are small
    """

    kind: Literal["product", "differences", "ready"]
    shifted: bool = False
    repaired: bool = False
    swept: bool = False


@dataclass(frozen=True)
class Coordinates:
    """The rows and columns of a group as arguments.

    moved : whether they are measured from the common origin
    paneled : whether the columns come in panels, over which loops sweep, and not in blocks
    """

    group: Group
    moved: bool = False
    paneled: bool = False


@dataclass
class Program:
    """A text, and the arguments that it expects, in their order; of a structure, and then of a formula that has it.

    precision : "float32", "mixed" or "float64"
    numbers : floats, or the group whose limit for repairs belongs there
    rows, columns : vectors, or ("norms" | "shifts", group)
    tiles : the sparse groups, whose tile is an argument
    coordinates : the groups whose rows and columns are, as what
    """

    precision: str
    numbers: list[Any] = field(default_factory=list)
    rows: list[Any] = field(default_factory=list)
    columns: list[Any] = field(default_factory=list)
    tiles: list[Group] = field(default_factory=list)
    coordinates: list[Coordinates] = field(default_factory=list)
    text: str = ""

    def number(self, value: Any, wide: bool = False) -> str:
        """The name of a number in the text, in the type of the values or (wide) of the statistics."""
        self.numbers.append(value)
        return f"{'w' if wide else 'n'}{len(self.numbers) - 1}"

    def vector(self, level: Level, what: Any) -> str:
        """The text of the entry of a vector that belongs to the pair at hand."""
        entries = self.rows if level is Level.ROW else self.columns
        place = next((k for k, other in enumerate(entries) if _same(other, what)), len(entries))
        if place == len(entries):
            entries.append(what)
        return f"r{place}" if level is Level.ROW else f"c{place}[j]"

    def filled(self, leaves: Leaves) -> Program:
        """The same text with what a formula has where its structure has places."""
        own = dict(zip(leaves.structure.groups, leaves.groups, strict=True))

        def put(entry: Any) -> Any:
            if isinstance(entry, Place):
                return leaves.values[entry.k]
            return (entry[0], own[entry[1]]) if isinstance(entry, tuple) else own[entry]

        return Program(
            self.precision,
            [put(entry) for entry in self.numbers],
            [put(entry) for entry in self.rows],
            [put(entry) for entry in self.columns],
            [own[group] for group in self.tiles],
            [replace(each, group=own[each.group]) for each in self.coordinates],
            self.text,
        )


def _same(one: Any, other: Any) -> bool:
    return one is other or (isinstance(one, tuple) and isinstance(other, tuple) and one == other)
