"""A function of one column, and its uncertainty."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from inspect import signature
from statistics import NormalDist
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.displays.base import Display, check_fitted, last_step, name_of, titled
from mercer.displays.estimators import Predictor
from mercer.displays.line import Line, rows_and_targets
from mercer.displays.plane import check_grid
from mercer.errors import InputError, message, speaks


@dataclass(eq=False, repr=False)
class CurveDisplay(Display):
    """The predictions of a regression over one column, with a band of its deviations, and the rows.

    The band is that of the function: at each place it contains a part `level` of the posterior. New observations have
    noise beside that.

    Parameters
    ----------
    places : array of shape (m,)
        In order.
    mean : array of shape (m,)
        The predictions there.
    deviation : array of shape (m,) or None, default=None
        Their standard deviations; None for no band.
    X, y : array of shape (n,) or None, default=None
        Rows, of one column, and their targets; without y no points are drawn.
    level : float, default=0.95
        Of the band, between 0 and 1.
    name : str, default=""
        Of the model, in the title.

    Attributes
    ----------
    ax_ : Axes
        The axes.
    figure_ : Figure
        Their figure.
    curve_ : Line2D
        The predictions.
    band_ : PolyCollection or None
        The band, None where there is none.
    points_ : PathCollection or None
        The rows, None where there are none.
    legend_ : Legend
        Names them.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelRidge
    >>> from mercer.displays import CurveDisplay
    >>> X = np.linspace(0, 6, 30)[:, None]
    >>> model = KernelRidge("gaussian(1)", alpha=0.1).fit(X, np.sin(X[:, 0]))
    >>> drawn = CurveDisplay.from_estimator(model, X, np.sin(X[:, 0]), grid=50)
    >>> drawn.band_.get_label()
    '95 % band'
    """

    places: NDArray[Any]
    mean: NDArray[Any]
    _: KW_ONLY
    deviation: NDArray[Any] | None = None
    X: Any = None
    y: ArrayLike | None = None
    level: float = 0.95
    name: str = ""
    curve_: Any = field(init=False, default=None)
    band_: Any = field(init=False, default=None)
    points_: Any = field(init=False, default=None)
    legend_: Any = field(init=False, default=None)

    @classmethod
    @speaks
    def from_estimator(
        cls,
        model: Predictor,
        X: Any,
        y: ArrayLike | None = None,
        *,
        level: float = 0.95,
        grid: int = 200,
        style: str = "page",
        ax: Any = None,
    ) -> Self:
        """Draw a fitted regression, or a pipeline that ends with one, with its deviations where it has them.

        Parameters
        ----------
        model : estimator
            The fitted regression.
        X : array or DataFrame of shape (n, 1)
            Rows over which the curve goes; with y they are drawn.
        y : array of shape (n,) or None, default=None
            Their targets.
        level : float, default=0.95
            Of the band, between 0 and 1.
        grid : int, default=200
            Places along the axis.
        style : {"page", "slide"}, default="page"
            For a page; or sixteen to nine with large letters and thick lines, for a slide.
        ax : Axes or None, default=None
            Where to draw; None for new axes.

        Returns
        -------
        Self
        """
        line = Line.of(X)
        check_fitted(model, 1)
        check_grid(grid)
        places, table = line.grid(grid)
        predict: Callable[..., Any] = model.predict
        sure = "return_std" in signature(last_step(model).predict).parameters
        mean, deviation = predict(table, return_std=True) if sure else (predict(table), None)
        return cls(places, mean, deviation=deviation, X=X, y=y, level=level, name=name_of(model)).plot(ax, style=style)

    def _plot(self, ax: Any) -> None:
        mean, half = self._checked()
        line, y = rows_and_targets(self.X, self.y)
        axes = self._begin(ax)
        self.band_ = self.points_ = None
        if half is not None:
            band = {"color": "tab:blue", "alpha": 0.2, "linewidth": 0, "label": f"{100 * self.level:g} % band"}
            self.band_ = axes.fill_between(self.places, mean - half, mean + half, **band)
        if line is not None and y is not None:
            self.points_ = axes.scatter(line.values, y, s=10, color="0.25", label="rows")
        (self.curve_,) = axes.plot(self.places, mean, color="tab:blue", label="prediction")
        axes.set(xlabel="x1" if line is None else line.name, ylabel=str(getattr(self.y, "name", None) or "y"))
        self.legend_ = self._finish(axes, titled(self.name, f"prediction over {axes.get_xlabel()}"))

    def _checked(self) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """The predictions, and half of the width of the band."""
        mean = np.asarray(self.mean)
        if mean.shape != np.shape(self.places):
            got = f"got predictions of shape {mean.shape} for {np.shape(self.places)[0]} places"
            raise InputError(message("one prediction a place", got, "Fit one output."))
        if not 0 < self.level < 1:
            raise InputError(message("a level between 0 and 1", f"got {self.level:g}", "Use 0.95."))
        half = (
            None if self.deviation is None else NormalDist().inv_cdf(0.5 + self.level / 2) * np.asarray(self.deviation)
        )
        if not (np.isfinite(mean).all() and (half is None or np.isfinite(half).all())):
            raise InputError(message("finite predictions", "got NaN or infinity", "Scale the data."))
        return mean, half
