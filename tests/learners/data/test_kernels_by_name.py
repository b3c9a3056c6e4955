"""A kernel that is named without its lengthscale: in learners and lifts that is open, and found from the rows."""

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import mercer
from mercer import kernels as k
from mercer.lifts import Nystrom, RandomFourier
from mercer.tuning import loo_path

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3)) * 5
LABELS = X[:, 0] > 0
FOUND = k.Gaussian("median").resolve(X)

TEXTS = {
    "rbf": k.Gaussian("median"),
    "gaussian()": k.Gaussian("median"),
    "laplace": k.Laplace("median"),
    "matern(nu=2.5)": k.Matern(2.5, "median"),
    "matern(2.5)": k.Matern(2.5, "median"),
    "matern(2.5, 3)": k.Matern(2.5, 3.0),
    "rbf + linear": k.Gaussian("median") + k.Linear(),
    "2 * (rbf + 1) * rbf(2)": 2 * (k.Gaussian("median") + 1) * k.Gaussian(2.0),
    "rbf.on([0]) + rbf.on([1]).scaled([2])": k.Gaussian("median").on([0]) + k.Gaussian().on([1]).scaled([2.0]),
    "(rbf + laplace).scaled([1, 2, 3]) + rbf": (k.Gaussian() + k.Laplace()).scaled([1, 2, 3]) + k.Gaussian("median"),
    "rbf('median').scaled([1, 2, 3])": k.Gaussian("median").scaled([1, 2, 3]),
    "periodic * polynomial(2)": k.Periodic() * k.Polynomial(2),
    "exp(rbf)": mercer.exp(k.Gaussian("median")),
    "wendland(3).normalized()": k.Wendland(3, lengthscale="median").normalized(),
}


@pytest.mark.parametrize("text", TEXTS)
def test_a_lengthscale_that_a_text_leaves_out_is_open(text):
    assert mercer.parse(text, open=True) == TEXTS[text]


def test_plain_texts_keep_their_defaults():
    assert mercer.parse("rbf + matern(nu=2.5)") == k.Gaussian(1.0) + k.Matern(2.5, 1.0)


@pytest.mark.parametrize(
    "model",
    [
        mercer.KernelRidge("rbf"),
        mercer.KernelRidgeClassifier("rbf"),
        mercer.KernelSVC("rbf"),
        mercer.KernelSVR("rbf"),
        mercer.KernelOneClassSVM("rbf"),
        mercer.KernelLogisticRegression("rbf"),
        mercer.KernelPCA("rbf"),
        mercer.KernelKMeans(2, kernel="rbf"),
        mercer.SpectralClustering(2, kernel="rbf"),
        Nystrom("rbf", 10),
        RandomFourier("rbf", 10),
    ],
    ids=lambda model: type(model).__name__,
)
def test_learners_and_lifts_find_it(model):
    assert model.fit(X, LABELS).kernel_ == FOUND


def test_so_do_perceptrons_tests_and_tuning():
    assert mercer.KernelPerceptron("rbf").fit(X, LABELS).kernel_.lengthscale != 1.0
    assert mercer.mmd(X[:20], X[20:], "rbf", permutations=1).kernel == FOUND
    known = loo_path(FOUND, X, X[:, 0]).errors
    np.testing.assert_array_equal(loo_path("rbf", X, X[:, 0]).errors, known)


def test_the_setting_of_the_learner_says_how():
    assert mercer.KernelSVC("rbf + linear", lengthscale=3.0).fit(X, LABELS).kernel_ == k.Gaussian(3.0) + k.Linear()
    tried = mercer.KernelRidge("rbf", lengthscale="loo").fit(X, X[:, 0]).kernel_
    assert tried == mercer.KernelRidge("rbf('median')", lengthscale="loo").fit(X, X[:, 0]).kernel_


def test_an_object_without_a_number_keeps_one():
    assert mercer.KernelSVC(k.Gaussian()).fit(X, LABELS).kernel_ == k.Gaussian(1.0)


def test_the_word_of_scikit_learn_is_as_good_as_there():
    rows, classes = load_wine(return_X_y=True)
    theirs, ours = (
        cross_val_score(make_pipeline(StandardScaler(), model), rows, classes, cv=5).mean()
        for model in (SVC(kernel="rbf"), mercer.KernelSVC(kernel="rbf"))
    )
    assert ours > theirs - 0.02  # 0.86 with a lengthscale of 1
