"""How wrong an approximated kernel is, against the number of features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.displays.base import Display, found, short, titled
from mercer.displays.chosen import chosen_rows, count_of, rows_of
from mercer.errors import InputError, message, speaks

MAX_ROWS = 500
"""Rows on whose pairs errors are computed, at most."""
COMPONENTS = (16, 32, 64, 128, 256, 512)
"""Numbers of features, where none are given."""
DELTA = 0.01
"""With so much probability a bound on random waves may fail."""
WORDS = {
    "kernel": ("error of the kernel", "error"),
    "distance": ("relative error of the distance", "relative error of distances"),
}
"""By the error, the name of the axis and what one sees."""


@dataclass(eq=False, repr=False)
class LiftErrorDisplay(Display):
    """The largest and the mean error of a lift over pairs of rows, against the number of features.

    The errors are those of phi(x).phi(z), or the relative ones of `|phi(x) - phi(z)|`.

    Several draws are drawn as their median, with a band from the least to the largest.

    Parameters
    ----------
    components : array of shape (m,)
        Numbers of features.
    worst, mean : array of shape (m, draws)
        The errors `|phi(x).phi(z) - k(x, z)|`, or `| |phi(x) - phi(z)| / distance - 1 |` with the kernel distance.
    bounds : array of shape (m,) or None, default=None
        The bound of the largest error, NaN where there is none; None for no line.
    bound : str, default="bound"
        The name of the bound.
    name : str, default=""
        Of the lift, above the axes.
    error : {"kernel", "distance"}, default="kernel"
        Which errors they are.

    Attributes
    ----------
    ax_ : Axes
        The axes.
    figure_ : Figure
        Their figure.
    worst_, mean_ : Line2D
        The lines.
    bands_ : list of PolyCollection
        The two bands, none of one draw.
    bound_ : Line2D or None
        The bounds; None where there are none.
    legend_ : Legend
        Names them.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.displays import LiftErrorDisplay
    >>> from mercer.lifts import Nystrom
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> drawn = LiftErrorDisplay.from_lift(Nystrom("gaussian(1)"), X, components=(5, 20, 80))
    >>> bool(np.all(np.diff(drawn.mean_.get_ydata()) < 0)), drawn.bound_.get_label()
    (True, 'certificate')
    """

    components: Sequence[int]
    worst: ArrayLike
    mean: ArrayLike
    _: KW_ONLY
    bounds: ArrayLike | None = None
    bound: str = "bound"
    name: str = ""
    error: str = "kernel"
    worst_: Any = field(init=False, default=None)
    mean_: Any = field(init=False, default=None)
    bands_: list[Any] = field(init=False, default_factory=list)
    bound_: Any = field(init=False, default=None)
    legend_: Any = field(init=False, default=None)

    @classmethod
    @speaks
    def from_lift(
        cls,
        lift: Any,
        X: Any,
        *,
        components: Sequence[int] | None = None,
        draws: int = 5,
        error: str = "kernel",
        style: str = "page",
        ax: Any = None,
    ) -> Self:
        """Fit copies of a lift with these numbers of features, several draws each, and draw their errors.

        Errors are those of all pairs of up to 500 rows, drawn with the seed 0 from more. The bounds are certificates of
        `Nystrom`, the largest of the draws; of `RandomFourier` they are what its number of features promises before any
        is drawn (for independent waves, probability 0.99). Of distances they are known for waves of a Gaussian kernel
        alone. Cost: draws times the fits and transforms, and n^2 values.

        Parameters
        ----------
        lift : Lift
            It is cloned.
        X : array or table
            The rows.
        components : sequence of int or None, default=None
            Numbers of features; None for a few.
        draws : int, default=5
            How many of each.
        error : {"kernel", "distance"}, default="kernel"
            "kernel" for values of the kernel, "distance" for relative errors of the kernel distance of different rows.
        style : {"page", "slide"}, default="page"
            For a page; or sixteen to nine with large letters and thick lines, for a slide.
        ax : Axes or None, default=None
            Where to draw; None for new axes.

        Returns
        -------
        Self
        """
        from mercer.displays.errors_of_lifts import Trial  # it loads scikit-learn

        rows = chosen_rows(count_of(X), MAX_ROWS, np.random.default_rng(0))
        found(lift, "get_params", "Use RandomFourier(kernel) or Nystrom(kernel).")
        trial = Trial.of(lift, rows_of(X, rows), error)
        counts = _counts(COMPONENTS if components is None else components, draws)
        if components is None:
            counts = trial.fitting(counts)
        worst, mean, bounds = trial.measured(counts, draws)
        name = f"{type(lift).__name__}, {short(trial.kernel)}"
        shown = cls(counts, worst, mean, bounds=bounds, bound=trial.kind, name=name, error=error)
        return shown.plot(ax, style=style)

    def _plot(self, ax: Any) -> None:
        counts, worst, mean, bounds = self._checked()
        axes = self._begin(ax)
        self.bands_, self.bound_ = [], None
        of, sees = WORDS[self.error]
        self.worst_ = self._line(axes, counts, worst, "tab:red", "largest error")
        self.mean_ = self._line(axes, counts, mean, "tab:blue", "mean error")
        if bounds is not None:
            (self.bound_,) = axes.plot(counts, bounds, "--", color="black", label=self.bound)
        axes.set_xscale("log", base=2)
        if (worst > 0).any():
            axes.set_yscale("log")
        axes.set(xlabel="features", ylabel=of)
        self.legend_ = self._finish(axes, titled(self.name, f"{sees} against the number of features"))

    def _line(self, axes: Any, counts: NDArray[Any], errors: NDArray[Any], colour: str, name: str) -> Any:
        (line,) = axes.plot(counts, np.median(errors, axis=1), "o-", markersize=4, color=colour, label=name)
        if errors.shape[1] > 1:
            ends = errors.min(axis=1), errors.max(axis=1)
            self.bands_.append(axes.fill_between(counts, *ends, color=colour, alpha=0.2, linewidth=0))
        return line

    def _checked(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any] | None]:
        if self.error not in WORDS:
            raise InputError(message("error 'kernel' or 'distance'", f"got {self.error!r}", "Use 'kernel'."))
        counts = np.asarray(_counts(self.components, 1))
        worst, mean = (np.asarray(each, dtype=float) for each in (self.worst, self.mean))
        if not (worst.shape == mean.shape and worst.ndim == 2 and len(worst) == len(counts) and worst.shape[1]):
            got = f"got {worst.shape} and {mean.shape} for {len(counts)} numbers of features"
            raise InputError(message("errors of the shape (numbers, draws)", got, "Use from_lift."))
        if not (np.isfinite(worst).all() and np.isfinite(mean).all()):
            raise InputError(message("finite errors", "got NaN or infinity", "Scale the columns."))
        bounds = None if self.bounds is None else np.asarray(self.bounds, dtype=float)
        return counts, worst, mean, bounds


def _counts(given: Sequence[int], draws: int) -> list[int]:
    counts = list(given)
    whole = all(isinstance(each, int | np.integer) and each > 0 for each in [*counts, draws])
    if not (counts and whole and sorted(set(counts)) == counts):
        needs, got = "numbers of features that grow, and positive numbers of draws", f"got {given!r} and {draws!r}"
        raise InputError(message(needs, got, "Use components=(16, 64, 256)."))
    return counts
