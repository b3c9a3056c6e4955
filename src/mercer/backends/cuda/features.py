"""The columns of a pivoted Cholesky factor, on a device."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from mercer.backends.cuda.panels import product
from mercer.backends.cuda.resident import Resident
from mercer.backends.squares import Array, Rows

PART_OPERATIONS = 1e12
"""Floating-point operations of one product, about: less than a tenth of a second."""


class Columns(Protocol):
    """The square that is factored."""

    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def resident(self) -> Resident: ...
    def columns(self, chosen: Rows) -> Iterator[tuple[slice, torch.Tensor]]: ...


class DeviceFeatures:
    """F, (n, k) in float64: a `Features` on a device."""

    def __init__(self, square: Columns, count: int) -> None:
        self.square, self.width = square, 0
        self.resident, n = square.resident, square.shape[0]
        self._room = torch.empty((n, count), dtype=torch.float64, device=self.resident.device)

    @property
    def shape(self) -> tuple[int, int]:
        return self._room.shape[0], self.width

    @property
    def size(self) -> int:
        return int(self._room.numel())

    @property
    def values(self) -> torch.Tensor:
        """F on the device."""
        return self._room[:, : self.width]

    def rows(self, chosen: Rows) -> Array:
        return self.resident.brought(self.values[self.resident.sent(chosen, torch.int64)])

    def extend(self, chosen: Rows, before: Array, lower: Array) -> Array:
        left, triangle = self.resident.sent(before), self.resident.sent(lower)
        new = slice(self.width, self.width + len(chosen))
        squares = torch.empty(len(self._room), dtype=torch.float64, device=self.resident.device)
        for rows, values in self.square.columns(chosen):
            values.addmm_(self.values[rows], left.T, alpha=-1)
            values = torch.linalg.solve_triangular(triangle.T, values, upper=True, left=False)
            self._room[rows, new] = values
            squares[rows] = values.square_().sum(dim=1)
            self.resident.settle()
        self.width = new.stop
        return self.resident.brought(squares)

    def trim(self) -> None:
        if self.width < self._room.shape[1]:
            self._room = self.values.clone()

    def across(self, R: NDArray[Any]) -> Array:
        return self.resident.brought(product(self.values.T, self.resident.sent(R)))

    def along(self, x: NDArray[Any]) -> Array:
        return self.resident.brought(product(self.values, self.resident.sent(x)))

    def squares(self) -> Array:
        n, k = self.shape
        found = torch.zeros((k, k), dtype=torch.float64, device=self.resident.device)
        step = max(1, int(PART_OPERATIONS / max(1, 2 * k * k)))
        for start in range(0, n, step):
            part = self.values[start : start + step]
            found.addmm_(part.T, part)
            self.resident.settle()
        return np.asarray(self.resident.brought(found))
