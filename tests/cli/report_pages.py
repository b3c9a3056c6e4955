"""Reports as tests read them, and tables to report on."""

import re
from html.parser import HTMLParser

import numpy as np
import pyarrow
from pyarrow import parquet

VOID = {"meta", "br", "hr"}
EVIL = "<script>alert(1)</script>"


class Page(HTMLParser):
    """A page: its tags must be balanced; texts by sections."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.attributes, self.sections, self.at = [], [], [], {}, None
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attrs]
        if tag == "section":
            self.at = dict(attrs)["id"]
            self.sections[self.at] = ""
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attrs]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        if tag == "section":
            self.at = None

    def handle_data(self, data):
        if self.at is not None:
            self.sections[self.at] += data


def page(path):
    """A report that is well formed, and asks for nothing from elsewhere."""
    text = path.read_bytes().decode()
    found = Page(text)
    assert not {"script", "link", "iframe", "object", "embed", "form", "base", "img"} & set(found.tags)
    assert not [name for _, name, _ in found.attributes if name.startswith("on")]
    for tag, name, value in found.attributes:
        if name in ("href", "src", "action", "data", "xlink:href"):
            assert value.startswith("#") or (tag == "image" and value.startswith("data:image/png;base64,"))
    assert not re.search(r"@import|url\((?!#)", text)
    assert "default-src 'none'; style-src 'unsafe-inline'; img-src data:" in [value for *_, value in found.attributes]
    assert len(text) < 500_000
    return found


def write(path, **columns):
    """A table as Parquet."""
    parquet.write_table(pyarrow.table(columns), path)
    return path


def clean_regression(count=160, seed=0):
    """Two columns that tell, one that does not, and a target with noise."""
    rng = np.random.default_rng(seed)
    a, b, noise = rng.normal(size=(3, count))
    return {"a": a, "b": b, "noise": noise, "y": 3 * a + np.sin(2 * b) + 0.1 * rng.normal(size=count)}


def clean_classes(count=160, seed=0, classes=2):
    """Rings around one center, a little blurred: no line separates them."""
    rng = np.random.default_rng(seed)
    place, turn = np.arange(count) % classes, rng.uniform(0, 2 * np.pi, count)
    radius = 1 + place + rng.normal(scale=0.2, size=count)
    return {"x": radius * np.cos(turn), "z": radius * np.sin(turn), "c": np.array([f"class {k}" for k in place])}
