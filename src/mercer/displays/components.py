"""Rows where two components see them."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.displays.base import Display, found, name_of, titled
from mercer.displays.colours import SCALE, colours
from mercer.errors import InputError, message, number_of, speaks

MAX_LABELS = 20
"""Different numbers in y that are labels still; more are a quantity, with a scale of colours."""


@dataclass(eq=False, repr=False)
class ComponentsDisplay(Display):
    """The scores of rows on two components, one colour per label.

    Parameters
    ----------
    scores : array of shape (n, 2)
        The scores.
    y : array of shape (n,) or None, default=None
        Labels, or numbers: more than 20 different numbers are drawn as a scale; None for one colour.
    names : (str, str), default=('component 1', 'component 2')
        Names of the two components.
    name : str, default=""
        Of the model, in the title.

    Attributes
    ----------
    ax_ : Axes
        The axes.
    figure_ : Figure
        Their figure.
    points_ : list of PathCollection
        One per label, in the order of `labels_`; one for all where y is None or a quantity.
    labels_ : array or None
        The different labels, None where there are none.
    legend_ : Legend, Colorbar or None
        The legend of labels, or the bar of a scale; None where y is None.

    Examples
    --------
    >>> from mercer.displays import ComponentsDisplay
    >>> drawn = ComponentsDisplay([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]], y=["a", "b", "a"]).plot()
    >>> [len(points.get_offsets()) for points in drawn.points_]
    [2, 1]
    """

    scores: ArrayLike
    _: KW_ONLY
    y: ArrayLike | None = None
    names: tuple[str, str] = ("component 1", "component 2")
    name: str = ""
    points_: list[Any] = field(init=False, default_factory=list)
    labels_: NDArray[Any] | None = field(init=False, default=None)
    legend_: Any = field(init=False, default=None)

    @classmethod
    @speaks
    def from_estimator(
        cls,
        model: object,
        X: Any,
        y: ArrayLike | None = None,
        *,
        components: tuple[int, int] = (0, 1),
        style: str = "page",
        ax: Any = None,
    ) -> Self:
        """Draw two columns of `model.transform(X)`; their ratios stand beside them.

        Parameters
        ----------
        model : estimator
            A fitted transformer.
        X : array or table
            The rows.
        y : array of shape (n,) or None, default=None
            As in the class.
        components : (int, int), default=(0, 1)
            The two columns, from 0.
        style : {"page", "slide"}, default="page"
            For a page; or sixteen to nine with large letters and thick lines, for a slide.
        ax : Axes or None, default=None
            Where to draw; None for new axes.

        Returns
        -------
        Self
        """
        scores = np.asarray(found(model, "transform", "Use a fitted KernelPCA.")(X))
        chosen = _chosen(components, scores.shape[1])
        ratios = getattr(model, "explained_variance_ratio_", None)
        first, second = (_name(place, None if ratios is None else ratios[place]) for place in chosen)
        return cls(scores[:, chosen], y=y, names=(first, second), name=name_of(model)).plot(ax, style=style)

    def _plot(self, ax: Any) -> None:
        scores, y = self._checked()
        axes = self._begin(ax)
        self.points_, self.labels_, self.legend_ = [], None, None
        axes.set(xlabel=self.names[0], ylabel=self.names[1])
        title = titled(self.name, "rows on two components")
        if y is None:
            self.points_ = [axes.scatter(*scores.T, s=12)]
        elif y.dtype.kind in "fiu" and len(np.unique(y)) > MAX_LABELS:
            self.points_ = [axes.scatter(*scores.T, s=12, c=y, cmap=SCALE)]
            self.legend_ = axes.figure.colorbar(self.points_[0], ax=axes)
            self._finish(axes, title, self.legend_.ax)
            return
        else:
            self._by_label(axes, scores, y)
        self.legend_ = self._finish(axes, title)

    def _by_label(self, axes: Any, scores: NDArray[Any], y: NDArray[Any]) -> None:
        self.labels_ = np.unique(y)
        for label, colour in zip(self.labels_, colours(len(self.labels_)), strict=True):
            self.points_.append(axes.scatter(*scores[y == label].T, s=12, color=[colour], label=str(label)))

    def _checked(self) -> tuple[NDArray[Any], NDArray[Any] | None]:
        scores = np.asarray(self.scores)
        if scores.ndim != 2 or scores.shape[1] != 2:
            got = f"got an array of shape {scores.shape}"
            raise InputError(message("two scores per row", got, "Choose two columns."))
        y = None if self.y is None else np.asarray(self.y)
        if y is not None and y.shape != (len(scores),):
            got = f"y has shape {y.shape} for {number_of(len(scores), 'row')}"
            raise InputError(message("one label per row", got, "Give y for the rows of X."))
        return scores, y


def _chosen(components: tuple[int, int], count: int) -> list[int]:
    chosen = list(components)
    if len(chosen) != 2 or not all(isinstance(place, int | np.integer) and 0 <= place < count for place in chosen):
        needs, got = f"two components from 0 to {count - 1}", f"got {components}"
        remedy = "Fit a model with more components, or choose others."
        raise InputError(message(needs, got, remedy))
    return chosen


def _name(place: int, ratio: float | None) -> str:
    return f"component {place + 1}" + ("" if ratio is None else f" ({100 * ratio:.3g} %)")
