"""Long calls of LAPACK and BLAS that do not keep the keyboard waiting.

SciPy's wrappers hold Python's lock while they compute, so that no other thread runs and no Ctrl-C comes through. Here
the same routines are called by their addresses, which `scipy.linalg.cython_blas` and `cython_lapack` give to everybody:
the lock is free meanwhile, memory is used in place, and a block of a larger matrix is no copy.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cython_blas, cython_lapack

from mercer.compute.codegen.tiles import mirror
from mercer.compute.runtime.threads import WATCH_SECONDS
from mercer.errors import MercerError, message

T = TypeVar("T")
Array = NDArray[np.float64]

MAX_CALL_OPERATIONS = 4e9
"""Floating-point operations of one call on the main thread, about: a tenth of a second on two slow cores."""
_NUMBERS = {"d": ctypes.c_double, "s": ctypes.c_float, "int": ctypes.c_int, "int64_t": ctypes.c_int64}
"""What LAPACK takes, by its name in a signature: it counts in 64 bits in builds of SciPy for very large matrices."""


class Routine:
    """A routine of BLAS or LAPACK by its address: text, integers, floats and arrays go in as Fortran wants them.

    name : in lower case, as `dgemm`
    address : where its code is
    kinds : of the arguments: "char", "int" or "int64_t", or "d" and "s" for numbers of float64 and float32, one or many
    """

    def __init__(self, name: str, address: int, kinds: tuple[str, ...]) -> None:
        self.name = name
        self.kinds = kinds
        self._call = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(kinds))(address)

    @property
    def integer(self) -> Any:
        """The dtype of its integers."""
        return np.int64 if "int64_t" in self.kinds else np.intc

    def __call__(self, *arguments: Any) -> None:
        """Compute, in the arrays that were given; Python's lock is free meanwhile."""
        held = [_held(kind, value) for kind, value in zip(self.kinds, arguments, strict=True)]
        self._call(*[_address(value) for value in held])

    def checked(self, *arguments: Any) -> int:
        """Compute, with the number that LAPACK returns as one more argument; an error where an argument is illegal."""
        info = np.zeros(1, dtype=self.integer)
        self(*arguments, info)
        if info[0] < 0:
            got = f"{self.name} returned {info[0]}"
            raise MercerError(message("legal arguments", got, "This is a defect: please report it.", subject="LAPACK"))
        return int(info[0])


@cache
def routine(name: str) -> Routine | None:
    """The routine of a name; None where this SciPy gives it in a way that is not known here."""
    for module in (cython_blas, cython_lapack):
        capsule = getattr(module, "__pyx_capi__", {}).get(name)
        if capsule is not None:
            signature = _name_of(capsule)
            kinds = tuple(_kind(part) for part in signature.partition(b"(")[2].rstrip(b")").split(b","))
            known = signature.startswith(b"void ") and all(kind in ("char", *_NUMBERS) for kind in kinds)
            return Routine(name, _pointer_of(capsule, signature), kinds) if known else None
    return None


def patiently(work: Callable[[], T]) -> T:
    """What a function returns, from a thread of its own, while this one can be interrupted at any time.

    For one long call of native code that frees Python's lock. After an interruption (Ctrl-C) that thread goes on until
    the call returns, and holds the memory that it works on so long; nobody waits for it, not even the end of Python.
    """
    found: list[T] = []
    failed: list[BaseException] = []

    def serve() -> None:
        try:
            found.append(work())
        except BaseException as error:  # noqa: BLE001  # it is raised where the result is awaited
            failed.append(error)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(WATCH_SECONDS)
    if failed:
        raise failed[0]
    return found[0]


def subtract_product(C: Array, A: Array, B: Array) -> None:
    """C -= A B' in place, where the numbers of a row of each stand side by side; rows may be apart."""
    gemm = routine("dgemm")
    if gemm is None:
        C -= A @ B.T
    elif A.shape[1] and C.size:  # seen by columns, as Fortran does, this is C' -= B A'
        (n, m), k = C.shape, A.shape[1]
        gemm("T", "N", m, n, k, -1.0, B, _step(B), A, _step(A), 1.0, C, _step(C))


def add_squares(C: Array, A: Array) -> None:
    """C += A'A in place, on and below the diagonal alone, where the numbers of a row of each stand side by side."""
    syrk = routine("dsyrk")
    if syrk is None:
        C += A.T @ A
    elif A.shape[0] and C.size:  # seen by columns, this is the upper triangle of C' += A' A, and A' stands there
        syrk("U", "N", C.shape[0], A.shape[0], 1.0, A, _step(A), 1.0, C, _step(C))


def squares_of(A: Array) -> Array:
    """A'A, both halves, for rows of float64, by calls so short that Ctrl-C comes through between them."""
    n, p = A.shape
    C = np.zeros((p, p))
    step = max(1, int(MAX_CALL_OPERATIONS / max(1.0, float(p) ** 2)))
    for start in range(0, n, step):
        add_squares(C, A[start : start + step])
    mirror(C)
    return C


def divide_by_triangle(C: Array, lower: Array) -> None:
    """C <- C L'^-1 in place for a lower triangular L, where the numbers of a row of each stand side by side."""
    trsm = routine("dtrsm")
    if trsm is None:
        C[:] = np.linalg.solve(np.tril(lower), C.T).T
    elif C.size:  # L is the upper triangle of what Fortran sees, and C' <- L^-1 C'
        n, m = C.shape
        trsm("L", "U", "T", "N", m, n, 1.0, lower, _step(lower), C, _step(C))


def _step(M: Array) -> int:
    """The distance between rows, in numbers; an error where it is not as Fortran can see it."""
    apart, beside = M.strides
    if M.dtype != np.float64 or (beside != 8 and M.shape[1] > 1) or apart % 8 or not M.flags.aligned:
        got = f"got an array of {M.dtype} with strides {M.strides}"
        raise MercerError(message("rows of float64", got, "This is a defect: please report it.", subject="BLAS"))
    return max(int(apart) // 8, int(M.shape[1]), 1)


def _held(kind: str, value: Any) -> Any:
    """An argument in memory, as Fortran takes it."""
    if isinstance(value, np.ndarray):
        return value
    if kind == "char":
        return ctypes.c_char(value.encode())
    return _NUMBERS[kind](value)


def _address(value: Any) -> int:
    return int(value.ctypes.data) if isinstance(value, np.ndarray) else ctypes.addressof(value)


def _kind(part: bytes) -> str:
    """The type of an argument in a signature: "int *" is "int", and "..._cython_blas_d *" is "d"."""
    text = part.decode().replace("*", "").strip()
    for letter, name in (("d", "double"), ("s", "float")):
        if text == name or text.endswith((f"cython_blas_{letter}", f"cython_lapack_{letter}")):
            return letter
    return text


def _name_of(capsule: Any) -> bytes:
    """The name of a capsule: the signature of what it points to."""
    name = ctypes.pythonapi.PyCapsule_GetName
    name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    return bytes(name(capsule))


def _pointer_of(capsule: Any, name: bytes) -> int:
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return int(pointer(capsule, name))
