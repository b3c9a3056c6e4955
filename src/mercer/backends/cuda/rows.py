"""The rows of a table on a device, and what is made of them once: norms, packed tables, coordinates."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
import torch

from mercer.backends.cuda.packing import PACKED_ROWS, Form, Moved, packed, parted, transposed

Tensor: TypeAlias = torch.Tensor


class Rows:
    """Rows that are on a device.

    values : (n, d) tensor of float64 or float32
    """

    def __init__(self, values: Tensor) -> None:
        self.values = values
        self._kept: dict[Any, Tensor] = {}

    @classmethod
    def of(cls, array: Any, device: str) -> Rows:
        """Rows of an array, or those of a tensor that is there already."""
        return cls(torch.as_tensor(array, device=device))

    def norms(self, origin: np.ndarray[Any, Any] | None) -> Tensor:
        """|x - o|^2 of each, in float64."""

        def computed() -> Tensor:
            return torch.cat([(rows * rows).sum(1) for rows in self._slices(origin)])

        return self._once(("norms", _key(origin)), computed)

    def shifts(self, origin: np.ndarray[Any, Any] | None) -> Tensor:
        """<x - o, o> + |o|^2 / 2, what inner products need beside those from the origin."""
        if origin is None:
            return torch.zeros(len(self.values), dtype=torch.float64, device=self.values.device)
        there = torch.as_tensor(origin, dtype=torch.float64, device=self.values.device)
        half = float(origin @ origin) / 2

        def computed() -> Tensor:
            return torch.cat([(rows * there).sum(1) + half for rows in self._slices(origin)])

        return self._once(("shifts", _key(origin)), computed)

    def coordinates(self, dtype: torch.dtype) -> Tensor:
        """Each coordinate of all rows as a vector, filled up."""
        return self._once(("coordinates", dtype), lambda: transposed(self.values, dtype))

    def packed(
        self,
        form: Form,
        origin: np.ndarray[Any, Any] | None,
        norms: bool,
        factor: float,
        left: bool,
        interpreted: bool,
    ) -> Tensor:
        """The table for inner products, see `mercer.backends.cuda.packing`."""

        def computed() -> Tensor:
            own, like = self.norms(origin) if norms else None, self._like(form, interpreted)
            return packed(self._shape, self._moved(origin), own, factor, form, left, like)

        return self._once(("packed", form, _key(origin), norms, factor, left, interpreted), computed)

    def parted(self, form: Form, origin: np.ndarray[Any, Any] | None, factor: float, interpreted: bool) -> Tensor:
        """The table of wide rows, see `mercer.backends.cuda.packing`."""

        def computed() -> Tensor:
            return parted(self._shape, self._moved(origin), factor, form, self._like(form, interpreted))

        return self._once(("parted", form, _key(origin), factor, interpreted), computed)

    @property
    def _shape(self) -> tuple[int, int]:
        return len(self.values), self.values.shape[1]

    def _like(self, form: Form, interpreted: bool) -> Tensor:
        """An empty tensor of the type of a table."""
        short = torch.float32 if interpreted and form.dtype == "bfloat16" else getattr(torch, form.dtype)
        return self.values.new_empty(0, dtype=short)

    def _moved(self, origin: np.ndarray[Any, Any] | None) -> Moved:
        if origin is None:
            return lambda start, stop: self.values[start:stop].to(torch.float64)
        there = torch.as_tensor(origin, dtype=torch.float64, device=self.values.device)
        return lambda start, stop: self.values[start:stop].to(torch.float64) - there

    def _slices(self, origin: np.ndarray[Any, Any] | None) -> Iterator[Tensor]:
        """All rows from an origin, some at a time: in float64 they may need twice their memory."""
        moved = self._moved(origin)
        return (moved(start, start + PACKED_ROWS) for start in range(0, max(1, len(self.values)), PACKED_ROWS))

    def _once(self, key: Any, compute: Callable[[], Tensor]) -> Tensor:
        if key not in self._kept:
            self._kept[key] = compute()
        return self._kept[key]


def _key(origin: np.ndarray[Any, Any] | None) -> bytes | None:
    return None if origin is None else origin.tobytes()
