"""All words that differ from a given one in at most m places."""

from __future__ import annotations

from math import comb
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from mercer.kernels.strings.alphabet import OUTSIDE
from mercer.kernels.strings.sequences import INT64_LIMIT, ranked, short

Whole = NDArray[np.int64]


def size(k: int, m: int, letters: int) -> int:
    """How many words of k letters differ from one of them in at most m places."""
    return sum(comb(k, s) * (letters - 1) ** s for s in range(m + 1))


def neighbours(words: Whole, m: int, letters: int) -> Any:
    """Which words over an alphabet lie within m differences of which given ones: a csr_array of ones.

    words : (n, k), the letters of each as digits below `letters`; one that is `OUTSIDE` differs from every letter
    The columns are the words that are near to any, in the order of their digits.
    """
    begun = _Begun(np.arange(len(words)), np.zeros(len(words), dtype=np.int64), np.full(len(words), m))
    room = 1
    for digit in words.T:
        if room > INT64_LIMIT // letters:
            keys, room = ranked(begun.keys, room)
            begun = begun._replace(keys=keys)
        begun = _longer(begun, digit[begun.owners], letters)
        room *= letters
    if not len(begun.keys):
        return csr_array((len(words), 0))
    columns, count = ranked(begun.keys, room)
    index = short(max(len(columns), len(words)))
    at = begun.owners.astype(index), columns.astype(index)
    return csr_array((np.ones(len(columns)), at), shape=(len(words), count))


class _Begun(NamedTuple):
    """The first letters of neighbours: whose they are, which letters, and how many differences are left."""

    owners: Whole
    keys: Whole
    left: Whole


def _longer(begun: _Begun, digit: Whole, letters: int) -> _Begun:
    """The same with one letter more: that of the word, or any other one, for a difference."""
    same = digit != OUTSIDE
    keys = begun.keys * letters
    kept = _Begun(begun.owners[same], (keys + digit)[same], begun.left[same])
    may = np.repeat(np.flatnonzero(begun.left > 0), letters)
    letter = np.tile(np.arange(letters), len(may) // letters)
    other = letter != digit[may]
    may, letter = may[other], letter[other]
    changed = _Begun(begun.owners[may], keys[may] + letter, begun.left[may] - 1)
    return _Begun(*(np.concatenate(both) for both in zip(kept, changed, strict=True)))
