"""From a text to tokens, each with its position."""

from __future__ import annotations

import re
from typing import NamedTuple

from mercer.errors import ParseError

TOKEN = re.compile(
    r"""
    (?P<space>\s+)
  | (?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
  | (?P<name>[^\W\d]\w*)
  | (?P<string>"(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+')
  | (?P<symbol>\*\*|[-+*().,=\[\]])
    """,
    re.VERBOSE,
)


MIXED = (
    " A text has kernels by their names, as (1 + linear)**2, or points, as (1 + x.z)^2; not both: write linear for x.z."
)
HINTS = {"^": " Powers of kernels are written **."} | dict.fromkeys("'<|@", MIXED)
"""What is added where somebody writes as on paper among names of kernels."""


class Token(NamedTuple):
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
            hint = HINTS.get(text[position], "")
            raise ParseError(f"{text[position]!r} has no meaning at position {position}.{hint}", text, position)
        kind = str(match.lastgroup)
        if kind != "space":
            found.append(Token(kind, match.group(), position))
        position = match.end()
    return [*found, Token("end", "", len(text))]


ESCAPE = re.compile(r"""\\(?:([\\'"nrt])|x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8})|)""")
LETTERS = {"n": "\n", "r": "\r", "t": "\t"}


def unquoted(token: Token, text: str) -> str:
    """What a string token stands for; it knows the escapes that Python's `repr` writes."""

    def letter(match: re.Match[str]) -> str:
        short, *codes = match.groups()
        if short:
            return LETTERS.get(short, short)
        code = next((code for code in codes if code), "")
        if not code or int(code, 16) > 0x10FFFF:
            position = token.position + 1 + match.start()
            raise ParseError(f"The escape at position {position} has no meaning.", text, position)
        return chr(int(code, 16))

    return ESCAPE.sub(letter, token.text[1:-1])
