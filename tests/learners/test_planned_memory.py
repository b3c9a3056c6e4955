"""Plans against the memory that fits take, as Python's own count of allocations has it."""

import tracemalloc

import numpy as np
import pytest

from mercer import KernelRidge, KernelSVC
from mercer.errors import BudgetError
from mercer.lifts import Nystrom, RandomFourier, Trigonometric
from mercer.solvers import Cholesky, Eigen

pytestmark = [pytest.mark.slow, pytest.mark.cores("weighs the memory of this process, and memory_limit is its own")]


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


@pytest.mark.parametrize("alpha", [0.1, "auto"])
@pytest.mark.parametrize(("name", "outputs"), [("polynomial", 4), *((name, 1) for name in LIFTED)])
def test_a_fit_of_features_holds_what_its_plan_says(name, outputs, alpha):
    X = np.random.default_rng(0).normal(size=(20_000, 8))
    solver = Cholesky() if alpha == 0.1 else Eigen()
    peak, plan = peak_of_fit(KernelRidge(LIFTED[name], alpha=alpha, solver=solver), X, X[:, :outputs])
    assert (plan.method, plan.details.side) == ("direct", "primal")
    assert 0.85 * plan.bytes < peak < 1.05 * plan.bytes


@pytest.mark.parametrize("alpha", [0.1, "auto"])
def test_so_does_one_of_more_features_than_rows(alpha):
    """Its kernel matrix is a product of the table of features, which is the larger of the two."""
    X = np.random.default_rng(0).normal(size=(1_500, 3))
    model = KernelRidge(RandomFourier("gaussian(1)", 8_000, random_state=0), alpha=alpha)
    peak, plan = peak_of_fit(model, X, X[:, 0])
    assert (plan.method, plan.details.side) == ("direct", "dual")
    assert 0.85 * plan.bytes < peak < 1.1 * plan.bytes


@pytest.mark.parametrize(("kernel", "limit"), [("gaussian(3)", "50MB"), ("laplace('median')", "60MB")])
def test_landmarks_keep_to_a_limit_where_memory_is_short(kernel, limit):
    """Also while they are drawn, and while the mean of the first rows and the median of distances are found."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(8_000, 10))
    y = np.sin(X[:, 0]) + 0.3 * rng.normal(size=8_000)
    model = KernelRidge(Nystrom(kernel, 1_000, random_state=0), alpha=1.0, memory_limit=limit, random_state=0)
    peak, plan = peak_of_fit(model, X, y)
    assert (plan.method, plan.n_features) == ("one pass", 1_000)
    assert plan.bytes <= float(limit[:-2]) * 1e6
    assert 0.8 * plan.bytes < peak < 1.05 * float(limit[:-2]) * 1e6


@pytest.mark.filterwarnings("ignore::mercer.errors.NumericalWarning")
@pytest.mark.parametrize("solver", [Eigen(), Cholesky()], ids=str)
def test_many_outputs_are_counted(solver):
    """Where rounding has to be estimated, which takes most; where a bound says that it is nothing fits take less."""
    settings = {"solver": solver, "alpha": 1e-9}
    X = np.random.default_rng(0).normal(size=(600, 4))
    Y = np.random.default_rng(1).normal(size=(600, 500))
    peak, plan = peak_of_fit(KernelRidge("gaussian(1)", **settings), X, Y)
    assert (plan.method, plan.details.side) == ("direct", "dual")
    assert 0.5 * plan.bytes < peak < 1.05 * plan.bytes
    with pytest.raises(BudgetError, match="KernelRidge"):
        KernelRidge("gaussian(1)", memory_limit=plan.bytes // 2, **settings).fit(X, Y)


def test_many_outputs_on_landmarks_are_counted():
    X = np.random.default_rng(0).normal(size=(1_500, 4))
    Y = np.random.default_rng(1).normal(size=(1_500, 400))
    model = KernelRidge(Nystrom("gaussian(1)", 200, random_state=0), alpha=1.0, memory_limit="70MB")
    peak, plan = peak_of_fit(model, X, Y)
    assert plan.bytes <= 70e6
    assert peak < 1.05 * 70e6


def test_many_pairs_of_classes_keep_to_a_limit():
    """Pairs share squares of classes and strips between them, a part of the whole matrix."""
    X, y = np.random.default_rng(0).normal(size=(1_500, 4)), np.arange(1_500) % 15
    X += 2 * np.random.default_rng(1).normal(size=(15, 4))[y]
    for limit, most in (("14MB", 14e6), ("8MB", 8e6), (None, 8 * 1_500**2 / 2)):
        peak, plan = peak_of_fit(KernelSVC("gaussian(0.5)", C=10, memory_limit=limit, random_state=0), X, y)
        assert plan.details.whole == (limit != "8MB")
        assert peak < 1.05 * min(most, plan.bytes)
