"""What a fit does not estimate: a bound says first that rounding does not matter, and the numbers come when asked."""

import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mercer import KernelRidge, KernelRidgeClassifier
from mercer.errors import NumericalWarning
from mercer.kernels import Gaussian, Laplace, Polynomial
from mercer.learners.ridge import dual_rounding
from mercer.learners.ridge.dual_rounding import DualMatrix

RANDOM = np.random.default_rng(0)
X = RANDOM.uniform(-2, 2, size=(80, 3))
Y = np.sin(X[:, 0]) + 0.1 * RANDOM.normal(size=80)
WEIGHTS = RANDOM.integers(1, 5, 80).astype(float)
KERNELS = [Gaussian(0.3), Gaussian(2.0), Laplace(1.0), Polynomial(degree=9, offset=1.0) + Gaussian(1.0)]


def everything_estimated(monkeypatch):
    monkeypatch.setattr(DualMatrix, "is_clear", lambda *_: False)


def parted(model):
    """What the fit itself found out."""
    fit = model._result.fit
    return fit.outcome.condition, fit.roundings


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("alpha", [1e-4, 0.1, 100.0])
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_asked_later_it_is_the_same(kernel, alpha, intercept, monkeypatch):
    settings = {"kernel": kernel, "alpha": alpha, "fit_intercept": intercept, "side": "dual"}
    for weights in (None, WEIGHTS):
        later = KernelRidge(**settings).fit(X, Y, weights)
        with monkeypatch.context() as patch:
            everything_estimated(patch)
            now = KernelRidge(**settings).fit(X, Y, weights)
        assert not np.isnan(parted(now)[1]).any()
        assert 0.5 < later.rounding_ / now.rounding_ < 2  # a residual of some units is part of it
        assert_allclose(later.condition_, now.condition_, rtol=1e-6)
        assert_allclose(later.dual_coef_, now.dual_coef_, rtol=1e-7, atol=1e-9 * np.abs(now.dual_coef_).max())
        assert later.converged_
        assert later.residual_ <= max(2 * now.residual_, 1e-13)


def test_where_alpha_was_chosen_too(monkeypatch):
    later = KernelRidge().fit(X, Y)
    with monkeypatch.context() as patch:
        everything_estimated(patch)
        now = KernelRidge().fit(X, Y)
    assert np.isnan(parted(later)[1]).all()
    assert later.condition_ == now.condition_
    assert_allclose(later.rounding_, now.rounding_, rtol=0.05)


def test_nothing_is_estimated_where_nothing_can_be_wrong():
    model = KernelRidge(Gaussian(1.0), alpha=0.1).fit(X, Y)
    condition, roundings = parted(model)
    assert np.isnan(condition)
    assert np.isnan(roundings).all()
    assert np.isnan(model.outcome_.condition)
    assert 1 < model.condition_ < 1e4
    assert model.outcome_.condition == model.condition_
    assert 0 < model.rounding_ < 1e-11


@pytest.mark.parametrize("alpha", [0.0, 1e-14, 1e-11, 1e-9, 1e-6, 1e-3, 1.0])
@pytest.mark.parametrize("lengthscale", [0.05, 1.0, 20.0])
def test_the_bound_is_above_the_estimate(alpha, lengthscale, monkeypatch):
    """A fit is silent where its estimate is, and speaks where that would."""
    for y in (Y, Y + 1e6, np.column_stack([Y, X[:, 1] ** 3])):
        for intercept in (False, True):
            settings = {"kernel": Gaussian(lengthscale), "alpha": alpha, "fit_intercept": intercept, "side": "dual"}
            spoken = told(settings, y)
            with monkeypatch.context() as patch:
                everything_estimated(patch)
                assert spoken == told(settings, y)


def told(settings, y):
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        KernelRidge(**settings).fit(X, y)
    return [issubclass(each.category, NumericalWarning) for each in heard]


def test_an_alpha_an_output_of_which_one_is_doubtful():
    two = np.column_stack([Y, Y])
    with pytest.warns(NumericalWarning, match="the condition number is"):
        model = KernelRidge(Gaussian(8.0), alpha=[1e-14, 1.0], side="dual").fit(X, two)
    assert np.isnan(parted(model)[1]).tolist() == [False, True]
    assert model.rounding_ > 1e-6
    assert model.condition_ > 1e8


def test_a_model_that_was_pickled_can_still_be_asked():
    model = KernelRidgeClassifier(Gaussian(1.0), alpha=0.1).fit(X, Y > 0)
    loaded = pickle.loads(pickle.dumps(model))  # noqa: S301
    assert loaded.condition_ == model.condition_
    assert loaded.rounding_ == model.rounding_


def test_it_is_asked_once(monkeypatch):
    model, calls = KernelRidge(Gaussian(1.0), alpha=0.1).fit(X, Y), []
    monkeypatch.setattr(
        "mercer.learners.ridge.least_squares.examined", lambda result: calls.append(1) or dual_rounding.examined(result)
    )
    assert model.condition_ > model.rounding_
    assert model.condition_ == model.outcome_.condition
    assert calls == [1]
    model.fit(X[:40], Y[:40])
    assert model.condition_ < np.inf
    assert calls == [1, 1]
