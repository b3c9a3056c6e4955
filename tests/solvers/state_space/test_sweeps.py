"""The sweeps over a series, against inverses with 60 digits, also of times that are nearly equal."""

import mpmath as mp
import numpy as np
import pytest

from mercer.kernels.processes import Process
from mercer.solvers.state_space import steps, text
from mercer.solvers.state_space.beside import Beside
from mercer.solvers.state_space.leave_one_out import shared
from mercer.solvers.state_space.products import covariance, product
from mercer.solvers.state_space.series import Order, Series
from mercer.solvers.state_space.sweeps import back, forth

SUMS = {
    "1/2": (Process(1, 3.0),),
    "3/2": (Process(2, 3.0),),
    "5/2": (Process(3, 3.0, 2.0),),
    "7/2": (Process(4, 3.0),),
    "9/2": (Process(5, 3.0),),
    "3/2 + 5/2": (Process(2, 3.0), Process(3, 0.5, 4.0)),
    "1/2 + 3/2 + 1/2": (Process(1, 20.0, 0.1), Process(2, 1.0), Process(1, 0.1, 30.0)),
}


def series_of(times, processes, columns, weights=None, piece=16):
    sizes, rates, variances = zip(*((p.size, p.rate, p.variance) for p in processes), strict=True)
    weights = np.ones(len(times)) if weights is None else weights
    outputs = columns.shape[1]
    sizes = np.array(sizes, dtype=np.int64)
    return Series(times, weights, columns, outputs, np.zeros(0), sizes, np.array(rates), np.array(variances), piece)


def exact_kernel(processes, lag):
    found = mp.mpf(0)
    for p in processes:
        u, m = mp.mpf(p.rate) * lag, p.size - 1
        terms = [
            mp.factorial(m + i) / mp.factorial(i) / mp.factorial(m - i) * (2 * u) ** (m - i) for i in range(p.size)
        ]
        found += mp.mpf(p.variance) * mp.exp(-u) * mp.factorial(m) / mp.factorial(2 * m) * sum(terms)
    return found


def times_of(kind, n=14):
    draw = np.random.default_rng(3)
    times = draw.random(n)
    if kind == "near":
        times[1::2] = times[::2] * (1 + 1e-13) + 1e-14
    return np.unique(times * (1e4 if kind == "far" else 1.0))


def swept(series, alphas):
    found = {}

    def visit(rows, piece):
        for name in ("solved", "inverse", "fitted", "spread"):
            found.setdefault(name, []).insert(0, getattr(piece, name).copy())

    ahead = forth(series, alphas)
    back(series, alphas, ahead.states, visit, fitted=True)
    return ahead, {name: np.concatenate(parts) for name, parts in found.items()}


@pytest.mark.parametrize("kind", ["spread", "near", "far"])
@pytest.mark.parametrize("name", SUMS)
def test_what_is_solved_has_all_digits(name, kind):
    """Also where the condition number is beyond float64: each row's number is right relative to itself, about."""
    times, processes, alphas = times_of(kind), SUMS[name], np.array([1e-14, 1e-8, 1e-3, 1e3])
    y = np.sin(5 * times)[:, None] + 0.1 * np.random.default_rng(1).normal(size=(len(times), 2))
    ahead, found = swept(series_of(times, processes, y), alphas)
    with mp.workdps(60):
        T = [mp.mpf(t) for t in times]
        K = mp.matrix([[exact_kernel(processes, abs(s - t)) for t in T] for s in T])
        for j, alpha in enumerate(alphas):
            inverse = (K + mp.mpf(alpha) * mp.eye(len(T))) ** -1
            solved = inverse * mp.matrix(y.tolist())
            fitted, rest = K * solved, K * inverse * K
            n = range(len(T))
            left_out = np.array([float(solved[i, 0] / inverse[i, i]) for i in n])
            diagonal = np.array([float(inverse[i, i]) for i in n])
            wanted = np.array([[float(solved[i, t]) for t in range(2)] for i in n])
            np.testing.assert_allclose(found["inverse"][:, j], diagonal, rtol=1e-11)
            np.testing.assert_allclose(found["solved"][:, :, j], wanted, rtol=0, atol=1e-11 * np.abs(wanted).max())
            got = found["solved"][:, 0, j] / found["inverse"][:, j]
            np.testing.assert_allclose(got, left_out, rtol=0, atol=1e-11)
            shown = np.array([[float(fitted[i, t]) for t in range(2)] for i in n])
            np.testing.assert_allclose(found["fitted"][:, :, j], shown, rtol=0, atol=1e-8)
            size = sum(p.variance for p in processes)
            variance = np.array([float(K[i, i] - rest[i, i]) for i in n])
            np.testing.assert_allclose(found["spread"][:, j], variance, rtol=0, atol=1e-13 * size)
            log = mp.log(mp.det(K + mp.mpf(alpha) * mp.eye(len(T))))
            np.testing.assert_allclose(ahead.logs[j], float(log), rtol=1e-11, atol=1e-14 * len(T))


