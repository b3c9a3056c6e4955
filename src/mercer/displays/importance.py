"""Which columns a model needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.displays.base import FIGURE_INCHES, Display
from mercer.displays.look import PAGE
from mercer.errors import InputError, message, speaks

MAX_NAME_CHARACTERS = 28
"""Characters of a name, at most."""
INCHES_PER_BAR = 0.28
"""Inches a bar."""


@dataclass(eq=False, repr=False)
class ImportanceDisplay(Display):
    """A bar per column, the most important on top, with the spread over the repeats.

    Parameters
    ----------
    names : sequence of str
        The columns.
    values : array of shape (k,)
        How much worse the score is without each.
    spreads : array of shape (k,) or None, default=None
        Their deviations; None for none.
    metric : str, default="importance"
        What is measured, at the axis.
    most : int or None, default=30
        So many columns are drawn, those of largest value; None for all.

    Attributes
    ----------
    ax_ : Axes
        The axes.
    figure_ : Figure
        Their figure.
    bars_ : BarContainer
        From top to bottom.
    names_ : list of str
        Of the bars, as they are written.

    Examples
    --------
    >>> from mercer.displays import ImportanceDisplay
    >>> drawn = ImportanceDisplay(["size", "town"], [0.1, 0.5], metric="loss of accuracy").plot()
    >>> drawn.names_, [float(bar.get_width()) for bar in drawn.bars_]
    (['town', 'size'], [0.5, 0.1])
    """

    names: Sequence[str]
    values: ArrayLike
    _: KW_ONLY
    spreads: ArrayLike | None = None
    metric: str = "importance"
    most: int | None = 30
    bars_: Any = field(init=False, default=None)
    names_: Any = field(init=False, default=())

    @classmethod
    @speaks
    def from_result(cls, result: Any, names: Sequence[str], *, style: str = "page", ax: Any = None) -> Self:
        """Draw the result of `sklearn.inspection.permutation_importance`.

        Parameters
        ----------
        result : Bunch
            The result.
        names : sequence of str
            The columns.
        style : {"page", "slide"}, default="page"
            For a page; or sixteen to nine with large letters and thick lines, for a slide.
        ax : Axes or None, default=None
            Where to draw; None for new axes.

        Returns
        -------
        Self
        """
        return cls(names, result.importances_mean, spreads=result.importances_std).plot(ax, style=style)

    def _plot(self, ax: Any) -> None:
        values, spreads = self._checked()
        axes = self._begin(ax)
        order = np.argsort(-values, kind="stable")[: self.most]
        self.names_ = [_short(str(self.names[i])) for i in order]
        errors = None if spreads is None else spreads[order]
        places = np.arange(len(order))
        self.bars_ = axes.barh(places, values[order], xerr=errors, ecolor="black", height=0.7)
        axes.axvline(0.0, color="black", linewidth=0.8)
        axes.set_yticks(places, self.names_, parse_math=False)
        axes.invert_yaxis()
        axes.set_xlabel(self.metric, parse_math=False)
        if self._own and self._look is PAGE:
            self.figure_.set_size_inches(FIGURE_INCHES[0], 1.3 + INCHES_PER_BAR * len(order))
        self._finish(
            axes, "the columns that matter most" if len(order) < len(values) else "how much each column matters"
        )

    def _checked(self) -> tuple[NDArray[Any], NDArray[Any] | None]:
        values = np.asarray(self.values, dtype=float)
        spreads = None if self.spreads is None else np.asarray(self.spreads, dtype=float)
        if values.shape != (len(self.names),) or (spreads is not None and spreads.shape != values.shape):
            got = f"got values of shape {values.shape} for {len(self.names)} names"
            raise InputError(message("a value per name", got, "Give one for each column."))
        if not len(values) or not np.isfinite(values).all():
            got = "got NaN or infinity" if len(values) else "got none"
            raise InputError(message("finite values", got, "Measure them again."))
        return values, spreads


def _short(name: str) -> str:
    return name if len(name) <= MAX_NAME_CHARACTERS else name[: MAX_NAME_CHARACTERS - 3] + "..."
