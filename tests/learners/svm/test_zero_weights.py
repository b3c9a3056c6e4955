"""Rows of weight zero beside a precomputed matrix: the fit is that of the others, and its gap is never below zero."""

import numpy as np
import pytest
from sklearn.svm import SVC, SVR, OneClassSVM

from mercer import KernelOneClassSVM, KernelSVC, KernelSVR
from mercer.kernels import Gaussian, Linear

PAIRS = {"decision_function_shape": "ovo"}
CASES = {
    "two classes": (KernelSVC("precomputed", C=3.0, tol=1e-8), SVC(kernel="precomputed", C=3.0, tol=1e-8), 2),
    "four classes": (
        KernelSVC("precomputed", C=3.0, tol=1e-8, **PAIRS),
        SVC(kernel="precomputed", C=3.0, tol=1e-8, **PAIRS),
        4,
    ),
    "regression": (KernelSVR("precomputed", C=3.0, tol=1e-8), SVR(kernel="precomputed", C=3.0, tol=1e-8), 0),
    "one class": (
        KernelOneClassSVM("precomputed", nu=0.3, tol=1e-8),
        OneClassSVM(kernel="precomputed", nu=0.3, tol=1e-8),
        1,
    ),
}


def data(classes, seed, n=90):
    """A matrix, targets and weights, two fifths of them zero."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 3))
    y = np.arange(n) % classes if classes > 1 else X[:, 0] + 0.1 * random.normal(size=n)
    return Gaussian(1.5)(X), y, random.choice([0, 0, 0.5, 1, 2], n)


def values(model, K):
    """f of each row."""
    return model.predict(K) if isinstance(model, SVR | KernelSVR) else model.decision_function(K)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("case", CASES)
def test_the_fit_is_that_of_the_other_rows(case, seed):
    ours, theirs, classes = CASES[case]
    K, y, weights = data(classes, seed)
    kept = np.flatnonzero(weights)
    ours.fit(K, y, sample_weight=weights)
    found = values(ours, K)
    assert np.isin(ours.support_, kept).all()
    assert ours.converged_
    theirs.fit(K[np.ix_(kept, kept)], y[kept], sample_weight=weights[kept])
    np.testing.assert_allclose(found, values(theirs, K[:, kept]), atol=1e-5 * np.abs(found).max())
    ours.fit(K[np.ix_(kept, kept)], y[kept], sample_weight=weights[kept])
    np.testing.assert_array_equal(values(ours, K[:, kept]), found)


@pytest.mark.parametrize("seed", range(20))
def test_a_gap_of_rounding_is_zero(seed):
    X = 100 * np.random.default_rng(seed).normal(size=(43, 3))
    assert KernelOneClassSVM(Linear(), nu=0.9, tol=1e-10).fit(X).duality_gap_ >= 0
    y = np.arange(len(X)) % 3
    assert all(one.gap >= 0 for one in KernelSVC(Gaussian(1.0), tol=1e-10).fit(X, y).outcomes_)
