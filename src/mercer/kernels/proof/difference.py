"""k1(x, z) - k2(x, z): no rule makes it a kernel; some are, and some are not. Only proofs know it."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from mercer.kernels.algebra.operations import ZERO
from mercer.kernels.algebra.sum import Sum
from mercer.kernels.base import PRODUCT, SUM, Kernel
from mercer.kernels.domain import Domain, meet
from mercer.kernels.formulas.signed import Signed, collected, parted, summed
from mercer.kernels.latex import parens
from mercer.kernels.pairs import Block, Pairs
from mercer.kernels.points import Column, Points
from mercer.kernels.proof.densities import by_densities
from mercer.kernels.proof.judgement import Judgement, Situation
from mercer.kernels.proof.series import by_series


class Difference(Kernel):
    """A difference of kernels under examination.

    Parameters
    ----------
    plus : Kernel
        What it is taken from; 0 for -k.
    minus : Kernel
        What is taken away.
    """

    formula = "k1(x, z) - k2(x, z)"

    plus: Kernel
    minus: Kernel

    def evaluate(self, pairs: Pairs) -> Block:
        block: Block = self.plus.evaluate(pairs) - self.minus.evaluate(pairs)
        return block

    def evaluate_diagonal(self, points: Points) -> NDArray[Any]:
        found: NDArray[Any] = self.plus.evaluate_diagonal(points) - self.minus.evaluate_diagonal(points)
        return found

    @property
    def children(self) -> tuple[Kernel, ...]:
        return (self.plus, self.minus)

    def with_children(self, children: tuple[Kernel, ...]) -> Kernel:
        return Difference(*children)

    @property
    def domain(self) -> Domain:
        return meet(self.plus.domain, self.minus.domain)

    @property
    def needed(self) -> frozenset[Column] | None:
        looked = [part.needed for part in self.children]
        return None if None in looked else frozenset().union(*(columns for columns in looked if columns))

    @property
    def width(self) -> int | None:
        return next((part.width for part in self.children if part.width is not None), None)

    @property
    def radial(self) -> bool:
        return self.plus.radial and self.minus.radial

    def judge(self, situation: Situation) -> Judgement:
        terms = signed(self)
        for rule in (by_densities, by_series):
            found = rule(str(self), terms, situation)
            if found is not None:
                return found
        return Judgement(
            f"{self}: no rule makes a difference of kernels a kernel: a sum adds features, and nothing takes them away",
            proven=False,
        )

    def write(self, python: bool) -> tuple[str, int]:
        first = "" if self.plus == ZERO else f"{self.plus.write_inside(python, SUM)} "
        return f"{first}-{' ' * bool(first)}{self.minus.write_inside(python, PRODUCT)}", SUM

    def latex(self, x: str = "x", z: str = "z") -> str:
        minus = self.minus.latex(x, z)
        first = "" if self.plus == ZERO else f"{self.plus.latex(x, z)} "
        return f"{first}- {parens(minus) if isinstance(self.minus, Sum | Difference) else minus}"


def signed(kernel: Kernel) -> Signed:
    """A kernel as a sum of numbers times kernels, the numbers of either sign; like terms are collected."""
    return collected(list(_terms(kernel)))


def _terms(kernel: Kernel) -> Signed:
    if isinstance(kernel, Sum):
        return [term for part in kernel.parts for term in _terms(part)]
    if isinstance(kernel, Difference):
        return [*_terms(kernel.plus), *((-factor, part) for factor, part in _terms(kernel.minus))]
    factor, rest = parted(kernel)
    if isinstance(rest, Sum | Difference) and rest != kernel:
        return [(factor * inner, part) for inner, part in _terms(rest)]
    return [(factor, rest)]


def of_signed(terms: Signed) -> Kernel:
    """The kernel, or the difference, of collected terms."""
    plus = summed([(factor, kernel) for factor, kernel in terms if factor > 0])
    minus: Signed = [(-factor, kernel) for factor, kernel in terms if factor < 0]
    return Difference(plus, summed(minus)) if minus else plus
