"""Matrices torn into blocks, against 60 digits, dense NumPy and eigenvectors."""

import mpmath
import numpy as np
import pytest

from mercer.compute.runtime.memory import Budget
from mercer.errors import BudgetError
from mercer.kernels import Gaussian
from mercer.solvers import Eigen
from mercer.solvers.ridge import tridiagonal as module
from mercer.solvers.ridge.spectrum import Spectrum
from mercer.solvers.ridge.torn import Tears, Torn
from mercer.solvers.ridge.tridiagonal import Tridiagonal

EPS = np.finfo(np.float64).eps
SHARES = np.array([1e-10, 1e-6, 1e-2, 10.0])
"""Alphas, in units of the largest eigenvalue."""


@pytest.fixture
def small(monkeypatch):
    """Blocks of four rows, of any matrix."""
    monkeypatch.setattr(module, "MIN_ROWS", 2)
    monkeypatch.setattr(module, "BLOCK_ROWS", 4)


def smooth(n, seed=0):
    """The matrix of a kernel whose eigenvalues fall fast."""
    return Gaussian(2.0)(np.random.default_rng(seed).normal(size=(n, 2)))


def torn(A, alphas=(1.0,)):
    found = Tridiagonal.of(A.copy()).serving(np.asarray(alphas))
    assert isinstance(found, Torn)
    return found


@pytest.mark.parametrize("n", [2, 5, 9, 21])
def test_solutions_and_diagonals_are_right_to_60_digits(small, n):
    A = smooth(n)
    alphas = SHARES * np.linalg.eigvalsh(A)[-1]
    found, b = torn(A, alphas), np.random.default_rng(1).normal(size=(n, 1))
    assert len(found.blocks) == max(1, round(n / 4))
    tears, rows = Tears.of(found, alphas), found.vectors
    several = tears.diagonal(rows)
    fits = rows @ tears.fits(rows.T @ b)
    with mpmath.workdps(60):
        for k, alpha in enumerate(alphas):
            shifted = mpmath.matrix(A.tolist()) + mpmath.mpf(float(alpha)) * mpmath.eye(n)
            inverse = shifted**-1
            limit = 8 * EPS * n * (1 + 1 / SHARES[k])
            diagonal = np.array([float(inverse[i, i]) for i in range(n)])
            np.testing.assert_allclose(several[:, k], diagonal, rtol=limit)
            np.testing.assert_allclose(found.inverse_diagonal(alpha), diagonal, rtol=limit)
            x = np.array((inverse * mpmath.matrix(b.tolist())).tolist(), dtype=np.float64)
            scale = np.abs(x).max()
            np.testing.assert_allclose(fits[:, [k]], x, rtol=0, atol=limit * scale)
            np.testing.assert_allclose(found.solve(b, np.array([alpha])), x, rtol=0, atol=limit * scale)
            determinant = float(mpmath.log(mpmath.det(shifted)))
            np.testing.assert_allclose(found.log_determinant(alpha), determinant, rtol=EPS, atol=n * limit)


def test_every_output_has_its_own_alpha(small):
    A, b, alphas = smooth(30), np.random.default_rng(1).normal(size=(30, 3)), np.array([0.1, 2.0, 0.1])
    expected = np.column_stack(
        [np.linalg.solve(A + a * np.eye(30), column) for a, column in zip(alphas, b.T, strict=True)]
    )
    np.testing.assert_allclose(torn(A).solve(b, alphas), expected, rtol=1e-11)
    many = Tears.of(torn(A), alphas[:2]).fits(torn(A).vectors.T @ b)
    each = [torn(A).vectors @ Tears.of(torn(A), alphas[[k]]).fits(torn(A).vectors.T @ b) for k in range(2)]
    np.testing.assert_allclose(torn(A).vectors @ many, np.hstack(each), rtol=1e-12)


def test_what_a_spectrum_says_it_says_too(small):
    A = smooth(40)
    found, spectrum, alphas = torn(A), Eigen().decompose(A.copy()), np.array([0.3, 1.0])
    np.testing.assert_allclose(found.eigenvalues, spectrum.eigenvalues, atol=40 * EPS * spectrum.ends[2])
    np.testing.assert_allclose(found.ends, spectrum.ends, atol=40 * EPS * spectrum.ends[2])
    np.testing.assert_allclose(found.condition(alphas), spectrum.condition(alphas), rtol=1e-13)
    np.testing.assert_allclose(found.floor, spectrum.floor, rtol=1e-13)
    x = np.random.default_rng(0).normal(size=(40, 2))
    np.testing.assert_allclose(found.multiply(x), A @ x, atol=40 * EPS * spectrum.ends[2])
    assert (found.truncated(alphas), found.clipped(alphas)) == (spectrum.truncated(alphas), spectrum.clipped(alphas))


def test_tears_where_nothing_stands_beside_the_diagonal(small):
    A = np.diag(np.arange(1.0, 13.0))
    np.testing.assert_allclose(torn(A).inverse_diagonal(0.5), 1 / (np.diag(A) + 0.5), rtol=8 * EPS)


@pytest.mark.parametrize("seed", range(5))
def test_tears_of_both_signs(small, seed):
    Z = np.random.default_rng(seed).normal(size=(23, 30))
    A = Z @ Z.T
    np.testing.assert_allclose(torn(A).inverse_diagonal(0.5), np.diag(np.linalg.inv(A + 0.5 * np.eye(23))), rtol=1e-11)


# -- what blocks do not serve -----------------------------------------------------------------------------------------


def test_directions_that_would_be_left_out_need_eigenvectors(small):
    A, tiny = smooth(25), 2 * 25 * EPS * np.linalg.eigvalsh(smooth(25))[-1]
    for alphas in ([0.0, 1.0], [tiny, 1.0]):
        found, expected = Tridiagonal.of(A.copy()).serving(np.array(alphas)), Eigen().decompose(A.copy())
        assert isinstance(found, Spectrum)
        np.testing.assert_allclose(found.values, expected.values, atol=25 * EPS * expected.ends[2])
        np.testing.assert_allclose((found.vectors * found.values) @ found.vectors.T, A, atol=1e-13)


def test_negative_eigenvalues_that_show_need_eigenvectors(small):
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(10, 10)))[0]
    A = (Q * np.array([-0.1, *range(1, 10)])) @ Q.T
    found = Tridiagonal.of((A + A.T) / 2).serving(np.array([1.0]))
    assert isinstance(found, Spectrum)
    assert found.clipped(np.array([1.0]))


@pytest.mark.parametrize("wrong", [np.nan, np.inf, 1e200])
def test_what_eigen_has_to_look_at_stays_as_it_was(small, wrong):
    A = smooth(10)
    A[3, 4] = A[4, 3] = wrong
    before = A.copy()
    assert Tridiagonal.of(A) is None
    np.testing.assert_array_equal(A, before)


def test_few_rows_are_left_to_eigenvectors():
    assert Tridiagonal.of(smooth(module.MIN_ROWS - 1)) is None
    assert Tridiagonal.of(smooth(module.MIN_ROWS)) is not None


def test_memory_is_asked_for(monkeypatch):
    monkeypatch.setattr(module, "MAX_UNASKED_BYTES", 0)
    monkeypatch.setattr(Budget, "of_machine", classmethod(lambda cls: cls(1000)))
    with pytest.raises(BudgetError, match=r"^Eigen needs .* for the eigenvectors of 200 rows"):
        Tridiagonal.of(smooth(module.MIN_ROWS))
