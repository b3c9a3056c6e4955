"""A strict reader of cards: what a browser would be lenient about fails here."""

import re
from html.parser import HTMLParser

PLAIN = {"div", "p", "b", "span", "code", "table", "tr", "th", "td", "ul", "ol", "li", "details", "summary", "style"}
ATTRIBUTES = {"class", "open", "scope"}
MOST = 50_000
SCRIPTED = "<script>alert(1)</script>"


class Page(HTMLParser):
    """Elements that are open, and all that was read: no tag or attribute is allowed that could do anything."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.waiting, self.tags, self.words, self.style = [], [], [], ""
        self.feed(text)
        self.close()
        assert self.waiting == [], f"never closed: {self.waiting}"

    def handle_starttag(self, tag, attributes):
        assert tag in PLAIN, tag
        assert {name for name, _ in attributes} <= ATTRIBUTES, attributes
        self.waiting.append(tag)
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.waiting, tag
        assert self.waiting.pop() == tag

    def handle_data(self, data):
        if self.waiting[-1] == "style":
            self.style += data
        else:
            self.words.append(data)

    def handle_comment(self, data):
        raise AssertionError(data)

    handle_decl = handle_pi = unknown_decl = handle_comment

    @property
    def text(self):
        return "".join(self.words)


def read(card):
    """The card, once it is known to be in order, small, and to style nothing but itself."""
    assert isinstance(card, str)
    assert len(card.encode()) <= MOST  # which lone surrogates would not survive
    page = Page(card)
    selectors = [each for rule in re.findall(r"([^{}]+)\{", page.style) for each in rule.split(",")]
    assert selectors
    assert all(each == ".mercer-card" or each.startswith(".mercer-card ") for each in selectors)
    assert page.style.count("{") == page.style.count("}")
    assert "url(" not in page.style
    assert page.tags.count("style") == page.tags.count("div") == 1
    return page


def read_piece(*pieces):
    """Pieces of a card alone."""
    return Page("".join(pieces))
