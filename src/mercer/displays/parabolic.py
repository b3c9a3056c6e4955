"""The lift to a paraboloid: where a circle becomes a plane."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.displays.base import Display, check_fitted, found, name_of, titled
from mercer.displays.colours import colours
from mercer.displays.estimators import Predictor
from mercer.displays.lifted import Circle, Level, cut, read_level
from mercer.displays.plane import MARGIN_SHARE, Plane, labels_of
from mercer.displays.regions import told_apart
from mercer.errors import InputError, message, speaks

MESH_LINES = 30
"""Lines of the paraboloid along each column."""


@dataclass(eq=False, repr=False)
class ParabolicDisplay(Display):
    """Rows on the paraboloid (x1, x2, x1^2 + x2^2), the plane that separates them there, and its circle below.

    w.phi(x) + b = 0 is a plane in three dimensions. It cuts the paraboloid in a curve, and that lies above a circle
    (above a line, where the plane is upright): the boundary in the plane of the rows.

    Parameters
    ----------
    X : array or DataFrame of shape (n, 2)
        The rows; names of a frame stand at the axes.
    y : array of shape (n,)
        Their labels.
    weights : array of shape (3,)
        Of x1, x2 and x1^2 + x2^2.
    intercept : float
        b.
    name : str, default=""
        Of the model, in the title.

    Attributes
    ----------
    ax_ : Axes3D
        The axes.
    figure_ : Figure
        Their figure.
    labels_ : array
        The different labels.
    points_ : list
        Lifted rows, one collection per label.
    shadows_ : list
        The rows themselves, on the floor, likewise.
    surface_ : Poly3DCollection
        The paraboloid.
    plane_ : Poly3DCollection or None
        The polygon of the plane in the box of the axes; None where the plane misses the box.
    circle_ : Line3D or None
        Its circle, or line, on the floor; None where there is none.
    cut_ : Line3D or None
        The same on the paraboloid.
    legend_ : Legend
        Names the labels and the circle.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelSVC
    >>> from mercer.displays import ParabolicDisplay
    >>> angle = np.linspace(0, 6, 20)
    >>> ring = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> X, y = np.vstack([ring, 3 * ring]), np.repeat(["inner", "outer"], 20)
    >>> drawn = ParabolicDisplay.from_estimator(KernelSVC("parabolic", C=100).fit(X, y), X, y)
    >>> round(float(drawn.weights[2]), 2), round(drawn.intercept, 2)
    (0.25, -1.25)
    """

    X: Any
    y: ArrayLike
    weights: ArrayLike
    intercept: float
    _: KW_ONLY
    name: str = ""
    labels_: NDArray[Any] | None = field(init=False, default=None)
    points_: list[Any] = field(init=False, default_factory=list)
    shadows_: list[Any] = field(init=False, default_factory=list)
    surface_: Any = field(init=False, default=None)
    plane_: Any = field(init=False, default=None)
    circle_: Any = field(init=False, default=None)
    cut_: Any = field(init=False, default=None)
    legend_: Any = field(init=False, default=None)

    @classmethod
    @speaks
    def from_estimator(
        cls, model: Predictor, X: Any, y: ArrayLike | None = None, *, style: str = "page", ax: Any = None
    ) -> Self:
        """Draw a fitted classifier that is linear on the lift, such as `KernelSVC("parabolic")`.

        The plane is read from its decision function, which is computed at some places around the rows; where that is
        not linear on the lift, an error says so.

        Parameters
        ----------
        model : estimator
            The fitted classifier, or a pipeline with it.
        X : array or DataFrame of shape (n, 2)
            The rows.
        y : array of shape (n,) or None, default=None
            Their labels; None for those that the model predicts.
        style : {"page", "slide"}, default="page"
            For a page; or sixteen to nine with large letters and thick lines, for a slide.
        ax : Axes3D or None, default=None
            Where to draw; None for new axes.

        Returns
        -------
        Self
        """
        plane = Plane.of(X)
        check_fitted(model, 2)
        decide = found(model, "decision_function", "Use a classifier that has one.")
        level = read_level(plane, decide)
        labels = model.predict(X) if y is None else y
        return cls(X, labels, level.weights, level.intercept, name=name_of(model)).plot(ax, style=style)

    def _plot(self, ax: Any) -> None:
        plane, y, level = self._checked(ax)
        self.labels_ = told_apart(y)
        axes = self._begin(ax, "3d")
        low, high = _box(plane.values)
        self._draw_surface(axes, low, high)
        self._draw_rows(axes, plane.values, y)
        self._draw_level(axes, level, low, high)
        axes.set(xlabel=plane.names[0], ylabel=plane.names[1], zlabel=f"{plane.names[0]}² + {plane.names[1]}²")
        axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), zlim=(low[2], high[2]))
        axes.view_init(elev=18, azim=-60)
        for axis in ("x", "y", "z"):
            axes.locator_params(axis=axis, nbins=5)
        self.legend_ = self._finish(axes, titled(self.name, "a plane above, its circle below"))

    def _draw_surface(self, axes: Any, low: NDArray[Any], high: NDArray[Any]) -> None:
        across, up = np.meshgrid(*(np.linspace(low[k], high[k], MESH_LINES) for k in (0, 1)))
        style = {"color": "0.6", "linewidth": 0.4, "alpha": 0.5}
        squares = across**2 + up**2
        self.surface_ = axes.plot_wireframe(across, up, np.where(squares <= high[2], squares, np.nan), **style)

    def _draw_rows(self, axes: Any, rows: NDArray[Any], y: NDArray[Any]) -> None:
        floor, self.points_, self.shadows_ = _box(rows)[0][2], [], []
        for label, colour in zip(np.asarray(self.labels_), colours(len(np.asarray(self.labels_))), strict=True):
            one, two = rows[y == label].T.astype(float)
            self.points_.append(axes.scatter(one, two, one**2 + two**2, s=14, color=[colour], label=str(label)))
            self.shadows_.append(axes.scatter(one, two, np.full(len(one), floor), s=5, color=[colour], alpha=0.4))

    def _draw_level(self, axes: Any, level: Level, low: NDArray[Any], high: NDArray[Any]) -> None:
        from mpl_toolkits.mplot3d.art3d import Poly3DCollection  # type: ignore[import-untyped]  # it comes with matplotlib

        self.plane_ = self.circle_ = self.cut_ = None
        corners = cut(level, low, high)
        if len(corners):
            self.plane_ = Poly3DCollection([corners], facecolor="tab:green", edgecolor="tab:green", alpha=0.25)
            axes.add_collection3d(self.plane_)
        circle = Circle.of(level, low, high)
        if circle is not None:
            one, two = circle.points.T
            (self.circle_,) = axes.plot(one, two, np.full(len(one), low[2]), color="black", label=circle.name)
            (self.cut_,) = axes.plot(one, two, one**2 + two**2, color="tab:green")

    def _checked(self, ax: Any) -> tuple[Plane, NDArray[Any], Level]:
        plane = Plane.of(self.X)
        if ax is not None and getattr(ax, "name", "") != "3d":
            got, remedy = "got others", 'Use figure.add_subplot(projection="3d").'
            raise InputError(message("axes of three dimensions", got, remedy))
        level = Level.checked(self.weights, self.intercept)
        return plane, labels_of(self.y, len(plane.values)), level


def _box(rows: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The lowest and the highest corner of the axes: all rows, and their squares."""
    values = rows.astype(float)
    low, high = values.min(axis=0), values.max(axis=0)
    width = np.where(high > low, high - low, 1.0)
    squares = np.square(values).sum(axis=1)
    deep = squares.max() - squares.min() if squares.max() > squares.min() else 1.0
    margin = 3 * MARGIN_SHARE * deep
    return np.append(low - MARGIN_SHARE * width, squares.min() - margin), np.append(
        high + MARGIN_SHARE * width, squares.max() + margin
    )
