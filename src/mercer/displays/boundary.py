"""Where a classifier decides, how far its margins reach, and which rows decide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.displays.base import Display, check_fitted, last_step, name_of, titled
from mercer.displays.colours import colours
from mercer.displays.estimators import Predictor
from mercer.displays.plane import Plane, check_grid, labels_of
from mercer.displays.regions import coloured, parted, scattered, told_apart
from mercer.errors import InputError, message, speaks

LEVELS = (-1.0, 0.0, 1.0)
"""Of a decision function: the boundary, and the margins of a support vector machine to both sides."""
ROUNDING = 1e-9
"""A level that values pass by less than this part of their size is not reached."""


@dataclass(eq=False, repr=False)
class BoundaryDisplay(Display):
    """The regions of classes in the plane of two columns, the boundary with its margins, rows and support vectors.

    Parameters
    ----------
    X : array or DataFrame of shape (n, 2)
        The rows; names of a frame stand at the axes.
    y : array of shape (n,)
        The labels of the rows.
    across, up : array
        Places along both axes.
    regions : array of shape (len(up), len(across))
        A label for each place.
    scores : array or None, default=None
        The decision function at each place; None where there is none. Several columns, one per class, draw lines
        between regions.
    support : array of int or None, default=None
        Positions of the rows that are ringed; None for none.
    supporting : str, default="support vectors"
        What these rows are, in the legend.
    margins : bool, default=True
        Whether the contours of the scores at -1 and 1 are drawn, dashed.
    name : str, default=""
        Of the model, in the title.

    Attributes
    ----------
    ax_ : Axes
        The axes.
    figure_ : Figure
        Their figure.
    labels_ : array
        The different labels of rows and regions.
    points_ : list of PathCollection
        One per label of `labels_`.
    regions_ : QuadMesh
        The coloured regions.
    boundary_ : ContourSet or list
        The contours of the scores at 0, and at -1 and 1 with margins, as far as they are reached by more than rounding;
        none where 0 is not; without scores one set per label.
    support_ : PathCollection or None
        The rings, None where there are none.
    legend_ : Legend
        Names the labels and the rings, above the axes.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelSVC
    >>> from mercer.displays import BoundaryDisplay
    >>> X, y = np.array([[0.0, 0.0], [0.0, 1.0], [2.0, 0.0], [2.0, 1.0]]), ["left", "left", "right", "right"]
    >>> drawn = BoundaryDisplay.from_estimator(KernelSVC("linear", C=10).fit(X, y), X, y, grid=50)
    >>> drawn.boundary_.levels.tolist()
    [-1.0, 0.0, 1.0]
    """

    X: Any
    y: ArrayLike
    across: NDArray[Any]
    up: NDArray[Any]
    regions: NDArray[Any]
    _: KW_ONLY
    scores: NDArray[Any] | None = None
    support: ArrayLike | None = None
    supporting: str = "support vectors"
    margins: bool = True
    name: str = ""
    labels_: NDArray[Any] | None = field(init=False, default=None)
    points_: list[Any] = field(init=False, default_factory=list)
    regions_: Any = field(init=False, default=None)
    boundary_: Any = field(init=False, default=None)
    support_: Any = field(init=False, default=None)
    legend_: Any = field(init=False, default=None)

    @classmethod
    @speaks
    def from_estimator(
        cls,
        model: Predictor,
        X: Any,
        y: ArrayLike | None = None,
        *,
        support: bool = True,
        margins: bool | None = None,
        grid: int = 200,
        style: str = "page",
        ax: Any = None,
    ) -> Self:
        """Draw a fitted classifier, or a pipeline that ends with one.

        Parameters
        ----------
        model : estimator
            The fitted classifier.
        X : array or DataFrame of shape (n, 2)
            The rows.
        y : array of shape (n,) or None, default=None
            Labels of the rows; None for those that the model predicts.
        support : bool, default=True
            Whether rows in the model's `support_` are ringed; they are positions among the rows of the fit, so that X
            must be these. With other rows use support=False. Of a perceptron they are the rows with updates.
        margins : bool or None, default=None
            Whether contours at -1 and 1 are drawn; None where they are margins: of support vector machines.
        grid : int, default=200
            Places along each axis.
        style : {"page", "slide"}, default="page"
            For a page; or sixteen to nine with large letters and thick lines, for a slide.
        ax : Axes or None, default=None
            Where to draw; None for new axes.

        Returns
        -------
        Self
        """
        plane = Plane.of(X)
        check_fitted(model, 2)
        check_grid(grid)
        across, up, places = plane.grid(grid)
        shape = len(up), len(across)
        regions = np.asarray(model.predict(places)).reshape(shape)
        learner = last_step(model)
        rings = getattr(learner, "support_", None) if support else None
        labels, scores = model.predict(X) if y is None else y, _scores(model, places, shape)
        drawn = cls(X, labels, across, up, regions, scores=scores, support=rings, name=name_of(model))
        drawn.supporting = "rows with updates" if hasattr(learner, "mistake_bound_") else drawn.supporting
        drawn.margins = has_margins(learner) if margins is None else margins
        return drawn.plot(ax, style=style)

    def _plot(self, ax: Any) -> None:
        plane, y, rings = self._checked()
        self.labels_ = told_apart(y, self.regions)
        axes = self._begin(ax)
        shades = colours(len(self.labels_))
        codes = np.searchsorted(self.labels_, np.asarray(self.regions))
        self.regions_ = coloured(axes, self.across, self.up, codes, shades)
        self.boundary_ = self._bounded(axes, codes)
        self.points_ = scattered(axes, plane.values, y, self.labels_, shades)
        self.support_ = _ringed(axes, plane.values[rings], self.supporting)
        axes.set(xlabel=plane.names[0], ylabel=plane.names[1])
        self.legend_ = self._finish(axes, self._title(codes))

    def _bounded(self, axes: Any, codes: NDArray[Any]) -> Any:
        if self.scores is None:
            return parted(axes, self.across, self.up, codes)
        levels = reached(self.scores, LEVELS if self.margins else (0.0,))
        if 0.0 not in levels:  # margins without a boundary are rounding: f is -1 or 1 everywhere, up to a tolerance
            return []
        styles = ["solid" if level == 0 else "dashed" for level in levels]
        lines = {"levels": levels, "colors": "black", "linestyles": styles, "linewidths": 1.0}
        return axes.contour(self.across, self.up, self.scores, **lines)

    def _title(self, codes: NDArray[Any]) -> str:
        if codes.min() == codes.max():
            return titled(self.name, "one class everywhere")
        if self.scores is None:
            return titled(self.name, "what is predicted where")
        dashed = self.boundary_ and len(self.boundary_.levels) > 1
        return titled(self.name, "where f = 0" + ", and dashed f = -1 and 1" * bool(dashed))

    def _checked(self) -> tuple[Plane, NDArray[Any], NDArray[np.intp]]:
        plane = Plane.of(self.X)
        rings = np.zeros(0, np.intp) if self.support is None else np.asarray(self.support, dtype=np.intp)
        if len(rings) and not 0 <= rings.min() <= rings.max() < len(plane.values):
            needs, got = "the rows of the fit, of which support_ has the numbers", f"got {len(plane.values)} rows"
            raise InputError(message(needs, got, "Give these rows, or use support=False."))
        if self.scores is not None and not np.isfinite(self.scores).all():
            raise InputError(message("finite scores", "got NaN or infinity", "Scale the columns."))
        return plane, labels_of(self.y, len(plane.values)), rings


def _scores(model: Predictor, places: Any, shape: tuple[int, int]) -> NDArray[Any] | None:
    """One score per place; None for models that have none, or one per class."""
    if not hasattr(model, "decision_function"):
        return None
    found = np.asarray(model.decision_function(places))
    return found.reshape(shape) if found.size == shape[0] * shape[1] else None


def reached(scores: NDArray[Any], levels: Sequence[float]) -> list[float]:
    """The levels that are reached: where a function is constant, its values differ by rounding."""
    low, high = float(scores.min()), float(scores.max())
    noise = ROUNDING * max(abs(low), abs(high))
    return [level for level in levels if low + noise < level < high - noise]


def has_margins(learner: object) -> bool:
    """Whether -1 and 1 are margins of this classifier: one with the hinge loss, or with support vectors and a price."""
    if str(getattr(learner, "loss", "")).endswith("hinge"):
        return True
    priced = any(hasattr(learner, name) for name in ("C", "nu"))
    return priced and hasattr(learner, "support_") and hasattr(learner, "classes_")


def _ringed(axes: Any, rows: NDArray[Any], name: str) -> Any:
    if not len(rows):
        return None
    rings = {"facecolors": "none", "edgecolors": "black", "linewidths": 0.8, "zorder": 3}
    return axes.scatter(*rows.T, s=55, label=f"{name} ({len(rows)})", **rings)
