"""The classifier against LIBSVM, through scikit-learn, and against what must hold of any SVM."""

import pickle
import signal
from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

import mercer
from mercer import KernelSVC
from mercer.errors import BudgetError, DomainError, InputError, NumericalWarning
from mercer.kernels import Gaussian, Linear, Polynomial, Sigmoid, Sinc
from mercer.learners.svm.multiclass import confidences, votes
from mercer.lifts import Nystrom, RandomFourier
from mercer.lifts import Polynomial as PolynomialLift
from mercer.solvers.svm.kernel_cache import KernelCache


def draw(n=120, classes=2, seed=0, d=3, apart=1.2):
    """Overlapping clouds."""
    random = np.random.default_rng(seed)
    y = random.integers(classes, size=n)
    y[:classes] = np.arange(classes)
    return random.normal(size=(n, d)) + apart * random.normal(size=(classes, d))[y], y


KERNELS = {
    "gaussian": (Gaussian(1.5), {"kernel": "rbf", "gamma": 0.5 / 1.5**2}),
    "linear": (Linear(), {"kernel": "linear"}),
    "polynomial": (Polynomial(2, 1.0), {"kernel": "poly", "degree": 2, "gamma": 1.0, "coef0": 1.0}),
}
CASES = [
    ("gaussian", 0.1, {}, 2),
    ("gaussian", 1.0, {}, 2),
    ("gaussian", 100.0, {}, 2),
    ("linear", 0.1, {}, 2),
    ("linear", 10.0, {}, 2),
    ("polynomial", 1.0, {}, 2),
    ("gaussian", 1.0, {"class_weight": {0: 3.0, 1: 0.5}}, 2),
    ("polynomial", 0.1, {"class_weight": "balanced"}, 2),
    ("gaussian", 1.0, {}, 3),
    ("linear", 1.0, {}, 3),
    ("gaussian", 10.0, {}, 4),
    ("gaussian", 1.0, {"class_weight": {0: 3.0, 1: 0.5, 2: 1.0}}, 3),
]


def same_functions(model, wanted, X, new, classes, K):
    """Decision values, objectives and support of all pairs agree with LIBSVM's."""
    there = wanted.decision_function(new).reshape(len(new), -1)
    values = model.set_params(decision_function_shape="ovo").decision_function(new).reshape(there.shape)
    scale = max(1.0, np.abs(there).max())
    np.testing.assert_allclose(values, there, atol=2e-4 * scale)
    np.testing.assert_allclose(model.intercept_, wanted.intercept_, atol=2e-4 * scale)
    ours = np.zeros((len(X), values.shape[1]))
    ours[model.support_] = model.dual_coef_.reshape(-1, values.shape[1])
    theirs = libsvm_coefficients(wanted, len(X), classes)
    for k in range(values.shape[1]):
        mine, other = (b @ K @ b / 2 - np.abs(b).sum() for b in (ours[:, k], theirs[:, k]))
        assert mine == pytest.approx(other, rel=1e-3)
        assert model.outcomes_[k].objective == pytest.approx(mine, rel=1e-8)
        largest = np.abs(theirs[:, k]).max()
        differ = (ours[:, k] != 0) != (theirs[:, k] != 0)
        assert (np.maximum(np.abs(ours[differ, k]), np.abs(theirs[differ, k])) < 1e-2 * largest).all()


