"""Weights are frequencies: a row of weight two is two rows, and one of weight zero is none, whatever is chosen."""

import numpy as np
import pytest
import scipy.sparse as sp
from dense_models import draw
from numpy.testing import assert_allclose, assert_array_equal

from mercer import KernelRidge, KernelRidgeClassifier
from mercer.kernels import Gaussian, Polynomial
from mercer.lifts import Nystrom
from mercer.lifts import Polynomial as PolynomialLift
from mercer.solvers import Cholesky, Eigen, GradientDescent

X, Y = draw(22, 3, outputs=2)
LABELS = {
    "numbers": Y[:, 0],
    "several": Y,
    "two classes": np.where(Y[:, 0] + 0.5 * X[:, 1] > 3, "up", "down"),
    "four classes": np.digitize(Y[:, 0], np.quantile(Y[:, 0], [0.25, 0.5, 0.75])),
}
NEW = np.random.default_rng(9).normal(size=(11, 3))
COPIES = np.random.default_rng(7).integers(0, 4, 22)
REPEATED = np.repeat(np.arange(22), COPIES)

SETTINGS = {
    "defaults": {},
    "lengthscale by leave-one-out": {"lengthscale": "loo"},
    "both by leave-one-out, gaussian": {"kernel": "gaussian('median')", "lengthscale": "loo"},
    "given": {"alpha": 0.3, "kernel": Gaussian(1.3)},
    "given, median": {"alpha": 0.3},
    "candidates": {"alpha": [0.01, 0.1, 1.0, 10.0, 100.0], "kernel": "laplace('median')"},
    "no intercept": {"fit_intercept": False},
    "eigen": {"solver": Eigen()},
    "cholesky": {"alpha": 0.3, "solver": Cholesky()},
    "polynomial, primal": {"kernel": Polynomial(2)},
    "lift, primal": {"kernel": PolynomialLift(2), "alpha": 0.5},
    "kernel of a large lift, dual": {"kernel": "polynomial(degree=6)", "alpha": 50.0},
    "descent": {
        "kernel": Gaussian(1.3),
        "alpha": 3.0,
        "solver": GradientDescent(max_iter=10_000, tol=1e-13, keep=False),
    },
}


def fitted(settings, rows, labels, weights=None):
    kind = KernelRidge if labels.dtype.kind == "f" else KernelRidgeClassifier
    return kind(**settings).fit(rows, labels, sample_weight=weights)


def assert_same(one, other, rtol=1e-7):
    """The same model: what it predicts, what it chose, and what it knows about itself.

    Where a tiny alpha was chosen, rounding of the matrix shows: that of its largest eigenvalue, relative to alpha.
    """
    rtol += 0.0 if one.loo_ is None else np.finfo(float).eps * one.loo_.alphas[-1] / np.min(one.alpha_)
    assert str(one.kernel_) == str(other.kernel_)
    assert_allclose(one.alpha_, other.alpha_, rtol=1e-9)
    assert_allclose(one.intercept_, other.intercept_, rtol=rtol, atol=1e-9)
    assert_allclose(one.degrees_of_freedom_, other.degrees_of_freedom_, rtol=rtol)
    if isinstance(one, KernelRidgeClassifier):
        assert_array_equal(one.classes_, other.classes_)
        assert_array_equal(one.predict(NEW), other.predict(NEW))
        return assert_allclose(one.decision_function(NEW), other.decision_function(NEW), rtol=rtol, atol=1e-8)
    for name in ("variance_", "noise_"):
        assert_allclose(getattr(one, name), getattr(other, name), rtol=rtol, err_msg=name)
    assert_allclose(one.log_marginal_likelihood(), other.log_marginal_likelihood(), rtol=rtol)
    pairs = zip(one.predict(NEW, return_std=True), other.predict(NEW, return_std=True), strict=True)
    for found, there in pairs:
        assert_allclose(found, there, rtol=rtol, atol=1e-8)
    return None


