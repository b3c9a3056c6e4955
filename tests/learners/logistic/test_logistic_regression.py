"""Kernel logistic regression against scikit-learn on explicit features, and SciPy on coefficients of rows."""

import signal
import time
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

from mercer import KernelLogisticRegression
from mercer.errors import BudgetError, InputError, NumericalWarning
from mercer.kernels import Gaussian, Linear, Sigmoid
from mercer.lifts import Polynomial
from mercer.planner import logistic as planner
from mercer.solvers.logistic.objective import LogisticObjective

CLASSES = pytest.mark.parametrize("classes", [2, 3, 4])
WEIGHTED = pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])


def draw(n=200, classes=2, seed=0, d=3):
    """Overlapping clouds."""
    random = np.random.default_rng(seed)
    y = random.integers(classes, size=n)
    y[:classes] = np.arange(classes)
    return random.normal(size=(n, d)) + 1.2 * random.normal(size=(classes, d))[y], y


def reference(Z, y, alpha, weights=None):
    """scikit-learn's model on features."""
    return LogisticRegression(C=1 / alpha, solver="newton-cg", tol=1e-11, max_iter=10_000).fit(Z, y, weights)


def by_coefficients(K, y, alpha, weights):
    """Coefficients of rows and intercepts of one function per class, by SciPy, from the definition."""
    n, classes = len(y), len(np.unique(y))
    outputs = 1 if classes == 2 else classes
    onehot = (y[:, None] == np.arange(classes)).astype(float)

    def both(flat):
        a, b = flat[:-outputs].reshape(n, outputs), flat[-outputs:]
        f = K @ a
        scores = f + b
        if outputs == 1:
            scores = np.column_stack([np.zeros(n), scores])
        value = weights @ (logsumexp(scores, axis=1) - scores[np.arange(n), y]) + alpha / 2 * (a * f).sum()
        pull = (weights[:, None] * (softmax(scores, axis=1) - onehot))[:, -outputs:]
        return value, np.concatenate([(K @ (pull + alpha * a)).ravel(), pull.sum(axis=0)])

    start = np.zeros(n * outputs + outputs)
    found = minimize(
        both,
        start,
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 50_000, "maxfun": 100_000, "ftol": 1e-16, "gtol": 1e-10, "maxcor": 50},
    )
    return found.x[:-outputs].reshape(n, outputs), found.x[-outputs:], found.fun


# -- truth ------------------------------------------------------------------------------------------------------------


