"""Lifts whose features are polynomials in the columns."""

from __future__ import annotations

import math
import warnings
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from mercer.compute.codegen.sparse import is_sparse
from mercer.compute.overflow import all_finite
from mercer.compute.runtime.memory import MAX_UNASKED_BYTES, Budget
from mercer.errors import BudgetError, NumericalWarning, caller_level, message, speaks
from mercer.lifts.base import Lift
from mercer.lifts.deferred import Deferred
from mercer.lifts.expansion import Expansion
from mercer.lifts.monomial_index import MAX_MONOMIALS


class Expanded(Lift):
    """A lift whose features are an `Expansion`: a subclass answers `_expansion`, which also checks its parameters.

    Attributes
    ----------
    expansion_ : the monomials and the coefficients of the features
    """

    remedy: ClassVar[str] = "Lower the degree, or use the lift's kernel, which needs no features."
    """What to do where there are too many features."""

    expansion_: Expansion
    _saved: ClassVar[Mapping[str, Any]] = {"expansion_": Expansion}

    @abstractmethod
    def _expansion(self, width: int) -> Expansion:
        """The features of so many columns. Where they may be very many, it is `Deferred`."""

    def learn(self, X: Any) -> None:
        expansion = self._expansion(X.shape[1])
        size = expansion.size
        if not is_sparse(X):
            needed = size * (2 * X.dtype.itemsize + 32)  # the row, its buffer, and the making of weights
            self._require(needed, f"a row of {_many(size)} features")
        elif size > MAX_MONOMIALS:
            needs, got = "features that can be numbered by 64 bits", f"there are {_many(size)}"
            raise BudgetError(message(needs, got, self.remedy))
        self.expansion_ = expansion

    def _inconsistency(self) -> str:
        columns, fitted = self.expansion_.width, self.n_features_in_
        return "" if columns == fitted else f"got an expansion of {columns} columns for {fitted}"

    @speaks
    def transform(self, X: Any) -> Any:
        """The features of each row, in the dtype of X (float32 or float64); sparse for sparse rows, CSC for CSC."""
        found = self._plain_features(X)
        return found.tocsc() if is_sparse(found) and getattr(X, "format", None) == "csc" else found

    @property
    def powers_(self) -> NDArray[np.intp]:
        """(features, columns): the exponent of each column, where each feature is one monomial, weighted or not.

        An AttributeError where features are sums of several monomials.
        """
        check_is_fitted(self)
        expansion = self.expansion_
        self._require(8 * expansion.size * expansion.width, f"the exponents of {_many(expansion.size)} features")
        if expansion.weights is None:
            raise AttributeError(f"powers_: features of {type(self).__name__} are sums of several monomials")
        factors = expansion.factors
        found = np.zeros((len(factors), expansion.width), dtype=np.intp)
        rows, places = np.nonzero(factors >= 0)
        np.add.at(found, (rows, factors[rows, places]), 1)
        return found

    def n_features(self) -> int:
        return len(self.expansion_)

    def feature_names(self, inputs: list[str]) -> list[str]:
        return self.expansion_.names(inputs)

    def features(self, X: Any) -> Any:
        with np.errstate(all="ignore"):
            features = self._values(X)
        if not self._surely_finite(X) and not all_finite(features.data if is_sparse(features) else features):
            text = f"{type(self).__name__} overflows {X.dtype} on this data: features are infinite, or NaN."
            warnings.warn(
                f"{text} Scale the data down, or lower the degree.", NumericalWarning, stacklevel=caller_level()
            )
        return features

    def _values(self, X: Any) -> Any:
        """The features, whether or not they are finite."""
        return self.expansion_.evaluate(X)

    def _surely_finite(self, X: Any) -> bool:
        """Whether the largest numbers of X and of the coefficients exclude infinities: then none need be looked for."""
        values = X.data if is_sparse(X) else X
        with np.errstate(all="ignore"):
            most = np.float64(max(1.0, float(values.max(initial=0.0)), -float(values.min(initial=0.0))))
            bound = most**self.expansion_.degree * max(1.0, self.expansion_.largest)
        return bool(bound < np.finfo(X.dtype).max / 2)

    # -- memory -----------------------------------------------------------------------------------------------------

    def _afford(self, rows: Any) -> None:
        if is_sparse(rows) and isinstance(self.expansion_, Deferred):
            stored = self.expansion_.stored(rows)
            self._require(stored * (rows.dtype.itemsize + 8), f"{_many(stored)} stored numbers of features")
        else:
            super()._afford(rows)

    def _require(self, needed: int, purpose: str) -> None:
        """Ask the memory budget, of which no more is asked than it can write down."""
        if needed <= MAX_UNASKED_BYTES:
            return
        budget = Budget.of(None)
        if needed >= 1 << 69:
            raise BudgetError(message(f"memory for {purpose}", f"{budget} may be used", self.remedy))
        budget.require(needed, purpose, self.remedy)


def _many(count: int) -> str:
    return f"{count}" if count < 10**15 else f"about 10^{int(math.log10(count))}"
