"""Working sets at a backend, by PyTorch on the cores: against those of this process, and the definition."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from mercer import KernelOneClassSVM, KernelSVC, KernelSVR  # noqa: E402
from mercer.backends import CPU, CUDA, current, use  # noqa: E402
from mercer.compute.runtime.run import Run, Stopped  # noqa: E402
from mercer.errors import BudgetError  # noqa: E402
from mercer.kernels import Gaussian, Laplace  # noqa: E402
from mercer.kernels.evaluation.evaluate import fused_from  # noqa: E402
from mercer.operators import Dense, Gram  # noqa: E402
from mercer.planner import svm  # noqa: E402
from mercer.solvers.svm import working_sets  # noqa: E402
from mercer.solvers.svm.box_qp import BoxQP  # noqa: E402
from mercer.solvers.svm.cached_board import CachedBoard  # noqa: E402
from mercer.solvers.svm.kernel_cache import KernelCache  # noqa: E402
from mercer.solvers.svm.working_sets import SMOSettings, solve  # noqa: E402

torch.set_num_threads(1)
N, SET = 700, 100
TOLERANCE = 1e-4
"""That problems are solved to, here and there."""


@pytest.fixture(autouse=True)
def many_small_sets(monkeypatch):
    """Few rows are first looked at, working sets are small, and rows are left out often."""
    monkeypatch.setattr(working_sets, "MAX_SET", SET)
    monkeypatch.setattr(working_sets, "MAX_SINGLE_SET", SET)
    monkeypatch.setattr(working_sets, "MAX_KNOWN_ROWS", 0)
    monkeypatch.setattr(working_sets, "MIN_GROWING_ROWS", 0)
    monkeypatch.setattr(working_sets, "ROUNDS_BETWEEN_SHRINKING", 3)
    with fused_from(0):
        yield


def draw(n=N, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 4))
    return X, np.where(X[:, 0] * X[:, 1] + 0.5 * random.normal(size=n) > 0, 1.0, -1.0)


def classes(y, C):
    return BoxQP(-y, np.minimum(0, y * C), np.maximum(0, y * C))


def problems():
    X, y = draw()
    weights = np.random.default_rng(1).uniform(0.1, 3.0, N)
    n = np.full(N, 2.0)
    return {
        **{f"C = {C:g}": classes(y, C) for C in (1e-2, 1.0, 1e2, 1e4)},
        "weights": classes(y, weights),
        "regression": BoxQP(-np.sin(2 * X[:, 0]), -n, n, kink=0.1),
        "one class": BoxQP(np.zeros(N), np.zeros(N), np.ones(N), total=0.2 * N),
    }


def solved(problem, X, backend, settings=SMOSettings(tolerance=TOLERANCE), run=Run()):
    with use(backend):
        return solve(problem, Gram(Gaussian(1.0), X), settings, run=run)


@pytest.mark.parametrize("name", list(problems()))
def test_solutions_are_those_of_this_process(name, monkeypatch):
    (X, _), problem = draw(), problems()[name]
    if problem.upper.max() > 1e3:  # small sets would take thousands of rounds
        monkeypatch.setattr(working_sets, "MAX_SET", 4 * SET)
        monkeypatch.setattr(working_sets, "MAX_SINGLE_SET", 4 * SET)
    here, there = solved(problem, X, CPU()), solved(problem, X, CUDA("cpu"))
    K = Gaussian(1.0)(X)
    assert there.converged
    assert there.rounds > 3
    assert (there.b >= problem.lower).all()
    assert (there.b <= problem.upper).all()
    assert abs(there.b.sum() - problem.total) <= 1e-9 * max(1.0, np.abs(there.b).sum())
    assert problem.violation(there.b, K @ there.b + problem.linear) <= 1.01 * TOLERANCE
    best = problem.objective(here.b, here.g)
    assert abs(problem.objective(there.b, there.g) - best) <= here.gap + there.gap + 1e-9 * abs(best)
    half_squared_distance = 0.5 * (there.b - here.b) @ K @ (there.b - here.b)
    assert half_squared_distance <= 2 * (here.gap + there.gap)  # each is within its own gap of the solution
    assert (there.b[here.b != 0] != 0).mean() > 0.98


def test_equal_rows_that_contradict_each_other_end():
    X, y = draw(350)
    X, y = np.concatenate([X, X]), np.concatenate([y, -y])
    X[:40], y[:20] = X[0], 1.0
    here, there = (solved(classes(y, 10.0), X, backend) for backend in (CPU(), CUDA("cpu")))
    assert there.converged
    np.testing.assert_allclose(there.g, here.g, atol=10 * TOLERANCE)


def test_the_same_bits_twice():
    X, y = draw()
    one, two = (solved(classes(y, 10.0), X, CUDA("cpu")) for _ in range(2))
    assert np.array_equal(one.b, two.b)
    assert np.array_equal(one.g, two.g)
    assert one.steps == two.steps


class Cut(Run):
    """Stops after some rounds."""

    def __init__(self, rounds):
        self.left = rounds

    def tell(self, done):
        self.left -= 1
        if self.left < 0:
            raise Stopped("the time is over")


@pytest.mark.parametrize("rounds", [0, 2, 8])
def test_a_run_that_is_stopped_tells_the_truth_of_what_it_has(rounds):
    X, y = draw()
    problem = classes(y, 100.0)
    found = solved(problem, X, CUDA("cpu"), run=Cut(rounds))
    assert not found.converged
    assert found.rounds == rounds + 1
    assert found.b.any()
    np.testing.assert_allclose(found.g, Gaussian(1.0)(X) @ found.b - y, atol=1e-9)


def test_only_squares_of_working_sets_and_thin_arrays_cross(monkeypatch):
    X, y = draw()
    with use(CUDA("cpu")) as backend:
        found = solve(classes(y, 10.0), Gram(Gaussian(1.0), X), SMOSettings(tolerance=TOLERANCE))
        assert backend.traffic().brought <= found.rounds * 8 * SET**2


def test_memory_that_is_not_there_is_refused_before_it_is_taken():
    X, y = draw()
    with pytest.raises(BudgetError, match="working sets of"):
        solved(classes(y, 1.0), X, CUDA("cpu", memory_limit=10_000))


# -- the board itself -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kink", [0.0, 0.3])
def test_boards_agree_after_moves_and_rows_that_are_left_out(kink):
    X, _ = draw(300)
    K, random = Gram(Laplace(1.5), X), np.random.default_rng(3)
    rows = np.sort(random.permutation(300)[:250])
    values, g, ones = Laplace(1.5)(X)[np.ix_(rows, rows)], random.normal(size=250), np.ones(250)
    b = np.where(g > 1, -1.0, np.where(g < -1, 1.0, random.choice([-0.5, 0.0, 0.5], 250)))  # at the ends all is well
    linear = g - values @ b
    with use(CUDA("cpu")):
        boards = [K.board(), CachedBoard(K, KernelCache(K, 300**2, 64))]
        for board in boards:
            board.begin(rows, BoxQP(linear, -ones, ones, kink), b, g)
        for turn in range(3):
            ends = [board.ends() for board in boards]
            assert ends[0] == pytest.approx(ends[1], abs=1e-12)
            if turn < 2:
                kept, same = (board.shrink(0.95 if turn == 0 else 0.1) for board in boards)
                np.testing.assert_array_equal(kept, same)
                if turn == 0:
                    assert 100 < len(kept) < 230
                    values, b = values[np.ix_(kept, kept)], b[kept]
                    linear = g[kept] - values @ b
                else:
                    assert kept is None
            chosen = np.sort(random.permutation(len(b))[:30])
            new = random.choice([-1.0, 0.0, 0.25, 1.0], 30)
            for board in boards:
                square, slopes = board.square(chosen)
                np.testing.assert_allclose(square, values[np.ix_(chosen, chosen)], atol=1e-12)
                np.testing.assert_allclose(slopes, (values @ b + linear)[chosen], atol=1e-10)
                board.move(chosen, new, new - b[chosen])
            b[chosen] = new
            for board in boards:
                np.testing.assert_allclose(board.gradient(), values @ b + linear, atol=1e-10)


def test_the_worst_are_chosen_and_of_equal_ones_the_first():
    X, _ = draw(200)
    g = np.repeat([0.0, 3.0, -2.0, 1.0], 50)
    with use(CUDA("cpu")):
        board = Gram(Gaussian(1.0), X).board()
        board.begin(np.arange(200), BoxQP(g, np.full(200, -1.0), np.full(200, 1.0)), np.zeros(200), g)
        board.ends()
        first = board.chosen(40)
        np.testing.assert_array_equal(first, [*range(50, 70), *range(100, 120)])
        second = board.chosen(40)
        np.testing.assert_array_equal(second, [*range(100, 120), *range(50, 60), *range(120, 130)])
        assert len(board.chosen(200)) == 200


def test_who_cannot_compute_there_has_no_board():
    X, _ = draw(50)
    assert Gram(Gaussian(1.0), X).board() is None
    with use(CUDA("cpu")):
        assert Dense(np.eye(3)).board() is None
        assert Gram(Gaussian(1.0), X, X + 1.0).board() is None
        assert current().board(object(), np.ones(3)) is None


# -- learners ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["two classes", "four classes", "regression", "one class"])
def test_learners_predict_what_they_do_on_the_cores(kind, monkeypatch):
    monkeypatch.setattr(svm, "MAX_PAIR_ROWS", 0)  # each pair of classes has working sets of its own
    X, y = draw(1600)
    target = {"two classes": y, "four classes": y + 2 * (X[:, 2] > 0), "regression": np.sin(X[:, 0])}.get(kind)
    own = {"method": "exact", "tol": TOLERANCE, "random_state": 0}
    kinds = {"regression": (KernelSVR, {"C": 3.0}), "one class": (KernelOneClassSVM, {"nu": 0.2})}
    learner, more = kinds.get(kind, (KernelSVC, {"C": 3.0}))
    here = learner(Gaussian(1.0), backend="cpu", **own, **more).fit(X, target)
    monkeypatch.setattr(CachedBoard, "begin", None)  # nothing is left to this process
    there = learner(Gaussian(1.0), backend=CUDA("cpu"), **own, **more).fit(X, target)
    new = draw(200, seed=5)[0]
    decide = "predict" if kind == "regression" else "decision_function"
    np.testing.assert_allclose(getattr(there, decide)(new), getattr(here, decide)(new), atol=30 * TOLERANCE)
    assert there.converged_
