"""Questions that are texts: kernels by their names, differences of them, and formulas of two points."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

from mercer.errors import ParseError
from mercer.kernels.base import Kernel
from mercer.kernels.domain import REALS, Domain
from mercer.kernels.formulas import build
from mercer.kernels.formulas.detect import is_formula
from mercer.kernels.formulas.evaluation import is_assumed
from mercer.kernels.formulas.expression import Expression, read_kernel
from mercer.kernels.formulas.inverse import node_of
from mercer.kernels.formulas.polynomial_kernels import of_coefficients, of_inner_products, powers_of_dot
from mercer.kernels.formulas.recognise import kernel_of, signed_kernels
from mercer.kernels.formulas.signed import Signed
from mercer.kernels.formulas.tree import ONLY, RUN, Node, Number, Over, columns_in, with_column
from mercer.kernels.precision.mpmath_arrays import precisely
from mercer.kernels.proof.difference import Difference, of_signed, signed
from mercer.kernels.proof.for_all import instance_of_numbers, prove_for_all
from mercer.kernels.proof.limit import Limit
from mercer.kernels.proof.polynomial import INDEPENDENT, decided, witness_of, words_of
from mercer.kernels.proof.prove import Question
from mercer.kernels.proof.record import Asymmetry, Proof
from mercer.kernels.proof.unrecognised import OverColumns, Unrecognised
from mercer.kernels.text import known_names, numbers_among, read_signed
from mercer.kernels.tree_size import nodes

Prover = Callable[[Question, int | None, Domain | None, Limit], Proof]
WITNESSED = "the witness below makes sum_ij c_i c_j k(x_i, x_j) negative, which no kernel allows"
MORE_COLUMNS = 3
"""How many numbers of columns are tried where none is given."""
DIFFERENT = 1e-30
"""Values of 50 digits that differ by this part of their size differ."""


@dataclass(frozen=True)
class Asked:
    """A question: where it is asked, and who answers what rules and searches can."""

    d: int | None
    place: Domain | None
    limit: Limit
    prover: Prover

    def about(self, question: Question) -> Proof:
        """The answer of rules, facts and a search."""
        return self.prover(question, self.d, self.place, self.limit)


def answered(
    text: str, d: int | None, place: Domain | None, names: Mapping[str, Any] | None, limit: Limit, prover: Prover
) -> Proof:
    """The proof of a text."""
    asked = Asked(d, place, limit, prover)
    try:
        kernel = read_signed(text, names)
    except ParseError:
        numbers = numbers_among(names)
        if not is_formula(text, {**known_names(), **dict(names or {})}.keys() - numbers.keys()):
            raise
        return _formula(read_kernel(text, numbers, assumed=True), asked)
    if not any(isinstance(node, Difference) for node in nodes(kernel)):
        return asked.about(Question(kernel))
    return _difference(kernel, kernel, (), asked)


# -- differences -----------------------------------------------------------------------------------------------------


def _difference(kernel: Kernel, shown: Kernel | Expression, said: tuple[str, ...], asked: Asked) -> Proof:
    """Like terms first, then exact coefficients, then rules for differences and a search."""
    terms = signed(kernel)
    found = of_signed(terms)
    if found != kernel:
        said = (*said, f"like terms collected, it is {found}")
    if not isinstance(found, Difference):
        return asked.about(Question(found, shown, said))
    formula = _formula_of(terms)
    if formula is not None:
        kernel_or_none = of_inner_products(formula)
        if kernel_or_none is not None:
            return asked.about(Question(kernel_or_none, shown, (*said, f"multiplied out, it is {kernel_or_none}")))
        exact = _exact(formula, shown, said, asked)
        if exact is not None:
            return exact
    return asked.about(Question(found, shown, said))


def _formula_of(terms: Signed) -> Expression | None:
    """The polynomial that collected terms are."""
    parts: list[Node] = []
    for factor, kernel in terms:
        node = node_of(kernel)
        if node is None or not isinstance(factor, Fraction):
            return None
        parts.append(build.multiply((Number(factor), node)))
    return Expression(build.add(tuple(parts)))


# -- formulas ----------------------------------------------------------------------------------------------------------


def _formula(formula: Expression, asked: Asked) -> Proof:
    """Rules first, then exact coefficients, then a search."""
    if asked.d is not None:
        formula.check_width(asked.d)
    said = tuple(f"{letter} has no value in the formula, and is taken as 1" for letter in formula.assumed)
    if is_assumed(formula.root):
        return _for_all(formula, said, asked)
    found = signed_kernels(formula, asked.d)
    kernel = None if found is None else of_signed(found)
    named = (*said, f"the formula is {kernel}")
    if kernel is not None and not isinstance(kernel, Difference):
        return asked.about(Question(kernel, formula, named))
    multiplied = of_inner_products(formula)
    if multiplied is not None:
        return asked.about(Question(multiplied, formula, (*said, f"multiplied out, the formula is {multiplied}")))
    exact = _exact(formula, formula, said, asked)
    if exact is not None:
        return exact
    if kernel is not None:
        return _difference(kernel, formula, named, asked)
    over = _over_columns(formula, asked)
    if over is not None:
        return asked.about(Question(over, formula, (*said, f"the formula is the {over}")))
    asymmetry = _asymmetric(formula, said, asked)
    return asymmetry or asked.about(Question(Unrecognised(formula), formula, said))


def _for_all(formula: Expression, said: tuple[str, ...], asked: Asked) -> Proof:
    """By rules; where they leave it open, with the number 1 for what is only named, which may refute it."""
    proof = prove_for_all(formula, asked.d, asked.place, said, asked.limit)
    instance = instance_of_numbers(formula) if proof.status == "unknown" else None
    if instance is None:
        return proof
    words, chosen = instance
    found = _formula(replace(chosen, assumed=()), replace(asked, place=proof.domain))
    if found.status != "refuted":
        return proof
    steps = (*proof.steps[:-1], f"not for every choice: {words} the formula is {chosen}", *found.steps)
    return replace(found, steps=steps, asked=formula)


def _exact(formula: Expression, shown: Kernel | Expression, said: tuple[str, ...], asked: Asked) -> Proof | None:
    """The answer of exact coefficients; None where the formula is no symmetric polynomial, or too long a one."""
    domain = asked.place or REALS
    most = None
    steps: tuple[str, ...] = ()
    for d in _widths(formula, asked):
        found = decided(formula, d)
        if found is None:
            return None
        steps = words_of(*found)
        if found[1].direction is not None:
            if not any(domain is each for each in INDEPENDENT):
                return None
            witness = witness_of(formula, found[1], d, domain, asked.limit)
            if witness is None:
                return None
            kernel = Unrecognised(formula)
            return Proof(kernel, "refuted", domain, d, 0, (*said, *steps, WITNESSED), witness, 1, asked=shown)
        most = d
    fixed = asked.d is not None or RUN not in columns_in(formula.root) or formula.width is not None
    kernel_found = (of_coefficients(formula, most) if fixed else None) or Unrecognised(formula)
    return Proof(kernel_found, "proven", domain, most if fixed else None, most, (*said, *steps), asked=shown)


def _widths(formula: Expression, asked: Asked) -> range:
    """The numbers of columns in which a formula is multiplied out."""
    only = asked.d or formula.width or (None if RUN in columns_in(formula.root) else formula.least_width)
    if only is None and powers_of_dot(formula) is not None:
        only = 1  # where it is none in one column it is none in more, and the others are proven by now
    least = only or formula.least_width
    return range(least, least + (1 if only else MORE_COLUMNS))


def _over_columns(formula: Expression, asked: Asked) -> Kernel | None:
    """The kernel of each column, where a formula is a sum or a product of those over all columns."""
    root = formula.root
    if not isinstance(root, Over) or asked.d is not None:
        return None
    inside = kernel_of(Expression(with_column(root.of, ONLY)))
    return None if inside is None else OverColumns(inside, root.join)


def _asymmetric(formula: Expression, said: tuple[str, ...], asked: Asked) -> Proof | None:
    """Two points on which the order of the arguments matters, to 50 digits; None where none are found."""
    domain, found = asked.place or REALS, None
    if not domain.searchable:
        return None
    for d in _widths(formula, asked)[:1]:
        points = domain.place(np.round(np.random.default_rng(0).normal(scale=2.0, size=(8, d)), 1))
        values = formula.pairs(precisely(points), precisely(points))
        for i, j in combinations(range(len(points)), 2):
            gap, size = abs(values[i, j] - values[j, i]), abs(values[i, j]) + abs(values[j, i])
            if gap > DIFFERENT * size:
                found = Asymmetry(points[[i, j]], float(values[i, j]), float(values[j, i]))
                words = "an inner product is symmetric, and this formula is not"
                return Proof(Unrecognised(formula), "refuted", domain, d, 0, (*said, words), found, 1, asked=formula)
    return None
