"""k(x, z) = sum_w f_w(x) f_w(z), over words or runs of words w."""

from __future__ import annotations

from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import hstack

from mercer.kernels.base import Kernel
from mercer.kernels.domain import Domain
from mercer.kernels.fields import nonnegative
from mercer.kernels.objects.counted import Counted
from mercer.kernels.objects.domains import STRINGS
from mercer.kernels.points import Points
from mercer.kernels.proof.judgement import Fact
from mercer.kernels.strings.terms import (
    Ngrams,
    Table,
    Term,
    check_case,
    check_frequencies,
    check_ngrams,
    check_weights,
    inverse_frequencies,
    lengths_of,
    rounded,
    sorted_terms,
    tables_of,
)
from mercer.kernels.strings.writing import written


class BagOfWords(Counted):
    """How often each word, or each run of n words, occurs in both texts, whatever their order.

    `k(x, z) = sum_w f_w(x) f_w(z), over words or runs of words w`

    A word of a str is a longest run of letters, digits, marks (accents, vowel signs) and underscores, as Unicode knows
    them: "don't" has the words don and t. A list of tokens has its tokens as words. f_w(x) is what `weights` says:

    - "counts": how often w occurs in x
    - "binary": 1 where it occurs
    - "idf": how often it occurs, times log((1 + n) / (1 + n_w)) + 1, where n_w of the n training texts have w

    The last is open until `resolve` has counted n and n_w, which stay as they are from then on; a word of a new text
    that no training text has gets n_w = 0. `.normalized()` makes long and short texts comparable. Cost: N log N time
    for N words in all, then that of a sparse product.

    Parameters
    ----------
    ngrams : int or (int, int), default=1
        n for runs of n words, or (n, m) for runs of n to m words.
    weights : {"counts", "binary", "idf"}, default="counts"
        What f_w(x) is, as above.
    case : {"fold", "keep"}, default="fold"
        "fold" takes Word and word for one word (or token), as Unicode folds case; "keep" distinguishes them.
    documents : float, default=0.0
        n, found by `resolve`; 0 before.
    frequencies : tuple of (str, float), default=()
        Pairs of w and n_w, found by `resolve`; rows of weight s count s times.

    Examples
    --------
    >>> from mercer.kernels import BagOfWords
    >>> BagOfWords()(["To be or not to be", "be!", "toast"])
    array([[10.,  2.,  0.],
           [ 2.,  1.,  0.],
           [ 0.,  0.,  1.]])
    >>> print(BagOfWords(weights="idf").resolve(["a rose", "is a rose"]))
    bag_of_words(ngrams=1, weights='idf', case='fold', documents=2.0, frequencies=[['a', 2], ['is', 1], ['rose', 2]])

    References
    ----------
    Salton and Buckley, Term-weighting approaches in automatic text retrieval (1988). Joachims, Text categorization with
    support vector machines (1998).
    """

    formula = "sum_w f_w(x) f_w(z), over words or runs of words w"

    ngrams: Ngrams = field(default=1, metadata={"check": check_ngrams})
    weights: str = field(default="counts", metadata={"check": check_weights})
    case: str = field(default="fold", metadata={"check": check_case})
    documents: float = nonnegative(default=0.0)
    frequencies: tuple[tuple[Term, float], ...] = field(default=(), metadata={"check": check_frequencies})

    @property
    def domain(self) -> Domain:
        return STRINGS

    @property
    def is_open(self) -> bool:
        return self.weights == "idf" and self.documents == 0

    def _resolved(self, points: Points, weights: NDArray[Any], stretch: float) -> Kernel:
        column = self.column(points)
        items = tuple(column.store.items[code] for code in column.codes.tolist())
        counted: list[tuple[Term, float]] = []
        for table in self._tables(items):
            having = (table.counts > 0).astype(np.float64).T @ weights
            counted.extend(zip(table.terms(), map(rounded, having.tolist()), strict=True))
        return self.with_parameters({"documents": float(weights.sum()), "frequencies": sorted_terms(counted)})

    def count(self, items: tuple[Any, ...]) -> Any:
        return hstack([self._weighted(table) for table in self._tables(items)], format="csr")

    def _tables(self, items: tuple[Any, ...]) -> list[Table]:
        return tables_of("BagOfWords", items, self.case, lengths_of(self.ngrams))

    def _weighted(self, table: Table) -> Any:
        if self.weights == "binary":
            return (table.counts > 0).astype(np.float64)
        if self.weights == "counts":
            return table.counts
        factors = inverse_frequencies(table, self.documents, self.frequencies)
        return table.counts.multiply(factors[None, :]).tocsr()

    def facts(self) -> tuple[Fact, ...]:
        said = {"counts": "how often x has it", "binary": "whether x has it", "idf": "how often, times a weight"}
        reason = f"it is the inner product of features: phi(x) says of each word or run of words {said[self.weights]}"
        return (Fact(STRINGS, reason),)

    def write(self, python: bool) -> tuple[str, int]:
        return written(self, python, later=("documents", "frequencies"))

    def latex(self, x: str = "x", z: str = "z") -> str:
        return rf"\sum_w f_w({x}) \, f_w({z})"
