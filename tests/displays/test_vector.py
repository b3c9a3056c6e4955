"""Figures inside of a page."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

from mercer.displays import ImportanceDisplay
from mercer.displays.base import new_figure
from mercer.displays.vector import inline_svg

pytest.importorskip("matplotlib.figure")
EVIL = "<script>alert(1)</script>&\"'"


class Ids(HTMLParser):
    def __init__(self):
        super().__init__()
        self.ids, self.links, self.tags, self.text = set(), set(), set(), ""

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.tags.add(tag)
        self.ids |= {found["id"]} if "id" in found else set()
        links = re.findall(r"url\(#([^)]*)\)", " ".join(str(value) for value in found.values()))
        self.links |= set(links) | ({found["href"][1:]} if found.get("href", "").startswith("#") else set())

    def handle_data(self, data):
        self.text += data


def read(svg):
    parser = Ids()
    parser.feed(svg)
    return parser


def test_ids_are_its_own_and_all_links_lead_somewhere():
    figure = ImportanceDisplay(["a", "b"], [1.0, 2.0]).plot().figure_
    first, second = (read(inline_svg(figure, name, "bars")) for name in ("one", "two"))
    assert not first.ids & second.ids
    assert first.links
    assert first.links <= first.ids


def test_nothing_is_asked_from_elsewhere():
    figure = new_figure()
    figure.add_subplot().scatter(np.arange(2000.0), np.arange(2000.0), rasterized=True)
    svg = inline_svg(figure, "r", "points")
    assert "http" not in svg
    assert re.findall(r'(?:href|src)="([^#][^:]*:)', svg) == ["data:"]  # the bitmap of the points
    assert not {"style", "script", "metadata"} & read(svg).tags
    assert svg.startswith("<svg ")
    assert 'aria-label="points"' in svg


def test_texts_of_the_data_are_texts():
    found = read(inline_svg(ImportanceDisplay([EVIL], [1.0]).plot().figure_, "i", EVIL))
    assert "script" not in found.tags
    assert EVIL[:25] in found.text


def test_ink_is_that_of_the_page():
    svg = inline_svg(ImportanceDisplay(["a"], [1.0]).plot().figure_, "i", "bars")
    assert "currentColor" in svg
    assert "#000000" not in svg