def libsvm_coefficients(wanted, n, classes):
    """(rows, pairs), from the packed table of scikit-learn."""
    counts = np.cumsum([0, *wanted.n_support_])
    found = np.zeros((n, classes * (classes - 1) // 2))
    for k, (a, b) in enumerate(combinations(range(classes), 2)):
        for own, other in ((a, b), (b, a)):
            part = slice(counts[own], counts[own + 1])
            row = other - 1 if other > own else other
            found[wanted.support_[part], k] = wanted.dual_coef_[row, part]
    return found


@pytest.mark.parametrize(("name", "C", "extra", "classes"), CASES, ids=str)
def test_libsvm_finds_the_same(name, C, extra, classes):
    X, y = draw(classes=classes)
    new = draw(60, classes, seed=1)[0]
    kernel, there = KERNELS[name]
    model = KernelSVC(kernel, C=C, tol=1e-5, **extra).fit(X, y)
    wanted = SVC(C=C, tol=1e-5, decision_function_shape="ovo", **there, **extra).fit(X, y)
    same_functions(model, wanted, X, new, classes, kernel(X))
    np.testing.assert_array_equal(model.predict(new), wanted.predict(new))
    assert model.converged_
    assert model.n_iter_.shape == (classes * (classes - 1) // 2,)
    assert (model.n_iter_ > 0).all()


def test_libsvm_finds_the_same_with_weights_of_rows():
    X, y = draw()
    weights = np.random.default_rng(5).uniform(0.2, 3.0, len(y))
    model = KernelSVC(Gaussian(1.5), C=2.0, tol=1e-5).fit(X, y, weights)
    wanted = SVC(C=2.0, gamma=0.5 / 1.5**2, tol=1e-5, decision_function_shape="ovo").fit(X, y, weights)
    same_functions(model, wanted, X, X, 2, Gaussian(1.5)(X))


def test_rows_of_weight_zero_are_left_out():
    X, y = draw()
    weights = np.ones(len(y))
    weights[::11] = 0.0
    kept = np.flatnonzero(weights)
    model, alone = KernelSVC().fit(X, y, weights), KernelSVC().fit(X[kept], y[kept])
    np.testing.assert_array_equal(model.support_, kept[alone.support_])
    np.testing.assert_allclose(model.decision_function(X), alone.decision_function(X), atol=1e-9)


def test_decisions_of_many_classes_are_votes_with_confidences():
    X, y = draw(200, 4)
    new = draw(300, 4, seed=3)[0]
    model = KernelSVC(Gaussian(1.5), tol=1e-5).fit(X, y)
    wanted = SVC(gamma=0.5 / 1.5**2, tol=1e-5).fit(X, y)
    np.testing.assert_allclose(model.decision_function(new), wanted.decision_function(new), atol=1e-3)
    np.testing.assert_array_equal(model.predict(new), wanted.predict(new))


def test_equal_votes_go_to_the_first_class():
    circle = np.array([[1.0, -2.0, 3.0]])  # 1 beats 0, 0 beats 2, 2 beats 1
    np.testing.assert_array_equal(votes(circle, 3), [[1.0, 1.0, 1.0]])
    sums = np.array([[-1.0 + 2.0, 1.0 - 3.0, -2.0 + 3.0]])
    np.testing.assert_allclose(confidences(circle, 3), 1.0 + sums / (3 * (np.abs(sums) + 1)))
    np.testing.assert_array_equal(votes(np.zeros((1, 3)), 3), [[2.0, 1.0, 0.0]])


def test_one_function_per_class_is_what_scikit_learn_makes_of_it():
    X, y = draw(150, 3)
    new = draw(40, 3, seed=2)[0]
    model = OneVsRestClassifier(KernelSVC(Gaussian(1.5), C=3.0)).fit(X, y)
    alone = [KernelSVC(Gaussian(1.5), C=3.0).fit(X, y == c).decision_function(new) for c in range(3)]
    np.testing.assert_allclose(model.decision_function(new), np.column_stack(alone), atol=1e-9)
    np.testing.assert_array_equal(model.predict(new), np.argmax(alone, axis=0))


def test_the_shape_of_the_decision_function_changes_no_prediction():
    X, y = draw(150, 4)
    model = KernelSVC(Gaussian(1.0), decision_function_shape="ovo").fit(X, y)
    labels, pairs = model.predict(X), model.decision_function(X)
    assert pairs.shape == (150, 6)
    model.set_params(decision_function_shape="ovr")
    np.testing.assert_array_equal(model.predict(X), labels)
    np.testing.assert_allclose(model.decision_function(X), confidences(-pairs, 4))


def test_the_function_is_the_sum_over_the_support():
    X, y = draw()
    new = draw(20, seed=4)[0]
    model = KernelSVC(Gaussian(1.0)).fit(X, y)
    np.testing.assert_allclose(
        model.decision_function(new), Gaussian(1.0)(new, X[model.support_]) @ model.dual_coef_ + model.intercept_
    )
    assert (np.diff(model.support_) > 0).all()
    assert model.dual_coef_.sum() == pytest.approx(0.0, abs=1e-9)
    assert (np.sign(model.dual_coef_) == np.where(y[model.support_] == 1, 1, -1)).all()
    assert np.abs(model.dual_coef_).max() <= 1.0


# -- the gap ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tol", [1.0, 0.1, 1e-2])
def test_the_gap_bounds_the_distance_to_the_best(tol):
    X, y = draw(700)  # more than what is solved to rounding
    K, s = Gaussian(1.0)(X), np.where(y == 1, 1.0, -1.0)
    best = KernelSVC(Gaussian(1.0), C=5.0, tol=1e-8).fit(X, y)
    model = KernelSVC(Gaussian(1.0), C=5.0, tol=tol).fit(X, y)
    b = np.zeros(len(y))
    b[model.support_] = model.dual_coef_
    f = K @ b + model.intercept_
    primal = b @ K @ b / 2 + 5.0 * np.maximum(0, 1 - s * f).sum()
    dual = np.abs(b).sum() - b @ K @ b / 2
    assert model.duality_gap_ == pytest.approx(primal - dual, rel=1e-6, abs=1e-8)
    truth = -best.outcomes_[0].objective
    assert 0 <= truth - dual <= model.duality_gap_ + 1e-9
    assert 0 <= primal - truth + 1e-9 <= model.duality_gap_ + 2e-9
    apart = model.decision_function(X) - model.intercept_ - best.decision_function(X) + best.intercept_
    assert np.square(apart).max() <= 2 * model.duality_gap_ + 1e-9  # k(x, x) is 1
    assert best.relative_gap_ < 1e-6


# -- a hard margin ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [Linear(), Gaussian(1.0), Polynomial(3, 1.0)], ids=str)
def test_a_hard_margin_is_what_a_huge_price_gives(kernel):
    X, y = draw(80, apart=0.1)
    X[:, 0] += 8.0 * y
    model = KernelSVC(kernel, C=np.inf).fit(X, y)
    soft = KernelSVC(kernel, C=1e6, tol=1e-6).fit(X, y)
    s, f = np.where(y == 1, 1.0, -1.0), model.decision_function(X)
    assert (s * f).min() == pytest.approx(1.0, abs=1e-6)
    np.testing.assert_allclose(f, soft.decision_function(X), rtol=1e-4, atol=1e-4)
    assert model.converged_


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2, 1.0)], ids=str)
def test_rows_that_are_not_separable_have_no_hard_margin(kernel):
    X, y = draw(100, apart=0.5)
    with pytest.raises(
        InputError, match=r"rows of 0 and 1 that a function separates, for C = inf; their .* hulls meet"
    ):
        KernelSVC(kernel, C=np.inf).fit(X, y)


