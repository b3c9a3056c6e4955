"""The page around the sections: head, style, and a list of what is in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mercer.html import WHOLE, Markup, element, items, joined, p, table

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""A browser that keeps to it loads nothing from anywhere, whatever is in the page."""


def wide_table(rows: Iterable[Sequence[object]], head: Sequence[str] = (), numbers: Sequence[int] = ()) -> Markup:
    """All rows, in a box that scrolls where they are too wide; columns of `numbers` are aligned to the right."""
    return element("div", table(rows, head, numbers=numbers, most=WHOLE), kind="wide", tabindex="0")


@dataclass(frozen=True)
class Section:
    """One part of the report.

    key : its id; title : above it
    about : what one sees, in a sentence or two
    body : the rest, as HTML
    """

    key: str
    title: str
    about: object
    body: Markup

    def html(self) -> Markup:
        """The section as an element."""
        about = element("p", self.about, kind="about") if self.about else Markup("")
        return element("section", element("h2", self.title), about, self.body, id=self.key)


def page(title: str, below: object, sections: Sequence[Section]) -> str:
    """The whole file."""
    links = items([element("a", section.title, href=f"#{section.key}") for section in sections])
    head = joined(
        [
            element("meta", charset="utf-8"),
            element("meta", http_equiv="Content-Security-Policy", content=POLICY),
            element("meta", name="viewport", content="width=device-width, initial-scale=1"),
            element("meta", name="color-scheme", content="light dark"),
            element("meta", name="generator", content="mercer"),
            element("title", title),
            element("style", Markup(STYLE)),
        ]
    )
    top = element("header", element("h1", title), p(below), element("nav", links, aria_label="contents"))
    main = element("main", joined(section.html() for section in sections))
    return "<!DOCTYPE html>\n" + element("html", element("head", head), element("body", top, main), lang="en") + "\n"


STYLE = """
:root { --ink: #1d2129; --soft: #5b6472; --paper: #ffffff; --panel: #f4f6f8; --line: #d9dee5; --mark: #1f5fbf;
  --bad: #b42318; --look: #8a5a00; --good: #1a7f37; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e8ee; --soft: #9aa5b4; --paper: #14171c; --panel: #1d2229;
  --line: #363d48; --mark: #7fb0ff; --bad: #ff8a7d; --look: #f0b849; --good: #6fd08c; } }
* { box-sizing: border-box; }
html { color: var(--ink); background: var(--paper); }
body { margin: 0 auto; max-width: 62rem; padding: 1.5rem 1.25rem 4rem; overflow-wrap: break-word;
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 .3rem; }
h2 { font-size: 1.3rem; margin: 2.6rem 0 .4rem; padding-top: .8rem; border-top: 1px solid var(--line); }
h3 { font-size: 1.05rem; margin: 1.6rem 0 .3rem; }
p { margin: .5rem 0; max-width: 46rem; }
a { color: var(--mark); }
header p, .about, figcaption, .soft { color: var(--soft); }
nav ul { list-style: none; padding: 0; margin: .8rem 0 0; display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; }
code, pre { font: .875em/1.5 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
code { unicode-bidi: isolate; overflow-wrap: anywhere; }
pre { background: var(--panel); border: 1px solid var(--line); border-radius: 6px; padding: .7rem .9rem;
  overflow-x: auto; }
pre code { font-size: .82rem; overflow-wrap: normal; }
.formula { white-space: pre-wrap; } .formula code { overflow-wrap: anywhere; }
.wide { overflow-x: auto; margin: .8rem 0; }
table { border-collapse: collapse; font-size: .92rem; }
th, td { text-align: left; vertical-align: top; padding: .3rem .9rem .3rem 0; border-bottom: 1px solid var(--line); }
th[scope=col] { color: var(--soft); font-weight: 600; white-space: nowrap; }
th[scope=row] { font-weight: inherit; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.headline { display: flex; flex-wrap: wrap; gap: .8rem; margin: 1rem 0; }
.card { background: var(--panel); border: 1px solid var(--line); border-radius: 8px; padding: .7rem 1rem;
  min-width: 11rem; flex: 1 1 11rem; }
.card b { display: block; font-size: 1.5rem; font-variant-numeric: tabular-nums; line-height: 1.3; }
.card span { display: block; color: var(--soft); font-size: .88rem; }
.pair { display: flex; flex-wrap: wrap; gap: 1rem; }
.pair figure { flex: 1 1 22rem; min-width: 0; }
figure { margin: 1rem 0; max-width: 44rem; }
figure svg { width: 100%; height: auto; display: block; color: var(--ink);
  font-family: system-ui, -apple-system, "Segoe UI", Roboto, Arial, sans-serif; }
figure svg text { fill: currentColor; }
figcaption { font-size: .88rem; margin-top: .2rem; }
.bar { display: inline-block; height: .7em; min-width: 1px; background: var(--mark); border-radius: 2px; }
.finding { border-left: 4px solid var(--line); background: var(--panel); border-radius: 0 6px 6px 0;
  padding: .5rem .9rem; margin: .7rem 0; }
.finding h3 { margin: 0; } .finding p { margin: .2rem 0; }
.serious { border-color: var(--bad); } .serious .how { color: var(--bad); }
.look { border-color: var(--look); } .look .how { color: var(--look); }
.how { font-size: .85rem; font-weight: 600; }
.good { color: var(--good); } .bad { color: var(--bad); }
summary { cursor: pointer; color: var(--mark); margin: .5rem 0; }
@media print { body { max-width: none; padding: 0; font-size: 11pt; } nav { display: none; }
  details > *, details::details-content { display: block; content-visibility: visible; }
  h2, h3, .about { break-after: avoid; } pre { white-space: pre-wrap; } .wide { overflow: visible; }
  figure, .finding, tr { break-inside: avoid; } }
"""
