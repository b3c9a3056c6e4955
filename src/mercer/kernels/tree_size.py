"""How large a tree is, found without walking through all of one that is larger."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from mercer.kernels.base import Kernel

MAX_NODES = 300
"""Nodes of a tree that is written out whole."""
MAX_DEPTH = 40
"""Its levels."""
MAX_VALUES = 320_000
"""Its values. A proof writes a node once more for each that stands above it: values count as often."""


def nodes(kernel: Kernel) -> Iterator[Kernel]:
    """The nodes of a tree, parents first; a node that stands in several places comes as often."""
    waiting = [kernel]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(node.children))


def moderate(kernel: Kernel) -> bool:
    """Whether a tree is small enough to be written out, and proven, in a third of a second.

    Trees share their parts: forty times (k + k).normalized() has more nodes than anybody can visit.

    >>> from mercer.kernels import Gaussian, Sum
    >>> moderate(Gaussian() + 1), moderate(Sum((Gaussian(),) * 10_000))
    (True, False)
    """
    waiting, count, values = [(kernel, 1)], 0, 0
    while waiting:
        node, depth = waiting.pop()
        count += 1
        values += depth * sum(_values(getattr(node, item.name)) for item in fields(node))
        if count + len(node.children) > MAX_NODES or depth > MAX_DEPTH or values > MAX_VALUES:
            return False
        waiting.extend((child, depth + 1) for child in node.children)
    return True


def _values(value: Any) -> int:
    """How many letters or numbers a field holds, about; of a matrix as rows, all of them."""
    if not isinstance(value, tuple | list) or not value:
        return len(value) if isinstance(value, str | bytes) else 1
    return len(value) * (len(value[0]) if isinstance(value[0], tuple | list | str) else 1)