def test_equal_rows_of_two_classes_have_no_hard_margin():
    X, y = draw(80, apart=0.1)
    X[:, 0] += 8.0 * y
    X, y = np.vstack([X, X[:1]]), np.append(y, 1 - y[0])
    with pytest.raises(InputError, match="a row of one class is equal to one of the other"):
        KernelSVC(Gaussian(1.0), C=np.inf).fit(X, y)
    with pytest.raises(InputError, match="a row of one class is equal to one of the other"):
        KernelSVC("linear", C=np.inf).fit([[1.0], [1.0]], ["a", "b"])


def test_what_separates_three_classes_is_said_by_name():
    X = np.array([[0.0], [0.1], [5.0], [5.1], [0.05], [9.0]])
    with pytest.raises(InputError, match="rows of 'a' and 'c' that a function separates"):
        KernelSVC("linear", C=np.inf).fit(X, ["a", "a", "b", "b", "c", "c"])


# -- probabilities ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 3])
def test_scikit_learn_calibrates_probabilities(classes):
    fresh, truth = draw(20_000, classes)
    X, y = fresh[:300], truth[:300]
    model = CalibratedClassifierCV(KernelSVC(Gaussian(1.0), C=100.0), ensemble=False).fit(X, y)
    p = model.predict_proba(fresh[300:])
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    shares = np.bincount(y, minlength=classes) / len(y)
    loss = log_loss(truth[300:], p)
    assert loss < 0.8 * log_loss(truth[300:], np.tile(shares, (len(p), 1)))
    if classes == 2:  # values of rows that were fitted are too sure of themselves
        plain = KernelSVC(Gaussian(1.0), C=100.0).fit(X, y)
        f = plain.decision_function(X)[:, None]
        inside = LogisticRegression(C=1e6).fit(f, y).predict_proba(plain.decision_function(fresh[300:])[:, None])
        assert loss < log_loss(truth[300:], inside)
        sure = p[:, 1] > 0.8
        assert truth[300:][sure].mean() == pytest.approx(p[sure, 1].mean(), abs=0.08)


