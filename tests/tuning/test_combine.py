"""Weights of a sum of kernels: against models fitted again, finite differences, and problems with an answer."""

import mpmath
import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize_scalar
from scipy.sparse import csr_array

import mercer
from mercer.compute.runtime import memory
from mercer.compute.runtime.threads import one_thread_blas
from mercer.errors import BudgetError, InputError, KernelError, NumericalWarning, ParseError
from mercer.kernels import Constant, Gaussian, Laplace, Linear, Matern, Polynomial, Sigmoid
from mercer.tuning.combination import _sources, combine
from mercer.tuning.descent import SumError
from mercer.tuning.leave_one_out import loo_path
from mercer.tuning.members import aim_of, members_of
from mercer.tuning.reading import targets_of

RNG = np.random.default_rng(0)
X = RNG.uniform(-2, 2, size=(40, 4))
Y = np.column_stack([np.sin(2 * X[:, 0]) + 0.5 * X[:, 1], 30 * X[:, 1] ** 2 + X[:, 2]]) + 0.1 * RNG.normal(size=(40, 2))
y = Y[:, 0]
KERNELS = [Gaussian(1.0), Linear(), Matern(1.5, 2.0), Polynomial(2, 1.0)]
COPIES = RNG.integers(0, 4, size=40).astype(float)
FRACTIONS = RNG.uniform(0.2, 2.5, size=40)


# -- oracles -----------------------------------------------------------------------------------------------------------


def fitted(K, targets, weights, alpha, intercept):
    """Dual coefficients and intercepts, from the conditions of a minimum: no centring, no square roots of weights."""
    n = len(K)
    border = np.full((n, 1), float(intercept))
    system = np.block([[K + alpha * np.diag(1 / weights), border], [border.T, np.array([[float(not intercept)]])]])
    solution = np.linalg.solve(system, np.vstack([targets, np.zeros((1, targets.shape[1]))]))
    return solution[:n], solution[n]


def brute_force(kernel, alpha, rows, targets, weights, intercept):
    """The leave-one-out error of each output: one copy of each row is taken away, and the model fitted again."""
    K, left = kernel(rows), np.zeros(targets.shape)
    for i in np.flatnonzero(weights):
        less = weights.copy()
        less[i] = max(0.0, weights[i] - 1)
        kept = np.flatnonzero(less)
        a, b = fitted(K[np.ix_(kept, kept)], targets[kept], less[kept], alpha, intercept)
        left[i] = targets[i] - K[i, kept] @ a - b
    return weights @ left**2 / weights.sum()


def spread(targets, weights, intercept):
    mean = weights @ targets / weights.sum() if intercept else 0
    return weights @ (targets - mean) ** 2 / weights.sum()


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weights", [None, COPIES, FRACTIONS], ids=["once", "copies", "fractions"])
@pytest.mark.parametrize("targets", [y, Y], ids=["one", "two"])
def test_the_error_is_that_of_models_fitted_again(targets, weights, intercept):
    found = combine(KERNELS, X, targets, sample_weight=weights, fit_intercept=intercept)
    counts, columns = np.ones(40) if weights is None else weights, targets.reshape(40, -1)
    wanted = brute_force(found.kernel, found.alpha, X, columns, counts, intercept)
    np.testing.assert_allclose(found.error, wanted if targets.ndim == 2 else wanted[0], rtol=1e-6)
    assert found.relative == pytest.approx(np.mean(wanted / spread(columns, counts, intercept)), rel=1e-6)
    assert found.converged


def error_of(kernels, weights, intercept, rows=X, targets=Y):
    sources, counts = _sources(kernels, rows, weights)
    aim = aim_of(counts, targets_of(targets, len(rows)), intercept)
    members, matrices = members_of(aim, sources)
    return SumError(aim, tuple(members), matrices)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weights", [None, COPIES, FRACTIONS], ids=["once", "copies", "fractions"])
@pytest.mark.parametrize("at", [[3.0, 0.0, 50.0, 0.2], [1e4, 1.0, 1e5, 1e3]])
def test_the_slopes_are_those_of_finite_differences(weights, intercept, at):
    error, at = error_of(KERNELS, weights, intercept), np.array(at)
    slopes = error(at)[1]
    for m, size in enumerate(at):
        step = 1e-4 * max(size, 0.1) * np.eye(4)[m]  # five points: the next term of the series is of order 1e-16
        with one_thread_blas():
            near, far = (error(at + k * step)[0].mean() - error(at - k * step)[0].mean() for k in (1, 2))
        wanted = (8 * near - far) / (12 * step[m])
        assert slopes[m] == pytest.approx(wanted, rel=1e-6, abs=1e-12 / step[m])