@pytest.mark.parametrize("name", SUMS)
def test_pieces_change_no_bit(name):
    times, alphas = np.sort(np.random.default_rng(0).random(70)), np.array([1e-3, 1.0])
    y, w = np.cos(9 * times)[:, None], 0.5 + np.random.default_rng(1).random(70)
    whole, parts = (swept(series_of(times, SUMS[name], y, w, piece), alphas)[1] for piece in (70, 7))
    for key in whole:
        np.testing.assert_array_equal(whole[key], parts[key])


def test_alphas_beside_change_no_bit():
    """So nothing depends on how many threads share alphas out."""
    times, alphas = np.sort(np.random.default_rng(0).random(50)), np.geomspace(1e-8, 10, 45)
    series = series_of(times, SUMS["5/2"], np.cos(9 * times)[:, None])
    together = swept(series, alphas)[1]["solved"]
    for part in shared(45, 2):
        np.testing.assert_array_equal(together[:, :, part], swept(series, alphas[part])[1]["solved"])


def test_shares_cover_all():
    for count in range(1, 60):
        for workers in range(1, 9):
            covered = np.concatenate([np.arange(count)[part] for part in shared(count, workers)])
            np.testing.assert_array_equal(covered, np.arange(count))


@pytest.mark.parametrize("name", SUMS)
@pytest.mark.parametrize("gap", [1e-25, 1e-9, 0.01, 1.0, 30.0, 1e5])
def test_a_step_keeps_the_stationary_covariance(name, gap):
    """A P A' + Q = P, from the numbers of a step, for each process."""
    for process in SUMS[name]:
        (numbers,) = steps.Steps((process,)).of(np.array([gap]))
        size = process.size
        A = np.array([[numbers[j - i] if j >= i else 0.0 for j in range(size)] for i in range(size)])
        L = np.eye(size)
        L[np.tril_indices(size, -1)] = numbers[size : size + size * (size - 1) // 2]
        P = process.variance * steps.stationary(size)
        Q = L @ np.diag(numbers[-size:]) @ L.T
        np.testing.assert_allclose(A @ P @ A.T + Q, P, rtol=1e-13, atol=0)
        assert (numbers[-size:] >= 0).all()


@pytest.mark.parametrize("name", SUMS)
def test_products(name):
    times = np.sort(np.random.default_rng(0).random(40)) * 3
    series = series_of(times, SUMS[name], np.zeros((40, 1)))
    V = np.random.default_rng(1).normal(size=(40, 3))
    K = np.array([[float(exact_kernel(SUMS[name], abs(s - t))) for t in times] for s in times])
    np.testing.assert_allclose(covariance(series, times, times), K, rtol=1e-14)
    np.testing.assert_allclose(product(series, V), K @ V, rtol=1e-12, atol=1e-12)


def test_the_loops_run_as_they_are_written():
    """Without Numba the same text is Python; last digits may differ where a compiler joins operations."""
    times, sizes = np.sort(np.random.default_rng(0).random(12)), (2,)
    series = series_of(times, SUMS["3/2"], np.cos(9 * times)[:, None])
    made = {}
    exec(text.source(sizes, compiled=False), made)  # noqa: S102  # our own
    fast, alphas = text.loops(sizes), np.array([1e-3, 1.0])
    gaps = series.steps.of(series.gaps(0))
    results = []
    for forward in (made["forward"], fast.forward):
        diagonal, below = series.steps.start()
        state = np.tile(diagonal[:, None], 2), np.tile(below[:, None], 2), np.zeros((2, 1, 2))
        room = np.empty((12, 2, 2)), np.empty((12, 2)), np.empty((12, 2)), np.empty((12, 1, 2))
        forward(gaps, series.weights, series.columns, alphas, *state, *room)
        results.append(np.concatenate([part.ravel() for part in room]))
    np.testing.assert_allclose(results[0], results[1], rtol=1e-13)


def test_rows_of_one_time_are_one():
    order = Order.of(np.array([3.0, 1.0, 3.0, 2.0, 1.0]), 0.0)
    rows = np.array([10.0, 20.0, 30.0, 40.0, 50.0])
    np.testing.assert_array_equal(order.sums(order.sorted(rows)), [70.0, 40.0, 40.0])
    np.testing.assert_array_equal(order.firsts(order.sorted(np.array([3.0, 1.0, 3.0, 2.0, 1.0]))), [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(order.back(order.spread(np.array([1.0, 2.0, 3.0]))), [3.0, 1.0, 3.0, 2.0, 1.0])
    assert Order.of(np.array([1.0, 2.0]), 0.0).order is None


def test_features_that_are_alike_are_dropped():
    """A constant that stands there twice is explained once, and predictions are those of one."""
    times = np.linspace(0, 1, 30)
    y, ones = np.cos(3 * times)[:, None] + 5, np.ones((30, 1))
    found = []
    for count in (1, 2):
        series = series_of(times, SUMS["3/2"], np.hstack([y, *[ones] * count]))
        series = Series(**{**vars(series), "outputs": 1, "penalties": np.zeros(count)})
        beside = Beside.of(forth(series, np.array([0.1])), 1, series.penalties)
        found.append(beside.values.sum())
    np.testing.assert_allclose(found[0], found[1], rtol=1e-10)
