"""Perceptrons against the sequential algorithm as the lectures write it, and the bound on its mistakes."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import mercer
from mercer import KernelPerceptron, Perceptron
from mercer.errors import BudgetError, InputError, NumericalWarning
from mercer.kernels import Gaussian, Linear
from mercer.kernels import Polynomial as PolynomialKernel
from mercer.kernels.strings.spectrum import Spectrum
from mercer.lifts import Polynomial, RandomFourier
from mercer.lifts.base import Lift
from mercer.lifts.randomness import generator
from mercer.solvers.perceptron import perceptron as solver


def draw(n=300, classes=2, seed=0, d=3):
    """Overlapping clouds."""
    random = np.random.default_rng(seed)
    y = random.integers(classes, size=n)
    return random.normal(size=(n, d)) + 1.5 * random.normal(size=(classes, d))[y], y


def sequential(K, y, passes, classes=2):
    """The lecture's algorithm, one row after the other: alpha, mistakes of each pass, and the sum of all functions."""
    n = len(y)
    outputs = 1 if classes == 2 else classes
    V, total, history = np.zeros((n, outputs)), np.zeros((n, outputs)), []
    for _ in range(passes):
        history.append(0)
        for i in range(n):
            f = K[i] @ V
            if outputs == 1:
                sign = 1.0 if y[i] == 1 else -1.0
                if sign * f[0] <= 0:
                    V[i, 0] += sign
                    history[-1] += 1
            else:
                others = f.copy()
                others[y[i]] = -np.inf
                wrong = int(others.argmax())
                if f[y[i]] - f[wrong] <= 0:
                    V[i, y[i]] += 1
                    V[i, wrong] -= 1
                    history[-1] += 1
            total += V
        if history[-1] == 0:
            break
    return V, history, total / (n * len(history))


def spread(model, n):
    """dual_coef_ of all rows."""
    coef = np.asarray(model.dual_coef_).reshape(len(model.support_), -1)
    found = np.zeros((n, coef.shape[1]))
    found[model.support_] = coef
    return found


@pytest.fixture(params=[7, 1024], ids=["small blocks", "one block"])
def block(request, monkeypatch):
    monkeypatch.setattr(solver, "BLOCK_ROWS", request.param)
    monkeypatch.setattr("mercer.solvers.perceptron.budget.BLOCK_ROWS", request.param)


