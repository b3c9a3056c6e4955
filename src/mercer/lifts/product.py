"""All products of a feature of one lift and one of another: the product of their kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from mercer.compute.runtime.memory import MAX_UNASKED_BYTES, Budget
from mercer.errors import BudgetError, message
from mercer.kernels import Kernel
from mercer.lifts.algebra import multiplied, row_products
from mercer.lifts.base import Lift
from mercer.lifts.composition import Pair, unique
from mercer.lifts.expansion import Expansion
from mercer.lifts.monomial_index import MAX_MONOMIALS
from mercer.lifts.parts import bracketed

REMEDY = "Lift fewer rows at once, or use the kernel."


class Product(Pair):
    """Every feature of one lift times every feature of another, written first * second.

    phi(x) = phi1(x) (x) phi2(x), feature (i, j) at i D2 + j, so k = k1 k2. Cost: n D1 D2 time and numbers;
    where the features of a part are sparse, as many as there are pairs of nonzeros.

    Parameters
    ----------
    first, second : Lift
        Clones of them are fitted.

    Attributes
    ----------
    first_, second_ : Lift
        The fitted clones.
    expansion_ : Expansion
        Monomials and coefficients, where both parts have them.

    Examples
    --------
    >>> from mercer.lifts.exact import Exact
    >>> phi = (Exact("linear + 1") * Exact("linear.on([0])")).fit([[2.0, 3.0]])
    >>> phi.get_feature_names_out().tolist()
    ['1 * x1', 'x1 * x1', 'x2 * x1']
    >>> phi.transform([[2.0, 3.0]])
    array([[2., 4., 6.]])
    """

    @property
    def kernel(self) -> Kernel:
        """The product of the kernels of both parts."""
        first, second = self._kernels
        return first * second

    @property
    def expansion_(self) -> Expansion:
        """Monomials and coefficients; AttributeError where a part has none."""
        return multiplied(self.first_.expansion_, self.second_.expansion_)

    def n_features(self) -> int:
        return self.first_.n_features() * self.second_.n_features()

    def features(self, X: Any) -> Any:
        first, second = self.first_.features(X), self.second_.features(X)
        if issparse(first) or issparse(second):
            first, second = csr_array(first), csr_array(second)
            self._afford_stored(first, second)
            return row_products(first, second)
        Lift._afford(self, X)  # of sparse rows only the parts were asked
        return (first[:, :, None] * second[:, None, :]).reshape(len(first), -1)

    def _afford_stored(self, first: csr_array, second: csr_array) -> None:
        """Ask the memory budget for the products of the stored numbers."""
        stored = int(np.dot(np.diff(first.indptr).astype(np.int64), np.diff(second.indptr)))
        if self.n_features() > MAX_MONOMIALS:
            got = f"there are {self.n_features()}"
            raise BudgetError(message("features that can be numbered by 64 bits", got, REMEDY))
        if 24 * stored > MAX_UNASKED_BYTES:  # a number, its column, and the column in the second part
            Budget.of(None).require(24 * stored, f"{stored} products of stored numbers", REMEDY)

    def feature_names(self, inputs: list[str]) -> list[str]:
        seconds = [bracketed(name) for name in self.second_.feature_names(inputs)]
        return unique(
            [f"{bracketed(name)} * {other}" for name in self.first_.feature_names(inputs) for other in seconds]
        )

    def _combined(self, bounds: list[float], lengths: list[float]) -> tuple[float, float]:
        """k1 k2 - a1 a2 = (k1 - a1) a2 + a1 (k2 - a2) + (k1 - a1) (k2 - a2), and |a(x, z)| <= max |phi(x)|^2."""
        (e1, e2), (a1, a2) = bounds, lengths
        return e1 * a2 + a1 * e2 + e1 * e2, a1 * a2
