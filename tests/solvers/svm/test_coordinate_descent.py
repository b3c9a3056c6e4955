"""Coordinate descent on features against the exact solver, scikit-learn's SVC, and linear programs solved by hand."""

import numpy as np
import pytest
from sklearn.svm import SVC, SVR

from mercer.compute.runtime.run import Run, Stopped
from mercer.operators import LowRank
from mercer.solvers.svm import coordinate_descent, descent_loops, working_sets
from mercer.solvers.svm.box_qp import BoxQP
from mercer.solvers.svm.coordinate_descent import DescentSettings, balanced, best_bias, descend
from mercer.solvers.svm.descent_loops import Place, Terms, sweep

TIGHT = DescentSettings(tolerance=1e-8, relative_gap=0.0, max_passes=100_000)


def features(n=100, p=8, seed=0):
    """Rows with a common part, as those of a kernel with positive values have it."""
    random = np.random.default_rng(seed)
    return (random.normal(size=(n, p)) + random.normal(size=p)).astype(np.float32)


def labels(Z, seed=1):
    random = np.random.default_rng(seed)
    return np.where(Z @ random.normal(size=Z.shape[1]) + random.normal(size=len(Z)) > 0.5, 1.0, -1.0)


def classes(Z, C=0.1):
    """Two classes; C is a number, or one for each row."""
    y = labels(Z)
    return BoxQP(-y, np.minimum(0, y * C), np.maximum(0, y * C))


def weighted(Z):
    return classes(Z, np.random.default_rng(2).uniform(0.01, 0.3, size=len(Z)))


def regression(Z, C=0.2, kink=0.3):
    random = np.random.default_rng(3)
    y = Z @ random.normal(size=Z.shape[1]) + 0.5 * random.normal(size=len(Z)) + 4.0
    box = np.full(len(Z), C)
    return BoxQP(-y, -box, box, kink)


def one_class(Z, nu=0.3):
    weights = np.random.default_rng(4).uniform(0.5, 1.5, size=len(Z))
    return BoxQP(np.zeros(len(Z)), np.zeros(len(Z)), weights, total=nu * float(weights.sum()))


PROBLEMS = {"classes": classes, "weighted": weighted, "regression": regression, "one class": one_class}
WAYS = ["loops", "NumPy"]


def take(way, monkeypatch):
    """Make one of the ways of computing the one that is taken."""
    monkeypatch.setattr(descent_loops, "MIN_COMPILED_NUMBERS", 1 << 60 if way == "NumPy" else 0)


def exact(problem, Z):
    """The same by pairs of coefficients, on the kernel matrix."""
    return working_sets.solve(problem, LowRank(Z.astype(np.float64)), working_sets.SMOSettings(tolerance=1e-9))


def gradient(problem, Z, b):
    wide = Z.astype(np.float64)
    return wide @ (wide.T @ b) + problem.linear


def check_feasible(problem, b):
    assert (b >= problem.lower).all()
    assert (b <= problem.upper).all()
    assert abs(b.sum() - problem.total) <= 1e-9 * max(abs(problem.total), np.abs(b).sum())


class Brake(Run):
    """Stops after so many calls."""

    def __init__(self, after):
        self.left, self.told = after, []

    def tell(self, done):
        self.told.append(done)
        self.left -= 1
        if self.left <= 0:
            raise Stopped("the time is over")


# -- against others


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", PROBLEMS)
def test_the_solution_is_that_of_the_exact_solver(kind, way, monkeypatch):
    Z = features()
    problem = PROBLEMS[kind](Z)
    truth = exact(problem, Z)
    take(way, monkeypatch)
    found = descend(problem, Z, TIGHT)

    assert found.converged
    assert found.violation <= TIGHT.tolerance
    check_feasible(problem, found.b)
    best = problem.objective(truth.b, truth.g)
    assert abs(problem.objective(found.b, found.g) - best) <= 1e-8 * abs(best)
    np.testing.assert_allclose(found.g + found.bias, truth.g + truth.bias, atol=1e-6)


@pytest.mark.parametrize("C", [0.01, 0.1, 1.0])
def test_decision_values_are_those_of_libsvm(C):
    Z = features(n=120, p=5, seed=5)
    problem = classes(Z, C)
    wide = Z.astype(np.float64)
    truth = SVC(kernel="precomputed", C=C, tol=1e-8).fit(wide @ wide.T, labels(Z))
    found = descend(problem, Z, TIGHT)
    values = truth.decision_function(wide @ wide.T)  # from a kernel matrix that LIBSVM keeps in float32
    np.testing.assert_allclose(found.g - problem.linear + found.bias, values, atol=1e-4)


