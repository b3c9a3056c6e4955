"""Errors of copies of a lift with other numbers of features, and what bounds them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from mercer.displays.lift_error import DELTA
from mercer.errors import InputError, message
from mercer.lifts import Nystrom, RandomFourier
from mercer.lifts.coerce import stated
from mercer.lifts.components import check_error, law_anywhere
from mercer.lifts.distance_audit import feature_distances, relative_errors
from mercer.lifts.distances import keeps_distances

Array = NDArray[np.float64]
ALMOST_ONE = float(np.nextafter(1.0, 0.0))
"""The largest relative error of distances that can be promised: two points that fall together are off by one."""
HALVINGS = 60
"""Of an interval around the least error that a number of features promises."""


@dataclass(frozen=True, eq=False)
class Trial:
    """A lift, and the rows on which copies of it are tried.

    lift : with n_components
    X : the rows
    kernel : what it approximates, with its numbers
    values : (n, n), the kernel on the rows, or their distances
    error : "kernel" or "distance"
    """

    lift: Any
    X: Any
    kernel: Any
    values: Array
    error: str

    @classmethod
    def of(cls, lift: Any, X: Any, error: str) -> Trial:
        """Refuse lifts that have no number of features, or no kernel."""
        check_error(error)
        if "n_components" not in lift.get_params() or "kernel" not in lift.get_params():
            got = f"{type(lift).__name__} has none"
            raise InputError(message("a lift with n_components and a kernel", got, "Use Nystrom(kernel)."))
        kernel = stated(lift.kernel).resolve(X)
        values = kernel(X) if error == "kernel" else kernel.distance(X)
        return cls(lift, X, kernel, np.asarray(values, dtype=np.float64), error)

    @property
    def kind(self) -> str:
        """What bounds errors, in words."""
        return "certificate" if isinstance(self.lift, Nystrom) else f"bound before the draw ({1 - DELTA:.0%})"

    def fitting(self, counts: Sequence[int]) -> list[int]:
        """Those numbers that a lift can have: landmarks are rows."""
        most = len(self.values) if isinstance(self.lift, Nystrom) else max(counts)
        return [count for count in counts if count <= most] or [most]

    def measured(self, counts: Sequence[int], draws: int) -> tuple[Array, Array, Array | None]:
        """The largest and the mean error of each number and draw, and the bounds of each number."""
        worst, mean = np.zeros((len(counts), draws)), np.zeros((len(counts), draws))
        sure = np.full((len(counts), draws), np.nan)
        certified = isinstance(self.lift, Nystrom) and self.error == "kernel"
        for i, count in enumerate(counts):
            for j in range(draws):
                fitted = self._fitted(int(count), j)
                errors = self._errors(fitted)
                worst[i, j], mean[i, j] = errors.max(), errors.mean()
                if certified:
                    sure[i, j] = fitted.certificate(self.X).bound
        if isinstance(self.lift, RandomFourier) and self._promises():
            sure = np.array([[self._promised(int(count))] for count in counts])
        bounds = sure.max(axis=1)
        return worst, mean, None if np.isnan(bounds).all() else bounds

    def _errors(self, fitted: Any) -> Array:
        """Of all pairs: a row with itself included for values of the kernel, at a distance above zero for distances."""
        features = np.asarray(fitted.transform(self.X), dtype=np.float64)
        if self.error == "kernel":
            return np.asarray(np.abs(features @ features.T - self.values))
        apart = self.values > 0
        if not apart.any():
            raise InputError(message("rows that differ", "got equal ones", "Give other rows."))
        return relative_errors(feature_distances(features, features)[apart], self.values[apart])

    def _promises(self) -> bool:
        """Whether a number of waves promises an error before they are drawn."""
        return self.error == "kernel" or keeps_distances(law_anywhere(self.kernel))

    def _fitted(self, count: int, draw: int) -> Any:
        seed = self.lift.random_state if isinstance(self.lift.random_state, int | np.integer) else 0
        params = {"kernel": self.kernel, "n_components": count, "random_state": int(seed) + draw}
        if "epsilon" in self.lift.get_params():
            params["epsilon"] = None
        return clone(self.lift).set_params(**params).fit(self.X)

    def _promised(self, count: int) -> float:
        """The least epsilon for which so many waves suffice, by halving."""
        low, high = 0.0, 4.0 * float(np.abs(self.values).max()) if self.error == "kernel" else ALMOST_ONE
        if not self._enough(high, count):
            return float("nan")
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            low, high = (low, middle) if self._enough(middle, count) else (middle, high)
        return high

    def _enough(self, epsilon: float, count: int) -> bool:
        n, form = len(self.values), self.lift.form
        return bool(RandomFourier.components_for(self.kernel, epsilon, DELTA, n, form, self.error) <= count)