# -- the same as one after the other ----------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("kernel", [Gaussian(1.0), Linear() + 1.0], ids=str)
def test_blocks_learn_what_the_sequential_algorithm_learns(kernel, classes, block):
    X, y = draw(classes=classes)
    model = KernelPerceptron(kernel, max_iter=4).fit(X, y)
    V, history, mean = sequential(kernel(X), y, 4, classes)
    np.testing.assert_array_equal(spread(model, 300), V)
    assert model.history_.tolist() == history
    averaged = clone(model).set_params(combine="averaged").fit(X, y)
    np.testing.assert_allclose(spread(averaged, 300), mean, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize(
    "kernel",
    [
        "linear",
        "polynomial(2)",
        Linear() + PolynomialKernel(3),
        Polynomial(2),
        RandomFourier("gaussian(2)", 40, random_state=0),
    ],
    ids=str,
)
def test_theta_is_what_the_kernel_of_its_features_learns(kernel, classes, block):
    X, y = draw(classes=classes)
    model = Perceptron(kernel, max_iter=3).fit(X, y)
    lift = clone(kernel) if isinstance(kernel, Lift) else mercer.lift(kernel, X.shape[1])
    Z = np.column_stack([np.asarray(lift.fit_transform(X)), np.ones(len(X))])
    V, history, _ = sequential(Z @ Z.T, y, 3, classes)
    np.testing.assert_array_equal(spread(model, 300), V)
    assert model.history_.tolist() == history
    theta = Z.T @ V
    np.testing.assert_allclose(model.coef_.reshape(-1, Z.shape[1] - 1).T, theta[:-1], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(np.atleast_1d(model.intercept_), theta[-1], atol=1e-9)
    scores = np.asarray(model.decision_function(X)).reshape(len(X), -1)
    np.testing.assert_allclose(scores, Z @ theta, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("intercept", [True, False])
def test_coefficients_are_those_of_the_fit(intercept):
    X, y = draw(100)
    model = Perceptron(fit_intercept=intercept).fit(X, y)
    before = model.coef_, model.intercept_
    assert before[0].shape == (3,)
    model.set_params(fit_intercept=not intercept)
    np.testing.assert_array_equal(model.coef_, before[0])
    assert model.intercept_ == before[1]
    np.testing.assert_allclose(model.decision_function(X), X @ model.coef_ + model.intercept_, atol=1e-9)


def test_the_first_row_is_always_a_mistake_and_ties_are():
    model = KernelPerceptron("linear", max_iter=1).fit([[1.0], [0.0], [-1.0]], [1, 1, 0])
    assert model.support_.tolist() == [0, 1]  # f(0) = 0 counts as a mistake


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 60), classes=st.integers(2, 4), size=st.integers(1, 20))
def test_any_blocks_are_one_after_the_other(seed, n, classes, size):
    X, y = draw(n, classes, seed)
    y[:classes] = np.arange(classes)[: len(y)]
    if len(np.unique(y)) < classes:
        return
    before, solver.BLOCK_ROWS = solver.BLOCK_ROWS, size
    try:
        model = KernelPerceptron(Gaussian(1.0), max_iter=3).fit(X, y)
    finally:
        solver.BLOCK_ROWS = before
    V, history, _ = sequential(Gaussian(1.0)(X), y, 3, classes)
    np.testing.assert_array_equal(spread(model, n), V)
    assert model.history_.tolist() == history


def test_orders_come_from_the_random_state():
    X, y = draw()
    one, same, other = (KernelPerceptron("gaussian(1)", shuffle=True, random_state=k).fit(X, y) for k in (0, 0, 1))
    np.testing.assert_array_equal(spread(one, 300), spread(same, 300))
    assert not np.array_equal(spread(one, 300), spread(other, 300))
    order = generator(0).permutation(300)
    first = KernelPerceptron("gaussian(1)", shuffle=True, random_state=0, max_iter=1).fit(X, y)
    V, _, _ = sequential(Gaussian(1.0)(X[order]), y[order], 1)
    np.testing.assert_array_equal(spread(first, 300)[order], V)


# -- the bound --------------------------------------------------------------------------------------------------------


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), gap=st.floats(0.05, 2.0), classes=st.sampled_from([2, 3]))
def test_mistakes_never_exceed_the_bound(seed, gap, classes):
    random = np.random.default_rng(seed)
    y = random.integers(classes, size=60)
    y[:classes] = np.arange(classes)
    angle = 2 * np.pi * y / classes
    X = (1 + gap) * np.column_stack([np.cos(angle), np.sin(angle)]) + random.uniform(-0.5, 0.5, (60, 2))
    model = KernelPerceptron("gaussian(0.5)", max_iter=500).fit(X, y)
    assert model.converged_
    assert model.margin_ > 0
    assert model.history_.sum() <= model.mistake_bound_
    V, K = spread(model, 60), Gaussian(0.5)(X)
    f = K @ V
    own = f[np.arange(60), y] if classes > 2 else np.where(y == 1, f[:, 0], -f[:, 0])
    best = np.sort(np.where(np.arange(classes) == y[:, None], -np.inf, f), axis=1)[:, -1] if classes > 2 else 0.0
    assert model.margin_ == pytest.approx((own - best).min() / np.sqrt((V * f).sum()), rel=1e-9)


def test_rows_that_cannot_be_separated_have_no_bound():
    model = Perceptron(max_iter=20).fit([[0.0], [1.0], [2.0]], [0, 1, 0])
    assert not model.converged_
    assert np.isnan(model.margin_)
    assert model.mistake_bound_ == np.inf
    assert model.n_iter_ == 20


def test_a_margin_next_to_zero_bounds_nothing_and_does_not_warn():
    model = KernelPerceptron("linear", max_iter=50).fit([[1.0], [-1e-200], [-1e-150]], [1, -1, -1])
    assert model.converged_
    assert 0 < model.margin_ < 1e-150
    assert model.mistake_bound_ == np.inf


