"""What sources take for a table, for targets and for weights, or one clear error."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.errors import InputError, message

NUMBERS = "fiub"
"""The kinds of dtypes that are read as numbers."""
DEFAULT_BATCH_NUMBERS = 1 << 18
"""Numbers that are read at once by default: 2 MiB."""


def rows_at_once(columns: int) -> int:
    """How many rows hold about `DEFAULT_BATCH_NUMBERS` numbers."""
    return max(1, DEFAULT_BATCH_NUMBERS // max(1, columns))


def is_sparse(values: Any) -> bool:
    """Whether a table is sparse, as SciPy has it."""
    return hasattr(values, "nnz") and hasattr(values, "tocsr")


def names_of(table: Any) -> tuple[str, ...] | None:
    """The names of the columns of a frame; None where they are no texts."""
    columns = getattr(table, "columns", None)
    return None if columns is None or not all(isinstance(name, str) for name in columns) else tuple(columns)


def table_of(source: str, where: str, given: Any) -> Any:
    """A table of numbers of two dimensions: an array (a view where it is one already), or sparse rows."""
    table = given.tocsr() if is_sparse(given) else array_of(source, where, given)
    if table.ndim != 2:
        got = f"{where} has {table.ndim} dimension{'s' * (table.ndim != 1)} and shape {table.shape}"
        remedy = "Use reshape(-1, 1) if it is one column, reshape(1, -1) if it is one row."
        raise InputError(message("tables of rows and columns", got, remedy, subject=source))
    if table.dtype.kind not in NUMBERS:
        got = f"{where} holds {table.dtype}" if table.dtype.kind == "c" else f"{where} holds {_example(table)}"
        raise InputError(
            message("real numbers", got, "Convert the columns to numbers, or leave them out.", subject=source)
        )
    if table.shape[1] == 0:
        raise InputError(
            message("at least one column", f"{where} has none", "Check how it was selected.", subject=source)
        )
    return table


def targets_of(source: str, where: str, given: Any, count: int) -> NDArray[Any]:
    """Targets of a table: numbers or labels, one or several a row."""
    targets = array_of(source, where, given)
    if targets.ndim not in (1, 2) or len(targets) != count:
        got = f"X has {count} rows, and {where} has the shape {targets.shape}"
        raise InputError(
            message("one target per row, or one row of targets", got, "Give both the same length.", subject=source)
        )
    return targets


def weights_of(source: str, where: str, given: Any, count: int) -> NDArray[Any]:
    """Weights of a table: one number per row, or one for all."""
    weights = array_of(source, where, given)
    if weights.ndim == 0 and weights.dtype.kind in NUMBERS:
        return np.broadcast_to(weights, (count,))
    if weights.shape != (count,) or weights.dtype.kind not in NUMBERS:
        got = f"X has {count} rows, and {where} has the shape {weights.shape} and dtype {weights.dtype}"
        raise InputError(message("one weight per row", got, "Give a flat array of numbers.", subject=source))
    return weights


def array_of(source: str, where: str, given: Any) -> NDArray[Any]:
    """Anything as an array, not a copy where it is one; missing entries and ragged lists are refused."""
    if np.ma.is_masked(given):
        got = f"{where} is a masked array with missing entries"
        raise InputError(message("all entries", got, "Fill or drop these.", subject=source))
    try:
        return np.asarray(given)
    except ValueError as error:
        got, remedy = f"{where} has rows of unequal lengths", "Give an array, or a list of equally long lists."
        raise InputError(message("rows of equal length", got, remedy, subject=source)) from error


def _example(table: NDArray[Any]) -> str:
    """An entry that is no number, for a message."""
    cell = next((cell for cell in table.flat if not isinstance(cell, int | float)), None)
    return f"{str(cell)!r} (dtype {table.dtype})"


def digest(parts: Iterator[Any]) -> bytes:
    """A hash of arrays and sparse tables, of their shapes and dtypes."""
    found = hashlib.blake2b(digest_size=32)
    for part in parts:
        arrays = (part.data, part.indices, part.indptr) if is_sparse(part) else (part,)
        found.update(repr((part.shape, *(x.dtype.str for x in arrays))).encode())
        for array in arrays:
            found.update(_bytes(array))
    return found.digest()


def _bytes(array: NDArray[Any]) -> Any:
    """The bytes of an array; of objects the text, since their bytes are addresses."""
    if array.dtype.kind == "O":
        return repr(array.tolist()).encode()
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)
