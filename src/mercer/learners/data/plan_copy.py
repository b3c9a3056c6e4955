"""A learner as a plan needs it: what a lift would take long to learn is counted, and not learnt."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone

from mercer.lifts.base import Lift
from mercer.lifts.landmarks import HELD, MIN_ROWS_PER_LANDMARK, number, pivoted, way
from mercer.lifts.nystrom import Nystrom
from mercer.lifts.radial_basis import RadialBasis

Estimator = TypeVar("Estimator", bound=BaseEstimator)
INSTANT_OPERATIONS = 2e9
"""Operations for which landmarks are chosen all the same."""
RANK_SAMPLE_ROWS = 2048
"""Rows from which a few are chosen where that would take longer."""
MAX_RANK_LANDMARKS = 512
"""Landmarks that are chosen from these, at most: a kernel that has fewer has fewer everywhere."""


def draft(estimator: Estimator) -> Estimator:
    """A copy that is to be planned, and never fitted."""
    twin: Estimator = clone(estimator)
    twin.set_params(**_drafted_parts(twin))
    return twin


def drafted(lift: Lift) -> Lift:
    """A lift with as many features, whose `fit` does not take long; they are not the features of the lift."""
    if type(lift) is Nystrom:
        return CountedLandmarks(**lift.get_params(deep=False))
    changes = _drafted_parts(lift)
    if isinstance(lift, RadialBasis) and isinstance(lift.centers, str) and lift.centers == "kmeans":
        changes["centers"] = "random"  # as many
    found: Lift = clone(lift).set_params(**changes)
    return found


def _drafted_parts(estimator: BaseEstimator) -> dict[str, Any]:
    parts = estimator.get_params(deep=False)
    return {name: drafted(part) for name, part in parts.items() if isinstance(part, Lift)}


class CountedLandmarks(Nystrom):
    """As many landmarks as the lift would keep, as far as that is known soon; else as many as were asked for."""

    def learn(self, X: Any) -> None:
        points = self._points(X)
        rows = points.values.shape[0]
        count = number(self.n_components, rows)
        drawn = min(rows, max(HELD // count, MIN_ROWS_PER_LANDMARK * count))
        if not isinstance(self.landmarks, str) or float(drawn) * count**2 <= INSTANT_OPERATIONS:
            return super().learn(X)
        way(self.landmarks)
        self._resolve(points)
        some = np.unique(np.linspace(0, rows - 1, min(rows, RANK_SAMPLE_ROWS)).astype(np.intp))
        found = pivoted(self.kernel_, points.rows(some), min(count, MAX_RANK_LANDMARKS), np.random.default_rng(0))
        self.n_components_ = count if len(found.upper) == MAX_RANK_LANDMARKS else min(count, len(found.upper))
        return None

    def features(self, X: Any) -> NDArray[Any]:
        """As long as those of the lift are at most: |phi(x)|^2 is k(x, x)."""
        if hasattr(self, "factor_"):
            return super().features(X)
        out = np.zeros((X.shape[0], self.n_features()), X.dtype)
        out[:, 0] = np.sqrt(np.abs(self.kernel_.evaluate_diagonal(self._new_points(X))))
        return out


CountedLandmarks.__name__ = Nystrom.__name__  # errors name the lift that was given