@CLASSES
@WEIGHTED
@pytest.mark.parametrize("alpha", [0.03, 1.0, 30.0])
def test_features_of_a_lift_give_the_model_of_scikit_learn(classes, weighted, alpha):
    X, y = draw(classes=classes)
    weights = np.random.default_rng(5).uniform(0.1, 3, len(y)) if weighted else None
    model = KernelLogisticRegression(Polynomial(2), alpha=alpha, tol=1e-10).fit(X, y, weights)
    Z = Polynomial(2).fit_transform(X)
    wanted = reference(Z, y, alpha, weights)
    assert model.converged_
    assert model.plan_.method == "features"
    new = draw(50, classes, seed=1)[0]
    Z_new = Polynomial(2).fit_transform(new)
    np.testing.assert_allclose(model.predict_proba(new), wanted.predict_proba(Z_new), atol=1e-5)
    np.testing.assert_allclose(model.coef_, wanted.coef_[0] if classes == 2 else wanted.coef_, atol=1e-5)
    scores = Z_new @ model.coef_.T + model.intercept_
    np.testing.assert_allclose(model.decision_function(new), scores, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(model.predict(new), wanted.predict(Z_new))


@CLASSES
@WEIGHTED
def test_the_kernel_matrix_gives_the_exact_solution(classes, weighted):
    X, y = draw(60, classes)
    weights = np.random.default_rng(5).uniform(0.1, 3, 60) if weighted else np.ones(60)
    kernel, alpha = Gaussian(0.8), 0.5
    model = KernelLogisticRegression(kernel, alpha=alpha, tol=1e-9).fit(X, y, weights if weighted else None)
    a, b, value = by_coefficients(kernel(X), y, alpha, weights)
    assert model.plan_.method == "exact"
    assert model.objective_ == pytest.approx(value, rel=1e-9)
    new = draw(40, classes, seed=1)[0]
    scores = kernel(new, X) @ a + b
    scores = scores[:, 0] if classes == 2 else scores - scores.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(model.decision_function(new), scores, atol=2e-5)
    coefficients = model.dual_coef_.reshape(60, -1)
    np.testing.assert_allclose(
        kernel(new, X) @ coefficients + model.intercept_,
        model.decision_function(new).reshape(40, -1),
        rtol=1e-9,
        atol=1e-9,
    )


@CLASSES
def test_dual_coefficients_are_residuals_by_alpha(classes):
    X, y = draw(classes=classes)
    model = KernelLogisticRegression("gaussian(1)", alpha=0.2, tol=1e-10).fit(X, y)
    onehot = (y[:, None] == np.arange(classes)).astype(float)
    residuals = (onehot - model.predict_proba(X)) / 0.2
    wanted = residuals[:, 1] if classes == 2 else residuals
    np.testing.assert_allclose(model.dual_coef_, wanted, atol=1e-6)
    np.testing.assert_allclose(model.dual_coef_.sum(axis=0), 0.0, atol=1e-10)


def test_the_gap_is_that_of_the_exact_kernel():
    X, y = draw(classes=3)
    model = KernelLogisticRegression("gaussian(1)", alpha=0.2, tol=1e-9).fit(X, y)
    with pytest.warns(NumericalWarning, match="2 steps were not enough.* The objective is at most .* above its least"):
        early = KernelLogisticRegression("gaussian(1)", alpha=0.2, tol=1e-9, max_iter=2).fit(X, y)
    assert not early.converged_
    assert early.n_iter_ == 2
    assert 0 < early.objective_ - model.objective_ <= early.duality_gap_
    a, K = early.dual_coef_, Gaussian(1.0)(X)
    loss = -early.predict_log_proba(X)[np.arange(200), y].sum()
    assert early.objective_ == pytest.approx(loss + 0.1 * np.einsum("it,ij,jt->", a, K, a), rel=1e-9)


@pytest.mark.parametrize("classes", [2, 3])
def test_landmarks_give_the_model_of_their_features(classes):
    X, y = draw(3500, classes)
    model = KernelLogisticRegression("gaussian(1)", n_landmarks=60, tol=1e-10, random_state=0).fit(X, y)
    assert model.plan_.method == "landmarks"
    assert len(model.landmarks_) == 60
    np.testing.assert_array_equal(X[model.landmark_indices_], model.landmarks_)
    kernel, L = Gaussian(1.0), model.landmarks_
    R = np.linalg.cholesky(kernel(L))
    new = draw(300, classes, seed=1)[0]
    Z, Z_new = (np.linalg.solve(R, kernel(L, rows)).T for rows in (X, new))
    wanted = reference(Z, y, 1.0)
    np.testing.assert_allclose(model.predict_proba(new), wanted.predict_proba(Z_new), atol=1e-6)
    assert not hasattr(model, "dual_coef_")
    assert not hasattr(model, "coef_")


def test_many_landmarks_come_close_to_the_exact_model():
    X, y = draw(600, 3)
    exact = KernelLogisticRegression("gaussian(2)").fit(X, y).predict_proba(X)
    near = KernelLogisticRegression("gaussian(2)", n_landmarks=200, random_state=0).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(near, exact, atol=1e-3)


def test_features_of_all_rows_that_were_not_drawn_are_the_same(monkeypatch):
    monkeypatch.setattr("mercer.lifts.landmarks.HELD", 1000)
    X, y = draw(1000, 3)
    model = KernelLogisticRegression("gaussian(1)", n_landmarks=20, tol=1e-9, random_state=0).fit(X, y)
    R = np.linalg.cholesky(Gaussian(1.0)(model.landmarks_))
    Z = np.linalg.solve(R, Gaussian(1.0)(model.landmarks_, X)).T
    np.testing.assert_allclose(model.predict_proba(X), reference(Z, y, 1.0).predict_proba(Z), atol=1e-6)


# -- the method that was asked for --------------------------------------------------------------------------------


@CLASSES
def test_exact_is_what_auto_does_with_few_rows(classes):
    X, y = draw(150, classes)
    auto = KernelLogisticRegression("gaussian(1)").fit(X, y)
    exact = KernelLogisticRegression("gaussian(1)", method="exact").fit(X, y)
    assert auto.plan_.method == exact.plan_.method == "exact"
    np.testing.assert_array_equal(exact.dual_coef_, auto.dual_coef_)
    np.testing.assert_array_equal(exact.predict_proba(X), auto.predict_proba(X))


def test_exact_is_the_whole_kernel_matrix_whatever_n_landmarks_and_features_are():
    X, y = draw(150, 3)
    auto = KernelLogisticRegression("polynomial(degree=2)", tol=1e-10).fit(X, y)
    exact = KernelLogisticRegression("polynomial(degree=2)", method="exact", n_landmarks=10, tol=1e-10).fit(X, y)
    assert (auto.plan_.method, exact.plan_.method) == ("features", "exact")
    assert exact.dual_coef_.shape == (150, 3)
    assert exact.plan_.n_landmarks == 0
    np.testing.assert_allclose(exact.predict_proba(X), auto.predict_proba(X), atol=1e-6)


@CLASSES
def test_landmarks_of_few_rows_give_the_model_of_their_features(classes):
    X, y = draw(200, classes)
    settings = {"method": "landmarks", "tol": 1e-10, "random_state": 0}
    model = KernelLogisticRegression("gaussian(1)", n_landmarks=25, **settings).fit(X, y)
    assert (model.plan_.method, len(model.landmarks_)) == ("landmarks", 25)
    assert "It was requested." in str(model.plan_)
    L = model.landmarks_
    Z = np.linalg.solve(np.linalg.cholesky(Gaussian(1.0)(L)), Gaussian(1.0)(L, X)).T
    np.testing.assert_allclose(model.predict_proba(X), reference(Z, y, 1.0).predict_proba(Z), atol=1e-6)


@pytest.mark.parametrize("count", [None, 80, 500])
def test_every_row_as_a_landmark_gives_the_exact_model(count):
    X, y = draw(80, 3)
    settings = {"method": "landmarks", "n_landmarks": count, "tol": 1e-10, "random_state": 0}
    model = KernelLogisticRegression("gaussian(1)", **settings).fit(X, y)
    exact = KernelLogisticRegression("gaussian(1)", method="exact", tol=1e-10).fit(X, y)
    assert (model.plan_.method, model.plan_.n_landmarks) == ("landmarks", 80)
    np.testing.assert_allclose(model.predict_proba(X), exact.predict_proba(X), atol=1e-6)


def test_landmarks_that_were_asked_for_are_more_than_the_features_of_a_kernel():
    X, y = draw(150, 3)
    model = KernelLogisticRegression("linear", method="landmarks", n_landmarks=2, random_state=0).fit(X, y)
    assert (model.plan_.method, len(model.landmarks_)) == ("landmarks", 2)


@pytest.mark.parametrize("method", ["exact", "landmarks"])
def test_a_lift_has_its_own_features_by_every_method(method):
    X, y = draw(150, 3)
    auto = KernelLogisticRegression(Polynomial(2)).fit(X, y)
    model = KernelLogisticRegression(Polynomial(2), method=method).fit(X, y)
    assert model.plan_.method == "features"
    np.testing.assert_array_equal(model.coef_, auto.coef_)


def test_a_precomputed_matrix_is_exact_and_has_no_landmarks():
    X, y = draw(60)
    K = Gaussian(1.0)(X)
    auto = KernelLogisticRegression("precomputed").fit(K, y)
    exact = KernelLogisticRegression("precomputed", method="exact").fit(K, y)
    np.testing.assert_array_equal(exact.dual_coef_, auto.dual_coef_)
    for given in (KernelLogisticRegression.fit, KernelLogisticRegression.plan):
        with pytest.raises(InputError, match='needs a kernel or a lift for method="landmarks"; the kernel is precomp'):
            given(KernelLogisticRegression("precomputed", method="landmarks"), K, y)
    with pytest.raises(InputError, match=r'a kernel that is proven for method="landmarks"; sigmoid.* is not'):
        KernelLogisticRegression(Sigmoid(1.0, 0.0), method="landmarks").fit(X, y)


# -- kinds of input -----------------------------------------------------------------------------------------------


@CLASSES
def test_probabilities_sum_to_one_and_agree_with_scores(classes):
    X, y = draw(classes=classes)
    words = np.array(["ant", "bee", "cat", "dog"])[y]
    model = KernelLogisticRegression(alpha=0.1).fit(X, words)
    found, logs, scores = model.predict_proba(X), model.predict_log_proba(X), model.decision_function(X)
    assert model.classes_.tolist() == ["ant", "bee", "cat", "dog"][:classes]
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-14)
    np.testing.assert_allclose(np.exp(logs), found, rtol=1e-14)
    np.testing.assert_array_equal(model.predict(X), model.classes_[found.argmax(axis=1)])
    wanted = 1 / (1 + np.exp(-scores)) if classes == 2 else softmax(scores, axis=1)
    np.testing.assert_allclose(found[:, 1] if classes == 2 else found, wanted, rtol=1e-10)


