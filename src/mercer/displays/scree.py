"""How much of the variance each component has, and what is left."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.displays.base import Display, found
from mercer.errors import InputError, message, speaks


@dataclass(eq=False, repr=False)
class ScreeDisplay(Display):
    """Bars of the explained ratios, their sum as a line, and the unexplained part of the trace as a band.

    The band is the certificate of kernel PCA: ratios are parts of the trace of the centred kernel matrix, which is
    known without its eigenvalues, so that the rest is known, too, for every method.

    Parameters
    ----------
    ratios : array of shape (k,)
        Of the components, each from 0 to 1.
    unexplained : float or None, default=None
        The rest of the trace, from 0 to 1; None where it is not known, and not drawn.

    Attributes
    ----------
    ax_ : Axes
        The axes.
    figure_ : Figure
        Their figure.
    bars_ : BarContainer
        One per component.
    line_ : Line2D
        The sums of the ratios.
    band_ : Patch or None
        As high as the rest, below 1; None without `unexplained`.
    text_ : Text or None
        The rest as a number; None without `unexplained`.
    legend_ : Legend
        Names them, above the axes.

    Examples
    --------
    >>> from mercer.displays import ScreeDisplay
    >>> drawn = ScreeDisplay([0.5, 0.25], unexplained=0.25).plot()
    >>> [float(bar.get_height()) for bar in drawn.bars_]
    [0.5, 0.25]
    >>> drawn.text_.get_text()
    'unexplained: 25 %'
    """

    ratios: ArrayLike
    _: KW_ONLY
    unexplained: float | None = None
    bars_: Any = field(init=False, default=None)
    line_: Any = field(init=False, default=None)
    band_: Any = field(init=False, default=None)
    text_: Any = field(init=False, default=None)
    legend_: Any = field(init=False, default=None)

    @classmethod
    @speaks
    def from_estimator(cls, model: object, *, style: str = "page", ax: Any = None) -> Self:
        """Draw a fitted model that has `explained_variance_ratio_`, and `unexplained_` where it is known.

        Parameters
        ----------
        model : estimator
            The fitted model.
        style : {"page", "slide"}, default="page"
            For a page; or sixteen to nine with large letters and thick lines, for a slide.
        ax : Axes or None, default=None
            Where to draw; None for new axes.

        Returns
        -------
        Self
        """
        ratios = found(model, "explained_variance_ratio_", "Fit a KernelPCA first.")
        return cls(ratios, unexplained=getattr(model, "unexplained_", None)).plot(ax, style=style)

    def _plot(self, ax: Any) -> None:
        ratios = self._checked()
        axes = self._begin(ax)
        from matplotlib.ticker import MaxNLocator

        numbers = np.arange(1, len(ratios) + 1)
        self.bars_ = axes.bar(numbers, ratios, color="tab:blue", label="each component")
        (self.line_,) = axes.plot(numbers, np.cumsum(ratios), "o-", color="black", markersize=4, label="their sum")
        self.band_ = self.text_ = None
        if self.unexplained is not None:
            self._certify(axes, float(self.unexplained))
        axes.set(xlabel="component", ylabel="explained variance ratio", ylim=(0, 1.05))
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        count, part = len(ratios), 100 * float(np.sum(ratios))
        self.legend_ = self._finish(
            axes, f"{count} component{'s' * (count > 1)} explain{'s' * (count == 1)} {part:.3g} %"
        )

    def _certify(self, axes: Any, left: float) -> None:
        self.band_ = axes.axhspan(1 - left, 1, color="tab:orange", alpha=0.25, linewidth=0, zorder=0)
        text, place = f"unexplained: {100 * left:.3g} %", (0.02, 1 - left / 2)
        self.text_ = axes.annotate(text, place, xycoords=("axes fraction", "data"), va="center")

    def _checked(self) -> NDArray[Any]:
        ratios, left = np.asarray(self.ratios, dtype=float), self.unexplained
        if ratios.ndim != 1 or ratios.size == 0:
            got = f"got an array of shape {ratios.shape}"
            raise InputError(message("one ratio per component", got, "Fit the model again."))
        if not np.isfinite(ratios).all():
            raise InputError(message("finite ratios", "got NaN or infinity", "Fit the model again."))
        if left is not None and not 0 <= left <= 1:
            got = f"got {left:g}"
            raise InputError(message("unexplained from 0 to 1", got, "Give a part of the trace."))
        return ratios