# -- votes ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 3])
def test_a_vote_is_that_of_all_functions(classes):
    X, y = draw(80, classes)
    new = draw(30, classes, seed=5)[0]
    model = KernelPerceptron(Gaussian(1.0), max_iter=2, combine="voted").fit(X, y)
    K, across = Gaussian(1.0)(X), Gaussian(1.0)(new, X)
    V, votes = np.zeros((80, 1 if classes == 2 else classes)), np.zeros((30, 1 if classes == 2 else classes))
    for _ in range(model.n_iter_):
        for i in range(80):
            f = K[i] @ V
            if classes == 2:
                sign = 1.0 if y[i] == 1 else -1.0
                V[i, 0] += sign * (sign * f[0] <= 0)
                votes += np.sign(across @ V)
            else:
                others = np.where(np.arange(classes) == y[i], -np.inf, f)
                if f[y[i]] <= others.max():
                    V[i, y[i]] += 1
                    V[i, others.argmax()] -= 1
                votes += (across @ V).argmax(axis=1)[:, None] == np.arange(classes)
    votes /= 80 * model.n_iter_
    found = np.asarray(model.decision_function(new)).reshape(30, -1)
    np.testing.assert_allclose(found, votes, atol=1e-9)
    assert model.score(X, y) > 0.6


# -- on a budget ------------------------------------------------------------------------------------------------------


def remembered(K, y, budget, strategy, passes=1):
    """Forgetron and Projectron as the papers write them, one row after the other, for two classes."""
    rows, coefficients, harm, mistakes, largest, history = [], [], 0.0, 0, 0.0, []
    for _ in range(passes):
        history.append(0)
        for i in range(len(y)):
            sign = 1.0 if y[i] == 1 else -1.0
            if sign * sum(c * K[i, j] for c, j in zip(coefficients, rows, strict=True)) > 0:
                continue
            history[-1] += 1
            mistakes, largest = mistakes + 1, max(largest, K[i, i])
            if strategy == "projectron" and rows:
                inner, k = K[np.ix_(rows, rows)], K[i, rows]
                weights = np.linalg.solve(inner, k)
                if len(rows) == budget or K[i, i] - k @ weights <= 0.01 * K[i, i]:
                    coefficients = [c + sign * w for c, w in zip(coefficients, weights, strict=True)]
                    continue
            rows, coefficients = [*rows, i], [*coefficients, sign]
            if strategy == "forgetron" and len(rows) > budget:
                r, v = rows[0], coefficients[0]
                f = sum(c * K[r, j] for c, j in zip(coefficients, rows, strict=True)) / largest
                grid = np.linspace(0, 1, 200_001)
                psi = grid**2 * (v**2 * K[r, r] / largest - 2 * v * f) + 2 * grid * abs(v)
                best = np.flatnonzero(psi <= 15 / 32 * mistakes - harm + 1e-12)[-1]
                phi, harm = grid[best], harm + psi[best]
                rows, coefficients = rows[1:], [phi * c for c in coefficients[1:]]
    return rows, coefficients, history


@pytest.mark.parametrize("strategy", ["forgetron", "projectron"])
def test_a_budget_is_kept_as_the_papers_say(strategy, block):
    X, y = draw(150)
    model = KernelPerceptron(Gaussian(1.0), budget=12, strategy=strategy, max_iter=2).fit(X, y)
    rows, coefficients, history = remembered(Gaussian(1.0)(X), y, 12, strategy, 2)
    assert model.history_.tolist() == history
    assert sorted(model.support_.tolist()) == sorted(rows)
    wanted = dict(zip(rows, coefficients, strict=True))
    found = dict(zip(model.support_.tolist(), model.dual_coef_, strict=True))
    assert found == pytest.approx(wanted, rel=1e-3, abs=1e-4)  # the grid of the reference


@pytest.mark.parametrize("strategy", ["forgetron", "projectron"])
@pytest.mark.parametrize("classes", [2, 4])
def test_a_budget_costs_little_where_classes_are_apart(strategy, classes):
    random = np.random.default_rng(0)
    y = random.integers(classes, size=1500)
    X = 3 * np.column_stack([np.cos(2 * np.pi * y / classes), np.sin(2 * np.pi * y / classes)])
    X += random.normal(size=X.shape)
    model = KernelPerceptron("gaussian(1)", budget=60, strategy=strategy, max_iter=3).fit(X, y)
    assert len(model.support_) <= 60
    assert model.score(X, y) > 0.8


