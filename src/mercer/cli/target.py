"""What is to be predicted: a number or a class, decided by the column itself and said aloud."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.errors import InputError, message
from mercer.tables.columns import kind_of, numbers
from mercer.tables.labels import MIN_LETTERS
from mercer.tables.read import Sheet

MAX_INTEGER_CLASSES = 20
"""Up to so many different integers are classes, if each stands in enough rows."""
MIN_ROWS_PER_CLASS = 10
"""So many rows each, on the average; two different integers are classes in any case."""
MAX_CLASSES = 1_000
"""Classes, at most: a column of more texts is no target."""
ONES = {"1": "True", "0": "False"}
"""How Arrow reads these in a column that has a true or a false, too."""
REGRESSION, CLASSIFICATION = "regression", "classification"


@dataclass(frozen=True, eq=False)
class Target:
    """The column that is to be predicted.

    name : of the column
    task : "regression" or "classification"
    why : the reason, in words
    values : numbers, or labels as texts or integers, one per row that is kept
    dropped : how many rows had none
    """

    name: str
    task: str
    why: str
    values: NDArray[Any]
    dropped: int


def target_of(sheet: Sheet, name: str, asked: str = "") -> tuple[Sheet, Target]:
    """The rows whose target is known, and the target; `asked` is a task, or "" for the one that the column suggests."""
    name = sheet.called(name)
    sheet = sheet.with_numbers_as_given(name)
    known, kept = known_values(sheet, name)
    task, why = _task(kept) if not asked else (asked, "as given")
    found = Target(name, task, why, _checked(name, kept, task), sheet.rows - len(known))
    return (sheet if not found.dropped else sheet.take(known)), found


def known_values(sheet: Sheet, name: str) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """The rows in which a column has an entry, and these entries."""
    values = values_of(sheet.column(name), name)
    known = np.flatnonzero(~_missing(values))
    if not len(known):
        raise InputError(message("an entry in some row", "all are missing", "Choose another target.", subject=name))
    return known, values[known]


def values_of(column: Any, name: str) -> NDArray[Any]:
    """Entries of a column: numbers with NaN for missing ones, or texts with None."""
    kind = kind_of(column)
    if kind == "number":
        return numbers([column], [name])[:, 0].astype(np.float64)
    if kind in ("text", "label", "truth"):
        texts = [None if entry is None else str(entry) for entry in column.to_pylist()]
        return np.array(texts, dtype=object)
    got = f"column {name!r} holds {'no entry' if kind == 'nothing' else f'objects of type {column.type}'}"
    raise InputError(message("numbers or labels", got, "Choose another column.", subject="A target"))


def like(values: NDArray[Any], classes: NDArray[Any] | None, name: str) -> NDArray[Any]:
    """Entries in the type of a model: numbers where it has no classes, else labels of their type."""
    if classes is not None and classes.dtype.kind in "US":
        known = frozenset(classes.tolist())
        return np.array([_label(_text(value), known) for value in values])
    if values.dtype.kind == "O":
        got = f"it holds {values[0]!r}"
        raise InputError(message("numbers, as in the fit", got, "Give a table like the one of the fit.", subject=name))
    if classes is not None and (values != np.rint(values)).any():
        got = f"it holds {values[values != np.rint(values)][0]}"
        raise InputError(message("integers, as in the fit", got, "Give a table like the one of the fit.", subject=name))
    return values if classes is None else values.astype(classes.dtype)


def _label(text: str, known: frozenset[str]) -> str:
    """A label as the model spells it: "true" and "TRUE" were read as booleans in the fit, and "1" may have been 1.0.

    >>> [_label(text, frozenset({"True", "1.0", "1.5"})) for text in ("TRUE", "1", "1.50", "other")]
    ['True', '1.0', '1.5', 'other']
    """
    text = text.strip()
    spellings = (text, text.casefold().capitalize(), _as_number(text), ONES.get(text, text))
    alike = [label for label in known if len(label) >= MIN_LETTERS and label.casefold() == text.casefold()]
    return next((spelling for spelling in spellings if spelling in known), alike[0] if len(alike) == 1 else text)


def _as_number(text: str) -> str:
    try:
        return repr(float(text))
    except ValueError:
        return text


def _text(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    if values.dtype.kind == "f":
        return np.asarray(np.isnan(values))
    return np.array([value is None for value in values], dtype=bool)


def _task(values: NDArray[Any]) -> tuple[str, str]:
    if values.dtype.kind == "O":
        return CLASSIFICATION, "it holds labels"
    different = len(np.unique(values))
    if not (np.isfinite(values) & (values == np.rint(values))).all():
        return REGRESSION, "it holds numbers that are not whole"
    if different <= 2 or (different <= MAX_INTEGER_CLASSES and len(values) >= MIN_ROWS_PER_CLASS * different):
        return CLASSIFICATION, f"it holds {different} different integers"
    return REGRESSION, f"it holds {different:,} different numbers"


def _checked(name: str, values: NDArray[Any], task: str) -> NDArray[Any]:
    different = len(set(values.tolist()))
    if different < 2:
        got = f"all are {values.tolist()[0]!r}"
        raise InputError(
            message("different entries", got, "There is nothing to learn: choose another target.", subject=name)
        )
    return _numbers(name, values) if task == REGRESSION else _labels(name, values, different)


def _numbers(name: str, values: NDArray[Any]) -> NDArray[np.float64]:
    if values.dtype.kind == "O":
        got, remedy = f"it holds {values[0]!r}", "Give --task classification, or another target."
        raise InputError(message("numbers for a regression", got, remedy, subject=name))
    if not np.isfinite(values).all():
        raise InputError(message("finite numbers", "some are infinite", "Drop these rows.", subject=name))
    with np.errstate(over="ignore", under="ignore"):
        deviation = float(np.std(values))
    if not 0 < deviation < np.inf:
        got, remedy = f"got numbers up to {np.abs(values).max():.2g}", "Scale them."
        raise InputError(message("numbers with squares that float64 can hold", got, remedy, subject=name))
    return values


def _labels(name: str, values: NDArray[Any], different: int) -> NDArray[Any]:
    if different > MAX_CLASSES or 2 * different > max(len(values), 4):
        got = f"{different:,} different ones stand in {len(values):,} rows"
        raise InputError(
            message("labels that repeat", got, "Choose another target, or --task regression.", subject=name)
        )
    if values.dtype.kind == "O":
        return np.array(values.tolist(), dtype=np.str_)
    whole = bool((values == np.rint(values)).all())
    return values.astype(np.int64) if whole else np.array([repr(value) for value in values.tolist()])
