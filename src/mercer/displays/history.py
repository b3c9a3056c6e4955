"""How a fit went on, step by step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.displays.base import Display, check_fitted, last_step, name_of, titled
from mercer.displays.colours import colours
from mercer.displays.estimators import Estimator
from mercer.errors import InputError, message, speaks

REMEDY = "KernelKMeans, perceptrons and GradientDescent() write one; of others use HistoryDisplay.from_runs."


@dataclass(eq=False, repr=False)
class HistoryDisplay(Display):
    """The progress of a fit after each of its steps: losses, mistakes, inertia or residuals.

    Parameters
    ----------
    steps : array of shape (m,)
        Numbers of steps, or seconds, increasing.
    values : array of shape (m, lines)
        The value after each.
    names : sequence of str, default=('',)
        Names of the lines.
    measure : str, default="value"
        What values are, at the axis.
    unit : str, default="step"
        What steps are, at the axis.
    best : float or None, default=None
        The step whose model was kept, where that is not the last; None for no line there.
    name : str, default=""
        Of the model, in the title.

    Attributes
    ----------
    ax_ : Axes
        The axes.
    figure_ : Figure
        Their figure.
    lines_ : list of Line2D
        One per column of values.
    best_ : Line2D or None
        At the step that was kept; None where there is none.
    legend_ : Legend or None
        Names the lines, where there are several.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Perceptron
    >>> from mercer.displays import HistoryDisplay
    >>> model = Perceptron().fit([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> drawn = HistoryDisplay.from_estimator(model)
    >>> drawn.lines_[0].get_ydata().tolist() == model.history_.tolist(), drawn.ax_.get_ylabel()
    (True, 'mistakes')
    """

    steps: ArrayLike
    values: ArrayLike
    _: KW_ONLY
    names: Sequence[str] = ("",)
    measure: str = "value"
    unit: str = "step"
    best: float | None = None
    name: str = ""
    lines_: list[Any] = field(init=False, default_factory=list)
    best_: Any = field(init=False, default=None)
    legend_: Any = field(init=False, default=None)

    @classmethod
    @speaks
    def from_estimator(cls, model: object, *, style: str = "page", ax: Any = None) -> Self:
        """Draw the history of a fitted model, or of the last step of a pipeline.

        It has the mistakes of each pass of a perceptron, the inertia after each step of `KernelKMeans`, or the losses
        of a gradient descent.

        Parameters
        ----------
        model : estimator
            The fitted model.
        style : {"page", "slide"}, default="page"
            For a page; or sixteen to nine with large letters and thick lines, for a slide.
        ax : Axes or None, default=None
            Where to draw; None for new axes.

        Returns
        -------
        Self
        """
        check_fitted(model)
        learner = last_step(model)
        descent = getattr(getattr(learner, "outcome_", None), "history", None)
        if descent is not None:
            return cls._of_descent(descent, name_of(model)).plot(ax, style=style)
        history = getattr(learner, "history_", None)
        if history is None:
            got = f"{type(learner).__name__} has none"
            raise InputError(message("a model that has written a history", got, REMEDY))
        measure, unit = ("inertia", "step") if hasattr(learner, "inertia_") else ("mistakes", "pass")
        steps, values = np.arange(1, len(history) + 1), np.asarray(history)[:, None]
        return cls(steps, values, names=(measure,), measure=measure, unit=unit, name=name_of(model)).plot(
            ax, style=style
        )

    @classmethod
    def _of_descent(cls, history: Any, name: str) -> Self:
        """The losses of all outputs together, and those of held-out rows."""
        losses, held = history.losses.sum(axis=1), history.validation.sum(axis=1)
        steps = np.arange(len(losses))
        if not len(held):
            return cls(steps, losses[:, None], names=("loss",), measure="loss", name=name)
        both, names = np.column_stack([losses, held]), ("loss", "loss of held-out rows")
        return cls(steps, both, names=names, measure="loss", best=int(held.argmin()), name=name)

    @classmethod
    @speaks
    def from_runs(
        cls,
        model: Estimator,
        X: Any,
        y: Any = None,
        *,
        iterations: Sequence[int] = (1, 2, 4, 8, 16, 32),
        unit: str = "step",
        style: str = "page",
        ax: Any = None,
    ) -> Self:
        """Fit copies that stop after so many steps, and draw the residual, or the relative gap, of each.

        For models that write no history: conjugate gradients in `KernelRidge`, `KernelSVC`, logistic regression. A copy
        with the same seed takes the same steps. Cost: one fit per number of steps.

        Parameters
        ----------
        model : estimator
            It is cloned.
        X : array or table
            The rows.
        y : array or None, default=None
            Their targets.
        iterations : sequence of int, default=(1, 2, 4, 8, 16, 32)
            Numbers of steps.
        unit : {"step", "second"}, default="step"
            With "second", the time of each fit is at the axis, with all that comes before its steps.
        style : {"page", "slide"}, default="page"
            For a page; or sixteen to nine with large letters and thick lines, for a slide.
        ax : Axes or None, default=None
            Where to draw; None for new axes.

        Returns
        -------
        Self
        """
        from mercer.displays.stopped_fits import runs_of  # it loads scikit-learn

        if unit not in ("step", "second"):
            raise InputError(message('unit "step" or "second"', f"got {unit!r}", 'Use "step".'))
        taken, seconds, left, measure = runs_of(model, X, y, iterations)
        steps = taken if unit == "step" else seconds
        return cls(steps, left[:, None], names=(measure,), measure=measure, unit=unit, name=name_of(model)).plot(
            ax, style=style
        )

    def _plot(self, ax: Any) -> None:
        steps, values = self._checked()
        axes = self._begin(ax)
        self.lines_, self.best_, self.legend_ = [], None, None
        marker = "." if len(steps) <= 100 else ""
        for column, name, shade in zip(values.T, self.names, colours(values.shape[1]), strict=True):
            self.lines_ += axes.plot(steps, column, marker=marker, color=shade, label=name)
        if self.best is not None:
            self.best_ = axes.axvline(self.best, color="0.4", linestyle="dotted", label=f"kept: {self.best:g}")
        if values.min() > 0 and values.max() > 20 * values.min():
            axes.set_yscale("log")
        axes.set(xlabel=self.unit, ylabel=self.measure)
        self._whole(axes, steps)
        if len(self.lines_) == 1 and self.best_ is None:  # the axis names the one line
            self.lines_[0].set_label("")
        self.legend_ = self._finish(axes, titled(self.name, f"{self.measure} after each {self.unit}"))

    def _whole(self, axes: Any, steps: NDArray[Any]) -> None:
        """Integers at the axis of steps; a scale of logarithms where these grow faster and faster."""
        from matplotlib.ticker import MaxNLocator

        if len(steps) > 2 and steps[0] > 0 and steps[-1] - steps[-2] > 2 * (steps[1] - steps[0]):
            axes.set_xscale("log")
        elif np.array_equal(steps, np.round(steps)):
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))

    def _checked(self) -> tuple[NDArray[Any], NDArray[Any]]:
        steps = np.asarray(self.steps, dtype=float)
        values = np.asarray(self.values, dtype=float)
        if values.ndim != 2 or steps.shape != (len(values),) or not values.size or len(self.names) != values.shape[1]:
            got = f"got {steps.shape}, {values.shape} and {len(self.names)} names"
            raise InputError(message("a value for each step and line, and a name per line", got, "Fit again."))
        if not (np.isfinite(steps).all() and np.isfinite(values).all()):
            raise InputError(message("finite numbers", "got NaN or infinity", "Use a smaller step."))
        return steps, values
