"""Blocks of code lose the empty line at their end, which Python's doctest needs before the fence."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.transforms import SphinxTransform


def setup(app: Any) -> dict[str, bool]:
    """Early, as long as texts are as they were written."""
    app.add_transform(TidyCode)
    return {"parallel_read_safe": True}


class TidyCode(SphinxTransform):
    """Each block of code without white space at its end."""

    default_priority = 200

    def apply(self, **options: Any) -> None:
        for block in self.document.findall(nodes.literal_block):
            text = block.astext().rstrip()
            if len(block.children) == 1 and isinstance(block.children[0], nodes.Text):
                block.rawsource, block.children[0] = text, nodes.Text(text)
                block.children[0].parent = block
