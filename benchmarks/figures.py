"""Fill pages with the figures of the last whole run, or say where they have others.

    python benchmarks/figures.py [RECORD] [--write]

A page has a line <!-- figures: NAME -->, the text of that name (sentences.py), and a line <!-- end of figures -->. A
sentence ends with a link to the script that measured it. The name "rows of PART" or "rows of PART TABLE" stands for a
table of the lines of a part. A place keeps its text where the record has nothing of its part.
Without --write nothing is changed, and the exit code is 1 where a page says something else: so does the test.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

from misses import missed
from page import HEAD, RECORD, cells, table
from sentences import SCRIPTS, TEXTS, Run

ROOT = Path(__file__).resolve().parent.parent
PLACE = re.compile(r"(?<=<!-- figures: )([a-z_ ]+)( -->\n)(.*?)(?=<!-- end of figures -->)", re.DOTALL)
KNOWN: dict[str, Callable[[Run], str]] = TEXTS | {"missed": missed}
ROWS = "rows of "
WIDTH = 120


def pages(root: Path = ROOT) -> list[Path]:
    """Those that have places for figures."""
    some = [root / "README.md", *sorted((root / "docs").rglob("*.md"))]
    return [page for page in some if PLACE.search(page.read_text(encoding="utf-8"))]


def filled(text: str, run: Run, up: str = "") -> str:
    """A page with the figures of a run; `up` leads from it to the root of the project."""

    def renewed(place: re.Match[str]) -> str:
        name, end, old = place.groups()
        return f"{name}{end}{_lines(name, run, up)}\n" if _is_known(name, run) else f"{name}{end}{old}"

    return PLACE.sub(renewed, text)


def _is_known(name: str, run: Run) -> bool:
    """Whether the record has lines of the part that a place speaks of; those of no part are always known."""
    part = name.removeprefix(ROWS).partition(" ")[0] if name.startswith(ROWS) else SCRIPTS.get(name)
    return part is None or any(line.part == part for line in run.lines)


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


def _lines(name: str, run: Run, up: str) -> str:
    if name.startswith(ROWS):
        return rows(name.removeprefix(ROWS), run)
    if name not in KNOWN:
        raise LookupError(f"nothing has the name {name!r}; there are {', '.join(KNOWN)}")
    text = KNOWN[name](run)
    if text.startswith("|"):
        return text
    if name in SCRIPTS:
        script = f"benchmarks/{SCRIPTS[name]}.py"
        text = f"{text.removesuffix('.')} ([{script}]({up}{script}))."
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def _renewed(page: Path, run: Run, root: Path) -> str:
    """A page as it should be."""
    up = "../" * (len(page.relative_to(root).parts) - 1)
    return filled(page.read_text(encoding="utf-8"), run, up)


def differing(run: Run, root: Path = ROOT) -> Iterator[Path]:
    """Pages whose figures are not those of a run."""
    for page in pages(root):
        if _renewed(page, run, root) != page.read_text(encoding="utf-8"):
            yield page


def fill(record: Path) -> list[Path]:
    """Write the figures of a record into their pages: those that changed."""
    run = Run.read(json.loads(record.read_text()))
    found = list(differing(run))
    for page in found:
        page.write_text(_renewed(page, run, ROOT), encoding="utf-8")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("record", type=Path, nargs="?", default=RECORD)
    parser.add_argument("--write", action="store_true", help="fill the pages")
    options = parser.parse_args()
    found = fill(options.record) if options.write else list(differing(Run.read(json.loads(options.record.read_text()))))
    for page in found:
        print(f"{page.relative_to(ROOT)}: {'filled' if options.write else 'has other figures than the record'}")
    return int(bool(found) and not options.write)


if __name__ == "__main__":
    sys.exit(main())
