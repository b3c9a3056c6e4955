"""Docstrings are plain text, to be read in a terminal; here they become what Sphinx reads, and kernels get their formula.

`code` stands in single backquotes, |x - z| is a norm, `name : text` a field whose text may go on below, and a paragraph that
is indented is shown as it is. Examples stay untouched.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

Paragraph = list[str]

FIELD = re.compile(r"^(\*{0,2}\w[\w*, ]*?) : (.*)$")
FIELDS = ("Parameters", "Attributes", "Returns", "Raises", "Yields")
CODE = re.compile(r"`([^`]+)`")
MARKS = re.compile(r"([\\*|])|_(?!\w)")


def setup(app: Any) -> dict[str, bool]:
    """Before numpydoc, whose priority is 500, looks at the docstring."""
    app.connect("autodoc-process-docstring", rewrite, priority=400)
    return {"parallel_read_safe": True}


def rewrite(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Change the lines in place, as Sphinx asks for."""
    found = list(paragraphs(lines))
    formula = getattr(obj, "formula", "") if what == "class" else ""
    if isinstance(formula, str) and formula and found:
        found.insert(1, ["", "    k(x, z) = " + formula])
    section = ""
    result: list[str] = []
    for paragraph in found:
        section = heading(paragraph) or section
        result += [*written(paragraph, section), ""]
    lines[:] = result


def paragraphs(lines: list[str]) -> Iterator[Paragraph]:
    """Lines that stand together; one of an indented text begins with an empty line, to be known again."""
    block: Paragraph = []
    for line in [*lines, ""]:
        if line.strip():
            block.append(line)
        elif block:
            yield block
            block = []


def heading(paragraph: Paragraph) -> str:
    """The title of a section, where a paragraph begins with one."""
    underlined = len(paragraph) > 1 and set(paragraph[1].strip()) == {"-"}
    return paragraph[0].strip() if underlined else ""


def written(paragraph: Paragraph, section: str) -> list[str]:
    """A paragraph in reStructuredText."""
    if heading(paragraph):
        return [*paragraph[:2], *written(paragraph[2:], section)]
    if not paragraph or paragraph[0].lstrip().startswith(">>>"):
        return paragraph
    if section in FIELDS:
        return listed(paragraph, "{}", "    ")
    if FIELD.match(paragraph[0]) and not section:
        return listed(paragraph, "- **{}**:", "  ")
    if all(line.startswith("    ") or not line for line in paragraph):
        return [".. code-block:: text", "", *[line for line in paragraph if line]]
    return escaped("\n".join(paragraph)).split("\n")


def listed(paragraph: Paragraph, title: str, indent: str) -> list[str]:
    """Fields: the names, and below them all of the text."""
    result: list[str] = []
    texts: list[str] = []
    for line in [*paragraph, " : "]:
        field = FIELD.match(line)
        if (field or line == " : ") and texts:
            result += [indent + each for each in escaped("\n".join(texts)).split("\n")]
            texts = []
        if field:
            result.append(title.format(names(field[1])))
            texts = [field[2]]
        elif line != " : ":
            texts.append(line.strip())
    return result


def names(text: str) -> str:
    """Names of fields, of which numpydoc itself escapes the last one's underscore."""
    first, comma, last = text.rpartition(", ")
    return escaped(first) + comma + last


def escaped(text: str) -> str:
    """Plain text, in which only backquotes mean something."""
    parts = CODE.split(text)
    return "".join(f"``{part}``" if odd % 2 else MARKS.sub(r"\\\g<0>", part) for odd, part in enumerate(parts))
