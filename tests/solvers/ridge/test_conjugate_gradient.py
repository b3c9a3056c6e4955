"""Conjugate gradients against dense NumPy: solutions, iterations, the truth about residuals, stopping and going on."""

from contextlib import contextmanager
from functools import partial

import numpy as np
import pytest

from mercer.compute.runtime.run import Run, Stopped
from mercer.errors import InputError
from mercer.operators import Dense, Gram, Operator, dense
from mercer.solvers import Cholesky, ConjugateGradient, System
from mercer.solvers.ridge import block_cg
from mercer.testing.solver_runs import Recorder

seeded = partial(ConjugateGradient, random_state=0)
"""Conjugate gradients whose preconditioner is the same each time."""


def draw(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def with_eigenvalues(values, seed=0):
    Q = np.linalg.qr(draw(len(values), len(values), seed=seed))[0]
    A = (Q * values) @ Q.T
    return (A + A.T) / 2


def solutions(A, b, alphas):
    pairs = zip(b.T, alphas, strict=True)
    return np.column_stack([np.linalg.solve(A + alpha * np.eye(len(A)), column) for column, alpha in pairs])


def residual_of(A, b, alphas, x):
    left = np.linalg.norm(b - A @ x - alphas * x, axis=0)
    return (left / np.linalg.norm(b, axis=0)).max()


class Rounded(Operator):
    """A, whose products are off in the last digits: as if it were computed in float32, or worse."""

    def __init__(self, A, off=1e-6):
        self.A, self.off = A, off
        self.widths = []
        super().__init__(A.shape, np.float64, symmetric=True)

    def _multiply(self, V):
        self.widths.append(V.shape[1])
        noise = np.random.default_rng(V.shape[1]).uniform(-1, 1, self.A.shape)
        return (self.A * (1 + self.off * (noise + noise.T))) @ V

    def _transposed(self):
        return self

    def _block(self, i, j):
        return self.A[i][:, j]

    def diagonal(self):
        return self.A.diagonal().copy()


K = Gram("gaussian", draw(200, 2)).to_dense()
B = draw(200, 3, seed=1) * [1.0, 1e-3, 1e4]
ALPHAS = np.array([0.1, 1e-3, 2.0])


# -- solutions --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rank", [None, 0, 1, 30, 200])
@pytest.mark.parametrize("form", [np.array, Dense, np.asfortranarray, lambda A: A.tolist()])
def test_solutions_are_those_of_numpy(rank, form):
    outcome = seeded(tol=1e-10, preconditioner_rank=rank).solve(System(form(K), B, ALPHAS))
    wanted = solutions(K, B, ALPHAS)
    assert outcome.converged
    assert outcome.residual <= 1e-10
    assert outcome.residual == pytest.approx(residual_of(K, B, ALPHAS, outcome.value), rel=1e-2, abs=1e-13)
    gaps = np.linalg.norm(outcome.value - wanted, axis=0) * ALPHAS / np.linalg.norm(B, axis=0)
    assert (gaps <= 1.1e-10).all()
    assert outcome.history is None
    assert outcome.reason.startswith(f"After {outcome.iterations} iterations the residual is ")


def test_the_preconditioner_saves_iterations():
    counts = [seeded(preconditioner_rank=rank).solve(System(K, B, ALPHAS)).iterations for rank in (0, 10, 40, 80)]
    assert counts[0] > 1.5 * counts[1] > 3 * counts[2]
    assert counts[3] <= 4


def test_without_a_ridge():
    A = with_eigenvalues(np.geomspace(1e-3, 10, 60))
    for rank in (0, None, 30):
        outcome = seeded(tol=1e-9, preconditioner_rank=rank).solve(System(A, B[:60], np.array([0.0, 0.1, 0.0])))
        assert outcome.converged
        np.testing.assert_allclose(outcome.value, solutions(A, B[:60], [0.0, 0.1, 0.0]), rtol=1e-4)
        assert np.isnan(outcome.condition)


def test_the_condition_is_a_bound_from_the_largest_eigenvalue():
    for rank in (0, 5, 50):
        outcome = seeded(preconditioner_rank=rank).solve(System(K, B, ALPHAS))
        truth = (np.linalg.eigvalsh(K)[-1] + 1e-3) / 1e-3
        assert 0.5 * truth <= outcome.condition <= 1.0001 * truth


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_right_sides_of_any_size(size):
    outcome = seeded().solve(System(K, B * size, ALPHAS))
    plain = seeded().solve(System(K, B, ALPHAS))
    assert outcome.converged
    np.testing.assert_allclose(outcome.value / size, plain.value, rtol=1e-6, atol=1e-9 * np.abs(plain.value).max())


def test_columns_that_are_done_leave_the_products():
    A = Rounded(K, 0.0)
    outcome = seeded(preconditioner_rank=0).solve(System(A, B, ALPHAS))
    alone = [seeded(preconditioner_rank=0).solve(System(K, B[:, [t]], ALPHAS[[t]])).iterations for t in range(3)]
    steps, last = A.widths[:-1], A.widths[-1]  # the last product is for the true residuals
    assert outcome.iterations == len(steps)
    assert steps == sorted(steps, reverse=True)
    counts = [sum(width > others for width in steps) for others in range(3)]
    # columns side by side round differently from one alone, which moves the end by a few steps in two hundred
    np.testing.assert_allclose(counts, sorted(alone, reverse=True), rtol=0.05)
    assert last == 3


# -- the truth --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("off", [1e-7, 1e-4, 3e-3])
def test_fast_products_lead_to_the_true_solution(off):
    """With the coarse ones the true ones take over."""
    asked = []
    A, true = Rounded(K, off), lambda x: asked.append(x.shape[1]) or K @ x
    outcome = seeded(tol=1e-9, preconditioner_rank=40).solve(System(A, B, ALPHAS, true))
    assert outcome.converged
    assert outcome.residual == pytest.approx(residual_of(K, B, ALPHAS, outcome.value), rel=1e-2)
    assert outcome.residual <= 1e-9
    assert len(A.widths) + len(asked) >= outcome.iterations
    assert len(asked) < outcome.iterations / 2 or off > 1e-4


def test_true_products_are_rare_where_fast_ones_are_good():
    asked = []
    A, true = Rounded(K, 1e-11), lambda x: asked.append(x) or K @ x
    outcome = seeded(tol=1e-6, preconditioner_rank=20).solve(System(A, B, ALPHAS, true))
    assert outcome.converged
    assert len(asked) == 1
    assert len(A.widths) == outcome.iterations


def test_what_rounding_does_not_allow_is_not_claimed():
    A = with_eigenvalues(np.geomspace(1e-2, 1e2, 80))
    outcome = seeded(tol=1e-15, preconditioner_rank=20).solve(System(A, B[:80, :1], np.array([1e-6])))
    assert not outcome.converged
    assert outcome.residual == pytest.approx(residual_of(A, B[:80, :1], [1e-6], outcome.value), rel=0.1)
    assert 1e-15 < outcome.residual <= 1e-10
    assert "rounding does not let it fall further: use a larger tol or alpha" in outcome.reason


@pytest.mark.parametrize("tolerance", [0.0, 1e-6])
def test_a_singular_system_is_named(tolerance):
    A = with_eigenvalues(np.concatenate([np.zeros(20), np.linspace(1, 2, 20)]))
    outcome = seeded(tol=tolerance).solve(System(A, B[:40, :2], np.zeros(2)))
    assert not outcome.converged
    assert outcome.residual <= 1
    assert "A + alpha I is singular to rounding: use a larger alpha." in outcome.reason


def test_an_indefinite_matrix_does_not_pass():
    A = with_eigenvalues(np.linspace(-1, 2, 40))
    outcome = seeded(max_iter=200).solve(System(A, B[:40, :1], np.array([0.1])))
    assert outcome.residual == pytest.approx(residual_of(A, B[:40, :1], [0.1], outcome.value), rel=1e-6)
    assert outcome.converged == (outcome.residual <= 1e-6)


def test_steps_that_do_not_suffice():
    outcome = seeded(max_iter=3, preconditioner_rank=0).solve(System(K, B, ALPHAS))
    assert not outcome.converged
    assert outcome.iterations == 3
    assert outcome.residual == pytest.approx(residual_of(K, B, ALPHAS, outcome.value), rel=1e-9)
    assert outcome.reason.startswith("After 3 iterations the residual is ")
    assert "use a larger max_iter, alpha or tol, or another preconditioner_rank" in outcome.reason
    none = seeded(max_iter=0).solve(System(K, B, ALPHAS))
    assert not none.value.any()
    assert none.residual == 1
    assert not none.converged


# -- runs -------------------------------------------------------------------------------------------------------------


class Stages(Run):
    def __init__(self):
        self.seen = []

    @contextmanager
    def stage(self, name, total=1.0):
        self.seen.append([name, total])
        yield

    def tell(self, done):
        self.seen[-1].append(done)


def test_stages_and_progress():
    run = Stages()
    outcome = seeded(preconditioner_rank=60).solve(System(K, B, ALPHAS, run=run))
    (first, *pivots), (second, *steps) = run.seen
    assert (first, pivots[0]) == ("preconditioner", 60)
    assert pivots[-1] == 60
    assert (np.diff(pivots[1:]) > 0).all()
    assert second == "iterations"
    assert 1 <= steps[0] <= 1000
    assert steps[-1] == outcome.iterations
    assert (np.diff(steps[1:]) >= 0).all()


@pytest.mark.parametrize("limit", [3, 5, 9])
def test_a_stop_gives_what_there_is(limit):
    run = Recorder(limit)
    outcome = seeded(preconditioner_rank=5).solve(System(K, B, ALPHAS, run=run))
    assert run.stopped
    assert not outcome.converged
    assert outcome.iterations >= 1
    assert outcome.residual == pytest.approx(residual_of(K, B, ALPHAS, outcome.value), rel=1e-9)
    wanted = solutions(K, B, ALPHAS)
    energies = [((x - wanted) * (K @ (x - wanted) + ALPHAS * (x - wanted))).sum(axis=0) for x in (outcome.value, 0 * B)]
    assert (energies[0] < energies[1]).all()  # residuals may rise on the way, the error in this norm falls
    assert outcome.reason.startswith(f"The law of stopping was tried: after {outcome.iterations} iterations")


class Interrupted(Rounded):
    """Stops in the middle of a product."""

    def _multiply(self, V):
        if len(self.widths) == 6:
            self.widths.append(0)
            raise Stopped("no time is left")
        return super()._multiply(V)


def test_a_stop_in_a_product_leaves_the_step_before_it():
    run = Recorder()
    outcome = seeded(preconditioner_rank=0).solve(System(Interrupted(K, 0.0), B, ALPHAS, lambda x: K @ x, run=run))
    assert outcome.iterations == 6
    assert outcome.reason.startswith("No time is left: after 6 iterations the residual is")
    six = seeded(preconditioner_rank=0, max_iter=6).solve(System(Rounded(K, 0.0), B, ALPHAS, lambda x: K @ x))
    assert np.array_equal(outcome.value, six.value)
    key, state = run.states[-1]  # what is offered last is where it stopped
    whole = seeded(preconditioner_rank=0).solve(System(Rounded(K, 0.0), B, ALPHAS, lambda x: K @ x))
    again = seeded(preconditioner_rank=0).solve(
        System(Rounded(K, 0.0), B, ALPHAS, lambda x: K @ x, run=Recorder(found={key: state}))
    )
    assert np.array_equal(again.value, whole.value)
    assert again.iterations == whole.iterations


@pytest.mark.parametrize("off", [0.0, 3e-3])
def test_every_state_leads_to_the_same_bits(off):
    """With restarts and with the change to true products, too."""
    solver, run = seeded(tol=1e-8, preconditioner_rank=10), Recorder()

    def system(run):
        return System(Rounded(K, off), B, ALPHAS, lambda x: K @ x, run=run)

    whole = solver.solve(system(run))
    assert {key for key, _ in run.states} == {"iterations"}
    assert len(run.states) > 10
    for _, state in run.states[:: len(run.states) // 4]:
        again = solver.solve(system(Recorder(found={"iterations": state})))
        assert again.value.tobytes() == whole.value.tobytes()
        assert (again.iterations, again.residual, again.condition, again.reason) == (
            whole.iterations,
            whole.residual,
            whole.condition,
            whole.reason,
        )
    assert {name for _, state in run.states for name in state} == {*block_cg.ARRAYS, "seed"}


# -- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"tol": -1.0}, "a tol of at least 0; got tol=-1.0"),
        ({"tol": np.nan}, "a tol of at least 0"),
        ({"tol": "small"}, "a tol of at least 0"),
        ({"max_iter": 1.5}, "an integer of at least 0 for max_iter; got max_iter=1.5"),
        ({"max_iter": -1}, "an integer of at least 0 for max_iter"),
        (
            {"preconditioner_rank": True},
            "an integer of at least 0 for preconditioner_rank; got preconditioner_rank=True",
        ),
        ({"preconditioner_rank": -3}, "an integer of at least 0 for preconditioner_rank"),
        ({"random_state": -1}, "an integer of at least 0 for random_state"),
        ({"max_iter": None}, "an integer of at least 0 for max_iter"),
    ],
)
def test_settings_that_make_no_sense(settings, words):
    with pytest.raises(InputError, match=f"ConjugateGradient needs {words}"):
        ConjugateGradient(**settings)


