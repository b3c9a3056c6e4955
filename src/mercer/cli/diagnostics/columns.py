"""Columns that tell nothing, or tell it in a form that may mislead."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mercer.cli.diagnostics.finding import LOOK, NOTE, SERIOUS, Finding
from mercer.models.table_model import DATES
from mercer.tables.columns import kind_of, numbers

if TYPE_CHECKING:
    from mercer.cli.result import Fitted

MAX_MISSING_SHARE = 0.5
"""The part of entries that may be missing before it is reported."""
MAX_MEAN_DEVIATIONS = 1e4
"""The mean of a column, in its deviations, from which on digits are lost in float32."""
MAX_OUTSIDE_SHARE = 0.05
"""The part of held-out rows that may lie outside the fitted range before it is reported."""
MIN_BEYOND_SHARE = 0.1
"""By which part of the range a row must miss it to lie outside."""
MAX_LISTED_NAMES = 8
"""Names that a finding lists."""
MIN_COUNTED_ROWS = 8
"""Rows of a table, at least, for a column to be known as one that numbers them."""

Array = NDArray[np.float64]


def constants(done: Fitted) -> Iterator[Finding]:
    """Columns with one entry only."""
    names = [name for name in features(done) if different(_column(done, name)) == 1]
    if names:
        text = f"{_listed(names)} the same in every row, and {_tell(names)} nothing."
        yield Finding("constant", NOTE, text, "Nothing needs to be done.")


def identifiers(done: Fitted) -> Iterator[Finding]:
    """Columns that number the rows: those left out for that, and those that are looked at."""
    choices = () if done.look.proposal is None else done.look.proposal.columns
    names = [str(choice.name) for choice in choices if choice.taken_for == "id"]
    if names:
        text = f"{_listed(names)} taken for a number of the row, and left out."
        yield Finding("identifier", NOTE, text, "If it means more than that, name it in a --kernel.")
    names = [name for name in done.look.columns if _counts_rows(_column(done, name))]
    if names:
        text = f"{_listed(names)} a run of consecutive numbers, another one in each row: it may only count the rows."
        yield Finding("counter", LOOK, text, f"If it counts the rows, leave it out: --drop {names[0]}.")


def _counts_rows(column: Any) -> bool:
    from pyarrow import compute, types

    if not types.is_integer(column.type) or column.null_count or len(column) < MIN_COUNTED_ROWS:
        return False
    ends = compute.min_max(column)
    return bool(ends["max"].as_py() - ends["min"].as_py() + 1 == len(column) == different(column))


def missing(done: Fitted) -> Iterator[Finding]:
    """Columns of which more is missing than known."""
    names = [name for name in features(done) if _column(done, name).null_count > MAX_MISSING_SHARE * done.sheet.rows]
    if names:
        text = f"{_listed(names)} missing in more than half of the rows."
        remedy = "Look why: that an entry is missing may tell more than the entry. --drop leaves a column out."
        yield Finding("missing", NOTE, text, remedy)


def dates(done: Fitted) -> Iterator[Finding]:
    """A date among the columns: rows held out by chance lie between rows that were fitted."""
    names = [name for name, kind in zip(done.look.columns, done.look.kinds, strict=True) if kind in DATES]
    if names and done.held:
        text = f"{_listed(names)} a date, and the scores are of random rows: gaps between known rows, not forecasts."
        remedy = "If the model is to forecast, fit it to earlier rows and use mercer score on later ones."
        yield Finding("dates", SERIOUS, text, remedy)


def offsets(done: Fitted) -> Iterator[Finding]:
    """Columns whose mean is so far from zero that float32 cannot hold their differences well."""
    names = [name for name in _numeric(done) if _far(_values(done.parts.train, name))]
    if names:
        text = f"{_listed(names)} far from zero: the mean is more than {MAX_MEAN_DEVIATIONS:,.0f} deviations."
        remedy = "Mercer subtracts the mean first. But look whether the file has digits enough: float32 has seven."
        yield Finding("offset", NOTE, text, remedy)


def _far(values: Array) -> bool:
    known = values[np.isfinite(values)]
    deviation = float(known.std()) if known.size else 0.0
    return deviation > 0 and abs(float(known.mean())) > MAX_MEAN_DEVIATIONS * deviation


def outside(done: Fitted) -> Iterator[Finding]:
    """Rows held out with a number that is far smaller or larger than any fitted one."""
    if not done.held:
        return
    beyond = np.zeros(done.held, bool)
    for name in _numeric(done):
        fitted, new = _values(done.parts.train, name), _values(done.parts.test, name)
        known = fitted[np.isfinite(fitted)]
        if known.size:
            low, high = float(known.min()), float(known.max())
            beyond |= (new < low - MIN_BEYOND_SHARE * (high - low)) | (new > high + MIN_BEYOND_SHARE * (high - low))
    share = float(beyond.mean())
    if share > MAX_OUTSIDE_SHARE and beyond.sum() > 2:
        text = f"{100 * share:.3g} % of the rows held out lie far outside of the range of the fitted ones."
        remedy = "Far from fitted rows a kernel model goes back to the mean: do not trust it there."
        yield Finding("outside", LOOK, text, remedy)


# -- columns ----------------------------------------------------------------------------------------------------------


def features(done: Fitted) -> list[str]:
    """All columns but the target; none of sparse rows."""
    if done.sheet.sparse is not None:
        return []
    return [name for name in done.sheet.names if name != done.target.name]


def different(column: Any) -> int:
    """How many different entries a column has, a missing one among them; 0 where it holds lists, graphs or the like."""
    return 0 if kind_of(column) in ("other", "graph") else len(column.unique())


def _column(done: Fitted, name: str) -> Any:
    return done.sheet.table.column(name)


def _numeric(done: Fitted) -> list[str]:
    pairs = zip(done.look.columns, done.look.kinds, strict=True)
    return [name for name, kind in pairs if kind in ("number", *DATES)]


def _values(sheet: Any, name: str) -> Array:
    column = sheet.table.column(name)
    if kind_of(column) == "nothing":
        return np.full(len(column), np.nan)
    return np.asarray(numbers([column], [name])[:, 0], dtype=np.float64)


def _listed(names: list[str]) -> str:
    """Names as the beginning of a sentence: Column 'a' is, columns 'a' and 'b' are."""
    if len(names) == 1:
        return f"Column {names[0]!r} is"
    shown = ", ".join(map(repr, names[:MAX_LISTED_NAMES]))
    return f"{len(names)} columns ({shown}{', ...' * (len(names) > MAX_LISTED_NAMES)}) are"


def _tell(names: list[str]) -> str:
    return "tells" if len(names) == 1 else "tell"
