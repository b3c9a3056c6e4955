"""Learners on strings, and on tables of strings and numbers: the same as on the matrix of the kernel."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from kernels.objects.letters import Letters, Pairwise
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_predict

from mercer import (
    KernelKMeans,
    KernelLogisticRegression,
    KernelOneClassSVM,
    KernelPCA,
    KernelPerceptron,
    KernelRidge,
    KernelRidgeClassifier,
    KernelSVC,
    KernelSVR,
    SpectralClustering,
    hsic,
    lift,
    mmd,
)
from mercer.errors import InputError
from mercer.kernels import Gaussian
from mercer.lifts import Counts, Nystrom

pytestmark = pytest.mark.slow

RANDOM = np.random.default_rng(0)


def words(count, letters):
    return ["".join(RANDOM.choice(list(letters), RANDOM.integers(3, 9))) for _ in range(count)]


TEXTS = words(40, "abcde") + words(40, "cdefg")
NEW = [*words(10, "abcde"), *words(10, "cdefg"), "", "xyz"]
SIDE = np.repeat(["left", "right"], 40)
AGES = RANDOM.normal(size=80)
TARGET = np.array([text.count("a") for text in TEXTS]) + AGES
FRAME, NEW_FRAME = (
    pd.DataFrame({"text": TEXTS, "age": AGES, "unused": ["?"] * 80}),
    pd.DataFrame({"text": NEW, "age": RANDOM.normal(size=22), "unused": ["!"] * 22}),
)
KERNELS = [Letters(), Pairwise()]
MIXED = [leaf.on("text") + Gaussian(1.0).on("age") for leaf in KERNELS]
CASES = [(kernel, TEXTS, NEW) for kernel in KERNELS] + [(kernel, FRAME, NEW_FRAME) for kernel in MIXED]
case = pytest.mark.parametrize(("kernel", "X", "new"), CASES, ids=[str(kernel) for kernel, _, _ in CASES])


@case
@pytest.mark.parametrize("model", [KernelRidge(alpha=0.5), KernelSVR(C=2.0), KernelRidge()], ids=repr)
def test_regression(model, kernel, X, new):
    here = clone(model).set_params(kernel=kernel).fit(X, TARGET)
    there = clone(model).set_params(kernel="precomputed").fit(kernel(X), TARGET)
    np.testing.assert_allclose(here.predict(new), there.predict(kernel(new, X)), rtol=1e-3, atol=2e-3)


@case
@pytest.mark.parametrize(
    "model",
    [KernelRidgeClassifier(alpha=0.5), KernelSVC(C=2.0), KernelLogisticRegression(alpha=1.0), KernelPerceptron()],
    ids=repr,
)
def test_classification(model, kernel, X, new):
    here = clone(model).set_params(kernel=kernel).fit(X, SIDE)
    there = clone(model).set_params(kernel="precomputed").fit(kernel(X), SIDE)
    scores, expected = here.decision_function(new), there.decision_function(kernel(new, X))
    np.testing.assert_allclose(scores, expected, rtol=1e-3, atol=2e-3 * np.abs(expected).max())
    assert here.score(X, SIDE) > 0.7


@case
def test_components_clusters_and_one_class(kernel, X, new):
    K, cross = kernel(X), kernel(new, X)
    for solver in ("exact", "krylov", "landmarks"):
        here = KernelPCA(
            kernel, n_components=2, method=solver, n_landmarks=80 if solver == "landmarks" else None, random_state=0
        ).fit(X)
        there = KernelPCA("precomputed", n_components=2).fit(K)
        np.testing.assert_allclose(here.transform(new), there.transform(cross), atol=1e-5)
    clusters = KernelKMeans(2, kernel=kernel, random_state=0).fit(X)
    assert np.isclose(
        clusters.inertia_, KernelKMeans(2, kernel="precomputed", random_state=0).fit(K).inertia_, rtol=1e-6
    )
    assert clusters.predict(new).shape == (22,)
    assert np.isclose(clusters.score(X), -clusters.inertia_)
    assert SpectralClustering(2, kernel=kernel, random_state=0).fit_predict(X).shape == (80,)
    assert KernelOneClassSVM(kernel).fit(X).predict(new).shape == (22,)


@case
def test_landmarks_and_features(kernel, X, new):
    nystrom = Nystrom(kernel, random_state=0).fit(X)
    features, others = nystrom.transform(X), nystrom.transform(new)
    np.testing.assert_allclose(others @ features.T, kernel(new, X), atol=1e-7)
    assert nystrom.certificate(X).bound < 1e-6


def test_counts_are_features_of_the_kernel():
    kernel = 2.0 * Letters().on("text").normalized() + Letters().on("text")
    phi = lift(kernel, FRAME)
    assert isinstance(phi, Counts)
    features, others = phi.transform(FRAME), phi.transform(NEW_FRAME)
    np.testing.assert_allclose((features @ features.T).toarray(), kernel(FRAME), atol=1e-12)
    np.testing.assert_allclose((others @ features.T).toarray(), kernel(NEW_FRAME, FRAME), atol=1e-12)
    assert features.shape[1] == others.shape[1] == phi.n_components_ == len(phi.get_feature_names_out()) == 14


def test_searches_folds_clones_and_pickles():
    grid = GridSearchCV(KernelRidgeClassifier(Letters()), {"alpha": [0.1, 10.0]}, cv=3).fit(TEXTS, SIDE)
    assert grid.best_score_ > 0.7
    model = KernelSVC(MIXED[0]).fit(FRAME, SIDE)
    again = pickle.loads(pickle.dumps(model))  # noqa: S301
    np.testing.assert_array_equal(again.predict(NEW_FRAME), model.predict(NEW_FRAME))
    assert (cross_val_predict(KernelRidge(MIXED[0], alpha=1.0), FRAME, TARGET, cv=4) - TARGET).std() < TARGET.std()


def test_tests_of_difference_and_of_dependence():
    assert mmd(TEXTS[:40], TEXTS[40:], kernel=Letters(), random_state=0).p_value < 0.01
    assert mmd(TEXTS[:20], TEXTS[20:40], kernel=Letters(), random_state=0).p_value > 0.01
    assert hsic(TEXTS, np.where(SIDE == "left", 0.0, 1.0)[:, None], kernel_x=Letters(), random_state=0).p_value < 0.01


def test_other_columns_are_refused():
    model = KernelRidge(MIXED[0], alpha=1.0).fit(FRAME, TARGET)
    assert model.n_features_in_ == 3
    assert list(model.feature_names_in_) == ["text", "age", "unused"]
    with pytest.raises(InputError, match="the columns of the fit"):
        model.predict(NEW_FRAME[["text", "age"]])
    with pytest.raises(InputError, match="numbers"):
        KernelPCA(Letters(), n_components=2, fit_inverse_transform=True).fit(TEXTS)
