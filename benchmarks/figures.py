"""Fill pages with the figures of the last whole run, or say where they have others.

    python benchmarks/figures.py [RECORD] [--write]

A page has a line <!-- figures: NAME -->, the text of that name (sentences.py), and a line <!-- end of figures -->.
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
from page import RECORD
from sentences import TEXTS, Run

ROOT = Path(__file__).resolve().parent.parent
PLACE = re.compile(r"(?<=<!-- figures: )([a-z ]+)( -->\n)(.*?)(?=<!-- end of figures -->)", re.DOTALL)
KNOWN: dict[str, Callable[[Run], str]] = TEXTS | {"missed": missed}
WIDTH = 120


def pages(root: Path = ROOT) -> list[Path]:
    """Those that have places for figures."""
    some = [root / "README.md", *sorted((root / "docs").rglob("*.md"))]
    return [page for page in some if PLACE.search(page.read_text(encoding="utf-8"))]


def filled(text: str, run: Run) -> str:
    """A page with the figures of a run."""
    return PLACE.sub(lambda place: f"{place[1]}{place[2]}{_lines(place[1], run)}\n", text)


def _lines(name: str, run: Run) -> str:
    if name not in KNOWN:
        raise LookupError(f"nothing has the name {name!r}; there are {', '.join(KNOWN)}")
    text = KNOWN[name](run)
    return text if text.startswith("|") else textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def differing(run: Run, root: Path = ROOT) -> Iterator[Path]:
    """Pages whose figures are not those of a run."""
    for page in pages(root):
        text = page.read_text(encoding="utf-8")
        if filled(text, run) != text:
            yield page


def fill(record: Path) -> list[Path]:
    """Write the figures of a record into their pages: those that changed."""
    run = Run.read(json.loads(record.read_text()))
    found = list(differing(run))
    for page in found:
        page.write_text(filled(page.read_text(encoding="utf-8"), run), encoding="utf-8")
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