def test_a_budget_that_is_never_full_is_the_plain_perceptron():
    X, y = draw(100)
    plain = KernelPerceptron("gaussian(1)", max_iter=1).fit(X, y)
    wide = KernelPerceptron("gaussian(1)", max_iter=1, budget=100).fit(X, y)
    order = np.argsort(wide.support_)
    np.testing.assert_array_equal(wide.support_[order], plain.support_)
    np.testing.assert_array_equal(wide.dual_coef_[order], plain.dual_coef_)


# -- streams ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("combine", ["last", "averaged", "voted"])
@pytest.mark.parametrize("classes", [2, 3])
def test_pieces_of_a_stream_are_one_pass(classes, combine):
    X, y = draw(classes=classes)
    new = draw(40, classes, seed=3)[0]
    whole = KernelPerceptron(Gaussian(1.0), max_iter=1, combine=combine).fit(X, y)
    parts = KernelPerceptron(Gaussian(1.0), combine=combine)
    for start in range(0, 300, 70):
        parts.partial_fit(X[start : start + 70], y[start : start + 70], classes=range(classes))
    np.testing.assert_array_equal(parts.support_, whole.support_)
    np.testing.assert_allclose(parts.dual_coef_, whole.dual_coef_, rtol=1e-12)
    np.testing.assert_allclose(parts.decision_function(new), whole.decision_function(new), atol=1e-9)
    assert parts.history_.sum() == whole.history_.sum()
    assert len(parts.history_) == 5


def test_streams_on_a_budget_and_in_the_primal():
    X, y = draw()
    for whole in (KernelPerceptron("gaussian(1)", budget=15, max_iter=1), Perceptron(Polynomial(2), max_iter=1)):
        parts = clone(whole)
        for start in range(0, 300, 100):
            parts.partial_fit(X[start : start + 100], y[start : start + 100], classes=[0, 1])
        whole.fit(X, y)
        np.testing.assert_allclose(parts.decision_function(X), whole.decision_function(X), rtol=1e-9, atol=1e-9)
        np.testing.assert_array_equal(np.sort(parts.support_), np.sort(whole.support_))


def test_a_piece_that_fails_leaves_the_model_as_it_was():
    X, y = draw()
    for model in (KernelPerceptron("gaussian(1)"), KernelPerceptron("gaussian(1)", budget=10)):
        model.partial_fit(X, y, classes=[0, 1])
        before = model.decision_function(X)
        with pytest.raises(InputError, match=r"labels that are among \[0, 1\]; row 2 has 7"):
            model.partial_fit(X[:3], [0, 1, 7])
        np.testing.assert_array_equal(model.decision_function(X), before)


def test_a_label_that_nobody_named_is_told_whatever_its_dtype():
    X, y = draw(20)
    words = np.array(["no", "yes"], dtype=object)[y]
    model = Perceptron().partial_fit(X, words, classes=["no", "yes"])
    with pytest.raises(InputError, match=r"labels that are among \['no', 'yes'\]; row 1 has 'maybe'"):
        model.partial_fit(X[:2], np.array(["no", "maybe"], dtype=object))


@pytest.mark.parametrize(
    ("first", "then", "message"),
    [
        ({}, {"budget": 5}, "needs budget=None, as for the rows before; got budget=5 and"),
        ({"budget": 5}, {"budget": None}, "budget=5 and strategy='forgetron', as for the rows before; got budget=None"),
        (
            {"budget": 5},
            {"budget": 50},
            "needs budget=5 and strategy='forgetron', as for the rows before; got budget=50",
        ),
        ({"budget": 5}, {"strategy": "projectron"}, "got budget=5 and strategy='projectron'. Set that back"),
    ],
)
def test_a_budget_stays_from_piece_to_piece(first, then, message):
    X, y = draw(100)
    model = KernelPerceptron("gaussian(1)", **first).partial_fit(X, y, classes=[0, 1])
    before = model.decision_function(X)
    model.set_params(**then)
    with pytest.raises(InputError, match=message):
        model.partial_fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), before)
    model.fit(X, y)


# -- any rows ---------------------------------------------------------------------------------------------------------