@CLASSES
def test_a_matrix_of_similarities_gives_the_same(classes):
    X, y = draw(classes=classes)
    new, weights = draw(20, seed=4)[0], np.arange(200) % 3
    plain = KernelLogisticRegression(Gaussian(1.0)).fit(X, y, weights)
    given = KernelLogisticRegression("precomputed").fit(Gaussian(1.0)(X), y, weights)
    np.testing.assert_allclose(given.predict_proba(Gaussian(1.0)(new, X)), plain.predict_proba(new), atol=1e-8)
    assert (given.dual_coef_[weights == 0] == 0).all()


@pytest.mark.parametrize("kernel", ["gaussian(1)", Polynomial(2), "linear"], ids=str)
def test_weights_are_copies(kernel):
    X, y = draw(80, 3)
    weights = np.random.default_rng(0).integers(0, 4, 80)
    rows = np.repeat(np.arange(80), weights)
    one = KernelLogisticRegression(kernel, tol=1e-10).fit(X, y, weights)
    other = KernelLogisticRegression(kernel, tol=1e-10).fit(X[rows], y[rows])
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), rtol=1e-7)


def test_class_weights_are_weights_of_rows():
    X, y = draw(80, 3)
    one = KernelLogisticRegression("gaussian(1)", class_weight={0: 1, 1: 3, 2: 0.5}).fit(X, y)
    other = KernelLogisticRegression("gaussian(1)").fit(X, y, np.array([1, 3, 0.5])[y])
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), rtol=1e-9)
    even = KernelLogisticRegression("gaussian(1)", class_weight="balanced", alpha=1e6).fit(X, y)
    np.testing.assert_allclose(even.predict_proba(X), 1 / 3, atol=1e-3)


