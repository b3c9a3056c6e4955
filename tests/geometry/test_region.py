"""Regions of fitted pipelines, against the pipelines' own decisions."""

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import (
    LinearRegression,
    LogisticRegression,
    Perceptron,
    Ridge,
    RidgeClassifier,
    SGDClassifier,
)
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from mercer.errors import InputError
from mercer.geometry import Ball, Ellipse, Ellipsoid, HalfSpace, Inequality, Quadric, region
from mercer.lifts.monomials import Monomials
from mercer.lifts.parabolic import Parabolic
from mercer.lifts.polynomial import Polynomial
from mercer.lifts.subsets import Subsets
from mercer.lifts.trigonometric import Trigonometric

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 2)) * [30.0, 0.02] + [1000.0, -3.0]
U = (X - [1000.0, -3.0]) / [30.0, 0.02]
Y = np.einsum("ni,ij,nj->n", U, [[0.8, 0.1], [0.1, 0.5]], U) < 1


def agree(found, model, rows=X, decide=None):
    """The region and the decision function give the same side, save at the boundary."""
    values = (decide or model.decision_function)(rows)
    clear = np.abs(values) > 1e-9 * np.abs(values).max()
    assert clear.sum() > 0.95 * len(rows)
    np.testing.assert_array_equal(found.contains(rows)[clear], values[clear] >= 0)


MODELS = {
    "logistic": LogisticRegression(),
    "svc": LinearSVC(),
    "linear svc of libsvm": SVC(kernel="linear"),
    "ridge": RidgeClassifier(),
    "perceptron": Perceptron(),
    "sgd": SGDClassifier(random_state=0),
    "lda": LinearDiscriminantAnalysis(),
    "logistic without intercept": LogisticRegression(fit_intercept=False),
}
SCALERS = {
    "standard": StandardScaler(),
    "no mean": StandardScaler(with_mean=False),
    "no deviation": StandardScaler(with_std=False),
    "minmax": MinMaxScaler((-1, 2)),
    "maxabs": MaxAbsScaler(),
    "robust": RobustScaler(),
    "robust without center": RobustScaler(with_centering=False),
    "two": make_pipeline(StandardScaler(), MinMaxScaler()),
    "passthrough": "passthrough",
}


@pytest.mark.parametrize("name", MODELS)
def test_models(name):
    model = make_pipeline(StandardScaler(), PolynomialFeatures(2), MODELS[name]).fit(X, Y)
    found = region(model)
    agree(found, model)
    assert isinstance(found, Ellipse)
    assert found.inside
    np.testing.assert_allclose(found.center, [1000, -3], atol=15)


@pytest.mark.parametrize("name", SCALERS)
@pytest.mark.parametrize("after", [False, True])
def test_scalers(name, after):
    features = PolynomialFeatures(2, include_bias=False)
    second = RobustScaler() if after else "passthrough"
    model = make_pipeline(SCALERS[name], features, second, RidgeClassifier(alpha=1e-3)).fit(U + 1, Y)
    found = region(model)
    agree(found, model, U + 1)
    assert isinstance(found, Ellipse)


def test_a_known_ellipse_in_original_units():
    """A regression that is exact: the ellipse of 4 - (a/3)^2 - (b/0.01)^2 about (1000, -3), its level at 3."""
    target = 4 - ((X[:, 0] - 1000) / 3) ** 2 - ((X[:, 1] + 3) / 0.01) ** 2
    model = make_pipeline(StandardScaler(), PolynomialFeatures(2), StandardScaler(), LinearRegression()).fit(X, target)
    for threshold, size in ((0.0, 2.0), (3.0, 1.0)):
        found = region(model, threshold=threshold)
        np.testing.assert_allclose(found.axes, [3 * size, 0.01 * size], rtol=1e-9)
        np.testing.assert_allclose(found.center, [1000, -3], rtol=1e-10)
        assert math.tan(found.angle) == pytest.approx(0, abs=1e-12)
        agree(found, model, decide=lambda rows, t=threshold: model.predict(rows) - t)


