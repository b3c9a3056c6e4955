"""The memory limit of a learner counts wherever a step asks how much there is, not in its plan alone."""

import numpy as np
import pytest

from mercer import KernelKMeans, KernelPCA, KernelRidge, KernelSVC
from mercer.compute.runtime.memory import Budget, limited
from mercer.errors import BudgetError, InputError
from mercer.kernels import Gaussian
from mercer.lifts import Nystrom
from mercer.operators import Gram
from mercer.solvers import Eigen
from mercer.solvers.ridge import preconditioner

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = np.sin(X[:, 0])


def test_a_solver_is_given_no_more_than_the_learner(monkeypatch):
    seen, solve = [], Eigen.solve
    monkeypatch.setattr(Eigen, "solve", lambda self, system: seen.append(Budget.of(None).bytes) or solve(self, system))
    KernelRidge(Gaussian(1.0), alpha=0.1, solver=Eigen(), memory_limit="7 MB").fit(X, Y)
    assert set(seen) == {7_000_000}
    KernelRidge(Gaussian(1.0), alpha=0.1, solver=Eigen()).fit(X, Y)
    assert max(seen) > 7_000_000


@pytest.mark.cores("memory_limit is that of this process: a card has its own")
def test_landmarks_of_a_lift_that_is_fitted_inside_keep_to_the_limit():
    rows = RNG.normal(size=(20_000, 2))
    model = KernelRidge(Nystrom(Gaussian(1.0), 3000, random_state=0), alpha=1.0, memory_limit="100 MB")
    with pytest.raises(BudgetError, match="choosing 3000 landmarks"):
        model.fit(rows, rows[:, 0])
    with pytest.raises(BudgetError, match="may be used"):
        model.plan(rows, rows[:, 0])


MODELS = [
    KernelRidge(Gaussian(1.0)),
    KernelSVC(Gaussian(1.0)),
    KernelPCA(Gaussian(1.0), n_components=2),
    KernelKMeans(2, kernel=Gaussian(1.0), random_state=0),
]


@pytest.mark.parametrize("model", MODELS)
def test_predictions_keep_to_it_too(model, monkeypatch):
    fitted = model.set_params(memory_limit="9 MB").fit(X, (Y > 0).astype(int))
    seen = []
    multiply = Gaussian.evaluate

    def noted(self, pairs):
        seen.append(Budget.of(None).bytes)
        return multiply(self, pairs)

    monkeypatch.setattr(Gaussian, "evaluate", noted)
    (getattr(fitted, "transform", None) or fitted.predict)(X[:5])
    assert set(seen) == {9_000_000}
    assert Budget.of(None).bytes > 9_000_000


def test_a_limit_that_is_none_is_refused_before_anything_is_changed():
    model = KernelRidge(Gaussian(1.0), memory_limit="much")
    with pytest.raises(InputError, match="memory budget"):
        model.fit(X, Y)
    assert not hasattr(model, "n_features_in_")


class TestSteps:
    """Steps that asked the machine alone."""

    rows = np.zeros((3000, 1))

    def test_a_preconditioner(self, monkeypatch):
        K = Gram(Gaussian(1.0), self.rows)
        with limited("1 MB"), pytest.raises(BudgetError, match="preconditioner of rank 100"):
            preconditioner.build(K, np.ones(1), 100, 1e-6, 0, None)

    def test_a_dense_operator(self):
        K = Gram(Gaussian(1.0), self.rows)
        with limited("1 MB"), pytest.raises(BudgetError, match="dense matrix"):
            K.to_dense()
