"""`method` and `n_landmarks`: which methods a fit may take, how many landmarks, and what is refused."""

import numpy as np
import pytest
from sklearn.base import clone

from mercer import KernelRidge, KernelRidgeClassifier
from mercer.errors import BudgetError, InputError
from mercer.kernels import Gaussian
from mercer.lifts import Nystrom
from mercer.solvers import Cholesky, ConjugateGradient
from mercer.sources import Batches

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(300, 3))
Y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * RANDOM.normal(size=300)
NEW = RANDOM.normal(size=(100, 3))
MANY = RANDOM.normal(size=(4000, 3))
OF_MANY = np.sin(MANY[:, 0])
KERNEL = Gaussian(2.0)
BOTH = pytest.mark.parametrize("learner", [KernelRidge, KernelRidgeClassifier])


def on_landmarks(count=None, **more):
    return KernelRidge(KERNEL, method="landmarks", n_landmarks=count, random_state=0, **more)


def few(y, learner):
    return y if learner is KernelRidge else y > 0


# -- exact ------------------------------------------------------------------------------------------------------------


@BOTH
def test_exact_is_what_auto_is_on_few_rows(learner):
    y = few(Y, learner)
    auto, exact = learner().fit(X, y), learner(method="exact", n_landmarks=20).fit(X, y)  # of which there are none
    assert exact.plan_.exact
    assert (exact.plan_.method, exact.plan_.details) == (auto.plan_.method, auto.plan_.details)
    np.testing.assert_array_equal(exact.dual_coef_, auto.dual_coef_)


def test_exact_is_exact_where_auto_is_not():
    model = KernelRidge(KERNEL, alpha=0.1, time_limit=1e-3)
    assert not model.plan(MANY, OF_MANY).exact
    exact = model.set_params(method="exact").plan(MANY, OF_MANY)
    assert exact.exact
    assert all(other.exact for other in exact.others)


def test_exact_has_the_predictions_of_the_stored_matrix_without_it():
    stored = KernelRidge(KERNEL, alpha=0.1, solver=Cholesky()).fit(MANY[:1500], OF_MANY[:1500])
    small = KernelRidge(KERNEL, alpha=0.1, method="exact", memory_limit="36 MB", random_state=0)
    small.fit(MANY[:1500], OF_MANY[:1500])
    assert stored.plan_.method == "direct"
    assert small.plan_.exact
    np.testing.assert_allclose(small.predict(NEW), stored.predict(NEW), atol=1e-6)


def test_exact_takes_the_features_of_a_lift():
    lift = Nystrom(KERNEL, 20, random_state=0)
    exact, auto = (KernelRidge(lift, alpha=0.1, method=method).fit(X, Y) for method in ("exact", "auto"))
    assert exact.plan_.n_features == 20
    np.testing.assert_array_equal(exact.predict(NEW), auto.predict(NEW))


@pytest.mark.cores("memory_limit is that of this process: a card has its own")
def test_exact_is_refused_where_nothing_exact_fits():
    model = KernelRidge(KERNEL, alpha=0.1, memory_limit="4 MB")
    assert not model.plan(MANY, OF_MANY).exact
    with pytest.raises(BudgetError, match=r'needs .* on 4,000 rows; .* landmarks fit in .*: method="landmarks"'):
        model.set_params(method="exact").fit(MANY, OF_MANY)


def test_exact_needs_rows_in_memory():
    source = Batches([(MANY, OF_MANY)])
    given = {"alpha": 0.1, "memory_limit": "0.3 MB"}
    with pytest.raises(InputError, match=r'rows in memory for method="exact"; they are too many, and stay in their so'):
        KernelRidge(KERNEL, method="exact", **given).plan(source)
    linear = KernelRidge("linear", method="exact", **given).fit(source)
    assert linear.plan_.method == "one pass"  # features add up


# -- landmarks --------------------------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("count", [25, 60])
def test_as_many_landmarks_as_were_asked_for(learner, count):
    model = learner(KERNEL, method="landmarks", n_landmarks=count, random_state=0).fit(X, few(Y, learner))
    assert not model.plan_.exact
    assert model.plan_.n_landmarks == count
    assert model.lift_.n_features() == count
    assert np.isfinite(model.certificate_.rms)
    assert "landmarks" in model.plan_.reason


def test_the_planner_chooses_how_many_and_tells_no_exact_method():
    plan = on_landmarks().plan(X, Y)
    assert plan.method in ("nystrom", "nystrom iterative")
    assert 0 < plan.n_landmarks < len(X)
    assert {other.method for other in plan.others} <= {"nystrom", "nystrom iterative"}