@pytest.mark.parametrize("name", LABELS)
@pytest.mark.parametrize("setting", SETTINGS)
def test_a_weight_is_a_repetition(setting, name):
    """Weights of 0, 1, 2 and 3 against a table with each row as often as that."""
    labels, settings = LABELS[name], SETTINGS[setting]
    weighted, repeated = fitted(settings, X, labels, COPIES), fitted(settings, X[REPEATED], labels[REPEATED])
    assert_same(weighted, repeated)
    if weighted.loo_ is not None:
        assert_allclose(weighted.loo_.alphas, repeated.loo_.alphas, rtol=1e-10)
        assert_allclose(weighted.loo_.errors[20:], repeated.loo_.errors[20:], rtol=1e-6)
    sums = np.zeros((22, weighted.intercept_.size if np.ndim(weighted.intercept_) else 1))
    np.add.at(sums, REPEATED, repeated.dual_coef_.reshape(len(REPEATED), -1))
    assert_allclose(weighted.dual_coef_.reshape(22, -1), sums, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", LABELS)
@pytest.mark.parametrize("setting", [*SETTINGS, "landmarks"])
def test_a_row_of_weight_zero_is_no_row(setting, name):
    """Not even where it is far away, and would change the median distance, the landmarks or the plan."""
    more = {"landmarks": {"kernel": Nystrom("gaussian('median')", n_components=6, random_state=0), "alpha": 0.3}}
    labels, settings = LABELS[name], {**SETTINGS, **more}[setting]
    weights = np.where(np.arange(22) % 3 == 1, 0.0, np.random.default_rng(5).uniform(0.3, 2.0, 22))
    kept, rows = weights > 0, X.copy()
    rows[~kept] *= 100
    weighted, dropped = (
        fitted(settings, rows, labels, weights),
        fitted(settings, rows[kept], labels[kept], weights[kept]),
    )
    assert_same(weighted, dropped, rtol=1e-9)
    assert_allclose(weighted.dual_coef_[kept], dropped.dual_coef_, rtol=1e-8, atol=1e-9)
    assert not weighted.dual_coef_[~kept].any()
    assert len(weighted.dual_coef_) == len(weighted.leverage_) == 22
    assert str(weighted.plan_) == str(dropped.plan_)


def test_weights_of_zero_in_a_matrix_of_similarities():
    K, weights = Gaussian(1.3)(X), np.where(np.arange(22) % 3 == 1, 0.0, 1.5)
    kept = weights > 0
    weighted = KernelRidge("precomputed").fit(K, Y, weights)
    dropped = KernelRidge("precomputed").fit(K[np.ix_(kept, kept)], Y[kept], weights[kept])
    across = Gaussian(1.3)(NEW, X)
    assert_allclose(weighted.predict(across), dropped.predict(across[:, kept]), rtol=1e-9)
    repeated = KernelRidge("precomputed").fit(K[np.ix_(REPEATED, REPEATED)], Y[REPEATED])
    assert_allclose(
        KernelRidge("precomputed").fit(K, Y, COPIES).predict(across), repeated.predict(across[:, REPEATED]), rtol=1e-7
    )


@pytest.mark.parametrize("name", LABELS)
def test_repetitions_in_sparse_tables(name):
    labels, rows = LABELS[name], np.where(np.abs(X) > 0.5, X, 0.0)
    weighted = fitted({}, sp.csr_array(rows), labels, COPIES)
    repeated = fitted({}, sp.csr_array(rows[REPEATED]), labels[REPEATED])
    assert_same(weighted, repeated)
    assert_same(weighted, fitted({}, rows, labels, COPIES))


@pytest.mark.parametrize("factor", [0.01, 7.5])
@pytest.mark.parametrize("kernel", [Gaussian(1.3), Polynomial(2)], ids=["dual", "primal"])
def test_weights_and_alpha_scale_together(kernel, factor):
    """c weights and c alpha give the same f; noise is per unit of weight, so the variance is as it was."""
    weights = np.random.default_rng(5).uniform(0.3, 2.0, 22)
    one = KernelRidge(kernel, alpha=[0.3, 2.0]).fit(X, Y, weights)
    other = KernelRidge(kernel, alpha=[factor * 0.3, factor * 2.0]).fit(X, Y, factor * weights)
    assert_allclose(one.predict(NEW), other.predict(NEW), rtol=1e-9)
    assert_allclose(one.dual_coef_, other.dual_coef_, rtol=1e-7, atol=1e-9)
    assert_allclose(one.degrees_of_freedom_, other.degrees_of_freedom_, rtol=1e-9)
    assert_allclose(one.leverage_, factor * other.leverage_, rtol=1e-9)


def test_the_order_of_rows_does_not_matter():
    order = np.random.default_rng(1).permutation(22)
    weights = np.random.default_rng(5).uniform(0.3, 2.0, 22)
    for labels in LABELS.values():
        one, other = fitted({}, X, labels, weights), fitted({}, X[order], labels[order], weights[order])
        assert_same(one, other)
        assert_allclose(one.leverage_[order], other.leverage_, rtol=1e-7)


def test_ones_are_no_weights():
    for labels in LABELS.values():
        plain = fitted({}, X, labels)
        for ones in (np.ones(22), np.ones(22, dtype=int), [1] * 22, np.ones(22, dtype=bool), 1.0):
            assert_same(plain, fitted({}, X, labels, ones), rtol=1e-12)


def test_held_out_rows_count_as_their_weights_say():
    """A descent holds out rows among those of positive weight; the loss on them is weighted."""
    solver = GradientDescent(validation=0.25, patience=5)
    weights = np.where(np.arange(22) % 3 == 1, 0.0, np.random.default_rng(5).uniform(0.3, 2.0, 22))
    kept = weights > 0
    settings = {"kernel": Gaussian(1.3), "alpha": 0.05, "solver": solver}
    one, other = (
        KernelRidge(**settings).fit(rows, labels, s)
        for rows, labels, s in ((X, Y[:, 0], weights), (X[kept], Y[kept, 0], weights[kept]))
    )
    assert_allclose(one.predict(NEW), other.predict(NEW), rtol=1e-12)
    assert_allclose(one.outcome_.history.validation, other.outcome_.history.validation, rtol=1e-12)


@pytest.mark.parametrize("class_weight", ["balanced", {"up": 5.0}], ids=str)
def test_repetitions_with_weights_of_classes(class_weight):
    labels, settings = LABELS["two classes"], {"class_weight": class_weight}
    weighted = fitted(settings, X, labels, COPIES)
    assert_same(weighted, fitted(settings, X[REPEATED], labels[REPEATED]))
    shifted = np.where(COPIES > 0, X.T, 100.0).T
    assert_same(weighted, fitted(settings, shifted, labels, COPIES))
