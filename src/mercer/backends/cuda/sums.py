"""Passes on a device: the rows of a piece in a few slices, sums that stay there until they are joined."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from mercer.backends.base import Array, RowValues
from mercer.backends.cuda.evaluator import DeviceEvaluator
from mercer.backends.cuda.resident import Resident
from mercer.backends.cuda.slices import slices
from mercer.backends.cuda.tables import DeviceTable
from mercer.backends.passes import Column, Pass
from mercer.compute.runtime.run import State
from mercer.compute.runtime.threads import Clock, Watch

TYPES = {"float64": torch.float64, "float32": torch.float32, "int64": torch.int64}


class TorchOperations:
    """What tensors can do beyond the words that all arrays share."""

    @staticmethod
    def add_squares(C: torch.Tensor, A: torch.Tensor) -> None:
        """C += A'A in place."""
        C.addmm_(A.T, A)

    @staticmethod
    def divide_by_triangle(C: torch.Tensor, lower: torch.Tensor) -> None:
        """C <- C L'^-1 in place."""
        C.copy_(torch.linalg.solve_triangular(lower.T, C, upper=True, left=False))

    @staticmethod
    def subtract_product(C: torch.Tensor, A: torch.Tensor, B: torch.Tensor) -> None:
        """C -= A B' in place."""
        C.addmm_(A, B.T, alpha=-1.0)

    cos = staticmethod(torch.cos)
    sin = staticmethod(torch.sin)

    @staticmethod
    def beside(tables: list[torch.Tensor]) -> torch.Tensor:
        """Tables of as many rows as one table."""
        return torch.cat(tables, dim=1)

    @staticmethod
    def row_squares(A: torch.Tensor) -> torch.Tensor:
        """The squared length of each row."""
        return (A * A).sum(dim=1)

    @staticmethod
    def largest(A: torch.Tensor | Products, shift: torch.Tensor) -> torch.Tensor:
        """The position of the largest number of each row of A - shift."""
        if isinstance(A, Products):
            return A.largest(shift)
        A -= shift
        return A.argmax(dim=1)

    @staticmethod
    def add_at(sums: torch.Tensor, positions: torch.Tensor, numbers: torch.Tensor) -> None:
        """sums[positions[i]] += numbers[i] for all i: sorted first, so that the order of sums is always the same."""
        order = torch.argsort(positions, stable=True)
        found, counts = torch.unique_consecutive(positions[order], return_counts=True)
        sums[found] += torch.segment_reduce(numbers[order], "sum", lengths=counts)  # a card sums up in any order


@dataclass(frozen=True, eq=False)
class Products:
    """Values that are not written: products with them and with the transposed ones, each of which computes them.

    straight, across : of the rows with landmarks, and of the landmarks with the rows
    """

    straight: DeviceEvaluator
    across: DeviceEvaluator

    def __matmul__(self, V: torch.Tensor) -> torch.Tensor:
        return self.straight.device_times(V) if V.ndim > 1 else self.straight.device_times(V[:, None])[:, 0]

    def largest(self, shift: torch.Tensor) -> torch.Tensor:
        """The position of the largest number of each row less a shift: the values of some rows at a time."""
        evaluator, (count, width) = self.straight, self.straight.shape
        found = torch.empty(count, dtype=torch.int64, device=shift.device)
        for rows in slices(count, width, evaluator.resident):
            values = evaluator.device_rows(rows.start, rows.stop).to(torch.float64)
            values -= shift
            torch.argmax(values, dim=1, out=found[rows])
        return found

    @property
    def T(self) -> Products:  # noqa: N802
        return Products(self.across, self.straight)


class DeviceSums:
    """The sums of a pass on a device, which has one lane: an `Accumulator` (`mercer.backends.base`)."""

    def __init__(self, work: Pass, width: int, resident: Resident, state: State | None = None) -> None:
        self.work, self.width, self.resident = work, width, resident
        self._moved = work.moved(resident.like)
        self.sums = {
            name: torch.zeros(shape, dtype=torch.float64, device=resident.device)
            for name, shape in work.sums(width).items()
        }
        for name, own in self.sums.items():
            lanes = () if state is None else (value for key, value in state.items() if key.rpartition(" ")[0] == name)
            for value in lanes:
                own += resident.sent(np.asarray(value))

    def add(self, values: RowValues, rows: Mapping[str, Array], watch: Watch | None = None) -> dict[str, Array]:
        """See `Accumulator`."""
        (count, _), wanted, device = values.shape, self.work.columns(self.width), self.resident.device
        left: dict[str, Any] = {
            name: rows[name] if name in rows else self._room(count, column) for name, column in wanted.items()
        }
        triangle = None if values.triangle is None else self.resident.rows(values.triangle, torch.float64)
        if values.functions is not None:
            values = replace(values, functions=values.functions.moved(self.resident.like))
        clock = Clock(count, watch)
        read = [name for name in self.work.reads if name in rows]
        fused = self._fused(values)
        parts = slices(count, self.width, self.resident) if fused is None else iter([slice(0, count)])
        for part in parts:
            found = self._values(values, part) if fused is None else fused
            if triangle is not None and isinstance(found, torch.Tensor):  # products come without one
                TorchOperations.divide_by_triangle(found, triangle)
            own = {name: self.resident.sent(rows[name][part]) for name in read}
            for name, column in wanted.items():
                if isinstance(left[name], DeviceTable):
                    own[name] = left[name].values[part]
                    continue
                made = torch.empty((part.stop - part.start, *column.shape), dtype=TYPES[column.dtype], device=device)
                own[name] = own[name].to(made.dtype) if name in read else made
            self._moved.add(found, own, self.sums, TorchOperations)
            for name, column in wanted.items():
                if column.wide and isinstance(left[name], np.ndarray):
                    self.resident.block(own[name], left[name][part])
                elif not isinstance(left[name], DeviceTable):
                    left[name][part] = self.resident.brought(own[name])
            self.resident.settle()
            clock.tell(part.stop)
        return left

    def _fused(self, values: RowValues) -> Products | None:
        """Products in place of values, where the pass needs no more, and both are computed on the device."""
        if not self.work.by_products or values.across is None or values.triangle is not None:
            return None
        both: tuple[Any, Any] = values.evaluator, values.across()
        return Products(*both) if all(hasattr(each, "device_times") for each in both) else None

    def _room(self, count: int, column: Column) -> Array | DeviceTable:
        if column.wide:
            return DeviceTable.empty((count, column.shape[0]), column.dtype, self.resident)
        return np.empty((count, *column.shape), column.dtype)

    def _values(self, values: RowValues, part: slice) -> torch.Tensor:
        """Some rows, in float64, to be overwritten."""
        if values.table is not None:
            return self.resident.sent(values.table[part])
        if values.functions is not None and values.points is not None:
            points = self.resident.rows(values.points, torch.float64)[part]
            made: torch.Tensor = values.functions.values(points, TorchOperations)
            return made
        evaluator: Any = values.evaluator
        if hasattr(evaluator, "device_rows"):
            there: torch.Tensor = evaluator.device_rows(part.start, part.stop)
            return there.to(torch.float64)
        found = np.empty((part.stop - part.start, self.width))
        evaluator.fill(part.start, part.stop, found)
        return self.resident.sent(found)

    def state(self) -> State:
        """See `Accumulator`."""
        return {f"{name} 0": self.resident.brought(own) for name, own in self.sums.items()}

    def joined(self) -> dict[str, Array]:
        """See `Accumulator`."""
        found = {name: self.resident.brought(own) for name, own in self.sums.items()}
        self.sums = {}
        return found
