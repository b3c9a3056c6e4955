"""How a formula calls its points: x and x', x and z, x_i and x_j, or x alone."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from itertools import pairwise

from mercer.kernels.lexer import Token

UNITS = re.compile(r"(?:[A-Za-z](?:_?[0-9]+|_[a-z](?![A-Za-z0-9]))?)+")
"""A run of letters, each with an index or none: xz, x1z1, x_k."""
UNIT = re.compile(r"([A-Za-z])(?:_?([0-9]+)|_([a-z])(?![A-Za-z0-9]))?")
SECOND = "zypqutwvsabc"
"""What the second point may be called beside x, the likeliest first."""
PAIRS = (("y", "z"), ("u", "v"), ("s", "t"), ("p", "q"), ("a", "b"), ("t", "u"), ("r", "s"))
"""Two points none of which is x."""


@dataclass(frozen=True)
class Names:
    """How the points are called.

    first, second : a letter, with an index where that tells the points apart; of one point the second is empty
    primed : whether the second is the first with a prime
    """

    first: str
    second: str = ""
    primed: bool = False

    @property
    def indexed(self) -> bool:
        """Whether the points differ by an index, so that no index is a column."""
        return "_" in self.second

    @property
    def letters(self) -> frozenset[str]:
        """The letters of both."""
        return frozenset({self.first[0], *self.second[:1]})


def units(token: Token, known: Collection[str]) -> list[tuple[str, str]]:
    """Letters with their indices that a word may be made of; none for a word that is known."""
    if token.kind != "name" or token.text in known or not UNITS.fullmatch(token.text):
        return []
    return [
        (letter, number or index or "") for letter, number, index in UNIT.findall(token.text) if letter not in known
    ]


def names_of_two(tokens: list[Token], known: Collection[str], running: bool) -> Names:
    """The names of two points, by what stands in a formula.

    running : whether it has sums or products over columns, so that x_i is a coordinate
    """
    found: dict[str, set[str]] = {}
    primed: set[str] = set()
    for token, after in pairwise(tokens):
        parts = units(token, known)
        for letter, index in parts:
            found.setdefault(letter, set()).add(index)
        if parts and after.text == "'":
            primed.add(parts[-1][0])
    if "x" not in found:
        return _without_x(found, primed)
    if "z" in found or ("y" in found and "x" not in primed):
        return Names("x", "z" if "z" in found else "y")
    if "x" in primed:
        return Names("x", "x'", primed=True)
    indices = sorted(found["x"])
    if not running and len(indices) == 2 and (indices == ["1", "2"] or not any(map(str.isdigit, indices))):
        first, second = (f"x_{index}" if index else "x" for index in indices)
        return Names(first, second)
    return Names("x", next((letter for letter in SECOND if letter in found), "z"))


def _without_x(found: dict[str, set[str]], primed: set[str]) -> Names:
    for letter in sorted(primed):
        return Names(letter, f"{letter}'", primed=True)
    pair = next((pair for pair in PAIRS if set(pair) <= set(found)), ("x", "z"))
    return Names(*pair)


def names_of_one(tokens: list[Token], known: Collection[str]) -> Names:
    """The name of one point: x, or the only letter of the formula."""
    letters = {letter for token in tokens for letter, _ in units(token, known)}
    only = letters.pop() if len(letters) == 1 else "x"
    return Names(only if only in {"x", *SECOND} else "x")
