"""HTML that cannot be broken by what stands in a table: whatever is not Markup is escaped."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import Any

LONG = 80
"""Characters of a name or a label, at most."""
VOID = ("meta", "br", "hr")
CONTROLS = {code: "\ufffd" for code in (*range(32), *range(127, 160)) if chr(code) not in "\t\n"}
"""Control characters, which no page shows."""


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def escaped(value: object) -> Markup:
    """A value as text of a page; Markup as it is.

    >>> escaped("<b>"), escaped(Markup("<b>"))
    ('&lt;b&gt;', '<b>')
    """
    return value if isinstance(value, Markup) else Markup(html.escape(str(value).translate(CONTROLS)))


def element(name: str, /, *inside: object, **attributes: str) -> Markup:
    """An element with what is inside; `class_` for class.

    >>> element("a", "x < y", href="#top", class_="far")
    '<a href="#top" class="far">x &lt; y</a>'
    """
    told = "".join(f' {key.rstrip("_").replace("_", "-")}="{escaped(value)}"' for key, value in attributes.items())
    if name in VOID:
        return Markup(f"<{name}{told}>")
    return Markup(f"<{name}{told}>{''.join(map(escaped, inside))}</{name}>")


def joined(parts: Iterable[object]) -> Markup:
    """Parts one after the other."""
    return Markup("\n".join(map(escaped, parts)))


def p(*inside: object) -> Markup:
    """A paragraph."""
    return element("p", *inside)


def code(text: object, most: int = LONG) -> Markup:
    """A name or a formula as it stands in the data, cut where it is long."""
    return element("code", short(str(text), most))


def short(text: str, most: int = LONG) -> str:
    """A text of at most so many characters.

    >>> short("abcdefgh", 6)
    'abc...'
    """
    return text if len(text) <= most else text[: most - 3] + "..."


def pre(text: object) -> Markup:
    """Lines as they are, in a box that scrolls."""
    return element("pre", element("code", text))


def formula(text: object) -> Markup:
    """A formula in a box, over several lines where it is long."""
    return element("pre", element("code", text), class_="formula")


def details(summary: object, *inside: object) -> Markup:
    """What opens on a click."""
    return element("details", element("summary", summary), *inside)


def items(lines: Iterable[object], name: str = "ul") -> Markup:
    """A list."""
    return element(name, *(element("li", line) for line in lines))


def table(head: Sequence[object], rows: Iterable[Sequence[object]], numbers: Sequence[int] = ()) -> Markup:
    """A table; `numbers` are the columns that are aligned to the right. It scrolls where it is too wide."""
    cells = [_cell("th", i, cell, numbers, scope="col") for i, cell in enumerate(head)]
    lines = [element("tr", *(_cell("td", i, cell, numbers) for i, cell in enumerate(row))) for row in rows]
    top = [element("thead", element("tr", *cells))] if cells else []
    whole = element("table", *top, element("tbody", *lines))
    return element("div", whole, class_="wide", tabindex="0")


def _cell(name: str, place: int, inside: object, numbers: Sequence[int], **attributes: str) -> Markup:
    if place in numbers:
        attributes["class_"] = "number"
    return element(name, inside, **attributes)


def figure(picture: object, caption: object) -> Markup:
    """A picture with a line below."""
    return element("figure", picture, element("figcaption", caption))


def number(value: Any) -> str:
    """A number for people.

    >>> number(1234567), number(0.000123456), number(float("nan")), number(3.0), number(12345.6)
    ('1,234,567', '0.0001235', '-', '3', '12,346')
    """
    if isinstance(value, int):
        return f"{value:,}"
    if value != value:
        return "-"
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e9 else f"{value:.4g}"


def percent(share: float) -> str:
    """A share for people.

    >>> percent(0.1234), percent(1.0), percent(0.0004)
    ('12.3 %', '100 %', '0.04 %')
    """
    return f"{100 * share:.3g} %"
