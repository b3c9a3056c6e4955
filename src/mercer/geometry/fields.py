"""What the fields of shapes may be: read once, then never changed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.errors import InputError, message
from mercer.geometry.accurate import Vector


def vector(what: str, given: ArrayLike) -> Vector:
    """A vector of finite numbers, as a read-only copy."""
    numbers = np.array(given, dtype=np.float64)
    if numbers.ndim != 1 or not len(numbers) or not np.isfinite(numbers).all():
        got = f"shape {numbers.shape}" if numbers.ndim != 1 or not len(numbers) else f"{numbers.tolist()}"
        raise InputError(message(f"{what}: a list of finite numbers", f"got {got}", "Give one per column."))
    numbers.setflags(write=False)
    return numbers


def lengths(given: ArrayLike, width: int) -> Vector:
    """Semi-axes: positive, one for each of so many."""
    numbers = vector("axes", given)
    if len(numbers) != width or (numbers <= 0).any():
        got = f"got {numbers.tolist()}"
        raise InputError(message(f"{width} positive semi-axes", got, "Give half of each diameter."))
    return numbers


def orthonormal(given: ArrayLike | None, width: int) -> NDArray[np.float64]:
    """Directions: unit vectors at right angles, one per row; those of the columns where none are given."""
    rows = np.eye(width) if given is None else np.array(given, dtype=np.float64)
    if rows.shape != (width, width) or not np.allclose(rows @ rows.T, np.eye(width), rtol=0, atol=1e-9):
        got = f"got an array of shape {rows.shape}" if rows.shape != (width, width) else "these are not"
        needs = f"{width} directions: rows of length one at right angles to each other"
        raise InputError(message(needs, got, "Take the Q of np.linalg.qr."))
    rows.setflags(write=False)
    return rows


def named(given: Sequence[str], width: int) -> tuple[str, ...]:
    """The names of the columns: x1, x2, ... where none are given."""
    names = tuple(str(name) for name in given) or tuple(f"x{j}" for j in range(1, width + 1))
    if len(names) != width:
        raise InputError(message(f"{width} names of columns", f"got {len(names)}", "Give one per column."))
    return names