def test_regression_is_that_of_libsvm():
    Z = features(n=120, p=5, seed=6)
    problem = regression(Z, C=0.2, kink=0.3)
    wide = Z.astype(np.float64)
    truth = SVR(kernel="precomputed", C=0.2, epsilon=0.3, tol=1e-8).fit(wide @ wide.T, -problem.linear)
    found = descend(problem, Z, TIGHT)
    np.testing.assert_allclose(found.g - problem.linear + found.bias, truth.predict(wide @ wide.T), atol=1e-5)


def test_features_in_float64_are_taken_as_they_are():
    Z = np.random.default_rng(0).normal(size=(90, 4)) + 1e-9
    problem = classes(Z)
    found = descend(problem, Z, TIGHT)
    np.testing.assert_allclose(found.g, gradient(problem, Z, found.b), atol=1e-12)
    np.testing.assert_allclose(found.g + found.bias, exact(problem, Z).g + exact(problem, Z).bias, atol=1e-5)


# -- what is told


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", PROBLEMS)
def test_what_is_told_after_few_passes_is_true(kind, way, monkeypatch):
    Z = features()
    problem = PROBLEMS[kind](Z)
    truth = exact(problem, Z)
    take(way, monkeypatch)
    found = descend(problem, Z, DescentSettings(tolerance=1e-9, relative_gap=0.0, max_passes=3))

    assert not found.converged
    assert found.rounds == 3
    assert "3 passes" in found.reason
    check_feasible(problem, found.b)
    g = gradient(problem, Z, found.b)
    np.testing.assert_allclose(found.g, g, atol=1e-9 * np.abs(g).max())
    assert found.gap == pytest.approx(problem.gap(found.b, g, found.bias), rel=1e-9)
    assert found.violation == pytest.approx(problem.violation(found.b, g), rel=1e-9)
    distance = problem.objective(found.b, g) - problem.objective(truth.b, truth.g)
    assert 0 < distance <= found.gap


@pytest.mark.parametrize("kind", PROBLEMS)
def test_a_gap_that_was_asked_for_is_reached(kind):
    Z = features()
    problem = PROBLEMS[kind](Z)
    truth = exact(problem, Z)
    found = descend(problem, Z, DescentSettings(tolerance=0.0, relative_gap=1e-3))
    assert found.converged
    assert 0 <= found.gap <= 1e-3 * abs(problem.objective(found.b, found.g))
    best = problem.objective(truth.b, truth.g)
    assert problem.objective(found.b, found.g) - best <= 1e-3 * abs(best)
    assert found.rounds < descend(problem, Z, TIGHT).rounds


@pytest.mark.parametrize("kind", PROBLEMS)
def test_no_bias_has_a_lesser_gap_than_the_best(kind):
    Z = features(n=60)
    problem = PROBLEMS[kind](Z)
    b = problem.feasible(np.random.default_rng(7).normal(size=60))
    g = gradient(problem, Z, b)
    best = best_bias(problem, g)
    least = problem.gap(b, g, best)
    corners = np.concatenate([-g - problem.kink, -g + problem.kink])
    assert least <= min(problem.gap(b, g, corner) for corner in corners) + 1e-9 * abs(least)


def test_a_bias_that_may_lie_between_two_rows_lies_in_the_middle():
    problem = BoxQP(np.zeros(2), np.array([0.0, -1.0]), np.array([1.0, 0.0]))
    assert best_bias(problem, np.array([-3.0, 1.0])) == 1.0


@pytest.mark.parametrize("way", WAYS)
def test_products_of_many_pieces_are_those_of_numpy(way, monkeypatch):
    take(way, monkeypatch)
    monkeypatch.setattr(descent_loops, "CALL_NUMBERS", 7 * 8)
    Z, random = features(), np.random.default_rng(8)
    wide, w, b = Z.astype(np.float64), random.normal(size=8), random.normal(size=len(Z))
    b[::5] = 0
    np.testing.assert_allclose(descent_loops.products(Z, w), wide @ w, rtol=0, atol=1e-13)
    np.testing.assert_allclose(descent_loops.sums(Z, b), wide.T @ b, rtol=0, atol=1e-12)
    np.testing.assert_allclose(descent_loops.squares(Z), np.square(wide).sum(axis=1), rtol=1e-6)