def test_names_come_from_the_table():
    table = pd.DataFrame(X, columns=["age", "net income"])
    model = make_pipeline(StandardScaler(), PolynomialFeatures(2), LogisticRegression()).fit(table, Y)
    found = region(model)
    assert found.names == ("age", "net income")
    assert "(age, net income) = (" in str(found)
    np.testing.assert_array_equal(found.contains(table), model.predict(table))
    with pytest.raises(InputError, match="This ellipse needs the columns age, net income; got net income, age"):
        found.contains(table[["net income", "age"]])
    assert region(LogisticRegression().fit(table, Y)).names == ("age", "net income")


def test_without_a_lift_it_is_a_halfspace():
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, U[:, 0] > U[:, 1])
    assert isinstance(region(model), HalfSpace)
    agree(region(model), model)
    agree(region(model[-1]), model[-1], U)


def test_higher_degrees_are_inequalities():
    model = make_pipeline(StandardScaler(), PolynomialFeatures(4), LogisticRegression()).fit(X, Y)
    found = region(model)
    assert isinstance(found, Inequality)
    assert found.degree == 4
    np.testing.assert_allclose(found.value(X), model.decision_function(X), rtol=1e-9, atol=1e-9)
    agree(found, model)


def test_three_columns_are_ellipsoids():
    Z = RNG.normal(size=(600, 3)) * [1, 2, 3]
    labels = (Z**2 / [1, 4, 9]).sum(axis=1) < 2
    model = make_pipeline(StandardScaler(), PolynomialFeatures(2), LogisticRegression(C=10)).fit(Z, labels)
    found = region(model)
    agree(found, model, Z)
    assert isinstance(found, Ellipsoid)
    np.testing.assert_allclose(found.axes, np.sqrt(2) * np.array([3, 2, 1]), rtol=0.1)


def test_the_other_class_is_the_other_side():
    labels = np.where(Y, "inner", "outer")
    model = make_pipeline(StandardScaler(), PolynomialFeatures(2), LogisticRegression()).fit(X, labels)
    assert not region(model).inside  # "outer" is the second class
    inner = region(model, positive="inner")
    assert inner.inside
    np.testing.assert_array_equal(inner.contains(X), model.predict(X) == "inner")


def test_one_of_many_classes_against_the_rest():
    labels = np.digitize((U**2).sum(axis=1), [0.5, 2.0])
    model = make_pipeline(StandardScaler(), PolynomialFeatures(2), LinearSVC()).fit(X, labels)
    found = region(model, positive=2)
    assert not found.inside
    np.testing.assert_array_equal(found.contains(X), model.decision_function(X)[:, 2] >= 0)


CIRCLE = (U**2).sum(axis=1) < 1
LIFTS = {
    "parabolic": (Parabolic(), Ball),
    "polynomial": (Polynomial(2), Ellipse),
    "polynomial without offset": (Polynomial(2, offset=0.0), Ellipse),
    "monomials": (Monomials(2, include_bias=False), Ellipse),
    "cubic": (Polynomial(3), Inequality),
    "subsets": (Subsets(), Quadric),
}


@pytest.mark.parametrize("name", LIFTS)
def test_lifts_of_mercer(name):
    lift, kind = LIFTS[name]
    model = make_pipeline(lift, StandardScaler(with_mean=False), LogisticRegression()).fit(U, CIRCLE)
    found = region(model)
    agree(found, model, U)
    assert isinstance(found, kind)
    raw = make_pipeline(StandardScaler(), lift, LogisticRegression()).fit(X, CIRCLE)
    agree(region(raw), raw)


def test_a_ball_behind_an_uneven_scaler_is_an_ellipse():
    model = make_pipeline(StandardScaler(), Parabolic(), LogisticRegression()).fit(X, CIRCLE)
    found = region(model)
    assert isinstance(found, Ellipse)
    spread = model[0].scale_
    assert found.axes[0] / found.axes[1] == pytest.approx(spread[0] / spread[1], rel=1e-12)
    even = StandardScaler(with_std=False)
    assert isinstance(region(make_pipeline(even, Parabolic(), LogisticRegression()).fit(U, CIRCLE)), Ball)


