"""One pass over pieces against the models that hold all features: the same numbers from sums."""

import signal

import numpy as np
import pytest
from sklearn.base import clone
from streamed_requests import Cut, Saving, asked, basis_of, draw

from mercer import KernelRidge, KernelRidgeClassifier
from mercer.compute.runtime.run import IDLE
from mercer.errors import NumericalWarning
from mercer.kernels.points import SINGLE, Points
from mercer.learners.ridge import normal_equations
from mercer.learners.ridge.residual_pass import check
from mercer.learners.run.fit_run import Terms, watched
from mercer.learners.streaming.basis import FeatureBasis
from mercer.learners.streaming.moments import Moments
from mercer.lifts import Nystrom, Polynomial, RandomFourier
from mercer.solvers import Eigen

LIFTS = {
    "polynomial": Polynomial(2),
    "fourier": RandomFourier("gaussian(2)", 30, random_state=0),
    "nystrom": Nystrom("gaussian(1.5)", 40, random_state=0),
}
NEW = np.random.default_rng(9).normal(size=(60, 3))


def model_of(name, X, Y, weights=None, **settings):
    """The model that holds all features."""
    return KernelRidge(clone(LIFTS[name]), solver=Eigen(), **settings).fit(X, Y, sample_weight=weights)


def prediction(basis, found, rows):
    return basis.times(Points(rows), found.raw) + found.intercepts


def close(found, expected, within=1e-8):
    assert np.abs(np.asarray(found) - expected).max() <= within * np.abs(expected).max()


def agree(fit, model, basis, rows=NEW):
    """All that a fit says is what the model says that holds all features."""
    close(fit.alphas, model.alpha_, 1e-9)
    close(prediction(basis, fit, rows), model.predict(rows).reshape(len(rows), -1))
    centred = (np.asarray(model.lift_.transform(rows)) - fit.means) @ fit.weights + fit.levels
    close(centred, model.predict(rows).reshape(len(rows), -1))
    close(fit.intercepts, model.intercept_)
    assert fit.outcome.converged
    assert fit.outcome.residual < 1e-8
    assert fit.roundings.max() < 1e-7
    if (fit.alphas > 0).all():
        close(fit.duals, model.dual_coef_.reshape(fit.duals.shape), 1e-7)
    if model.loo_ is not None:
        close(fit.path.errors, model.loo_.errors)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("alpha", ["auto", 0.7, [1e-3, 10.0], [0.01, 1.0, 100.0], 0.0], ids=str)
@pytest.mark.parametrize("name", LIFTS)
def test_sums_give_the_model_of_all_features(name, alpha, intercept):
    X, Y = draw()
    s = np.random.default_rng(1).uniform(0.5, 3.0, len(X))
    model = model_of(name, X, Y, s, alpha=alpha, fit_intercept=intercept)
    basis = basis_of(model.lift_, X)
    found = asked(basis, X, Y, s, alpha=alpha, intercept=intercept).normal_equations(IDLE)
    agree(found, model, basis)


@pytest.mark.parametrize("name", LIFTS)
def test_one_output_without_weights_and_pieces_of_any_size(name):
    X, Y = draw(outputs=1)
    model = model_of(name, X, Y[:, 0], alpha="auto")
    basis = basis_of(model.lift_, X)
    for batch in (0, 400, 37):
        agree(asked(basis, X, Y, alpha="auto", batch=batch).normal_equations(IDLE), model, basis)


@pytest.mark.parametrize("name", LIFTS)
def test_pieces_of_many_blocks_are_the_same_rows(name, monkeypatch):
    monkeypatch.setattr("mercer.learners.streaming.moments.BLOCK_NUMBERS", 1)
    monkeypatch.setattr("mercer.learners.streaming.moments.THIN", 23)
    X, Y = draw()
    s = np.random.default_rng(1).uniform(0.5, 3.0, len(X))
    model = model_of(name, X, Y, s, alpha="auto")
    basis = basis_of(model.lift_, X)
    agree(asked(basis, X, Y, s, alpha="auto").normal_equations(IDLE), model, basis)