def test_an_svm_has_no_probabilities_of_its_own():
    assert not hasattr(KernelSVC().fit(*draw()), "predict_proba")
    with pytest.raises(TypeError, match="probability"):
        KernelSVC(probability=True)


# -- any rows ---------------------------------------------------------------------------------------------------------


def test_a_precomputed_kernel_gives_the_same():
    X, y = draw(classes=3)
    new = draw(20, 3, seed=4)[0]
    weights = np.arange(len(y)) % 3
    plain = KernelSVC(Gaussian(1.0)).fit(X, y, weights)
    given = KernelSVC("precomputed").fit(Gaussian(1.0)(X), y, weights)
    np.testing.assert_array_equal(given.support_, plain.support_)
    np.testing.assert_allclose(given.decision_function(Gaussian(1.0)(new, X)), plain.decision_function(new), atol=1e-9)
    assert given.duality_gap_ == pytest.approx(plain.duality_gap_, abs=1e-9)


def test_what_is_no_kernel_is_refused_and_can_be_repaired():
    X, y = draw()
    K = np.tanh(X @ X.T - 1.0)
    with pytest.raises(InputError, match=r"K is indefinite: smallest eigenvalue -.* mercer.repair\(K\)"):
        KernelSVC("precomputed").fit(K, y)
    assert KernelSVC("precomputed").fit(mercer.repair(K), y).score(np.asarray(mercer.repair(K)), y) > 0.6
    with pytest.raises(InputError, match=r"KernelSVC with sigmoid.* K is indefinite"):
        KernelSVC(Sigmoid(1.0, -1.0)).fit(X, y)
    with pytest.raises(DomainError, match="at most 3 columns to be a kernel"):
        KernelSVC(Sinc(1.0)).fit(np.hstack([X, X]), y)


def test_a_lift_is_its_kernel():
    X, y = draw()
    new = draw(20, seed=4)[0]
    lift = PolynomialLift(2)
    model = KernelSVC(lift, C=0.5, tol=1e-9).fit(X, y)
    plain = KernelSVC(clone(lift).fit(X).kernel, C=0.5, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(model.decision_function(new), plain.decision_function(new), atol=1e-6)
    assert model.lift_ is not None


def test_sparse_rows_give_the_same():
    X, y = draw()
    X = np.where(np.abs(X) < 1, 0.0, X)
    dense, sparse = KernelSVC("gaussian(1)").fit(X, y), KernelSVC("gaussian(1)").fit(sp.csr_array(X), y)
    np.testing.assert_allclose(sparse.decision_function(sp.csr_array(X)), dense.decision_function(X), atol=1e-8)


def test_new_sparse_rows_stay_sparse_where_the_lift_takes_them():
    X, y = draw()
    new = np.where(np.abs(X) < 1, 0.0, X)
    waves = RandomFourier("gaussian(1)", 40, random_state=0)
    means = Nystrom("gaussian(1)", 10, landmarks="kmeans", random_state=0)
    for lift, stays in ((waves, True), (PolynomialLift(2), True), (means, False)):
        model = KernelSVC(lift).fit(X, y)
        assert model._read(sp.csr_array(new), reset=False).sparse is stays
        np.testing.assert_allclose(model.decision_function(sp.csr_array(new)), model.decision_function(new), atol=1e-9)


def test_float32_comes_back_for_float32():
    X, y = draw()
    model = KernelSVC().fit(X.astype(np.float32), y)
    found = model.decision_function(X.astype(np.float32))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, KernelSVC().fit(X, y).decision_function(X), atol=1e-3)


