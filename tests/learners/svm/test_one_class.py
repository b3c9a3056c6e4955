"""The machine of one class against LIBSVM, through scikit-learn."""

import numpy as np
import pytest
from sklearn.svm import OneClassSVM

from mercer import KernelOneClassSVM
from mercer.errors import InputError
from mercer.kernels import Gaussian, Linear, Polynomial


def draw(n=150, seed=0):
    random = np.random.default_rng(seed)
    return random.normal(size=(n, 3)) * [1.0, 2.0, 0.5] + [1.0, 2.0, 3.0]


KERNELS = {
    "gaussian": (Gaussian(1.5), {"kernel": "rbf", "gamma": 0.5 / 1.5**2}),
    "linear": (Linear(), {"kernel": "linear"}),
    "polynomial": (Polynomial(2, 1.0), {"kernel": "poly", "degree": 2, "gamma": 1.0, "coef0": 1.0}),
}


@pytest.mark.parametrize("weighted", [False, True], ids=["", "weights"])
@pytest.mark.parametrize("nu", [0.1, 0.5])
@pytest.mark.parametrize("name", list(KERNELS))
def test_libsvm_finds_the_same(name, nu, weighted):
    X, new = draw(), draw(50, seed=1)
    kernel, there = KERNELS[name]
    weights = np.random.default_rng(3).uniform(0.3, 2.0, len(X)) if weighted else None
    model = KernelOneClassSVM(kernel, nu=nu, tol=1e-5).fit(X, sample_weight=weights)
    wanted = OneClassSVM(nu=nu, tol=1e-5, **there).fit(X, sample_weight=weights)
    decided = wanted.decision_function(new)
    np.testing.assert_allclose(model.decision_function(new), decided, atol=2e-4 * max(1.0, np.abs(decided).max()))
    np.testing.assert_allclose(model.offset_, wanted.offset_[0], rtol=1e-3)
    K, ours, theirs = kernel(X), np.zeros(len(X)), np.zeros(len(X))
    ours[model.support_], theirs[wanted.support_] = model.dual_coef_, wanted.dual_coef_[0]
    assert ours @ K @ ours == pytest.approx(theirs @ K @ theirs, rel=1e-3)
    assert ours.sum() == pytest.approx(nu * (len(X) if weights is None else weights.sum()))
    own = wanted.decision_function(X)
    size, most = 1e-3 * max(1.0, np.abs(own).max()), np.ones(len(X)) if weights is None else weights
    for b in (ours, theirs):  # with few features coefficients on the boundary are not unique; all others are
        np.testing.assert_array_equal(b[own > size], 0.0)
        np.testing.assert_allclose(b[own < -size], most[own < -size], rtol=1e-6)
    if name == "gaussian":
        assert (np.maximum(ours, theirs)[(ours != 0) != (theirs != 0)] < 0.05).all()
    sure = np.abs(decided) > 1e-3 * max(1.0, np.abs(decided).max())
    np.testing.assert_array_equal(model.predict(new)[sure], wanted.predict(new)[sure])


@pytest.mark.parametrize("nu", [0.05, 0.3, 1.0])
def test_nu_bounds_outliers_and_support(nu):
    X = draw(400)
    model = KernelOneClassSVM(Gaussian(1.5), nu=nu, tol=1e-10).fit(X)
    decided = model.decision_function(X)
    assert np.mean(decided < -1e-6) <= nu + 1e-9
    assert len(model.support_) / 400 >= nu - 1e-9
    np.testing.assert_allclose(model.score_samples(X) - model.offset_, decided, atol=1e-12)
    np.testing.assert_array_equal(model.predict(X), np.where(decided >= 0, 1, -1))


def test_the_gap_bounds_the_distance_to_the_best():
    X = draw(700)
    best, model = KernelOneClassSVM(Gaussian(1.5), tol=1e-7).fit(X), KernelOneClassSVM(Gaussian(1.5), tol=0.5).fit(X)
    K, b = Gaussian(1.5)(X), np.zeros(700)
    b[model.support_] = model.dual_coef_
    primal = b @ K @ b / 2 - 350 * model.offset_ + np.maximum(0, model.offset_ - K @ b).sum()
    assert model.duality_gap_ == pytest.approx(primal + b @ K @ b / 2, rel=1e-6)
    assert 0 <= b @ K @ b / 2 - best.outcomes_[0].objective <= model.duality_gap_


def test_fit_and_predict_at_once_and_the_kind_of_estimator():
    X = draw()
    found = KernelOneClassSVM(nu=0.2).fit_predict(X)
    np.testing.assert_array_equal(found, KernelOneClassSVM(nu=0.2).fit(X).predict(X))
    assert KernelOneClassSVM().__sklearn_tags__().estimator_type == "outlier_detector"


@pytest.mark.parametrize("nu", [0, 1.5, -0.1, "half", True])
def test_a_share_that_makes_no_sense_is_refused(nu):
    with pytest.raises(InputError, match="a number above 0 and up to 1 for nu"):
        KernelOneClassSVM(nu=nu).fit(draw(20))