@pytest.mark.parametrize("rank", [None, 40])
def test_sparse_rows_give_the_same(rank):
    X, y = draw(classes=3)
    X = np.where(np.abs(X) < 1, 0.0, X)
    model = KernelLogisticRegression("gaussian(1)", n_landmarks=rank, random_state=0)
    dense, sparse = clone(model).fit(X, y), clone(model).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(sparse.predict_proba(sp.csr_array(X)), dense.predict_proba(X), atol=1e-7)


@pytest.mark.parametrize("kernel", ["gaussian(1)", Polynomial(2)], ids=str)
def test_float32_stays_float32(kernel):
    X, y = draw(classes=3)
    model = KernelLogisticRegression(kernel).fit(X.astype(np.float32), y)
    wide = KernelLogisticRegression(kernel).fit(X, y)
    for method in ("predict_proba", "predict_log_proba", "decision_function"):
        found = getattr(model, method)(X.astype(np.float32))
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, getattr(wide, method)(X), atol=1e-4)


def test_a_far_origin_changes_nothing():
    X, y = draw(classes=3)
    plain = KernelLogisticRegression("linear").fit(X, y)
    far = KernelLogisticRegression("linear").fit(X + 1e6, y)
    np.testing.assert_allclose(far.predict_proba(X + 1e6), plain.predict_proba(X), atol=1e-6)


def test_a_kernel_with_few_features_is_lifted():
    X, y = draw(classes=3)
    kernel = KernelLogisticRegression("polynomial(degree=2)", tol=1e-9).fit(X, y)
    lift = KernelLogisticRegression(Polynomial(2), tol=1e-9).fit(X, y)
    assert kernel.plan_.method == "features"
    np.testing.assert_allclose(kernel.predict_proba(X), lift.predict_proba(X), atol=1e-7)


# -- always ends, and can be stopped ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["gaussian(1)", "linear"])
@pytest.mark.parametrize("alpha", [1e-8, 1.0])
def test_separable_rows_end(kernel, alpha):
    random = np.random.default_rng(0)
    X = np.vstack([random.normal(size=(50, 2)) - 9, random.normal(size=(50, 2)) + 9])
    model = KernelLogisticRegression(kernel, alpha=alpha).fit(X, np.repeat([0, 1], 50))
    assert model.converged_
    assert model.score(X, np.repeat([0, 1], 50)) == 1.0


