"""The law of a test's statistic where there is nothing to be found, and the statistic."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.displays.base import Display, found
from mercer.errors import InputError, message, speaks

MAX_BINS = 50
"""Bars of a histogram, at most."""
DEVIATIONS_EACH_SIDE = 4.0
"""A normal law is drawn so many deviations wide, to both sides."""


@dataclass(eq=False, repr=False)
class NullDisplay(Display):
    """The null distribution of a test as a histogram, or as a normal curve, and a line at the statistic.

    Parameters
    ----------
    null_sample : array of shape (m,)
        Values of the statistic under the null; if empty, a normal law around 0 is drawn.
    statistic : float
        The value of the data.
    p_value : float or None, default=None
        The probability of one as large under the null; None to leave it out.
    spread : float or None, default=None
        The standard deviation of the null; used only without a sample.
    name : str, default="statistic"
        Of the statistic, at the axis.
    null : str, default="null"
        Of the null, in the legend.

    Attributes
    ----------
    ax_ : Axes
        The axes.
    figure_ : Figure
        Their figure.
    bars_ : BarContainer or None
        The histogram, whose area is 1; None without a sample.
    curve_ : Line2D or None
        The density of the normal law; None with a sample.
    line_ : Line2D
        The statistic.
    legend_ : Legend
        Names them, above the axes.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.displays import NullDisplay
    >>> drawn = NullDisplay(np.random.default_rng(0).normal(size=500), statistic=2.5, p_value=0.008).plot()
    >>> drawn.line_.get_label()
    'found: 2.5, p = 0.008'
    """

    null_sample: ArrayLike
    statistic: float
    _: KW_ONLY
    p_value: float | None = None
    spread: float | None = None
    name: str = "statistic"
    null: str = "null"
    bars_: Any = field(init=False, default=None)
    curve_: Any = field(init=False, default=None)
    line_: Any = field(init=False, default=None)
    legend_: Any = field(init=False, default=None)

    @classmethod
    @speaks
    def from_result(cls, result: Any, *, style: str = "page", ax: Any = None) -> Self:
        """Draw the result of `mercer.mmd` or `mercer.hsic`.

        Parameters
        ----------
        result : Comparison
            The result.
        style : {"page", "slide"}, default="page"
            For a page; or sixteen to nine with large letters and thick lines, for a slide.
        ax : Axes or None, default=None
            Where to draw; None for new axes.

        Returns
        -------
        Self
        """
        remedy = "Give the result of mercer.mmd or mercer.hsic."
        sample, statistic = (found(result, name, remedy) for name in ("null_sample", "statistic"))
        name, null = f"{getattr(result, 'test', '')} statistic".strip(), f"{getattr(result, 'null', '')} null".strip()
        spread, p_value = getattr(result, "spread", None), getattr(result, "p_value", None)
        return cls(sample, float(statistic), p_value=p_value, spread=spread, name=name, null=null).plot(ax, style=style)

    def _plot(self, ax: Any) -> None:
        sample = self._checked()
        axes = self._begin(ax)
        self.bars_ = self.curve_ = None
        if len(sample):
            bins = min(MAX_BINS, max(5, round(len(sample) ** 0.5)))
            _, _, self.bars_ = axes.hist(sample, bins=bins, density=True, color="0.75", label=self.null)
        else:
            (self.curve_,) = axes.plot(*_normal(float(self.spread or 0.0)), color="0.5", label=self.null)
        told = f"found: {self.statistic:.3g}" + ("" if self.p_value is None else f", p = {self.p_value:.3g}")
        self.line_ = axes.axvline(self.statistic, color="tab:red", label=told)
        axes.set(xlabel=self.name, ylabel="density")
        axes.ticklabel_format(axis="x", scilimits=(-2, 4))  # statistics are small
        self.legend_ = self._finish(axes, "what was found, and what chance alone gives")

    def _checked(self) -> NDArray[Any]:
        sample = np.asarray(self.null_sample, dtype=float)
        if sample.ndim != 1:
            got = f"got an array of shape {sample.shape}"
            raise InputError(message("a list of numbers", got, "Give the values one by one."))
        if not (np.isfinite(sample).all() and np.isfinite(self.statistic)):
            raise InputError(message("finite numbers", "got NaN or infinity", "Look at the rows."))
        if len(sample) == 0 and not (self.spread is not None and 0 < self.spread < np.inf):
            got = f"got no sample and the spread {self.spread}"
            remedy = 'Use null="permutation", or look whether the rows differ at all.'
            raise InputError(message("a sample, or a positive spread", got, remedy))
        return sample


def _normal(spread: float) -> tuple[NDArray[Any], NDArray[Any]]:
    """Places, and the density there of the normal law around 0."""
    t = np.linspace(-DEVIATIONS_EACH_SIDE, DEVIATIONS_EACH_SIDE, 200)
    return t * spread, np.exp(-t * t / 2) / (spread * np.sqrt(2 * np.pi))
