"""HTML for notebooks: escaped, of bounded size, without scripts, and readable on light and on dark grounds.

Colours of text and ground are those of the page, whatever its theme: only badges bring their own, both of them. All
styles are those of one class. Where a page takes styles away, what is left is plain and still in order.
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

LIMIT = 48_000
"""Bytes of a card at most, styles included."""
SECTION, TEXT, CELL = 14_000, 3_000, 240
"""Bytes of a part of a card, of a text and of a cell of a table, at most."""
LINES, FEW = 40, 6
"""Lines of a table or list at most; numbers of an array that is written out, at most."""
SCOPE = "mercer-card"
"""The class of which all styles are."""
TROUBLE = (ArithmeticError, AttributeError, ImportError, LookupError, MemoryError, RuntimeError, TypeError, ValueError)
"""What a user's own class may raise when it is asked how it looks."""
ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"}
RULES = {
    "": "line-height:1.45;max-width:64em;overflow-x:auto",
    "table": "border-collapse:collapse;margin:.3em 0;font-size:inherit",
    "th,td": "text-align:left;vertical-align:top;padding:.1em .8em .1em 0;border:0;background:none;color:inherit;"
    "white-space:normal;overflow-wrap:anywhere",
    "th": "font-weight:600",
    "code,pre": "font-family:monospace;background:none;color:inherit;white-space:pre-wrap;overflow-wrap:anywhere",
    "p,ol,ul,pre": "margin:.3em 0",
    "details": "margin:.3em 0 .3em .2em;padding-left:.6em;border-left:2px solid rgba(128,128,128,.5)",
    "summary": "cursor:pointer",
    "math": "font-size:1.15em",
    ".badge": "display:inline-block;padding:0 .5em;border-radius:.7em;font-weight:600;color:#fff;background:#57606a",
    ".proven": "background:#1a7f37",
    ".refuted": "background:#b42318",
    ".unknown": "background:#7a5c00",
    ".quiet": "opacity:.75",
}


class Markup(str):
    """Text that is HTML already; any other text is escaped where it is put into an element."""

    __slots__ = ()


def escaped(text: str, most: int = TEXT) -> Markup:
    """The text for people: what HTML would read and what cannot be seen is escaped, and what is too long is cut.

    most : bytes that it may take; how many characters were left out is told beyond them

    >>> escaped("<script> & 'quotes'"), escaped("x" * 100, most=10)
    ('&lt;script&gt; &amp; &#39;quotes&#39;', 'xxxxxxxxxx ... (90 more characters)')
    """
    if isinstance(text, Markup):
        return text
    found: list[str] = []
    size = 0
    for place, letter in enumerate(text):
        piece = _letter(letter)
        size += len(piece.encode())
        if size > most:
            return Markup("".join(found) + f" ... ({len(text) - place:,} more characters)")
        found.append(piece)
    return Markup("".join(found))


def _letter(letter: str) -> str:
    if letter in ENTITIES:
        return ENTITIES[letter]
    return letter if letter.isprintable() or letter == "\n" else letter.encode("unicode_escape").decode()


def brief(value: object, most: int = 120) -> str:
    """A value in a few letters, whatever it is and however large; arrays by their shape.

    >>> brief(list(range(1000))), brief("median")
    ('[0, 1, 2, 3, 4, 5, ...]', "'median'")
    """
    if hasattr(value, "shape") and hasattr(value, "tolist") and len(value.shape) < 2 and sum(value.shape) <= FEW:
        value = value.tolist()
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return f"{type(value).__name__} of {value.dtype}, {' x '.join(f'{n:,}' for n in value.shape)}"
    shortening = reprlib.Repr()
    shortening.maxstring = shortening.maxother = shortening.maxlong = most
    try:
        return shortening.repr(value)
    except TROUBLE:
        return f"a {type(value).__name__}"


# -- elements ---------------------------------------------------------------------------------------------------------


def element(name: str, *inside: str, kind: str = "") -> Markup:
    """An element with what is inside of it: markup as it is, other texts escaped.

    >>> element("p", "a < b, ", element("b", "c"), kind="quiet")
    '<p class="quiet">a &lt; b, <b>c</b></p>'
    """
    given = f' class="{escaped(kind)}"' if kind else ""
    return Markup(f"<{name}{given}>{''.join(escaped(each) for each in inside)}</{name}>")


