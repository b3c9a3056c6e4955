"""Repaired matrices against eigenvalues of mpmath, the nearest matrix by hand, and numbers that are known."""

import copy
import pickle
import tracemalloc
from dataclasses import FrozenInstanceError

import mpmath
import numpy as np
import pytest
from scipy.linalg import sqrtm
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import cross_val_score

from mercer.errors import InputError
from mercer.operators.precomputed import check_precomputed, check_semidefinite
from mercer.operators.repair import Repaired, repair

HOWS = ("clip", "shift", "flip")
SCALES = [(dtype, scale) for dtype in (np.float32, np.float64) for scale in (1e-20, 1.0, 1e20)]
SCALES += [(np.float64, 1e-150), (np.float64, 1e150)]


def draw(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def similarities(n, seed=0):
    """A symmetric matrix with about as many negative eigenvalues as positive ones."""
    A = draw(n, n, seed=seed)
    return (A + A.T) / 2


def exactly_repaired(K, how):
    """The same with 50 digits."""
    with mpmath.workdps(50):
        values, Q = mpmath.eigsy(mpmath.matrix(K.tolist()))
        low = min(values)
        new = {"clip": lambda v: max(v, 0), "flip": abs, "shift": lambda v: v - low}[how]
        result = Q * mpmath.diag([new(v) for v in values]) * Q.T
        removed = sum(-v for v in values if v < 0) / sum(abs(v) for v in values)
        return np.array(result.tolist(), dtype=float), float(removed), float(low)


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("n", [1, 2, 7, 12])
def test_against_fifty_digits(n, how):
    K = -np.ones((1, 1)) if n == 1 else similarities(n, seed=n)
    wanted, removed, smallest = exactly_repaired(K, how)
    repaired = repair(K, how)
    np.testing.assert_allclose(repaired.matrix, wanted, atol=1e-14 * np.abs(K).max() * n)
    assert repaired.removed == pytest.approx(removed, rel=1e-13)
    assert repaired.smallest == pytest.approx(smallest, rel=1e-13)
    assert repaired.how == how


def test_clip_is_the_nearest_one():
    """Higham (1988): (K + H) / 2, with H the root of K^2, is nearest; and no other that we try is nearer."""
    K = similarities(20)
    nearest = (K + sqrtm(K @ K).real) / 2
    clipped = repair(K).matrix
    np.testing.assert_allclose(clipped, nearest, atol=1e-10)
    distance = np.linalg.norm(clipped - K)
    for seed in range(20):
        root = np.linalg.cholesky(clipped + 1e-9 * np.eye(20)) + 1e-3 * draw(20, 20, seed=seed)
        assert np.linalg.norm(root @ root.T - K) > distance


@pytest.mark.parametrize(("dtype", "scale"), SCALES)
@pytest.mark.parametrize("how", HOWS)
def test_results_are_symmetric_and_accepted_at_every_scale(how, dtype, scale):
    K = (scale * similarities(90)).astype(dtype)
    repaired = repair(K, how)
    assert repaired.matrix.dtype == dtype
    assert np.array_equal(repaired.matrix, repaired.matrix.T)
    checked = check_precomputed(repaired)
    check_semidefinite(checked, dtype)
    unit = repair(similarities(90), how)
    np.testing.assert_allclose(checked / scale, unit.matrix, atol=1e-5 if dtype == np.float32 else 1e-12)
    assert repaired.removed == pytest.approx(unit.removed, rel=1e-5 if dtype == np.float32 else 1e-12)


@pytest.mark.parametrize("how", HOWS)
def test_negative_definite_matrices(how):
    """Nothing, or everything, is left; rounding must not leave a negative diagonal."""
    for K in (-0.1 * np.eye(6), -np.ones((5, 5)), -(draw(8, 8) @ draw(8, 8).T)):
        repaired = repair(K, how)
        assert repaired.removed == pytest.approx(1.0, rel=1e-14)
        assert (np.diagonal(repaired.matrix) >= 0).all()
        check_precomputed(repaired)
    assert not repair(-0.1 * np.eye(6), "clip").matrix.any()
    assert not repair(-0.1 * np.eye(6), "shift").matrix.any()
    np.testing.assert_allclose(repair(-0.1 * np.eye(6), "flip").matrix, 0.1 * np.eye(6), atol=1e-16)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("how", HOWS)
def test_a_semidefinite_matrix_comes_back_as_it_is(how, dtype):
    X = draw(50, 3)
    for K in (X @ X.T, np.ones((9, 9)), np.zeros((3, 3)), np.eye(2)):
        given = ((K + K.T) / 2).astype(dtype)
        repaired = repair(given, how)
        assert np.array_equal(repaired.matrix, given)
        assert repaired.removed == 0.0
        rows = draw(4, len(K), seed=1)
        assert np.array_equal(repaired.transform(rows), rows)
    assert repair(np.ones((9, 9)), how).smallest == pytest.approx(0, abs=1e-14)
    assert repair(np.eye(2), how).smallest == 1.0


def test_the_input_is_not_touched():
    K = similarities(10)
    before = K.copy()
    for how in HOWS:
        repair(K, how)
        assert np.array_equal(K, before)
    given = np.eye(3)
    assert not np.shares_memory(repair(given).matrix, given)


def test_shift_keeps_what_is_off_the_diagonal():
    K = similarities(30)
    added = repair(K, "shift").matrix - K
    assert not (added - np.diag(np.diagonal(added))).any()
    np.testing.assert_allclose(np.diagonal(added), -np.linalg.eigvalsh(K)[0], rtol=1e-13)


# -- new points -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", HOWS)
def test_new_rows_against_the_formulas(how):
    K, rows = similarities(25), draw(6, 25, seed=5)
    values, Q = np.linalg.eigh(K)
    factors = {"clip": values > 0, "flip": np.sign(values), "shift": np.ones(25)}[how]
    repaired = repair(K, how)
    np.testing.assert_allclose(repaired.transform(rows), rows @ (Q * factors) @ Q.T, atol=1e-13)
    np.testing.assert_allclose(repaired.transform(rows[2]), repaired.transform(rows)[2], atol=1e-13)
    assert repaired.transform(rows.astype(np.float32)).dtype == np.float32
    assert repaired.transform(rows[:0]).shape == (0, 25)


@pytest.mark.parametrize("how", ["clip", "flip"])
def test_training_rows_become_rows_of_the_repaired_matrix(how):
    K = similarities(25)
    repaired = repair(K, how)
    np.testing.assert_allclose(repaired.transform(K), repaired.matrix, atol=1e-13)


@pytest.mark.parametrize("how", ["clip", "flip"])
def test_directions_without_similarity_are_dropped(how):
    """K of rank 4 in 30 dimensions: 26 eigenvalues are rounding, and their signs must not matter."""
    L = draw(30, 4)
    K = (L * [3.0, 2.0, 1.0, -1.0]) @ L.T
    repaired = repair((K + K.T) / 2, how)
    outside = draw(30, seed=7)
    outside -= L @ np.linalg.lstsq(L, outside, rcond=None)[0]
    np.testing.assert_allclose(repaired.transform(outside), 0, atol=1e-12)
    np.testing.assert_allclose(repaired.transform(K), repaired.matrix, atol=1e-11)


# -- the record -------------------------------------------------------------------------------------------------------


def test_it_is_the_matrix_for_numpy():
    repaired = repair(similarities(5))
    assert np.asarray(repaired) is repaired.matrix
    assert not np.shares_memory(np.array(repaired), repaired.matrix)
    assert np.asarray(repaired, dtype=np.float32).dtype == np.float32
    assert repaired.__array__(copy=False) is repaired.matrix
    assert not np.shares_memory(repaired.__array__(copy=True), repaired.matrix)
    with pytest.raises(ValueError, match="cannot become float32 without a copy"):
        repaired.__array__(np.float32, copy=False)
    assert (len(repaired), repaired.shape, repaired.dtype) == (5, (5, 5), np.float64)
    np.testing.assert_allclose(repair(repaired).matrix, repaired.matrix, atol=1e-15)
    assert repair(repaired).removed == 0.0


def test_scikit_learn_takes_it_and_splits_it():
    X = draw(30, 2)
    K, y = -np.abs(X[:, None] - X).sum(axis=2) + 2, X[:, 0]
    model, repaired = KernelRidge(kernel="precomputed", alpha=0.1), repair(K)
    assert repaired.removed > 0
    wanted = cross_val_score(model, repaired.matrix, y, cv=3)
    assert np.array_equal(cross_val_score(model, repaired, y, cv=3), wanted)


@pytest.mark.parametrize(("how", "n", "copies"), [("clip", 250, 4), ("flip", 250, 4), ("shift", 400, 2)])
def test_what_it_holds(how, n, copies):
    K = similarities(n)
    tracemalloc.start()
    try:
        repair(K, how)
        held = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert held <= (copies + 0.2) * K.nbytes


def test_it_is_frozen():
    repaired = repair(similarities(5))
    with pytest.raises(FrozenInstanceError):
        repaired.removed = 0.0
    with pytest.raises(ValueError, match="read-only"):
        repaired.matrix[0, 0] = 1.0


def test_it_can_be_copied_and_pickled():
    repaired = repair(similarities(5))
    rows = draw(2, 5, seed=3)
    for other in (pickle.loads(pickle.dumps(repaired)), copy.deepcopy(repaired)):  # noqa: S301
        assert isinstance(other, Repaired)
        assert np.array_equal(other.transform(rows), repaired.transform(rows))
        assert str(other) == str(repaired)


def test_what_is_said():
    K = np.array([[1.0, 2.0], [2.0, 1.0]])  # eigenvalues 3 and -1
    assert str(repair(K)) == (
        "clip set the negative eigenvalues, down to -1, to 0; the negative ones were 25 % of the sum of |eigenvalues|."
    )
    assert str(repair(K, "flip")).startswith("flip made the negative eigenvalues, down to -1, positive; ")
    assert str(repair(K, "shift")).startswith("shift added 1 to the diagonal, since the eigenvalues went down to -1; ")
    assert str(repair(np.eye(2))) == "Nothing to repair: the smallest eigenvalue, 1, is not negative beyond rounding."
    assert repr(repair(K)) == "Repaired(2 x 2, clip, removed=0.25, smallest=-1, float64)"


def test_whole_numbers_and_lists():
    repaired = repair([[0, 1], [1, 0]])
    assert repaired.matrix.dtype == np.float64
    np.testing.assert_allclose(repaired.matrix, [[0.5, 0.5], [0.5, 0.5]], rtol=1e-15)
    assert repair(np.array([[0, 1], [1, 0]], dtype=np.float16)).matrix.dtype == np.float32


def test_rounding_of_symmetry_is_averaged():
    K = similarities(12)
    K[2, 5] *= 1 + 1e-15
    assert not np.array_equal(K, K.T)
    np.testing.assert_allclose(repair(K).matrix, repair((K + K.T) / 2).matrix, atol=1e-14)


# -- what is refused --------------------------------------------------------------------------------------------------


def test_bad_matrices_are_named():
    with pytest.raises(InputError, match=r"^repair needs a symmetric matrix; K\[0, 1\] is 2.0.*\(K \+ K\.T\) / 2"):
        repair([[1.0, 2.0], [1.0, 1.0]])
    with pytest.raises(InputError, match=r"^repair needs as many rows as columns.*2 rows and 3 columns"):
        repair(np.ones((2, 3)))
    with pytest.raises(InputError, match=r"^repair needs finite numbers; row 0, column 1 holds nan"):
        repair([[1.0, np.nan], [np.nan, 1.0]])
    with pytest.raises(InputError, match=r"^repair needs how to be .clip., .shift. or .flip.; got 'spin'"):
        repair(np.eye(2), how="spin")


def test_bad_rows_are_named():
    repaired = repair(similarities(5))
    for rows in (np.ones((2, 4)), np.ones(6), 3.0, np.ones((1, 1, 5))):
        with pytest.raises(InputError, match="transform needs rows of 5 numbers, the similarities with the training"):
            repaired.transform(rows)
    with pytest.raises(InputError, match="needs finite numbers; row 1, column 3 holds inf"):
        repaired.transform([[1.0] * 5, [1.0, 1.0, 1.0, np.inf, 1.0]])
    with pytest.raises(InputError, match="needs real numbers; got an array of complex128"):
        repaired.transform(np.ones((1, 5)) * 1j)
