"""The evaluator of a graphics card: generated kernels behind the face that passes, operators and learners know."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from mercer.backends.base import Chosen, Traced
from mercer.backends.cuda.evaluator import DeviceEvaluator
from mercer.backends.cuda.launch import Launched
from mercer.backends.cuda.resident import Resident
from mercer.compute.runtime.threads import Watch

MAX_BLOCK_NUMBERS = 1 << 27
"""Numbers of a matrix that are on their way from the card at once."""


class OnCard(DeviceEvaluator):
    """A formula bound to the rows of two sides, on the card of `resident`."""

    def __init__(self, traced: Traced, resident: Resident) -> None:
        dtype = torch.float32 if traced.precision == "float32" else torch.float64
        self.resident = resident
        self.launched = Launched.of(traced, str(resident.device), lambda array: resident.held(array, dtype))
        self.shape, self.symmetric = traced.shape, traced.symmetric
        self.dtype: np.dtype[Any] = self.launched.dtype

    def at(self, rows: NDArray[np.intp]) -> OnCard:
        """Some rows of the left side against all of the right."""
        return self._part(self.launched.at(self.resident.sent(rows, torch.int64)))

    def within(self, rows: Chosen, columns: Chosen) -> OnCard:
        """Some rows against some columns."""
        some = None if rows is None else self.resident.sent(rows, torch.int64)
        others = some if columns is rows else None if columns is None else self.resident.sent(columns, torch.int64)
        return self._part(self.launched.within(some, others))

    def _part(self, launched: Launched) -> OnCard:
        part = copy(self)
        part.launched, part.shape, part.symmetric = launched, launched.shape, launched.symmetric
        return part

    def device_rows(self, i0: int, i1: int) -> torch.Tensor:
        """(i1 - i0, m): the values of some rows, on the device."""
        out = torch.empty((i1 - i0, self.shape[1]), dtype=self._values, device=self.resident.device)
        self.launched.fill(i0, i1, out)
        return out

    def device_times(self, V: torch.Tensor, watch: Watch | None = None) -> torch.Tensor:
        """The product with a matrix of m rows, on the device and in float64."""
        return self.launched.times(V, watch)

    def device_matrix(self, watch: Watch | None = None) -> torch.Tensor:
        """All values, on the device; a symmetric matrix is exactly symmetric."""
        out = torch.empty(self.shape, dtype=self._values, device=self.resident.device)
        self.launched.matrix(out, watch)
        return out

    def matrix(
        self, dtype: np.dtype[Any], workers: int, watch: Watch | None = None, out: NDArray[Any] | None = None
    ) -> tuple[NDArray[Any], bool]:
        """All values, a symmetric matrix exactly symmetric, and whether all are surely finite."""
        if not self.symmetric or self.shape[0] > self.step:
            return super().matrix(dtype, workers, watch, out)
        out = np.empty(self.shape, dtype) if out is None else out
        return out, self._bring(self.device_matrix(watch), out)

    @property
    def step(self) -> int:
        return max(1, MAX_BLOCK_NUMBERS // max(1, self.shape[1]))

    @property
    def _values(self) -> torch.dtype:
        return torch.float32 if self.dtype == np.float32 else torch.float64