def badge(status: str) -> Markup:
    """A word on a coloured ground: "proven", "refuted", "unknown", or another one on grey."""
    known = status if f".{status}" in RULES else ""
    return element("span", status, kind=f"badge {known}".strip())


def table(rows: Iterable[Sequence[str]], head: Sequence[str] = (), count: int = 0) -> Markup:
    """Rows of cells, the first cell of each as its name; beyond `LINES` rows their number is told.

    count : how many rows there are, where only the first were given
    """
    first = [element("tr", *(element("th", name) for name in head))] if head else []
    lines = [_row(row) for row in rows]
    count = max(count, len(lines))
    more = [element("tr", element("td", _rest(count, "rows")))] if count > LINES else []
    return element("table", *first, *lines[:LINES], *more)


def _row(row: Sequence[str]) -> Markup:
    return element("tr", element("th", escaped(row[0], CELL)), *(element("td", escaped(c, CELL)) for c in row[1:]))


def items(texts: Sequence[str], ordered: bool = False) -> Markup:
    """A list of texts; beyond `LINES` of them their number is told."""
    lines = [element("li", escaped(text, 2 * CELL)) for text in texts[:LINES]]
    more = [element("p", _rest(len(texts), "lines"), kind="quiet")] if len(texts) > LINES else []
    return Markup(element("ol" if ordered else "ul", *lines) + "".join(more))


def _rest(count: int, name: str) -> str:
    return f"... and {count - LINES:,} more {name}"


def details(summary: str, pieces: Iterable[Markup], shown: bool = False) -> Markup:
    """What is seen after a click on the summary, or at once; of at most `SECTION` bytes."""
    inside = within(pieces, SECTION)
    return Markup(f"<details{' open' * shown}>{element('summary', escaped(summary, CELL))}{inside}</details>")


# -- the whole --------------------------------------------------------------------------------------------------------


def within(pieces: Iterable[Markup], most: int) -> Markup:
    """The pieces one after the other, as long as they take at most so many bytes; then, that there are more."""
    found, size, left = [], 0, 0
    for piece in _told(pieces):
        size += len(piece.encode())
        left += size > most
        if not left:
            found.append(piece)
    return Markup("".join([*found, *([element("p", f"... and {left:,} more parts", kind="quiet")] if left else [])]))


def _told(pieces: Iterable[Markup]) -> Iterator[Markup]:
    """The pieces up to the first that fails, and why: a card must not raise an error."""
    try:
        yield from pieces
    except TROUBLE as error:
        why = f"the rest cannot be shown: {type(error).__name__}"
        with suppress(*TROUBLE):
            why = f"{why}: {error}"
        yield element("p", escaped(why, CELL), kind="quiet")


def card(pieces: Iterable[Markup]) -> str:
    """The whole, as `_repr_html_` gives it: the styles and the pieces, of at most `LIMIT` bytes."""
    # Notebooks would set what stands between dollars, in the name of a column say, as a formula of TeX.
    ignored = f"{SCOPE} tex2jax_ignore mathjax_ignore"
    return str(STYLE + element("div", within(pieces, LIMIT - len(STYLE) - CELL), kind=ignored))


def _style() -> Markup:
    rules = (
        f"{','.join(f'.{SCOPE} {name}'.rstrip() for name in of.split(','))}{{{rule}}}" for of, rule in RULES.items()
    )
    return Markup(f"<style>{''.join(rules)}</style>")


STYLE = _style()


class Shown:
    """What notebooks show as a card: a member answers `_html_pieces`, which may also stand inside of another card."""

    def _html_pieces(self) -> Iterable[Markup]:
        """What is seen, piece by piece, the most important first."""
        yield element("p", brief(self, TEXT))

    def _repr_html_(self) -> str:
        return card(self._html_pieces())


def shown(value: Any) -> Iterable[Markup]:
    """The pieces of a value that shows itself; of any other one its text."""
    able = hasattr(value, "_html_pieces") and not isinstance(value, type)
    return value._html_pieces() if able else (element("code", brief(value)),)
