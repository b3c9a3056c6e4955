"""k(x, z) = sum_u near_u(x) near_u(z): runs of k symbols, up to m of which may differ."""

from __future__ import annotations

from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.compute.runtime.memory import Budget
from mercer.errors import InputError, KernelError, message
from mercer.kernels.base import Kernel
from mercer.kernels.domain import Domain
from mercer.kernels.fields import integer
from mercer.kernels.objects.counted import Counted
from mercer.kernels.objects.domains import STRINGS
from mercer.kernels.points import Points
from mercer.kernels.proof.judgement import Fact
from mercer.kernels.strings import alphabet as symbols
from mercer.kernels.strings.neighbourhood import neighbours, size
from mercer.kernels.strings.sequences import runs
from mercer.kernels.strings.symbols import Encoded, encoded
from mercer.kernels.strings.writing import written


class Mismatch(Counted):
    """The mismatch kernel: runs of k symbols that both strings have, up to m symbols of which may differ.

    `k(x, z) = sum_u near_u(x) near_u(z), over the words u of k symbols`

    near_u(x) counts the runs of x that differ from the word u in at most m places; u goes through all words of k
    symbols over the alphabet. The alphabet is a part of the kernel: how many words are near to two runs depends on its
    size. It is given, or `resolve` finds it: the symbols of the training strings, which stay as they are from then on.
    A symbol that it does not have, in a new string say, differs from every letter of every word.

    Cost: with w = sum_s C(k, s) (letters - 1)^s words near to a run, s = 0 to m, and N symbols in all, N w log(N w)
    time and up to N w numbers. That is little for DNA (4 letters, k = 5, m = 1: w = 16) and much for free text.

    Parameters
    ----------
    k : int, default=3
        The length of the runs, from 1 to 100.
    m : int, default=1
        How many symbols may differ, from 0 to k - 1.
    alphabet : str or sequence, default=()
        The symbols, as a str of letters or a list (for bytes: of integers); empty to find them in the data.

    Examples
    --------
    >>> from mercer.kernels import Mismatch
    >>> Mismatch(k=2, m=1, alphabet="ab")(["aa", "bb"])
    array([[3., 2.],
           [2., 3.]])
    >>> print(Mismatch(k=2, m=1).resolve(["gatt", "aca"]))
    mismatch(k=2, m=1, alphabet='acgt')

    References
    ----------
    Leslie, Eskin, Cohen, Weston and Noble, Mismatch string kernels for discriminative protein classification (2004).
    """

    formula = "sum_u near_u(x) near_u(z), over the words u of k symbols"

    k: int = integer(default=3, minimum=1, maximum=100)
    m: int = integer(default=1, minimum=0)
    alphabet: symbols.Alphabet = field(default=(), metadata={"check": symbols.check_alphabet})

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.m >= self.k:
            got, remedy = f"got m = {self.m} and k = {self.k}", "Give a smaller m, or longer runs."
            raise KernelError(message("fewer differences m than symbols k", got, remedy, subject="Mismatch"))

    @property
    def domain(self) -> Domain:
        return STRINGS

    @property
    def is_open(self) -> bool:
        return not self.alphabet

    def _resolved(self, points: Points, weights: NDArray[Any], stretch: float) -> Kernel:
        column = self.column(points)
        texts = encoded("Mismatch", tuple(column.store.items[code] for code in np.unique(column.codes).tolist()))
        if not len(texts.sequences.codes):
            got, remedy = "all strings are empty", "Give the alphabet: Mismatch(k, m, alphabet=...)."
            raise InputError(message("symbols from which to learn its alphabet", got, remedy, subject="Mismatch"))
        return self.with_parameters({"alphabet": symbols.found(texts)})

    def count(self, items: tuple[Any, ...]) -> Any:
        texts = encoded("Mismatch", items)
        digits = symbols.digits("Mismatch", texts, self.alphabet)[texts.sequences.codes]
        counts, places = runs(texts.sequences, self.k)
        self._require(texts, counts)
        words = np.stack([digits[places + i] for i in range(self.k)], axis=1)
        return counts @ neighbours(words, self.m, len(self.alphabet)) if len(words) else counts

    def _require(self, texts: Encoded, counts: Any) -> None:
        """Refuse what would not fit into memory."""
        near, letters = size(self.k, self.m, len(self.alphabet)), len(self.alphabet)
        stored = min(counts.nnz * near, texts.sequences.count * letters**self.k) + 3 * counts.shape[1] * near
        purpose = f"{near} words near to each run of {self.k} symbols"
        remedy = "Use a smaller k or m, a smaller alphabet, or GappySubsequence()."
        Budget.of(None).require(16 * stored, purpose, remedy, subject="Mismatch")

    def facts(self) -> tuple[Fact, ...]:
        reason = (
            f"it is the inner product of counts: phi(x) says of each word of {self.k} symbols over an alphabet how "
            f"many runs of x differ from it in at most {self.m} places"
        )
        return (Fact(STRINGS, reason),)

    def write(self, python: bool) -> tuple[str, int]:
        return written(self, python, later=("alphabet",))

    def latex(self, x: str = "x", z: str = "z") -> str:
        near = rf"\#_{{u, {self.m}}}"
        return rf"\sum_{{|u| = {self.k}}} {near}({x}) \, {near}({z})"
