"""Precomputed matrices that are not quite kernels: taken with a warning that says what was done, or refused."""

import warnings

import numpy as np
import pytest
from sklearn.decomposition import KernelPCA as TheirPCA
from sklearn.svm import SVC

import mercer
from mercer import KernelPCA, KernelSVC
from mercer.errors import InputError, NumericalWarning
from mercer.kernels import Gaussian
from mercer.operators.precomputed import made_semidefinite

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
K = Gaussian(2.0)(X)
ROUNDED = np.round(K, 6)
LABELS = X[:, 0] > 0
MODELS = {
    "ridge": mercer.KernelRidge("precomputed", alpha=1.0),
    "path": mercer.KernelRidge("precomputed"),
    "classifier": mercer.KernelRidgeClassifier("precomputed"),
    "svc": KernelSVC("precomputed"),
    "svr": mercer.KernelSVR("precomputed"),
    "one class": mercer.KernelOneClassSVM("precomputed"),
    "logistic": mercer.KernelLogisticRegression("precomputed"),
    "components": KernelPCA("precomputed", n_components=3, method="exact"),
    "means": mercer.KernelKMeans(2, kernel="precomputed", random_state=0),
}


def fitted(model, matrix):
    """The model, and what was said."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model.fit(matrix, X[:, 0] if isinstance(model, mercer.KernelRidge | mercer.KernelSVR) else LABELS)
    assert all(one.filename == __file__ for one in said)  # it points at the line that called fit
    return model, [str(one.message) for one in said]


def outputs(model):
    names = ("transform", "decision_function", "predict")
    return next(getattr(model, name) for name in names if hasattr(model, name))(K)


@pytest.mark.parametrize("name", MODELS)
def test_six_digits_are_enough(name):
    assert np.linalg.eigvalsh(ROUNDED)[0] < -1e-7
    exact = outputs(fitted(MODELS[name], K)[0]) if name != "means" else MODELS[name].fit(K).labels_
    model, said = fitted(MODELS[name], ROUNDED)
    assert len(said) == 1
    assert "K is slightly indefinite, as a matrix of rounded numbers may be" in said[0]
    assert "e-07 was added to its diagonal. Give K with more digits, or use mercer.repair(K)." in said[0]
    found = outputs(model) if name != "means" else model.labels_
    # The path chooses a tiny alpha for targets without noise, and another one for K with fewer digits.
    np.testing.assert_allclose(found, exact, atol=2e-2 if name == "path" else 1e-3)
    assert model.converged_


@pytest.mark.parametrize("name", MODELS)
def test_what_is_clearly_indefinite_is_refused(name):
    with pytest.raises(InputError, match="K is indefinite: smallest eigenvalue"):
        fitted(MODELS[name], K - 0.01 * np.eye(60))


@pytest.mark.parametrize("name", MODELS)
def test_the_symmetric_part_is_used(name):
    model, said = fitted(MODELS[name], np.where(np.tri(60) > 0, K + 1e-4, K))
    assert len(said) == 1
    assert "K is not symmetric: K[" in said[0]
    assert "which differ by 0.0001 of the largest entry. (K + K.T) / 2 is used." in said[0]
    same, _ = fitted(MODELS[name], np.where(np.eye(60) > 0, K + 1e-4, K + 5e-5))
    if name == "means":
        np.testing.assert_array_equal(model.labels_, same.labels_)
    else:
        np.testing.assert_allclose(outputs(model), outputs(same), atol=1e-8)


def test_scikit_learn_agrees_about_asymmetric_matrices():
    given = [[1.0, 2.0], [3.0, 40.0]]
    with pytest.warns(NumericalWarning, match="not symmetric"):
        ours = KernelPCA("precomputed", n_components=1).fit(given)
    theirs = TheirPCA(1, kernel="precomputed").fit([[1.0, 2.5], [2.5, 40.0]])
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_)
    matrix = np.where(np.tri(60) > 0, K * (1 + 1e-6), K)
    with pytest.warns(NumericalWarning, match="not symmetric"):
        ours = KernelSVC("precomputed").fit(matrix, LABELS)
    theirs = SVC(kernel="precomputed").fit(matrix, LABELS)
    np.testing.assert_allclose(ours.decision_function(K), theirs.decision_function(K), atol=5e-3)


@pytest.mark.parametrize("kind", ["list of float32", "integers"])
def test_other_numbers_are_taken(kind):
    given = K.astype(np.float32).tolist() if kind == "list of float32" else np.round(1e6 * K).astype(np.int64)
    model, said = fitted(KernelSVC("precomputed"), given)
    assert len(said) <= 1
    assert model.converged_


def test_components_of_products_need_no_change():
    few = Gaussian(2.0)(X[:6])
    values = np.linalg.eigvalsh(few)
    few -= (values[0] + 5e-6 * values[-1]) * np.eye(6)
    with pytest.warns(NumericalWarning, match=r"slightly indefinite.* Negative eigenvalues count as 0\."):
        model = KernelPCA("precomputed", n_components=2, method="krylov").fit(few)
    with pytest.warns(NumericalWarning, match="slightly indefinite"):
        wanted = KernelPCA("precomputed", n_components=2, method="exact").fit(few)
    np.testing.assert_allclose(model.eigenvalues_, wanted.eigenvalues_, rtol=1e-3)


def test_the_shift_is_what_the_smallest_eigenvalue_lacks():
    matrix = ROUNDED.copy()
    smallest = np.linalg.eigvalsh(matrix)[0]
    with pytest.warns(NumericalWarning, match="slightly indefinite"):
        assert made_semidefinite(matrix) == pytest.approx(-smallest, rel=1e-6)
    np.testing.assert_allclose(matrix - ROUNDED, -smallest * np.eye(60), atol=1e-15)
    assert made_semidefinite(K.copy()) == 0.0