@pytest.mark.parametrize("intercept", [False, True])
def test_the_gaussian_process_is_the_same(intercept):
    X, Y = draw()
    s = np.random.default_rng(1).uniform(0.5, 3.0, len(X))
    model = model_of("polynomial", X, Y, s, alpha=0.7, fit_intercept=intercept)
    fit = asked(basis_of(model.lift_, X), X, Y, s, alpha=0.7, intercept=intercept).normal_equations(IDLE)
    targets = Y - intercept * (s @ Y / s.sum())
    close(fit.noise, (s[:, None] * targets * (Y - model.predict(X))).sum(axis=0) / (s.sum() - intercept))
    close(fit.variance, fit.noise / 0.7)
    left = s[:, None] * (Y - model.predict(X)) / 0.7
    close(fit.duals, left)
    Z = np.asarray(model.lift_.transform(X))
    Z = np.sqrt(s)[:, None] * (Z - (s @ Z / s.sum() if intercept else 0.0))
    _, logarithm = np.linalg.slogdet(Z.T @ Z + 0.7 * np.eye(Z.shape[1]))
    rest = (s.sum() - intercept - Z.shape[1]) * np.log(0.7) + (np.log(s.sum()) if intercept else 0.0)
    close(fit.log_determinants, logarithm + rest)


@pytest.mark.parametrize("classes", [2, 4])
def test_labels_are_counted_as_a_classifier_counts_them(classes):
    X, _ = draw(300)
    labels = np.digitize(X[:, 0] + 0.5 * np.sin(5 * X[:, 1]), np.linspace(-1, 1, classes - 1))
    counts = np.random.default_rng(1).integers(1, 4, len(X)).astype(float)
    lift = LIFTS["fourier"]
    model = KernelRidgeClassifier(clone(lift), alpha="auto", class_weight="balanced", solver=Eigen())
    model.fit(X, labels, sample_weight=counts)
    sums = np.bincount(labels, counts)
    weights = counts * (counts.sum() / (classes * sums))[labels]
    Y = np.where(labels[:, None] == np.arange(classes), 1.0, -1.0)
    Y = Y[:, 1:] if classes == 2 else Y
    basis = basis_of(model.lift_, X)
    found = asked(basis, X, Y, weights, counts, alpha="auto", coded=True).normal_equations(IDLE)
    close(found.path.wrong, model.loo_.wrong)
    close(found.path.errors, model.loo_.errors)
    close(found.alphas, model.alpha_, 1e-9)
    close(prediction(basis, found, NEW), model.decision_function(NEW).reshape(len(NEW), -1))


def test_a_sample_chooses_nearly_what_all_rows_choose(monkeypatch):
    X, Y = draw(3000)
    model = model_of("fourier", X, Y, alpha="auto")
    basis = basis_of(model.lift_, X)
    monkeypatch.setattr(normal_equations, "JUDGED", 500)
    found = asked(basis, X, Y, alpha="auto", batch=700).normal_equations(IDLE)
    every = asked(basis, X, Y, alpha=list(model.alpha_)).normal_equations(IDLE)
    assert found.path.errors == pytest.approx(model.loo_.errors, rel=0.3)
    assert not np.array_equal(found.path.errors, model.loo_.errors)
    chosen = model.loo_.errors[np.searchsorted(model.loo_.alphas, found.alphas * 0.999), [0, 1]]
    assert chosen == pytest.approx(model.loo_.errors.min(axis=0), rel=0.02)
    assert every.path is None


# -- rounding ---------------------------------------------------------------------------------------------------------


def test_columns_a_million_spreads_from_zero_lose_nothing():
    X, Y = draw()
    shifted = np.round(X * 2**20) / 2**20 + 2.0**20
    lift = clone(Polynomial(1)).fit(shifted)
    basis = basis_of(lift, shifted)
    found = asked(basis, shifted, Y + 1e6, alpha=0.5).normal_equations(IDLE)
    model = KernelRidge(Polynomial(1), alpha=0.5, solver=Eigen()).fit(shifted, Y + 1e6)
    close(found.weights, model.coef_.T, 1e-9)
    close(prediction(basis, found, NEW + 2.0**20) - 1e6, model.predict(NEW + 2.0**20) - 1e6, 1e-8)
    assert found.outcome.residual < 1e-9
    assert found.outcome.converged