def test_hard_tables_of_others_end():
    """Rows on which other libraries run for ever: a column of huge values, and two points alone."""
    random = np.random.default_rng(0)
    huge = np.column_stack([random.normal(size=100), 1e10 * random.normal(size=100)])
    for X, y in ((huge, random.integers(2, size=100)), (np.array([[1.0, 99999.0], [2.0, 99999.0]]), np.array([0, 1]))):
        for kernel in ("gaussian('median')", "linear"):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", NumericalWarning)
                model = KernelLogisticRegression(kernel).fit(X, y)
            assert np.isfinite(model.predict_log_proba(X)).all()


def test_a_start_from_the_model_before_takes_fewer_steps():
    X, y = draw(400, 3)
    model = KernelLogisticRegression("gaussian(1)", alpha=0.1, warm_start=True, tol=1e-8).fit(X, y)
    first = model.n_iter_
    again = model.fit(X, y)
    assert again.n_iter_ == 1
    assert again.set_params(alpha=0.09).fit(X, y).n_iter_ < first
    cold = KernelLogisticRegression("gaussian(1)", alpha=0.09, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(again.predict_proba(X), cold.predict_proba(X), atol=1e-6)
    assert again.fit(X[:, :2], y > 0).classes_.tolist() == [False, True]


def test_ctrl_c_keeps_a_usable_model(monkeypatch):
    X, y = draw(300, 3)
    plain = LogisticObjective.curved
    calls = []

    def interrupted(self, *given):
        calls.append(1)
        if len(calls) == 10:
            signal.raise_signal(signal.SIGINT)
        return plain(self, *given)

    monkeypatch.setattr(LogisticObjective, "curved", interrupted)
    keeping = KernelLogisticRegression("gaussian(1)", alpha=1e-3, on_interrupt="keep")
    with pytest.warns(NumericalWarning, match="KernelLogisticRegression: The fit was interrupted, at a gradient of"):
        keeping.fit(X, y)
    assert not keeping.converged_
    assert keeping.duality_gap_ > 0
    assert keeping.score(X, y) > 0.5
    calls.clear()
    with pytest.raises(KeyboardInterrupt):
        KernelLogisticRegression("gaussian(1)", alpha=1e-3).fit(X, y)


def test_a_time_limit_keeps_what_was_found(monkeypatch):
    X, y = draw(1000, 3)
    plain = LogisticObjective.curved

    def slow(self, *given):
        time.sleep(0.05)
        return plain(self, *given)

    monkeypatch.setattr(LogisticObjective, "curved", slow)
    with pytest.warns(NumericalWarning, match="The time limit of 0.3 s was reached"):
        model = KernelLogisticRegression("gaussian(1)", alpha=1e-4, n_landmarks=100, time_limit=0.3).fit(X, y)
    assert not model.converged_
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0, rtol=1e-12)


# -- plans ------------------------------------------------------------------------------------------------------------


def test_a_plan_says_what_a_fit_takes():
    X, y = draw(classes=3)
    model = KernelLogisticRegression("gaussian(1)")
    plan = model.plan(X, y)
    assert str(plan).startswith("logistic regression on 200 rows x 3 columns, 3 outputs: exact\n")
    assert not hasattr(model, "n_features_in_")
    assert model.fit(X, y).plan_ == plan
    assert plan.exact
    assert plan.seconds == pytest.approx(sum(stage.seconds for stage in plan.stages))


@pytest.mark.cores("memory_limit is that of this process: a card has its own")
def test_memory_decides_how_many_landmarks_there_are(monkeypatch):
    X, y = draw(4000, 2)
    monkeypatch.setattr(planner, "BLOCKS", 0.0)
    large, small = (
        KernelLogisticRegression("gaussian(1)", memory_limit=limit).plan(X, y) for limit in ("1 GB", "9 MB")
    )
    assert (large.n_landmarks, small.n_landmarks) == (1000, 125)
    assert small.bytes <= 9_000_000
    with pytest.raises(
        BudgetError, match=r"KernelLogisticRegression needs .* for landmarks of 4,000 rows \(32 per row\)"
    ):
        KernelLogisticRegression("gaussian(1)", memory_limit="1 MB").fit(X, y)
    with pytest.raises(BudgetError, match=r"for the kernel matrix of 200 rows \(200 per row\).* Use fewer rows"):
        KernelLogisticRegression("precomputed", memory_limit="100 kB").fit(np.eye(200), y[:200])


