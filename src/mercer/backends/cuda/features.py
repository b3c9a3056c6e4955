"""The columns of a pivoted Cholesky factor, on a device."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from mercer.backends.cuda.panels import product
from mercer.backends.cuda.resident import Resident
from mercer.backends.cuda.triangles import REMEDY, DeviceTriangle, triangle_of
from mercer.backends.squares import Array, Rows
from mercer.compute.runtime.memory import Budget

PART_OPERATIONS = 1e12
"""Floating-point operations of one product, about: less than a tenth of a second."""
FIRST_COLUMNS = 512
"""Columns that there is room for at first: few who may have thousands need them."""
POWERS = 20
"""Products from which the largest eigenvalue is estimated: the first few are far apart."""


class Columns(Protocol):
    """The square that is factored."""

    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def resident(self) -> Resident: ...
    @property
    def budget(self) -> Callable[[], Budget]: ...
    def columns(self, chosen: Rows) -> Iterator[tuple[slice, torch.Tensor]]: ...
    def among(self, chosen: Rows) -> torch.Tensor: ...


class DeviceFeatures:
    """F, (n, k) in float64: a `Features` on a device."""

    def __init__(self, square: Columns, count: int) -> None:
        self.square, self.width, self.most = square, 0, count
        self.resident = square.resident
        self._room = self._empty(min(count, FIRST_COLUMNS))
        self._squares: torch.Tensor | None = None

    def _empty(self, columns: int) -> torch.Tensor:
        return torch.empty((self.square.shape[0], columns), dtype=torch.float64, device=self.resident.device)

    @property
    def shape(self) -> tuple[int, int]:
        return self._room.shape[0], self.width

    @property
    def size(self) -> int:
        return int(self._room.shape[0]) * self.most

    @property
    def values(self) -> torch.Tensor:
        """F on the device."""
        return self._room[:, : self.width]

    def rows(self, chosen: Rows) -> Array:
        return self.resident.brought(self.values[self.resident.sent(chosen, torch.int64)])

    def rest(self, chosen: Rows) -> Array:
        at = self.resident.sent(chosen, torch.int64)
        found, own = self.square.among(chosen), self.values[at]
        out = np.empty(found.shape)
        self.resident.block(found.addmm_(own, own.T, alpha=-1), out)
        return out

    def extend(self, chosen: Rows, lower: Array) -> Array:
        new, self._squares = slice(self.width, self.width + len(chosen)), None
        self._grow(new.stop)
        left, triangle = self.values[self.resident.sent(chosen, torch.int64)], self.resident.sent(lower)
        squares = torch.empty(len(self._room), dtype=torch.float64, device=self.resident.device)
        for rows, values in self.square.columns(chosen):
            values.addmm_(self.values[rows], left.T, alpha=-1)
            values = torch.linalg.solve_triangular(triangle.T, values, upper=True, left=False)
            self._room[rows, new] = values
            squares[rows] = values.square_().sum(dim=1)
            self.resident.settle()
        self.width = new.stop
        return self.resident.brought(squares)

    def _grow(self, columns: int) -> None:
        if columns > self._room.shape[1]:
            room = self._empty(min(self.most, max(columns, 2 * self._room.shape[1])))
            room[:, : self.width] = self.values
            self._room = room

    def trim(self) -> None:
        if self.width < self._room.shape[1]:
            self._room = self.values.clone()

    def across(self, R: NDArray[Any]) -> Array:
        return self.resident.brought(product(self.values.T, self.resident.sent(R)))

    def along(self, x: NDArray[Any]) -> Array:
        return self.resident.brought(product(self.values, self.resident.sent(x)))

    def squares(self) -> Array:
        return np.asarray(self.resident.brought(self._product()))

    def top(self) -> float:
        found, at = self._product(), self.resident.device
        vector = self.resident.sent(np.random.default_rng(0).normal(size=self.width))
        size = torch.zeros((), dtype=torch.float64, device=at)
        for _ in range(POWERS):
            vector = vector / torch.linalg.vector_norm(vector).clip(min=np.finfo(np.float64).tiny)
            following = torch.mv(found, vector)
            size, vector = vector @ following, following
        return float(self.resident.brought(size))

    def triangle(self, chosen: Rows) -> DeviceTriangle:
        needed = 8 * len(chosen) * self.width
        self.square.budget().require(needed, f"the factor of {len(chosen)} landmarks, on the card", REMEDY)
        lower = self.values[self.resident.sent(chosen, torch.int64)]
        self._room, self._squares = self._room[:, :0].clone(), None
        self.width = 0
        return triangle_of(lower, self.resident, self.square.budget)

    def inverse(self, ridge: float) -> DeviceInverse | None:
        shifted = self._product().clone()
        shifted.diagonal().add_(ridge)
        lower, failed = torch.linalg.cholesky_ex(shifted)
        if self.resident.brought(failed).any():
            return None
        for rows in self._parts():
            part = self.values[rows]
            part.copy_(torch.linalg.solve_triangular(lower.T, part, upper=True, left=False))
            self.resident.settle()
        return DeviceInverse(self.values, ridge, self.resident)

    def _parts(self) -> Iterator[slice]:
        """All rows, some at a time."""
        n, k = self.shape
        step = max(1, int(PART_OPERATIONS / max(1, 2 * k * k)))
        return (slice(start, start + step) for start in range(0, n, step))

    def _product(self) -> torch.Tensor:
        """F'F, on the device."""
        if self._squares is not None:
            return self._squares
        k = self.width
        found = torch.zeros((k, k), dtype=torch.float64, device=self.resident.device)
        for rows in self._parts():
            part = self.values[rows]
            found.addmm_(part.T, part)
            self.resident.settle()
        self._squares = found
        return found


@dataclass(frozen=True, eq=False)
class DeviceInverse:
    """(I - G G') / ridge with G = F L'^-1 and L L' = F'F + ridge I: an `Inverse` on a device.

    No part of it is longer than 1 / ridge, so that it is as exact as L.
    """

    values: torch.Tensor
    ridge: float
    resident: Resident

    def solve(self, R: NDArray[Any]) -> Array:
        there = self.resident.sent(R)
        along = product(self.values, product(self.values.T, there))
        return np.asarray(self.resident.brought((there - along).div_(self.ridge)))
