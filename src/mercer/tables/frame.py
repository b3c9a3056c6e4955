"""Named columns of numbers: what a learner takes as a frame, with NumPy alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Frame:
    """Rows of numbers whose columns have names.

    columns : one name per column
    values : (rows, columns)

    >>> from mercer.kernels import Linear
    >>> Linear().on("b")(Frame(("a", "b"), np.array([[1.0, 2.0]])))
    array([[4.]])
    """

    columns: tuple[str, ...]
    values: NDArray[Any]

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""
        return self.values.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """That of all numbers."""
        return self.values.dtype

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, place: Any) -> Any:
        return self.values[place]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.values, dtype=dtype) if copy else np.asarray(self.values, dtype=dtype)
