"""Spectra and what they make free, against dense NumPy and 60 digits."""

import tracemalloc

import mpmath
import numpy as np
import pytest
from scipy.linalg import hilbert

from mercer.compute.runtime.memory import Budget
from mercer.errors import BudgetError
from mercer.operators import Gram, dense
from mercer.operators.dense import DIVIDE_AND_CONQUER_SIZES
from mercer.solvers import Eigen, System
from mercer.solvers.ridge import eigen as module
from mercer.solvers.ridge.spectrum import Spectrum

EPS = np.finfo(np.float64).eps


def draw(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def with_eigenvalues(values, seed=0):
    """An exactly symmetric matrix of random directions."""
    Q = np.linalg.qr(draw(len(values), len(values), seed=seed))[0]
    A = (Q * values) @ Q.T
    return np.tril(A) + np.tril(A, -1).T


def diagonal(values):
    return Spectrum(np.array(values, dtype=np.float64), np.eye(len(values)))


# -- the pseudo-inverse rule ------------------------------------------------------------------------------------------


def test_directions_that_cannot_be_told_from_zero_are_left_out():
    spectrum = diagonal([-1e-17, 1e-17, 1e-3, 2.0])
    assert spectrum.floor == 8 * EPS
    found = spectrum.inverses(np.array([0.0, 8 * EPS, 1e-15, 1e-14, 1.0]))
    np.testing.assert_allclose(found[:, 0], [0, 0, 1e3, 0.5])
    np.testing.assert_allclose(found[:2, 1], [0, 1 / (8 * EPS + 1e-17)], atol=1e15)
    np.testing.assert_allclose(found[:2, 3], [1e14, 1e14 / 1.001], rtol=1e-2)
    np.testing.assert_allclose(found[:, 4], [1, 1, 1 / 1.001, 1 / 3])
    assert spectrum.truncated(np.array([0.0]))
    assert spectrum.truncated(np.array([1.0, 1e-16]))
    assert not spectrum.truncated(np.array([1.0, 1e-14]))


def test_nothing_overflows_where_all_is_zero():
    spectrum = diagonal([0.0, 0.0])
    assert np.array_equal(spectrum.inverses(np.array([0.0, 5e-324])), np.zeros((2, 2)))
    assert np.isfinite(spectrum.inverses(np.array([1e-300]))).all()
    assert spectrum.truncated(np.array([5e-324]))
    outcome = Eigen().solve(System(np.zeros((2, 2)), np.ones((2, 1)), np.array([0.0])))
    assert not outcome.value.any()
    assert not outcome.converged
    assert outcome.residual == 1
    assert outcome.condition == np.inf


def test_the_shortest_of_the_solutions():
    values = np.concatenate([np.zeros(20), np.geomspace(1e-4, 3, 30)])
    A, b = with_eigenvalues(values), draw(50, 2)
    outcome = Eigen().solve(System(A.copy(), b, np.zeros(2)))
    np.testing.assert_allclose(outcome.value, np.linalg.pinv(A, rcond=1e-9, hermitian=True) @ b, rtol=1e-8, atol=1e-8)
    assert not outcome.converged
    assert outcome.reason.startswith("One eigendecomposition. A + alpha I is singular to rounding: the shortest")
    left = np.linalg.norm(b - A @ outcome.value, axis=0) / np.linalg.norm(b, axis=0)
    assert outcome.residual == pytest.approx(left.max(), rel=1e-9)


# -- negative eigenvalues ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("low", "alpha", "named"),
    [(-1e-17, 0.1, False), (-1e-17, 0.0, False), (-1e-6, 1e3, False), (-1e-6, 1e-3, True), (-0.5, 1.0, True)],
)
def test_negative_eigenvalues_count_as_zero_and_are_named_where_that_matters(low, alpha, named):
    spectrum = diagonal([low, 1.0])
    assert spectrum.kept.tolist() == [0.0, 1.0]
    assert spectrum.clipped(np.array([2 * alpha + 1, alpha])) is named
    outcome = Eigen().solve(System(np.diag([low, 1.0]), np.ones((2, 1)), np.array([alpha])))
    assert ("not positive semi-definite" in outcome.reason) is named
    if named:
        assert not outcome.converged
        assert outcome.residual == pytest.approx(abs(low) / alpha / np.sqrt(2), rel=1e-6)  # the truth about A


