"""Wide tables at a backend: features of all rows, of which nothing as wide comes to this process unless asked for.

On the cores of this machine a table is a NumPy array. Elsewhere it is a handle; products with it are written as those
with arrays are, `Z @ W` and `Z.T @ R`, for thin W and R of this process.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Rows = NDArray[np.intp]
Labels = Any
"""The group of each row, where the table is."""
Numbers = Any
"""A number for each row, where the table is."""
Tell = Callable[[], None]
"""Called between two slices of rows; what it raises ends the work."""


def silent() -> None:
    """Nobody listens."""


class Transposed(Protocol):
    """Z' of a table."""

    def __matmul__(self, R: NDArray[Any]) -> Array:
        """Z'R, in float64: thin. R is (n,) or (n, outputs)."""
        ...


class Seeds(Protocol):
    """Rows that are drawn one after the other, and how far all rows are from the nearest of them."""

    @property
    def labels(self) -> Labels:
        """Which of them is the nearest of each row; the first of those that are equally near."""
        ...

    @property
    def cost(self) -> float:
        """The sum of the weights times the squared distances."""
        ...

    def add(self, draws: Array) -> None:
        """Of rows that are drawn in proportion to what they cost, one for each number from 0 to 1, the best."""
        ...


class Groups(Protocol):
    """The rows of a table in groups: what steps of k-means ask. Labels and distances stay where the table is."""

    def sent(self, labels: Rows) -> Labels:
        """Labels of this process."""
        ...

    def brought(self, numbers: Labels | Numbers) -> NDArray[Any]:
        """Labels or distances, to this process."""
        ...

    def sums(self, labels: Labels) -> tuple[Array, Array]:
        """(p, count), the weighted sums of the rows of each group; and (count,), their weights together."""
        ...

    def nearest(self, vectors: Array, lengths: Array, slack: float, tell: Tell = silent) -> tuple[Labels, Numbers]:
        """The nearest of as many vectors (p, count), and the squared distance from it.

        lengths : (count,), |v|^2; infinite for a vector that does not exist
        slack : vectors are equally near up to this part of what tells them apart: the first one is taken
        """
        ...

    def total(self, squares: Numbers) -> float:
        """The sum of the weights times the squared distances."""
        ...

    def counts(self, labels: Labels) -> Rows:
        """(count,): how many rows each group has."""
        ...

    def equal(self, labels: Labels, others: Labels) -> bool:
        """Whether all rows are in the same groups."""
        ...

    def seeds(self, draws: Array) -> Seeds:
        """The first row, drawn in proportion to the weights."""
        ...


class Table(Protocol):
    """Z, (n, p), at a backend."""

    @property
    def shape(self) -> tuple[int, int]:
        """n and p."""
        ...

    @property
    def dtype(self) -> np.dtype[Any]:
        """float32 or float64."""
        ...

    @property
    def T(self) -> Transposed:  # noqa: N802  # as arrays have it
        """Z'."""
        ...

    def __getitem__(self, rows: slice) -> Table:
        """Some rows, which stay there: a view."""
        ...

    def __matmul__(self, W: NDArray[Any]) -> Array:
        """Z W, in float64: thin. W is (p,) or (p, outputs)."""
        ...

    def first(self, columns: int) -> Table:
        """The first columns: a view."""
        ...

    def rows(self, positions: Rows) -> NDArray[Any]:
        """Some rows, in this process."""
        ...

    def row_squares(self) -> Array:
        """(n,): the squared length of each row."""
        ...

    def subtract(self, row: Array) -> None:
        """Take a vector off every row, in place."""
        ...

    def squares(self, weights: Array | None = None, tell: Tell = silent) -> Array:
        """Z'DZ, (p, p), for a diagonal D of weights; None for D = I."""
        ...

    def groups(self, weights: Array, sizes: Array, count: int) -> Groups:
        """Its rows in so many groups.

        weights : (n,), how much each row counts
        sizes : (n,), at least |z|^2: what squared distances are measured with
        """
        ...

    def to_host(self) -> NDArray[Any]:
        """Z, in this process."""
        ...


def leading(Z: NDArray[Any] | Table, columns: int) -> Any:
    """The first columns of a table of either kind."""
    return Z[:, :columns] if isinstance(Z, np.ndarray) else Z.first(columns)
