"""k(x, z) = sum_u sum_(i, j) decay^(span of i + span of j), over the places i, j of subsequences u of some length."""

from __future__ import annotations

import sys
from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.errors import KernelError, message
from mercer.kernels.domain import Domain
from mercer.kernels.fields import check_positive, integer
from mercer.kernels.latex import numeral, raised
from mercer.kernels.objects.compared import Compared, Places
from mercer.kernels.objects.domains import STRINGS
from mercer.kernels.proof.judgement import Fact
from mercer.kernels.strings import subsequence_loops
from mercer.kernels.strings.sequences import Sequences
from mercer.kernels.strings.symbols import encoded


def check_decay(owner: str, name: str, value: Any) -> float:
    """A number above 0, up to 1."""
    checked = check_positive(owner, name, value)
    if checked > 1:
        remedy = "Give 1 to count gaps fully, less to count them less."
        raise KernelError(message(f"{name} above 0 and up to 1", f"got {value!r}", remedy, subject=owner))
    return checked


class GappySubsequence(Compared):
    """The string subsequence kernel: words of some length that both strings hold, with gaps between their letters.

    `k(x, z) = sum_u sum_(i, j) decay^(span of i + span of j), over all places i in x and j in z that spell u`

    A word u stands in x at every ascending choice i of places that spell it; the choice counts decay^s, where s is the
    span from its first place to its last, both included. With decay = 1 gaps cost nothing; with a small one the kernel
    comes near to decay^(2 length) times `Spectrum(length)`. `.normalized()` is what Lodhi et al. use.

    Cost: `length |x| |z|` steps per pair, by all cores, and no memory beyond the result but a few lines. All terms are
    positive and are added in float64, so that each value is accurate to about `|x| + |z|` units in the last place. Long
    strings have many subsequences: beyond 1.8e308 the value is infinite, and a warning says so.

    Parameters
    ----------
    length : int, default=3
        The letters of a word, from 1 to 10,000.
    decay : float, default=0.5
        Above 0, up to 1.

    Examples
    --------
    >>> from mercer.kernels import GappySubsequence
    >>> GappySubsequence(length=2, decay=0.5)(["cat", "car"])
    array([[0.140625, 0.0625  ],
           [0.0625  , 0.140625]])

    References
    ----------
    Lodhi, Saunders, Shawe-Taylor, Cristianini and Watkins, Text classification using string kernels (2002).
    """

    formula = "sum_u sum_(i, j) decay^(span of i + span of j), over all places i in x and j in z that spell u"

    length: int = integer(default=3, minimum=1, maximum=10_000)
    decay: float = field(default=0.5, metadata={"check": check_decay})

    def __post_init__(self) -> None:
        super().__post_init__()
        if self._scale < sys.float_info.min:
            got, remedy = f"it is {self.decay!r}^{2 * self.length}", "Use a larger decay, or a shorter length."
            raise KernelError(message("decay^(2 length) that float64 holds", got, remedy, subject="GappySubsequence"))

    @property
    def _scale(self) -> float:
        """What two equal words without gaps count."""
        return float(self.decay ** (2 * self.length))

    @property
    def domain(self) -> Domain:
        return STRINGS

    def encode(self, items: tuple[Any, ...]) -> Sequences:
        return encoded(type(self).__name__, items).sequences

    def values(self, encoded: Sequences, rows: Places, columns: Places) -> NDArray[np.float64]:
        return self._scale * subsequence_loops.matrix(encoded, rows, columns, self._gappy)

    def own(self, encoded: Sequences, rows: Places) -> NDArray[np.float64]:
        return self._scale * subsequence_loops.pairs(encoded, rows, rows, self._gappy)

    @property
    def _gappy(self) -> subsequence_loops.Gappy:
        return subsequence_loops.Gappy(self.length, self.decay)

    def facts(self) -> tuple[Fact, ...]:
        reason = (
            f"it is the inner product of sums: phi(x) has for each word of {self.length} symbols the sum of "
            f"{self.decay:g}^span over all places at which x spells it"
        )
        return (Fact(STRINGS, reason),)

    def latex(self, x: str = "x", z: str = "z") -> str:
        places = rf"i: {x}[i] = u, \, j: {z}[j] = u"
        power = raised(numeral(self.decay), r"\ell(i) + \ell(j)")
        return rf"\sum_{{|u| = {self.length}}} \; \sum_{{{places}}} {power}"
