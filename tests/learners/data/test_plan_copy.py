"""A plan does not learn what takes long: landmarks and centers are counted, and where that is quick it is the fit's."""

import numpy as np
import pytest
from sklearn.base import clone

from mercer.errors import InputError
from mercer.learners import (
    KernelKMeans,
    KernelLogisticRegression,
    KernelOneClassSVM,
    KernelPCA,
    KernelPerceptron,
    KernelRidge,
    KernelRidgeClassifier,
    KernelSVC,
    KernelSVR,
    Perceptron,
)
from mercer.learners.data.plan_copy import draft
from mercer.lifts import Nystrom, RadialBasis, centers
from mercer.lifts.landmarks import WAYS
from mercer.lifts.scaled import Scaled

ROWS, LANDMARKS = 10_000, 600
X = np.random.default_rng(0).normal(size=(ROWS, 3))
Y, CLASSES = X[:, 0], (X[:, 1] > 0).astype(int)
LEARNERS = [
    (KernelRidge(), (X, Y), "n_features"),
    (KernelRidgeClassifier(), (X, CLASSES), "n_features"),
    (KernelSVC(method="landmarks"), (X, CLASSES), "n_features"),
    (KernelSVR(method="landmarks"), (X, Y), "n_features"),
    (KernelOneClassSVM(method="landmarks"), (X,), "n_features"),
    (KernelLogisticRegression(), (X, CLASSES), "n_features"),
    (KernelPCA(), (X,), "n_features"),
    (KernelKMeans(), (X,), "n_features"),
    (KernelPerceptron(), (X, CLASSES), None),
    (Perceptron(), (X, CLASSES), None),
]
"""With the data, and the name under which a plan has the number of features."""


@pytest.fixture
def forbidden(monkeypatch):
    """Nobody may choose landmarks or centers of all rows."""

    def refuse(*given, **named):
        raise AssertionError("a plan learns")

    for landmarks in ("pivoted", "uniform", "kmeans"):
        monkeypatch.setitem(WAYS, landmarks, refuse)
    monkeypatch.setattr(centers, "means", refuse)


@pytest.mark.parametrize(("model", "data", "counted"), LEARNERS, ids=lambda given: type(given).__name__)
@pytest.mark.parametrize(
    "lift",
    [
        Nystrom("laplace(2)", LANDMARKS),
        Nystrom("laplace(2)", LANDMARKS, landmarks="kmeans"),
        2.0 * Nystrom("laplace(2)", LANDMARKS),
        RadialBasis(n_components=LANDMARKS, lengthscale=2.0),
    ],
    ids=["pivoted", "kmeans", "scaled", "centers"],
)
def test_no_plan_learns_a_lift(forbidden, model, data, counted, lift):
    model = clone(model).set_params(kernel=lift)
    plan = model.plan(*data)
    assert plan.seconds > 0
    assert counted is None or getattr(plan, counted) == LANDMARKS
    assert model.kernel is lift
    assert not hasattr(lift, "n_components_")


def test_landmarks_that_are_quick_to_choose_are_chosen():
    """The kernel has only so many: a plan that asked for all of them would be wrong."""
    few = X[:300]
    model = KernelRidge(Nystrom("polynomial(1)", random_state=0), alpha=0.1)
    assert model.plan(few, Y[:300]).n_features == model.fit(few, Y[:300]).plan_.n_features == 4


def test_a_plan_knows_that_a_kernel_has_fewer_landmarks_than_it_is_asked_for(forbidden):
    """Monomials up to the second degree of three columns."""
    assert KernelRidge(Nystrom("polynomial(2)", LANDMARKS), alpha=0.1).plan(X, Y).n_features == 10


def test_tables_of_landmarks_are_what_they_are():
    model = KernelRidge(Nystrom("gaussian(0.3)", landmarks=X[:700]), alpha=0.1)
    assert model.plan(X, Y).n_features == 700


def test_parts_of_composed_lifts_are_drafts_and_settings_stay():
    lift = 3.0 * RadialBasis(n_components=7, lengthscale=2.0, random_state=5)
    found = draft(Perceptron(lift)).kernel
    assert type(found) is Scaled
    assert found.factor == 3.0
    assert found.lift.get_params() == {
        "centers": "random", "n_components": 7, "lengthscale": 2.0, "random_state": 5
    }  # fmt: skip
    assert lift.lift.centers == "kmeans"


def test_a_draft_refuses_what_the_lift_refuses():
    with pytest.raises(InputError, match="landmarks to be one of"):
        KernelRidge(Nystrom("laplace(2)", LANDMARKS, landmarks="best")).plan(X, Y)
    with pytest.raises(InputError, match="at most as many landmarks as rows"):
        KernelRidge(Nystrom("gaussian(2)", ROWS + 1)).plan(X, Y)
    with pytest.raises(InputError, match=r"KernelPCA needs .*; Nystrom overflows on this data"):
        KernelPCA(Nystrom("polynomial(2)", LANDMARKS)).plan(X * 1e72)


@pytest.mark.parametrize(
    "model", [KernelPCA(), KernelPerceptron(), Perceptron()], ids=lambda model: type(model).__name__
)
def test_a_plan_takes_no_weights_where_the_fit_takes_none(model):
    few = np.arange(20)
    with pytest.raises(InputError, match="needs rows that all count once; got sample_weight"):
        model.plan(X[few], CLASSES[few], sample_weight=np.ones(20))


def test_a_plan_takes_weights_where_the_fit_takes_some():
    few, weights = np.arange(20), np.repeat([0.0, 1.0], 10)
    assert KernelRidge().plan(X[few], Y[few], sample_weight=weights).rows == 10