def test_the_residual_is_of_the_product_that_the_system_gives():
    A, b = with_eigenvalues(np.geomspace(1e-3, 1, 20)), draw(20, 1)
    asked = []

    def product(x):
        asked.append(x)
        return A @ x + 0.01 * b

    outcome = Eigen().solve(System(A.copy(), b, np.array([0.1]), product))
    assert np.array_equal(asked[0], outcome.value)
    assert outcome.residual == pytest.approx(0.01, rel=1e-9)


# -- what a spectrum knows --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 70])
def test_every_alpha_from_one_decomposition(n):
    A, b = with_eigenvalues(np.geomspace(1e-6, 2, n)), draw(n, 4)
    alphas = np.array([0.0, 1e-3, 1.0, 1e3])
    outcome = Eigen().solve(System(A.copy(), b, alphas))
    spectrum = outcome.decomposition
    assert outcome.converged
    assert outcome.reason == "One eigendecomposition."
    for column, alpha in enumerate(alphas):
        ridged = A + alpha * np.eye(n)
        condition = np.linalg.cond(ridged)
        wanted = np.linalg.solve(ridged, b[:, column])
        assert np.linalg.norm(outcome.value[:, column] - wanted) <= 50 * EPS * condition * np.linalg.norm(wanted)
        inverse = np.diagonal(np.linalg.inv(ridged))
        assert np.abs(spectrum.inverse_diagonal(alpha) - inverse).max() <= 50 * EPS * condition * inverse.max()
        assert spectrum.log_determinant(alpha) == pytest.approx(np.linalg.slogdet(ridged)[1], rel=1e-9, abs=1e-9)
        assert spectrum.condition(np.array([alpha, 1e4])) == pytest.approx(condition, rel=1e-8)
    assert outcome.condition == spectrum.condition(alphas[:1])
    np.testing.assert_allclose(spectrum.multiply(b), A @ b, rtol=0, atol=50 * EPS * np.abs(b).sum())


def test_the_spectrum_of_a_hilbert_matrix():
    A = hilbert(12)
    with mpmath.workdps(60):
        exact = np.array(sorted(float(value) for value in mpmath.eigsy(mpmath.matrix(A.tolist()), eigvals_only=True)))
        logdet = float(mpmath.log(mpmath.det(mpmath.matrix(A.tolist()) + mpmath.mpf(1e-8) * mpmath.eye(12))))
    spectrum = Eigen().decompose(A.copy())
    np.testing.assert_allclose(spectrum.values, exact, rtol=0, atol=12 * EPS * exact[-1])
    assert spectrum.log_determinant(1e-8) == pytest.approx(logdet, rel=1e-9)
    assert spectrum.condition(np.array([1e-8])) == pytest.approx((exact[-1] + 1e-8) / (exact[0] + 1e-8), rel=1e-6)
    assert diagonal([0.0, 1.0]).log_determinant(0.0) == -np.inf


# -- memory and sizes -------------------------------------------------------------------------------------------------


def held_at_peak(action):
    """The bytes that an action holds beyond what there was before."""
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_the_inverse_diagonal_makes_no_second_matrix():
    n = 1500
    spectrum = Spectrum(np.linspace(1, 2, n), np.ones((n, n), order="F"))
    assert held_at_peak(lambda: spectrum.inverse_diagonal(0.1)) <= 0.1 * 8 * n**2
    np.testing.assert_allclose(spectrum.inverse_diagonal(0.1), (1 / (spectrum.values + 0.1)).sum(), rtol=1e-12)


def test_the_peak_is_that_of_the_cost():
    n = 300
    A = with_eigenvalues(np.geomspace(1e-3, 1, n))
    problem = System(A, draw(n, 1), np.array([0.1]))
    held = A.nbytes + held_at_peak(lambda: Eigen().solve(problem))
    assert held == pytest.approx(8 * Eigen().cost(n, 1).numbers, rel=0.05)


def test_the_eigenvectors_are_in_the_memory_of_the_matrix():
    A = with_eigenvalues(np.geomspace(1e-3, 1, 30))
    assert np.shares_memory(Eigen().decompose(A).vectors, A)