@pytest.mark.filterwarnings("ignore::mercer.errors.NumericalWarning")
def test_landmarks_that_nearly_depend_on_each_other_are_whitened_before_they_are_summed():
    X, Y = draw()
    lift = Nystrom("gaussian(15)", 60, random_state=0).fit(X)
    basis = basis_of(lift, X)
    assert basis.stretch > normal_equations.STRETCHED
    model = KernelRidge(clone(lift), alpha=1e-3, solver=Eigen()).fit(X, Y)
    found = asked(basis, X, Y, alpha=1e-3).normal_equations(IDLE)
    close(prediction(basis, found, NEW), model.predict(NEW), 1e-9)
    close(found.weights, model.coef_.T, 1e-9)
    assert found.outcome.iterations == 0
    assert found.roundings.max() < 1e-6


@pytest.mark.filterwarnings("ignore::mercer.errors.NumericalWarning")
@pytest.mark.parametrize(("alpha", "plain"), [(1e-3, False), (30.0, True), ("auto", False)])
def test_a_penalty_that_hides_the_rounding_of_sums_saves_the_whitening_of_rows(alpha, plain, monkeypatch):
    X, Y = draw()
    basis = basis_of(Nystrom("gaussian(15)", 60, random_state=0).fit(X), X)
    assert basis.stretch > normal_equations.STRETCHED
    summed = []
    monkeypatch.setattr(normal_equations, "Moments", lambda given, *rest: summed.append(given) or Moments(given, *rest))
    found = asked(basis, X, Y, alpha=alpha).normal_equations(IDLE)
    assert (summed == [basis]) is plain
    monkeypatch.setattr(normal_equations, "REGAINED", 0.0)
    exact = asked(basis, X, Y, alpha=alpha).normal_equations(IDLE)
    close(prediction(basis, found, NEW), prediction(basis, exact, NEW), 1e-9)
    assert found.roundings.max() < 1e-6


@pytest.mark.cores("a unit in the last place of k(x, l) moves this by 7e-6: both sides share BLAS's bits")
@pytest.mark.filterwarnings("ignore::mercer.errors.NumericalWarning")
def test_features_as_raw_functions_reach_the_smallest_penalties():
    X, Y = draw()
    lift = Nystrom("gaussian(15)", 60, random_state=0).fit(X)
    basis = FeatureBasis(basis_of(lift, X))
    model = KernelRidge(clone(lift), alpha="auto", solver=Eigen()).fit(X, Y)
    found = asked(basis, X, Y, alpha="auto").normal_equations(IDLE)
    close(found.alphas, model.alpha_, 1e-9)
    close(found.path.errors, model.loo_.errors, 1e-7)
    close(prediction(basis, found, NEW), model.predict(NEW), 1e-7)


@pytest.mark.filterwarnings("ignore::mercer.errors.NumericalWarning")
def test_steps_of_refinement_take_out_what_sums_lost(monkeypatch):
    monkeypatch.setattr(normal_equations, "STRETCHED", np.inf)
    X, Y = draw()
    lift = Nystrom("gaussian(4)", 60, random_state=0).fit(X)
    basis = basis_of(lift, X)
    model = KernelRidge(clone(lift), alpha=1e-3, solver=Eigen()).fit(X, Y)
    found = asked(basis, X, Y, alpha=1e-3).normal_equations(IDLE)
    monkeypatch.setattr(normal_equations, "CHECKS", 1)
    monkeypatch.setattr(normal_equations, "left_by_step", lambda problem, solution: np.inf)
    coarse = asked(basis, X, Y, alpha=1e-3).normal_equations(IDLE)
    off, before = (np.abs(prediction(basis, each, NEW) - model.predict(NEW)).max() for each in (found, coarse))
    assert found.outcome.iterations > 0
    assert off < before / 100
    assert coarse.roundings.max() * np.abs(model.predict(NEW)).max() > before
    assert found.roundings.max() * np.abs(model.predict(NEW)).max() > off


@pytest.mark.parametrize("intercept", [False, True])
def test_a_step_that_needs_no_check_ends_where_checked_ones_do(intercept, monkeypatch):
    monkeypatch.setattr(normal_equations, "STRETCHED", np.inf)
    X, Y = draw()
    basis = basis_of(Nystrom("gaussian(1.5)", 60, random_state=0).fit(X), X)
    request = asked(basis, X, Y, alpha=1e-3, intercept=intercept)
    checks = []
    monkeypatch.setattr(normal_equations, "check", lambda *given: checks.append(1) or check(*given))
    monkeypatch.setattr(normal_equations, "SETTLED", 1e-8)  # so that a step is due
    sure = request.normal_equations(IDLE)
    assert len(checks) == 1
    assert sure.outcome.iterations == 1
    monkeypatch.setattr(normal_equations, "left_by_step", lambda problem, solution: np.inf)
    checked = request.normal_equations(IDLE)
    assert len(checks) >= 3
    np.testing.assert_allclose(sure.weights, checked.weights, rtol=1e-9, atol=1e-9 * np.abs(checked.weights).max())
    np.testing.assert_allclose(sure.noise, checked.noise, rtol=1e-9)
    np.testing.assert_allclose(sure.duals, checked.duals, rtol=1e-6, atol=1e-6 * np.abs(checked.duals).max())
    assert sure.outcome.converged


