"""Calls of LAPACK and BLAS by address, against NumPy; and a long call that can be interrupted."""

import ctypes
import signal
import threading

import numpy as np
import pytest

from mercer.compute.runtime import lapack
from mercer.compute.runtime.lapack import (
    Routine,
    add_squares,
    divide_by_triangle,
    patiently,
    routine,
    squares_of,
    subtract_product,
)
from mercer.errors import MercerError


def draw(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


@pytest.fixture(params=["by address", "by NumPy"])
def way(request, monkeypatch):
    """Both ways to compute: the second is for builds of SciPy that are not known."""
    if request.param == "by NumPy":
        monkeypatch.setattr(lapack, "routine", lambda name: None)


@pytest.mark.parametrize(("n", "m", "k"), [(1, 1, 1), (7, 3, 5), (3, 7, 1), (1, 4, 2), (4, 1, 2), (5, 3, 0), (0, 3, 2)])
def test_a_product_is_subtracted_in_place(n, m, k, way):
    wide = draw(n, m + 4)
    before, A, B = wide.copy(), draw(n, k + 3, seed=1)[:, 1 : k + 1], draw(m, k, seed=2)
    subtract_product(wide[:, 2 : m + 2], A, B)
    np.testing.assert_allclose(wide[:, 2 : m + 2], before[:, 2 : m + 2] - A @ B.T, rtol=1e-13, atol=1e-13)
    np.testing.assert_array_equal(wide[:, :2], before[:, :2])
    np.testing.assert_array_equal(wide[:, m + 2 :], before[:, m + 2 :])


@pytest.mark.parametrize(("n", "m"), [(1, 1), (5, 3), (3, 5), (1, 4), (4, 1), (0, 3)])
def test_squares_are_added_below_the_diagonal(n, m, way):
    wide, A = draw(m + 2, m + 2), draw(n, m + 1, seed=1)[:, :m]
    before = wide.copy()
    add_squares(wide[:m, :m], A)
    np.testing.assert_allclose(np.tril(wide[:m, :m]), np.tril(before[:m, :m] + A.T @ A), rtol=1e-13, atol=1e-13)
    np.testing.assert_array_equal(wide[m:], before[m:])
    np.testing.assert_array_equal(wide[:, m:], before[:, m:])


@pytest.mark.parametrize("call", [1.0, 300.0, 4e9])
@pytest.mark.parametrize(("n", "m"), [(1, 1), (60, 7), (3, 20), (0, 2)])
def test_squares_are_whole_and_symmetric_however_short_the_calls(n, m, call, way, monkeypatch):
    monkeypatch.setattr(lapack, "MAX_CALL_OPERATIONS", call)
    A = draw(n, m)
    found = squares_of(A)
    np.testing.assert_allclose(found, A.T @ A, rtol=1e-13, atol=1e-13)
    np.testing.assert_array_equal(found, found.T)


def test_no_call_for_squares_is_longer_than_a_keyboard_waits(monkeypatch):
    rows = []
    monkeypatch.setattr(lapack, "MAX_CALL_OPERATIONS", 300.0)
    monkeypatch.setattr(lapack, "add_squares", lambda C, A: rows.append(len(A)))
    squares_of(draw(60, 7))
    assert sum(rows) == 60
    assert max(rows) * 7**2 <= 300


@pytest.mark.parametrize(("n", "m"), [(1, 1), (6, 4), (1, 5), (5, 1), (0, 2)])
def test_rows_are_divided_by_a_triangle_in_place(n, m, way):
    wide, lower = draw(n, m + 1), np.tril(draw(m, m, seed=1)) + 3 * np.eye(m)
    before = wide.copy()
    divide_by_triangle(wide[:, :m], lower + np.triu(np.full((m, m), np.nan), 1) if way else lower)
    np.testing.assert_allclose(wide[:, :m] @ lower.T, before[:, :m], rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(wide[:, m], before[:, m])


@pytest.mark.parametrize(
    "make", [np.asfortranarray, lambda A: A.astype(np.float32), lambda A: A[:, ::2], lambda A: A[:, ::-1]]
)
def test_memory_that_fortran_cannot_see_is_refused(make):
    A = make(draw(4, 6))
    with pytest.raises(MercerError, match="BLAS needs rows of float64"):
        subtract_product(np.zeros((4, 4)), A, A)


def test_a_routine_that_refuses_its_arguments_is_told():
    potrf = routine("dpotrf")
    A = np.asfortranarray(np.diag([4.0, 9.0]))
    assert potrf.checked("L", 2, A, 2) == 0
    np.testing.assert_allclose(A, np.diag([2.0, 3.0]))
    assert potrf.checked("L", 2, np.asfortranarray(np.diag([4.0, -9.0])), 2) == 2
    with pytest.raises(MercerError, match="LAPACK needs legal arguments; dpotrf returned -4"):
        potrf.checked("L", 2, A, 1)


def test_arguments_must_be_as_many_as_there_are():
    with pytest.raises(ValueError, match="shorter"):
        routine("dpotrf")("L", 2)


class Module:
    """In the place of SciPy's, with one routine of another signature."""

    def __init__(self, signature):
        self.__pyx_capi__ = {"dgemm": signature}


@pytest.mark.parametrize(
    ("signature", "kinds"),
    [
        (b"void (char *, int *, __pyx_t_5scipy_6linalg_11cython_blas_d *)", ("char", "int", "d")),
        (b"void (char *, int64_t *, double *)", ("char", "int64_t", "d")),
        (b"void (int *, __pyx_t_5scipy_6linalg_13cython_lapack_s *, float *)", ("int", "s", "s")),
        (b"void (char *, blas_int *, double *)", None),
        (b"void (char *, int *, long double *)", None),
        (b"int (char *, int *, double *)", None),
        (b"void (char *, int *, __pyx_t_float_complex *)", None),
    ],
)
def test_signatures_are_read(signature, kinds, monkeypatch):
    """Numbers of another size in a call by address would be wrong in silence."""
    monkeypatch.setattr(lapack, "cython_blas", Module(signature))
    monkeypatch.setattr(lapack, "_name_of", lambda capsule: capsule)
    monkeypatch.setattr(lapack, "_pointer_of", lambda capsule, name: 1)
    found = lapack.routine.__wrapped__("dgemm")
    assert (None if found is None else found.kinds) == kinds
    if kinds is not None:
        assert found.integer == (np.int64 if "int64_t" in kinds else np.intc)


def test_what_scipy_has_not_is_none():
    assert routine("dnothing") is None
    assert isinstance(routine("dsyevd"), Routine)


# -- patience ---------------------------------------------------------------------------------------------------------


def test_results_and_errors_come_back():
    assert patiently(lambda: threading.current_thread() is threading.main_thread()) is False
    with pytest.raises(ZeroDivisionError):
        patiently(lambda: 1 / 0)


@pytest.fixture
def heard():
    """Ctrl-C raises, also where whoever started the tests has it ignored, as shells do in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_the_keyboard_is_heard_while_native_code_works(heard):
    n = 300
    A = np.asfortranarray(draw(n, n))
    gemm, C, begun, over = routine("dgemm"), np.zeros((n, n), order="F"), threading.Event(), threading.Event()

    def work():
        begun.set()
        while not over.is_set():
            gemm("N", "N", n, n, n, 1.0, A, n, A, n, 0.0, C, n)

    def strike():
        begun.wait()
        signal.raise_signal(signal.SIGINT)

    threads, striker = threading.active_count(), threading.Thread(target=strike)
    striker.start()
    with pytest.raises(KeyboardInterrupt):
        patiently(work)
    striker.join()
    assert threading.active_count() == threads + 1  # it came while the work went on
    over.set()


def test_the_lock_is_free_during_a_call():
    """`CFUNCTYPE` frees it, `PYFUNCTYPE` does not: the flag tells them apart."""
    holds = ctypes.PYFUNCTYPE(None)._flags_ & ~ctypes.CFUNCTYPE(None)._flags_
    assert holds
    assert not routine("dgemm")._call._flags_ & holds
