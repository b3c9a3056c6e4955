"""What held-out rows cost at each penalty, and which penalty was chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.displays.base import Display, found, last_step
from mercer.displays.colours import SCALE, colours
from mercer.displays.estimators import Estimator
from mercer.errors import InputError, message, speaks

SQUARED, WRONG = "leave-one-out mean squared error", "wrong labels, left out"


@dataclass(eq=False, repr=False)
class LeaveOneOutDisplay(Display):
    """Leave-one-out errors against the penalty alpha: one line per output, or per lengthscale.

    Parameters
    ----------
    alphas : array of shape (m,) or (m, lines)
        Penalties, each at least 0; of two dimensions where lines have their own.
    errors : array of shape (m, lines)
        Infinite ones are left out of the line.
    chosen : array of shape (lines,) or None, default=None
        The alpha of each line; NaN where none of this line was chosen.
    names : sequence of str or None, default=None
        Of the lines, in the legend.
    measure : str, default="leave-one-out mean squared error"
        What errors are, at the axis.

    Attributes
    ----------
    ax_ : Axes
        The axes.
    figure_ : Figure
        Their figure.
    lines_ : list of Line2D
        One per column of errors.
    chosen_ : list
        A point where an alpha was chosen, at most one per line.
    legend_ : Legend or None
        Names the lines, where there are several.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelRidge
    >>> from mercer.displays import LeaveOneOutDisplay
    >>> X = np.linspace(0, 6, 40)[:, None]
    >>> model = KernelRidge("gaussian(1)", alpha=[0.01, 0.1, 1.0]).fit(X, np.sin(X[:, 0]))
    >>> drawn = LeaveOneOutDisplay.from_estimator(model)
    >>> drawn.lines_[0].get_xdata().tolist(), bool(drawn.chosen_[0].get_xdata()[0] == model.alpha_)
    ([0.01, 0.1, 1.0], True)
    """

    alphas: ArrayLike
    errors: ArrayLike
    _: KW_ONLY
    chosen: ArrayLike | None = None
    names: Sequence[str] | None = None
    measure: str = SQUARED
    lines_: list[Any] = field(init=False, default_factory=list)
    chosen_: list[Any] = field(init=False, default_factory=list)
    legend_: Any = field(init=False, default=None)

    @classmethod
    @speaks
    def from_estimator(cls, model: object, *, style: str = "page", ax: Any = None) -> Self:
        """Draw `loo_` of a fitted least-squares model whose alpha was chosen, or of a pipeline with one.

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
        path, taken = _path(last_step(model))
        if path.wrong is not None:
            return cls(path.alphas, path.wrong[:, None], chosen=[taken[0]], names=None, measure=WRONG).plot(
                ax, style=style
            )
        names = None if path.errors.shape[1] == 1 else [f"output {t + 1}" for t in range(path.errors.shape[1])]
        return cls(path.alphas, path.errors, chosen=taken, names=names).plot(ax, style=style)

    @classmethod
    @speaks
    def from_lengthscales(
        cls, model: Estimator, X: Any, y: Any, lengthscales: Sequence[float], *, style: str = "page", ax: Any = None
    ) -> Self:
        """Fit a copy at each lengthscale, and draw the path of alphas of each; the best of all is marked.

        A fit with lengthscale="loo" keeps the path of its best lengthscale alone; this shows the others beside it.

        Parameters
        ----------
        model : estimator
            Of least squares, with an open lengthscale ("median") in its kernel, for one output.
        X : array or table
            The rows.
        y : array of shape (n,)
            Their targets.
        lengthscales : sequence of float
            The lengthscales.
        style : {"page", "slide"}, default="page"
            For a page; or sixteen to nine with large letters and thick lines, for a slide.
        ax : Axes or None, default=None
            Where to draw; None for new axes.

        Returns
        -------
        Self
        """
        from sklearn.base import clone  # it is slow to load

        fitted = [clone(model).set_params(lengthscale=float(each), alpha="auto").fit(X, y) for each in lengthscales]
        if not fitted:
            raise InputError(message("lengthscales", "got none", "Give a list of numbers."))
        pairs = [_path(each) for each in fitted]
        rights = [path.errors if path.wrong is None else path.wrong[:, None] for path, _ in pairs]
        if any(right.shape[1] != 1 for right in rights):
            raise InputError(message("one output", "got several", "Draw them one by one."))
        least = [right[path.best[0], 0] for right, (path, _) in zip(rights, pairs, strict=True)]
        taken = [alphas[0] if k == int(np.argmin(least)) else np.nan for k, (_, alphas) in enumerate(pairs)]
        names = [f"lengthscale {each:.3g}" for each in lengthscales]
        measure = SQUARED if pairs[0][0].wrong is None else WRONG
        alphas = np.column_stack([path.alphas for path, _ in pairs])
        return cls(alphas, np.column_stack(rights), chosen=taken, names=names, measure=measure).plot(ax, style=style)

    def _plot(self, ax: Any) -> None:
        alphas, errors, chosen = self._checked()
        axes = self._begin(ax)
        self.lines_, self.chosen_, self.legend_ = [], [], None
        for k, shade in enumerate(_shades(errors.shape[1])):
            name = None if self.names is None else self.names[k]
            (line,) = axes.plot(alphas[:, k], errors[:, k], ".-", color=shade, label=name)
            self.lines_.append(line)
        for k in np.flatnonzero(np.isfinite(chosen)).tolist():
            self.chosen_.append(self._mark(axes, alphas[:, k], errors[:, k], float(chosen[k])))
        self._scale(axes, alphas, errors)
        axes.set(xlabel="alpha", ylabel=self.measure)
        self.legend_ = self._finish(axes, "errors of rows that are left out, by alpha")

    def _mark(self, axes: Any, alphas: NDArray[Any], errors: NDArray[Any], alpha: float) -> Any:
        near = int(np.argmin(np.abs(alphas - alpha)))
        style = {"marker": "o", "markersize": 10, "markerfacecolor": "none", "color": "black", "linestyle": "none"}
        (mark,) = axes.plot([alpha], [errors[near]], label=f"chosen: {alpha:.3g}", **style)
        return mark

    def _scale(self, axes: Any, alphas: NDArray[Any], errors: NDArray[Any]) -> None:
        above = alphas[alphas > 0]
        if len(above) == alphas.size:
            axes.set_xscale("log")
        elif len(above):
            axes.set_xscale("symlog", linthresh=float(above.min()))
        if self.measure == SQUARED and np.nanmin(errors) > 0:
            axes.set_yscale("log")

    def _checked(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        errors = np.asarray(self.errors, dtype=float)
        alphas = np.asarray(self.alphas, dtype=float)
        if alphas.ndim == 1 and errors.ndim == 2:
            alphas = np.repeat(alphas[:, None], errors.shape[1], axis=1)
        if errors.ndim != 2 or alphas.shape != errors.shape or not errors.size:
            got = f"got {np.shape(self.alphas)} and {errors.shape}"
            raise InputError(message("an error for each alpha and line", got, "Use loo_ of a fitted model."))
        errors = np.where(np.isfinite(errors), errors, np.nan)
        if np.isnan(errors).all() or not (np.isfinite(alphas) & (alphas >= 0)).all():
            raise InputError(message("finite errors, and alphas of at least 0", "got others", "Fit again."))
        lines = errors.shape[1]
        chosen = np.full(lines, np.nan) if self.chosen is None else np.asarray(self.chosen, dtype=float)
        if chosen.shape != (lines,) or (self.names is not None and len(self.names) != lines):
            got = f"got {chosen.shape} for {lines} lines"
            raise InputError(message("one chosen alpha and one name per line", got, "Use from_estimator."))
        return alphas, errors, chosen


def _path(model: object) -> tuple[Any, NDArray[Any]]:
    """The path of a fitted model, and the alphas that it took, one per output."""
    path = found(model, "loo_", 'Fit a KernelRidge with alpha="auto" or candidates.')
    taken = np.ravel(np.asarray(found(model, "alpha_", "Fit the model first."), dtype=float))
    return path, np.broadcast_to(taken, (path.errors.shape[1],)) if len(taken) == 1 else taken


def _shades(count: int) -> list[Any]:
    """Neighbours on a scale, since lengthscales have an order; one line is blue."""
    if count == 1:
        return colours(1)
    from matplotlib import colormaps

    return [colormaps[SCALE](place) for place in np.linspace(0.0, 0.9, count)]
