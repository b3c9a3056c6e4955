"""Differences that are power series of <x, z>: kernels where no coefficient is negative."""

from __future__ import annotations

import math
from fractions import Fraction

from mercer.kernels.algebra.exp import Exp
from mercer.kernels.base import Kernel
from mercer.kernels.domain import REALS
from mercer.kernels.dot.exponential import Exponential
from mercer.kernels.dot.linear import Linear
from mercer.kernels.formulas.expression import Expression
from mercer.kernels.formulas.inverse import node_of
from mercer.kernels.formulas.polynomial_kernels import powers_of_dot
from mercer.kernels.formulas.signed import Signed, collected, parted, plain_fraction
from mercer.kernels.formulas.surds import ZERO, Surd
from mercer.kernels.formulas.terms import Value
from mercer.kernels.proof.judgement import Judgement, Situation


def by_series(text: str, terms: Signed, situation: Situation) -> Judgement | None:
    """That exponentials and powers of <x, z> add up to a series without negative coefficients; None otherwise."""
    if not situation.domain.within(REALS):
        return None
    rates: list[tuple[Value, Fraction]] = []
    powers: dict[int, Surd] = {}
    for factor, kernel in terms:
        rate, node = _rate(kernel), node_of(kernel)
        if rate is not None:
            rates.append((factor, rate))
            continue
        found = None if node is None else powers_of_dot(Expression(node))
        if found is None:
            return None
        for n, coefficient in found.items():
            powers[n] = powers.get(n, ZERO) + coefficient * Surd.of(Fraction(factor))
    if not rates or any(factor < 0 for factor, _ in rates):
        return None
    for n in range(max(powers, default=0) + 1):
        own = sum((Fraction(factor) * rate**n for factor, rate in rates), Fraction(0)) / math.factorial(n)
        if (powers.get(n, ZERO) + Surd.of(own)).sign < 0:
            return None
    reason = (
        "it is a power series of <x, z> without negative coefficients: powers, sums and limits of kernels are kernels"
    )
    return Judgement(f"{text} is a kernel on the reals, for every d: {reason}")


def _rate(kernel: Kernel) -> Fraction | None:
    """a, of exp(a <x, z>)."""
    if isinstance(kernel, Exponential):
        return 1 / plain_fraction(kernel.lengthscale) ** 2
    if not isinstance(kernel, Exp):
        return None
    found = collected([parted(kernel.kernel)])
    return Fraction(found[0][0]) if len(found) == 1 and found[0][1] == Linear() else None
