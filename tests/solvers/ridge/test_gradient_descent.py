"""Gradient descent against the lecture's update, closed forms, and direct solvers."""

import re

import numpy as np
import pytest

from mercer.errors import BudgetError, InputError
from mercer.lifts import Polynomial, Subsets
from mercer.operators import Dense, Gram
from mercer.solvers import Cholesky, GradientDescent, System
from mercer.testing.solver_runs import Recorder

LIFTS = {
    "squares": Polynomial(2),
    "cubes": Polynomial(3, offset=0.5),
    "products": Polynomial(2, interaction_only=True),
    "subsets": Subsets(),
}


def draw(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def positive(n, seed=0, rank=None):
    L = draw(n, n if rank is None else rank, seed=seed)
    return L @ L.T / n


def system(A, b, alphas, **further):
    return System(A, np.asarray(b, dtype=float), np.asarray(alphas, dtype=float), **further)


def solve(A, b, alphas, validation=None, **settings):
    return GradientDescent(**settings).solve(system(A, b, alphas, validation=validation))


# -- the lecture


@pytest.mark.parametrize("alpha", [0.0, 0.3])
@pytest.mark.parametrize("lift", LIFTS)
def test_every_weight_vector_is_the_combination_that_the_dual_coefficients_tell(lift, alpha):
    Phi, Y = LIFTS[lift].fit_transform(draw(25, 3)), draw(25, 2, seed=1)
    alphas = np.full(2, alpha)
    K, A, b = Phi @ Phi.T, Phi.T @ Phi, Phi.T @ Y

    def dual_loss(x, Kx):
        return np.square(Y - Kx).sum(axis=0) + alphas * (x * Kx).sum(axis=0)

    def primal_loss(w, Aw):
        return np.square(Y).sum(axis=0) - 2 * (w * b).sum(axis=0) + (w * (Aw + alphas * w)).sum(axis=0)

    step = 0.6 / (np.linalg.eigvalsh(K)[-1] + alpha)
    settings = GradientDescent(step=step, max_iter=60, tol=0.0)
    dual = settings.solve(system(K, Y, alphas, loss=dual_loss)).history
    primal = settings.solve(system(A, b, alphas, loss=primal_loss)).history

    assert dual.coefficients.shape == (61, 25, 2)
    assert primal.coefficients.shape == (61, Phi.shape[1], 2)
    combined = np.einsum("ij,tik->tjk", Phi, dual.coefficients)
    np.testing.assert_allclose(combined, primal.coefficients, rtol=0, atol=1e-12 * np.abs(combined).max())
    np.testing.assert_allclose(dual.losses, primal.losses, rtol=1e-11)
    direct = np.square(Y - np.einsum("ij,tjk->tik", Phi, primal.coefficients)).sum(axis=1)
    direct += alpha * np.square(primal.coefficients).sum(axis=1)
    np.testing.assert_allclose(dual.losses, direct, rtol=1e-11)
    assert (np.diff(dual.losses, axis=0) <= 0).all()


def test_the_update_is_the_one_on_the_slides():
    X, y, s = draw(7, 2), draw(7, seed=1), 0.01
    w, weights, alphas = np.zeros(2), [np.zeros(2)], np.zeros(7)
    for _ in range(20):
        gammas = [2 * (w @ X[i] - y[i]) for i in range(7)]
        w = w - s * sum(gammas[i] * X[i] for i in range(7))
        alphas = alphas - s * np.array(gammas)
        weights.append(w)
    outcome = solve(X @ X.T, y[:, None], [0.0], step=s, max_iter=20, tol=0.0)
    np.testing.assert_allclose(outcome.history.coefficients[-1, :, 0], alphas, rtol=1e-12)
    np.testing.assert_allclose(outcome.history.coefficients[:, :, 0] @ X, weights, rtol=1e-12, atol=1e-14)


# -- what each step is


@pytest.mark.parametrize("alpha", [0.0, 0.2])
def test_every_step_has_its_closed_form(alpha):
    A, b = positive(12), draw(12, 3, seed=1)
    outcome = solve(A, b, [alpha] * 3, max_iter=40, tol=0.0)
    values, Q = np.linalg.eigh(A)
    step = outcome.history.step
    assert step == pytest.approx(0.5 / (values[-1] + alpha), rel=1e-7)  # what the error of the eigenvalue takes off
    for t, x in enumerate(outcome.history.coefficients):
        shrunk = -np.expm1(t * np.log1p(-np.minimum(2 * step * (values + alpha), 1 - 1e-15))) / (values + alpha)
        np.testing.assert_allclose(x, Q @ (shrunk[:, None] * (Q.T @ b)), rtol=0, atol=1e-12 * np.abs(x).max() + 1e-13)
    np.testing.assert_array_equal(outcome.value, outcome.history.coefficients[-1])


@pytest.mark.parametrize("seed", range(5))
def test_the_automatic_step_never_lets_a_loss_or_a_residual_grow(seed):
    A, b, alphas = positive(20, seed, rank=seed + 3), draw(20, 2, seed=9), [0.0, 10.0 ** (seed - 4)]
    history = solve(A, b, alphas, max_iter=200, tol=0.0).history
    rounding = 1e-13 * np.abs(history.losses).max()
    assert (np.diff(history.losses, axis=0) <= rounding).all()
    lengths = np.linalg.norm(b - A @ history.coefficients - np.array(alphas) * history.coefficients, axis=1)
    assert (np.diff(lengths, axis=0) <= 1e-13 * lengths[0]).all()


def test_the_default_loss_is_the_quadratic_form_that_is_minimised():
    A, b = positive(6), draw(6, 1, seed=2)
    history = solve(A, b, [0.5], max_iter=5).history
    for x, loss in zip(history.coefficients, history.losses, strict=True):
        assert loss.item() == pytest.approx((x.T @ (A + 0.5 * np.eye(6)) @ x - 2 * b.T @ x).item(), rel=1e-12)


def test_each_output_has_the_step_of_its_alpha_and_the_history_tells_the_smallest():
    A, b, alphas = positive(8), draw(8, 2), np.array([0.1, 5.0])
    outcome = solve(A, b, alphas, max_iter=1, tol=0.0)
    steps = 0.5 / (np.linalg.eigvalsh(A)[-1] + alphas)
    np.testing.assert_allclose(outcome.history.coefficients[1], 2 * steps * b, rtol=1e-7)
    assert outcome.history.step == pytest.approx(steps.min(), rel=1e-7)


# -- where it ends


def test_it_converges_to_the_solution_of_cholesky():
    A, b, alphas = positive(30), draw(30, 3), np.array([0.5, 1.0, 0.5])
    outcome = solve(A, b, alphas, tol=1e-12)
    wanted = Cholesky().solve(system(A.copy(), b, alphas)).value
    assert outcome.converged
    assert outcome.residual <= 1e-12
    assert outcome.iterations == len(outcome.history.losses) - 1 < 1000
    np.testing.assert_allclose(outcome.value, wanted, rtol=1e-10, atol=1e-11)
    assert outcome.reason == f"The residual fell to the tolerance of 1.0e-12 at step {outcome.iterations}."


def test_a_kernel_matrix_that_is_not_stored_gives_the_same():
    X, b = draw(40, 2), draw(40, 2, seed=1)
    K = Gram("matern(nu=1.5)", X)
    stored, lazy = (solve(A, b, [0.5, 1.0], max_iter=100) for A in (K.to_dense(), K))
    assert stored.iterations == lazy.iterations
    np.testing.assert_allclose(lazy.history.coefficients, stored.history.coefficients, rtol=0, atol=1e-12)
    np.testing.assert_allclose(lazy.history.losses, stored.history.losses, rtol=1e-12)


def test_the_matrix_is_left_as_it_is():
    A = positive(5)
    before = A.copy()
    solve(A, draw(5, 1), [0.1])
    np.testing.assert_array_equal(A, before)


def test_steps_that_do_not_suffice_are_told_with_a_number_that_does():
    A, b = positive(15), draw(15, 2)
    outcome = solve(A, b, [0.01, 0.02], max_iter=20)
    true = np.linalg.norm(b - A @ outcome.value - np.array([0.01, 0.02]) * outcome.value, axis=0)
    assert not outcome.converged
    assert outcome.iterations == 20
    assert outcome.residual == pytest.approx((true / np.linalg.norm(b, axis=0)).max(), rel=1e-10)
    assert f"After 20 steps the residual is {outcome.residual:.1e}, above the tolerance of 1.0e-08" in outcome.reason
    enough = int(re.search(r"use a larger max_iter \((\d+) suffices\)", outcome.reason)[1])
    assert solve(A, b, [0.01, 0.02], max_iter=enough).converged
    slow = solve(A, b, [0.01, 0.02], max_iter=20, step=0.95 / (np.linalg.eigvalsh(A)[-1] + 0.02))
    enough = int(re.search(r"use a larger max_iter \((\d+) suffices\)", slow.reason)[1])
    assert solve(A, b, [0.01, 0.02], max_iter=enough, step=slow.history.step).converged


def test_without_a_ridge_no_number_of_steps_is_promised():
    reason = solve(positive(15), draw(15, 1), [0.0], max_iter=5).reason
    assert reason.endswith("use a larger max_iter, tol or alpha, or Cholesky().")


def test_no_steps_leave_zero():
    outcome = solve(positive(4), draw(4, 2), [1.0, 1.0], max_iter=0)
    assert not outcome.value.any()
    assert not outcome.converged
    assert outcome.iterations == 0
    assert outcome.residual == 1.0
    assert outcome.history.losses.tolist() == [[0.0, 0.0]]


def test_a_right_side_of_zeros_converges_at_once():
    outcome = solve(positive(4), np.zeros((4, 1)), [0.0])
    assert (outcome.converged, outcome.iterations, outcome.residual) == (True, 0, 0.0)
    assert not outcome.value.any()


def test_a_matrix_of_zeros_needs_one_step_or_has_no_solution():
    b = draw(4, 2)
    outcome = solve(np.zeros((4, 4)), b, [0.5, 4.0])
    np.testing.assert_allclose(outcome.value, b / [0.5, 4.0], rtol=1e-14)
    assert (outcome.converged, outcome.iterations) == (True, 1)
    outcome = solve(np.zeros((4, 4)), b, [0.0, 0.0], max_iter=7)
    assert (outcome.converged, outcome.iterations, outcome.residual) == (False, 7, 1.0)
    assert not outcome.value.any()


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_matrices_of_any_size_are_solved(size):
    A, b = positive(6), draw(6, 1)
    outcome = solve(A * size, b, [0.5 * size])
    assert outcome.converged
    np.testing.assert_allclose(outcome.value * size, solve(A, b, [0.5]).value, rtol=1e-7)


def test_an_output_without_a_solution_does_not_hold_up_the_others():
    A = np.diag([2.0, 1.0, 0.0])
    outcome = solve(A, np.array([[0.0, 2.0], [0.0, 1.0], [1.0, 0.0]]), [0.0, 0.0], max_iter=100)
    np.testing.assert_allclose(outcome.value, [[0.0, 1.0], [0.0, 1.0], [0.0, 0.0]], atol=1e-12)
    assert not outcome.converged


def test_the_condition_number_is_a_bound_where_there_is_a_ridge():
    A = positive(10)
    values = np.linalg.eigvalsh(A)
    condition = solve(A, draw(10, 2), [0.3, 0.1], max_iter=3).condition
    assert condition == pytest.approx((values[-1] + 0.1) / 0.1, rel=1e-9)
    assert condition >= (values[-1] + 0.1) / (values[0] + 0.1)
    assert np.isnan(solve(A, draw(10, 2), [0.3, 0.0], max_iter=3).condition)


def test_the_residual_comes_from_the_product_of_the_system():
    A, b = positive(6), draw(6, 1)
    off = GradientDescent().solve(system(A, b, [1.0], product=lambda x: A @ x + 1e-3 * b))
    assert off.residual == pytest.approx(1e-3, rel=1e-4)
    assert not off.converged
    assert "the residual is 1.0e-03" in off.reason


# -- steps that are too large


@pytest.mark.parametrize("factor", [2.02, 2.5, 30.0, 1e150, 1e300])
def test_a_step_that_is_too_large_is_told_with_the_largest_that_is_safe(factor):
    A, b = positive(10), draw(10, 2)
    safe = 1 / (np.linalg.eigvalsh(A)[-1] + 0.1)
    step = factor * safe / 2
    outcome = solve(A, b, [0.1, 0.05], step=step)
    assert not outcome.converged
    told = re.fullmatch(
        r"A step of (\S+) is too large, and does not converge: the largest that is safe is (\S+), "
        r"1 / \(largest eigenvalue of A \+ alpha\)\.",
        outcome.reason,
    )
    assert float(told[1]) == pytest.approx(step, rel=1e-2)
    assert float(told[2]) == pytest.approx(safe, rel=0.03)
    assert np.isfinite(outcome.value).all()
    lengths = np.linalg.norm(b - A @ outcome.value - np.array([0.1, 0.05]) * outcome.value, axis=0)
    assert outcome.residual == pytest.approx((lengths / np.linalg.norm(b, axis=0)).max(), rel=1e-10)
    assert outcome.residual <= 1.0


def test_a_huge_step_on_a_kernel_matrix_that_is_not_stored_warns_of_nothing():
    outcome = solve(Gram("gaussian + 1e6", draw(9, 2)), 10 * draw(9, 1), [0.0], step=1e305)
    assert "A step of 1e+305 is too large" in outcome.reason
    assert not outcome.value.any()


def test_a_step_that_grows_too_slowly_to_be_seen_is_told_all_the_same():
    A, b = positive(10), draw(10, 1)
    top = np.linalg.eigvalsh(A)[-1]
    assert "is too large" in solve(A, b, [0.1], step=1.005 / (top + 0.1), max_iter=5).reason
    assert "is too large" not in solve(A, b, [0.1], step=0.995 / (top + 0.1), max_iter=5).reason


def test_a_step_below_the_largest_safe_one_converges():
    A, b = positive(10), draw(10, 1)
    assert solve(A, b, [0.5], step=0.975 / (np.linalg.eigvalsh(A)[-1] + 0.5)).converged


def test_a_matrix_that_is_not_positive_is_told():
    A = np.diag([3.0, 1.0, -0.5])
    outcome = solve(A, np.ones((3, 1)), [0.25])
    assert not outcome.converged
    assert outcome.reason.startswith(
        "The residuals grew, since A + alpha I is not positive definite: A has an eigenvalue of"
    )
    assert float(re.search(r"eigenvalue of (\S+) or below", outcome.reason)[1]) == pytest.approx(-0.5, abs=0.1)
    assert np.isfinite(outcome.value).all()
    assert solve(A, np.ones((3, 1)), [0.75]).converged


# -- early stopping


def problem_with_held_out_rows():
    """Noise on a smooth function: the held-out loss falls, then rises."""
    x = np.linspace(0, 1, 60)
    y = np.sin(20 * x) + draw(60, seed=3) / 2
    K = np.exp(-(np.subtract.outer(x, x) ** 2) / (2 * 0.1**2))
    kept, out = np.arange(60) % 3 > 0, np.arange(60) % 3 == 0
    cross, wanted = K[np.ix_(out, kept)], y[out, None]
    return K[np.ix_(kept, kept)], y[kept, None], lambda c: np.square(wanted - cross @ c).sum(axis=0)


def test_early_stopping_takes_the_step_with_the_least_loss_on_held_out_rows():
    A, b, loss = problem_with_held_out_rows()
    full = solve(A, b, [1e-3], max_iter=400).history.coefficients
    curve = np.array([loss(x).sum() for x in full])
    best = int(curve.argmin())
    assert 5 < best < 300
    outcome = solve(A, b, [1e-3], loss, max_iter=400, patience=15)
    assert outcome.converged
    assert outcome.iterations == best + 15
    np.testing.assert_array_equal(outcome.value, full[best])
    np.testing.assert_array_equal(outcome.history.validation[:, 0], curve[: best + 16])
    wanted = f"Early stopping: the held-out loss was least at step {best}, and not lower in the 15 steps after it."
    assert outcome.reason == wanted
    true = np.linalg.norm(b - A @ outcome.value - 1e-3 * outcome.value) / np.linalg.norm(b)
    assert outcome.residual == pytest.approx(true, rel=1e-10)
    thrifty = solve(A, b, [1e-3], loss, max_iter=400, patience=15, keep=False)
    np.testing.assert_array_equal(thrifty.value, outcome.value)
    assert thrifty.history.coefficients.shape == (0, 40, 1)
    np.testing.assert_array_equal(thrifty.history.losses, outcome.history.losses)


def test_patience_survives_a_bump():
    losses = iter([5.0, 4.0, 6.0, 6.0, 3.0, 6.0, 6.0, 6.0, 1.0])
    outcome = solve(positive(5), draw(5, 1), [0.1], lambda x: np.array([next(losses)]), patience=3)
    assert outcome.iterations == 7
    np.testing.assert_array_equal(outcome.value, outcome.history.coefficients[4])


def test_the_sum_over_the_outputs_decides():
    table = iter([[5.0, 0.0], [1.0, 2.0], [0.0, 4.0], [9.0, 9.0]])
    outcome = solve(positive(5), draw(5, 2), [0.1, 0.2], lambda x: np.array(next(table)), patience=2)
    np.testing.assert_array_equal(outcome.value, outcome.history.coefficients[1])
    assert outcome.history.validation.tolist() == [[5.0, 0.0], [1.0, 2.0], [0.0, 4.0], [9.0, 9.0]]


def test_a_held_out_loss_that_still_falls_is_told():
    A, b, loss = problem_with_held_out_rows()
    outcome = solve(A, b, [1e-3], loss, max_iter=3)
    assert not outcome.converged
    wanted = "After 3 steps the held-out loss was least at step 3, and may fall further: use a larger max_iter."
    assert outcome.reason == wanted


def test_the_residual_may_fall_before_patience_ends():
    A, b = positive(5), draw(5, 1)
    goal = solve(A, b, [1.0]).value
    outcome = solve(A, b, [1.0], lambda x: np.square(x - 0.9 * goal).sum(axis=0), patience=1000)
    assert outcome.converged
    best = int(outcome.history.validation.sum(axis=1).argmin())
    np.testing.assert_array_equal(outcome.value, outcome.history.coefficients[best])
    assert outcome.reason.endswith(f"at step {outcome.iterations}; the held-out loss was least at step {best}.")


# -- memory, costs, settings


def test_a_history_that_does_not_fit_is_refused_before_the_first_step():
    with pytest.raises(
        BudgetError, match=r"for the coefficients of every step; .* may be used. Use keep=False, or a smaller max_iter"
    ):
        solve(positive(3), draw(3, 1), [0.1], max_iter=10**15)
    assert solve(positive(3), draw(3, 1), [0.1], max_iter=10**15, keep=False).converged


class Counted(Dense):
    products = 0

    def _multiply(self, V):
        type(self).products += 1
        return super()._multiply(V)


def test_one_product_a_step_serves_all_outputs():
    solver = GradientDescent(max_iter=50, tol=0.0)
    solver.solve(system(Counted(positive(40)), draw(40, 3), [0.1, 0.2, 0.3]))
    assert Counted.products <= 50 + 1 + 20 + 1
    cost = solver.cost(40, 3)
    assert cost.operations == 2 * 40**2 * (51 * 3 + 20)
    assert cost.numbers == 40**2 + 40 * ((5 + 51) * 3 + 20)
    assert GradientDescent(max_iter=50, keep=False).cost(40, 3).numbers == 40**2 + 40 * (5 * 3 + 20)


BAD = {
    "step=0": "a positive step, or 'auto'; got step=0",
    "step=-1.0": "a positive step, or 'auto'; got step=-1.0",
    "step=float('nan')": "a positive step, or 'auto'; got step=nan",
    "step=float('inf')": "a positive step, or 'auto'; got step=inf",
    "step='large'": "a positive step, or 'auto'; got step='large'",
    "step=True": "a positive step, or 'auto'; got step=True",
    "step=None": "a positive step, or 'auto'; got step=None",
    "step=10**400": "a positive step, or 'auto'; got step=1000",
    "max_iter=-1": "an integer of at least 0 for max_iter; got max_iter=-1",
    "max_iter=2.5": "an integer of at least 0 for max_iter; got max_iter=2.5",
    "max_iter='many'": "an integer of at least 0 for max_iter; got max_iter='many'",
    "tol=-1e-9": "a tol of at least 0; got tol=-1e-09",
    "tol=float('nan')": "a tol of at least 0; got tol=nan",
    "keep=1": "True or False for keep; got keep=1",
    "keep='all'": "True or False for keep; got keep='all'",
    "validation=1.0": "a share of rows for validation, from 0 to below 1; got validation=1.0",
    "validation=-0.1": "a share of rows for validation, from 0 to below 1; got validation=-0.1",
    "validation=float('nan')": "a share of rows for validation, from 0 to below 1; got validation=nan",
    "patience=0": "a patience of one step or more; got patience=0",
    "patience=1.5": "a patience of one step or more; got patience=1.5",
}


@pytest.mark.parametrize("settings", BAD)
def test_settings_without_sense_are_refused(settings):
    with pytest.raises(InputError, match=re.escape(f"GradientDescent needs {BAD[settings]}")):
        eval(f"GradientDescent({settings})")  # noqa: S307  # written above


def test_numbers_of_numpy_are_settings():
    settings = GradientDescent(step=np.float64(0.25), max_iter=np.int64(3), patience=np.int32(2), keep=np.bool_(True))
    assert settings == GradientDescent(step=0.25, max_iter=3, patience=2, keep=True)
    assert settings.solve(system(np.eye(2), np.ones((2, 1)), [0.0])).iterations == 3


@pytest.mark.parametrize(
    ("matrix", "targets", "alphas", "message"),
    [
        (np.eye(2), [[1.0], [np.nan]], [0.1], "finite targets; there is NaN or infinity"),
        (np.eye(2), [[1.0], [np.inf]], [0.1], "finite targets; there is NaN or infinity"),
        (np.eye(2), [[1.0], [1.0]], [-0.1], "alphas that are finite and at least 0; got [-0.1]"),
        (np.eye(2), [[1.0], [1.0]], [np.nan], "alphas that are finite and at least 0; got [nan]"),
        (
            np.eye(2),
            [1.0, 1.0],
            [0.1],
            "targets of shape (2, outputs), and one alpha an output; got targets of shape (2,)",
        ),
        (np.eye(2), [[1.0], [1.0]], [0.1, 0.2], "targets of shape (2, outputs), and one alpha an output"),
        (np.ones((2, 3)), [[1.0], [1.0]], [0.1], "a square matrix; got one of shape (2, 3)"),
    ],
)
def test_sides_that_do_not_fit_are_refused_as_by_all_solvers(matrix, targets, alphas, message):
    with pytest.raises(InputError, match=re.escape(f"GradientDescent needs {message}")):
        solve(matrix, targets, alphas)


@pytest.mark.parametrize("wrong", [[1.0, 1e200], [0.0, 1e-200]], ids=str)
def test_targets_that_have_no_length_are_refused(wrong):
    message = "GradientDescent needs targets whose squares are numbers of float64; got too large or too small ones"
    with pytest.raises(InputError, match=message):
        solve(np.eye(2), np.array(wrong)[:, None], [0.1])


# -- runs


@pytest.mark.parametrize("limit", [0, 4])
def test_a_stop_gives_the_best_place_so_far(limit):
    A, b, run = positive(20), draw(20, 2, seed=1), Recorder(limit)
    outcome = GradientDescent().solve(system(A, b, [0.1, 0.2], run=run))
    assert run.stopped
    assert not outcome.converged
    assert outcome.iterations == limit
    assert outcome.reason.startswith(f"The law of stopping was tried: after {limit} steps the residual is ")
    places = GradientDescent(max_iter=limit).solve(system(A, b, [0.1, 0.2]))
    assert np.array_equal(outcome.value, places.value)
    assert len(outcome.history.losses) == limit + 1


def test_the_run_is_told_which_share_of_the_steps_is_done():
    shares = []

    class Told(Recorder):
        def tell(self, done):
            shares.append(done)

    GradientDescent(max_iter=10, tol=0.0).solve(system(positive(20), draw(20, 1), [0.1], run=Told()))
    np.testing.assert_allclose(shares, np.arange(10) / 10)
