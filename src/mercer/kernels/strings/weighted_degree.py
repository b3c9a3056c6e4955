"""k(x, z) = sum_j b_j (number of places at which x and z have the same run of j = 1 to degree symbols)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import hstack

from mercer.kernels.domain import Domain
from mercer.kernels.fields import integer
from mercer.kernels.objects.counted import Counted
from mercer.kernels.objects.domains import STRINGS
from mercer.kernels.proof.judgement import Fact
from mercer.kernels.strings.sequences import placed_runs
from mercer.kernels.strings.symbols import encoded


class WeightedDegree(Counted):
    """The weighted degree kernel: the same runs at the same places, for strings whose places correspond.

    `k(x, z) = sum_j b_j (number of places at which x and z have the same run of j = 1 to degree symbols)`

    b_j = 2 (degree - j + 1) / (degree (degree + 1)), so that short runs count more and b_1 + ... + b_degree = 1. With
    degree 1 it is the number of places at which the symbols agree. Places are counted from the beginning; strings of
    unequal length share those that both have. Cost: that of `Spectrum` for each length of runs.

    Parameters
    ----------
    degree : int, default=3
        The length of the longest runs, from 1 to 10,000.

    Examples
    --------
    >>> from mercer.kernels import WeightedDegree
    >>> WeightedDegree(degree=2)(["acgt", "acga", "tacg"]).round(4)
    array([[3.6667, 2.6667, 0.    ],
           [2.6667, 3.6667, 0.    ],
           [0.    , 0.    , 3.6667]])

    References
    ----------
    Raetsch and Sonnenburg, Accurate splice site detection for Caenorhabditis elegans (2004).
    """

    formula = "sum_j b_j (number of places at which x and z have the same run of j = 1 to degree symbols)"

    degree: int = integer(default=3, minimum=1, maximum=10_000)

    @property
    def domain(self) -> Domain:
        return STRINGS

    def count(self, items: tuple[Any, ...]) -> Any:
        sequences = encoded(type(self).__name__, items).sequences
        lengths = range(1, self.degree + 1)
        return hstack([np.sqrt(self._weight(j)) * placed_runs(sequences, j) for j in lengths], format="csr")

    def _weight(self, length: int) -> float:
        return 2.0 * (self.degree - length + 1) / (self.degree * (self.degree + 1))

    def facts(self) -> tuple[Fact, ...]:
        reason = (
            f"it is the inner product of weighted indicators: phi(x) says of each run of j = 1 to {self.degree} "
            "symbols and of each place whether it begins there in x, times the root of b_j"
        )
        return (Fact(STRINGS, reason),)

    def latex(self, x: str = "x", z: str = "z") -> str:
        run = rf"[{x}_{{i:i+j}} = {z}_{{i:i+j}}]"
        return rf"\sum_{{j=1}}^{{{self.degree}}} b_j \sum_i {run}"
