"""Expansions whose tables are built when they are first asked for: there may be more monomials than memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from mercer.compute.runtime.memory import MAX_UNASKED_BYTES, Budget
from mercer.lifts.expansion import Expansion


class Deferred(Expansion, ABC):
    """One feature a monomial, by a rule: `size`, `degree` and `evaluate` need no table of all monomials.

    `factors`, `weights` and `coefficients` are built on demand, and refused where they do not fit the memory budget.
    """

    @property
    @abstractmethod
    def size(self) -> int:
        """D, the number of features, however many."""

    @abstractmethod
    def evaluate(self, X: Any) -> Any:
        """The features of each row of a dense or sparse table."""

    @abstractmethod
    def stored(self, X: Any) -> int:
        """How many numbers the features of a sparse table will be."""

    @abstractmethod
    def _factors(self) -> NDArray[np.intp]:
        """The table of factors."""

    @cached_property
    def factors(self) -> NDArray[np.intp]:
        """The columns that are multiplied in each monomial."""
        self._afford()
        return self._factors()

    @cached_property
    def coefficients(self) -> csr_array:
        """The diagonal matrix of the weights."""
        self._afford()
        return csr_array(diags_array(self.weights))

    def _afford(self) -> None:
        needed = 8 * self.size * (2 * self.degree + 6)
        if needed > MAX_UNASKED_BYTES:
            remedy = "The features themselves can be had without it: transform, and do not ask for names."
            Budget.of(None).require(needed, f"a table of {self.size} monomials", remedy, subject="An expansion")
