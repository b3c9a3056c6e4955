"""What evaluators of a device share: values stay there until somebody asks for them in this process."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from mercer.backends.cuda.device_rows import DeviceRows, of_kind
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

    def times_there(self, V: Any, dtype: np.dtype[Any], watch: Watch | None = None) -> Any:
        """The product with a tensor of m rows, as what V is; None where V is not on this device.

        dtype : that of the matrix; the product has the wider one of both
        """
        rows = DeviceRows.of(V)
        if rows.tensor.device != self.resident.device or not rows.tensor.is_floating_point():
            return None
        given = rows.tensor if rows.ndim == 2 else rows.tensor[:, None]
        narrow = dtype == np.float32 and given.dtype == torch.float32
        columns = given if narrow else given.double()
        if self.dtype == np.float32 and not narrow:  # what is divided by its largest number fits the narrower type
            sizes = columns.abs().amax(dim=0)
            sizes = torch.where(torch.isfinite(sizes) & (sizes > 0), sizes, 1.0)
            found = self.device_times(columns / sizes, watch) * sizes
        else:
            found = self.device_times(columns, watch)
        return of_kind(found.to(columns.dtype).reshape(len(found), *rows.shape[1:]), V)

    def tensor(self, dtype: np.dtype[Any], diagonal: NDArray[Any] | None) -> torch.Tensor:
        """All values, on the device; a symmetric matrix exactly symmetric, with the diagonal that is given."""
        needed = dtype.itemsize * self.shape[0] * self.shape[1] * (1 if diagonal is None else 2)
        self.resident.require(needed, f"a matrix of {self.shape[0]:,} x {self.shape[1]:,} numbers")
        out = torch.empty(self.shape, dtype=getattr(torch, dtype.name), device=self.resident.device)
        for i0 in range(0, self.shape[0], self.step):
            i1 = min(i0 + self.step, self.shape[0])
            out[i0:i1] = self.device_rows(i0, i1)
            self.resident.settle()
        if diagonal is not None:
            out = out.tril_(-1)
            out += out.T.clone()
            out.diagonal().copy_(self.resident.sent(diagonal, out.dtype))
        return out

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
