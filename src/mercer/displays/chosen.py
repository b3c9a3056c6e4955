"""Some rows of many, where all would be too many to draw."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.errors import InputError, message


def count_of(X: Any) -> int:
    """How many rows a table has."""
    count = int(X.shape[0]) if hasattr(X, "shape") and X.shape else len(X) if hasattr(X, "__len__") else 0
    if count == 0:
        raise InputError(message("rows", "got none", "Give a table with rows."))
    return count


def chosen_rows(count: int, most: int, random_state: Any) -> NDArray[np.intp] | None:
    """The numbers of `most` rows at random, in order; None where all of them are few enough."""
    if count <= most:
        return None
    from mercer.lifts.randomness import generator  # it loads scikit-learn

    return np.sort(generator(random_state).choice(count, size=most, replace=False))


def rows_of(X: Any, rows: NDArray[np.intp] | None) -> Any:
    """These rows of a table of any kind; all for None."""
    if rows is None:
        return X
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    return [X[row] for row in rows] if isinstance(X, list | tuple) else X[rows]
