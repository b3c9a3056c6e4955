"""k(x, z) = sum_j decay^(2j) sum_u #u(x) #u(z), over the runs u of j = 1 to k symbols."""

from __future__ import annotations

from typing import Any

from scipy.sparse import hstack

from mercer.kernels.domain import Domain
from mercer.kernels.fields import integer, positive
from mercer.kernels.latex import numeral, raised
from mercer.kernels.objects.counted import Counted
from mercer.kernels.objects.domains import STRINGS
from mercer.kernels.proof.judgement import Fact
from mercer.kernels.strings.sequences import runs
from mercer.kernels.strings.symbols import encoded


class BlendedSpectrum(Counted):
    """The blended spectrum kernel: runs of 1, 2, ... up to k symbols that both strings have.

    `k(x, z) = sum_j decay^(2j) sum_u #u(x) #u(z), over the runs u of j = 1 to k symbols`

    A run of j symbols counts decay^j in each string. Below 1 short runs count more, above 1 long ones. Cost: that of
    `Spectrum` for each length.

    Parameters
    ----------
    k : int, default=3
        The length of the longest runs, from 1 to 10,000.
    decay : float, default=1.0
        Positive factor per symbol.

    Examples
    --------
    >>> from mercer.kernels import BlendedSpectrum
    >>> BlendedSpectrum(k=2, decay=0.5)(["ab", "ba", "b"])
    array([[0.5625, 0.5   , 0.25  ],
           [0.5   , 0.5625, 0.25  ],
           [0.25  , 0.25  , 0.25  ]])

    References
    ----------
    Shawe-Taylor and Cristianini, Kernel Methods for Pattern Analysis (2004), section 11.2.
    """

    formula = "sum_j decay^(2j) sum_u #u(x) #u(z), over the runs u of j = 1 to k symbols"

    k: int = integer(default=3, minimum=1, maximum=10_000)
    decay: float = positive(default=1.0)

    @property
    def domain(self) -> Domain:
        return STRINGS

    def count(self, items: tuple[Any, ...]) -> Any:
        sequences = encoded(type(self).__name__, items).sequences
        return hstack([self.decay**j * runs(sequences, j).counts for j in range(1, self.k + 1)], format="csr")

    def facts(self) -> tuple[Fact, ...]:
        reason = (
            f"it is the inner product of weighted counts: phi(x) says of each run of j = 1 to {self.k} symbols how "
            f"often x has it, times {self.decay:g}^j"
        )
        return (Fact(STRINGS, reason),)

    def latex(self, x: str = "x", z: str = "z") -> str:
        factor = "" if self.decay == 1 else raised(numeral(self.decay), "2 |u|") + r" \, "
        return rf"\sum_{{1 \le |u| \le {self.k}}} {factor}\#_u({x}) \, \#_u({z})"
