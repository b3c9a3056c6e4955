"""Rows that are equal: copies between both parts, and copies with different targets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mercer.cli.diagnostics.columns import different as entries
from mercer.cli.diagnostics.finding import LOOK, NOTE, SERIOUS, Finding
from mercer.cli.diagnostics.leaks import codes
from mercer.cli.target import CLASSIFICATION
from mercer.models.table_model import DATES
from mercer.tables.columns import kind_of, numbers

if TYPE_CHECKING:
    from mercer.cli.result import Fitted
    from mercer.tables.read import Sheet

MAX_COPIED_SHARE = 0.05
"""The part of rows held out that may be copies before the scores are in doubt."""
MIN_COPIED_SHARE = 0.005
MIN_SHARE_OF_DIFFERENT = 0.3
"""Different entries of a column, as a part of different rows, with which equal rows are no chance."""
MIN_SHARE_OF_ALL = 0.1
"""The same as a part of all rows."""

MIN_ORDERED_ROWS = 50
"""Fewer rows do not tell whether they are ordered."""
MAX_NEIGHBOUR_DIFFERENCE = 0.5
"""The difference of neighbours' targets, as a part of that of random rows, below which a table looks ordered."""
MAX_CHANGES_PER_CLASS = 3
"""Changes of class, per class, up to which a table is sorted by its target rather than ordered in time."""

MIN_NAMED_GROUPS = 2
"""Different entries of a column of groups, at least."""
MIN_UNNAMED_GROUPS = 10
"""The same of one that is known by its targets alone."""
MIN_ROWS_PER_GROUP = 5
"""Rows of each of its groups, on the average, at least."""
MAX_VARIANCE_WITHIN = 0.1
"""The part of the variance of a target within groups, at most, that are known by it."""
WHOSE = re.compile(
    "subject|patient|person|participant|user|customer|client|device|machine|sensor|engine|station|site|batch|session"
    "|student|animal|donor|household|respondent|specimen"
)
"""Words in the names of columns that say of whom, or of what, a row is one of several."""

Keys = NDArray[np.uint64]


def copies(done: Fitted) -> Iterator[Finding]:
    """Rows held out that stand among the fitted ones, target included."""
    if not done.held:
        return
    keys, y = row_keys(done.sheet, done.look.columns), _coded(done.target.values)
    whole = _mixed(keys, y)
    twins = np.isin(whole[done.parts.held], whole[done.parts.kept])
    share = float(twins.mean())
    if share < MIN_COPIED_SHARE:
        return
    told = f"{100 * share:.3g} % of the rows held out are exact copies of fitted rows"
    if not _fine(done, len(np.unique(keys))):
        remedy = "Entries repeat, so that this may be chance. Look whether rows were recorded twice."
        yield Finding("copies", NOTE, f"{told}. {_without(done, twins)}", remedy)
    else:
        text = f"{told}: a model that remembers looks better than it is. {_without(done, twins)}"
        remedy = "Remove the copies, or hold out whole groups of them, and fit again."
        yield Finding("copies", SERIOUS if share >= MAX_COPIED_SHARE else LOOK, text, remedy)


def _without(done: Fitted, twins: NDArray[np.bool_]) -> str:
    """The score of the rows that are no copies, in words."""
    truth, said = done.parts.truth[~twins], done.judged.predicted[~twins]
    if not len(truth):
        return "All of them are."
    classes = done.target.task == CLASSIFICATION
    name, value = ("accuracy", np.mean(truth == said)) if classes else ("rmse", np.sqrt(np.mean((truth - said) ** 2)))
    return f"Of the others the {name} is {value:.4g}."


def _fine(done: Fitted, different: int) -> bool:
    """Whether some column has so many different entries that rows are not equal by chance."""
    if done.sheet.sparse is not None:
        return True
    columns = (done.sheet.table.column(name) for name in done.look.columns)
    least = max(MIN_SHARE_OF_DIFFERENT * different, MIN_SHARE_OF_ALL * done.sheet.rows)
    return any(entries(column) >= least for column in columns)


