"""Fill the tables of pages from the last whole run, or say where they have other figures; sentences stay as written.

    python benchmarks/figures.py [RECORD] [--write]

A page has a line <!-- figures: NAME -->, a table, and a line <!-- end of figures -->. NAME is "rows of PART" or
"rows of PART TABLE" for the lines of a part, or one of TABLES. A place keeps its table where the record lacks a part.
Without --write nothing is changed, and the exit code is 1 where a page says something else: so does the test.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from lines import Run
from misses import missed
from page import HEAD, RECORD, cells, table
from speed_ups import PARTS, speed_ups

ROOT = Path(__file__).resolve().parent.parent
PLACE = re.compile(r"(?<=<!-- figures: )([a-z_ ]+)( -->\n)(.*?)(?=<!-- end of figures -->)", re.DOTALL)
TABLES: dict[str, tuple[Callable[[Run], str], tuple[str, ...]]] = {
    "missed": (missed, ()),
    "speed ups": (speed_ups, PARTS),
}
"""Tables that are no lines of one part, each with the parts that it reads."""
ROWS = "rows of "
CARD = "gpu.json"
"""The record of benchmarks/gpu.py."""


def pages(root: Path = ROOT) -> list[Path]:
    """Those that have places for figures."""
    some = [root / "README.md", *sorted((root / "docs").rglob("*.md"))]
    return [page for page in some if PLACE.search(page.read_text(encoding="utf-8"))]


def filled(text: str, run: Run) -> str:
    """A page with the figures of a run."""

    def renewed(place: re.Match[str]) -> str:
        name, end, old = place.groups()
        return f"{name}{end}{_table(name, run)}\n" if _is_measured(name, run) else f"{name}{end}{old}"

    return PLACE.sub(renewed, text)


def _is_measured(name: str, run: Run) -> bool:
    """Whether the record has lines of all the parts that a table reads."""
    parts = (name.removeprefix(ROWS).partition(" ")[0],) if name.startswith(ROWS) else _known(name)[1]
    return {line.part for line in run.lines}.issuperset(parts)


def _known(name: str) -> tuple[Callable[[Run], str], tuple[str, ...]]:
    if name not in TABLES:
        raise LookupError(f"no table has the name {name!r}; there are {', '.join(TABLES)}")
    return TABLES[name]


def _table(name: str, run: Run) -> str:
    return rows(name.removeprefix(ROWS), run) if name.startswith(ROWS) else _known(name)[0](run)


def rows(name: str, run: Run) -> str:
    """The lines of "PART" or "PART TABLE", without columns that nothing stands in."""
    part, _, wanted = name.partition(" ")
    lines = [line for line in run.lines if line.part == part and wanted in ("", line.table)]
    if not lines:
        raise LookupError(f"{part} has no lines of the table {wanted!r}")
    grid = [HEAD, *map(cells, lines)]
    filled_in = [column for column in zip(*grid, strict=True) if any(column[1:])]
    head, *others = zip(*filled_in, strict=True)
    return table(head, others)


def differing(run: Run, root: Path = ROOT) -> Iterator[Path]:
    """Pages whose figures are not those of a run."""
    for page in pages(root):
        if filled(text := page.read_text(encoding="utf-8"), run) != text:
            yield page


def recorded(record: Path) -> Run:
    """The lines of a record, and those of the graphics card, which is another machine, beside it."""
    run, card = Run.read(json.loads(record.read_text())), record.with_name(CARD)
    return Run((*run.lines, *Run.read(json.loads(card.read_text())).lines)) if card.exists() else run


def fill(record: Path) -> list[Path]:
    """Write the figures of a record into their pages: those that changed."""
    run = recorded(record)
    found = list(differing(run))
    for page in found:
        page.write_text(filled(page.read_text(encoding="utf-8"), run), encoding="utf-8")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("record", type=Path, nargs="?", default=RECORD)
    parser.add_argument("--write", action="store_true", help="fill the pages")
    options = parser.parse_args()
    found = fill(options.record) if options.write else list(differing(recorded(options.record)))
    for page in found:
        print(f"{page.relative_to(ROOT)}: {'filled' if options.write else 'has other figures than the record'}")
    return int(bool(found) and not options.write)


if __name__ == "__main__":
    sys.exit(main())
