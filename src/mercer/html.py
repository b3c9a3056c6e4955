"""HTML for notebooks and reports: escaped, without scripts; of cards also bounded, and readable on any ground.

Colours of text and ground of a card are those of its page, whatever its theme: only badges bring their own, both of
them. All styles are those of one class. Where a page takes styles away, what is left is plain and still in order.
"""

from __future__ import annotations

import reprlib
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

LIMIT = 48_000
"""Bytes of a card at most, styles included."""
SECTION, TEXT, CELL = 14_000, 3_000, 240
"""Bytes of a part of a card, of a text and of a cell of a table, at most."""
WHOLE = sys.maxsize
"""In the place of such a bound: a report shows all of it."""
LONG = 80
"""Characters of a name or a label, at most."""
VOID = ("meta", "br", "hr")
"""Elements that hold nothing, and are not closed."""
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
    ".badge": "display:inline-block;padding:0 .5em;border-radius:.7em;font-weight:600;color:#fff;background:#57606a",
    ".proven": "background:#1a7f37",
    ".refuted": "background:#b42318",
    ".unknown": "background:#7a5c00",
    ".quiet": "opacity:.75",
}


class Markup(str):
    """Text that is HTML already; any other text is escaped where it is put into an element."""

    __slots__ = ()


def escaped(value: object, most: int = TEXT) -> Markup:
    """The text for people: what HTML would read and what cannot be seen is escaped, and what is too long is cut.

    most : bytes that it may take; how many characters were left out is told beyond them

    >>> escaped("<script> & 'quotes'"), escaped("x" * 100, most=10)
    ('&lt;script&gt; &amp; &#39;quotes&#39;', 'xxxxxxxxxx ... (90 more characters)')
    """
    if isinstance(value, Markup):
        return value
    text, found = str(value), list[str]()
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


def element(name: str, /, *inside: object, kind: str = "", **attributes: str) -> Markup:
    """An element with what is inside of it: markup as it is, other texts escaped; `kind` is its class.

    >>> element("p", "a < b, ", element("b", "c"), kind="quiet")
    '<p class="quiet">a &lt; b, <b>c</b></p>'
    >>> element("a", "x", href="#top", aria_label="up")
    '<a href="#top" aria-label="up">x</a>'
    """
    named = {"class": kind, **attributes} if kind else attributes
    given = "".join(f' {key.replace("_", "-")}="{escaped(value)}"' for key, value in named.items())
    if name in VOID:
        return Markup(f"<{name}{given}>")
    return Markup(f"<{name}{given}>{''.join(escaped(each) for each in inside)}</{name}>")


def joined(parts: Iterable[object]) -> Markup:
    """Parts one after the other."""
    return Markup("\n".join(map(escaped, parts)))


def p(*inside: object) -> Markup:
    """A paragraph."""
    return element("p", *inside)


def short(text: str, most: int = LONG) -> str:
    """A text of at most so many characters.

    >>> short("abcdefgh", 6)
    'abc...'
    """
    return text if len(text) <= most else text[: most - 3] + "..."


def code(text: object, most: int = LONG) -> Markup:
    """A name or a formula as it stands in the data, cut where it is long."""
    return element("code", short(str(text), most))


def pre(text: object, kind: str = "") -> Markup:
    """Lines as they are."""
    return element("pre", element("code", escaped(text, WHOLE)), kind=kind)


def figure(picture: Markup, caption: object) -> Markup:
    """A picture with a line below."""
    return element("figure", picture, element("figcaption", caption))


def badge(status: str) -> Markup:
    """A word on a coloured ground: "proven", "refuted", "unknown", or another one on grey."""
    known = status if f".{status}" in RULES else ""
    return element("span", status, kind=f"badge {known}".strip())


def table(
    rows: Iterable[Sequence[object]],
    head: Sequence[str] = (),
    count: int = 0,
    numbers: Sequence[int] = (),
    most: int = LINES,
) -> Markup:
    """Rows of cells, the first cell of each as its name; beyond `most` rows their number is given.

    count : how many rows there are, where only the first were given
    numbers : columns of the class "number"
    """
    first = [_row(head, numbers, "col", len(head))] if head else []
    lines = [_row(row, numbers, "row", 1) for row in rows]
    count = max(count, len(lines))
    more = [element("tr", element("td", _rest(count, "rows", most)))] if count > most else []
    return element("table", *first, *lines[:most], *more)


def _row(cells: Sequence[object], numbers: Sequence[int], scope: str, names: int) -> Markup:
    """A row whose first cells are names."""
    found = []
    for place, cell in enumerate(cells):
        kind, inside = "number" if place in numbers else "", escaped(cell, CELL)
        named = place < names
        found.append(element("th", inside, kind=kind, scope=scope) if named else element("td", inside, kind=kind))
    return element("tr", *found)


def items(texts: Iterable[object], ordered: bool = False, most: int = LINES) -> Markup:
    """A list of texts; beyond `most` of them their number is given."""
    texts = list(texts)
    lines = [element("li", escaped(text, 2 * CELL)) for text in texts[:most]]
    more = [element("p", _rest(len(texts), "lines", most), kind="quiet")] if len(texts) > most else []
    return Markup(element("ol" if ordered else "ul", *lines) + "".join(more))


def _rest(count: int, name: str, most: int) -> str:
    return f"... and {count - most:,} more {name}"


def details(summary: str, pieces: Iterable[Markup], shown: bool = False, most: int = SECTION) -> Markup:
    """What is seen after a click on the summary, or at once; of at most so many bytes."""
    inside = within(pieces, most)
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
