"""A kernel as a card for notebooks: its text, its formula, and what is known of it at a glance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from mercer.html import Markup, badge, brief, element, escaped, items
from mercer.kernels.base import Kernel
from mercer.kernels.proof.glance import glance
from mercer.kernels.tree_size import moderate, nodes

MAX_OUTLINE_DEPTH = 4
"""Levels that the outline of a large tree shows."""
MAX_OUTLINE_CHILDREN = 12
"""Children of a node that it shows."""
OPEN = " Lengths that are open are found from data."


def pieces(kernel: Kernel) -> Iterator[Markup]:
    """What a card shows of a kernel. Cost: up to half a second, however large the tree is."""
    if not moderate(kernel):
        yield element("p", badge("large"), " ", _named(kernel))
        yield _outline(kernel, MAX_OUTLINE_DEPTH)
        yield element("p", "mercer.prove(kernel) says whether this is a kernel.", kind="quiet")
        return
    proof = glance(kernel)
    yield element("p", badge(proof.status), " ", element("code", str(kernel)))
    yield from _formulas(kernel)
    yield element("p", f"It {proof._said()}", OPEN if kernel.is_open else "")
    yield proof._argument(shown=False)


def _formulas(kernel: Kernel) -> Iterator[Markup]:
    """The formula of each kind of kernel in the tree, in plain text; `kernel.latex()` has that of the whole."""
    below = {type(node): node for node in nodes(kernel) if not node.children and node.formula}
    if kernel.children:
        told = [element("code", f"{leaf.name}: {leaf.formula}") for leaf in below.values()]
        yield from [items(told)] if told else []
    elif kernel.formula:
        yield element("p", element("code", f"k(x, z) = {kernel.formula}"))


# -- trees that are too large -----------------------------------------------------------------------------------------


def _outline(kernel: Kernel, levels: int) -> Markup:
    """The first children of the first levels, and how many there are beside them."""
    children = kernel.children
    if not children:
        return Markup("")
    shown = [
        element("li", _named(child), _outline(child, levels - 1) if levels > 1 else Markup(""))
        for child in children[: MAX_OUTLINE_CHILDREN if levels == MAX_OUTLINE_DEPTH else 3]
    ]
    left = len(children) - len(shown)
    more = [element("li", f"... and {left:,} more", kind="quiet")] if left else []
    return element("ul", *shown, *more)


def _named(node: Kernel) -> Markup:
    """A node in a few letters: its name, its own numbers, and how many kernels are below."""
    below = {id(child) for child in node.children}
    own = {item.name: getattr(node, item.name) for item in fields(node)}
    told = [f"{name}={_cut(value)}" for name, value in own.items() if id(value) not in below and name != "parts"]
    count = f" of {len(node.children):,} kernels" if len(node.children) > 1 else ""
    return element("code", escaped(f"{node.name}({', '.join(told)}){count}" if told else f"{node.name}{count}", 400))


def _cut(value: object) -> str:
    """A number or a few; of many, how many they are."""
    many = isinstance(value, tuple | list | str) and len(value) > 6
    return f"{brief(value, 60)} [{len(value):,} in all]" if many else brief(value, 60)  # type: ignore[arg-type]
