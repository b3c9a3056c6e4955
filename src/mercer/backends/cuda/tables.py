"""Wide tables on a device: features of all rows, in slices that take a moment each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from mercer.backends.cuda.groups import DeviceGroups
from mercer.backends.cuda.panels import product
from mercer.backends.cuda.resident import Resident
from mercer.backends.cuda.slices import CHUNK_ROWS, chunked, slices
from mercer.backends.tables import Array, Rows, Tell, silent

TYPES = {"float32": torch.float32, "float64": torch.float64}
SQUARE_OPERATIONS = 1e12
"""Operations of one product of squares, about: less than a tenth of a second."""


@dataclass(frozen=True, eq=False)
class DeviceTable:
    """A `Table` on a device.

    values : (n, p), rows or columns of it may be a view
    """

    values: torch.Tensor
    resident: Resident

    @classmethod
    def empty(cls, shape: tuple[int, int], dtype: Any, resident: Resident) -> DeviceTable:
        """Room for a table, or a refusal with both numbers."""
        kind = np.dtype(dtype)
        resident.require(kind.itemsize * shape[0] * shape[1], f"features of {shape[0]:,} rows")
        return cls(torch.empty(shape, dtype=TYPES[kind.name], device=resident.device), resident)

    @property
    def shape(self) -> tuple[int, int]:
        return self.values.shape[0], self.values.shape[1]

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype("float32" if self.values.dtype == torch.float32 else "float64")

    def __len__(self) -> int:
        return len(self.values)

    # -- parts ----------------------------------------------------------------------------------------------------

    def __getitem__(self, rows: slice) -> DeviceTable:
        return DeviceTable(self.values[rows], self.resident)

    def first(self, columns: int) -> DeviceTable:
        return DeviceTable(self.values[:, :columns], self.resident)

    def rows(self, positions: Rows) -> NDArray[Any]:
        return self.resident.brought(self.values[self.resident.sent(positions, torch.int64)])

    def to_host(self) -> NDArray[Any]:
        out = np.empty(self.shape, self.dtype)
        for part in self._slices():
            self.resident.block(self.values[part], out[part])
        return out

    # -- products -------------------------------------------------------------------------------------------------

    def __matmul__(self, W: NDArray[Any]) -> Array:
        weights = self.resident.sent(W.reshape(len(W), -1))
        out = torch.empty((len(self.values), weights.shape[1]), dtype=torch.float64, device=self.resident.device)
        for part in self._slices():
            out[part] = product(self.values[part].double(), weights)
        return self.resident.brought(out).reshape(len(out), *W.shape[1:])

    @property
    def T(self) -> DeviceTransposed:  # noqa: N802
        return DeviceTransposed(self)

    def squares(self, weights: Array | None = None, tell: Tell = silent) -> Array:
        p = self.shape[1]
        D = None if weights is None else self.resident.sent(weights)
        found = torch.zeros((p, p), dtype=torch.float64, device=self.resident.device)
        for part in self._slices(max(1, int(SQUARE_OPERATIONS / max(1, 2 * p * p)))):
            tell()
            own = self.values[part].double()
            found.addmm_(own.T, own if D is None else own * D[part, None])
            self.resident.settle()
        return np.asarray(self.resident.brought(found))

    def row_squares(self) -> Array:
        return self.resident.brought(self.own_squares())

    def own_squares(self) -> torch.Tensor:
        """The same on the device."""
        found = torch.empty(len(self.values), dtype=torch.float64, device=self.resident.device)
        for part in self._slices():
            found[part] = self.values[part].double().square().sum(dim=1)
        return found

    def subtract(self, row: Array) -> None:
        there = self.resident.sent(row)
        for part in self._slices():
            self.values[part] = (self.values[part].double() - there).to(self.values.dtype)

    def groups(self, weights: Array, sizes: Array, count: int) -> DeviceGroups:
        sent = self.resident.sent
        return DeviceGroups(self.values, self.own_squares(), sent(weights), sent(sizes), count, self.resident)

    def _slices(self, most: int | None = None) -> Iterator[slice]:
        return slices(*self.shape, self.resident, most)


@dataclass(frozen=True, eq=False)
class DeviceTransposed:
    """Z' of a table on a device."""

    table: DeviceTable

    def __matmul__(self, R: NDArray[Any]) -> Array:
        Z, resident = self.table.values, self.table.resident
        columns = resident.sent(R.reshape(len(R), -1))
        out = torch.zeros((Z.shape[1], columns.shape[1]), dtype=torch.float64, device=resident.device)
        for part in slices(*self.table.shape, resident, multiple=CHUNK_ROWS):
            out += chunked(Z[part].double(), columns[part])
        return resident.brought(out).reshape(len(out), *R.shape[1:])