def test_time_decides_how_many_landmarks_there_are():
    X, y = draw(4000, 2)
    assert KernelLogisticRegression("gaussian(1)", time_limit=1e-3).plan(X, y).n_landmarks == 32
    assert KernelLogisticRegression("gaussian(1)", n_landmarks=4000).plan(X, y).method == "exact"


@pytest.mark.cores("memory_limit is that of this process: a card has its own")
def test_the_method_decides_whatever_the_rows_are():
    X, y = draw(4000, 2)
    exact = KernelLogisticRegression("gaussian(1)", method="exact")
    assert (exact.plan(X, y).method, len(exact.plan(X, y).others)) == ("exact", 0)
    with pytest.raises(BudgetError, match=r'kernel matrix of 4,000 rows .* Use method="landmarks", with n_landmarks='):
        exact.set_params(memory_limit="100 MB").fit(X, y)


# -- errors ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"alpha": 0.0}, "a positive finite number for alpha; got 0.0"),
        ({"alpha": "auto"}, "a positive finite number for alpha; got 'auto'"),
        ({"tol": -1e-3}, "a positive finite number for tol; got -0.001"),
        ({"max_iter": 0}, "a positive integer for max_iter; got 0"),
        ({"method": "features"}, 'method that is "auto", "exact" or "landmarks"; got \'features\''),
        ({"method": None}, 'method that is "auto", "exact" or "landmarks"; got None'),
        ({"n_landmarks": 2.5}, "a positive integer, or None, for n_landmarks; got 2.5"),
        ({"lengthscale": "loo"}, 'a lengthscale that is "median" or a number; got "loo"'),
        ({"warm_start": "yes"}, "True or False for warm_start; got 'yes'"),
        ({"class_weight": "even"}, 'a dict of weights, "balanced" or None for class_weight'),
        ({"time_limit": -1}, "a positive number of seconds, or None, for time_limit"),
        ({"on_interrupt": "stop"}, 'on_interrupt that is "raise" or "keep"'),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, message):
    with pytest.raises(InputError, match=message):
        KernelLogisticRegression(**settings).fit(*draw(20))


def test_data_that_makes_no_sense_is_refused():
    X, y = draw(20)
    with pytest.raises(InputError, match="two classes or more; there is one class, 0"):
        KernelLogisticRegression().fit(X, np.zeros(20, int))
    with pytest.raises(InputError, match="two classes or more; there is one class, 1"):
        KernelLogisticRegression().fit(X, y, y)
    with pytest.raises(ValueError, match="NaN"):
        KernelLogisticRegression().fit(np.where(X > 1, np.nan, X), y)
    with pytest.raises(InputError, match="K is indefinite: smallest eigenvalue -1, largest 1"):
        KernelLogisticRegression("precomputed").fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])


def test_a_failed_fit_keeps_the_model_before():
    X, y = draw()
    model = KernelLogisticRegression("gaussian(1)").fit(X, y)
    before = model.predict_proba(X)
    with pytest.raises(InputError, match="one class"):
        model.fit(X[:, :2], np.zeros(200, int))
    np.testing.assert_array_equal(model.predict_proba(X), before)


def test_a_search_over_the_lengthscale_tries_each():
    X, y = draw()
    grid = {"kernel__lengthscale": [0.01, 1.0]}
    search = GridSearchCV(KernelLogisticRegression(Gaussian(5.0)), grid, cv=3).fit(X, y)
    assert search.best_estimator_.kernel_ == Gaussian(1.0)
    assert len(set(search.cv_results_["mean_test_score"])) == 2
    assert KernelLogisticRegression(Linear() + Gaussian(2.0)).fit(X, y).kernel_ == Linear() + Gaussian(2.0)


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("kernel", ["gaussian(1)", "linear", "1e-6 * laplace(1)"])
def test_a_factor_and_a_decomposition_give_the_same(classes, kernel, monkeypatch):
    X, y = draw(150, classes)
    weights = np.random.default_rng(0).integers(0, 3, 150)
    models = []
    for most in (3000, 0):
        monkeypatch.setattr("mercer.learners.logistic.design.MAX_FACTORED_ROWS", most)
        model = KernelLogisticRegression(kernel, alpha=0.01, tol=1e-9, method="exact")
        models.append(model.fit(X, y, sample_weight=weights))
    factored, decomposed = models
    np.testing.assert_allclose(factored.predict_proba(X), decomposed.predict_proba(X), atol=1e-6)
    np.testing.assert_allclose(factored.objective_, decomposed.objective_, rtol=1e-8)