def test_divide_and_conquer_ends_where_its_work_space_overflows():
    n = DIVIDE_AND_CONQUER_SIZES[-1]
    assert 1 + 6 * n + 2 * n**2 < 2**31 <= 1 + 6 * (n + 1) + 2 * (n + 1) ** 2
    assert 1 not in DIVIDE_AND_CONQUER_SIZES


@pytest.mark.parametrize("n", [1, 4, 5, 30])
def test_sizes_beyond_divide_and_conquer(n, monkeypatch):
    drivers, plain = [], module.eigh
    monkeypatch.setattr(module, "DIVIDE_AND_CONQUER_SIZES", range(2, 5))
    monkeypatch.setattr(module, "eigh", lambda A, **how: drivers.append(how["driver"]) or plain(A, **how))
    values = np.geomspace(1e-3, 1, n)
    A = with_eigenvalues(values)
    spectrum = Eigen().decompose(A.copy())
    assert drivers == ["evd" if n == 4 else "evr"]
    np.testing.assert_allclose(spectrum.values, values, rtol=0, atol=50 * EPS)
    np.testing.assert_allclose((spectrum.vectors * spectrum.values) @ spectrum.vectors.T, A, rtol=0, atol=50 * EPS)


def test_memory_that_is_not_there_is_asked_for_first(monkeypatch):
    monkeypatch.setattr(Budget, "of_machine", classmethod(lambda cls: cls(39_999)))
    monkeypatch.setattr(module, "MAX_UNASKED_BYTES", 0)  # below it nothing is asked
    A = np.eye(50)
    with pytest.raises(
        BudgetError, match=r"Eigen needs .* for the eigenvectors of 50 rows; .* may be used. Use Cholesky"
    ):
        Eigen().decompose(A)
    assert np.array_equal(A, np.eye(50))


def test_an_operator_is_made_dense():
    X = draw(30, 2)
    K = Gram("gaussian", X)
    outcome = Eigen().solve(System(K, draw(30, 1), np.array([0.1])))
    np.testing.assert_allclose(outcome.value, np.linalg.solve(K.to_dense() + 0.1 * np.eye(30), draw(30, 1)), rtol=1e-9)


# -- in a thread of its own -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("divided", [range(2, 32_767), range(0)], ids=["evd", "evr"])
def test_large_matrices_have_the_bits_of_a_plain_call(divided, monkeypatch):
    monkeypatch.setattr(dense, "DIVIDE_AND_CONQUER_SIZES", divided)
    A = with_eigenvalues(np.geomspace(1e-3, 1, 60))
    plain = Eigen().decompose(A.copy())
    monkeypatch.setattr(module, "MIN_THREADED_ROWS", 10)
    monkeypatch.setattr(module, "eigh", None)  # nobody calls it
    threaded = Eigen().decompose(A.copy())
    assert np.array_equal(plain.values, threaded.values)
    assert np.array_equal(plain.vectors, threaded.vectors)


def test_without_addresses_the_plain_call_is_made(monkeypatch):
    A = with_eigenvalues(np.geomspace(1e-3, 1, 30))
    plain = Eigen().decompose(A.copy())
    monkeypatch.setattr(module, "MIN_THREADED_ROWS", 10)
    monkeypatch.setattr(module, "routine", lambda name: None)
    assert np.array_equal(Eigen().decompose(A.copy()).vectors, plain.vectors)


def test_a_thread_costs_no_memory(monkeypatch):
    monkeypatch.setattr(module, "MIN_THREADED_ROWS", 10)
    n = 300
    A = with_eigenvalues(np.geomspace(1e-3, 1, n))
    held = A.nbytes + held_at_peak(lambda: Eigen().decompose(A))
    assert held <= 1.05 * 8 * Eigen().cost(n, 1).numbers


def test_eigenvalues_that_do_not_converge_are_told(monkeypatch):
    monkeypatch.setattr(module, "MIN_THREADED_ROWS", 10)
    monkeypatch.setattr(module, "_converged", lambda info, plain=module._converged: plain(info or 3))
    with pytest.raises(np.linalg.LinAlgError, match="did not converge: LAPACK returned 3"):
        Eigen().decompose(np.eye(20))
