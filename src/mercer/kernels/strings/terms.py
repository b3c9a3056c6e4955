"""Words and runs of words of many texts, counted; and how much each is worth."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.errors import InputError, KernelError, message
from mercer.kernels.fields import check_integer, check_nonnegative, check_one_of
from mercer.kernels.strings.sequences import Whole, runs
from mercer.kernels.strings.symbols import encoded
from mercer.kernels.strings.words import documents
from mercer.kernels.strings.writing import frozen

Ngrams = int | tuple[int, int]
Term = str | tuple[Any, ...]
"""A run of words: of a text, joined by spaces, which no word holds; of a list of tokens, a tuple."""


@dataclass(frozen=True, eq=False)
class Table:
    """How often each run of n words occurs in each text.

    counts : a csr_array with a column a run
    codes : (columns, n), the words of each run as numbers
    word : the word of a number
    text : whether the words come from a text, and not from a list of tokens
    """

    counts: Any
    codes: Whole
    word: Callable[[int], Any]
    text: bool

    def terms(self) -> Iterable[Term]:
        """What each column stands for."""
        for codes in self.codes.tolist():
            words = tuple(map(self.word, codes))
            yield " ".join(words) if self.text else words


def tables_of(kernel: str, items: tuple[Any, ...], case: str, lengths: range) -> list[Table]:
    """A table for each length of runs."""
    texts = encoded(kernel, documents(kernel, items, case))
    found: list[Table] = []
    for n in lengths:
        counts, places = runs(texts.sequences, n)
        codes = texts.sequences.codes[places[:, None] + np.arange(n)]
        found.append(Table(counts, codes, texts.symbol, isinstance(items[0], str)))
    return found


def lengths_of(ngrams: Ngrams) -> range:
    """How many words the runs have."""
    low, high = (ngrams, ngrams) if isinstance(ngrams, int) else ngrams
    return range(low, high + 1)


def inverse_frequencies(table: Table, texts: float, frequencies: tuple[tuple[Term, float], ...]) -> NDArray[np.float64]:
    """log((1 + n) / (1 + n_w)) + 1 for each column."""
    if frequencies and isinstance(frequencies[0][0], str) != table.text:
        got = "got str" if table.text else "got lists of tokens"
        needs = f"{'lists of tokens' if table.text else 'str'}, as those from which it learnt its weights"
        raise InputError(message(needs, got, "Give what resolve was given.", subject="BagOfWords"))
    known = dict(frequencies)
    having = np.array([known.get(term, 0.0) for term in table.terms()], dtype=np.float64)
    return np.asarray(np.log((1 + texts) / (1 + having)) + 1)


def sorted_terms(counted: list[tuple[Term, float]]) -> tuple[tuple[Term, float], ...]:
    """Terms in an order that does not depend on that of the texts."""
    return tuple(sorted(counted, key=lambda pair: pair[0] if isinstance(pair[0], str) else repr(pair[0])))


def rounded(value: float) -> float:
    """An integer as an int, which is shorter to print."""
    return int(value) if value == int(value) else value


# -- fields --------------------------------------------------------------------------------------------------------


def check_ngrams(owner: str, name: str, value: Any) -> Ngrams:
    """An integer of at least 1, or two of them that ascend."""
    if isinstance(value, list | tuple):
        if len(value) != 2:
            needs, got = f"one or two integers for {name}", f"got {value!r}"
            raise KernelError(message(needs, got, "Write 2, or (1, 2).", subject=owner))
        low, high = (check_integer(owner, name, each, 1, None) for each in value)
        if low > high:
            raise KernelError(
                message(f"{name} from low to high", f"got {value!r}", f"Write {(high, low)}.", subject=owner)
            )
        return low, high
    return check_integer(owner, name, value, 1, None)


def check_weights(owner: str, name: str, value: Any) -> str:
    """How words are weighted."""
    return check_one_of(owner, name, value, ("counts", "binary", "idf"))


def check_case(owner: str, name: str, value: Any) -> str:
    """What becomes of capital letters."""
    return check_one_of(owner, name, value, ("fold", "keep"))


def check_frequencies(owner: str, name: str, value: Any) -> tuple[tuple[Term, float], ...]:
    """Pairs of a term and of how many texts have it."""
    pairs = frozen(value)
    if not isinstance(pairs, tuple) or not all(_is_pair(pair) for pair in pairs):
        got = f"got {str(value)[:60]}"
        raise KernelError(
            message(f"pairs of a word and a number for {name}", got, "Leave it to resolve.", subject=owner)
        )
    return tuple((term, rounded(check_nonnegative(owner, name, count))) for term, count in pairs)


def _is_pair(pair: Any) -> bool:
    fits = isinstance(pair, tuple) and len(pair) == 2
    return fits and isinstance(pair[0], str | tuple) and isinstance(pair[1], numbers.Real)
