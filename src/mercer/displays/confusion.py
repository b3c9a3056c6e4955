"""Which classes are taken for which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.displays.base import SIZE, Display
from mercer.errors import InputError, message, speaks

WRITTEN = 15
"""Up to so many classes the cells hold their counts in digits."""
ROOM = 0.5
"""Inches a class."""
LONG = 20
"""Characters of a label, at most."""


@dataclass(eq=False, repr=False)
class ConfusionDisplay(Display):
    """Rows of a table of counts: the true class; columns: the predicted one. Shades are parts of the true class.

    Parameters
    ----------
    counts : (k, k) whole numbers
    labels : one a class

    Attributes
    ----------
    ax_, figure_ : the axes, and their figure
    image_ : the shades, from 0 to 1 in each row
    texts_ : the counts, where there are at most 15 classes

    Examples
    --------
    >>> from mercer.displays import ConfusionDisplay
    >>> drawn = ConfusionDisplay.from_predictions(["a", "a", "b"], ["a", "b", "b"])
    >>> drawn.counts.tolist(), drawn.image_.get_array().tolist()
    ([[1, 1], [0, 1]], [[0.5, 0.5], [0.0, 1.0]])
    """

    counts: Any
    labels: Sequence[Any]
    image_: Any = field(init=False, default=None)
    texts_: Any = field(init=False, default=())

    @classmethod
    @speaks
    def from_predictions(cls, y: ArrayLike, predicted: ArrayLike, ax: Any = None) -> Self:
        """Count pairs of true and predicted labels, and draw them."""
        labels, places = np.unique(np.concatenate([np.asarray(y), np.asarray(predicted)]), return_inverse=True)
        true, found = np.split(places.ravel(), 2)
        k = len(labels)
        return cls(np.bincount(true * k + found, minlength=k * k).reshape(k, k), labels.tolist()).plot(ax)

    @classmethod
    @speaks
    def from_estimator(cls, model: Any, X: Any, y: ArrayLike, ax: Any = None) -> Self:
        """Draw what a fitted classifier takes the rows of X for."""
        return cls.from_predictions(y, model.predict(X), ax=ax)

    @speaks
    def plot(self, ax: Any = None) -> Self:
        counts = self._checked()
        axes = self._begin(ax)
        shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
        self.image_ = axes.imshow(shares, vmin=0, vmax=1, cmap="Blues")
        written = len(counts) <= WRITTEN
        self.texts_ = [_written(axes, i, j, counts, shares) for i, j in np.ndindex(counts.shape)] if written else ()
        names = [_short(label) for label in self.labels]
        places, size = np.arange(len(names)), 10 if written else 6
        axes.set_xticks(places, names, parse_math=False, rotation=0 if len(names) < 5 else 90, fontsize=size)
        axes.set_yticks(places, names, parse_math=False, fontsize=size)
        axes.set(xlabel="predicted", ylabel="true")
        if self._own:
            side = min(2.5 + ROOM * len(names), SIZE[0] if written else 2 * SIZE[0])
            self.figure_.set_size_inches(side, side - 0.5)
        return self

    def _checked(self) -> NDArray[Any]:
        counts = np.asarray(self.counts)
        if counts.ndim != 2 or counts.shape != (len(self.labels), len(self.labels)) or not len(counts):
            got = f"got counts of shape {counts.shape} for {len(self.labels)} labels"
            raise InputError(message("a row and a column a label", got, "Count all pairs."))
        if counts.dtype.kind not in "iu" or counts.min() < 0:
            got = f"got {counts.dtype} with {counts.min()}"
            raise InputError(message("counts", got, "Give whole numbers from 0 on."))
        return counts


def _written(axes: Any, i: int, j: int, counts: NDArray[Any], shares: NDArray[Any]) -> Any:
    """A count in its cell, light on dark shades."""
    colour = "#ffffff" if shares[i, j] > 0.6 else "#101010"
    return axes.text(j, i, f"{counts[i, j]:,}", ha="center", va="center", color=colour)


def _short(label: Any) -> str:
    text = str(label)
    return text if len(text) <= LONG else text[: LONG - 3] + "..."
