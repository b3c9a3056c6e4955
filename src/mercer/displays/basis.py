"""A function as the sum of its features, each times its weight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.displays.base import Display, before_last, check_fitted, last_step, name_of, titled
from mercer.displays.colours import colours
from mercer.displays.estimators import Pipelined, Predictor
from mercer.displays.line import Line, rows_and_targets
from mercer.displays.plane import check_grid
from mercer.errors import InputError, message, speaks

MAX_NAMED_TERMS = 10
"""Features that are no bumps and have a name and a colour each, at most."""
UP, DOWN = "tab:red", "tab:blue"
REMEDY = "Fit KernelRidge(RadialBasis(n_components=7)), say, or a pipeline of a lift and a linear model."


@dataclass(eq=False, repr=False)
class BasisDisplay(Display):
    """The features of a regression over one column, each times its weight, and their sum, which is the prediction.

    f(x) = b + sum_j w_j phi_j(x). Bumps, features that are nowhere negative, lift the function where their weight is
    positive, and push it down where it is negative.

    Parameters
    ----------
    places : array of shape (m,)
        In order.
    terms : array of shape (m, D)
        w_j phi_j at each place.
    weights : array of shape (D,)
        w.
    intercept : float, default=0.0
        b.
    X, y : array of shape (n,) or None, default=None
        Rows, of one column, and their targets; without y no points are drawn.
    names : sequence of str or None, default=None
        Of the features; None for phi1, phi2, ...
    name : str, default=""
        Of the model, in the title.

    Attributes
    ----------
    ax_ : Axes
        The axes.
    figure_ : Figure
        Their figure.
    terms_ : list of Line2D
        One per feature.
    sum_ : Line2D
        Their sum with the intercept.
    intercept_ : Line2D or None
        The intercept, dotted; None where it is zero.
    points_ : PathCollection or None
        The rows, None where there are none.
    legend_ : Legend
        Names them.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelRidge
    >>> from mercer.displays import BasisDisplay
    >>> from mercer.lifts import RadialBasis
    >>> X = np.linspace(0, 1, 40)[:, None]
    >>> model = KernelRidge(RadialBasis("grid", 5, lengthscale=0.1), alpha=0.01).fit(X, np.sin(6 * X[:, 0]))
    >>> drawn = BasisDisplay.from_estimator(model, X)
    >>> len(drawn.terms_), bool(np.allclose(drawn.sum_.get_ydata(), model.predict(drawn.places[:, None])))
    (5, True)
    """

    places: NDArray[Any]
    terms: NDArray[Any]
    weights: ArrayLike
    _: KW_ONLY
    intercept: float = 0.0
    X: Any = None
    y: ArrayLike | None = None
    names: Sequence[str] | None = None
    name: str = ""
    terms_: list[Any] = field(init=False, default_factory=list)
    sum_: Any = field(init=False, default=None)
    intercept_: Any = field(init=False, default=None)
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
        grid: int = 300,
        style: str = "page",
        ax: Any = None,
    ) -> Self:
        """Draw a fitted regression on a lift of one column, or a pipeline of a lift and a linear model.

        Parameters
        ----------
        model : estimator
            The fitted regression: `KernelRidge(RadialBasis(...))`, or with another lift, or with a kernel that has one.
        X : array or DataFrame of shape (n, 1)
            Rows over which the curves go; with y they are drawn.
        y : array of shape (n,) or None, default=None
            Their targets.
        grid : int, default=300
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
        features, names = _features(model, table)
        weights = np.ravel(np.asarray(getattr(last_step(model), "coef_", ()), dtype=np.float64))
        if len(weights) != features.shape[1]:
            got = f"got {features.shape[1]} features and {len(weights)} weights"
            raise InputError(message("one weight per feature, of one output", got, REMEDY))
        intercept = float(np.ravel(getattr(last_step(model), "intercept_", 0.0))[0])
        drawn = cls(places, features * weights, weights, intercept=intercept, X=X, y=y, names=names)
        drawn.name = name_of(model, kernel=False)
        return drawn.plot(ax, style=style)

    def _plot(self, ax: Any) -> None:
        terms, weights, names = self._checked()
        line, y = rows_and_targets(self.X, self.y)
        axes = self._begin(ax)
        bumps = bool((terms * weights >= 0).all())
        self.intercept_ = self.points_ = None
        if line is not None and y is not None:
            self.points_ = axes.scatter(line.values, y, s=10, color="0.4", label="rows", zorder=1.5)
        self.terms_ = self._bumps(axes, terms, weights) if bumps else self._named(axes, terms, weights, names)
        if self.intercept:
            self.intercept_ = axes.axhline(self.intercept, color="black", linestyle=":", linewidth=1.0)
            self.intercept_.set_label(f"intercept {self.intercept:.3g}")
        (self.sum_,) = axes.plot(self.places, self._sum(terms), color="black", linewidth=2.0, label="their sum")
        axes.set(xlabel="x1" if line is None else line.name, ylabel=str(getattr(self.y, "name", None) or "y"))
        self.legend_ = self._finish(axes, titled(self.name, _seen(weights, bumps)))

    def _sum(self, terms: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(self.intercept + terms.sum(axis=1))

    def _bumps(self, axes: Any, terms: NDArray[Any], weights: NDArray[Any]) -> list[Any]:
        """Lifts in red, pushes in blue; the first of each kind has the name."""
        lines, named = [], set()
        counts = {UP: ("lift, w > 0", (weights >= 0).sum()), DOWN: ("push, w < 0", (weights < 0).sum())}
        for term, weight in zip(terms.T, weights, strict=True):
            colour = DOWN if weight < 0 else UP
            label = None if colour in named else "{} ({})".format(*counts[colour])
            named.add(colour)
            lines += axes.plot(self.places, term, color=colour, linewidth=1.2, label=label)
            axes.fill_between(self.places, 0.0, term, color=colour, alpha=min(0.15, 2 / len(weights)), linewidth=0)
        return lines

    def _named(self, axes: Any, terms: NDArray[Any], weights: NDArray[Any], names: Sequence[str]) -> list[Any]:
        """A colour and a name for each feature, as long as these are few."""
        few, lines = len(weights) <= MAX_NAMED_TERMS, []
        for term, weight, name, colour in zip(terms.T, weights, names, colours(len(weights)), strict=True):
            label = f"{weight:.3g} {name}" if few else None
            lines += axes.plot(self.places, term, color=colour, linewidth=1.2, label=label)
        return lines

    def _checked(self) -> tuple[NDArray[Any], NDArray[Any], Sequence[str]]:
        terms, weights = np.asarray(self.terms, dtype=float), np.asarray(self.weights, dtype=float)
        if terms.shape != (len(self.places), len(weights)) or weights.ndim != 1 or not terms.size:
            got = f"got terms of shape {terms.shape} for {len(self.places)} places and {weights.shape} weights"
            raise InputError(message("a term per place and weight", got, "Use from_estimator."))
        if not (np.isfinite(terms).all() and np.isfinite(weights).all()):
            raise InputError(message("finite terms", "got NaN or infinity", "Scale the data."))
        names = [f"phi{j + 1}" for j in range(len(weights))] if self.names is None else list(self.names)
        if len(names) != len(weights):
            raise InputError(
                message("one name per feature", f"got {len(names)} for {len(weights)}", "Use from_estimator.")
            )
        return terms, weights, names


def _features(model: Predictor, table: Any) -> tuple[NDArray[np.float64], list[str] | None]:
    """The features of places, and their names: of the lift of a learner, else of the steps before a linear model."""
    learner = last_step(model)
    lift, inner = getattr(learner, "lift_", None), before_last(model, table)
    if lift is not None:
        named, features = lift, lift.transform(inner)
    elif isinstance(model, Pipelined) and len(model.steps) > 1:
        named, features = model[-2], inner
    else:
        linear = hasattr(learner, "coef_")
        got = "got the columns themselves" if linear else f"{type(learner).__name__} has no features"
        raise InputError(message("a model that is linear in features", got, REMEDY))
    features = np.asarray(features.toarray() if hasattr(features, "toarray") else features, dtype=np.float64)
    names = named.get_feature_names_out() if hasattr(named, "get_feature_names_out") else None
    return features, None if names is None else [str(name) for name in names]


def _seen(weights: NDArray[Any], bumps: bool) -> str:
    count = len(weights)
    if not bumps:
        return f"{count} feature{'s' * (count > 1)} times their weights, and their sum"
    up, down = int((weights >= 0).sum()), int((weights < 0).sum())
    return f"{up} bump{'s' * (up != 1)} lift, {down} push{'es' * (down == 1)}"
