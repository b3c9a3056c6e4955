"""Which columns matter."""

from __future__ import annotations

from mercer.cli.report.case import Case, drawn
from mercer.cli.report.importance import Importance, importance
from mercer.cli.report.numbers import number
from mercer.cli.report.page import Section, wide_table
from mercer.html import code, joined, p

TITLE = "Which columns matter"
MAX_LISTED_COLUMNS = 40
"""Columns that are listed."""


def matters(case: Case) -> Section:
    """The loss of shuffling each column, as a picture and a table."""
    found = importance(case.done, case.options.random_state)
    if found is None:
        why = "No rows were held out" if not case.done.held else "All columns of the rows held out are empty"
        return Section("matters", TITLE, "", p(f"{why}, so that nothing can be shuffled."))
    verb = "falls" if found.metric == "accuracy" else "rises"
    about = (
        f"How much the {found.metric} {verb} (from {number(found.whole)}) when a column is "
        f"shuffled in {found.rows:,} rows held out, {found.losses.shape[1]} times each. "
        "Columns that tell the same cover for each other."
    )
    return Section("matters", TITLE, about, joined([_picture(found), _table(found), *_left(found)]))


def _picture(found: Importance) -> object:
    from mercer.displays import ImportanceDisplay

    metric = "loss of accuracy" if found.metric == "accuracy" else "rise of the rmse"
    means, spreads = found.losses.mean(axis=1), found.losses.std(axis=1)
    return drawn(
        "matters",
        "importance of columns",
        "Bars are means over the repeats, whiskers their deviation.",
        lambda: ImportanceDisplay(found.names, means, spreads=spreads, metric=metric, most=25).plot().figure_,
    )


def _table(found: Importance) -> object:
    rows = [
        [code(found.names[i]), number(float(found.losses[i].mean())), number(float(found.losses[i].std()))]
        for i in found.order[:MAX_LISTED_COLUMNS]
    ]
    return wide_table(rows, ["column", "loss", "deviation"], (1, 2))


def _left(found: Importance) -> list[object]:
    shuffled = len(found.names)
    if shuffled == found.total and shuffled <= MAX_LISTED_COLUMNS:
        return []
    told = f"{shuffled:,} of {found.total:,} columns were shuffled"
    return [p(f"{told}, and the {min(MAX_LISTED_COLUMNS, shuffled)} that matter most are listed.")]