@pytest.mark.parametrize("place", [(3, 3), (2, 5)])
@pytest.mark.parametrize("rank", [0, None, 30])
def test_a_matrix_that_is_not_finite_is_refused(place, rank):
    A = with_eigenvalues(np.linspace(1, 2, 30))
    A[place] = A[place[::-1]] = np.nan
    with pytest.raises(InputError, match=r"needs (a matrix of )?finite numbers"):
        seeded(preconditioner_rank=rank).solve(System(A, np.ones((30, 1)), np.array([0.1])))


def test_what_does_not_fit_is_refused():
    with pytest.raises(InputError, match=r"targets of shape \(200, outputs\), and one alpha an output"):
        seeded().solve(System(K, B[:, 0], ALPHAS))
    with pytest.raises(InputError, match=r"finite and at least 0"):
        seeded().solve(System(K, B, -ALPHAS))
    with pytest.raises(InputError, match="finite targets"):
        seeded().solve(System(K, B * np.inf, ALPHAS))
    with pytest.raises(InputError, match="a square matrix"):
        seeded().solve(System(np.ones((3, 2)), np.ones((3, 1)), np.ones(1)))


def test_the_cost_is_less_than_that_of_cholesky_for_many_rows():
    few, many = 1000, 200_000
    solver = seeded(preconditioner_rank=1000)
    assert solver.cost(many, 1).operations < Cholesky().cost(many, 1).operations / 100
    assert solver.cost(many, 1).numbers < Cholesky().cost(many, 1).numbers / 100
    assert solver.cost(few, 1).operations > Cholesky().cost(few, 1).operations


def test_a_long_product_with_a_stored_matrix_is_made_of_short_ones(monkeypatch):
    whole = Dense(K) @ B
    monkeypatch.setattr(dense, "MAX_CALL_OPERATIONS", 2.0 * 200 * 3 * 7)  # seven rows at once
    np.testing.assert_allclose(Dense(K) @ B, whole, rtol=1e-13, atol=1e-12 * np.abs(whole).max())
    np.testing.assert_allclose(Dense(K.astype(np.float32)) @ B, K.astype(np.float32) @ B, rtol=1e-12)
