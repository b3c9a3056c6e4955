"""Which part of a plane belongs to which cluster."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.displays.base import Display, found, name_of, titled
from mercer.displays.colours import colours
from mercer.displays.estimators import Predictor
from mercer.displays.plane import Plane, check_grid
from mercer.displays.regions import coloured, parted, told_apart
from mercer.errors import InputError, message, number_of, speaks


@dataclass(eq=False, repr=False)
class ClusterDisplay(Display):
    """Rows of two columns in the colours of their clusters, and the regions of the clusters where a model has them.

    Parameters
    ----------
    X : array or DataFrame of shape (n, 2)
        The rows; names of a frame stand at the axes.
    labels : array of shape (n,)
        The clusters of the rows.
    across, up : array or None, default=None
        Places along both axes; None without regions.
    regions : array of shape (len(up), len(across)) or None, default=None
        A label for each place; None without regions.
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
    regions_ : QuadMesh or None
        The coloured regions, None without regions.
    boundaries_ : list of ContourSet
        The contours between regions, one set per label that has a boundary.
    legend_ : Legend
        Names the clusters, above the axes.

    Examples
    --------
    >>> from mercer.displays import ClusterDisplay
    >>> drawn = ClusterDisplay([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]], labels=[0, 1, 1]).plot()
    >>> [len(points.get_offsets()) for points in drawn.points_]
    [1, 2]
    """

    X: Any
    labels: ArrayLike
    _: KW_ONLY
    across: NDArray[Any] | None = None
    up: NDArray[Any] | None = None
    regions: NDArray[Any] | None = None
    name: str = ""
    labels_: NDArray[Any] | None = field(init=False, default=None)
    points_: list[Any] = field(init=False, default_factory=list)
    regions_: Any = field(init=False, default=None)
    boundaries_: list[Any] = field(init=False, default_factory=list)
    legend_: Any = field(init=False, default=None)

    @classmethod
    @speaks
    def from_estimator(cls, model: Predictor, X: Any, *, style: str = "page", ax: Any = None, grid: int = 200) -> Self:
        """Draw the clusters that a fitted model predicts on a grid, and for the rows.

        A model that cannot predict, such as spectral clustering, gives the labels of the rows that it was fitted to.

        Parameters
        ----------
        model : estimator
            The fitted model. One that cannot predict, such as spectral clustering, draws the labels of the rows of its
            fit.
        X : array or DataFrame of shape (n, 2)
            The rows.
        style : {"page", "slide"}, default="page"
            For a page; or sixteen to nine with large letters and thick lines, for a slide.
        ax : Axes or None, default=None
            Where to draw; None for new axes.
        grid : int, default=200
            Places along each axis.

        Returns
        -------
        Self
        """
        plane = Plane.of(X)
        if not hasattr(model, "predict"):
            return cls(X, found(model, "labels_", "Fit the model first."), name=name_of(model)).plot(ax, style=style)
        check_grid(grid)
        across, up, places = plane.grid(grid)
        regions = np.asarray(model.predict(places)).reshape(len(up), len(across))
        return cls(X, model.predict(X), across=across, up=up, regions=regions, name=name_of(model)).plot(
            ax, style=style
        )

    def _plot(self, ax: Any) -> None:
        plane, labels = self._checked()
        seen = [labels] if self.regions is None else [labels, self.regions]
        self.labels_ = told_apart(*seen)
        axes = self._begin(ax)
        shades = colours(len(self.labels_))
        self.regions_, self.boundaries_ = None, []
        if self.regions is not None:
            self._draw_regions(axes, shades)
        chosen = [plane.values[labels == label] for label in self.labels_]
        self.points_ = [
            axes.scatter(*rows.T, s=12, color=[shade], edgecolors="white", linewidths=0.3, label=str(label))
            for rows, shade, label in zip(chosen, shades, self.labels_, strict=True)
        ]
        axes.set(xlabel=plane.names[0], ylabel=plane.names[1])
        count = len(self.labels_)
        self.legend_ = self._finish(axes, titled(self.name, f"{count} group{'s' * (count > 1)}"))

    def _draw_regions(self, axes: Any, shades: list[Any]) -> None:
        codes = np.searchsorted(np.asarray(self.labels_), np.asarray(self.regions))
        self.regions_ = coloured(axes, self.across, self.up, codes, shades)
        self.boundaries_ = parted(axes, self.across, self.up, codes)

    def _checked(self) -> tuple[Plane, NDArray[Any]]:
        plane, labels = Plane.of(self.X), np.asarray(self.labels)
        if labels.shape != (len(plane.values),):
            got = f"got labels of shape {labels.shape} for {number_of(len(plane.values), 'row')}"
            raise InputError(message("one label per row", got, "Draw the rows of the fit."))
        return plane, labels
