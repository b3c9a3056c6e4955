"""A figure as SVG that stands inside a page: its own names, the page's colours, nothing from elsewhere."""

from __future__ import annotations

import re
from io import BytesIO
from typing import Any
from xml.etree import ElementTree

LINK = "{http://www.w3.org/1999/xlink}href"
SPACE = "{http://www.w3.org/2000/svg}"
UNFIT = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xef\xbf[\xbe\xbf]")
"""What a text in a figure may hold, and XML or a page may not, in UTF-8: control characters, what is no character."""
LEFT_OUT = ("metadata", "style")
"""Elements that speak of the file, or to the whole page."""
INK = {"#000000": "currentColor", "black": "currentColor", "#262626": "currentColor"}
MAX_PIXELS_PER_INCH = 100
"""How wide an inch is shown, at most."""
DOTS_PER_INCH = 110
"""Dots an inch, of bitmaps inside."""


def inline_svg(figure: Any, name: str, title: str) -> str:
    """The text of an `<svg>` element for a page; black becomes the colour of the page's text.

    figure : of matplotlib
    name : what its ids begin with; another for each picture of a page
    title : a description for screen readers
    """
    from matplotlib import rc_context

    drawn = BytesIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": name, "svg.image_inline": True}):
        figure.savefig(
            drawn, format="svg", transparent=True, dpi=DOTS_PER_INCH, metadata={"Date": None, "Creator": None}
        )
    root = ElementTree.fromstring(UNFIT.sub("\ufffd".encode(), drawn.getvalue()))  # noqa: S314  # matplotlib wrote it just now
    _clean(root, name)
    for key in ("width", "height"):
        root.attrib.pop(key, None)
    width = figure.get_size_inches()[0] * MAX_PIXELS_PER_INCH
    root.attrib |= {"role": "img", "aria-label": title, "style": f"max-width: {width:.0f}px"}
    return ElementTree.tostring(root, encoding="unicode", short_empty_elements=True)


def _clean(node: Any, name: str) -> None:
    """Without spaces of names, with ids of its own, in the colours of the page."""
    node.tag = node.tag.removeprefix(SPACE)
    for child in list(node):
        if child.tag.removeprefix(SPACE) in LEFT_OUT:
            node.remove(child)
        else:
            _clean(child, name)
    if LINK in node.attrib:
        node.attrib["href"] = node.attrib.pop(LINK)
    for key, value in list(node.attrib.items()):
        node.attrib[key] = _value(key, value, name)


def _value(key: str, value: str, name: str) -> str:
    if key == "id":
        return f"{name}-{value}"
    if key == "href":
        return f"#{name}-{value[1:]}" if value.startswith("#") else value
    value = value.replace("url(#", f"url(#{name}-")
    if key in ("style", "fill", "stroke"):
        for ink, colour in INK.items():
            value = value.replace(ink, colour)
        return _fonts(value)
    return value


def _fonts(style: str) -> str:
    """The sizes of letters stay, the page says which letters."""
    parts = [part.strip() for part in style.split(";")]
    return "; ".join(_font(part) for part in parts if part)


def _font(part: str) -> str:
    if part.startswith("font:"):
        size = next((word for word in part.split() if word.endswith("px")), "10px")
        return f"font-size: {size}"
    return part
