"""Parameters are read off a constructor once, and what scikit-learn does with them stays as it is."""

import inspect

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import KernelRidge, KernelSVC, learners, lifts
from mercer.kernels import Gaussian
from mercer.learners.estimator import KernelEstimator
from mercer.lifts import Nystrom
from mercer.lifts.base import Lift

X = np.random.default_rng(0).normal(size=(40, 2))
Y = (X[:, 0] > 0).astype(int)
OURS = sorted(
    (
        kind
        for package in (learners, lifts)
        for kind in (getattr(package, name) for name in package.__all__)
        if inspect.isclass(kind) and issubclass(kind, KernelEstimator | Lift) and not inspect.isabstract(kind)
    ),
    key=lambda kind: kind.__name__,
)


@pytest.mark.parametrize("kind", OURS)
def test_they_are_what_scikit_learn_reads(kind):
    expected = BaseEstimator._get_param_names.__func__(kind)
    assert kind._get_param_names() == expected
    assert kind._get_param_names() == expected  # from memory
    kind._get_param_names().clear()  # a list of the caller's own
    assert kind._get_param_names() == expected


class Wider(KernelSVC):
    """With a parameter more."""

    def __init__(self, kernel="gaussian", *, C=1.0, extra=3):
        super().__init__(kernel, C=C)
        self.extra = extra


class Same(Wider):
    """With no constructor of its own."""


def test_a_subclass_has_its_own():
    KernelSVC()._get_param_names()
    assert Wider._get_param_names() == ["C", "extra", "kernel"]
    assert Same._get_param_names() == ["C", "extra", "kernel"]
    assert "extra" not in KernelSVC._get_param_names()
    assert Same(extra=5).get_params()["extra"] == 5


def test_a_constructor_that_is_replaced_is_read_anew():
    class Own(Wider):
        pass

    assert Own._get_param_names() == ["C", "extra", "kernel"]

    def replaced(self, kernel="gaussian", *, C=1.0):
        KernelSVC.__init__(self, kernel, C=C)

    Own.__init__ = replaced
    assert Own._get_param_names() == ["C", "kernel"]


def test_a_constructor_without_names_is_refused():
    class Any(KernelSVC):
        def __init__(self, *given):
            pass

    with pytest.raises(RuntimeError, match="no varargs"):
        Any._get_param_names()


@pytest.mark.parametrize("model", [KernelRidge(Gaussian(2.0), alpha=0.5), Nystrom(Gaussian(2.0), 7), Wider(C=2.0)])
def test_copies_and_pictures(model):
    twin = clone(model)
    assert type(twin) is type(model)
    assert twin.get_params() == model.get_params()
    assert twin.set_params(kernel=Gaussian(3.0)).kernel == Gaussian(3.0)
    assert "7" in repr(model) or "0.5" in repr(model) or "2.0" in repr(model)
    assert type(model).__name__ in model._repr_html_()
    assert type(model).__name__ in make_pipeline(StandardScaler(), model)._repr_html_()


def test_searches_and_routed_weights():
    with sklearn.config_context(enable_metadata_routing=True):
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        model = make_pipeline(scaler, KernelSVC(Gaussian(1.0)).set_fit_request(sample_weight=True))
        model[-1].set_score_request(sample_weight=True)
        grid = {"kernelsvc__kernel__lengthscale": [0.5, 2.0], "kernelsvc__C": [0.1, 10.0]}
        search = GridSearchCV(model, grid, cv=2).fit(X, Y, sample_weight=np.ones(len(X)))
    found = search.best_estimator_["kernelsvc"]
    assert found.C in (0.1, 10.0)
    assert found.kernel.lengthscale in (0.5, 2.0)


@pytest.mark.parametrize("kind", [Nystrom, lifts.RandomFourier])
def test_what_was_fitted_is_not_filled_in_place(kind):
    lift = clone(kind(Gaussian(2.0), 6, random_state=0)).fit(X)
    lift.set_params(kernel__lengthscale=3.0)
    assert lift.kernel == Gaussian(3.0)
    assert lift.kernel_ == Gaussian(2.0)
