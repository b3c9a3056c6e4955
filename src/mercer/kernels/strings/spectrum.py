"""k(x, z) = sum_u #u(x) #u(z), over the runs u of k symbols."""

from __future__ import annotations

from typing import Any

from mercer.kernels.domain import Domain
from mercer.kernels.fields import integer
from mercer.kernels.objects.counted import Counted
from mercer.kernels.objects.domains import STRINGS
from mercer.kernels.proof.judgement import Fact
from mercer.kernels.strings.sequences import runs
from mercer.kernels.strings.symbols import encoded


class Spectrum(Counted):
    """The spectrum kernel: how often each run of k symbols (k-mer, character n-gram) occurs in both strings.

    `k(x, z) = sum_u #u(x) #u(z), over the runs u of k symbols`

    #u(x) is the number of places at which the run u begins in x; runs may overlap. Strings shorter than k have none,
    and k(x, x) = 0. Cost: N (k + log N) time for N symbols in all, then that of a sparse product.

    Parameters
    ----------
    k : int, default=3
        The length of the runs, from 1 to 10,000.

    Examples
    --------
    >>> from mercer.kernels import Spectrum
    >>> Spectrum(k=2)(["banana", "ananas", "nab"])
    array([[9., 8., 2.],
           [8., 9., 2.],
           [2., 2., 2.]])

    References
    ----------
    Leslie, Eskin and Noble, The spectrum kernel: a string kernel for SVM protein classification (2002).
    """

    formula = "sum_u #u(x) #u(z), over the runs u of k symbols"

    k: int = integer(default=3, minimum=1, maximum=10_000)

    @property
    def domain(self) -> Domain:
        return STRINGS

    def count(self, items: tuple[Any, ...]) -> Any:
        return runs(encoded(type(self).__name__, items).sequences, self.k).counts

    def facts(self) -> tuple[Fact, ...]:
        reason = f"it is the inner product of counts: phi(x) says of each run of {self.k} symbols how often x has it"
        return (Fact(STRINGS, reason),)

    def latex(self, x: str = "x", z: str = "z") -> str:
        return rf"\sum_{{|u| = {self.k}}} \#_u({x}) \, \#_u({z})"
