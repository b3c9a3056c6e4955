"""Sums of waves at points anywhere, on a grid of whole frequencies: non-uniform Fourier transforms.

With angles t_i of d columns and whole j in a box, `sums` gives F_j = sum_i c_i exp(i j.t_i) for all j, and `values`
gives f_i = sum_j F_j exp(i j.t_i) for all i. FINUFFT does both in about n + M log M operations, to any number of
digits. Without it both are products of matrices, one column's waves after the other's: 8 n M operations of BLAS.

References
----------
Barnett, Magland and af Klinteberg, A parallel nonuniform fast Fourier transform library based on an "exponential of
semicircle" kernel, SIAM Journal on Scientific Computing 41 (2019).
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.compute.runtime import threads

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]
SUMS_DIGITS, VALUES_DIGITS = 1e-14, 1e-11
"""Relative errors: of sums, whose squares are solved with, and of values."""
WAVE_NUMBERS = 1 << 20
"""Numbers in a block of waves without FINUFFT: 16 MB."""
REMEDY = 'pip install "mercer[grid]"'
"""What to install."""


@cache
def is_fast() -> bool:
    """Whether FINUFFT is installed."""
    return find_spec("finufft") is not None


def sums(angles: Array, strengths: Complex, shape: tuple[int, ...]) -> Complex:
    """F_j of each row of strengths, for j from -(N - 1) / 2 to (N - 1) / 2 in each column.

    One thread computes it: the same bits whatever else runs.

    angles : (n, d), of any size; best from -pi to pi
    strengths : (k, n)
    shape : N of each column, odd
    """
    if not is_fast():
        return _plain_sums(angles, strengths, shape)
    found = _transform(angles.shape[1], 1)(
        *angles.T.copy(), np.ascontiguousarray(strengths), shape, eps=SUMS_DIGITS, isign=1, nthreads=1
    )
    return np.asarray(found).reshape(len(strengths), *shape)


def values(angles: Array, coefficients: Complex, digits: float = VALUES_DIGITS) -> Complex:
    """f_i of each box of coefficients, (k, n).

    coefficients : (k, *shape), of odd shape
    """
    if not is_fast():
        return _plain_values(angles, coefficients)
    found = _transform(angles.shape[1], 2)(
        *angles.T.copy(), np.ascontiguousarray(coefficients), eps=digits, isign=1, nthreads=threads.available()
    )
    return np.asarray(found).reshape(len(coefficients), len(angles))


def _transform(d: int, kind: int) -> Any:
    return getattr(import_module("finufft"), f"nufft{d}d{kind}")  # where it is installed


# -- without FINUFFT --------------------------------------------------------------------------------------------------


def _plain_sums(angles: Array, strengths: Complex, shape: tuple[int, ...]) -> Complex:
    first, rest = shape[0], int(np.prod(shape[1:]))
    found = np.zeros((len(strengths), first, rest), complex)
    for part in _blocks(len(angles), first + rest):
        left, right = _waves(angles[part, :1], shape[:1]), _waves(angles[part, 1:], shape[1:])
        for k, c in enumerate(strengths[:, part]):
            found[k] += (left * c[:, None]).T @ right
    return found.reshape(len(strengths), *shape)


def _plain_values(angles: Array, coefficients: Complex) -> Complex:
    shape, count = coefficients.shape[1:], len(coefficients)
    first, rest = shape[0], int(np.prod(shape[1:]))
    found = np.empty((count, len(angles)), complex)
    for part in _blocks(len(angles), first + rest):
        left, right = _waves(angles[part, :1], shape[:1]), _waves(angles[part, 1:], shape[1:])
        for k in range(count):
            found[k, part] = np.einsum("ij,ij->i", left @ coefficients[k].reshape(first, rest), right)
    return found


def _waves(angles: Array, shape: tuple[int, ...]) -> Complex:
    """(rows, product of shape): exp(i j.t) for all j of some columns; ones where there are no columns."""
    found = np.ones((len(angles), 1), complex)
    for t, n in zip(angles.T, shape, strict=True):
        half = np.exp(1j * np.outer(t, np.arange(n // 2 + 1)))
        own = np.concatenate([half[:, :0:-1].conj(), half], axis=1)
        found = (found[:, :, None] * own[:, None, :]).reshape(len(angles), -1)
    return found


def _blocks(count: int, width: int) -> list[slice]:
    step = max(1, WAVE_NUMBERS // width)
    return [slice(start, start + step) for start in range(0, count, step)]
