"""The words of formulas: what a run of letters may be, and what is said of one that is none."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NoReturn

from mercer.kernels.formulas.reading.cursor import Cursor
from mercer.kernels.formulas.reading.points import names_of_one, names_of_two
from mercer.kernels.formulas.reading.vectors import Value
from mercer.kernels.lexer import Token

FUNCTIONS = ("abs", "arccos", "cos", "cosh", "exp", "log", "log1p", "sin", "sinh", "sqrt", "tan", "tanh")
"""Functions of a number."""
OTHER_NAMES = {"acos": "arccos", "ln": "log", "sen": "sin"}
OF_VECTORS = ("dist", "distance", "dot", "frac", "geodesic", "inner", "max", "min", "norm", "prod", "sum")
CONSTANTS = ("e", "pi")
SCALES = ("ell", "gamma", "l", "lambda", "s", "sigma", "tau")
"""What is 1 where a formula of two points has no value for it."""
KNOWN = frozenset({*FUNCTIONS, *OTHER_NAMES, *OF_VECTORS, "pi", "e", *(name for name in SCALES if len(name) > 1)})
OVER = re.compile(r"(?:sum|prod)(?:_[a-z])?")
"""A sum or a product over columns, with the letter that runs or without."""
NAMED_NUMBER = re.compile(r"(?:[abcw]|alpha|beta|eta|kappa|lambda|mu|theta)(?:_?[0-9]+)?")
"""A number that is only named, where functions may only be named too: the a of a k(x, z)."""
POINTS = re.compile(r"\(\s*[A-Za-z]\w*\s*'*\s*(?:,\s*[A-Za-z]\w*\s*'*\s*)?\)")
"""One point or two in parentheses."""
LETTER = re.compile(r"([A-Za-z])(?:_?([0-9]+)|_([a-z]))?")
"""A letter with a number, or with a letter, or alone."""
MAX_GLUED = 30
"""Letters of a word that is taken apart into names."""


class Vocabulary:
    """What words mean in one formula; `called` says how its points are called, `assumed` what was taken as 1.

    abstract : whether functions of the points and numbers may only be named
    """

    def __init__(
        self,
        cursor: Cursor,
        points: int,
        names: Mapping[str, Value],
        columns: Sequence[str],
        scales: bool,
        abstract: bool,
    ) -> None:
        self.cursor, self.points, self.columns, self.scales = cursor, points, tuple(columns), scales
        self.abstract = abstract
        self.names = dict(names)
        known = {*KNOWN, *self.names, *self.columns}
        known |= {token.text for token in cursor.tokens if token.text[1:2].isalpha() and self._may_name(token.text)}
        joins = any(OVER.fullmatch(token.text) for token in cursor.tokens)
        self.called = names_of_two(cursor.tokens, known, joins) if points == 2 else names_of_one(cursor.tokens, known)
        self.assumed: set[str] = set()

    def names_function(self) -> bool:
        """Whether the next name means nothing else in front of a parenthesis: f in f(x) is a function, only named.

        The a of a(x.z + 1) is a number.
        """
        token = self.cursor.next
        match = re.fullmatch(r"([A-Za-z]+)_?[0-9]*", token.text)
        if not self.abstract or self.cursor.behind.text != "(" or match is None:
            return False
        if token.text in self.names or token.text in KNOWN or match.group(1) in self.called.letters:
            return False
        return (
            not self.names_number(token.text) or POINTS.match(self.cursor.text, self.cursor.behind.position) is not None
        )

    def transposes(self, token: Token) -> bool:
        """Whether a word behind ^ is the T of x^T z, or of x^Tz, which has no space."""
        glued = token.kind == "name" and token.text.startswith("T") and token.text not in self.names
        return glued and "T" not in self.names

    def names_number(self, text: str) -> bool:
        """Whether a name means nothing else, so that c in c k(x, z) is a number that is only named."""
        return self._may_name(text) and text[0] not in self.called.letters

    def _may_name(self, text: str) -> bool:
        return self.abstract and text not in KNOWN and NAMED_NUMBER.fullmatch(text) is not None

    def names_in(self, token: Token) -> list[Token]:
        """The names of which a word is made, each the longest one such that the rest can be read, too."""
        text = token.text
        if text in self.names or text in self.columns or text in KNOWN or OVER.fullmatch(text):
            return [token]
        if len(text) > MAX_GLUED:
            self.cursor.fail(f"There is no {text[:20]!r}... in formulas", token)
        ends = self._readable_ends(text)
        if ends[0] is None:
            self.unknown(text, token)
        found, start = [], 0
        while start < len(text):
            end = ends[start] or len(text)
            piece = text[start:end]
            found.append(Token("number" if piece.isdigit() else "name", piece, token.position + start))
            start = end
        return found

    def _readable_ends(self, text: str) -> list[int | None]:
        """For each place, where a name ends that begins there, such that names follow up to the end of the word."""
        ends: list[int | None] = [None] * len(text)
        for start in range(len(text) - 1, -1, -1):
            lengths = (end for end in range(len(text), start, -1) if self._is_name(text[start:end], start, end, text))
            ends[start] = next((end for end in lengths if end == len(text) or ends[end] is not None), None)
        return ends

    def _is_name(self, piece: str, start: int, end: int, text: str) -> bool:
        if piece in self.names or piece in self.columns or piece in CONSTANTS:
            return True
        if piece.isdigit():  # sqrt2
            return text[:start].endswith("sqrt")
        if piece in KNOWN:
            return end == len(text) or piece == "sqrt" or piece in SCALES
        match = LETTER.fullmatch(piece)
        if match is not None and match.group(1) in self.called.letters:
            return True
        if self.names_number(piece):
            return start == 0  # further inside of a word it is more likely a typo
        return match is not None and piece in SCALES and self.points == 2

    def unknown(self, text: str, token: Token) -> NoReturn:
        """Refuse a word that means nothing, and say what there is."""
        called = self.called
        if self.points == 1 and self.columns:
            known = ", ".join(self.columns[:8])
            message = f"There is no column {text!r}. The columns are {known}, or x1, x2, ... by their places"
            self.cursor.fail(message, token)
        left = re.sub(rf"[{''.join(called.letters)}](_?[0-9]+)?", "", text)
        if len(left) == 1 and left.isalpha():
            self.cursor.fail(
                f"There is no value of {left!r}. Give a number or a matrix, names={{{left!r}: ...}}, or write the "
                "matrix itself, as in x'[[2, 1], [1, 2]]z",
                token,
            )
        known = ", ".join((*FUNCTIONS, "min", "max", "norm", "dot", "sum", "prod"))
        points = f"{called.first} and {called.second}" if self.points == 2 else called.first
        names = "" if self.points == 2 else ". Columns go by names where a table has some, else they are x1, x2, ..."
        self.cursor.fail(f"There is no {text!r} in formulas: they have {points}, numbers, and {known}{names}", token)

    def assume(self, token: Token) -> None:
        """Note that a letter of scale without a value is 1, where that is allowed."""
        if self.points == 1 or token.text not in SCALES:
            self.cursor.fail(
                f"There is no value of {token.text!r}. Write a number, or give names={{{token.text!r}: 2.0}}", token
            )
        if not self.scales:
            self.cursor.fail(
                f"There is no value of {token.text!r}. Write a number, or the kernel by its name, such as gaussian, "
                "whose lengthscale is found from the data",
                token,
            )
        self.assumed.add(token.text)
