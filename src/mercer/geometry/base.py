"""The shape: a region of the original space, {x : p(x) >= 0} for a polynomial p."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.errors import InputError, message
from mercer.geometry.accurate import Vector
from mercer.geometry.express import OnLift, express
from mercer.geometry.terms import Terms


class Shape(ABC):
    """A region of the original space. Subclasses are frozen dataclasses, whose fields are plain numbers and arrays.

    Examples
    --------
    >>> from mercer.geometry import Ball, Shape
    >>> ball = Ball([0.0, 0.0], 1.0)
    >>> isinstance(ball, Shape), ball.contains([[0.5, 0.5], [2.0, 0.0]])
    (True, array([ True, False]))
    """

    names: tuple[str, ...]
    """The names of the columns."""

    @property
    @abstractmethod
    def kind(self) -> str:
        """What it is, in a word or two."""

    @property
    @abstractmethod
    def terms(self) -> Terms:
        """The polynomial that is not negative on the region, and negative elsewhere."""

    @abstractmethod
    def _value(self, X: NDArray[np.float64]) -> Vector:
        """The value of this polynomial for checked rows."""

    @property
    def width(self) -> int:
        """d, how many columns there are."""
        return len(self.names)

    def value(self, X: ArrayLike) -> Vector:
        """A number per row: not negative on the region, negative elsewhere, zero on its boundary.

        Parameters
        ----------
        X : array of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n,)
        """
        return self._value(self._rows(X))

    def contains(self, X: ArrayLike) -> NDArray[np.bool_]:
        """Which rows lie in the region, its boundary included.

        Parameters
        ----------
        X : array of shape (n, d)
            The rows.

        Returns
        -------
        array of bool of shape (n,)
        """
        return np.asarray(self.value(X) >= 0)

    def halfspace(self, lift: Any) -> OnLift:
        """The region as a halfspace of a fitted polynomial lift: <weights, phi(x)> + intercept >= 0 on it.

        Parameters
        ----------
        lift : estimator
            A fitted polynomial lift.

        Returns
        -------
        OnLift
        """
        return express(self, lift)

    def _keep(self, values: dict[str, Any]) -> None:
        """Set the fields of a frozen dataclass, once."""
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _rows(self, X: ArrayLike) -> NDArray[np.float64]:
        self._check_order(getattr(X, "columns", ()))
        rows = np.asarray(X, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != self.width:
            raise InputError(
                message(
                    f"rows of {self.width} columns ({listed(self.names)})",
                    f"got an array of shape {rows.shape}",
                    "Write one row as [[...]].",
                    subject=f"This {self.kind}",
                )
            )
        return rows

    def _check_order(self, columns: Any) -> None:
        """Refuse a frame that has the right columns in another order."""
        given = [str(column) for column in columns]
        if given != list(self.names) and sorted(given) == sorted(self.names):
            needs, got = f"the columns {listed(self.names)}", f"got {listed(given)}"
            raise InputError(message(needs, got, "Put them into this order.", subject=f"This {self.kind}"))

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        pairs = ((getattr(self, f.name), getattr(other, f.name)) for f in fields(self))  # type: ignore[arg-type]
        return all(np.array_equal(a, b) for a, b in pairs)

    __hash__ = None  # type: ignore[assignment]  # arrays are compared, but not hashed


def listed(names: Sequence[str]) -> str:
    """Names or numbers in a row, those in the middle left out where there are many."""
    shown = list(names) if len(names) <= 8 else [*names[:3], "...", names[-1]]
    return ", ".join(shown)


def place(names: Sequence[str], point: Vector, size: float) -> str:
    """A point: "(x1, x2) = (0.5, 3)"; of one column "x1 = 0.5". What is nothing beside the shape's size is zero."""
    numbers = [f"{number if abs(number) > 1e-12 * size else 0:.6g}" for number in point.tolist()]
    if len(numbers) == 1:
        return f"{names[0]} = {numbers[0]}"
    return f"({listed(names)}) = ({listed(numbers)})"
