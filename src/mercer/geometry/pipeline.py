"""From a fitted pipeline, or from a lift and weights, to the region where the decision is not negative."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mercer.errors import InputError, message, speaks
from mercer.geometry.accurate import Vector
from mercer.geometry.affine import Affine, is_scaler
from mercer.geometry.base import Shape
from mercer.geometry.classify import classify
from mercer.geometry.express import expansion_of
from mercer.geometry.fields import named, vector
from mercer.geometry.learned import features_within
from mercer.geometry.model import LinearModel, decision
from mercer.geometry.terms import Terms
from mercer.lifts.expansion import Expansion, combinations


@speaks
def region(pipeline: Any, threshold: float = 0.0, positive: Any = None) -> Shape:
    """The region of the original space where a linear model on a polynomial lift, or on a kernel, decides for a class.

    It is {x : <w, phi(x)> + b >= threshold}, as the most specific shape that its polynomial is: a ball (to 1e-9 of its
    radius), a halfspace, an ellipse or ellipsoid, another conic or quadric, or an inequality; nothing, or everything.
    `mercer.geometry.classify` says what counts as zero. Cost: O(d^3) up to the second degree.

    Parameters
    ----------
    pipeline : estimator
        Fitted: scalers, a polynomial lift of Mercer or scikit-learn's PolynomialFeatures, scalers, and a linear
        classifier or regressor; scalers and lift may be missing. Or a learner of Mercer whose kernel, or lift, has
        features that are polynomials, `KernelSVC("parabolic")`; scalers may stand before it. The shape is in the units
        of the original columns.
    threshold : float, default=0.0
        The value of the decision function, or of the prediction of a regressor, at the boundary.
    positive : label or None, default=None
        The class of the region; None for the second of two. Of more classes, it is where the decision for this class
        against the rest is positive; the model predicts the class whose decision is the largest.

    Returns
    -------
    Shape

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import PolynomialFeatures, StandardScaler
    >>> X = np.indices((5, 7)).reshape(2, -1).T
    >>> y = 9 - (X[:, 0] - 1) ** 2 - (X[:, 1] - 2) ** 2
    >>> model = make_pipeline(StandardScaler(), PolynomialFeatures(2), LinearRegression()).fit(X, y)
    >>> print(region(model))
    inside the circle of center (x1, x2) = (1, 2) and radius 3
    >>> print(region(model, threshold=5.0))
    inside the circle of center (x1, x2) = (1, 2) and radius 2
    >>> from mercer import KernelSVC
    >>> print(region(KernelSVC("parabolic", C=np.inf).fit([[0, 0], [2, 0], [0, 2], [2, 2], [1, 1]], [0, 0, 0, 0, 1])))
    inside the circle of center (x1, x2) = (1, 1) and radius 1
    """
    *maps, model = _steps(pipeline)
    known = getattr([*maps, model][0], "feature_names_in_", ())
    weights, intercept = decision(model, positive)
    last = features_within(model)
    if last is not None and last.degree <= 1:  # its features are sums of what it got
        weights, intercept = _unlifted(last, weights, intercept)
        last = None
    if last is None:
        _check_count(model, weights)
        place = next((i for i, step in enumerate(maps) if expansion_of(step) is not None), len(maps))
        maps, lift, after = maps[:place], maps[place : place + 1], maps[place + 1 :]
        for step in reversed(after):
            weights, intercept = _scaler(step, len(weights)).folded(weights, intercept)
        last = expansion_of(lift[0]) if lift else None
    expansion = _columns(len(weights)) if last is None else last
    scaling = Affine.identity(expansion.width)
    for step in reversed(maps):  # from the lift on: what is no scaler is refused before its width matters
        scaling = _scaler(step, expansion.width).then(scaling)
    terms = _terms(expansion, weights, intercept - threshold, scaling)
    return classify(terms, named(known, expansion.width))


@speaks
def preimage(lift: Any, weights: ArrayLike, intercept: float, names: Sequence[str] = ()) -> Shape:
    """The region {x : <weights, phi(x)> + intercept >= 0} of a fitted polynomial lift, as `region` gives it.

    It is the inverse of `shape.halfspace(lift)`.

    Parameters
    ----------
    lift : estimator
        A fitted polynomial lift of Mercer, or scikit-learn's PolynomialFeatures.
    weights : array of shape (features,)
        One per feature.
    intercept : float
        b.
    names : sequence of str, default=()
        The names of the columns; x1, x2, ... where none are given.

    Returns
    -------
    Shape

    Examples
    --------
    >>> from sklearn.preprocessing import PolynomialFeatures
    >>> lift = PolynomialFeatures(2, include_bias=False).fit([[0.0, 0.0]])  # x1, x2, x1^2, x1 x2, x2^2
    >>> print(preimage(lift, [2.0, 4.0, -1.0, 0.0, -1.0], 4.0))
    inside the circle of center (x1, x2) = (1, 2) and radius 3
    """
    expansion = expansion_of(lift)
    if expansion is None:
        raise InputError(_not_a_step(lift))
    terms = _terms(expansion, vector("weights", weights), float(intercept), Affine.identity(expansion.width))
    return classify(terms, named(names, expansion.width))


def _terms(expansion: Expansion, weights: Vector, intercept: float, scaling: Affine) -> Terms:
    if len(weights) != len(expansion):
        got = f"got {len(weights)}"
        raise InputError(message(f"a weight for each of {len(expansion)} features", got, "Fit both together."))
    numbers = expansion.combined(weights)
    higher = (expansion.factors >= 0).any(axis=1)
    constant = math.fsum([intercept, *numbers[~higher].tolist()])
    empty = np.full((1, expansion.factors.shape[1]), -1, dtype=np.intp)
    factors = np.concatenate([empty, expansion.factors[higher]])
    return Terms(factors, np.concatenate([[constant], numbers[higher]]), scaling.origin, scaling.unit)


def _unlifted(expansion: Expansion, weights: Vector, intercept: float) -> tuple[Vector, float]:
    """Weights of features that are sums of columns, and the intercept, as those of the columns."""
    terms = _terms(expansion, weights, intercept, Affine.identity(expansion.width))
    found = np.zeros(expansion.width)
    found[terms.factors[1:, 0]] = terms.coefficients[1:]
    return found, float(terms.coefficients[0])


def _check_count(model: LinearModel, weights: Vector) -> None:
    """Refuse weights that are none of the columns of the model."""
    columns = getattr(model, "n_features_in_", len(weights))
    if columns != len(weights):
        needs, got = f"a weight for each of {columns} columns", f"{type(model).__name__} has {len(weights)}"
        raise InputError(message(needs, got, "Put its features into a step of the pipeline."))


def _steps(pipeline: Any) -> Iterator[Any]:
    """The steps that do something, those of pipelines within it in their place."""
    chosen = getattr(pipeline, "best_estimator_", pipeline)  # of a search
    for step in (step for _, step in chosen.steps) if hasattr(chosen, "steps") else (chosen,):
        if hasattr(step, "steps") or hasattr(step, "best_estimator_"):
            yield from _steps(step)
        elif step is not None and not isinstance(step, str):  # "passthrough"
            yield step


def _scaler(step: Any, width: int) -> Affine:
    if not is_scaler(step):
        raise InputError(_not_a_step(step))
    return Affine.of(step, width)


def _not_a_step(step: Any) -> str:
    needs = "steps that are scalers, or a fitted lift whose features are polynomials"
    remedy = "Use Polynomial(), Parabolic() or PolynomialFeatures(), one of them, and fit it."
    return message(needs, f"got {type(step).__name__}", remedy)


def _columns(width: int) -> Expansion:
    """The columns themselves, where there is no lift."""
    return Expansion.weighted(width, combinations(width, 1, lowest=1), np.ones(width))
