"""The steps of a perceptron: its boundary after each mistake."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.displays.animation import checked, chosen_steps, written
from mercer.displays.base import Display, before_last, check_fitted, found, last_step, name_of, titled
from mercer.displays.colours import SCALE, colours
from mercer.displays.plane import Plane, check_grid, labels_of
from mercer.displays.regions import coloured, scattered, told_apart
from mercer.errors import InputError, message, speaks

MAX_BOUNDARIES = 12
"""Boundaries that are drawn, at most, where no other number is asked for."""


@dataclass(eq=False, repr=False)
class StepsDisplay(Display):
    """The boundaries of a perceptron after some of its mistakes, from pale to dark, and the rows that moved it.

    Parameters
    ----------
    X : array or DataFrame of shape (n, 2)
        The rows; names of a frame stand at the axes.
    y : array of shape (n,)
        Their labels.
    across, up : array
        Places along both axes.
    scores : array of shape (steps, len(up), len(across))
        f after some mistakes, at each place.
    mistakes : array of shape (steps,)
        After how many mistakes that was.
    misclassified : array of int, default=()
        Positions of the misclassified rows, in order; they are ringed, the larger the more often.
    name : str, default=""
        Of the model, in the title.

    Attributes
    ----------
    ax_ : Axes
        The axes.
    figure_ : Figure
        Their figure.
    labels_ : array
        The different labels.
    points_ : list of PathCollection
        One per label.
    boundaries_ : list of ContourSet or None
        The contours f = 0, one set per step; None for a step that has none among the places.
    misclassified_ : PathCollection or None
        The rings; None where there are none.
    bar_ : Colorbar or None
        The scale of colours, by mistakes; None of one step.
    legend_ : Legend
        Names the labels.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Perceptron
    >>> from mercer.displays import StepsDisplay
    >>> X, y = np.array([[0.0, 0.0], [0.0, 1.0], [2.0, 0.0], [2.0, 1.0]]), ["left", "left", "right", "right"]
    >>> model = Perceptron(max_iter=100).fit(X, y)
    >>> drawn = StepsDisplay.from_estimator(model, X, y, grid=20)
    >>> int(drawn.mistakes[-1]) == int(model.history_.sum())
    True
    """

    X: Any
    y: ArrayLike
    across: NDArray[Any]
    up: NDArray[Any]
    scores: NDArray[Any]
    mistakes: ArrayLike
    _: KW_ONLY
    misclassified: ArrayLike = ()
    name: str = ""
    labels_: NDArray[Any] | None = field(init=False, default=None)
    points_: list[Any] = field(init=False, default_factory=list)
    boundaries_: list[Any] = field(init=False, default_factory=list)
    misclassified_: Any = field(init=False, default=None)
    bar_: Any = field(init=False, default=None)
    legend_: Any = field(init=False, default=None)

    @classmethod
    @speaks
    def from_estimator(
        cls,
        model: object,
        X: Any,
        y: ArrayLike,
        *,
        boundaries: int = MAX_BOUNDARIES,
        grid: int = 100,
        style: str = "page",
        ax: Any = None,
    ) -> Self:
        """Draw a fitted perceptron of two classes, or a pipeline that ends with one, and the rows of its fit.

        A perceptron stores its mistakes in order, so that nothing is fitted again. Cost: the kernel between grid^2
        places and the misclassified rows.

        Parameters
        ----------
        model : estimator
            The fitted perceptron.
        X : array or DataFrame of shape (n, 2)
            The rows of its fit.
        y : array of shape (n,)
            Their labels.
        boundaries : int, default=12
            How many are drawn, at most: of more mistakes so many, in equal distances, the last among them.
        grid : int, default=100
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
        learner = last_step(model)
        course = _course(learner)
        across, up, places = plane.grid(grid)
        mistakes = course.mistakes
        marks = _marks(len(mistakes), boundaries)
        steps = np.zeros((len(course.numbers), len(marks)))
        for k, mark in enumerate(marks):
            np.add.at(steps[:, k], mistakes.rows[:mark], mistakes.updates(1)[:mark, 0])
        values = np.asarray(course.view.cross(learner._read(before_last(model, places), reset=False)) @ steps)
        scores = values.T.reshape(len(marks), len(up), len(across))
        rows = course.numbers[mistakes.rows]
        return cls(X, y, across, up, scores, marks, misclassified=rows, name=name_of(model)).plot(ax, style=style)

    def _plot(self, ax: Any) -> None:
        plane, y, misclassified = self._checked()
        self.labels_ = told_apart(y)
        axes = self._begin(ax)
        self._draw_boundaries(axes)
        self.points_ = scattered(axes, plane.values, y, self.labels_, colours(len(self.labels_)))
        rows, often = np.unique(misclassified, return_counts=True)
        self.misclassified_ = _ringed(axes, plane.values[rows], often) if len(rows) else None
        axes.set(xlabel=plane.names[0], ylabel=plane.names[1])
        count = int(np.asarray(self.mistakes)[-1])
        sees = f"the boundary after each of {count:,} mistakes" if count > 1 else "the boundary after one mistake"
        self.legend_ = self._finish(axes, titled(self.name, sees), None if self.bar_ is None else self.bar_.ax)

    @speaks
    def animate(self, path: str | Path, *, frames: int = 40, seconds: float = 0.7, style: str = "slide") -> Path:
        """Write the mistakes one after another: the row, the boundary after it, and those before, from pale to dark.

        Nothing else is written, and nothing is fetched when the file is shown. Cost: a drawing per frame.

        Parameters
        ----------
        path : str or Path
            A file that ends with .gif; or with .html, for a page with a slider that needs no other file.
        frames : int, default=40
            Pictures, at most 200; of more boundaries than that some are left out.
        seconds : float, default=0.7
            How long each is shown.
        style : {"page", "slide"}, default="slide"
            As in `plot`.

        Returns
        -------
        Path
        """
        file = checked(path, frames, seconds)
        shown = copy(self).plot(style=style)
        drawn = shown._one_by_one(frames)
        return written(file, shown.figure_, drawn, seconds, titled(self.name, "its mistakes one by one"))

    def _one_by_one(self, frames: int) -> Iterator[None]:
        """Change the picture: before the first mistake, then after each."""
        plane, _, misclassified = self._checked()
        marks, k = np.asarray(self.mistakes), self._look.scale
        regions = coloured(self.ax_, self.across, self.up, np.zeros(self.scores[0].shape, int), colours(2))
        ring = {"s": 40 * k * k, "facecolors": "none", "edgecolors": "black", "linewidths": 1.2 * k, "zorder": 3}
        row = self.ax_.scatter([], [], **ring)
        for each in (regions, self.misclassified_, *self.boundaries_):
            if each is not None:
                each.set_visible(False)
        if len(misclassified):
            self.legend_.get_texts()[-1].set_text("the row of this mistake")
        self._tell(0)
        yield
        for place in chosen_steps(len(marks) - 1, frames - 1):
            self._show_boundaries(place)
            regions.set(array=(self.scores[place] > 0).astype(int), visible=True)
            if len(misclassified) >= marks[place]:
                row.set_offsets(plane.values[misclassified[marks[place] - 1]])
            self._tell(marks[place])
            yield

    def _tell(self, count: int) -> None:
        total = np.asarray(self.mistakes)[-1]
        self.ax_.title.set_text(titled(self.name, f"after {count:,} of {total:,} mistakes"))

    def _show_boundaries(self, place: int) -> None:
        """The last in black, those before as thin as they were."""
        for k, boundary in enumerate(self.boundaries_[: place + 1]):
            if boundary is not None:
                colour, thick = ("black", 2.0) if k == place else (self._shade(k), 0.9)
                boundary.set(visible=True, edgecolor=colour, linewidth=thick * self._look.scale)

    def _shade(self, place: int) -> Any:
        """The colour of a mistake, from pale to dark."""
        from matplotlib import colormaps

        marks = np.asarray(self.mistakes, dtype=float)
        return colormaps[f"{SCALE}_r"]((marks[place] - marks[0]) / max(1.0, marks[-1] - marks[0]))

    def _draw_boundaries(self, axes: Any) -> None:
        from matplotlib import colormaps
        from matplotlib.cm import ScalarMappable
        from matplotlib.colors import Normalize
        from matplotlib.ticker import MaxNLocator

        marks = np.asarray(self.mistakes, dtype=float)
        shades, norm = colormaps[f"{SCALE}_r"], Normalize(marks[0], marks[-1])
        self.boundaries_, self.bar_ = [], None
        for mark, scores in zip(marks, self.scores, strict=True):
            last = mark == marks[-1]
            style = {"colors": ["black" if last else shades(norm(mark))], "linewidths": 2.0 if last else 0.9}
            reached = scores.min() < 0 < scores.max()
            self.boundaries_.append(
                axes.contour(self.across, self.up, scores, levels=[0], **style) if reached else None
            )
        if len(marks) > 1:
            whole = MaxNLocator(integer=True)
            self.bar_ = axes.figure.colorbar(ScalarMappable(norm, shades), ax=axes, label="mistakes", ticks=whole)

    def _checked(self) -> tuple[Plane, NDArray[Any], NDArray[np.intp]]:
        plane = Plane.of(self.X)
        misclassified = np.asarray(self.misclassified, dtype=np.intp)
        if len(misclassified) and not 0 <= misclassified.min() <= misclassified.max() < len(plane.values):
            got = f"got {len(plane.values)} rows"
            raise InputError(message("the rows of the fit", got, "Give X and y as in fit."))
        if not len(self.scores) or len(self.scores) != len(np.asarray(self.mistakes)):
            got = f"got {len(self.scores)} for {len(np.asarray(self.mistakes))} marks"
            raise InputError(message("the scores of one step or more", got, "Use from_estimator."))
        return plane, labels_of(self.y, len(plane.values)), misclassified


