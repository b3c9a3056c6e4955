"""Features, centred and weighted: in their own memory, block by block."""

import tracemalloc
from dataclasses import dataclass

import numpy as np
import pytest

from mercer import KernelRidge
from mercer.learners import views
from mercer.learners.features import CenteredFeatures
from mercer.lifts import Nystrom, RandomFourier, Trigonometric
from mercer.operators import Centering
from mercer.solvers import Cholesky, Eigen


@dataclass
class Table:
    """A view whose features are a table."""

    values: np.ndarray
    exact_features: bool = False

    def features(self):
        return self.values


@pytest.mark.parametrize("block", [1, 700, 1 << 22])
@pytest.mark.parametrize("intercept", [False, True])
def test_features_are_centred_and_weighted_however_they_are_cut(block, intercept, monkeypatch):
    monkeypatch.setattr(views, "BLOCK", block)
    rng = np.random.default_rng(0)
    Z, weights = rng.normal(size=(101, 7)) + 5, rng.uniform(0.5, 2, 101)
    Z[:, 3] = 2.0
    centering = Centering.of(101, weights, intercept)
    found = CenteredFeatures.of(Table(Z.copy()), centering)
    means = np.average(Z, axis=0, weights=weights) * intercept
    wanted = (Z - means) * np.sqrt(weights)[:, None]
    kept = np.arange(7) != 3 if intercept else np.ones(7, dtype=bool)  # a constant is what the intercept is
    np.testing.assert_array_equal(found.kept, kept)
    np.testing.assert_allclose(found.values, wanted[:, kept], rtol=0, atol=1e-13)
    np.testing.assert_allclose(found.sizes, np.sqrt(weights @ Z**2)[kept], rtol=1e-13)
    norms = CenteredFeatures.of(Table(Z.copy(), exact_features=True), centering).sizes
    np.testing.assert_allclose(norms, np.linalg.norm(wanted, axis=0)[kept], rtol=1e-13)


@pytest.mark.parametrize("constant", [False, True])
def test_no_second_table_is_made(monkeypatch, constant):
    """One in NumPy's norm took as much memory again, and seconds in which no Ctrl-C was heard; so did constants."""
    monkeypatch.setattr(views, "BLOCK", 1 << 14)
    Z = np.random.default_rng(0).normal(size=(20_000, 50))
    Z[:, 7] = 1.0 if constant else Z[:, 7]
    tracemalloc.start()
    try:
        found = CenteredFeatures.of(Table(Z), Centering.of(len(Z), None, True))
        assert tracemalloc.get_traced_memory()[1] < 0.2 * Z.nbytes
    finally:
        tracemalloc.stop()
    assert np.shares_memory(found.values, Z)
    assert found.values.shape == (20_000, 50 - constant)
    assert found.values.flags.c_contiguous


def peak_of_fit(model, X, y):
    """Bytes that a fit takes, and its plan; one before it loads and compiles."""
    model.fit(X, y)
    tracemalloc.start()
    try:
        model.fit(X, y)
        return tracemalloc.get_traced_memory()[1], model.plan_
    finally:
        tracemalloc.stop()


LIFTED = {
    "polynomial": "polynomial(3)",
    "trigonometric": Trigonometric(12),
    "waves": RandomFourier("laplace(1)", 300, random_state=0),
    "landmarks": Nystrom("gaussian(2)", 300, landmarks="uniform", random_state=0),
    "drawn landmarks": Nystrom("laplace(2)", 200, random_state=0),
}


@pytest.mark.parametrize("outputs", [1, 4])
@pytest.mark.parametrize("alpha", [0.1, "auto"])
@pytest.mark.parametrize("name", LIFTED)
def test_a_fit_of_features_holds_what_its_plan_says(name, alpha, outputs):
    X = np.random.default_rng(0).normal(size=(25_000, 8))
    solver = Cholesky() if alpha == 0.1 else Eigen()
    peak, plan = peak_of_fit(KernelRidge(LIFTED[name], alpha=alpha, solver=solver), X, X[:, :outputs])
    assert (plan.way, plan.side) == ("direct", "primal")
    assert 0.85 * plan.bytes < peak < 1.05 * plan.bytes


@pytest.mark.parametrize("alpha", [0.1, "auto"])
def test_so_does_one_of_more_features_than_rows(alpha):
    """Its kernel matrix is a product of the table of features, which is the larger of the two."""
    X = np.random.default_rng(0).normal(size=(1_500, 3))
    model = KernelRidge(RandomFourier("gaussian(1)", 8_000, random_state=0), alpha=alpha)
    peak, plan = peak_of_fit(model, X, X[:, 0])
    assert (plan.way, plan.side) == ("direct", "dual")
    assert 0.85 * plan.bytes < peak < 1.1 * plan.bytes
