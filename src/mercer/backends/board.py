"""Boards: coefficients in a box at a backend, beside their gradient and the matrix that it is made of.

A quadratic over a box is solved there by working sets: those that violate the conditions of optimality most are chosen
at the backend, their small square of the matrix comes here, and what has become of them goes back. Vectors as long as
the data stay there, and so do rows of the matrix: whether these are kept is the board's business.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Rows = NDArray[np.intp]


class Box(Protocol):
    """Where coefficients may be, and what their absolute values cost.

    lower, upper : (n,), the box
    kink : the factor of |b|_1
    """

    @property
    def lower(self) -> Array: ...
    @property
    def upper(self) -> Array: ...
    @property
    def kink(self) -> float: ...


class Board(Protocol):
    """Some rows of a symmetric matrix K, and a coefficient and the gradient for each; `begin` comes first.

    Positions are those among the rows at hand. The same calls give the same bits.
    """

    def begin(self, rows: Rows, box: Box, b: Array, g: Array) -> None:
        """Look at some rows, sorted, from now on.

        box : that of these rows
        b, g : their coefficients, and K b and what is linear
        """
        ...

    def ends(self) -> tuple[float, float]:
        """The smallest slope where a coefficient grows, and the largest that falling gives back."""
        ...

    def shrink(self, share: float) -> Rows | None:
        """Leave out those that violate nothing with any other, if at most that part of the rows stays.

        Returns the positions that stay, or None where all do.
        """
        ...

    def chosen(self, size: int) -> Rows:
        """The next working set: the newest of the last one, and the worst on both sides; the newest stand last."""
        ...

    def square(self, chosen: Rows) -> tuple[NDArray[Any], Array]:
        """The entries of K among some, and their part of the gradient; the square may be overwritten by the next."""
        ...

    def move(self, chosen: Rows, b: Array, moves: Array) -> None:
        """Some coefficients are b now, after these moves, which the gradient of all follows."""
        ...

    def gradient(self) -> Array:
        """The gradient at all rows at hand."""
        ...
