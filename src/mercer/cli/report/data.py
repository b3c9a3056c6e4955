"""What the table holds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.cli.report.case import Case
from mercer.cli.report.columns import ColumnLine, column_line
from mercer.cli.report.numbers import number, percent
from mercer.cli.report.page import Section, wide_table
from mercer.errors import number_of
from mercer.html import Markup, code, element, escaped, figure, joined, p, short

MAX_LISTED = 100
"""Columns, or classes, that are listed."""
BINS = 40


def data(case: Case) -> Section:
    """Rows, columns, what each of them holds, and the target."""
    done = case.done
    size = f"{number_of(done.sheet.rows, 'row')} and {number_of(done.sheet.width, 'column')}"
    counts = f"{size} were read from {done.sheet.name}"
    gone = done.target.dropped
    verb = "was" if gone == 1 else "were"
    dropped = f"; {number_of(gone, 'row')} without a target {verb} left out" if gone else ""
    kept = f"{number_of(len(done.parts.y), 'row', ('was', 'were'))} fitted, {done.held:,} held out."
    about = f"{counts} ({done.sheet.format}){dropped}. {kept}"
    body = _sparse(case) if done.sheet.sparse is not None else _columns(case)
    return Section("data", "The data", about, joined([body, *_target(case)]))


def _columns(case: Case) -> Markup:
    names = [name for name in case.done.sheet.names if name != case.done.target.name]
    lines = [column_line(case.done.sheet, name) for name in names[:MAX_LISTED]]
    rows = [_row(line, case.done.sheet.rows) for line in lines]
    more = [p(f"And {len(names) - MAX_LISTED:,} more columns.")] if len(names) > MAX_LISTED else []
    return joined([wide_table(rows, ["column", "holds", "missing", "different", "entries"], (2, 3)), *more])


def _row(line: ColumnLine, rows: int) -> list[object]:
    missing = f"{line.missing:,} ({percent(line.missing / rows)})" if line.missing else "0"
    different = "" if line.different is None else f"{line.different:,}"
    return [code(line.name), line.kind, missing, different, line.entries]


def _sparse(case: Case) -> Markup:
    rows: Any = case.done.look.rows(case.done.sheet)
    share = rows.nnz / max(1, rows.shape[0] * rows.shape[1])
    entries = f"{rows.nnz:,} entries are not zero, {percent(share)} of all: {rows.nnz / rows.shape[0]:.3g} a row."
    return p(f"The rows are sparse, and their columns have numbers for names, from 1 to {rows.shape[1]:,}. {entries}")


def _target(case: Case) -> list[object]:
    target = case.done.target
    title = element("h3", "The target ", code(target.name))
    why = p(f"It gives a {target.task}: {target.why}.")
    return [title, why, _classes(target.values) if case.classes else _histogram(target.values)]


def _classes(values: NDArray[Any]) -> Markup:
    labels, counts = np.unique(values, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    rows = [_class_row(labels[i], int(counts[i]), len(values), int(counts.max())) for i in order[:MAX_LISTED]]
    more = [p(f"And {len(labels) - MAX_LISTED:,} more classes.")] if len(labels) > MAX_LISTED else []
    return joined([wide_table(rows, ["class", "rows", "share", ""], (1, 2)), *more])


def _class_row(label: Any, count: int, rows: int, most: int) -> list[object]:
    bar = element("span", kind="bar", style=f"width: {8 * count / most:.2f}rem")
    return [code(short(str(label), 40)), f"{count:,}", percent(count / rows), bar]


def _histogram(values: NDArray[Any]) -> Markup:
    """Bars of equal width between the smallest and the largest value, as SVG."""
    counts, edges = np.histogram(values, bins=min(BINS, max(5, round(len(values) ** 0.5))))
    width, height = 600 / len(counts), 110 / counts.max()
    bars = [
        f'<rect x="{i * width + 0.5:.2f}" y="{120 - count * height:.2f}" width="{width - 1:.2f}" '
        f'height="{count * height:.2f}"/>'
        for i, count in enumerate(counts)
    ]
    line = '<path d="M0 120.5H600" stroke="currentColor"/>'
    places = ((0, "start", edges[0]), (300, "middle", (edges[0] + edges[-1]) / 2), (600, "end", edges[-1]))
    texts = [f'<text x="{x}" y="136" text-anchor="{a}">{escaped(number(float(v)))}</text>' for x, a, v in places]
    inside = f'<g fill="#4c8bd6">{"".join(bars)}</g>{line}<g fill="currentColor" font-size="12">{"".join(texts)}</g>'
    picture = f'<svg viewBox="0 0 600 142" role="img" aria-label="histogram of the target">{inside}</svg>'
    mean, deviation, median = (number(float(f(values))) for f in (np.mean, np.std, np.median))
    return figure(Markup(picture), f"Rows by their target: mean {mean}, deviation {deviation}, median {median}.")
