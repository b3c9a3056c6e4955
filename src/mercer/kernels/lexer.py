"""From a text to tokens, each with its position."""

from __future__ import annotations

import re
from dataclasses import dataclass

from mercer.errors import ParseError

TOKEN = re.compile(
    r"""
    (?P<space>\s+)
  | (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
  | (?P<name>[^\W\d]\w*)
  | (?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
  | (?P<symbol>\*\*|[-+*().,=\[\]])
    """,
    re.VERBOSE,
)


@dataclass(frozen=True)
class Token:
    """A piece of the text: its kind (number, name, string, symbol or end), its letters, where it starts."""

    kind: str
    text: str
    position: int


def tokens_of(text: str) -> list[Token]:
    """The tokens of a text, with one of kind "end" behind the last."""
    found: list[Token] = []
    position = 0
    while position < len(text):
        match = TOKEN.match(text, position)
        if match is None:
            hint = " Powers are written **." if text[position] == "^" else ""
            raise ParseError(f"{text[position]!r} has no meaning at position {position}.{hint}", text, position)
        kind = str(match.lastgroup)
        if kind != "space":
            found.append(Token(kind, match.group(), position))
        position = match.end()
    return [*found, Token("end", "", len(text))]
