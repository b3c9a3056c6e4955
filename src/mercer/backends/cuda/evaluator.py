"""What evaluators of a device share: values stay there until somebody asks for them in this process."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from mercer.backends.cuda.resident import Resident
from mercer.compute.codegen.tiles import mirror
from mercer.compute.runtime.threads import Clock, Watch


class DeviceEvaluator(ABC):
    """A formula bound to the rows of two sides, on the device of `resident`; an `Evaluator`."""

    threaded = False
    shape: tuple[int, int]
    symmetric: bool
    dtype: np.dtype[Any]
    resident: Resident

    @abstractmethod
    def device_rows(self, i0: int, i1: int) -> torch.Tensor:
        """(i1 - i0, m): the values of some rows, on the device."""

    @abstractmethod
    def device_times(self, V: torch.Tensor, watch: Watch | None = None) -> torch.Tensor:
        """The product with a matrix of m rows, on the device and in float64."""

    @property
    @abstractmethod
    def step(self) -> int:
        """Rows whose values are on their way at once."""

    def times(self, V: NDArray[Any], workers: int, watch: Watch | None = None) -> NDArray[Any]:
        """The product with a matrix of m rows, in float64."""
        return self.resident.brought(self.device_times(self.resident.sent(V), watch))

    def matrix(
        self, dtype: np.dtype[Any], workers: int, watch: Watch | None = None, out: NDArray[Any] | None = None
    ) -> tuple[NDArray[Any], bool]:
        """All values, a symmetric matrix exactly symmetric, and whether all are surely finite."""
        (n, m), sure = self.shape, True
        out = np.empty(self.shape, dtype) if out is None else out
        clock = Clock(n * m, watch)
        for i0 in range(0, n, self.step):
            i1 = min(i0 + self.step, n)
            sure = self.fill(i0, i1, out[i0:i1]) and sure
            clock.tell(i1 * m)
        if self.symmetric:
            mirror(out)
        return out, sure

    def fill(self, i0: int, i1: int, out: NDArray[Any]) -> bool:
        """Some rows, and whether all are surely finite."""
        return self._bring(self.device_rows(i0, i1), out)

    def _bring(self, found: torch.Tensor, out: NDArray[Any]) -> bool:
        self.resident.block(found, out)
        return out.dtype == self.dtype and bool(torch.isfinite(found).all())

    def peak(self, columns: int, workers: int) -> int:
        """Bytes of this process's memory that `times` holds, beside its result."""
        return 8 * self.shape[1] * columns
