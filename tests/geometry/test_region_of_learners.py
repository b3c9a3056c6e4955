"""Regions of Mercer's own learners: against their decisions on thousands of points, and polynomials made by hand."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import mercer
from mercer import (
    KernelLogisticRegression,
    KernelOneClassSVM,
    KernelPCA,
    KernelPerceptron,
    KernelRidge,
    KernelRidgeClassifier,
    KernelSVC,
    KernelSVR,
    Perceptron,
    region,
)
from mercer.errors import InputError
from mercer.geometry import Ball, Ellipse, Empty, Everything, HalfSpace, Inequality, Quadric
from mercer.kernels import Linear
from mercer.lifts import Monomials, Nystrom, Parabolic, Polynomial
from mercer.solvers import GradientDescent

RNG = np.random.default_rng(0)
X = RNG.uniform(-2, 2, size=(160, 2))
INSIDE = (X[:, 0] - 0.2) ** 2 + 1.5 * X[:, 1] ** 2 < 1.8
TARGET = 1.8 - (X[:, 0] - 0.2) ** 2 - 1.5 * X[:, 1] ** 2 + 0.1 * RNG.normal(size=len(X))
NEW = RNG.uniform(-3, 3, size=(4000, 2))


def decisions(model, rows):
    found = getattr(model, "decision_function", None) or model.predict
    return np.asarray(found(rows), dtype=float)


def agree(found, model, rows=NEW, level=0.0):
    """The region has the rows that the model decides for, save at the boundary."""
    values = decisions(model, rows) - level
    clear = np.abs(values) > 1e-9 * np.abs(values).max()
    assert clear.mean() > 0.95
    np.testing.assert_array_equal(found.contains(rows)[clear], values[clear] >= 0)


def fitted(model, rows=X):
    regression = isinstance(model, KernelRidge | KernelSVR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # perceptrons and descents that stop are as good here
        return model.fit(rows, TARGET if regression else INSIDE)


LEARNERS = {
    "perceptron": lambda kernel: Perceptron(kernel, max_iter=20),
    "averaged perceptron": lambda kernel: Perceptron(kernel, fit_intercept=False, combine="averaged", max_iter=20),
    "kernel perceptron": lambda kernel: KernelPerceptron(kernel, max_iter=20),
    "averaged kernel perceptron": lambda kernel: KernelPerceptron(kernel, combine="averaged", max_iter=20),
    "kernel perceptron on a budget": lambda kernel: KernelPerceptron(kernel, budget=30, max_iter=20),
    "ridge": lambda kernel: KernelRidge(kernel, alpha=0.1),
    "ridge without intercept": lambda kernel: KernelRidge(kernel, alpha=0.1, fit_intercept=False),
    "descent": lambda kernel: KernelRidge(kernel, alpha=1.0, solver=GradientDescent(max_iter=50)),
    "ridge classifier": lambda kernel: KernelRidgeClassifier(kernel, alpha=0.1),
    "logistic": lambda kernel: KernelLogisticRegression(kernel),
    "exact logistic": lambda kernel: KernelLogisticRegression(kernel, method="exact"),
    "svc": lambda kernel: KernelSVC(kernel, C=1.0),
    "svr": lambda kernel: KernelSVR(kernel, epsilon=0.2),
    "one class": lambda kernel: KernelOneClassSVM(kernel, nu=0.3),
}
KERNELS = {
    "parabolic": Ball,
    "polynomial(degree=2)": Quadric | Ellipse,
    "1 + linear": HalfSpace | Empty,  # an SVM finds no line
    "linear.after([[1, 2], [3, -1]])": HalfSpace | Empty,
    "0.5*parabolic + 3": Ball,
    "parabolic.scaled([2, 0.5])": Ellipse,
    "(1 + linear)**3": Inequality,
    "polynomial(degree=2).on(1)": Quadric,
    "polynomial(degree=2).after([[2, 1]])": Quadric | Empty,
    "subsets": Quadric | Empty,
}


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_of_a_finite_lift(name, kernel):
    origin = 3.0 if name == "one class" else 0.0  # among the rows there is nothing to tell from it
    model = fitted(LEARNERS[name](mercer.parse(kernel)), X + origin)
    found = region(model)
    agree(found, model, NEW + origin)
    assert isinstance(found, KERNELS[kernel])


LIFTS = [Parabolic(), Polynomial(2), Monomials(2), 2.0 * Parabolic(), Parabolic() + Monomials(1)]


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("lift", LIFTS, ids=str)
def test_lifts_that_are_given(name, lift):
    model = fitted(LEARNERS[name](lift))
    agree(region(model), model)


LANDMARKS = {
    "ridge": KernelRidge("polynomial(degree=2)", alpha=0.1, method="landmarks", n_landmarks=6, random_state=0),
    "svc": KernelSVC("parabolic", method="landmarks", n_landmarks=4, random_state=0),
    "logistic": KernelLogisticRegression("parabolic", method="landmarks", n_landmarks=4, random_state=0),
    "a lift of landmarks": KernelSVC(Nystrom("parabolic", 3, random_state=0)),
    "fewer than features": KernelRidge(Nystrom("polynomial(degree=2)", 3, random_state=0), alpha=0.1),
}


@pytest.mark.parametrize("name", LANDMARKS)
def test_landmarks(name):
    model = fitted(LANDMARKS[name])
    agree(region(model), model)


def test_landmarks_in_a_pipeline():
    model = make_pipeline(Nystrom("parabolic", 3, random_state=0), LogisticRegression()).fit(X, INSIDE)
    agree(region(model), model)
    with pytest.raises(InputError, match="features are polynomials; got Nystrom"):
        region(make_pipeline(Nystrom("gaussian(1)", 4, random_state=0), LogisticRegression()).fit(X, INSIDE))


def polynomial(shape):
    """The coefficients of 1, x1, x2, x1^2, x1 x2, x2^2, of length 1."""
    terms = shape.terms.expanded()
    keys = [(), (0,), (1,), (0, 0), (0, 1), (1, 1)]
    given = {
        tuple(c for c in row if c >= 0): z for row, z in zip(terms.factors.tolist(), terms.coefficients, strict=True)
    }
    assert set(given) <= set(keys)
    numbers = np.array([given.get(key, 0.0) for key in keys])
    return numbers / np.linalg.norm(numbers)


@pytest.mark.parametrize("C", [1.0, np.inf])
def test_coefficients_of_an_svc_by_hand(C):
    """f = sum_j a_j (1 + x_j.x)^2 + b, multiplied out."""
    rows = X[np.abs(TARGET) > 0.4]
    model = KernelSVC("polynomial(degree=2)", C=C).fit(rows, rows[:, 0] ** 2 + 1.5 * rows[:, 1] ** 2 < 1.8)
    a, (u, v) = model.dual_coef_, rows[model.support_].T
    by_hand = [a.sum() + model.intercept_, 2 * a @ u, 2 * a @ v, a @ u**2, 2 * a @ (u * v), a @ v**2]
    np.testing.assert_allclose(polynomial(region(model)), by_hand / np.linalg.norm(by_hand), atol=1e-10)


def test_coefficients_of_a_perceptron_by_hand():
    """theta after the steps of the lecture, on (x1, x2, x1^2 + x2^2) and 1."""
    phi, y = np.column_stack([X, (X**2).sum(axis=1), np.ones(len(X))]), np.where(INSIDE, 1, -1)
    theta = np.zeros(4)
    for _ in range(7):
        for i in range(len(X)):
            if y[i] * (theta @ phi[i]) <= 0:
                theta += y[i] * phi[i]
    by_hand = np.array([theta[3], theta[0], theta[1], theta[2], 0, theta[2]])
    for model in (Perceptron(Parabolic(), max_iter=7), KernelPerceptron("parabolic + 1", max_iter=7)):
        found = region(fitted(model))
        np.testing.assert_allclose(polynomial(found), by_hand / np.linalg.norm(by_hand), atol=1e-12)


def test_coefficients_of_ridge_by_hand():
    """Least squares on the features of (1 + x.z)^2, with an intercept that has no penalty."""
    x1, x2 = X.T
    root = np.sqrt(2)
    phi = np.column_stack([root * x1, root * x2, x1**2, root * x1 * x2, x2**2])
    centred = phi - phi.mean(axis=0)
    w = np.linalg.solve(centred.T @ centred + 0.1 * np.eye(5), centred.T @ (TARGET - TARGET.mean()))
    by_hand = np.append(TARGET.mean() - phi.mean(axis=0) @ w - 0.5, w * [root, root, 1, root, 1])
    found = region(fitted(KernelRidge("polynomial(degree=2)", alpha=0.1)), threshold=0.5)
    np.testing.assert_allclose(polynomial(found), by_hand / np.linalg.norm(by_hand), atol=1e-10)


@pytest.mark.parametrize("name", ["perceptron", "kernel perceptron", "ridge classifier", "exact logistic", "svc"])
def test_pipelines_before_a_learner(name):
    far = X * [30.0, 0.02] + [1000.0, -3.0]
    new = NEW * [30.0, 0.02] + [1000.0, -3.0]
    for steps, kernel in [
        ((StandardScaler(),), "polynomial(degree=2)"),
        ((MinMaxScaler((-1, 2)), StandardScaler(with_mean=False)), "parabolic"),
        ((StandardScaler(), Polynomial(2)), "linear"),
        ((StandardScaler(), Parabolic(), StandardScaler()), "2*linear + 1"),
    ]:
        model = fitted(make_pipeline(*steps, LEARNERS[name](kernel)), far)
        agree(region(model), model, new)
    twice = fitted(make_pipeline(StandardScaler(), Polynomial(2), LEARNERS[name]("parabolic")), far)
    with pytest.raises(InputError, match=r"got Polynomial\. Use .* one of them"):
        region(twice)


@pytest.mark.parametrize("kernel", ["linear", "1 + linear", "linear + linear.after([[1, 1]])"])
def test_a_line_that_separates_nothing_is_no_far_halfspace(kernel):
    """Exercise 17, A: f is -1 everywhere, and what is left of w is rounding."""
    model = KernelSVC(kernel, C=10.0, tol=1e-12).fit(X, INSIDE)
    assert (model.decision_function(NEW) < -0.99).all()
    assert isinstance(region(model), Empty)
    assert isinstance(region(model, positive=False), Everything)
    assert not model.coef_.any()
    assert model.margin_ == np.inf


def test_columns_by_name():
    table = pd.DataFrame(X, columns=["age", "income"])
    kernel = mercer.parse("polynomial(degree=2).on('age') + linear.on('income')")
    model = KernelSVC(kernel).fit(table, INSIDE)
    found = region(model)
    assert found.names == ("age", "income")
    values = model.decision_function(pd.DataFrame(NEW, columns=["age", "income"]))
    np.testing.assert_array_equal(found.contains(NEW), values >= 0)


def test_one_of_three_classes():
    y = np.digitize((X**2).sum(axis=1), [0.8, 2.5])
    for model in (KernelRidgeClassifier("parabolic"), Perceptron("parabolic"), KernelLogisticRegression("parabolic")):
        model.fit(X, y)
        found = region(model, positive=2)
        np.testing.assert_array_equal(found.contains(NEW), model.decision_function(NEW)[:, 2] >= 0)
        with pytest.raises(InputError, match=r"two classes; there are 3\. Say which one is meant, as in positive=0"):
            region(model)
    with pytest.raises(InputError, match="KernelSVC has decisions between pairs of classes"):
        region(KernelSVC("parabolic").fit(X, y), positive=0)


def test_the_first_class_is_the_other_side():
    names = np.where(INSIDE, "in", "out")
    for model in (KernelSVC("parabolic"), KernelPerceptron("parabolic"), KernelRidgeClassifier("parabolic")):
        model.fit(X, names)
        found = region(model, positive="in")
        assert found.inside
        np.testing.assert_array_equal(found.contains(NEW), model.predict(NEW) == "in")


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (
            KernelSVC("gaussian(1)"),
            "weights of finitely many features; got KernelSVC, without coef_: the kernel has no",
        ),
        (KernelPerceptron("gaussian(1)"), "got KernelPerceptron, without coef_: the kernel has no finite lift"),
        (KernelRidge("gaussian(1)"), "got KernelRidge, without coef_: the kernel has no finite lift"),
        (KernelLogisticRegression("gaussian(1)"), "KernelLogisticRegression, without coef_: the kernel has no finite"),
        (KernelSVC("trigonometric(order=2)"), r"features that are polynomials; those of trigonometric.* are not"),
        (KernelRidge(Linear().weighted(np.exp), alpha=1), "features that are polynomials; those of Exact are not"),
        (KernelPerceptron("parabolic", combine="voted"), "one function; it predicts by a vote of many functions"),
        (KernelPCA("linear"), "a fitted linear model at the end; got KernelPCA, without coef_"),
    ],
)
def test_what_has_no_shape_is_refused(model, words):
    with pytest.raises(InputError, match=words):
        region(model.fit(X[:, :1], INSIDE if not isinstance(model, KernelRidge) else TARGET))


def test_a_matrix_has_no_columns():
    with pytest.raises(InputError, match="got KernelSVC, without coef_: the kernel has no finite lift"):
        region(KernelSVC("precomputed").fit(X @ X.T, INSIDE))


def test_a_learner_that_is_not_fitted():
    with pytest.raises(InputError, match=r"a fitted linear model at the end; got KernelSVC, without coef_\. Fit"):
        region(KernelSVC("linear"))


def test_weights_that_are_none_of_columns():
    model = LogisticRegression().fit(X, INSIDE)
    model.coef_ = np.ones((1, 3))
    with pytest.raises(InputError, match="a weight for each of 2 columns; LogisticRegression has 3"):
        region(model)