@pytest.mark.filterwarnings("ignore::mercer.errors.NumericalWarning")
def test_steps_that_lead_away_are_not_taken(monkeypatch):
    monkeypatch.setattr(normal_equations, "STRETCHED", np.inf)
    X, Y = draw()
    basis = basis_of(Nystrom("gaussian(8)", 60, random_state=0).fit(X), X)
    found = asked(basis, X, Y, alpha=1e-9, intercept=False).normal_equations(IDLE)
    monkeypatch.setattr(normal_equations, "CHECKS", 1)
    coarse = asked(basis, X, Y, alpha=1e-9, intercept=False).normal_equations(IDLE)
    assert found.outcome.residual <= coarse.outcome.residual
    assert not found.roundings.max() <= 1e-6


@pytest.mark.filterwarnings("ignore::mercer.errors.NumericalWarning")
@pytest.mark.parametrize("lengthscale", [3.0, 10.0, 30.0])
def test_auto_never_ends_in_doubt(lengthscale, monkeypatch):
    monkeypatch.setattr(normal_equations, "STRETCHED", np.inf)  # sums that lose more digits than they need to
    X, _ = draw()
    Y = np.column_stack([np.sin(3 * X[:, 0]), X[:, 1]])  # without noise: the smallest alpha is the best
    lift = Nystrom(f"gaussian({lengthscale})", 60, random_state=0).fit(X)
    request = asked(basis_of(lift, X), X, Y, alpha="auto")
    fit = request.normal_equations(IDLE)
    assert fit.outcome.converged
    assert fit.roundings.max() <= request.trusted
    assert (fit.alphas >= fit.path.alpha).all()


def test_candidates_that_were_named_are_kept_and_their_doubt_is_told(monkeypatch):
    monkeypatch.setattr(normal_equations, "STRETCHED", np.inf)
    X, _ = draw()
    Y = np.sin(3 * X[:, :1])
    basis = basis_of(Nystrom("gaussian(4)", 60, random_state=0).fit(X), X)
    fit = asked(basis, X, Y, alpha=[1e-16, 2e-16]).normal_equations(IDLE)
    assert fit.alphas[0] in (1e-16, 2e-16)
    assert not fit.roundings.max() <= 1e-6


def test_twins_of_columns_give_the_shortest_solution_and_say_so():
    X, Y = draw()
    twins = np.hstack([X, X])
    lift = Polynomial(1).fit(twins)
    found = asked(basis_of(lift, twins), twins, Y, alpha=0.0).normal_equations(IDLE)
    with pytest.warns(NumericalWarning):
        model = KernelRidge(Polynomial(1), alpha=0.0, solver=Eigen()).fit(twins, Y)
    close(found.weights, model.coef_.T)
    assert not found.outcome.converged
    assert "shortest" in found.outcome.reason
    assert np.isinf(found.roundings).all()


def test_float32_rows_are_summed_in_float64():
    X, Y = draw()
    single = X.astype(np.float32)
    points = Points(single.astype(np.float64), None, SINGLE)
    for name in LIFTS:
        model = model_of(name, single.astype(np.float64), Y, alpha=0.3)
        basis = basis_of(model.lift_, X)
        agree(asked(basis, points, Y, alpha=0.3).normal_equations(IDLE), model, basis)


# -- runs that are cut ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LIFTS)
def test_a_run_goes_on_from_every_piece_to_the_same_bits(name):
    X, Y = draw()
    basis = basis_of(clone(LIFTS[name]).fit(X), X)
    first = Saving()
    whole = asked(basis, X, Y, alpha="auto", batch=90).normal_equations(first)
    assert [int(state["rows"]) for state in first.states] == [90, 180, 270, 360, 400]
    for state in first.states:
        run = Saving(state)
        again = asked(basis, X, Y, alpha="auto", batch=90).normal_equations(run)
        assert run.told[0] == state["rows"]
        for part in ("weights", "duals", "levels", "roundings", "noise"):
            assert np.array_equal(getattr(again, part), getattr(whole, part))
        assert np.array_equal(again.raw, whole.raw)
        assert np.array_equal(again.path.errors, whole.path.errors)


