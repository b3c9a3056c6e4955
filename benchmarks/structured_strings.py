"""The spectrum kernel against scikit-learn: the part `spectrum` of structured.py."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from alone import Found
from scaling import Row
from sklearn.feature_extraction.text import CountVectorizer
from structured_matrices import Jobs, compared, computed, in_processes
from structured_sets import Place, some_strings
from tables import Array

from mercer.kernels import Spectrum

K = 5
FASTER = 10.0
DENSE, SINGLE, SPARSE = "scikit-learn, dense", "scikit-learn, dense float32", "scikit-learn, sparse"
WARM = 1_200
"""Strings of a first matrix, which loads and compiles: so many that ours goes the way of many."""
ROOM = 12.0
"""Gigabytes that a dense table of counts may take; where it needs more, there is no such row."""


def counted(texts: list[str], dtype: Any) -> Any:
    """How often each run of K letters occurs, by scikit-learn."""
    settings: dict[str, Any] = {"analyzer": "char", "ngram_range": (K, K), "lowercase": False, "dtype": dtype}
    return CountVectorizer(**settings).fit_transform(texts)


def dense(texts: list[str], dtype: Any) -> Array:
    counts = counted(texts, dtype).toarray()
    return np.asarray(counts @ counts.T)


def sparse(texts: list[str]) -> Array:
    counts = counted(texts, np.float64)
    return np.asarray((counts @ counts.T).toarray())


MATRICES: dict[str, Callable[[list[str]], Array]] = {
    "ours": Spectrum(K),
    DENSE: partial(dense, dtype=np.float64),
    SINGLE: partial(dense, dtype=np.float32),
    SPARSE: sparse,
}
"""Values are whole numbers far below 2^24: float32 holds them, too, and is what a careful user would take there."""


def matrix_of(folder: Path, name: str, count: int, who: str, file: Path) -> Found:
    texts = some_strings(folder, name, count)
    MATRICES[who](texts[:WARM])
    return computed(lambda: MATRICES[who](texts), file)


def spectrum(place: Place, quick: bool, repeats: int) -> Iterator[Row]:
    """All pairs of 5,000 surnames, and of 5,000 messages; one space stands for several, as CountVectorizer has it."""
    count = 500 if quick else 5_000
    for name in ("surnames", "sms_spam"):
        texts = some_strings(place.data, name, count)
        gigabytes = 8e-9 * count * counted(texts, np.float64).shape[1]
        peers = [DENSE, SINGLE, SPARSE] if gigabytes <= ROOM else [SPARSE]
        jobs: Jobs = {who: partial(matrix_of, place.data, name, count, who) for who in ("ours", *peers)}
        best = in_processes(jobs, place, repeats)
        for who in peers:
            yield compared(f"spectrum(k={K}), {count:,} of {name}", who, best, place, FASTER if who == DENSE else None)
