"""Thrift's compact form, in which Parquet writes its footer and the headers of its pages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

DEEPEST = 16
MOST = 1 << 22
"""Values that are read: a footer of 150,000 columns in groups of rows has so many, and that takes seconds."""
WHOLE, TEXT, LISTS, STRUCT = (4, 5, 6), 8, (9, 10), 12
FIXED = {1: 0, 2: 0, 3: 1, 7: 8}
"""Types of fields: integers, texts, lists and sets, structures; and the bytes of booleans, bytes and floats. There
are no maps in Parquet."""


class Compact:
    """Bytes in Thrift's compact form, read from their beginning; ValueError or IndexError where they are damaged.

    data : the bytes; at : where the next one is
    """

    def __init__(self, data: bytes) -> None:
        self.data, self.at, self.left = data, 0, MOST

    def fields(self) -> Iterator[tuple[int, int]]:
        """The number and the type of each field of a structure; who asks reads its value before the next."""
        number = 0
        while mark := self._byte():
            number = number + (mark >> 4) if mark >> 4 else self._whole()
            yield number, mark & 15

    def members(self) -> Iterator[int]:
        """The type of each member of a list; who asks reads it before the next."""
        mark = self._byte()
        count = self._count() if mark >> 4 == 15 else mark >> 4
        if count > len(self.data) - self.at:
            raise ValueError("a list is cut off")
        for _ in range(count):
            yield 3 if mark & 15 in (1, 2) else mark & 15  # booleans of a list take a byte each

    def struct(self, depth: int = 0) -> dict[int, Any]:
        r"""The integers and structures of a structure, by the numbers of their fields; None for others.

        >>> Compact(b"\x15\x08\x2c\x15\x0a\x18\x02ab\x00\x15\x03\x00").struct()  # 4; then 5 and a text; then -2
        {1: 4, 3: {1: 5, 2: None}, 4: -2}
        """
        if depth > DEEPEST:
            raise ValueError("structures nest too deep")
        return {number: self.value(kind, depth) for number, kind in self.fields()}

    def value(self, kind: int, depth: int = 0) -> Any:
        """The value of a field: a number, a structure, or None for what is stepped over."""
        self.left -= 1
        if self.left < 0:
            raise ValueError("there are too many values")
        if kind in WHOLE:
            return self._whole()
        if kind == STRUCT:
            return self.struct(depth + 1)
        if kind in LISTS:
            for member in self.members():
                self.value(member, depth + 1)
            return None
        if kind != TEXT and kind not in FIXED:
            raise ValueError(f"there is no type {kind}")
        size = self._count() if kind == TEXT else FIXED[kind]  # before the place is read: it moves on
        self.at += size
        return None

    def _byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def _count(self) -> int:
        """A number from 0 on: seven bits per byte, the least first."""
        found = shift = 0
        while (byte := self._byte()) >= 128:
            found |= (byte & 127) << shift
            shift += 7
            if shift > 63:
                raise ValueError("a number is too long")
        return found | byte << shift

    def _whole(self) -> int:
        """A number that may be negative."""
        found = self._count()
        return found >> 1 ^ -(found & 1)
