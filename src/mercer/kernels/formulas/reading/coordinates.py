"""Points and their columns, as formulas write them: x, x', x_i and x_j, x1, x'_1, x_k inside of a sum."""

from __future__ import annotations

import re

from mercer.kernels.formulas.reading.cursor import Cursor
from mercer.kernels.formulas.reading.vectors import Value, Vector
from mercer.kernels.formulas.reading.vocabulary import Vocabulary
from mercer.kernels.formulas.tree import RUN, Column, Node
from mercer.kernels.lexer import Token

MAX_COLUMNS = 1 << 20
"""The largest number of a column."""
BEHIND_TRANSPOSE = ("(", "[", ".", "@", "*", "<")


class Coordinates:
    """From a letter, its primes and its index to a point or one of its columns."""

    def __init__(self, cursor: Cursor, words: Vocabulary) -> None:
        self.cursor, self.words = cursor, words
        self.index: str | None = None
        """The letter of the running column, empty where none was named; None outside of sums over columns."""

    def column(self, name: str, token: Token) -> Node:
        """A column by its name."""
        if self.words.points == 2 or name not in self.words.columns:
            self.words.unknown(name, token)
        return Column(0, name)

    def point(self, letter: str, digits: str | None, index: str | None, token: Token) -> Value:
        """What a letter with an index is, together with the primes and the index that follow."""
        called = self.words.called
        if called.indexed:
            which = f"{letter}_{digits or index}" if digits or index else letter
            if which not in (called.first, called.second):
                message = f"The points are {called.first} and {called.second} here, and {token.text!r} is neither"
                self.cursor.fail(message, token)
            return self._coordinate(0 if which == called.first else 1, None, None, token)
        primes = 0
        while self.cursor.take("'"):
            primes += 1
        if primes and (digits, index) == (None, None):
            digits, index = self._index_behind_prime()
        return self._coordinate(self._which(letter, primes, token), digits, index, token)

    def _index_behind_prime(self) -> tuple[str | None, str | None]:
        """Of x'_1 the index."""
        token = self.cursor.next
        match = re.match(r"_(?:([0-9]+)|([a-z])(?![A-Za-z]))", token.text) if token.kind == "name" else None
        if match is None:
            return None, None
        self.cursor.cut(match.end())
        return match.group(1), match.group(2)

    def _which(self, letter: str, primes: int, token: Token) -> int:
        """0 for the first point, 1 for the second; a prime that tells no points apart transposes what it follows."""
        called = self.words.called
        if called.primed:
            if primes > 1:
                self.cursor.fail(f"The points are {called.first} and {called.second}, and this would be another", token)
            return primes
        if primes and not self._transposes():
            known = f"{called.first} and {called.second}" if self.words.points == 2 else called.first
            self.cursor.fail(f"The points are called {known} here, and {letter}' would be one more", token)
        return int(letter != called.first)

    def _transposes(self) -> bool:
        return self.cursor.next.kind in ("name", "string") or self.cursor.sees(*BEHIND_TRANSPOSE)

    def _coordinate(self, point: int, digits: str | None, index: str | None, token: Token) -> Value:
        cursor = self.cursor
        if cursor.sees("["):
            after = cursor.tokens[cursor.at + 1 : cursor.at + 3]
            if after and after[0].kind == "number" and after[-1].text == "]":
                cursor.fail("Columns are written x1, x2, ..., counted from 1")
        if digits is not None:
            if not 1 <= int(digits[:9]) <= MAX_COLUMNS:
                cursor.fail(f"Columns count from {self.words.called.first}1; got {token.text!r}", token)
            return Column(point, int(digits[:9]) - 1)
        if index is not None and self.index is None:
            cursor.fail(f"The index of {token.text!r} belongs into sum(...) or prod(...), as in sum(x_k z_k)", token)
        if index is not None and self.index not in ("", index):
            cursor.fail(f"The sum goes over {self.index}, and {token.text!r} has another index", token)
        return Vector(Column(point, RUN)) if self.index is None else Column(point, RUN)