def test_the_error_of_a_sum_is_exact_also_where_alpha_is_small():
    """Against 50 digits: weights of 1e8, 1e9 leave an alpha of about 1e-9 of the largest eigenvalue."""
    error, at = error_of(KERNELS[:2], None, True, X[:20], y[:20]), np.array([1e8, 1e9])
    with mpmath.workdps(50):
        A = mpmath.matrix(error.sum(at).tolist()) + mpmath.eye(20)
        u, b = mpmath.matrix(error.aim.centering.direction.tolist()), mpmath.matrix(error.aim.targets.tolist())
        G = A**-1 - u * u.T / (1 + mpmath.fdot(at.tolist(), error.pulls.tolist()))
        c = G * b
        wanted = float(sum((c[i] / G[i, i]) ** 2 for i in range(20)) / 20)
    assert error(at)[0][0] == pytest.approx(wanted, rel=1e-6)


# -- problems with an answer -------------------------------------------------------------------------------------------


def additive(seed, n=80):
    rng = np.random.default_rng(seed)
    rows = rng.uniform(-1, 1, size=(n, 6))
    return rows, np.sin(4 * rows[:, 0]) + 2 * rows[:, 1] ** 2 + rows[:, 2] + 0.2 * rng.normal(size=n)


def test_additive_structure_is_found():
    rows, targets = additive(1)
    new, truth = additive(2)
    kernels = [Gaussian("median").on([j]) for j in range(6)]
    found = combine(kernels, rows, targets)
    singles = [loo_path(kernel, rows, targets).errors.min() for kernel in [*kernels, Gaussian("median")]]
    assert found.error < 0.5 * min(singles)
    assert found.shares[:3].min() > 0.1
    assert found.shares[3:].max() < 0.01
    assert found.shares.sum() == pytest.approx(1.0, rel=1e-12)
    a, b = fitted(found.kernel(rows), targets[:, None], np.ones(80), found.alpha, True)
    assert np.mean((found.kernel(new, rows) @ a[:, 0] + b - truth) ** 2) < 0.1  # 0.04 of it is noise


def test_a_kernel_of_noise_gets_no_weight():
    rng = np.random.default_rng(3)
    rows = np.column_stack([np.linspace(-2, 2, 50), rng.normal(size=50)])
    found = combine(
        [Gaussian(1.0).on(0), Gaussian(1.0).on(1)], rows, np.sin(2 * rows[:, 0]) + 0.1 * rng.normal(size=50)
    )
    assert found.weights.tolist() == [1.0, 0.0]
    assert found.shares.tolist() == [1.0, 0.0]
    assert found.kernel == Gaussian(1.0).on(0)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("max_iter", [1, 100])
def test_never_worse_than_the_best_kernel_alone(seed, max_iter):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(30, 3))
    targets = [rng.normal(size=30), np.abs(rows[:, 0]), np.exp(rows[:, 1])][seed % 3]
    kernels = [Gaussian("median"), Linear(), Laplace(0.3), Matern(2.5, "median"), Polynomial(3, 0.5)]
    least = min(loo_path(kernel, rows, targets).errors.min() for kernel in kernels)
    found = combine(kernels, rows, targets, max_iter=max_iter)
    assert found.error <= least * (1 + 1e-6)
    assert loo_path(found.kernel, rows, targets, [found.alpha]).errors[0, 0] == pytest.approx(found.error, rel=1e-5)


def test_no_better_weights_are_near():
    found = combine(KERNELS, X, y)
    for m, factor in [(m, f) for m in range(4) for f in (0.9, 1.1)]:
        weights = np.where(np.arange(4) == m, factor, 1.0) * found.weights
        kernel = sum((float(w) * k for w, k in zip(weights, KERNELS, strict=True) if w > 0), start=Constant(0.0))
        assert loo_path(kernel, X, y, [found.alpha]).errors[0, 0] >= found.error * (1 - 1e-7)


def test_one_kernel_gets_its_best_penalty():
    found = combine(["gaussian(lengthscale='median')"], X, y)
    kernel = Gaussian("median").resolve(X)

    def error(log):
        return loo_path(kernel, X, y, [np.exp(log)]).errors[0, 0]

    best = minimize_scalar(error, bracket=(np.log(found.alpha) - 1, np.log(found.alpha) + 1), tol=1e-10)
    assert found.kernel == kernel == found.kernels[0]
    assert found.weights.tolist() == found.shares.tolist() == [1.0]
    assert found.error == pytest.approx(best.fun, rel=1e-8)
    assert found.alpha == pytest.approx(np.exp(best.x), rel=1e-3)


def test_equal_kernels_are_as_good_as_one():
    one, three = combine([Gaussian(1.0)], X, y), combine([Gaussian(1.0)] * 3, X, y)
    assert three.error == pytest.approx(one.error, rel=1e-6)
    assert three.alpha == pytest.approx(one.alpha, rel=1e-2)
    assert three.weights.sum() == pytest.approx(1.0, rel=1e-12)


