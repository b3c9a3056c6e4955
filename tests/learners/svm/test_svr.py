"""Regression in a tube against LIBSVM, through scikit-learn."""

import numpy as np
import pytest
from sklearn.svm import SVR

from mercer import KernelSVR
from mercer.errors import InputError
from mercer.kernels import Gaussian, Linear, Polynomial
from mercer.lifts import Polynomial as PolynomialLift


def draw(n=100, seed=0):
    random = np.random.default_rng(seed)
    X = random.uniform(-2, 2, size=(n, 2))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + 0.2 * random.normal(size=n)


KERNELS = {
    "gaussian": (Gaussian(1.0), {"kernel": "rbf", "gamma": 0.5}),
    "linear": (Linear(), {"kernel": "linear"}),
    "polynomial": (Polynomial(3, 1.0), {"kernel": "poly", "degree": 3, "gamma": 1.0, "coef0": 1.0}),
}


@pytest.mark.parametrize("weighted", [False, True], ids=["", "weights"])
@pytest.mark.parametrize("epsilon", [0.0, 0.1])
@pytest.mark.parametrize(("name", "C"), [("gaussian", 1.0), ("gaussian", 50.0), ("linear", 0.3), ("polynomial", 0.1)])
def test_libsvm_finds_the_same(name, C, epsilon, weighted):
    X, y = draw()
    new = draw(50, seed=1)[0]
    kernel, there = KERNELS[name]
    weights = np.random.default_rng(3).uniform(0.3, 2.0, len(y)) if weighted else None
    model = KernelSVR(kernel, C=C, epsilon=epsilon, tol=1e-5).fit(X, y, weights)
    wanted = SVR(C=C, epsilon=epsilon, tol=1e-5, **there).fit(X, y, weights)
    np.testing.assert_allclose(model.predict(new), wanted.predict(new), atol=5e-4)
    K, ours, theirs = kernel(X), np.zeros(len(y)), np.zeros(len(y))
    ours[model.support_], theirs[wanted.support_] = model.dual_coef_, wanted.dual_coef_[0]
    mine, other = (b @ K @ b / 2 - y @ b + epsilon * np.abs(b).sum() for b in (ours, theirs))
    assert mine == pytest.approx(other, rel=1e-3)
    differ = (ours != 0) != (theirs != 0)
    assert (np.maximum(np.abs(ours), np.abs(theirs))[differ] < 1e-2 * C).all()
    assert model.converged_


def test_rows_inside_of_the_tube_are_no_support():
    X, y = draw()
    model = KernelSVR(Gaussian(1.0), C=10.0, epsilon=0.2, tol=1e-8).fit(X, y)
    residuals = np.abs(y - model.predict(X))
    outside = np.setdiff1d(np.arange(len(y)), model.support_)
    assert (residuals[outside] <= 0.2 + 1e-6).all()
    assert (residuals[model.support_] >= 0.2 - 1e-6).all()
    assert model.dual_coef_.sum() == pytest.approx(0.0, abs=1e-9)


def test_a_tube_that_holds_all_needs_no_support():
    X, y = draw()
    model = KernelSVR(epsilon=10.0).fit(X, y)
    assert len(model.support_) == 0
    np.testing.assert_allclose(model.predict(X[:3]), (y.max() + y.min()) / 2)
    assert model.duality_gap_ == 0.0


@pytest.mark.parametrize("tol", [0.3, 1e-2])
def test_the_gap_bounds_the_distance_to_the_best(tol):
    X, y = draw(700)
    K = Gaussian(1.0)(X)
    best = KernelSVR(Gaussian(1.0), C=2.0, tol=1e-8).fit(X, y)
    model = KernelSVR(Gaussian(1.0), C=2.0, tol=tol).fit(X, y)
    b = np.zeros(len(y))
    b[model.support_] = model.dual_coef_
    left = np.maximum(0, np.abs(y - K @ b - model.intercept_) - 0.1)
    primal, dual = b @ K @ b / 2 + 2.0 * left.sum(), y @ b - 0.1 * np.abs(b).sum() - b @ K @ b / 2
    assert model.duality_gap_ == pytest.approx(primal - dual, rel=1e-6, abs=1e-8)
    assert 0 <= -best.outcomes_[0].objective - dual <= model.duality_gap_
    assert np.square(model._values(X) - best._values(X) - model.intercept_ + best.intercept_).max() <= (
        2 * model.duality_gap_ + 1e-9
    )


def test_weights_are_copies():
    X, y = draw(60)
    weights = np.random.default_rng(0).integers(0, 4, 60)
    one = KernelSVR(C=3.0, tol=1e-10).fit(X, y, weights)
    other = KernelSVR(C=3.0, tol=1e-10).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(one.predict(X), other.predict(X), atol=1e-7)


def test_lifts_and_matrices_are_kernels():
    X, y = draw()
    plain = KernelSVR(Polynomial(2, 1.0), C=0.5, tol=1e-9).fit(X, y)
    lifted = KernelSVR(PolynomialLift(2), C=0.5, tol=1e-9).fit(X, y)
    given = KernelSVR("precomputed", C=0.5, tol=1e-9).fit(plain.kernel_(X), y)
    np.testing.assert_allclose(given.predict(plain.kernel_(X)), plain.predict(X), atol=1e-6)
    again = KernelSVR(lifted.kernel_, C=0.5, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(lifted.predict(X), again.predict(X), atol=1e-6)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"C": 0.0}, "a positive number for C; got 0.0"),
        ({"C": np.nan}, "a positive number for C; got nan"),
        ({"epsilon": -0.1}, "a finite number of at least 0 for epsilon; got -0.1"),
        ({"epsilon": None}, "a finite number of at least 0 for epsilon; got None"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, message):
    with pytest.raises(InputError, match=message):
        KernelSVR(**settings).fit(*draw(20))


def test_targets_that_make_no_sense_are_refused():
    X, y = draw(20)
    with pytest.raises(ValueError, match="NaN"):
        KernelSVR().fit(X, np.where(y > 1, np.nan, y))
    with pytest.raises(ValueError, match="1d array"):
        KernelSVR().fit(X, np.column_stack([y, y]))
    with pytest.raises(InputError, match="targets with squares that float64 can hold"):
        KernelSVR().fit(X, 1e200 * y)