def test_landmarks_are_as_good_as_those_of_the_lift():
    truth = np.sin(NEW[:, 0]) + NEW[:, 1] * NEW[:, 2]
    lifted = KernelRidge(Nystrom(KERNEL, 60, random_state=0), alpha=0.1).fit(X, Y)
    own = on_landmarks(60, alpha=0.1).fit(X, Y)
    theirs, ours = (np.sqrt(np.mean((model.predict(NEW) - truth) ** 2)) for model in (lifted, own))
    assert ours < 1.2 * theirs
    assert ours < 0.2 * truth.std()


def test_the_certificate_holds_and_shrinks_with_more_landmarks():
    exact = KernelRidge(KERNEL, alpha=0.1, method="exact").fit(X, Y)
    bounds = []
    for count in (20, 80, 300):
        model = on_landmarks(count, alpha=0.1).fit(X, Y)
        off = np.sqrt(np.mean((model.predict(X) - exact.predict(X)) ** 2))
        bounds += [model.certificate_.rms]
        assert off <= bounds[-1] + 1e-9
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[-1] < 1e-6


@pytest.mark.parametrize("count", [300, 1000])
def test_no_more_landmarks_than_rows_which_are_the_kernel_itself(count):
    exact, all_rows = KernelRidge(KERNEL, alpha=0.1).fit(X, Y), on_landmarks(count, alpha=0.1).fit(X, Y)
    assert all_rows.plan_.n_landmarks == 300
    np.testing.assert_allclose(all_rows.predict(NEW), exact.predict(NEW), atol=1e-6)


def test_rows_that_stay_in_their_source():
    model = on_landmarks(30, alpha=0.1, memory_limit="1 MB").fit(Batches([(MANY, OF_MANY)]))
    assert not hasattr(model, "dual_coef_")  # of rows in memory they are known
    assert model.plan_.n_landmarks == 30
    assert model.score(MANY, OF_MANY) > 0.99


@pytest.mark.cores("memory_limit is that of this process: a card has its own")
def test_too_many_landmarks_for_the_memory_are_refused_with_how_many_fit():
    with pytest.raises(BudgetError, match=r"2,000 landmarks on 4,000 rows; .* landmarks fit in .*: set n_landmarks\."):
        on_landmarks(2000, alpha=0.1, memory_limit="5 MB").fit(MANY, OF_MANY)


# -- auto -------------------------------------------------------------------------------------------------------------


@pytest.mark.cores("memory_limit is that of this process: a card has its own")
def test_auto_takes_as_many_landmarks_where_it_takes_any():
    model = KernelRidge(KERNEL, alpha=0.1, n_landmarks=40, random_state=0)
    assert model.plan(X, Y).exact
    plan = model.set_params(memory_limit="15 MB").plan(MANY, OF_MANY)
    assert not plan.exact
    assert plan.n_landmarks == 40
    assert "random features" not in {plan.method, *(other.method for other in plan.others)}


# -- refusals ---------------------------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"method": "nystrom"}, "needs METHODS; got 'nystrom'"),
        ({"method": None}, "needs METHODS; got None"),
        ({"n_landmarks": 0}, "needs a positive integer, or None, for n_landmarks; got 0"),
        ({"n_landmarks": 2.0}, "needs a positive integer, or None, for n_landmarks; got 2.0"),
        ({"kernel": "precomputed"}, 'needs a kernel for method="landmarks"; the kernel is precomputed'),
        ({"kernel": Nystrom(KERNEL, 9)}, 'needs a kernel for method="landmarks"; Nystrom is a lift'),
        ({"kernel": "sigmoid"}, 'needs a kernel that is proven for method="landmarks"; sigmoid'),
        ({"solver": Cholesky()}, 'needs solver="auto" for method="landmarks"; Cholesky solves for all rows'),
        ({"solver": ConjugateGradient()}, 'needs solver="auto" for method="landmarks"; ConjugateGradient solves'),
    ],
)
def test_what_cannot_be_is_refused(learner, given, told):
    model = learner(**{"method": "landmarks", **given})
    rows = KERNEL(X) if model.kernel == "precomputed" else X
    with pytest.raises(InputError) as caught:
        model.fit(rows, few(Y, learner))
    states = '"state_space" ' if learner is KernelRidge else ""
    both = f'"exact", "landmarks", {states}or "fourier_grid"' if states else '"exact", "landmarks" or "fourier_grid"'
    told = told.replace("METHODS", f'method that is "auto", {both}')
    assert str(caught.value).startswith(f"{learner.__name__} {told}")


@BOTH
def test_parameters_are_those_of_scikit_learn(learner):
    assert {"method": "auto", "n_landmarks": None}.items() <= learner().get_params().items()
    twin = clone(learner(method="landmarks", n_landmarks=7))
    assert (twin.method, twin.n_landmarks) == ("landmarks", 7)
    assert repr(twin) == f"{learner.__name__}(method='landmarks', n_landmarks=7)"
