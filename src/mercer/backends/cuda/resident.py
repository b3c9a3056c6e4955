"""Arrays on a device: rows that stay there for a whole fit, and what goes to and fro."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from mercer.backends.cuda.device_rows import DeviceRows
from mercer.backends.cuda.rows import Rows
from mercer.backends.tensors import BROUGHT
from mercer.compute.runtime.memory import Budget

STAGED = 1 << 15, 1 << 26
"""Bytes of thin arrays that go by way of memory whose pages stay: fewer are quick in any case, and more need much."""


@dataclass
class Traffic:
    """Bytes that went between this process and a device.

    rows : rows of the data, each of which goes up once a fit
    thin : up and down, thin arrays
    wide : down, blocks of a matrix that somebody asked for
    """

    rows: int = 0
    thin: int = 0
    wide: int = 0


@dataclass
class Resident:
    """What a device holds during a fit; rows are found by their array, which nobody changes meanwhile."""

    device: torch.device
    budget: Callable[[], Budget] = lambda: Budget.of(None)
    traffic: Traffic = field(default_factory=Traffic)
    brought_before: int = field(default_factory=lambda: BROUGHT.bytes)
    _rows: dict[tuple[int, torch.dtype], torch.Tensor] = field(default_factory=dict)
    _held: dict[tuple[int, torch.dtype], Rows] = field(default_factory=dict)

    def rows(self, array: NDArray[Any], dtype: torch.dtype) -> torch.Tensor:
        """The rows of an array, sent when they are first asked for."""
        key = id(array), dtype
        if key not in self._rows:
            if isinstance(array, DeviceRows):
                found = self._there(array).to(dtype)
            elif (wide := self._rows.get((id(array), torch.float64))) is not None:  # it need not be sent again
                found = wide.to(dtype)
            else:
                found = _tensor(array).to(self.device).to(dtype)
                self.traffic.rows += array.nbytes
            self._rows[key] = found
            weakref.finalize(array, self._rows.pop, key, None)
        return self._rows[key]

    def _there(self, rows: DeviceRows) -> torch.Tensor:
        """Those that are on a device: as they are, where it is this one."""
        if rows.tensor.device != self.device:
            self.traffic.rows += rows.tensor.numel() * rows.tensor.element_size()
        return rows.tensor.contiguous().to(self.device)

    def held(self, array: NDArray[Any], dtype: torch.dtype) -> Rows:
        """The same with what kernels make of rows: norms, packed tables, coordinates."""
        key = id(array), dtype
        if key not in self._held:
            self._held[key] = Rows(self.rows(array, dtype))
            weakref.finalize(array, self._held.pop, key, None)
        return self._held[key]

    def sent(self, array: NDArray[Any], dtype: torch.dtype = torch.float64) -> torch.Tensor:
        """A thin array."""
        self.traffic.thin += array.nbytes
        if self.device.type == "cuda" and STAGED[0] <= array.nbytes <= STAGED[1]:
            return self._staged(array).to(dtype)
        return _tensor(array).to(self.device, dtype)

    def _staged(self, array: NDArray[Any]) -> torch.Tensor:
        """An array by way of memory that the device reads by itself: pages that may move go up in small parts."""
        plain = _tensor(array)
        waiting = torch.empty(plain.shape, dtype=plain.dtype, pin_memory=True)
        np.copyto(waiting.numpy(), plain.numpy())  # by this thread alone: PyTorch would wake others for it
        return waiting.to(self.device, non_blocking=True)  # PyTorch keeps the memory until that is done

    def like(self, array: NDArray[Any]) -> torch.Tensor:
        """A thin array of float64, or of positions, as it is."""
        return self.sent(array, torch.int64 if array.dtype.kind == "i" else torch.float64)

    def brought(self, tensor: torch.Tensor) -> NDArray[Any]:
        """A thin array."""
        size = tensor.numel() * tensor.element_size()
        self.traffic.thin += size
        if self.device.type == "cuda" and STAGED[0] <= size <= STAGED[1]:
            waiting = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True)
            waiting.copy_(tensor, non_blocking=True)
            self.settle()
            return np.array(waiting.numpy())  # such memory is dear: nobody keeps it
        self.settle()
        found: NDArray[Any] = tensor.cpu().numpy()
        return found

    def block(self, tensor: torch.Tensor, out: NDArray[Any]) -> None:
        """A block of a matrix, to where it was asked for."""
        self.settle()
        torch.from_numpy(out).copy_(tensor)
        self.traffic.wide += out.nbytes

    def require(self, needed: int, purpose: str) -> None:
        """Refuse what needs more bytes than the device has for it, before it starts."""
        remedy = 'Use conjugate gradients, landmarks or backend="cpu".'
        self.budget().require(needed, f"{purpose} on {self.device}", remedy)

    def settle(self) -> None:
        """Wait until the device has done all that it was told: short work, after which Ctrl-C is heard."""
        if self.device.type == "cuda":
            torch.cuda.current_stream(self.device).synchronize()

    def clear(self) -> None:
        """Hold nothing any more."""
        self._rows.clear()
        self._held.clear()


def _tensor(array: NDArray[Any]) -> torch.Tensor:
    """An array for PyTorch, which takes no numbers that lie backwards, nor memory that nobody may write to."""
    plain = np.ascontiguousarray(array)
    if min(plain.strides, default=0) < 0 or not plain.flags.writeable:
        plain = plain.copy()
    return torch.from_numpy(plain)
