"""The side that is asked for: coefficients of rows or weights of features, of one model."""

import numpy as np
import pytest

import mercer
from mercer import KernelRidge, KernelRidgeClassifier
from mercer.errors import BudgetError, InputError
from mercer.lifts import Nystrom, Parabolic
from mercer.planner import choose
from mercer.planner.machine import ROUGH
from mercer.planner.ridge import RidgeTask
from mercer.solvers import Cholesky, ConjugateGradient, Eigen, GradientDescent
from mercer.sources import Arrays

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
Y = X @ [1.0, -2.0, 0.5] + X[:, 0] ** 2 + 0.1 * RNG.normal(size=40)
NEW = RNG.normal(size=(7, 3))
KERNELS = ["linear", "1 + linear", "polynomial(degree=2)", Parabolic(), Nystrom("gaussian(1)", 5, random_state=0)]
SOLVERS = [
    "auto",
    Cholesky(),
    Eigen(),
    ConjugateGradient(tol=1e-12),
    GradientDescent(max_iter=20_000, tol=1e-12, keep=False),
]


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_both_sides_are_one_model(kernel, solver):
    dual, primal = (KernelRidge(kernel, alpha=2.0, solver=solver, side=side).fit(X, Y) for side in ("dual", "primal"))
    assert (dual.plan_.details.side, primal.plan_.details.side) == ("dual", "primal")
    np.testing.assert_allclose(dual.predict(NEW), primal.predict(NEW), rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(dual.dual_coef_, primal.dual_coef_, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(dual.intercept_, primal.intercept_, rtol=1e-7, atol=1e-7)
    assert dual.coef_.shape == primal.coef_.shape


def test_the_dual_of_a_linear_kernel_by_hand():
    """(K + alpha I) a = y, and w = X'a."""
    model = KernelRidge("linear", alpha=0.5, fit_intercept=False, side="dual").fit(X, Y)
    by_hand = np.linalg.solve(X @ X.T + 0.5 * np.eye(40), Y)
    np.testing.assert_allclose(model.dual_coef_, by_hand, rtol=1e-10)
    np.testing.assert_allclose(model.coef_, X.T @ by_hand, rtol=1e-10)
    assert model.lift_ is None


@pytest.mark.parametrize("kernel", ["linear", Parabolic()], ids=str)
@pytest.mark.parametrize("alpha", ["auto", [0.1, 1.0, 10.0]], ids=str)
def test_alpha_is_chosen_on_either_side(kernel, alpha):
    dual, primal = (KernelRidge(kernel, alpha=alpha, side=side).fit(X, Y) for side in ("dual", "primal"))
    np.testing.assert_allclose(dual.predict(NEW), primal.predict(NEW), rtol=1e-6)
    assert len(dual.dual_coef_) == 40


def test_classes_have_sides_too():
    labels = np.digitize(Y, [-1.0, 1.0])
    dual, primal = (KernelRidgeClassifier("linear", alpha=1.0, side=side).fit(X, labels) for side in ("dual", "primal"))
    np.testing.assert_allclose(dual.decision_function(NEW), primal.decision_function(NEW), rtol=1e-8, atol=1e-10)
    assert dual.dual_coef_.shape == (40, 3)
    assert (dual.plan_.details.side, primal.plan_.details.side) == ("dual", "primal")


def test_a_precomputed_matrix_has_the_dual_alone():
    model = KernelRidge("precomputed", alpha=1.0, side="dual").fit(X @ X.T, Y)
    wanted = KernelRidge("linear", alpha=1.0, side="dual").fit(X, Y)
    np.testing.assert_allclose(model.dual_coef_, wanted.dual_coef_, rtol=1e-9)


def test_a_source_that_fits_the_memory_has_both():
    model = KernelRidge("linear", alpha=1.0, side="dual").fit(Arrays(X, Y))
    np.testing.assert_allclose(model.dual_coef_, KernelRidge("linear", alpha=1.0, side="dual").fit(X, Y).dual_coef_)


def test_plans_say_who_chose_the_side():
    plan = KernelRidge("linear", side="dual").plan(X, Y)
    assert plan.details.side == "dual"
    assert 'why: side="dual" was given.' in str(plan)
    assert {one.details.side for one in plan.others} == {"dual"}
    other = KernelRidge("linear", side="primal").plan(X, Y)
    assert {one.details.side for one in (other, *other.others)} == {"primal"}
    assert 'why: side="primal" was given.' in str(other)
    assert "was given" not in str(KernelRidge("linear").plan(X, Y))


def test_many_rows_in_the_dual_are_never_approximated():
    """Of 10^6 rows neither features nor landmarks come into question, only products with the matrix."""
    task = RidgeTask(1_000_000, 10, 1, 10, approximable=True, spectral=True, products=True, side="dual")
    found = choose(task, machine=ROUGH)
    assert {one.method for one in (found, *found.others)} == {"direct", "conjugate gradients"}
    primal = choose(RidgeTask(1_000_000, 10, 1, 10, approximable=True, products=True, side="primal"), machine=ROUGH)
    assert {one.method for one in (primal, *primal.others)} == {"direct", "one pass"}


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"side": "left"}, 'side that is "auto", "dual" or "primal"; got \'left\'. Use "auto"'),
        ({"side": None}, 'side that is "auto", "dual" or "primal"; got None'),
        (
            {"kernel": "gaussian(1)", "side": "primal"},
            r'a finite lift for side="primal"; gaussian.* has none that is known',
        ),
        ({"kernel": "rbf", "side": "primal", "lengthscale": "loo"}, 'a lengthscale that is given for side="primal"'),
        (
            {"side": "primal", "method": "landmarks"},
            'method="exact" or "auto" for side="primal"; got method="landmarks"',
        ),
        ({"side": "dual", "method": "landmarks"}, 'method="exact" or "auto" for side="dual"; got method="landmarks"'),
    ],
)
def test_a_side_that_is_not_there_is_refused(settings, words):
    with pytest.raises(InputError, match=words):
        KernelRidge(**{"kernel": "linear", **settings}).fit(X, Y)


def test_a_matrix_has_no_features():
    with pytest.raises(InputError, match='a finite lift for side="primal"; the kernel is precomputed'):
        KernelRidge("precomputed", side="primal").fit(X @ X.T, Y)


@pytest.mark.cores("memory_limit is that of this process: a card has its own")
def test_memory_is_asked_for_the_side_that_was_given():
    with pytest.raises(BudgetError, match=r"for the dual with Cholesky\(\) on 40 rows; 1000 B may be used. Up to"):
        KernelRidge("linear", alpha=1.0, side="dual", memory_limit=1000).fit(X, Y)


def test_rows_that_stay_in_their_source_have_no_coefficients():
    task = RidgeTask(10**9, 3, 1, 3, approximable=True, products=True, stored=False, side="dual")
    with pytest.raises(InputError, match='rows in memory for side="dual"; they are too many'):
        choose(task, machine=ROUGH)


def test_features_that_nobody_can_hold_are_not_asked_for():
    with pytest.raises(InputError, match='could hold the features, for side="primal"; this one has 1e'):
        choose(RidgeTask(100, 40, 1, 10**15, products=True, side="primal"), machine=ROUGH)


def test_the_side_is_saved_with_the_model(tmp_path):
    model = KernelRidge("linear", alpha=1.0, side="dual").fit(X, Y)
    mercer.save(model, tmp_path / "model.mercer")
    again = mercer.load(tmp_path / "model.mercer")
    assert again.side == "dual"
    np.testing.assert_array_equal(again.dual_coef_, model.dual_coef_)
