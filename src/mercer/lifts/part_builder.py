"""From a kernel to its exact features: the builder that makes them.

What is a polynomial stays one as long as it can, so that sums, products and maps of such kernels are simplified as a
whole.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce

import numpy as np
from scipy.sparse import csr_array

from mercer.compute.runtime.memory import MAX_UNASKED_BYTES, Budget
from mercer.kernels import Kernel, Weighted
from mercer.kernels.algebra.feature_map import FeatureMap
from mercer.kernels.algebra.functions import Formula
from mercer.kernels.algebra.mapped import Mapped
from mercer.kernels.lift_builder import LiftBuilder, OwnFeatures
from mercer.kernels.points import Column, Points
from mercer.lifts import algebra
from mercer.lifts.expanded import Expanded
from mercer.lifts.expansion import Expansion
from mercer.lifts.monomials import Monomials
from mercer.lifts.parts import Chosen, Functions, Joined, Moved, Multiplied, Part, Polynomials, Unit, Weighed
from mercer.lifts.polynomial import Polynomial
from mercer.lifts.polynomial_features import expansion_of
from mercer.lifts.powers import Powers
from mercer.lifts.subsets import Subsets

MAX_MAPPED_NUMBERS = 1 << 22
"""Numbers in the matrix of all monomials of mapped columns, at most, for a map to be multiplied out."""


class PartBuilder(LiftBuilder[Part]):
    """Makes the features of kernels for data like some points: their columns and names count, not their values."""

    def __init__(self, points: Points) -> None:
        self._points = points

    @property
    def n_columns(self) -> int:
        return int(self._points.shape[1])

    # -- leaves ---------------------------------------------------------------------------------------------------

    def constant(self, value: float) -> Part:
        found = algebra.constant(self.n_columns, math.sqrt(value))
        return Polynomials(found if value else algebra.simplified(found))

    def linear(self) -> Part:
        return Polynomials(algebra.linear(np.eye(self.n_columns)))

    def squared_length(self) -> Part:
        d = self.n_columns
        column = np.arange(d, dtype=np.intp)
        return Polynomials(Expansion(d, np.stack([column, column], axis=1), csr_array(np.ones((1, d)))))

    def polynomial(self, degree: int, offset: float) -> Part:
        return self._of_lift(Polynomial(degree, offset))

    def monomials(self, lowest: int, highest: int, repeated: bool = True, bias: bool = False) -> Part:
        if repeated:
            return self._of_lift(Monomials((lowest, highest), bias))
        if highest == 0 or lowest > highest:
            return self.constant(1.0 if lowest == 0 or bias else 0.0)
        found = self._of_lift(Subsets(highest)).expansion
        orders = (found.factors >= 0).sum(axis=1)
        taken = (orders >= lowest) | (bias & (orders == 0))
        return Polynomials(algebra.simplified(algebra.rows(found, np.flatnonzero(taken))))

    def powers(self, degree: int) -> Part:
        return self._of_lift(Powers(degree))

    def functions(self, kernel: OwnFeatures, count: int) -> Part:
        return Functions(kernel, self.n_columns, count)

    def _of_lift(self, lift: Expanded) -> Polynomials:
        return Polynomials(lift.fit(np.zeros((1, self.n_columns))).expansion_)

    # -- rules ----------------------------------------------------------------------------------------------------

    def of(self, kernel: Kernel) -> Part:
        return kernel.finite_lift(self)

    def added(self, parts: Sequence[Part]) -> Part:
        """Parts side by side; all polynomials among them become one part, simplified."""
        expansions = [part.expansion for part in parts if isinstance(part, Polynomials)]
        others = [part for part in parts if not isinstance(part, Polynomials)]
        if expansions:
            together = reduce(algebra.added, expansions)
            others = [Polynomials(algebra.simplified(together) if len(expansions) > 1 else together), *others]
        return others[0] if len(others) == 1 else Joined(tuple(others))

    def multiplied(self, first: Part, second: Part) -> Part:
        """All products of two parts; those of polynomials are simplified."""
        if not (isinstance(first, Polynomials) and isinstance(second, Polynomials)):
            return Multiplied(first, second)
        pairs = len(first.expansion.factors) * len(second.expansion.factors)
        needed = 8 * pairs * (first.expansion.degree + second.expansion.degree + 4)
        if needed > MAX_UNASKED_BYTES:
            remedy = "Use the kernel, or Nystrom."
            Budget.of(None).require(
                needed, f"the products of {len(first)} and {len(second)} features", remedy, subject="lift"
            )
        return Polynomials(algebra.simplified(algebra.multiplied(first.expansion, second.expansion)))

    def raised(self, part: Part, exponent: int) -> Part:
        return reduce(self.multiplied, [part] * exponent)

    def unit(self, part: Part) -> Part:
        return Unit(part)

    def weighted(self, kernel: Weighted) -> Part:
        if isinstance(kernel.function, Formula):
            weight, inside = polynomial_of(kernel.function, self.n_columns), self.of(kernel.kernel)
            if weight is not None and isinstance(inside, Polynomials):
                return self.multiplied(Polynomials(weight), inside)
        return Weighed(self.of(kernel.kernel), kernel, self._points.names)

    def chosen(self, kernel: Kernel, columns: Sequence[Column]) -> Part:
        places = [self._points.position(column, subject="on") for column in columns]
        inside = PartBuilder(self._points.chosen(places)).of(kernel)
        if isinstance(inside, Polynomials):
            return Polynomials(algebra.on_columns(inside.expansion, places, self.n_columns))
        return Chosen(inside, tuple(places))

    def mapped(self, kernel: Mapped) -> Part:
        moved = kernel.inner_points(self._points)
        inside, names = PartBuilder(moved).of(kernel.kernel), self._points.names
        forms = self._forms(kernel)
        if forms is None:
            phi = getattr(kernel, "formulas", None)
            labels = [f"{kernel.map_label}[{j + 1}]" for j in range(moved.shape[1])] if phi is None else phi.texts
            return Moved(inside, kernel, names, tuple(labels))
        opened = _opened(inside.expansion, forms) if isinstance(inside, Polynomials) else None
        return Moved(inside, kernel, names, forms) if opened is None else Polynomials(opened)

    def _forms(self, kernel: Mapped) -> Expansion | None:
        """The map as polynomials of the columns, where it is a matrix, or formulas that are polynomials."""
        if kernel.linear_map is not None:
            return algebra.linear(kernel.linear_map.toarray())
        phi = getattr(kernel, "formulas", None)
        return None if phi is None else expansion_of(phi, self.n_columns)


def polynomial_of(formula: Formula, d: int) -> Expansion | None:
    """A formula of d columns as one feature, where it is a polynomial."""
    from mercer.kernels.formulas.expression import Expression  # loaded with the first formula

    found = expansion_of(FeatureMap((formula,)), d) if isinstance(formula, Expression) else None
    return found if found is not None and found.coefficients.nnz else None


def _opened(inside: Expansion, forms: Expansion) -> Expansion | None:
    """The features of mapped columns, multiplied out; None where they would be too many numbers."""
    most = max(np.diff(forms.coefficients.indptr).max(initial=1), 1)
    if len(inside.factors) * float(most) ** inside.degree > MAX_MAPPED_NUMBERS:
        return None
    return algebra.simplified(algebra.substituted(inside, forms))