def test_a_pass_that_is_stopped_gives_the_model_of_the_rows_so_far():
    X, Y = draw()
    basis = basis_of(clone(LIFTS["fourier"]).fit(X), X)
    found = asked(basis, X, Y, alpha=0.1, batch=100).normal_equations(Cut("pass", 200))
    few = asked(basis, X[:200], Y[:200], alpha=0.1, batch=100).normal_equations(IDLE)
    close(found.weights, few.weights)
    close(found.intercepts, few.intercepts)
    close(found.noise, few.noise)
    assert not found.outcome.converged
    assert found.outcome.reason == "Stopped after 50 % of the rows: the time is over."
    assert found.outcome.residual < 1e-10
    assert found.duals is None
    tuned = asked(basis, X, Y, alpha="auto", batch=100).normal_equations(Cut("pass", 200))
    expected = asked(basis, X[:200], Y[:200], alpha="auto", batch=100).normal_equations(IDLE)
    close(tuned.path.errors, expected.path.errors)


@pytest.mark.parametrize("name", LIFTS)
def test_ctrl_c_inside_a_piece_keeps_the_pieces_that_are_whole(name, monkeypatch):
    X, Y = draw()
    basis, plain = basis_of(clone(LIFTS[name]).fit(X), X), Moments.add

    def interrupted(self, piece, run):
        if piece.start == 200:
            signal.raise_signal(signal.SIGINT)
        plain(self, piece, run)

    monkeypatch.setattr(Moments, "add", interrupted)
    with watched("test", KernelRidge(), Terms.of(None, "keep", False, None)) as run:
        found = asked(basis, X, Y, alpha=0.1, batch=100).normal_equations(run)
    assert found.outcome.reason == "Stopped after 75 % of the rows: the fit was interrupted."
    monkeypatch.undo()
    few = asked(basis, X[:300], Y[:300], alpha=0.1, batch=100).normal_equations(IDLE)
    close(prediction(basis, found, NEW), prediction(basis, few, NEW))
    close(found.noise, few.noise)


def test_a_pass_that_goes_on_can_be_stopped_at_once():
    X, Y = draw()
    basis, first = basis_of(clone(LIFTS["nystrom"]).fit(X), X), Saving()
    asked(basis, X, Y, alpha=0.1, batch=100).normal_equations(first)
    run = Cut("pass", 200)
    run.saved = lambda key: first.states[1]
    found = asked(basis, X, Y, alpha=0.1, batch=100).normal_equations(run)
    assert found.outcome.reason == "Stopped after 50 % of the rows: the time is over."
    few = asked(basis, X[:200], Y[:200], alpha=0.1, batch=100).normal_equations(IDLE)
    close(prediction(basis, found, NEW), prediction(basis, few, NEW))


def test_the_first_piece_is_never_stopped():
    X, Y = draw()
    basis = basis_of(clone(LIFTS["fourier"]).fit(X), X)
    found = asked(basis, X, Y, alpha=0.1, batch=400).normal_equations(Cut("pass", 0))
    assert found.outcome.converged


def test_a_check_that_is_stopped_leaves_the_model_of_the_sums():
    X, Y = draw()
    basis = basis_of(clone(LIFTS["fourier"]).fit(X), X)
    found = asked(basis, X, Y, alpha=0.1).normal_equations(Cut("check", 200))
    whole = asked(basis, X, Y, alpha=0.1).normal_equations(IDLE)
    close(found.weights, whole.weights)
    assert found.duals is None
    assert not found.outcome.converged
    assert found.outcome.reason == "Stopped in the check: the time is over."


def test_sums_are_read_once_and_rows_twice(monkeypatch):
    X, Y = draw()
    basis = basis_of(clone(LIFTS["fourier"]).fit(X), X)
    added = []
    plain = Moments.add

    def add(self, piece, run):
        added.append(piece.stop - piece.start)
        plain(self, piece, run)

    monkeypatch.setattr(Moments, "add", add)
    asked(basis, X, Y, alpha="auto").normal_equations(IDLE)
    assert sum(added) == 400