def contradictions(done: Fitted) -> Iterator[Finding]:
    """Rows that are equal in all columns that are looked at, and differ in the target."""
    keys, y = row_keys(done.sheet, done.look.columns), _coded(done.target.values)
    _, place, counts = np.unique(keys, return_inverse=True, return_counts=True)
    pairs = np.unique(place.astype(np.uint64) * (y.max() + np.uint64(1)) + y)  # each pair of row and target once
    targets = np.bincount((pairs // (y.max() + np.uint64(1))).astype(np.intp), minlength=len(counts))
    share = float(counts[targets > 1].sum() / len(keys))
    if share < MIN_COPIED_SHARE:
        return
    text = f"{100 * share:.3g} % of the rows equal another row in every column, and have another target."
    remedy = "No model can tell them apart: this bounds every score. Add a column that does."
    yield Finding("contradictions", LOOK if share >= MAX_COPIED_SHARE else NOTE, text, remedy)


def ordered(done: Fitted) -> Iterator[Finding]:
    """Rows next to each other in the file whose targets are alike, where no date says that they are ordered."""
    y = done.target.values
    if not done.held or len(y) < MIN_ORDERED_ROWS or any(kind in DATES for kind in done.look.kinds):
        return
    ratio = _neighbours(y, done.target.task == CLASSIFICATION)
    if ratio < MAX_NEIGHBOUR_DIFFERENCE:
        text = (
            f"Targets of rows next to each other in the table differ {1 / max(ratio, 1e-3):.2g} times less than those "
            "of random rows: the table may be ordered in time, and the scores are of random rows between fitted ones."
        )
        remedy = "If new rows will come after these, fit to the first rows and use mercer score on the last ones."
        yield Finding("ordered", LOOK, text, remedy)


def _neighbours(y: NDArray[Any], classes: bool) -> float:
    """How much neighbours differ, over how much random rows do; 1 for a table that is merely sorted by its target."""
    if classes:
        _, place, counts = np.unique(y, return_inverse=True, return_counts=True)
        changes = int(np.count_nonzero(place[1:] != place[:-1]))
        chance = 1 - float(((counts / len(y)) ** 2).sum())
        return 1.0 if changes <= MAX_CHANGES_PER_CLASS * len(counts) or not chance else changes / (len(y) - 1) / chance
    values = np.asarray(y, dtype=np.float64) - np.mean(y)
    steps = np.diff(values)
    if not values.any() or abs(float(np.sign(steps).sum())) > 0.9 * np.count_nonzero(steps):
        return 1.0
    return float(np.mean(steps**2) / (2 * np.mean(values**2)))


def groups(done: Fitted) -> Iterator[Finding]:
    """Columns whose entries repeat and stand for whom a row is of, so that rows held out have relatives among others.

    They are known by their names, or by targets that are nearly the same within an entry and jump between entries.
    """
    if not done.held or done.sheet.sparse is not None:
        return
    for name, kind in zip(done.look.columns, done.look.kinds, strict=True):
        if kind not in ("number", "label", "text"):
            continue
        column = done.sheet.table.column(name)
        values = numbers([column], [name])[:, 0].astype(np.float64) if kind == "number" else codes(column)
        if kind == "number" and (values[np.isfinite(values)] % 1 != 0).any():
            continue
        entries, place, counts = np.unique(values, return_inverse=True, return_counts=True)
        each = done.sheet.rows / len(entries)
        if len(entries) < MIN_NAMED_GROUPS or each < 2 or not (_whose(name) or _jumps(done, place, counts, kind)):
            continue
        text = (
            f"Column {name!r} has {len(entries):,} different entries, each in {each:.2g} rows on average, and rows of "
            "one entry are both fitted and held out: the scores are for entries that are known."
        )
        remedy = "If new rows will be of new ones, fit without some of them, and use mercer score on the rows of these."
        yield Finding("groups", LOOK, text, remedy)


def _whose(name: str) -> bool:
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)
    return any(WHOSE.fullmatch(word.lower().removesuffix("s")) for word in words)


def _jumps(done: Fitted, place: NDArray[np.intp], counts: NDArray[np.intp], kind: str) -> bool:
    """Whether an entry knows its targets nearly, and the next larger entry tells nothing of them."""
    if (
        done.target.task == CLASSIFICATION
        or len(counts) < MIN_UNNAMED_GROUPS
        or len(place) < MIN_ROWS_PER_GROUP * len(counts)
    ):
        return False
    y = np.asarray(done.target.values, dtype=np.float64)
    means = np.bincount(place, y) / counts
    within = float(np.mean((y - means[place]) ** 2))
    return within < MAX_VARIANCE_WITHIN * float(np.var(y)) and (
        kind != "number" or float(np.mean(np.diff(means) ** 2)) > MAX_NEIGHBOUR_DIFFERENCE * 2 * float(np.var(means))
    )


# -- keys of rows -----------------------------------------------------------------------------------------------------


def row_keys(sheet: Sheet, columns: tuple[str, ...]) -> Keys:
    """A number for each row, the same for equal rows; of a million rows two that differ share one with chance 3e-8."""
    if sheet.sparse is not None:
        return _sparse_keys(sheet.sparse.rows)
    keys = np.zeros(sheet.rows, np.uint64)
    for name in columns:
        keys = _mixed(keys, _column_keys(sheet.table.column(name)))
    return keys


def _column_keys(column: Any) -> Keys:
    if kind_of(column) not in ("number", "truth", "date"):
        return codes(column).view(np.uint64)
    values = numbers([column], [""])[:, 0].astype(np.float64) + 0.0  # one zero
    values[np.isnan(values)] = np.nan
    return values.view(np.uint64)


def _sparse_keys(rows: Any) -> Keys:
    """Random sums of the entries: equal rows give equal sums."""
    import scipy.sparse

    ordered = scipy.sparse.csr_matrix(rows, copy=True)
    ordered.sort_indices()
    weights = np.random.default_rng(0).normal(size=ordered.shape[1])
    return np.asarray(ordered.astype(np.float64) @ weights + 0.0).view(np.uint64)


def _coded(y: NDArray[Any]) -> Keys:
    return np.unique(y, return_inverse=True)[1].astype(np.uint64)


def _mixed(keys: Keys, more: Keys) -> Keys:
    """Both in one number, each bit of which depends on all bits of both."""
    mixed = (keys * np.uint64(0x9E3779B97F4A7C15)) ^ more
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return mixed ^ (mixed >> np.uint64(31))
