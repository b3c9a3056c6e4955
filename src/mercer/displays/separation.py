"""Which lifts separate two classes: a panel for each, with the plane that it has for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.displays.base import Display
from mercer.displays.boundary import reached
from mercer.displays.colours import colours
from mercer.displays.plane import Plane, check_grid, labels_of
from mercer.displays.regions import coloured, scattered, told_apart
from mercer.errors import InputError, message, speaks

MAX_PANELS_PER_ROW = 3
ANSWERS = {"yes": "separates", "no": "does not separate", "not resolved": "not resolved"}


@dataclass(eq=False, repr=False)
class SeparationDisplay(Display):
    """One panel per lift: the rows, and the boundary w.phi(x) + b = 0 of the plane that separates them, if one does.

    Where no plane does, the boundary is that of a plane with the least sum of violations, max(0, 1 - y (w.phi(x) + b)),
    and the rows on its wrong side are ringed. That plane may have all rows on one side: then there is no boundary.

    Parameters
    ----------
    X : array or DataFrame of shape (n, 2)
        The rows; names of a frame stand at the axes.
    y : array of shape (n,)
        Their labels, of two classes.
    across, up : array
        Places along both axes.
    names : sequence of str
        Of the lifts.
    scores : array of shape (lifts, len(up), len(across))
        w.phi + b of each lift at each place: positive for the second class.
    answers : sequence of {"yes", "no", "not resolved"}
        Whether each lift separates the rows.
    wrong : sequence of array of int
        For each lift the positions of the rows that are on the wrong side of its plane.

    Attributes
    ----------
    ax_ : Axes
        The axes of the first panel.
    figure_ : Figure
        Their figure.
    axes_ : list of Axes
        One per lift.
    labels_ : array
        The two labels.
    points_ : list of list of PathCollection
        For each panel one per label.
    boundaries_ : list of ContourSet or None
        One per lift; None where all places are on one side.
    wrong_ : list of PathCollection or None
        The rings, one collection per panel; None where every row is on its side.
    legend_ : Legend
        Names the labels and the rings.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.displays import SeparationDisplay
    >>> from mercer.lifts import Parabolic
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(80, 2))
    >>> y = np.where((X**2).sum(axis=1) < 0.5, "within", "outside")
    >>> drawn = SeparationDisplay.from_lifts({"lines": "linear", "circles": Parabolic()}, X, y, grid=40)
    >>> [axes.get_title() for axes in drawn.axes_]
    ['lines: does not separate', 'circles: separates']
    """

    X: Any
    y: ArrayLike
    across: NDArray[Any]
    up: NDArray[Any]
    names: Sequence[str]
    scores: NDArray[Any]
    answers: Sequence[str]
    wrong: Sequence[ArrayLike]
    _: KW_ONLY
    axes_: list[Any] = field(init=False, default_factory=list)
    labels_: NDArray[Any] | None = field(init=False, default=None)
    points_: list[list[Any]] = field(init=False, default_factory=list)
    boundaries_: list[Any] = field(init=False, default_factory=list)
    wrong_: list[Any] = field(init=False, default_factory=list)
    legend_: Any = field(init=False, default=None)

    @classmethod
    @speaks
    def from_lifts(
        cls, lifts: Mapping[str, Any], X: Any, y: ArrayLike, *, grid: int = 200, style: str = "page", ax: Any = None
    ) -> Self:
        """Ask each lift whether it separates the rows, and draw the plane that it has for them.

        Cost: that of `mercer.separable`, and where it says no a linear programme of n rows and violations.

        Parameters
        ----------
        lifts : dict of str to Lift, Kernel, str, list of str or callable
            By name, as in `mercer.separable`: a lift or another transformer, which is cloned; a kernel or its text;
            formulas of the columns; or a function of all rows that returns a column per feature. A kernel without a
            finite lift has the features k(x, x_j) of the rows.
        X : array or DataFrame of shape (n, 2)
            The rows.
        y : array of shape (n,)
            Their labels, of two classes.
        grid : int, default=200
            Places along each axis.
        style : {"page", "slide"}, default="page"
            For a page; or sixteen to nine with large letters and thick lines, for a slide.
        ax : array of Axes or None, default=None
            Where to draw, one axes per lift; None for new axes.

        Returns
        -------
        Self
        """
        from mercer.displays.separating_planes import plane_of  # it loads scikit-learn

        plane = Plane.of(X)
        labels = labels_of(y, len(plane.values))
        _refuse_other_than_two(labels)
        check_grid(grid)
        if not isinstance(lifts, Mapping) or not lifts:
            got = "got none" if isinstance(lifts, Mapping) else f"got {type(lifts).__name__}"
            raise InputError(message("lifts by name", got, 'Use {"A": "linear", "B": Parabolic()}, say.'))
        across, up, places = plane.grid(grid)
        found = [plane_of(lift, X, labels, places) for lift in lifts.values()]
        scores = np.array([each.scores.reshape(len(up), len(across)) for each in found])
        names, answers = [str(name) for name in lifts], [each.answer for each in found]
        return cls(X, labels, across, up, names, scores, answers, [each.wrong for each in found]).plot(ax, style=style)

    def _plot(self, ax: Any) -> None:
        plane, y = self._checked()
        self.labels_ = told_apart(y)
        self.axes_ = self._begin_several(ax, len(self.names), MAX_PANELS_PER_ROW)
        self.points_, self.boundaries_, self.wrong_ = [], [], []
        shades = colours(2)
        for axes, name, scores, answer, wrong in zip(
            self.axes_, self.names, self.scores, self.answers, self.wrong, strict=True
        ):
            coloured(axes, self.across, self.up, (scores > 0).astype(int), shades)
            line = {"levels": [0.0], "colors": "black", "linewidths": 1.5}
            self.boundaries_.append(
                axes.contour(self.across, self.up, scores, **line) if reached(scores, [0.0]) else None
            )
            self.points_.append(scattered(axes, plane.values, y, self.labels_, shades))
            self.wrong_.append(_ringed(axes, plane.values[np.asarray(wrong, dtype=np.intp)]))
            self._finish(axes, f"{name}: {ANSWERS[answer]}", legend=False)
            self._name_axes(axes, *plane.names)
        self.legend_ = self._shared_legend(self.axes_)

    def _name_axes(self, axes: Any, across: str, up: str) -> None:
        """Names at the outer axes alone, where panels share theirs."""
        place = self.axes_.index(axes)
        if not self._own or place % MAX_PANELS_PER_ROW == 0:
            axes.set_ylabel(up)
        if not self._own or axes.get_subplotspec().is_last_row():
            axes.set_xlabel(across)

    def _checked(self) -> tuple[Plane, NDArray[Any]]:
        plane, count = Plane.of(self.X), len(self.names)
        if not count or not len(self.scores) == len(self.answers) == len(self.wrong) == count:
            got = f"got {count}, {len(self.scores)}, {len(self.answers)} and {len(self.wrong)}"
            raise InputError(message("names, scores, answers and wrong rows of each lift", got, "Use from_lifts."))
        if not set(self.answers) <= ANSWERS.keys():
            raise InputError(
                message(f"answers of {', '.join(map(repr, ANSWERS))}", f"got {self.answers}", "Use from_lifts.")
            )
        if not np.isfinite(self.scores).all():
            raise InputError(message("finite scores", "got NaN or infinity", "Scale the columns."))
        y = labels_of(self.y, len(plane.values))
        _refuse_other_than_two(y)
        return plane, y


def _refuse_other_than_two(labels: NDArray[Any]) -> None:
    known = np.unique(labels)
    if len(known) != 2:
        raise InputError(message("two classes", f"got {len(known)}", "Ask for one against the rest: y == y[0]."))


def _ringed(axes: Any, rows: NDArray[Any]) -> Any:
    if not len(rows):
        return None
    rings = {"facecolors": "none", "edgecolors": "black", "linewidths": 0.8}
    return axes.scatter(*rows.T, s=45, label="on the wrong side", **rings)
