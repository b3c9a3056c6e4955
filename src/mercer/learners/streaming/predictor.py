"""Predictors: from coefficients of rows, from weights of features, or from weights of the functions of a basis."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.backends.context import current
from mercer.compute.consistency import shapes
from mercer.kernels.points import Points
from mercer.learners.data.views import KernelView, LiftView, View, blocks
from mercer.learners.streaming.basis import Basis, FeatureBasis, basis_of

Array = NDArray[np.float64]


class Predictor(ABC):
    """f(x) + b of rows, in float64."""

    @abstractmethod
    def values(self, rows: Any) -> Array:
        """(rows, outputs), of rows as the learner reads them."""

    @property
    def compared(self) -> int:
        """With how many rows, or functions, each new row is compared, where a card can do that; else 0."""
        return 0


@dataclass(frozen=True, eq=False)
class ByDuals(Predictor):
    """sum_i a_i k(x, x_i) + b."""

    view: View
    duals: Array
    levels: Array

    def _inconsistency(self) -> str:
        return shapes((self.duals, (self.view.count, None)), (self.levels, self.duals.shape[1:]))

    def values(self, rows: Any) -> Array:
        return self.view.predicted(rows, self.duals) + self.levels

    @property
    def compared(self) -> int:
        return self.view.count if self.view.on_card else 0


@dataclass(frozen=True, eq=False)
class ByFeatures(Predictor):
    """w.(phi(x) - means) + level: features are centred first, since a far origin cancels."""

    view: View
    weights: Array
    means: Array
    levels: Array

    def _inconsistency(self) -> str:
        p = self.weights.shape[0] if self.weights.ndim else 0
        return shapes((self.weights, (p, None)), (self.means, (p,)), (self.levels, self.weights.shape[1:]))

    def values(self, rows: Points) -> Array:
        if current().holds_tables and type(self.view) in (KernelView, LiftView) and self.view.lift is not None:
            basis = basis_of(self.view.lift, rows)
            found = (basis if basis.plain else FeatureBasis(basis)).combined(rows, self.weights, self.means)
            if found is not None:
                return found + self.levels
        parts = blocks(rows.values.shape[0], len(self.weights))
        centred = (self.view.features_of(rows.rows(part)) - self.means for part in parts)
        return np.concatenate([block @ self.weights for block in centred]) + self.levels

    @property
    def compared(self) -> int:
        if not isinstance(self.view, KernelView | LiftView) or self.view.lift is None:
            return 0
        return basis_of(self.view.lift, self.view.points).compared


@dataclass(frozen=True, eq=False)
class ByBasis(Predictor):
    """raw(x).weights + offset, without the table of features."""

    basis: Basis
    weights: Array
    offset: Array

    def _inconsistency(self) -> str:
        return shapes((self.weights, (self.basis.width, None)), (self.offset, self.weights.shape[1:]))

    def values(self, rows: Points) -> Array:
        return self.basis.times(rows, self.weights) + self.offset

    @property
    def compared(self) -> int:
        return self.basis.compared