def test_lifts_that_are_no_polynomials_are_refused():
    model = make_pipeline(Trigonometric(), LogisticRegression()).fit(U, CIRCLE)
    with pytest.raises(InputError, match="a fitted lift whose features are polynomials; got Trigonometric"):
        region(model)


def test_pipelines_within_pipelines_and_searches():
    inner = make_pipeline(StandardScaler(), PolynomialFeatures(2))
    model = Pipeline([("nothing", None), ("inner", inner), ("model", LogisticRegression())]).fit(X, Y)
    agree(region(model), model)
    search = GridSearchCV(make_pipeline(inner, LogisticRegression()), {"logisticregression__C": [0.1, 1]}, cv=2).fit(
        X, Y
    )
    agree(region(search), search)
    last = make_pipeline(inner, GridSearchCV(LogisticRegression(), {"C": [0.1, 1]}, cv=2)).fit(X, Y)
    agree(region(last), last)


def test_sparse_weights():
    model = make_pipeline(StandardScaler(), PolynomialFeatures(2), LogisticRegression()).fit(X, Y)
    dense = region(model)
    model[-1].sparsify()
    assert region(model) == dense


def test_a_circle_found_by_an_exact_fit():
    model = make_pipeline(PolynomialFeatures(2), LinearRegression()).fit(U, 2 - (U**2).sum(axis=1))
    found = region(model)
    assert isinstance(found, Ball)
    assert found.radius == pytest.approx(math.sqrt(2), rel=1e-12)


def fitted(*steps, labels=Y):
    return make_pipeline(*steps).fit(U, labels)


THREE = np.digitize(U[:, 0], [-0.5, 0.5])


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (
            lambda: region(fitted(PolynomialFeatures(2), LogisticRegression(), labels=THREE)),
            "region needs two classes; there are 3. Say which one is meant, as in positive=0.",
        ),
        (
            lambda: region(fitted(PolynomialFeatures(2), SVC(kernel="linear"), labels=THREE), positive=0),
            "one decision per class; SVC has decisions between pairs of classes. Use LinearSVC",
        ),
        (
            lambda: region(fitted(PolynomialFeatures(2), LogisticRegression()), positive="yes"),
            r"one of the classes \[False, True\]; got positive='yes'",
        ),
        (
            lambda: region(fitted(PCA(), PolynomialFeatures(2), LogisticRegression())),
            "steps that are scalers, or a fitted lift whose features are polynomials; got PCA. Use Polynomial",
        ),
        (
            lambda: region(fitted(PolynomialFeatures(2), PolynomialFeatures(2), LogisticRegression())),
            "got PolynomialFeatures. Use .* one of them",
        ),
        (
            lambda: region(make_pipeline(PolynomialFeatures(2), LogisticRegression())),
            "a fitted linear model at the end; got LogisticRegression, without coef_. Fit the pipeline",
        ),
        (lambda: region(fitted(PolynomialFeatures(2), SVC())), "got SVC, without coef_"),
        (lambda: region(fitted(DecisionTreeClassifier())), "got DecisionTreeClassifier, without coef_"),
        (
            lambda: region(fitted(MinMaxScaler(clip=True), LogisticRegression())),
            r"scalers that are affine; got MinMaxScaler\(clip=True\). Use clip=False.",
        ),
        (lambda: region(fitted(Ridge(), labels=U)), "a regressor of one target; this one predicts 2"),
        (lambda: region(fitted(Ridge()), positive=1), "a classifier to know classes; got positive=1. Use threshold="),
        (lambda: region(_unfinite()), "finite weights; some are not. Look at coef_ and intercept_."),
        (lambda: region(_mismatched()), "a weight for each of 6 columns; LogisticRegression has 3. Put its"),
    ],
)
def test_refusals_of_pipelines(action, words):
    with pytest.raises(InputError, match=words):
        action()


def _unfinite():
    model = fitted(LogisticRegression())
    model[-1].coef_[0, 0] = np.nan
    return model


def _mismatched():
    model = fitted(PolynomialFeatures(2), LogisticRegression())
    model[-1].coef_ = model[-1].coef_[:, :3]
    return model