def test_a_sweep_of_loops_and_one_of_numpy_do_the_same(monkeypatch):
    agree_in_sweeps(features(), monkeypatch)


def test_loops_as_written_and_numpy_do_the_same(loops_as_written, monkeypatch):
    Z = features(15, 4)
    agree_in_sweeps(Z, monkeypatch)
    w, b = np.array([0.3, -1.0, 0.0, 2.0]), np.where(np.arange(15) % 3, np.linspace(-1, 1, 15), 0.0)
    take("loops", monkeypatch)
    np.testing.assert_allclose(descent_loops.products(Z, w), Z.astype(np.float64) @ w, rtol=1e-13)
    np.testing.assert_allclose(descent_loops.sums(Z, b), Z.astype(np.float64).T @ b, rtol=1e-12)
    np.testing.assert_allclose(descent_loops.squares(Z), np.square(Z, dtype=np.float64).sum(axis=1), rtol=1e-6)


def agree_in_sweeps(Z, monkeypatch):
    for make in PROBLEMS.values():
        problem, places, met = make(Z), [], []
        for way in WAYS:
            take(way, monkeypatch)
            b = problem.feasible(np.zeros(len(Z)))
            place = Place(b, descent_loops.sums(Z, b), 0.0, 0.3, np.zeros(len(Z), np.int64))
            terms = Terms(Z, problem, np.square(Z, dtype=np.float64).sum(axis=1), 0.7)
            met.append([swept(terms, np.random.default_rng(s).permutation(len(Z)), place)[:3] for s in range(3)])
            places.append(place)
        np.testing.assert_allclose(met[0], met[1], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(places[0].b, places[1].b, atol=1e-12)
        np.testing.assert_allclose(places[0].w, places[1].w, atol=1e-10)
        assert places[0].off == pytest.approx(places[1].off, abs=1e-10)
        assert places[0].off == pytest.approx(places[0].b.sum() - problem.total, abs=1e-10)


def swept(terms, rows, place):
    """A sweep; moves are counted by what b was before, since a move may be as small as rounding, and then it is one
    way's own."""
    before, calm = place.b.copy(), place.calm.copy()
    found = sweep(terms, rows, place)
    stayed = place.b == before
    assert found.moves == np.count_nonzero(~stayed)
    assert np.array_equal(place.calm, np.where(stayed, np.minimum(calm + 1, descent_loops.MAX_SKIPPED_PASSES), 0))
    return found


# -- starts, seeds, stops


@pytest.mark.parametrize("kind", PROBLEMS)
def test_a_solution_to_start_from_saves_passes(kind):
    Z = features()
    problem = PROBLEMS[kind](Z)
    settings = DescentSettings(tolerance=1e-4, relative_gap=0.0, max_passes=10_000)
    first = descend(problem, Z, settings)
    assert descend(problem, Z, settings, start=first.b).rounds == 0
    tighter = DescentSettings(tolerance=1e-6, relative_gap=0.0, max_passes=10_000)
    assert descend(problem, Z, tighter, start=first.b).rounds < descend(problem, Z, tighter).rounds


def test_the_solution_for_a_smaller_box_is_a_start():
    Z = features()
    settings = DescentSettings(tolerance=1e-4, relative_gap=0.0, max_passes=10_000)
    smaller = descend(classes(Z, 0.1), Z, settings)
    warm = descend(classes(Z, 0.11), Z, settings, start=1.1 * smaller.b)
    assert warm.converged
    assert warm.rounds < descend(classes(Z, 0.11), Z, settings).rounds


@pytest.mark.parametrize("way", WAYS)
def test_the_same_seed_gives_the_same_bits_and_another_one_another_way(way, monkeypatch):
    take(way, monkeypatch)
    Z = features()
    problem = regression(Z)
    runs = [
        descend(problem, Z, DescentSettings(tolerance=0.0, max_passes=4, relative_gap=0.0, seed=s)) for s in (0, 0, 1)
    ]
    assert np.array_equal(runs[0].b, runs[1].b)
    assert runs[0].bias == runs[1].bias
    assert not np.array_equal(runs[0].b, runs[2].b)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", PROBLEMS)
@pytest.mark.parametrize("after", [1, 7])
def test_whoever_stops_it_gets_what_is_there(kind, after, way, monkeypatch):
    take(way, monkeypatch)
    monkeypatch.setattr(coordinate_descent, "NUMBERS_BETWEEN_LOOKS", 8 * 20)  # 20 rows
    Z = features()
    problem = PROBLEMS[kind](Z)
    brake = Brake(after)
    found = descend(problem, Z, TIGHT, run=brake)
    assert not found.converged
    assert found.reason == "The time is over."
    assert brake.told == sorted(brake.told)
    assert len(brake.told) == after
    check_feasible(problem, found.b)
    np.testing.assert_allclose(found.g, gradient(problem, Z, found.b), atol=1e-9)
    assert np.isfinite(found.gap)
    assert found.gap >= 0


# -- odd problems


def test_rows_of_zeros_break_nothing():
    Z = features()
    Z[::3] = 0
    for make in PROBLEMS.values():
        problem = make(Z)
        truth, found = exact(problem, Z), descend(problem, Z, TIGHT)
        check_feasible(problem, found.b)
        best = problem.objective(truth.b, truth.g)  # 0 for one class, whose coefficients are those of the zeros
        assert problem.objective(found.b, found.g) == pytest.approx(best, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("Z", [np.zeros((40, 0), np.float32), np.zeros((40, 3), np.float32)], ids=["none", "zeros"])
def test_without_features_the_majority_is_learned(Z):
    y = np.where(np.arange(40) < 25, 1.0, -1.0)
    problem = BoxQP(-y, np.minimum(0, y), np.maximum(0, y))
    found = descend(problem, Z, TIGHT)
    check_feasible(problem, found.b)
    assert found.converged
    assert problem.objective(found.b, found.g) == pytest.approx(-30.0, rel=1e-6)  # 15 of each side, in full
    assert found.bias == pytest.approx(1.0, abs=1e-5)


def test_a_box_without_inside_is_left_at_once():
    Z = features(n=30)
    problem = BoxQP(-np.ones(30), np.zeros(30), np.ones(30))  # one class: what adds up to 0 is 0
    found = descend(problem, Z, DescentSettings())
    assert found.converged
    assert not found.b.any()


def test_rows_without_weight_stay_at_zero():
    Z = features()
    C = np.where(np.arange(len(Z)) % 4 == 0, 0.0, 0.1)
    problem = classes(Z, C)
    found = descend(problem, Z, TIGHT)
    assert not found.b[::4].any()
    kept = np.flatnonzero(C)
    alone = descend(problem.part(kept), Z[kept], TIGHT)
    np.testing.assert_allclose(found.g[kept] + found.bias, alone.g + alone.bias, atol=1e-5)


def test_scales_of_features_and_boxes_change_nothing():
    Z, unit = features(), 1024.0
    small = descend(classes(Z), Z, TIGHT)
    large = descend(classes(Z, 0.1 * unit**-2), unit * Z, TIGHT)
    np.testing.assert_allclose(large.b * unit**2, small.b, rtol=1e-9, atol=1e-12)


# -- the sum


def test_balance_moves_free_coefficients_alone_where_they_have_room():
    problem = BoxQP(np.zeros(5), np.zeros(5), np.ones(5), total=2.0)
    b = balanced(problem, np.array([0.0, 1.0, 0.25, 0.5, 0.0]))
    assert b[[0, 1, 4]].tolist() == [0.0, 1.0, 0.0]
    assert b.sum() == pytest.approx(2.0, abs=1e-15)
    assert b[3] < 1.0


def test_balance_takes_from_all_where_free_coefficients_do_not_suffice():
    problem = BoxQP(np.zeros(4), np.zeros(4), np.ones(4), total=3.0)
    b = balanced(problem, np.array([0.0, 0.0, 1.5, 0.5]))
    assert b.sum() == pytest.approx(3.0, abs=1e-15)
    assert b[2] == 1.0
    assert ((b >= 0) & (b <= 1)).all()


def test_balance_leaves_what_is_balanced():
    b = np.array([0.0, 0.1, 0.2, -0.3, 0.0])
    problem = BoxQP(np.zeros(5), np.full(5, -1.0), np.ones(5), kink=0.1)
    assert balanced(problem, b)[[0, 4]].tolist() == [0.0, 0.0]
    np.testing.assert_allclose(balanced(problem, b), b, atol=1e-15)
