"""No point at all, and all points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mercer.errors import speaks
from mercer.geometry.accurate import Vector
from mercer.geometry.base import Shape, listed
from mercer.geometry.fields import named
from mercer.geometry.terms import Terms


@dataclass(frozen=True, eq=False, init=False)
class Empty(Shape):
    """No point: a model that predicts the other class everywhere, such as a ball of negative squared radius.

    Parameters
    ----------
    names : sequence of str
        The names of the columns, at least one.

    Examples
    --------
    >>> print(Empty(["x1", "x2"]))
    no (x1, x2)
    """

    names: tuple[str, ...]

    @speaks
    def __init__(self, names: Sequence[str]) -> None:
        self._keep({"names": named(names, len(names))})

    @property
    def kind(self) -> str:
        return "empty"

    @property
    def terms(self) -> Terms:
        return _constant(-1.0, self.width)

    def _value(self, X: NDArray[np.float64]) -> Vector:
        return np.full(len(X), -1.0)

    def __str__(self) -> str:
        return f"no ({listed(self.names)})"


@dataclass(frozen=True, eq=False, init=False)
class Everything(Shape):
    """All points: a model that predicts the positive class everywhere.

    Parameters
    ----------
    names : sequence of str
        The names of the columns, at least one.

    Examples
    --------
    >>> print(Everything(["x1", "x2"]))
    every (x1, x2)
    """

    names: tuple[str, ...]

    @speaks
    def __init__(self, names: Sequence[str]) -> None:
        self._keep({"names": named(names, len(names))})

    @property
    def kind(self) -> str:
        return "everything"

    @property
    def terms(self) -> Terms:
        return _constant(1.0, self.width)

    def _value(self, X: NDArray[np.float64]) -> Vector:
        return np.full(len(X), 1.0)

    def __str__(self) -> str:
        return f"every ({listed(self.names)})"


def _constant(number: float, width: int) -> Terms:
    return Terms(np.full((1, 1), -1, dtype=np.intp), np.array([number]), np.zeros(width), np.ones(width))
