"""Tensors of PyTorch, and arrays of any library on a graphics card: known by their faces, so that none is imported.

Rows of such are held where they are (`mercer.backends.cuda.device_rows`). What has a number or two for each row is
thin: it becomes an array of this process, and results go back to where X is, as what X is.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from mercer.backends.cuda.device_rows import DeviceRows

CUDA_TYPES = (2, 13)
"""How DLPack numbers devices of CUDA: their own memory, and that which they share with the cores."""
WHERE_ROWS_ARE: ContextVar[str | None] = ContextVar("device of the rows", default=None)
_NESTED: ContextVar[bool] = ContextVar("inside of a call with a tensor", default=False)


@dataclass
class Brought:
    """Bytes of rows that were copied from a device to this process since it began."""

    bytes: int = 0


BROUGHT = Brought()


def is_tensor(data: Any) -> bool:
    """Whether data is a tensor of PyTorch, or an array of any library on a card.

    >>> is_tensor(np.ones(3))
    False
    """
    if isinstance(data, np.ndarray | list | str) or not hasattr(type(data), "__dlpack_device__"):
        return False
    return _is_of_torch(data) or cuda_device(data) is not None


def _is_of_torch(data: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(data, torch.Tensor)


def cuda_device(data: Any) -> str | None:
    """The card on which data lies, as PyTorch calls it; None for all else.

    >>> cuda_device(np.ones(3)) is None
    True
    """
    if isinstance(data, np.ndarray) or not hasattr(type(data), "__dlpack_device__"):
        return None
    if _is_of_torch(data):
        return str(data.device) if data.device.type == "cuda" else None
    try:
        kind, number = data.__dlpack_device__()
    except (AttributeError, BufferError, RuntimeError, TypeError, ValueError):  # an array on no one device
        return None
    return f"cuda:{int(number)}" if int(kind) in CUDA_TYPES else None


def readable(data: Any) -> bool:
    """Whether a tensor is a plain table of numbers without a gradient: others are refused by name."""
    if not _is_of_torch(data):
        return True
    strided = str(data.layout) == "torch.strided" and data.device.type in ("cpu", "cuda")
    return strided and not data.requires_grad and not data.is_complex() and not data.is_quantized


def held(data: Any, device: str | None = None) -> DeviceRows | None:
    """The rows of a tensor where they are; None for what lies in this process, and for what is no table of numbers.

    device : "cpu" where PyTorch on the cores stands for a card
    """
    there = cuda_device(data)
    if not (there or (device == "cpu" and _is_of_torch(data) and data.device.type == "cpu")) or not readable(data):
        return None
    from mercer.backends.cuda.device_rows import DeviceRows  # where there is a tensor, PyTorch is loaded

    return DeviceRows.of(data)


def is_held(values: Any) -> bool:
    """Whether these are rows on a device, and no array of this process.

    >>> is_held(np.ones((2, 2)))
    False
    """
    return not isinstance(values, np.ndarray) and hasattr(values, "on_host")


def on_host(values: Any) -> Any:
    """Rows as an array of this process; what is none on a device, as it is.

    >>> on_host(np.ones(2))
    array([1., 1.])
    """
    return values.on_host() if is_held(values) else values


def brought(data: Any) -> Any:
    """A tensor on a card as an array of this process; what lies in this process already, or is no table, as it is."""
    rows = held(data)
    return data if rows is None else rows.as_given()


def as_kind(tensor: Any, X: Any) -> Any:
    """A tensor of PyTorch as what X is, on its device."""
    from mercer.backends.cuda.device_rows import of_kind  # as above

    return of_kind(tensor, X)


def is_finite(tensor: Any) -> bool:
    """Whether no number of a tensor is infinite or NaN."""
    from mercer.backends.cuda.device_rows import DeviceRows  # as above

    rows = DeviceRows.of(tensor).tensor
    return bool(((rows - rows) == 0).all())


def like(found: Any, X: Any) -> Any:
    """Results as what X is, on its device; those that are no arrays of numbers as they are."""
    if isinstance(found, tuple):
        return tuple(like(each, X) for each in found)
    if not isinstance(found, np.ndarray) or found.dtype.kind not in "fiub":
        return found
    from mercer.backends.cuda.device_rows import sent_like  # as above

    return sent_like(found, X)


@contextmanager
def inside(X: Any) -> Iterator[bool]:
    """Inside, learners whose backend is "auto" compute where the rows are; whether this call is the outermost."""
    if _NESTED.get():
        yield False
        return
    tokens = WHERE_ROWS_ARE.set(cuda_device(X)), _NESTED.set(True)
    try:
        yield True
    finally:
        WHERE_ROWS_ARE.reset(tokens[0])
        _NESTED.reset(tokens[1])


Positions = NDArray[np.intp]
