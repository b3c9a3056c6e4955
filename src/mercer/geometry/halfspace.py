"""<normal, x> >= offset."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.errors import InputError, message, speaks
from mercer.geometry.accurate import Vector
from mercer.geometry.base import Shape
from mercer.geometry.fields import named, vector
from mercer.geometry.terms import Terms
from mercer.lifts.expansion import sum_text


@dataclass(frozen=True, eq=False, init=False)
class HalfSpace(Shape):
    """One side of a plane: <n, x> >= offset.

    Parameters
    ----------
    normal : array of shape (d,)
        n, not all zero; scaled to length one, and the offset with it.
    offset : float
        The distance of the plane from the origin, along n.
    names : sequence of str, default=()
        The names of the columns; x1, x2, ... where none are given.

    Examples
    --------
    >>> side = HalfSpace([3.0, -4.0], 10.0)
    >>> print(side)
    0.6 x1 - 0.8 x2 >= 2
    >>> side.kind
    'halfplane'
    """

    normal: Vector
    offset: float
    names: tuple[str, ...]

    @speaks
    def __init__(self, normal: ArrayLike, offset: float, names: Sequence[str] = ()) -> None:
        given = vector("a normal", normal)
        largest = np.abs(given).max()
        if largest == 0 or not np.isfinite(offset):
            got = f"got the normal {given.tolist()} and the offset {offset}"
            raise InputError(message("a normal that is not zero, and a finite offset", got, "Give both."))
        length = largest * np.linalg.norm(given / largest)  # whose square neither overflows nor underflows
        unit = vector("a normal", given / length)
        self._keep({"normal": unit, "offset": float(offset / length), "names": named(names, len(unit))})

    @property
    def kind(self) -> str:
        return {1: "halfline", 2: "halfplane"}.get(self.width, "halfspace")

    @property
    def terms(self) -> Terms:
        factors = np.arange(-1, self.width)[:, None]
        numbers = np.concatenate([[-self.offset], self.normal])
        return Terms(factors, numbers, np.zeros(self.width), np.ones(self.width)).nonzero()

    def _value(self, X: NDArray[np.float64]) -> Vector:
        return np.asarray(X @ self.normal - self.offset)

    def __str__(self) -> str:
        if self.width == 1:  # whose normal is 1 or -1
            return f"{self.names[0]} {'>=' if self.normal[0] > 0 else '<='} {self.offset * self.normal[0]:.6g}"
        used = np.flatnonzero(self.normal).tolist()
        left = sum_text([self.names[j] for j in used], self.normal[used].tolist())
        return f"{left} >= {self.offset:.6g}"
