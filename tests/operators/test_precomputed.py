"""What a precomputed matrix must be: refusals one by one, symmetry to rounding, and eigenvalues against NumPy."""

import os
import re
import signal
import threading
import time
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

from mercer.compute.runtime.lapack import patiently
from mercer.errors import InputError, NumericalWarning, speaking
from mercer.kernels import Gaussian
from mercer.operators import Gram, precomputed
from mercer.operators.precomputed import (
    check_precomputed,
    check_semidefinite,
    is_indefinite_by_cholesky,
    least_largest,
    made_semidefinite,
    negligible,
    refuse_indefinite,
)


@pytest.fixture(autouse=True)
def _learner():
    """Whoever checks says its name."""
    with speaking("KernelRidge"):
        yield


SCALES = [(dtype, scale) for dtype in (np.float32, np.float64) for scale in (1e-20, 1.0, 1e20)]
SCALES += [(np.float64, 1e-200), (np.float64, 1e300)]


def draw(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def gaussian(n, lengthscale=1.0, seed=0):
    X = draw(n, 3, seed=seed)
    return np.exp(-cdist(X, X, "sqeuclidean") / (2 * lengthscale**2))


def with_eigenvalues(values, seed=0):
    Q = np.linalg.qr(draw(len(values), len(values), seed=seed))[0]
    K = (Q * values) @ Q.T
    return (K + K.T) / 2


# -- what is refused --------------------------------------------------------------------------------------------------


def changed(entries, start=((2.0, 0.5, 0.1), (0.5, 3.0, 0.2), (0.1, 0.2, 4.0))):
    K = np.array(start)
    for at, value in entries.items():
        K[at] = value
    return K


REFUSED = {
    "a vector": (np.ones(3), "a matrix of n rows and n columns; got shape (3,)"),
    "a number": (2.0, "a matrix of n rows and n columns; got shape ()"),
    "three dimensions": (np.ones((2, 2, 2)), "got shape (2, 2, 2)"),
    "more rows": (np.ones((5, 3)), "as many rows as columns: the similarities of all pairs; got 5 rows and 3 columns"),
    "no rows": (np.ones((0, 3)), "got 0 rows and 3 columns"),
    "empty": (np.ones((0, 0)), "at least one row; got an empty matrix"),
    "ragged": ([[1.0, 2.0], [1.0]], "rows of equal length"),
    "complex": (np.eye(2) * 1j, "real numbers; got an array of complex128"),
    "text": (np.array([["a", "b"], ["b", "a"]]), "real numbers; got an array of <U1"),
    "objects": (np.array([[1, None], [None, 1]], dtype=object), "real numbers; got an array of object"),
    "sparse": (sparse.csr_array(np.eye(2)), "a dense matrix; got a sparse csr_array. Use K.toarray()."),
    "an operator": (Gram(Gaussian(), np.ones((2, 1))), "a stored matrix; got Gram(2 x 2"),
    "missing": (np.ma.masked_array(np.eye(2), np.eye(2)), "all similarities; got a masked array with missing entries"),
    "nan": (changed({(1, 2): np.nan, (2, 1): np.nan}), "finite numbers; row 1, column 2 holds nan"),
    "infinity": (changed({(2, 0): -np.inf}), "finite numbers; row 2, column 0 holds -inf"),
    "beyond float64": (np.array([["1e4000"]], dtype=np.longdouble), "row 0, column 0 holds 1e+4000"),
    "asymmetric": (
        changed({(2, 0): 0.3}),
        "a symmetric matrix; K[0, 2] is 0.1 and K[2, 0] is 0.3, which differ by 0.05 of the largest entry. "
        "Use (K + K.T) / 2",
    ),
    "antisymmetric": (changed({(0, 1): 1.7e308, (1, 0): -1.7e308}), "which differ by 2 of the largest entry"),
    "asymmetric bytes": (np.array([[9, 1], [2, 9]], dtype=np.uint8), "K[0, 1] is 1 and K[1, 0] is 2"),
    "negative diagonal": (changed({(1, 1): -0.7}), "a diagonal without negative numbers; K[1, 1] is -0.7"),
    "negative and tiny": (1e-20 * changed({(1, 1): -0.5}), "a diagonal without negative numbers; K[1, 1] is -5e-21"),
    "single": (changed({(0, 1): 0.7}).astype(np.float32), "K[0, 1] is 0.7 and K[1, 0] is 0.5, which differ by 0.05 of"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_matrices_are_named(name):
    K, message = REFUSED[name]
    if name == "beyond float64" and np.isinf(K).any():
        pytest.skip("long doubles are doubles here")
    with pytest.raises(InputError, match="^KernelRidge needs .*" + re.escape(message)):
        check_precomputed(K)


def test_the_widest_gap_and_the_first_bad_entry_are_found_in_any_tile():
    K = gaussian(500)
    K[20, 410] += 0.5
    K[300, 4] -= 0.75
    with pytest.raises(InputError, match=r"K\[4, 300\] is .* and K\[300, 4\] is .*differ by 0\.75 of"):
        check_precomputed(K)
    K[499, 7], K[480, 490] = np.nan, np.inf
    with pytest.raises(InputError, match="row 480, column 490 holds inf"):
        check_precomputed(K)


# -- what is returned -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 181, 182, 400])
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_symmetric_matrix_is_copied_to_the_bit(n, order):
    K = np.asarray(gaussian(n), order=order)
    K.flags.writeable = False
    copy = check_precomputed(K)
    assert np.array_equal(copy, K)
    assert copy.flags.writeable
    assert not np.shares_memory(copy, K)


@pytest.mark.parametrize(("dtype", "scale"), SCALES)
def test_rounding_is_averaged_and_more_is_refused(dtype, scale):
    rounding = 100 * np.finfo(dtype).eps
    exact = scale * gaussian(400)
    noise = np.triu(np.random.default_rng(1).uniform(-1, 1, size=(400, 400)), 1)
    K = (exact + 0.9 * rounding * scale * noise).astype(dtype)
    result = check_precomputed(K)
    assert result.dtype == np.float64
    assert np.array_equal(result, result.T)
    wide = K.astype(np.float64)
    np.testing.assert_allclose(result, (wide + wide.T) / 2, rtol=1e-15)
    K[3, 390] = K[390, 3] + 2 * rounding * scale
    with pytest.raises(InputError, match=r"K\[3, 390\]"):
        check_precomputed(K)


def test_anything_that_holds_numbers_is_read():
    wanted = np.array([[2.0, 1.0], [1.0, 3.0]])
    for K in (wanted.tolist(), wanted.astype(int), wanted.astype(np.uint8), wanted.astype(np.float16)):
        assert np.array_equal(check_precomputed(K), wanted)
    assert np.array_equal(check_precomputed(pd.DataFrame(wanted, columns=["a", "b"])), wanted)
    assert np.array_equal(check_precomputed(np.eye(2, dtype=bool)), np.eye(2))
    assert np.array_equal(check_precomputed(np.ma.masked_array(wanted, False)), wanted)


def test_a_diagonal_below_zero_by_rounding_alone_is_no_error():
    centred = gaussian(30) - gaussian(30).mean(axis=0)
    K = centred @ centred.T
    K[0] = K[:, 0] = 0
    K[0, 0] = -1e-15
    assert check_precomputed(K)[0, 0] == -1e-15


def held_at_peak(action):
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_the_checks_hold_little_more_than_a_copy():
    K = gaussian(1200)
    assert held_at_peak(lambda: check_precomputed(K)) <= 1.1 * K.nbytes
    part = K[:400, :400].copy()
    assert held_at_peak(lambda: check_semidefinite(part)) <= 1.1 * part.nbytes


# -- eigenvalues ------------------------------------------------------------------------------------------------------


def test_what_is_negligible():
    assert negligible(50, 3.0) == pytest.approx(50 * 10 * 2.0**-52 * 3)
    assert negligible(50, 3.0, np.float32) == pytest.approx(50 * 10 * 2.0**-23 * 3)
    assert negligible(50, 3.0, int) == negligible(50, 3.0, np.longdouble) == negligible(50, 3.0)
    assert negligible(50, -3.0) == 0


def test_indefinite_matrices_are_named():
    K = with_eigenvalues(np.array([-0.3, 1.0, 12.0]))
    message = (
        r"^KernelRidge needs a positive semi-def.*smallest eigenvalue -0\.3, largest 12\. mercer\.repair\(K\) makes"
    )
    with pytest.raises(InputError, match=message):
        refuse_indefinite(K, -0.3, 12.0)
    with pytest.raises(InputError, match=message):
        check_semidefinite(K)
    with pytest.raises(InputError, match="smallest eigenvalue -2, largest -1"):
        check_semidefinite(-np.diag([1.0, 2.0]))


def test_long_calls_can_be_interrupted(monkeypatch):
    """They have a thread of their own, and judge the same; an error of theirs is that of the caller."""
    waited = []
    monkeypatch.setattr(precomputed, "MAX_CALL_OPERATIONS", 0.0)
    monkeypatch.setattr(precomputed, "patiently", lambda work: waited.append(work.func.__name__) or patiently(work))
    check_semidefinite(check_precomputed(Gaussian()(draw(40, 3))))
    assert waited == ["checked"]
    with pytest.raises(InputError, match=r"smallest eigenvalue -0\.3, largest 12"):
        check_semidefinite(with_eigenvalues(np.array([-0.3, 1.0, 12.0])))
    assert waited == ["checked", "checked", "eigvalsh"]
    lifted = with_eigenvalues(np.array([-1e-6, 1.0, 2.0]))
    with pytest.warns(NumericalWarning, match="slightly indefinite"):
        assert 0.9e-6 < made_semidefinite(lifted) < 1.1e-6


def test_ctrl_c_comes_through_while_eigenvalues_are_computed(monkeypatch):
    entered, go = threading.Event(), threading.Event()
    monkeypatch.setattr(precomputed, "MAX_CALL_OPERATIONS", 0.0)
    monkeypatch.setattr(np.linalg, "eigvalsh", lambda K: entered.set() or go.wait(60))

    def press():
        entered.wait(60)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=press, daemon=True).start()
    start = time.perf_counter()
    try:
        with pytest.raises(KeyboardInterrupt):
            check_semidefinite(-np.eye(3))
    finally:
        go.set()
    assert time.perf_counter() - start < 30  # not the minute that the call takes


def test_distances_are_suspected():
    with pytest.raises(InputError, match="Or are these distances D"):
        check_semidefinite(cdist(draw(6, 2), draw(6, 2)))
    with pytest.raises(InputError) as caught:
        check_semidefinite(with_eigenvalues(np.array([-1.0, 1.0, 2.0])))
    assert "distances" not in str(caught.value)


def test_the_line_between_rounding_and_indefinite():
    n, largest = 20, 7.0
    K = largest * np.eye(n)
    for dtype in (np.float32, np.float64):
        line = -negligible(n, largest, dtype)
        refuse_indefinite(K, line, largest, dtype)
        refuse_indefinite(K.astype(dtype), line, largest)
        with pytest.raises(InputError, match="indefinite"):
            refuse_indefinite(K, 1.01 * line, largest, dtype)
        with pytest.raises(InputError, match="indefinite"):
            refuse_indefinite(K.astype(dtype), 1.01 * line, largest)


SEMIDEFINITE = {
    "ones": np.ones((60, 60)),
    "zeros": np.zeros((4, 4)),
    "identity": np.eye(5),
    "low rank": draw(80, 3) @ draw(80, 3).T,
    "smooth": gaussian(150, lengthscale=30.0),  # 150 eigenvalues, nearly all below rounding
    "duplicates": gaussian(40)[np.ix_([*range(40)] * 3, [*range(40)] * 3)],
    "graded": np.diag(10.0 ** -np.arange(0, 300, 10)),
    "one": np.array([[3.0]]),
}


@pytest.mark.parametrize("scale", [1e-200, 1e-20, 1.0, 1e20, 1e200])
@pytest.mark.parametrize("name", SEMIDEFINITE)
def test_semidefinite_matrices_pass_at_every_scale(name, scale):
    K = check_precomputed(scale * SEMIDEFINITE[name])
    assert not is_indefinite_by_cholesky(K)
    check_semidefinite(K)


@pytest.mark.parametrize("name", SEMIDEFINITE)
def test_semidefinite_matrices_in_float32_pass_by_their_own_rounding(name):
    K = SEMIDEFINITE[name].astype(np.float32)
    K.flags.writeable = False
    wide = check_precomputed(K)
    assert not is_indefinite_by_cholesky(K)
    assert not is_indefinite_by_cholesky(wide, np.float32)
    check_semidefinite(wide, np.float32)


def test_rounding_to_float32_is_indefinite_by_the_rounding_of_float64():
    rounded = gaussian(150, lengthscale=30.0).astype(np.float32).astype(np.float64)
    assert np.linalg.eigvalsh(rounded)[0] < -negligible(150, 150.0)
    assert is_indefinite_by_cholesky(rounded)
    assert not is_indefinite_by_cholesky(rounded, np.float32)


@pytest.mark.parametrize("scale", [1e-200, 1e-20, 1.0, 1e20, 1e200])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("share", [-1.0, -1e-3, -1e-9])
def test_indefinite_matrices_are_found_at_every_scale(share, order, scale):
    n = 60
    values = np.r_[share, np.geomspace(1e-3, 1.0, n - 1)]
    K = np.asarray(scale * with_eigenvalues(values), order=order)
    before = K.copy()
    assert is_indefinite_by_cholesky(K)
    with pytest.raises(InputError, match=re.escape(f"smallest eigenvalue {share * scale:.3g}, largest {scale:.3g}")):
        check_semidefinite(K)
    assert np.array_equal(K, before)


def test_the_two_tests_agree():
    """Where Cholesky passes a matrix, its eigenvalues do so too; they have the last word where it fails."""
    n, shares = 40, [-100.0, -10.0, -2.0, -0.5, 0.0, 1.0]
    verdicts = []
    for seed, share in enumerate(shares * 4):
        K = with_eigenvalues(np.r_[share * negligible(n, 1.0), np.geomspace(1e-6, 1.0, n - 1)], seed=seed)
        values = np.linalg.eigvalsh(K)
        truly = values[0] < -negligible(n, values[-1])
        assert is_indefinite_by_cholesky(K) or not truly
        if truly:
            with pytest.raises(InputError, match="indefinite"):
                check_semidefinite(K)
        else:
            check_semidefinite(K)
        verdicts.append(truly)
    assert sum(verdicts) == 12


@pytest.mark.parametrize("name", SEMIDEFINITE)
def test_the_bound_of_the_largest_eigenvalue(name):
    K = SEMIDEFINITE[name]
    largest = np.linalg.eigvalsh(K)[-1]
    assert largest / len(K) * (1 - 1e-12) <= least_largest(K) <= largest * (1 + 1e-12)
    assert least_largest(1e300 * K / max(1.0, largest)) <= 1e300 * (1 + 1e-12)


def test_the_bound_of_an_indefinite_matrix_is_at_most_its_norm():
    for K in (np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([[1e-20, 1.0], [1.0, 1e-20]]), -np.eye(3)):
        assert 0 < least_largest(K) <= np.linalg.norm(K) * (1 + 1e-12)
        assert is_indefinite_by_cholesky(K)
