"""scikit-learn's habits on kernels that never change."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import PolynomialFeatures
from sklearn.svm import SVC
from strategies import any_trees

from mercer.errors import KernelError
from mercer.kernels import Gaussian, Laplace, Linear, Matern


class Smallest(RegressorMixin, BaseEstimator):
    """The smallest estimator that holds a kernel: interpolation with a ridge, nothing of ours but the kernel."""

    def __init__(self, kernel=Gaussian(1.0), alpha=1e-3):
        self.kernel = kernel
        self.alpha = alpha

    def fit(self, X, y):
        self.X_ = X
        self.dual_coef_ = np.linalg.solve(self.kernel(X) + self.alpha * np.eye(len(X)), y)
        return self

    def predict(self, X):
        return self.kernel(X, self.X_) @ self.dual_coef_


rng = np.random.default_rng(0)
X = rng.uniform(-3, 3, size=(60, 1))
y = np.sin(3 * X[:, 0])


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_grid_search_changes_the_lengthscale(jobs):
    model = Smallest(Gaussian(1.0))
    search = GridSearchCV(model, {"kernel__lengthscale": [0.01, 0.3, 30.0]}, n_jobs=jobs, cv=3).fit(X, y)
    assert len(set(search.cv_results_["mean_test_score"].round(6))) == 3
    assert search.best_params_ == {"kernel__lengthscale": 0.3}
    assert search.best_estimator_.kernel == Gaussian(0.3)
    assert model.kernel == Gaussian(1.0)


def test_grid_search_reaches_into_composites():
    kernel = 0.5 * Gaussian(1.0) + Linear()
    grid = {"kernel__k1__k2__lengthscale": [0.01, 0.3], "kernel__k1__k1__variance": [1.0, 2.0], "alpha": [1e-3]}
    search = GridSearchCV(Smallest(kernel), grid, cv=3).fit(X, y)
    assert search.best_estimator_.kernel.get_params()["k1__k2__lengthscale"] == 0.3
    assert kernel == 0.5 * Gaussian(1.0) + Linear()


def test_grid_search_over_whole_kernels():
    grid = {"kernel": [Gaussian(0.01), Laplace(1.0), Gaussian(0.3)]}
    assert GridSearchCV(Smallest(), grid, cv=3).fit(X, y).best_params_ == {"kernel": Gaussian(0.3)}


def test_search_with_an_estimator_of_scikit_learn():
    labels = (y > 0).astype(int)
    search = GridSearchCV(SVC(kernel=Gaussian(1.0)), {"kernel__lengthscale": [0.3, 300.0]}, cv=3).fit(X, labels)
    assert search.best_estimator_.kernel == Gaussian(0.3)


def test_a_change_that_would_be_lost_is_an_error():
    model = SVC(kernel=Gaussian(1.0))
    with pytest.raises(KernelError, match="never changes"):
        model.set_params(kernel__lengthscale=2.0)
    assert model.kernel == Gaussian(1.0)
    model.set_params(kernel__lengthscale=1.0)  # nothing to lose


def test_set_params_gives_a_new_kernel():
    kernel = Matern(1.5, 2.0).on([0])
    changed = kernel.set_params(kernel__nu=2.5, columns=[1])
    assert kernel == Matern(1.5, 2.0).on([0])
    assert changed == Matern(2.5, 2.0).on([1])
    assert kernel.set_params() is kernel


def test_a_whole_child_and_its_parameter_at_once():
    changed = (Linear() + Linear()).set_params(k2=Gaussian(1.0), k2__lengthscale=3.0)
    assert changed == Linear() + Gaussian(3.0)


def test_unknown_parameters_are_named():
    with pytest.raises(KernelError, match=r"no parameter 'width': write lengthscale=2.0 for"):
        Gaussian().set_params(width=2.0)
    with pytest.raises(KernelError, match="positive"):
        Gaussian().set_params(lengthscale=-2.0)


def test_only_kernels_have_parameters_behind_them():
    lift = PolynomialFeatures(2).fit(X)
    kernel = Linear().after(lift)
    with pytest.raises(KernelError, match=r"After needs a kernel before __degree; map is Poly.*Give it whole"):
        kernel.set_params(map__degree=3)
    assert lift.degree == 2
    assert kernel.get_params() == {"kernel": Linear(), "map": lift}
    with pytest.raises(KernelError, match=r"Gaussian needs a kernel before __x; lengthscale is 1\.0"):
        Gaussian().set_params(lengthscale__x=1)


def test_a_clone_settles_once_something_depends_on_it():
    copy = clone(Gaussian(1.0))
    assert copy is not Gaussian(1.0)
    seen = {copy: "kept"}
    changed = copy.set_params(lengthscale=2.0)
    assert (copy, changed) == (Gaussian(1.0), Gaussian(2.0))
    assert seen[Gaussian(1.0)] == "kept"
    copy = clone(Gaussian(1.0))
    total = copy + Linear()
    copy.set_params(lengthscale=2.0)
    assert total == Gaussian(1.0) + Linear()


@given(any_trees)
def test_property_parameters_clone_and_pickle(kernel):
    assert kernel.set_params(**kernel.get_params(deep=False)) == kernel
    assert kernel.set_params(**kernel.get_params(deep=True)) == kernel
    assert clone(kernel) == kernel
    assert pickle.loads(pickle.dumps(kernel)) == kernel  # noqa: S301 - our own bytes


def test_fields_cannot_be_set():
    with pytest.raises(AttributeError):
        Gaussian().lengthscale = 3.0
    with pytest.raises(AttributeError):
        (Gaussian() + Linear()).parts = ()
