"""Docstrings are plain text, to be read in a terminal; here they become what Sphinx reads.

`code` stands in single backquotes, |x - z| is a norm, `name : text` is a field whose text may go on below, and a
paragraph that is indented is shown as it is. Examples stay untouched. Kernels get their formula, and where their own
docstring tells no cost, that of their family.
"""

from __future__ import annotations

import inspect
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
    if what == "class" and found and isinstance(getattr(obj, "formula", None), str):
        found[1:1] = told(obj)
    section = ""
    result: list[str] = []
    for paragraph in found:
        section = heading(paragraph) or section
        result += [*written(paragraph, section), ""]
    lines[:] = result


def paragraphs(lines: list[str]) -> Iterator[Paragraph]:
    """Lines that stand together."""
    block: Paragraph = []
    for line in [*lines, ""]:
        if line.strip():
            block.append(line)
        elif block:
            yield block
            block = []


def told(kernel: Any) -> list[Paragraph]:
    """The formula of a kernel, and its cost, where its own docstring does not tell it."""
    formula = [["    k(x, z) = " + kernel.formula]] if kernel.formula else []
    docs = [inspect.cleandoc(each.__doc__ or "") for each in kernel.__mro__]
    if "Cost:" in docs[0]:
        return formula
    costs = [part for doc in docs[1:] for part in doc.split("\n\n") if part.startswith("Cost:")]
    return formula + [cost.split("\n") for cost in costs[:1]]


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
    if all(line.startswith("    ") for line in paragraph):
        return [".. code-block:: text", "", *paragraph]
    return escaped("\n".join(paragraph)).split("\n")


def listed(paragraph: Paragraph, title: str, indent: str) -> list[str]:
    """Fields: the names, or the type of what is returned, and below them all of the text."""
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
        elif not texts and not line.startswith(" "):
            result.append(line)
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
