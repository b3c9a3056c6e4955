"""How good models become with more rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.displays.base import Display
from mercer.displays.colours import colours
from mercer.errors import InputError, message, speaks


@dataclass(eq=False, repr=False)
class LearningCurveDisplay(Display):
    """A line a model over the number of rows that it was fitted to, with a band where intervals are known.

    Parameters
    ----------
    sizes : numbers of rows, (k,), growing
    curves : the scores of each model by its name, (k,); NaN where there is none
    bands : by the same names the lower and the upper ends of intervals, (k, 2); models without one have no band
    metric : the name of the score

    Attributes
    ----------
    ax_, figure_ : the axes, and their figure
    lines_ : one a model, by its name
    bands_ : one a model that has intervals, by its name

    Examples
    --------
    >>> from mercer.displays import LearningCurveDisplay
    >>> drawn = LearningCurveDisplay([10, 100], {"ridge": [2.0, 1.0]}, metric="rmse").plot()
    >>> drawn.lines_["ridge"].get_ydata().tolist(), drawn.ax_.get_ylabel()
    ([2.0, 1.0], 'rmse')
    """

    sizes: Sequence[int]
    curves: Mapping[str, ArrayLike]
    bands: Mapping[str, ArrayLike] = field(default_factory=dict)
    metric: str = "score"
    lines_: Any = field(init=False, default=None)
    bands_: Any = field(init=False, default=None)

    @speaks
    def plot(self, ax: Any = None) -> Self:
        sizes, curves = self._checked()
        axes = self._begin(ax)
        self.lines_, self.bands_ = {}, {}
        for (name, values), colour in zip(curves.items(), colours(len(curves)), strict=True):
            (self.lines_[name],) = axes.plot(sizes, values, "o-", color=colour, markersize=4, label=name)
            if name in self.bands:
                low, high = np.asarray(self.bands[name], dtype=float).T
                self.bands_[name] = axes.fill_between(sizes, low, high, color=colour, alpha=0.18, linewidth=0)
        axes.set_xscale("log")
        axes.set_xticks(sizes, [f"{size:,}" for size in sizes], rotation=30)
        axes.minorticks_off()
        axes.set(xlabel="rows fitted", ylabel=self.metric)
        axes.legend(frameon=False)
        return self

    def _checked(self) -> tuple[NDArray[Any], dict[str, NDArray[Any]]]:
        sizes = np.asarray(self.sizes)
        if sizes.ndim != 1 or not len(sizes) or sizes[0] < 1 or not (np.diff(sizes) > 0).all():
            got = f"got {list(self.sizes)[:8]}"
            raise InputError(message("numbers of rows that grow", got, "Sort them."))
        curves = {name: np.asarray(values, dtype=float) for name, values in self.curves.items()}
        for name, values in [*curves.items(), *((n, np.asarray(band)[..., 0]) for n, band in self.bands.items())]:
            if values.shape != sizes.shape:
                got = f"{name} has shape {values.shape} for {len(sizes)} sizes"
                raise InputError(message("a score a size", got, "Give NaN for none."))
        return sizes, curves