def _course(model: object) -> Any:
    """What a perceptron remembers; more than two classes have no one boundary, and on a budget it forgets mistakes."""
    course = getattr(model, "_state", None)
    if course is None:
        got = f"got {type(model).__name__}"
        raise InputError(message("a perceptron", got, "Use Perceptron or KernelPerceptron."))
    if len(classes := found(model, "classes_", "Fit the model first.")) != 2:
        got = f"got {len(classes)}"
        raise InputError(message("two classes", got, "Draw two of them, or use BoundaryDisplay."))
    if course.memory is not None or not len(course.mistakes):
        got = "it made none" if course.memory is None else "it had a budget, and forgot them"
        raise InputError(message("a perceptron that remembers its mistakes", got, "Use budget=None."))
    return course


def _marks(count: int, most: int) -> NDArray[np.intp]:
    if isinstance(most, bool) or not isinstance(most, int | np.integer) or most < 1:
        raise InputError(message("a positive number of boundaries", f"got {most}", "Use boundaries=12."))
    return np.unique(np.round(np.linspace(count, 1, min(count, most))).astype(np.intp))


def _ringed(axes: Any, rows: NDArray[Any], often: NDArray[Any]) -> Any:
    sizes = 40.0 * (1 + np.log(often))
    rings = {"facecolors": "none", "edgecolors": "black", "linewidths": 0.8, "zorder": 3}
    return axes.scatter(*rows.T, s=sizes, label=f"misclassified rows ({len(rows)})", **rings)
