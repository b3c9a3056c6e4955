"""Rows that lie on a device: one type that stands for them wherever kernels and learners have a NumPy table.

It has the face that these use of a table: its shape, parts of it, arithmetic row by row, the largest and the smallest
number of each column. All of that happens on the device. Whatever else NumPy is asked to do with it brings the rows to
this process, and is counted (`mercer.backends.tensors.BROUGHT`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import NDArray

from mercer.backends.tensors import BROUGHT, CUDA_TYPES

SLICE_NUMBERS = 1 << 25
"""Numbers of rows that are in float64 at once, about, where the tensor is of another type (256 MiB)."""
TYPES = {"b": torch.bool, "i": torch.int64, "u": torch.int64, "f": torch.float64}
NAMES = {
    "true_divide": "div",
    "divide": "div",
    "subtract": "sub",
    "multiply": "mul",
    "power": "pow",
    "absolute": "abs",
    "negative": "neg",
    "rint": "round",
    "arctan": "atan",
    "arcsin": "asin",
    "arccos": "acos",
    "arctan2": "atan2",
    "bitwise_and": "logical_and",
    "bitwise_or": "logical_or",
    "invert": "logical_not",
    "less": "lt",
    "less_equal": "le",
    "greater": "gt",
    "greater_equal": "ge",
    "equal": "eq",
    "not_equal": "ne",
}
"""What PyTorch calls otherwise than NumPy."""
SAME = [
    "add",
    "square",
    "sqrt",
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "sin",
    "cos",
    "tan",
    "sinh",
    "cosh",
    "tanh",
    "sign",
    "floor",
    "ceil",
    "trunc",
    "maximum",
    "minimum",
    "isfinite",
    "isnan",
    "isinf",
    "logical_and",
    "logical_or",
    "logical_not",
]
WORDS: dict[str, Callable[..., torch.Tensor]] = {name: getattr(torch, name) for name in SAME} | {
    name: getattr(torch, there) for name, there in NAMES.items()
}
"""What is done on the device, by NumPy's names."""
BITWISE = ("bitwise_and", "bitwise_or", "invert")
"""Words that are those of PyTorch for truth values alone."""


