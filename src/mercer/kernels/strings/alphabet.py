"""The symbols of which strings are made, where a kernel must know all of them beforehand."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.errors import InputError, KernelError, message
from mercer.kernels.strings.symbols import Encoded
from mercer.kernels.strings.writing import frozen

Alphabet = str | tuple[Any, ...]
OUTSIDE = -1
"""The digit of a symbol that the alphabet does not have."""


def check_alphabet(owner: str, name: str, value: Any) -> Alphabet:
    """Letters as one str, other symbols as a tuple, each once; an empty tuple where they are to be found from data."""
    if isinstance(value, bytes):
        value = tuple(value)
    if not isinstance(value, str | list | tuple):
        remedy = 'Write "ACGT", or a list of tokens; nothing to have it found by resolve.'
        raise KernelError(message(f"a list of symbols for {name}", f"got {value!r}", remedy, subject=owner))
    symbols = frozen(list(value))
    try:
        times = Counter(symbols)
    except TypeError as error:
        remedy = "Give letters, numbers or tuples of these."
        raise KernelError(f"{owner}: {name} takes symbols that can be hashed, got others. {remedy}") from error
    twice = next((symbol for symbol, count in times.items() if count > 1), None)
    if twice is not None:
        raise KernelError(
            message(f"each symbol once in {name}", f"got {twice!r} twice", "Give it once.", subject=owner)
        )
    return settled(symbols)


def settled(symbols: tuple[Any, ...]) -> Alphabet:
    """Letters as one str, so that they are easy to read."""
    letters = symbols and all(isinstance(symbol, str) and len(symbol) == 1 for symbol in symbols)
    return "".join(symbols) if letters else symbols


def found(texts: Encoded) -> Alphabet:
    """The symbols that strings have, in an order that does not depend on theirs."""
    symbols = [texts.symbol(code) for code in np.unique(texts.sequences.codes).tolist()]
    if texts.kind is tuple:
        symbols.sort(key=lambda symbol: (type(symbol).__name__, symbol if isinstance(symbol, str) else repr(symbol)))
    return settled(tuple(symbols))


def digits(kernel: str, texts: Encoded, alphabet: Alphabet) -> NDArray[np.int64]:
    """Where in the alphabet the symbol of each code stands; `OUTSIDE` where it does not."""
    _refuse_other_kind(kernel, texts.kind, alphabet)
    numbers = {symbol: i for i, symbol in enumerate(alphabet)}
    codes = np.unique(texts.sequences.codes)
    table = np.full(int(codes.max(initial=0)) + 1, OUTSIDE, dtype=np.int64)
    table[codes] = [numbers.get(texts.symbol(code), OUTSIDE) for code in codes.tolist()]
    return table


def _refuse_other_kind(kernel: str, kind: type, alphabet: Alphabet) -> None:
    fits = all(map(_is_byte, alphabet)) if kind is bytes else kind is tuple or isinstance(alphabet, str)
    if not fits:
        shown = repr(alphabet) if len(alphabet) <= 8 else f"{len(alphabet)} symbols"
        needs, got = f"{kind.__name__} over an alphabet of its symbols", f"the alphabet is {shown}"
        remedy = "Give letters for str, integers below 256 for bytes."
        raise InputError(message(needs, got, remedy, subject=kernel))


def _is_byte(symbol: Any) -> bool:
    return isinstance(symbol, int) and not isinstance(symbol, bool) and 0 <= symbol < 256
