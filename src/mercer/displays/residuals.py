"""Predictions beside the truth, or what is left of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.displays.base import Display
from mercer.errors import InputError, message, speaks

KINDS = ("predicted", "residuals")
INK = "#3f87d9"
"""Seen on white and on black."""
VECTOR = 1_000
"""Up to so many points are drawn as circles in a vector picture; more become dots of a bitmap inside of it."""


@dataclass(eq=False, repr=False)
class ResidualsDisplay(Display):
    """Truth over prediction with the diagonal, or truth less prediction over prediction with the line of zero.

    Parameters
    ----------
    y : the truth, (n,)
    predicted : what a model says, (n,)
    kind : "predicted" (y over the predictions) or "residuals" (y - predictions over the predictions)
    name : of the target, at the axis
    most : so many rows are drawn, evenly chosen; None for all

    Attributes
    ----------
    ax_, figure_ : the axes, and their figure
    points_ : one a row that is drawn
    line_ : where a perfect model has its points

    Examples
    --------
    >>> from mercer.displays import ResidualsDisplay
    >>> drawn = ResidualsDisplay([1.0, 2.0, 4.0], [1.5, 2.0, 3.0], kind="residuals").plot()
    >>> drawn.points_.get_offsets().tolist()
    [[1.5, -0.5], [2.0, 0.0], [3.0, 1.0]]
    """

    y: ArrayLike
    predicted: ArrayLike
    kind: str = "predicted"
    name: str = "y"
    most: int | None = None
    points_: Any = field(init=False, default=None)
    line_: Any = field(init=False, default=None)

    @classmethod
    @speaks
    def from_estimator(cls, model: Any, X: Any, y: ArrayLike, kind: str = "predicted", ax: Any = None) -> Self:
        """Draw what a fitted model predicts for X beside y."""
        return cls(y, model.predict(X), kind).plot(ax)

    @speaks
    def plot(self, ax: Any = None) -> Self:
        y, predicted = self._checked()
        axes = self._begin(ax)
        shown = y if self.kind == "predicted" else y - predicted
        size, many = 12 if len(y) <= VECTOR else 5, len(y) > VECTOR
        self.points_ = axes.scatter(predicted, shown, s=size, alpha=0.6, color=INK, linewidth=0, rasterized=many)
        self.line_ = self._perfect(axes, np.concatenate([y, predicted]))
        axes.set_xlabel(f"predicted {self.name}", parse_math=False)
        axes.set_ylabel(f"true {self.name}" if self.kind == "predicted" else "true - predicted", parse_math=False)
        return self

    def _perfect(self, axes: Any, values: NDArray[Any]) -> Any:
        if self.kind == "residuals":
            return axes.axhline(0.0, color="black", linewidth=1)
        ends = [values.min(), values.max()]
        return axes.plot(ends, ends, color="black", linewidth=1)[0]

    def _checked(self) -> tuple[NDArray[Any], NDArray[Any]]:
        y, predicted = (np.asarray(values, dtype=float) for values in (self.y, self.predicted))
        if self.kind not in KINDS:
            raise InputError(message(f"a kind of {KINDS}", f"got {self.kind!r}", "Choose one."))
        if y.ndim != 1 or y.shape != predicted.shape or not len(y):
            got = f"got shapes {y.shape} and {predicted.shape}"
            raise InputError(message("one prediction a row", got, "Give one target."))
        if not (np.isfinite(y).all() and np.isfinite(predicted).all()):
            remedy = "Leave these rows out."
            raise InputError(message("finite numbers", "got NaN or infinity", remedy))
        if self.most is None or len(y) <= self.most:
            return y, predicted
        chosen = np.linspace(0, len(y) - 1, self.most).astype(int)
        return y[chosen], predicted[chosen]