class DeviceRows(NDArrayOperatorsMixin):
    """Rows on a device, which to others are numbers of float64, whatever the tensor holds.

    tensor : as it was given, or what was computed from such
    """

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor

    @classmethod
    def of(cls, data: Any) -> DeviceRows:
        """Those of a tensor, or of an array with DLPack's face; nothing is copied."""
        return cls(data.detach() if isinstance(data, torch.Tensor) else torch.utils.dlpack.from_dlpack(data))

    # -- what a table is ------------------------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.tensor.shape)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return int(self.tensor.numel())

    @property
    def nbytes(self) -> int:
        return 8 * self.size

    @property
    def device(self) -> str:
        """As PyTorch calls it."""
        return str(self.tensor.device)

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(bool if self.tensor.dtype == torch.bool else np.float64)

    @property
    def given(self) -> np.dtype[Any]:
        """What NumPy would have for the type of the tensor, and float64 for a type that NumPy has not."""
        name = str(self.tensor.dtype).removeprefix("torch.")
        return np.dtype(name if name != "bfloat16" and hasattr(np, name) else "float64")

    def __len__(self) -> int:
        return len(self.tensor)

    def __getitem__(self, index: Any) -> Any:
        """A part, on the device; one number comes to this process."""
        if isinstance(index, tuple):
            found = self.tensor[tuple(self._index(each) for each in index)]
        else:
            found = self.tensor[self._index(index)]
        return DeviceRows(found) if found.ndim else np.float64(found.item())

    def __iter__(self) -> Iterator[Any]:
        return iter(self.on_host())

    def _index(self, index: Any) -> Any:
        if isinstance(index, slice) and (index.step or 1) < 0:  # PyTorch takes no step backwards
            index = np.arange(len(self))[index]
        if isinstance(index, DeviceRows):
            return index.tensor
        if isinstance(index, list | np.ndarray):
            array = np.asarray(index)
            kind = torch.bool if array.dtype == bool else torch.int64
            return torch.from_numpy(np.array(array)).to(self.tensor.device, kind)
        return index.item() if isinstance(index, np.integer) else index

    def __repr__(self) -> str:
        return f"rows of shape {self.shape} on {self.device}"

    def __reduce__(self) -> tuple[Any, ...]:
        """Elsewhere there is no such device: copies in files and in other processes are arrays."""
        return np.asarray, (self.on_host(),)

    # -- to this process ------------------------------------------------------------------------------------------

    def on_host(self) -> NDArray[Any]:
        """All of them as an array."""
        found = self.tensor.to("cpu", torch.bool if self.dtype == bool else torch.float64)
        BROUGHT.bytes += self.tensor.numel() * self.tensor.element_size()
        array: NDArray[Any] = found.contiguous().numpy()
        return array.copy() if found.data_ptr() == self.tensor.data_ptr() else array

    def as_given(self) -> NDArray[Any]:
        """The same in the tensor's own type, where NumPy has it."""
        found = self.tensor.double() if self.tensor.dtype == torch.bfloat16 else self.tensor
        BROUGHT.bytes += found.numel() * found.element_size()
        array: NDArray[Any] = found.cpu().contiguous().numpy()
        return array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        found = self.on_host()
        return found if dtype is None else found.astype(dtype, copy=False)

    # -- arithmetic -----------------------------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        into = options.pop("out", (None,))[0]
        there = None if method != "__call__" or options else self._there(ufunc.__name__, inputs)
        if isinstance(into, DeviceRows):  # X += 1 changes what stands for the rows, and never the user's tensor
            into.tensor = DeviceRows.of(
                torch.from_numpy(_on_host(ufunc, method, inputs, options)) if there is None else there
            ).tensor.to(into.tensor.device)
            return into
        if there is not None and into is None:
            return there if isinstance(there, np.ndarray) else DeviceRows(there)
        return _on_host(ufunc, method, inputs, options if into is None else {**options, "out": into})

    def _there(self, name: str, inputs: tuple[Any, ...]) -> Any:
        """What a word of NumPy's gives on the device; thin products in this process; None where it is not known."""
        if name == "matmul":
            return self._product(*inputs)
        if name not in WORDS:
            return None
        if name in BITWISE and not all(each.dtype == bool for each in inputs if isinstance(each, DeviceRows)):
            return None
        return WORDS[name](*(self._operand(each) for each in inputs))

    def _operand(self, other: Any) -> torch.Tensor:
        """A number, an array of this process, or rows, as a tensor of float64 or of truth values."""
        if isinstance(other, DeviceRows):
            return other.tensor if other.dtype == bool else other.tensor.double()
        array = np.asarray(other)
        kind = torch.bool if array.dtype == bool else torch.float64
        return torch.from_numpy(np.array(array)).to(self.tensor.device, kind)

    def _product(self, left: Any, right: Any) -> Any:
        """Rows times a matrix, on the device; a vector or a matrix of this process times rows, which is thin."""
        if isinstance(left, DeviceRows):
            return self._operand(left) @ self._operand(right)
        weights, start = self._operand(left), 0
        found = torch.zeros((*weights.shape[:-1], *self.shape[1:]), dtype=torch.float64, device=self.tensor.device)
        for part in self._slices():
            stop = start + len(part)
            found += weights[..., start:stop] @ part
            start = stop
        return found.cpu().numpy()

    def _slices(self) -> Iterator[torch.Tensor]:
        """All rows in float64, some at a time."""
        step = max(1, SLICE_NUMBERS // max(1, self.size // max(1, len(self))))
        for start in range(0, len(self), step):
            yield self.tensor[start : start + step].double()

    # -- what is known of all rows, or of each --------------------------------------------------------------------

    def max(self, axis: int | None = None, keepdims: bool = False, **options: Any) -> Any:
        """The largest numbers, in this process."""
        return self._thin(self.tensor.amax(() if axis is None else axis, keepdim=keepdims))

    def min(self, axis: int | None = None, keepdims: bool = False, **options: Any) -> Any:
        """The smallest."""
        return self._thin(self.tensor.amin(() if axis is None else axis, keepdim=keepdims))

    def any(self, axis: int | None = None, keepdims: bool = False, **options: Any) -> Any:
        """Whether some are true."""
        truth = self.tensor.bool()
        return self._thin(truth.any() if axis is None else truth.any(axis, keepdim=keepdims))

    def all(self, axis: int | None = None, keepdims: bool = False, **options: Any) -> Any:
        """Whether all are true."""
        truth = self.tensor.bool()
        return self._thin(truth.all() if axis is None else truth.all(axis, keepdim=keepdims))

    def sum(self, axis: int | None = None, keepdims: bool = False, **options: Any) -> Any:
        """Sums, in float64."""
        parts = tuple(range(self.ndim)) if axis is None else axis
        return self._thin(torch.sum(self.tensor, parts, keepdim=keepdims, dtype=torch.float64))

    def prod(self, axis: int | None = None, keepdims: bool = False, **options: Any) -> Any:
        """Products, in float64."""
        if axis is None:
            return self._thin(torch.prod(self.tensor.double()))
        return self._thin(torch.prod(self.tensor, axis, keepdim=keepdims, dtype=torch.float64))

    def mean(self, axis: int | None = None, keepdims: bool = False, **options: Any) -> Any:
        """Means, in float64."""
        return self.sum(axis, keepdims) / (self.size if axis is None else self.shape[axis])

    def row_squares(self, origin: NDArray[Any] | None = None) -> NDArray[np.float64]:
        """(n,): |x - o|^2 of each row, in this process."""
        there = torch.zeros(()) if origin is None else self._operand(origin)
        found = [(rows - there).square_().sum(dim=1) for rows in self._slices()]
        array: NDArray[np.float64] = torch.cat(found).cpu().numpy()
        return array

    def rounding_to_float32(self) -> float:
        """How far a row moves when it is rounded to float32, at most."""
        if self.tensor.dtype == torch.float32:
            return 0.0
        gaps = [(rows - rows.float().double()).square_().sum(dim=1).amax() for rows in self._slices()]
        return float(torch.stack(gaps).amax().sqrt())

    def first_bad(self) -> tuple[int, int] | None:
        """Where the first number stands that is not finite; None where all are."""
        if not self.tensor.is_floating_point():
            return None
        least, most = torch.aminmax(self.tensor) if self.size else (torch.zeros(()), torch.zeros(()))
        if bool(torch.isfinite(least) & torch.isfinite(most)):  # a NaN among them would be both
            return None
        return DeviceRows(~torch.isfinite(self.tensor)).first_true()

    def first_true(self) -> tuple[int, int] | None:
        """Where the first truth stands in a table; None where there is none."""
        truth = self.tensor.bool()
        if not bool(truth.any()):
            return None
        at = int(truth.flatten().to(torch.uint8).argmax())
        return divmod(at, self.shape[1])

    def where(self, columns: NDArray[np.bool_]) -> DeviceRows:
        """Some columns, and zeros in the others, whatever these hold."""
        return DeviceRows(torch.where(self._operand(columns), self.tensor, self.tensor.new_zeros(())))

    def equals(self, other: DeviceRows) -> bool:
        """Whether both hold the same numbers."""
        if self.tensor is other.tensor:
            return True
        same = self.shape == other.shape and self.device == other.device
        return same and bool((self.tensor == other.tensor).all())

    def sorted_rows(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The order of the rows by their bytes, the highest first, and where there each different row begins.

        It is that of `mercer.kernels.median.groups`: the first column decides, then the second, and so on.
        """
        keys = self.tensor.double() + 0.0  # -0.0 becomes 0.0
        order = torch.argsort(_key(keys[:, 0]), stable=True)
        heads = keys[order, 0]
        if bool((heads[1:] == heads[:-1]).any()):
            order = torch.arange(len(keys), device=keys.device)
            for column in range(keys.shape[1] - 1, -1, -1):
                order = order[torch.argsort(_key(keys[order, column]), stable=True)]
        ordered = keys[order]
        new = torch.ones(len(keys), dtype=torch.bool, device=keys.device)
        new[1:] = (ordered[1:] != ordered[:-1]).any(dim=1)
        return self._positions(order), self._positions(torch.nonzero(new)[:, 0])

    @staticmethod
    def _positions(found: torch.Tensor) -> NDArray[np.intp]:
        return np.asarray(found.cpu().numpy(), dtype=np.intp)

    def _thin(self, found: torch.Tensor) -> Any:
        kept = found if found.dtype == torch.bool else found.double()
        return kept.cpu().numpy() if kept.ndim else kept.item()

    # -- the rest of a table's face -------------------------------------------------------------------------------

    def astype(self, dtype: Any, copy: bool = True) -> Any:
        """Themselves as float64, which they are to others; else an array of this process."""
        if np.dtype(dtype) != self.dtype:
            return self.on_host().astype(dtype, copy=False)
        return DeviceRows(self.tensor) if copy else self

    def copy(self) -> DeviceRows:
        """The same in memory of their own."""
        return DeviceRows(self.tensor.clone())

    def reshape(self, *shape: Any) -> NDArray[Any]:
        """An array of this process in another shape."""
        return self.on_host().reshape(*shape)

    def tolist(self) -> list[Any]:
        """As lists of numbers."""
        found: list[Any] = self.on_host().tolist()
        return found

    @property
    def T(self) -> DeviceRows:  # noqa: N802
        """The columns as rows."""
        return DeviceRows(self.tensor.T)


def _key(column: torch.Tensor) -> torch.Tensor:
    """Integers that are sorted as the bytes of these numbers are, read without a sign."""
    return column.contiguous().view(torch.int64) ^ torch.iinfo(torch.int64).min


def _on_host(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """What NumPy does with rows that were brought to this process."""
    here = (each.on_host() if isinstance(each, DeviceRows) else each for each in inputs)
    return getattr(ufunc, method)(*here, **options)


def sent_like(found: NDArray[Any], X: Any) -> Any:
    """An array as what X is, on the device of X."""
    plain = np.ascontiguousarray(found)
    tensor = torch.from_numpy(plain if plain.flags.writeable else plain.copy())
    return of_kind(tensor, X)


def of_kind(tensor: torch.Tensor, X: Any) -> Any:
    """A tensor as what X is, on the device of X."""
    if isinstance(X, torch.Tensor):
        return tensor.to(X.device)
    kind, number = X.__dlpack_device__()
    if int(kind) not in CUDA_TYPES:
        raise TypeError(f"an array on a card is needed, got one on the device {kind}")
    named = hasattr(X, "__array_namespace__")
    own = X.__array_namespace__() if named else sys.modules[type(X).__module__.partition(".")[0]]
    return own.from_dlpack(tensor.to(f"cuda:{int(number)}"))