def test_a_precomputed_kernel_gives_the_same():
    X, y = draw()
    new = draw(20, seed=4)[0]
    plain = KernelPerceptron(Gaussian(1.0)).fit(X, y)
    given_ = KernelPerceptron("precomputed").fit(Gaussian(1.0)(X), y)
    np.testing.assert_array_equal(given_.dual_coef_, plain.dual_coef_)
    np.testing.assert_allclose(given_.decision_function(Gaussian(1.0)(new, X)), plain.decision_function(new), atol=1e-9)
    with pytest.raises(AttributeError, match="no attribute 'partial_fit'"):
        given_.partial_fit(Gaussian(1.0)(X), y)
    with pytest.raises(InputError, match="a kernel or a lift for partial_fit"):
        given_.set_params(kernel="gaussian(1)").partial_fit(Gaussian(1.0)(X), y)


def test_sparse_rows_give_the_same():
    X, y = draw()
    X = np.where(np.abs(X) < 1, 0.0, X)
    for model in (KernelPerceptron("gaussian(1)"), Perceptron()):
        dense, sparse = clone(model).fit(X, y), clone(model).fit(sp.csr_array(X), y)
        np.testing.assert_array_equal(spread(sparse, 300), spread(dense, 300))
        more = clone(model).partial_fit(sp.csr_array(X[:200]), y[:200], classes=[0, 1])
        more.partial_fit(sp.csr_array(X[200:]), y[200:])
        np.testing.assert_allclose(more.decision_function(sp.csr_array(X)), more.decision_function(X), atol=1e-9)


WAVES = RandomFourier("gaussian(1)", 60, random_state=0)


@pytest.mark.parametrize("kernel", ["gaussian(1)", WAVES, Polynomial(2)], ids=["kernel", "waves", "products"])
def test_sparse_and_dense_pieces_follow_each_other(kernel):
    X, y = draw()
    X = np.where(np.abs(X) < 1, 0.0, X)
    wanted = KernelPerceptron(kernel).partial_fit(X[:200], y[:200], classes=[0, 1]).partial_fit(X[200:], y[200:])
    for first, second in ((np.asarray, sp.csr_array), (sp.csr_array, np.asarray), (sp.csr_array, sp.csr_array)):
        model = KernelPerceptron(kernel).partial_fit(first(X[:200]), y[:200], classes=[0, 1])
        model.partial_fit(second(X[200:]), y[200:])
        assert model.score(X, y) > 0.6
        if first is np.asarray or isinstance(kernel, str):  # random waves of sparse rows have another origin
            np.testing.assert_array_equal(model.support_, wanted.support_)


def test_parameters_inside_the_kernel_are_set_and_searched():
    X, y = draw()
    search = GridSearchCV(KernelPerceptron("gaussian(1)"), {"kernel__lengthscale": [0.3, 3.0]}, cv=3).fit(X, y)
    scores = [GridSearchCV(KernelPerceptron(Gaussian(s)), {}, cv=3).fit(X, y).best_score_ for s in (0.3, 3.0)]
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], scores)
    assert scores[0] != scores[1]
    assert KernelPerceptron(Gaussian(1.0)).set_params(kernel__lengthscale=2.0, max_iter=3).kernel == Gaussian(2.0)


def test_labels_may_be_text():
    X, y = draw()
    words = np.array(["no", "yes"])[y]
    assert set(KernelPerceptron().fit(X, words).predict(X)) == {"no", "yes"}


# -- limits and errors ------------------------------------------------------------------------------------------------


def test_a_time_limit_keeps_what_was_learned():
    X, y = draw(3000)
    with pytest.warns(
        NumericalWarning, match="KernelPerceptron: Stopped in pass .* What was learned until then is kept"
    ):
        model = KernelPerceptron("gaussian(0.3)", max_iter=10**6, time_limit=0.3).fit(X, y)
    assert not model.converged_
    assert len(model.support_)
    assert model.score(X, y) > 0.5
    assert model.history_.sum() >= len(model.support_)


@pytest.mark.cores("memory_limit is that of this process: a card has its own")
def test_a_plan_says_what_passes_take():
    X, y = draw()
    plan = KernelPerceptron(max_iter=3).plan(X, y)
    assert str(plan).startswith("perceptron on 300 rows x 3 columns, 1 output: 3 passes\n")
    assert (plan.rows, plan.details.passes) == (300, 3)
    with pytest.raises(BudgetError, match=r"KernelPerceptron needs .* for passes over 300 rows; 9.8 KiB may be used"):
        KernelPerceptron(memory_limit="10 kB").fit(X, y)


