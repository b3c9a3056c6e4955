"""Passes: what is made of some rows, as data.

A pass can be sent to another process, moved to a device, or named by its content; where it runs, in how many lanes and
in which strips is the backend's business. Its words are those that NumPy arrays and tensors share: `@`, `.T`, `*=`,
`.sum(axis=0)`, slices; what they do not share are the `Operations` of a backend.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from hashlib import blake2b
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np


class Column(NamedTuple):
    """What a pass leaves with each row: numbers of this shape and type.

    wide : whether they are as many as the values of a row: they stay at the backend (`mercer.backends.tables`)
    """

    shape: tuple[int, ...] = ()
    dtype: str = "float64"
    wide: bool = False


class Operations(Protocol):
    """What arrays of a backend can do beyond the words that all arrays share."""

    def add_squares(self, C: Any, A: Any) -> None:
        """C += A'A in place, on and below the diagonal at least."""
        ...

    def divide_by_triangle(self, C: Any, lower: Any) -> None:
        """C <- C L'^-1 in place, for a lower triangular L."""
        ...

    def subtract_product(self, C: Any, A: Any, B: Any) -> None:
        """C -= A B' in place."""
        ...

    def row_squares(self, A: Any) -> Any:
        """The squared length of each row."""
        ...

    def cos(self, A: Any) -> Any:
        """The cosine of each number."""
        ...

    def sin(self, A: Any) -> Any:
        """The sine of each number."""
        ...

    def beside(self, tables: list[Any]) -> Any:
        """Tables of as many rows as one table, one beside the other."""
        ...

    def largest(self, A: Any, shift: Any) -> Any:
        """The position of the largest number of each row of A - shift, the first of several; A may be overwritten."""
        ...

    def add_at(self, sums: Any, positions: Any, numbers: Any) -> None:
        """sums[positions[i]] += numbers[i] for all i, always in the same order."""
        ...


class Movable:
    """A frozen dataclass of arrays and numbers that another process or a device can be given."""

    def moved(self, convert: Callable[[Any], Any]) -> Self:
        """The same with its arrays converted: tensors of a device."""
        arrays = {name: value for name, value in self._fields().items() if isinstance(value, np.ndarray)}
        moved: Self = replace(self, **{name: convert(value) for name, value in arrays.items()})  # type: ignore[type-var]
        return moved

    def key(self) -> str:
        """A name by content: that of equal passes with equal fields, in every process."""
        digest = blake2b(f"{type(self).__module__}.{type(self).__qualname__}".encode(), digest_size=16)
        for name, value in self._fields().items():
            if isinstance(value, np.ndarray):
                digest.update(f"{name}={value.dtype.str}{value.shape}".encode())
                digest.update(np.ascontiguousarray(value).data)
            else:
                digest.update(f"{name}={value!r}".encode())
        return digest.hexdigest()

    def _fields(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]


class Pass(Movable, ABC):
    """What is made of some rows: sums over them, and columns that stay with them.

    A member is a frozen dataclass whose fields are thin: NumPy arrays, numbers, flags. `reads` names the columns of
    rows that it reads, where they are given.
    """

    reads: ClassVar[tuple[str, ...]] = ()
    by_products: ClassVar[bool] = False
    """Whether `values @ V`, `values.T @ C` and `largest` are all that is done with values: then they need not be
    written, or only some rows at a time."""

    def sums(self, width: int) -> Mapping[str, tuple[int, ...]]:
        """The shapes of what it adds up, all in float64, for rows of so many values."""
        return {}

    def columns(self, width: int) -> Mapping[str, Column]:
        """What it leaves with each row."""
        return {}

    @abstractmethod
    def add(self, values: Any, rows: Mapping[str, Any], sums: dict[str, Any], ops: Operations) -> None:
        """Add some rows: a function of these arguments and the fields alone.

        values : (r, width), to be overwritten
        rows : columns of these rows, of r entries each: those that it reads, and those that it leaves, to be written
        sums : to be added to, in place
        ops : what else the arrays at hand can do
        """
