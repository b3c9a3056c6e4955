"""The evaluator of a card: generated kernels for what they can do, with thin arrays in and out."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from mercer.backends.base import Chosen, Traced
from mercer.backends.cuda.launch import Launched
from mercer.backends.cuda.resident import Resident
from mercer.compute.runtime.threads import Watch

BLOCK_NUMBERS = 1 << 27
"""Numbers of a matrix that are brought at once (1 GiB)."""


class OnCard:
    """A formula on a card by Triton; an `Evaluator` whose values stay there until they are asked for."""

    threaded = False

    def __init__(self, launched: Launched, resident: Resident) -> None:
        self.launched, self.resident = launched, resident
        self.shape, self.symmetric = launched.shape, launched.symmetric
        self.dtype: np.dtype[Any] = launched.dtype

    @classmethod
    def of(cls, traced: Traced, resident: Resident) -> OnCard:
        """A formula bound to rows, which are sent where they are not there yet."""
        return cls(Launched.of(traced, str(resident.device), resident.hold), resident)

    def at(self, rows: NDArray[np.intp]) -> OnCard:
        """Some rows of the left side against all of the right."""
        return OnCard(self.launched.at(rows), self.resident)

    def within(self, rows: Chosen, columns: Chosen) -> OnCard:
        """Some rows against some columns."""
        return OnCard(self.launched.within(rows, columns), self.resident)

    def device_rows(self, i0: int, i1: int) -> torch.Tensor:
        """(i1 - i0, m): the values of some rows, on the card."""
        out = torch.empty((i1 - i0, self.shape[1]), dtype=_TYPES[self.dtype.name], device=self.resident.device)
        self.launched.fill(i0, i1, out)
        return out

    def device_times(self, V: torch.Tensor, watch: Watch | None = None) -> torch.Tensor:
        """The product with a matrix of m rows on the card, in float64."""
        return self.launched.times(V, watch)

    def times(self, V: NDArray[Any], workers: int, watch: Watch | None = None) -> NDArray[Any]:
        """The product with a matrix of m rows, in float64."""
        return self.resident.brought(self.device_times(self.resident.sent(V), watch))

    def matrix(
        self, dtype: np.dtype[Any], workers: int, watch: Watch | None = None, out: NDArray[Any] | None = None
    ) -> tuple[NDArray[Any], bool]:
        """All values, and whether all are surely finite."""
        n, m = self.shape
        out = np.empty(self.shape, dtype) if out is None else out
        if self.symmetric and n * m <= BLOCK_NUMBERS:
            found = torch.empty((n, m), dtype=_TYPES[self.dtype.name], device=self.resident.device)
            self.launched.matrix(found, watch)
            return out, self._bring(found, out)
        step, sure = max(1, BLOCK_NUMBERS // max(1, m)), True
        for i0 in range(0, n, step):
            sure = self.fill(i0, min(i0 + step, n), out[i0 : i0 + step]) and sure
        return out, sure

    def fill(self, i0: int, i1: int, out: NDArray[Any]) -> bool:
        """Some rows, and whether all are surely finite."""
        return self._bring(self.device_rows(i0, i1), out)

    def _bring(self, found: torch.Tensor, out: NDArray[Any]) -> bool:
        self.resident.block(found, out)
        return out.dtype == self.dtype and bool(torch.isfinite(found.sum()))

    def peak(self, columns: int, workers: int) -> int:
        """Bytes of this process's memory that `times` holds, beside its result."""
        return 8 * self.shape[1] * columns


_TYPES = {"float32": torch.float32, "float64": torch.float64}