def test_a_plan_knows_the_lift_and_reads_what_fit_reads():
    X, y = draw()
    for model in (Perceptron(), Perceptron(RandomFourier("gaussian(1)", 400)), Perceptron(Polynomial(3))):
        plan = model.plan(X, y)
        assert not hasattr(model, "classes_")
        assert plan == model.fit(X, y).plan_
    texts = ["abab", "abba", "cddc", "cdcd"] * 5
    strings = KernelPerceptron(Spectrum(2))
    plan = strings.plan(texts, [0, 0, 1, 1] * 5)
    assert (plan.rows, plan.columns) == (20, 1)
    assert plan == strings.fit(texts, [0, 0, 1, 1] * 5).plan_


@pytest.mark.parametrize(
    ("settings_", "message"),
    [
        ({"max_iter": 0}, "a positive integer for max_iter; got 0"),
        ({"shuffle": "yes"}, "True or False for shuffle; got 'yes'"),
        ({"combine": "mean"}, 'combine that is "last", "averaged" or "voted"; got \'mean\''),
        ({"budget": 0}, "a positive integer, or None, for budget; got 0"),
        ({"strategy": "oldest"}, 'strategy that is "forgetron" or "projectron"; got \'oldest\''),
        ({"budget": 5, "combine": "voted"}, "combine=\"last\" with a budget; combine is 'voted'"),
        ({"time_limit": -1}, "a positive number of seconds, or None, for time_limit"),
        ({"lengthscale": "loo"}, 'a lengthscale that is "median" or a number; got "loo"'),
        ({"lengthscale": -1.0}, "lengthscale"),
        ({"kernel": Polynomial}, "a kernel, its text, a function, a lift or 'precomputed'"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings_, message):
    with pytest.raises((InputError, TypeError, ValueError), match=message.replace("(", r"\(")):
        KernelPerceptron(**settings_).fit(*draw(20))


def test_an_open_lengthscale_is_the_number_that_is_given():
    X, y = draw(60)
    given, written = (
        KernelPerceptron("gaussian", lengthscale=0.7).fit(X, y),
        KernelPerceptron("gaussian(0.7)").fit(X, y),
    )
    np.testing.assert_array_equal(given.decision_function(X), written.decision_function(X))
    assert str(given.kernel_) == str(written.kernel_)


def wider(rows):
    return np.column_stack([rows, rows[:, 0] * rows[:, 1]])


def test_features_of_a_function():
    """Exercise 17 B, with the features as a function: the same as a perceptron on its table."""
    X, y = draw(60)
    one, two = Perceptron(Linear().after(wider)).fit(X, y), Perceptron().fit(wider(X), y)
    np.testing.assert_array_equal(one.mistakes_, two.mistakes_)
    np.testing.assert_allclose(one.coef_, two.coef_, rtol=1e-12)
    assert KernelPerceptron(Linear().after(wider)).fit(X, y).coef_.shape == (4,)


def test_data_that_makes_no_sense_is_refused():
    X, y = draw(20)
    with pytest.raises(InputError, match="two classes or more; there is one class, 0"):
        KernelPerceptron().fit(X, np.zeros(20, int))
    with pytest.raises(ValueError, match="NaN"):
        Perceptron().fit(np.where(X > 1, np.nan, X), y)
    with pytest.raises(InputError, match="all classes with the first rows; classes are not given"):
        Perceptron().partial_fit(X, y)
    with pytest.raises(InputError, match=r"a kernel with a finite lift; gaussian.* has none\. Use KernelPerceptron"):
        Perceptron(Gaussian()).fit(X, y)
    with pytest.raises(InputError, match=r"finite lift; gaussian.*after\(wider\) has none\. Use KernelPerceptron"):
        Perceptron(Gaussian().after(wider)).fit(X, y)
    with pytest.raises(InputError, match="a lift, or a kernel with a finite one; got 'precomputed'"):
        Perceptron("precomputed").fit(X @ X.T, y)
    with pytest.raises(BudgetError, match=r"features of 20 rows.*Use KernelPerceptron"):
        Perceptron("polynomial(60)", memory_limit="1 MB").fit(X, y)


def test_more_rows_cannot_come_to_a_matrix():
    assert not hasattr(KernelPerceptron("precomputed"), "partial_fit")
    assert hasattr(KernelPerceptron("gaussian(1)"), "partial_fit")
