"""Cholesky in place, against dense NumPy and 60 digits: the memory of A, and what is said of failures."""

import tracemalloc
from dataclasses import replace

import mpmath
import numpy as np
import pytest
from scipy.linalg import hilbert, lapack

from mercer.errors import InputError, MercerError
from mercer.operators import Dense
from mercer.solvers import Cholesky, Eigen, System
from mercer.solvers.ridge import cholesky_factor as module
from mercer.solvers.ridge.cholesky_factor import PANEL_ROWS, factorize
from mercer.solvers.ridge.spectrum import Spectrum

EPS = np.finfo(np.float64).eps


def draw(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def semidefinite(n, rank=None, seed=0):
    """Exactly symmetric: of the given rank, or else definite, with its smallest eigenvalues at one."""
    Z = draw(n, rank or 20, seed=seed)
    A = Z @ Z.T / Z.shape[1]
    return np.tril(A) + np.tril(A, -1).T + (0 if rank else np.eye(n))


def system(A, alphas=(0.1,), seed=1):
    return System(A, draw(len(A), len(alphas), seed=seed), np.array(alphas))


def solutions(A, b, alphas):
    """One dense solve an output."""
    pairs = zip(b.T, alphas, strict=True)
    return np.column_stack([np.linalg.solve(A + alpha * np.eye(len(A)), column) for column, alpha in pairs])


# -- in place ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, PANEL_ROWS - 1, PANEL_ROWS, PANEL_ROWS + 1, 700])
def test_the_factor_is_in_the_memory_of_the_matrix_and_gives_it_back(n):
    A = semidefinite(n)
    A[0, -1] = A[-1, 0] = -0.0 if n > 1 else 1.0  # of two zeros, too
    before = A.copy()
    factor = factorize(A, 0.3)
    assert np.shares_memory(factor.stored, A)
    assert not np.array_equal(A, before)
    L = np.tril(factor.stored)
    np.testing.assert_allclose(L @ L.T, before + 0.3 * np.eye(n), rtol=0, atol=20 * EPS * np.abs(before).sum(0).max())
    x = draw(n, 3, seed=2)
    np.testing.assert_allclose(factor.multiply(x), before @ x, rtol=0, atol=4 * EPS * (abs(before) @ abs(x)).max())
    assert factor.restore() is not None
    assert A.tobytes() == before.tobytes()


@pytest.mark.parametrize("n", [1, 2, 127, 128, 129, 700])
def test_a_factor_that_fails_gives_the_matrix_back(n):
    A = semidefinite(n)
    A[-1, -1] = -2.0
    before = A.tobytes()
    assert factorize(A, 0.5) is None
    assert A.tobytes() == before


@pytest.mark.parametrize("scale", [1e-16, 1.0, 1e16])
def test_products_from_the_other_triangle_are_accurate_whatever_the_scale(scale):
    """Where |A| is far from one, the diagonal of L is far larger or smaller than that of A."""
    A = semidefinite(300) * scale
    before, x = A.copy(), draw(300, 2, seed=2)
    found = factorize(A, 0.01 * scale).multiply(x)
    np.testing.assert_allclose(found, before @ x, rtol=0, atol=4 * EPS * (abs(before) @ abs(x)).max())


def held_at_peak(action):
    """The bytes that are held in all at the peak of an action, what came before it included."""
    tracemalloc.reset_peak()
    action()
    return tracemalloc.get_traced_memory()[1]


def test_the_peak_is_the_matrix_alone():
    n = 1200
    tracemalloc.start()
    try:
        A = np.empty((n, n))
        for i in range(n):
            A[i] = np.exp(-np.abs(np.arange(n) - i) / 10)
        problem = system(A)
        found = []
        assert held_at_peak(lambda: found.append(Cholesky().solve(problem))) <= 1.2 * 8 * n**2
        factor = found[0].decomposition
        assert np.shares_memory(factor.stored, A)
        assert held_at_peak(lambda: factor.multiply(problem.targets)) <= 1.2 * 8 * n**2
        assert held_at_peak(lambda: factor.inverse_diagonal(0.1)) <= 8 * (1.2 * n**2 + 2 * PANEL_ROWS * n)
        assert held_at_peak(factor.restore) <= 1.2 * 8 * n**2
        A.flags.writeable = False
        assert held_at_peak(lambda: Cholesky().solve(problem)) >= 2 * 8 * n**2  # the measure sees a copy
    finally:
        tracemalloc.stop()


# -- solutions --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 60, 257])
@pytest.mark.parametrize("alphas", [(0.1,), (0.0, 0.0), (1.0, 0.01, 1.0, 1e3)])
def test_solutions_are_those_of_numpy(n, alphas):
    A = semidefinite(n)
    problem = system(A.copy(), alphas)
    outcome = Cholesky().solve(problem)
    wanted = solutions(A, problem.targets, alphas)
    gap = np.linalg.norm(outcome.value - wanted, axis=0) / np.linalg.norm(wanted, axis=0)
    assert (gap <= 100 * EPS * outcome.condition).all()
    assert outcome.converged
    assert outcome.iterations == 0
    left = problem.targets - A @ outcome.value - problem.alphas * outcome.value
    truth = (np.linalg.norm(left, axis=0) / np.linalg.norm(problem.targets, axis=0)).max()
    assert outcome.residual <= 100 * EPS * outcome.condition
    assert outcome.residual == pytest.approx(truth, abs=20 * EPS * outcome.condition)
    assert (outcome.decomposition is None) == (len(set(alphas)) > 1)


ALPHA = 1e-8


def exact_solution(A, b, alpha):
    """With 60 digits."""
    with mpmath.workdps(60):
        ridged = mpmath.matrix(A.tolist()) + mpmath.mpf(alpha) * mpmath.eye(len(A))
        return np.array([float(value) for value in mpmath.lu_solve(ridged, mpmath.matrix(b.tolist()))])


@pytest.mark.parametrize("solver", [Cholesky(), Eigen()], ids=repr)
def test_errors_on_a_hilbert_matrix_are_those_of_its_condition(solver):
    A, b = hilbert(12), np.ones((12, 1))
    wanted = exact_solution(A, b[:, 0], ALPHA)
    outcome = solver.solve(System(A.copy(), b, np.array([ALPHA])))
    assert outcome.converged
    norm = 1 if solver == Cholesky() else 2
    assert 0.5 <= outcome.condition / np.linalg.cond(A + ALPHA * np.eye(12), norm) <= 1.01
    gap = np.linalg.norm(outcome.value[:, 0] - wanted) / np.linalg.norm(wanted)
    assert gap <= EPS * outcome.condition
    assert outcome.residual <= 1e-8


def test_what_a_factor_knows():
    A, alpha = semidefinite(400), 0.02
    inverse = np.linalg.inv(A + alpha * np.eye(400))
    logdet = np.linalg.slogdet(A + alpha * np.eye(400))[1]
    b = draw(400, 3)
    factor = factorize(A, alpha)
    np.testing.assert_allclose(factor.inverse_diagonal(alpha), np.diagonal(inverse), rtol=1e-11)
    assert factor.log_determinant(alpha) == pytest.approx(logdet, rel=1e-12)
    np.testing.assert_allclose(factor.solve(b, np.full(3, alpha)), inverse @ b, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("n", [1, PANEL_ROWS - 1, PANEL_ROWS, PANEL_ROWS + 1])
def test_the_inverse_diagonal_at_the_ends_of_panels(n):
    A = semidefinite(n)
    wanted = np.diagonal(np.linalg.inv(A + 0.5 * np.eye(n)))
    np.testing.assert_allclose(factorize(A, 0.5).inverse_diagonal(0.5), wanted, rtol=1e-12)


def spread(n, low):
    """Random directions, with eigenvalues from `low` to one."""
    Q = np.linalg.qr(draw(n, n))[0]
    A = (Q * np.geomspace(low, 1, n)) @ Q.T
    return np.tril(A) + np.tril(A, -1).T


@pytest.mark.parametrize(
    "A",
    [semidefinite(40), spread(60, 1e-6), spread(60, 1e-12), hilbert(8), 1e-9 * spread(30, 1e-3), np.eye(3), np.eye(1)],
    ids=["random", "1e6", "1e12", "hilbert", "small", "one", "single"],
)
@pytest.mark.parametrize("share", [0.0, 1e-9, 1.0, 1e3])
def test_the_condition_number_is_estimated_within_a_small_factor(A, share):
    alpha = share * np.linalg.norm(A, 2)
    truth = np.linalg.cond(A + alpha * np.eye(len(A)), 1)
    found = factorize(A.copy(), alpha).condition
    assert truth / 4 <= found <= 1.01 * truth  # LAPACK's estimate is from below


# -- whatever memory A comes in ---------------------------------------------------------------------------------------


def read_only(A):
    A = A.copy()
    A.flags.writeable = False
    return A


def spaced(A):
    wide = np.full((2 * len(A), 2 * len(A)), np.nan)
    wide[::2, ::2] = A
    return wide[::2, ::2]


FORMS = {
    "rows first": np.array,
    "columns first": np.asfortranarray,
    "transposed": lambda A: A.copy().T,
    "not contiguous": spaced,
    "read-only": read_only,
    "read-only, columns first": lambda A: read_only(A).T,
    "float32": lambda A: A.astype(np.float32),
    "other bytes": lambda A: A.astype(">f8"),
    "unaligned": lambda A: np.frombuffer(b"0" + A.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(A.shape),
    "operator": Dense,
    "operator of float32": lambda A: Dense(A.astype(np.float32)),
    "lists": lambda A: A.tolist(),
}


@pytest.mark.parametrize("solver", [Cholesky(), Eigen()], ids=repr)
@pytest.mark.parametrize("form", FORMS)
def test_the_matrix_may_come_in_any_memory(form, solver):
    """Several alphas, so that A is needed again after its first factor; float32 numbers here are exact."""
    A = np.round(semidefinite(40) * 64) / 64 + np.eye(40)
    given, alphas = FORMS[form](A), (0.5, 0.1, 0.1)
    problem = replace(system(A, alphas), matrix=given)
    outcome = solver.solve(problem)
    np.testing.assert_allclose(outcome.value, solutions(A, problem.targets, alphas), rtol=1e-11, atol=1e-12)
    assert outcome.residual <= 1e-14
    if form not in ("rows first", "columns first", "transposed"):
        kept = given.to_dense() if isinstance(given, Dense) else given
        assert np.array_equal(kept, A)  # what cannot be overwritten is left alone


@pytest.mark.parametrize("make", [np.array, np.asfortranarray])
def test_contiguous_memory_is_used_whatever_comes_first(make):
    A = make(semidefinite(30))
    outcome = Cholesky().solve(system(A))
    assert np.shares_memory(outcome.decomposition.stored, A)


def test_targets_of_whole_numbers_and_of_float32():
    A, b = semidefinite(20), np.arange(20)[:, None]
    wanted = np.linalg.solve(A + np.eye(20), b)
    for targets in (b, b.astype(np.float32), b.tolist()):
        outcome = Cholesky().solve(System(A.copy(), targets, np.array([1])))
        assert outcome.value.dtype == np.float64
        np.testing.assert_allclose(outcome.value, wanted, rtol=1e-12)


# -- failures ---------------------------------------------------------------------------------------------------------

GAVE_WAY = "A + alpha I is not positive definite to rounding, so that Cholesky gave way to Eigen. "


@pytest.mark.parametrize("n", [3, 50, 140])
def test_a_singular_matrix_gets_the_shortest_solution(n):
    A = semidefinite(n, rank=2)
    problem = system(A.copy(), (0.0, 0.0))
    outcome = Cholesky().solve(problem)
    wanted = np.linalg.pinv(A, rcond=1e-10, hermitian=True) @ problem.targets
    np.testing.assert_allclose(outcome.value, wanted, rtol=1e-9, atol=1e-9)
    assert not outcome.converged
    assert outcome.reason.startswith(GAVE_WAY)
    assert "the shortest of the solutions was taken" in outcome.reason
    assert outcome.condition >= 1 / EPS
    assert isinstance(outcome.decomposition, Spectrum)


def test_pivots_that_are_positive_by_luck_do_not_count():
    A = np.diag([1.0, 1e-17])
    assert lapack.dpotrf(A)[1] == 0  # LAPACK is content
    assert factorize(A.copy(), 0.0) is None
    outcome = Cholesky().solve(System(A, np.array([[1.0], [1.0]]), np.array([0.0])))
    np.testing.assert_allclose(outcome.value, [[1.0], [0.0]])
    assert not outcome.converged
    assert outcome.residual == pytest.approx(np.sqrt(0.5))


def test_a_failure_at_the_smallest_alpha_leaves_all_to_eigen():
    A = semidefinite(60, rank=5)
    problem = system(A.copy(), (1.0, 0.0, 2.0))
    outcome = Cholesky().solve(problem)
    assert outcome.reason.startswith(GAVE_WAY)
    wanted = solutions(A, problem.targets[:, ::2], (1.0, 2.0))
    np.testing.assert_allclose(outcome.value[:, ::2], wanted, rtol=1e-11, atol=1e-12)


def test_an_indefinite_matrix_is_named():
    A, b = np.diag([2.0, -0.5]), np.ones((2, 1))
    outcome = Cholesky().solve(System(A.copy(), b, np.array([0.1])))
    assert not outcome.converged
    assert outcome.reason.startswith(GAVE_WAY)
    assert "eigenvalues down to -5.0e-01 counted as zero" in outcome.reason
    np.testing.assert_allclose(outcome.value, [[1 / 2.1], [1 / 0.1]])
    assert outcome.residual == pytest.approx(5 / np.sqrt(2))  # 1 - (-0.5 + 0.1) 10, next to 0
    asked = Cholesky().solve(System(A.copy(), b, np.array([1.0])))  # A + I is positive definite
    assert asked.converged
    np.testing.assert_allclose(asked.value, [[1 / 3], [2.0]])


@pytest.mark.parametrize("solver", [Cholesky(), Eigen()], ids=repr)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [(0, 0), (299, 299), (250, 3), (3, 250)])
def test_a_matrix_that_is_not_finite_is_refused(solver, value, place):
    """LAPACK says nothing: it factors NaN, and finds eigenvalues of zero."""
    A = semidefinite(300)
    A[place] = value
    before = A.tobytes()
    with pytest.raises(InputError, match=f"needs finite numbers with finite sums; row {place[0]} of A adds up to"):
        solver.solve(system(A))
    assert A.tobytes() == before


def test_numbers_whose_sums_overflow_are_refused():
    with pytest.raises(InputError, match="row 0 of A adds up to inf"):
        Cholesky().solve(system(np.full((2, 2), 1e308) + np.eye(2)))


BAD = {
    "no square": (
        np.ones((3, 2)),
        np.ones((3, 1)),
        [1.0],
        r"a square matrix that is not empty; got one of shape \(3, 2\)",
    ),
    "no matrix": (np.ones(3), np.ones((3, 1)), [1.0], r"a square matrix that is not empty; got one of shape \(3,\)"),
    "empty": (np.ones((0, 0)), np.ones((0, 1)), [1.0], r"got one of shape \(0, 0\)"),
    "complex": (np.eye(2) * 1j, np.ones((2, 1)), [1.0], "real numbers; got an array of complex128"),
    "one dimension": (np.eye(2), np.ones(2), [1.0], r"targets of shape \(2, outputs\).*Write b\[:, None\]"),
    "too few targets": (np.eye(2), np.ones((1, 1)), [1.0], r"targets of shape \(1, 1\) and alphas of shape \(1,\)"),
    "too few alphas": (np.eye(2), np.ones((2, 3)), [1.0], "one alpha an output"),
    "alphas in a table": (np.eye(2), np.ones((2, 1)), [[1.0]], r"alphas of shape \(1, 1\)"),
    "no output": (np.eye(2), np.ones((2, 0)), [], "one alpha an output"),
    "NaN in a target": (np.eye(2), np.array([[1.0], [np.nan]]), [1.0], "finite targets; there is NaN or infinity"),
    "infinite target": (np.eye(2), np.array([[1.0], [np.inf]]), [1.0], "finite targets; there is NaN or infinity"),
    "negative alpha": (np.eye(2), np.ones((2, 1)), [-1.0], r"finite and at least 0; got \[-1.\]"),
    "NaN for alpha": (np.eye(2), np.ones((2, 1)), [np.nan], r"finite and at least 0; got \[nan\]"),
    "infinite alpha": (np.eye(2), np.ones((2, 1)), [np.inf], r"finite and at least 0; got \[inf\]"),
}


@pytest.mark.parametrize("solver", [Cholesky(), Eigen()], ids=repr)
@pytest.mark.parametrize("case", BAD)
def test_what_does_not_fit_is_refused(case, solver):
    A, b, alphas, words = BAD[case]
    with pytest.raises(InputError, match=f"{type(solver).__name__} needs .*{words}"):
        solver.solve(System(A, b, np.array(alphas)))


def test_a_factor_speaks_for_its_own_alpha_alone():
    factor = factorize(np.eye(3), 0.5)
    words = (
        r"A Cholesky factor needs the alpha it was made for, 0.5; got .*. Solve for one alpha at a time, or use Eigen"
    )
    for question in (factor.inverse_diagonal, factor.log_determinant):
        with pytest.raises(InputError, match=words):
            question(0.25)
    with pytest.raises(InputError, match=words):
        factor.solve(np.ones((3, 2)), np.array([0.5, 0.25]))


class Refusing:
    """LAPACK, where one routine says that an argument of it is illegal."""

    def __init__(self, routine):
        self.routine = routine

    def __getattr__(self, name):
        asked = getattr(lapack, name)
        return asked if name != self.routine else lambda *args, **settings: (asked(*args, **settings)[0], -4)


@pytest.mark.parametrize("routine", ["dpotrf", "dpocon", "dpotrs", "dtrtrs", "dtrtri"])
def test_refusals_of_lapack_do_not_pass(routine, monkeypatch):
    def everything():
        factor = factorize(semidefinite(5), 0.1)
        factor.solve(np.ones((5, 1)))
        factor.solve(np.ones((5, 2)))
        return factor.inverse_diagonal(0.1)

    assert everything().shape == (5,)
    monkeypatch.setattr(module, "lapack", Refusing(routine))
    with pytest.raises(MercerError, match=f"Cholesky needs LAPACK to do its work; {routine} returned -4"):
        everything()