def test_the_model_keeps_the_support_alone():
    random = np.random.default_rng(0)
    y = random.integers(2, size=3000)
    X = random.normal(size=(3000, 20)) + 6.0 * y[:, None]
    model = KernelSVC("linear").fit(X, y)
    assert len(model.support_) < 100
    assert len(pickle.dumps(model)) < X.nbytes / 5


def test_a_search_over_the_kernel_and_the_price():
    X, y = draw(classes=3)
    grid = {"kernel__lengthscale": [0.3, 3.0], "C": [0.1, 10.0]}
    search = GridSearchCV(KernelSVC(Gaussian(1.0)), grid, cv=3).fit(X, y)
    there = {"gamma": [0.5 / 0.3**2, 0.5 / 9.0], "C": [0.1, 10.0]}
    wanted = GridSearchCV(SVC(), there, cv=3).fit(X, y)
    assert search.best_score_ == pytest.approx(wanted.best_score_)
    assert search.best_params_["C"] == wanted.best_params_["C"]


# -- starts, limits, plans --------------------------------------------------------------------------------------------


def test_a_warm_start_goes_on_from_the_last_fit():
    X, y = draw(800)
    model = KernelSVC(Gaussian(1.0), warm_start=True).fit(X, y)
    first = model.n_iter_
    assert model.fit(X, y).n_iter_ < first / 2
    path = model.set_params(C=1.5).fit(X, y)
    cold = KernelSVC(Gaussian(1.0), C=1.5).fit(X, y)
    assert path.n_iter_ < cold.n_iter_
    np.testing.assert_allclose(path.decision_function(X), cold.decision_function(X), atol=1e-2)
    other = X[::-1].copy()
    again = model.set_params(C=1.0).fit(other, y[::-1])
    assert again.n_iter_ > first / 2
    assert not hasattr(cold, "_previous")


def test_a_time_limit_keeps_what_was_learned():
    X, y = draw(4000, apart=0.3)
    with pytest.warns(NumericalWarning, match=r"KernelSVC: The time limit of 0.05 s was reached\. A violation of"):
        model = KernelSVC("gaussian(0.3)", C=1000.0, time_limit=0.05).fit(X, y)
    assert not model.converged_
    assert np.isfinite(model.decision_function(X)).all()
    assert model.duality_gap_ > 0


@pytest.mark.parametrize("keep", [True, False], ids=["keep", "raise"])
def test_ctrl_c_comes_through_between_working_sets(keep, monkeypatch):
    X, y = draw(2500, apart=0.3)
    plain, calls = KernelCache.fetch, []

    def interrupted(self, rows):
        calls.append(len(rows))
        if len(calls) == 9:
            signal.raise_signal(signal.SIGINT)
        return plain(self, rows)

    monkeypatch.setattr(KernelCache, "fetch", interrupted)
    model = KernelSVC("gaussian(0.3)", C=100.0, on_interrupt="keep" if keep else "raise")
    if not keep:
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
        assert not hasattr(model, "support_")
    else:
        with pytest.warns(NumericalWarning, match=r"KernelSVC: The fit was interrupted\. A violation of"):
            model.fit(X, y)
        assert not model.converged_
        assert model.duality_gap_ > 0
        assert model.score(X, y) > 0.5
    assert len(calls) <= 10


