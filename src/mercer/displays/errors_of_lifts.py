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

Array = NDArray[np.float64]
HALVINGS = 60
"""Of an interval around the least error that a number of features promises."""


@dataclass(frozen=True, eq=False)
class Trial:
    """A lift, and the rows on which copies of it are tried.

    lift : with n_components
    X : the rows
    kernel : what it approximates, with its numbers
    values : (n, n), the kernel on the rows
    """

    lift: Any
    X: Any
    kernel: Any
    values: Array

    @classmethod
    def of(cls, lift: Any, X: Any) -> Trial:
        """Refuse lifts that have no number of features, or no kernel."""
        if "n_components" not in lift.get_params() or "kernel" not in lift.get_params():
            got = f"{type(lift).__name__} has none"
            raise InputError(message("a lift with n_components and a kernel", got, "Use Nystrom(kernel)."))
        kernel = stated(lift.kernel).resolve(X)
        return cls(lift, X, kernel, np.asarray(kernel(X), dtype=np.float64))

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
        for i, count in enumerate(counts):
            for j in range(draws):
                fitted = self._fitted(int(count), j)
                features = np.asarray(fitted.transform(self.X), dtype=np.float64)
                errors = np.abs(features @ features.T - self.values)
                worst[i, j], mean[i, j] = errors.max(), errors.mean()
                if isinstance(self.lift, Nystrom):
                    sure[i, j] = fitted.certificate(self.X).bound
        if isinstance(self.lift, RandomFourier):
            sure = np.array([[self._promised(int(count))] for count in counts])
        bounds = sure.max(axis=1)
        return worst, mean, None if np.isnan(bounds).all() else bounds

    def _fitted(self, count: int, draw: int) -> Any:
        seed = self.lift.random_state if isinstance(self.lift.random_state, int | np.integer) else 0
        params = {"kernel": self.kernel, "n_components": count, "random_state": int(seed) + draw}
        if "epsilon" in self.lift.get_params():
            params["epsilon"] = None
        return clone(self.lift).set_params(**params).fit(self.X)

    def _promised(self, count: int) -> float:
        """The least epsilon for which so many waves suffice, by halving."""
        top = float(np.abs(self.values).max())
        low, high = 0.0, 4.0 * top
        if not self._enough(high, count):
            return float("nan")
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            low, high = (low, middle) if self._enough(middle, count) else (middle, high)
        return high

    def _enough(self, epsilon: float, count: int) -> bool:
        needed = RandomFourier.components_for(self.kernel, epsilon, DELTA, len(self.values), self.lift.form)
        return bool(needed <= count)
