"""Many texts in two tensors: their letters in UTF-8, one after the other, and where each of them ends."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from sys import getsizeof
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from mercer.models.entry import Fields, made
from mercer.models.refusing import refuse, shown

Bytes = NDArray[np.uint8]
Whole = NDArray[np.int64]
MAX_FIXED_WIDTH_BYTES = 1 << 23
"""Bytes of an array of texts of fixed width: NumPy takes 4 for each letter of the longest."""
MAX_TEXT_BYTES = 1 << 22
"""Bytes of one text."""
BYTES_PER_TEXT = 80
"""Bytes that Python takes for a text, beside its letters, about."""
MAX_WIDENED_BYTES = 1 << 24
"""Bytes that texts may take beyond their letters: Python holds all letters of a text as wide as the widest."""
PIECE_ENDS = 1 << 12
"""Ends that are looked at at once."""


@dataclass(frozen=True, eq=False)
class Texts:
    """Texts, or strings of bytes.

    letters : all of them, one after the other
    ends : where each ends
    plain : whether they are bytes, and no texts
    """

    letters: Bytes
    ends: Whole
    plain: bool = False

    @classmethod
    def of(cls, items: Iterable[str | bytes]) -> Self:
        """Of texts, or of bytes, all of one type. Cost: one pass."""
        given = list(items)
        plain = bool(given) and isinstance(given[0], bytes)
        raw = [item if isinstance(item, bytes) else encoded(item) for item in given]
        ends = np.cumsum([len(one) for one in raw], dtype=np.int64)
        return cls(np.frombuffer(b"".join(raw), np.uint8), ends, plain)

    def __len__(self) -> int:
        return self.ends.size

    def items(self) -> Iterator[Any]:
        """The texts, checked, one after the other: what is not kept takes no memory."""
        self._check()
        raw, start, room = self.letters.data, 0, len(self.letters) + MAX_WIDENED_BYTES + BYTES_PER_TEXT * len(self)
        for first in range(0, len(self.ends), PIECE_ENDS):
            for end in self.ends[first : first + PIECE_ENDS].tolist():
                item = bytes(raw[start:end]) if self.plain else _decoded(raw[start:end])
                room -= getsizeof(item)
                if room < 0:
                    refuse("texts that take little more memory than bytes", "they have few wide letters among many")
                yield item
                start = end

    def _check(self) -> None:
        ends, letters = self.ends, self.letters
        if ends.ndim != 1 or letters.ndim != 1:
            refuse("flat tensors for texts", f"got shapes {letters.shape} and {ends.shape}")
        last = int(ends[-1]) if len(ends) else 0
        if last != len(letters) or (len(ends) and ends[0] < 0) or (ends[1:] < ends[:-1]).any():
            refuse("texts one after the other", f"their ends do not rise to {len(letters)}")
        longest = int(np.diff(ends, prepend=0).max(initial=0))
        if longest > MAX_TEXT_BYTES:
            refuse(f"texts of at most {MAX_TEXT_BYTES:,} bytes", f"one has {longest:,}", "Cut it.")


@dataclass(frozen=True, eq=False)
class TextArray:
    """An array of texts.

    texts : its entries, row by row
    shape : its sizes
    width : of NumPy's texts of fixed width, in letters; None for an array of objects
    """

    texts: Texts
    shape: tuple[int, ...]
    width: int | None

    @classmethod
    def of(cls, array: NDArray[Any]) -> Self:
        """Of an array of texts; others are refused."""
        if not all(isinstance(item, str) for item in array.flat):
            odd = next(item for item in array.flat if not isinstance(item, str))
            refuse("arrays of numbers or of texts", f"one holds {shown(odd)}", "Convert it to texts.")
        width = array.dtype.itemsize // 4 if array.dtype.kind == "U" else None
        return cls(Texts.of(map(str, array.flat)), array.shape, width)

    def array(self) -> NDArray[Any]:
        """The array, checked."""
        count = len(self.texts)
        if self.texts.plain or any(size < 0 for size in self.shape) or math.prod(self.shape) != count:
            refuse("as many texts as an array has", f"got {count} for shape {shown(self.shape)}")
        found = np.fromiter(self.texts.items(), object, count)
        return (found if self.width is None else self._fixed(found, self.width)).reshape(self.shape)

    def _fixed(self, found: NDArray[Any], width: int) -> NDArray[Any]:
        """The same in texts of fixed width."""
        longest = max(map(len, found), default=0)
        if not longest <= width <= MAX_FIXED_WIDTH_BYTES or 4 * width * len(found) > MAX_FIXED_WIDTH_BYTES:
            refuse(f"texts of fixed width in {MAX_FIXED_WIDTH_BYTES:,} bytes", f"got {len(found)} of width {width}")
        return found.astype(f"<U{max(width, 1)}")


def encoded(text: str) -> bytes:
    """A text in UTF-8; half letters (surrogates) are refused."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        refuse("texts that UTF-8 can hold", f"{shown(text)} is none", "Replace the odd letters.")


def _decoded(piece: memoryview) -> str:
    try:
        return str(piece, "utf-8")
    except UnicodeDecodeError:
        refuse("texts in UTF-8", f"{shown(bytes(piece[:60]))} is none")


def _taken(array: TextArray) -> Fields:
    return {"texts": array.texts, "shape": array.shape, "width": array.width}


TEXT_ARRAY = made(
    TextArray,
    {"texts": Texts, "shape": tuple[int, ...], "width": int | None},
    _taken,
    lambda fields: TextArray(**fields).array(),
).counted(lambda fields: len(fields["texts"]))
