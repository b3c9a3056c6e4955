"""The page of the documentation that shows a run of the suite: tables, pictures, the machine; no number by hand.

python benchmarks/page.py [RECORD] [--docs FOLDER]
"""

from __future__ import annotations

import argparse
import ast
import json
import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from lines import FASTER, MORE, Line, Spread, stopped

HERE = Path(__file__).resolve().parent
RECORD, DOCS = HERE / "results" / "suite.json", HERE.parent / "docs"
HEAD = ("work", "against", "ours", "theirs", "measure", "how good, ours / theirs", "MB, ours / theirs", "goal", "met")
LONGEST = 200
"""Letters of a reason."""
QUICK = (
    "**This was a quick run**: sizes are small, most parts are not complete, and goals mean little. `make bench` makes "
    "the whole page."
)
INTRODUCTION = """\
Everything here was written by [benchmarks/page.py](../benchmarks/page.py) from the record of
[benchmarks/suite.py](../benchmarks/suite.py) (`make bench`; `make bench-quick` takes small sizes). Parts can be run
alone, and keep their place in the record; each says when it ran. The record is
[{record}](../benchmarks/results/{record}), and
[benchmarks/regress.py](../benchmarks/regress.py) compares two of them.

Those that are compared took turns (A, B, A, B ...). Times are the best of several turns, with the quartiles of all in
brackets, so that one sees the noise; work that takes minutes had one turn. A measure is the best against the best, and
its brackets are the quartiles of the ratios, turn by turn. Memory is what the work added to a process of its own at its
peak. Compare ratios, not seconds, with those of another machine.

In pictures, a bar goes from the first to the third of these quartiles, | is the goal, a dotted line is the limit of a
fit in time or memory, and a cross is where somebody gave out: the tables say why."""


def write(record: dict[str, Any], name: str = RECORD.name, docs: Path = DOCS) -> None:
    """The page and its pictures."""
    from page_pictures import draw

    lines = [Line.read(row) for row in record["rows"]]
    pictures = draw(lines, record["growth"], docs / "pictures")
    text = "\n\n".join(_blocks(record, lines, name, pictures))
    (docs / "benchmarks.md").write_text(text + "\n", encoding="utf-8")


def _blocks(record: dict[str, Any], lines: list[Line], name: str, pictures: dict[str, list[str]]) -> Iterator[str]:
    yield "# Benchmarks"
    if record["quick"]:
        yield QUICK
    yield INTRODUCTION.format(record=name)
    yield "## The machine"
    yield table(("what", "which"), [(str(what), str(which)) for what, which in record["machine"].items()])
    yield f"So it was on {record['date']}, when the record was last written. Each part says on which processor it ran."
    yield "## The peers"
    yield table(
        ("peer", "version", ""), [(p["name"], p["version"], cut(p["trouble"]) or "works") for p in record["peers"]]
    )
    yield from _shown(pictures["all"])
    yield "## Goals that are not met"
    missed = [line for line in lines if line.met is False]
    counted = sum(line.met is not None for line in lines)
    yield f"{len(missed)} of {counted} goals are not met" + (":" if missed else ".")
    if missed:
        yield table(("part", *HEAD), [(line.part, *cells(line)) for line in missed])
    for part, done in record["parts"].items():
        yield from _part(part, done, [line for line in lines if line.part == part], pictures.get(part, []))


def _part(part: str, done: dict[str, Any], lines: list[Line], pictures: list[str]) -> Iterator[str]:
    yield f"## {part}"
    minutes = f", {done['seconds'] / 60:.1f} minutes" if done["seconds"] else ""
    day = "".join(f", {done[key]}" for key in ("date", "processor") if done.get(key))
    yield f"{_about(part)} ([benchmarks/{part}.py](../benchmarks/{part}.py){day}{minutes})"
    if done["trouble"]:
        yield f"**{cut(done['trouble'])}**"
    yield from _shown(pictures)
    if lines:
        yield table(HEAD, [cells(line) for line in lines])


def _about(part: str) -> str:
    """The first sentence of a script."""
    text = ast.get_docstring(ast.parse((HERE / f"{part}.py").read_text(encoding="utf-8"))) or ""
    return text.partition("\n")[0]


def _shown(pictures: Iterable[str]) -> Iterator[str]:
    for picture in pictures:
        yield f"![{picture.removesuffix('.png').replace('_', ' ')}](pictures/{picture})"


# -- cells ------------------------------------------------------------------------------------------------------------


def cells(line: Line) -> tuple[str, ...]:
    """One row of a table, under HEAD."""
    measure = f"FAILED: {cut(line.failed)}" if line.failed else _measure(line)
    goal = "" if line.goal is None else f"{'≥' if line.better == MORE else '≤'} {line.goal:g}"
    met = {None: "", True: "yes", False: "**no**"}[line.met]
    memory = "" if line.memory is None else _pair(*line.memory, ".0f")
    return (
        line.work, line.peer, _seconds(line.ours), _seconds(line.theirs), measure, quality(line), memory, goal, met,
    )  # fmt: skip


def _measure(line: Line) -> str:
    if line.ratio is None:
        return ""
    spread = "" if line.spread is None else f" ({short(line.spread[0])} to {short(line.spread[2])})"
    unit = "times" if line.unit == FASTER else line.unit
    return f"{'at least ' * stopped(line)}{short(line.ratio)}{spread} {unit}".strip()


def _seconds(spread: Spread | None) -> str:
    if spread is None:
        return ""
    quartiles = f" ({short(spread.quartiles[0])} to {short(spread.quartiles[2])})" if spread.turns > 1 else ""
    return f"{short(spread.best)} s{quartiles}"


def quality(line: Line) -> str:
    """How good both are, in their own measure."""
    if line.accuracy is None:
        return ""
    name, ours, theirs = line.accuracy
    return f"{name} {_pair(ours, theirs, '.4g')}"


def _pair(ours: float | None, theirs: float | None, form: str) -> str:
    return " / ".join("" if value is None else f"{value:{form}}" for value in (ours, theirs)).removesuffix(" / ")


def short(value: float) -> str:
    """Three digits, without powers of ten where people can do without."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) >= 1e-3 else f"{value:.1e}"


def cut(text: str) -> str:
    """A reason in one line, without what a table would take for its own."""
    flat = " ".join(text.split()).replace("|", "/").replace("<", "&lt;").replace("*", "\\*")
    return flat if len(flat) <= LONGEST else flat[: LONGEST - 3] + "..."


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """In Markdown."""
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("record", type=Path, nargs="?", default=RECORD)
    parser.add_argument("--docs", type=Path, default=DOCS, help="where benchmarks.md and pictures/ are")
    options = parser.parse_args()
    write(json.loads(options.record.read_text()), options.record.name, options.docs)
    print(f"written: {options.docs / 'benchmarks.md'}")


if __name__ == "__main__":
    main()