# -- invariance --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("intercept", [True, False])
def test_weights_are_copies(intercept):
    kernels, repeated = (
        [Gaussian("median"), Linear(), Matern(1.5, "median")],
        np.repeat(np.arange(40), COPIES.astype(int)),
    )
    weighted = combine(kernels, X, Y, sample_weight=COPIES, fit_intercept=intercept)
    copied = combine(kernels, X[repeated], Y[repeated], fit_intercept=intercept)
    dropped = combine(kernels, X[COPIES > 0], Y[COPIES > 0], sample_weight=COPIES[COPIES > 0], fit_intercept=intercept)
    assert weighted.kernels == copied.kernels == dropped.kernels
    np.testing.assert_allclose(weighted.error, copied.error, rtol=1e-6)
    np.testing.assert_allclose(weighted.error, dropped.error, rtol=1e-12)
    np.testing.assert_allclose(weighted.weights, dropped.weights, rtol=1e-9, atol=1e-12)


def test_sizes_of_kernels_and_targets_do_not_matter():
    plain = combine([Gaussian(1.0), Linear()], X, y)
    scaled = combine([1e-9 * Gaussian(1.0), 1e12 * Linear()], X, 1e200 * y + 1e203)
    np.testing.assert_allclose(scaled.shares, plain.shares, rtol=1e-4)
    assert scaled.relative == pytest.approx(plain.relative, rel=1e-6)
    assert scaled.error == np.inf  # 1e400
    assert scaled.weights[0] / scaled.weights[1] == pytest.approx(1e21 * plain.weights[0] / plain.weights[1], rel=1e-3)


def test_tables_of_all_kinds():
    frame = pd.DataFrame(X, columns=list("abcd"))
    named = combine([Gaussian("median").on(["a"]), Linear().on("b")], frame, pd.Series(y))
    placed = combine([Gaussian("median").on(0), Linear().on(1)], X, y)
    assert named.error == placed.error
    sparse = combine([Gaussian(1.0), Linear()], csr_array(X), y)
    assert sparse.error == pytest.approx(combine([Gaussian(1.0), Linear()], X, y).error, rel=1e-9)
    single = combine([Gaussian(1.0), Linear()], X.astype(np.float32), y)
    assert single.error == pytest.approx(combine([Gaussian(1.0), Linear()], X.astype(np.float32) * 1.0, y).error)


# -- the record --------------------------------------------------------------------------------------------------------


def test_the_proof_is_kept():
    found = combine([Gaussian("median"), "linear", Matern(1.5, "median").on([0, 1])], X, y)
    assert mercer.prove(found.kernel).status == "proven"
    assert not found.kernel.is_open
    assert mercer.parse(str(found.kernel)) == found.kernel
    assert (found.weights >= 0).all()
    assert found.weights.sum() == pytest.approx(1.0, rel=1e-12)


def test_the_history_falls_and_is_told():
    found = combine(KERNELS, X, y)
    assert len(found.history) == found.n_iter + 1
    assert (np.diff(found.history) <= 1e-9).all()
    assert found.history[-1] == pytest.approx(found.relative, rel=1e-9)
    assert "No step" in found.reason
    short = combine(KERNELS, X, y, max_iter=1)
    assert (short.n_iter, short.converged) == (1, False)
    assert "stopped after 1 step:" in short.reason


def test_the_table():
    found = combine([Gaussian(1.0).on(0), Constant(2.0)], X, y)
    lines = str(found).splitlines()
    assert lines[0].split() == ["weight", "share", "kernel"]
    assert lines[1].split() == ["1", "1.0000", "gaussian(lengthscale=1.0).on([0])"]
    assert lines[2].split() == ["0", "0.0000", "2.0"]
    assert lines[3].startswith(f"alpha {found.alpha:.4g}, leave-one-out error {found.relative:.4g} of the variance.")


# -- edges -------------------------------------------------------------------------------------------------------------


def test_kernels_that_say_nothing_get_no_weight():
    rows = np.column_stack([X, np.zeros(40), np.full(40, 7.0)])
    kernels = [Linear().on(4), Gaussian(1.0).on(0), Constant(3.0), Linear().on(5), Gaussian(1.0).on(5)]
    found = combine(kernels, rows, y)
    assert found.weights.tolist() == [0.0, 1.0, 0.0, 0.0, 0.0]
    assert found.error == pytest.approx(combine([kernels[1]], rows, y).error, rel=1e-9)


def test_without_an_intercept_a_constant_is_one_with_a_penalty():
    found = combine([Gaussian(1.0), Constant(3.0)], X, y + 100.0, fit_intercept=False)
    assert found.weights[1] > 0
    assert found.error < 0.1 * combine([Gaussian(1.0)], X, y + 100.0, fit_intercept=False).error


