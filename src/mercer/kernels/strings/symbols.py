"""From strings to sequences of integers, a number per symbol, and back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from mercer.kernels.strings.items import type_of
from mercer.kernels.strings.sequences import Sequences, joined


@dataclass(frozen=True, eq=False)
class Encoded:
    """Strings as sequences, with the symbols that their numbers stand for.

    sequences : the strings
    kind : what they were: str, bytes, or tuple for tokens
    symbol : the letter, byte or token of a number
    """

    sequences: Sequences
    kind: type
    symbol: Callable[[int], Any]


def encoded(kernel: str, items: tuple[Any, ...]) -> Encoded:
    """Strings of one type as sequences: of code points, of bytes, or of tokens in the order of their first occurrence.

    The numbers of the first strings do not depend on those that come after them.
    """
    kind = type_of(items, kernel)
    lengths, count = map(len, items), len(items)
    if kind is str:
        text = "".join(items).encode("utf-32-le", "surrogatepass")
        return Encoded(joined(np.frombuffer(text, "<u4"), lengths, count), kind, chr)
    if kind is bytes:
        return Encoded(joined(np.frombuffer(b"".join(items), np.uint8), lengths, count), kind, int)
    tokens = tuple(dict.fromkeys(chain.from_iterable(items)))
    numbers = dict(zip(tokens, range(len(tokens)), strict=True))
    codes = np.fromiter(map(numbers.__getitem__, chain.from_iterable(items)), np.int64)
    return Encoded(joined(codes, lengths, count), kind, tokens.__getitem__)
