"""A place in a row of tokens: what comes next, errors that point there, and how much may be read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

from mercer.errors import ParseError
from mercer.kernels.formulas.reading.tokens import tokens_of
from mercer.kernels.formulas.reading.vectors import ShapeError
from mercer.kernels.lexer import Token

MAX_NESTING = 60
"""How deep parentheses may nest."""
MAX_NODES = 4096
"""Nodes of the tree."""
T = TypeVar("T")


class Cursor:
    """One pass over the tokens of a text in plain signs."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = tokens_of(text)
        self.at = self.depth = self.nodes = 0

    @property
    def next(self) -> Token:
        """The token that comes next."""
        return self.tokens[self.at]

    @property
    def behind(self) -> Token:
        """The token behind the next one; the end has none, and is its own."""
        return self.tokens[min(self.at + 1, len(self.tokens) - 1)]

    def sees(self, *symbols: str) -> bool:
        """Whether one of these symbols comes next."""
        return self.next.kind == "symbol" and self.next.text in symbols

    def take(self, symbol: str) -> bool:
        """Step over the next token if it is this symbol."""
        found = self.sees(symbol)
        self.at += found
        return found

    def step(self) -> Token:
        """Step over the next token, whatever it is."""
        token = self.next
        self.at += 1
        return token

    def expect(self, symbol: str) -> None:
        """Step over this symbol, which must come next."""
        if not self.take(symbol):
            self.fail(f"Here {symbol!r} is needed; got {self.next.text or 'the end'!r}")

    def cut(self, letters: int) -> None:
        """Step over the first letters of a name; the others are a name of their own."""
        token = self.next
        rest = token.text[letters:]
        if rest:
            self.replace(Token("name", rest, token.position + letters))
        else:
            self.step()

    def replace(self, *tokens: Token) -> None:
        """Put tokens in place of the next one."""
        self.tokens[self.at : self.at + 1] = tokens

    def fail(self, message: str, token: Token | None = None) -> NoReturn:
        """Refuse the text, with the place of a token or of the next one."""
        token = token or self.next
        where = "at the end" if token.kind == "end" else f"at position {token.position}"
        raise ParseError(f"{message} ({where}).", self.text, min(token.position, len(self.text)), len(token.text))

    def built(self, token: Token, make: Callable[..., T], *arguments: Any) -> T:
        """What `make` gives; it is counted, and a refusal is raised again with its place."""
        self.count(token)
        try:
            return make(*arguments)
        except ShapeError as error:
            self.fail(str(error), token)

    def count(self, token: Token, pieces: int = 1) -> None:
        """Count pieces of the tree, of which there are at most so many."""
        self.nodes += pieces
        if self.nodes > MAX_NODES:
            self.fail(f"A formula has at most {MAX_NODES:,} pieces, and here is one more", token)

    def nested(self, part: Callable[[], T]) -> T:
        """What `part` reads one level further down."""
        self.depth += 1
        if self.depth > MAX_NESTING:
            self.fail(f"The formula nests deeper than {MAX_NESTING} levels")
        found = part()
        self.depth -= 1
        return found