def test_two_rows():
    found = combine([Gaussian(1.0), Linear()], [[0.0], [1.0]], [1.0, 4.0])  # each is predicted by the other one's y
    assert found.error == pytest.approx(9.0, rel=1e-12)
    assert found.relative == pytest.approx(4.0, rel=1e-12)
    assert found.converged


def test_equal_rows():
    rows, targets = np.repeat(X[:10], 3, axis=0), np.repeat(y[:10], 3) + 0.1 * RNG.normal(size=30)
    found = combine([Gaussian(1.0), Linear(), Laplace(1.0)], rows, targets)
    wanted = brute_force(found.kernel, found.alpha, rows, targets[:, None], np.ones(30), True)
    assert found.error == pytest.approx(wanted[0], rel=1e-6)


def test_a_constant_output_has_no_error_and_no_say():
    both, one = combine(KERNELS, X, np.column_stack([np.full(40, 0.1), y])), combine(KERNELS, X, y)
    np.testing.assert_allclose(both.error, [0.0, one.error], rtol=1e-12)
    assert both.relative == one.relative


def test_where_no_kernel_helps_the_best_one_is_given_with_much_penalty():
    rows = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    found = combine([Linear(), 2 * Linear()], rows, [1.0, 0.0, 0.0, 1.0])  # even targets, odd functions
    assert found.alpha >= 10 * 10.0 * found.weights[0]  # 10 is the eigenvalue of Linear
    assert "No kernel helps" in found.reason
    assert np.isfinite(found.shares).all()


def test_the_largest_and_smallest_targets():
    plain = combine(KERNELS, X, y)
    for size in (1.7e308 / np.abs(y).max(), 1e-300):
        assert combine(KERNELS, X, size * y).relative == pytest.approx(plain.relative, rel=1e-6)


def test_exact_targets():
    found = combine([Linear(), Gaussian(1.0)], X, X @ [1.0, -2.0, 0.5, 3.0] + 4.0)
    assert found.relative < 1e-12


def test_offsets_that_hide_a_kernel_are_told():
    with pytest.warns(NumericalWarning, match=r"linear is nearly constant on X.*Shift"):
        found = combine([Linear(), Gaussian(1.0)], X + 1e9, y)
    assert found.weights.tolist() == [0.0, 1.0]


# -- errors ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernels", ["linear", Gaussian(), None, [], [Gaussian(), 3]])
def test_a_list_of_kernels_is_needed(kernels):
    with pytest.raises(KernelError, match=r"combine needs a list of kernels or their texts; .*Write combine"):
        combine(kernels, X, y)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"max_iter": 0}, "a positive integer for max_iter; got 0"),
        ({"max_iter": True}, "a positive integer for max_iter"),
        ({"max_iter": 2.5}, "a positive integer for max_iter"),
        ({"y": np.ones(40)}, "a y that varies; it is constant"),
        ({"y": np.zeros((40, 2)), "fit_intercept": False}, "a y that varies; it is zero"),
        ({"y": y[:-1]}, "one target per row, 40 in all"),
        ({"y": np.full(40, np.nan)}, "finite targets"),
        ({"y": ["a"] * 40}, "targets that are numbers"),
        ({"sample_weight": np.ones(3)}, "one weight per row, 40 in all"),
        ({"sample_weight": -np.ones(40)}, "finite weights of at least zero"),
        ({"sample_weight": np.zeros(40)}, "weights with a finite positive sum"),
        ({"sample_weight": np.eye(40)[0]}, "at least two rows; got one row of a weight above 0"),
        ({"X": X[:1], "y": y[:1]}, "at least two rows"),
        ({"X": np.full((40, 1), 2.0)}, "a kernel that varies on X; all are constant on X"),
        ({"kernels": [Gaussian(), Sigmoid(1.0, -1.0)]}, "positive semi-definite kernels; the matrix of sigmoid"),
    ],
)
def test_what_cannot_be_combined_is_said(changes, message):
    given = {"kernels": [Gaussian(1.0), Linear()], "X": X, "y": y} | changes
    with pytest.raises(InputError, match=f"combine needs {message}"):
        combine(given.pop("kernels"), given.pop("X"), given.pop("y"), **given)


def test_texts_and_tables_speak_for_themselves():
    with pytest.raises(ParseError, match="gausian"):
        combine(["gausian"], X, y)
    with pytest.raises(InputError, match="finite numbers"):
        combine(["linear"], np.full((3, 2), np.inf), y[:3])


def test_memory_is_asked_for_first(monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: 10_000)
    with pytest.raises(BudgetError, match=r"combine needs .* for 2 matrices of 40 x 40 numbers"):
        combine([Gaussian(1.0), Linear()], X, y)