def test_too_few_steps_are_told_once():
    X, y = draw(3000)
    with pytest.warns(NumericalWarning, match=r"5 steps are over\..*where tol is 0.001.*allow more max_iter") as told:
        model = KernelSVC("gaussian(1)", max_iter=5).fit(X, y)
    assert len(told) == 1
    assert not model.converged_


@pytest.mark.cores("memory_limit is that of this process: a card has its own")
def test_a_plan_says_what_a_fit_takes():
    X, y = draw(classes=3)
    plan = KernelSVC().plan(X, y)
    assert str(plan).startswith("SVM on 120 rows x 3 columns, 3 functions: exact\n")
    assert [stage.name for stage in plan.stages] == ["coefficients"]
    with pytest.raises(BudgetError, match=r"KernelSVC needs .* for rows of the kernel matrix of .* rows; 11.7 KiB"):
        KernelSVC(memory_limit="12 kB", method="exact").fit(X, y)


# -- errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"C": 0}, "a positive number for C; got 0"),
        ({"C": -1.0}, "a positive number for C; got -1.0"),
        ({"C": np.nan}, "a positive number for C; got nan"),
        ({"C": "1"}, "a positive number for C; got '1'"),
        ({"tol": 0.0}, "a positive finite number for tol; got 0.0"),
        ({"max_iter": 0}, "a positive integer, or None, for max_iter; got 0"),
        ({"n_landmarks": -3}, "a positive integer, or None, for n_landmarks; got -3"),
        ({"decision_function_shape": "crammer"}, 'decision_function_shape that is "ovo" or "ovr"; got \'crammer\''),
        ({"method": "smo"}, 'method that is "auto", "exact" or "landmarks"; got \'smo\''),
        ({"warm_start": 1}, "True or False for warm_start; got 1"),
        ({"lengthscale": "loo"}, 'a lengthscale that is "median" or a number; leave-one-out is for least squares'),
        ({"class_weight": {7: 2.0}}, "classes of y in class_weight; 7 is none of them"),
        ({"time_limit": -1}, "a positive number of seconds, or None, for time_limit"),
        ({"kernel": Polynomial}, "a kernel, its text, a function, a lift or 'precomputed'"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, message):
    with pytest.raises((InputError, ValueError), match=message):
        KernelSVC(**settings).fit(*draw(20))


def test_data_that_makes_no_sense_is_refused():
    X, y = draw(20)
    with pytest.raises(InputError, match="two classes or more; there is one class, 0"):
        KernelSVC().fit(X, np.zeros(20, int))
    with pytest.raises(ValueError, match="NaN"):
        KernelSVC().fit(np.where(X > 1, np.nan, X), y)
    with pytest.raises(InputError, match=r"values of the kernel with finite sums; polynomial.* overflows"):
        KernelSVC(Polynomial(9, 1.0)).fit(1e40 * X, y)
    with pytest.raises(InputError, match='a kernel or a lift for method="landmarks"; the kernel is precomputed'):
        KernelSVC("precomputed", method="landmarks").fit(X @ X.T, y)


def test_a_fit_that_fails_leaves_the_model_as_it_was():
    X, y = draw()
    model = KernelSVC().fit(X, y)
    before = model.decision_function(X)
    with pytest.raises(InputError, match="two classes or more"):
        model.fit(X, np.zeros(len(y)))
    np.testing.assert_array_equal(model.decision_function(X), before)


def test_pairs_of_a_thousand_classes_are_refused_before_they_are_made():
    X, y = np.random.default_rng(0).normal(size=(2_000, 4)), np.arange(2_000) % 1_000
    with pytest.raises(BudgetError, match=r"coefficients of 499,500 pairs of classes.*OneVsRestClassifier"):
        KernelSVC("gaussian(1)", memory_limit="8 GiB").fit(X, y)
