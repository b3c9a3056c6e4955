"""Small positive definite systems that may be singular to rounding: then nothing can be told."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

Array = NDArray[np.float64]


def solved(M: Array, right: Array, unit: float) -> Array:
    """M^-1 right for a positive definite M, which is used up; inf where M is singular to rounding.

    M : (f, f), symmetric
    right : (f, outputs)
    unit : the least reciprocal condition number (in the 1-norm) that is more than rounding

    >>> solved(np.array([[2.0, 0.0], [0.0, 4.0]]), np.array([[1.0], [1.0]]), 1e-15)
    array([[0.5 ],
           [0.25]])
    >>> solved(np.ones((2, 2)), np.array([[1.0], [1.0]]), 1e-15)
    array([[inf],
           [inf]])
    """
    if not len(M):
        return right
    norm = float(np.abs(M).sum(axis=0).max())
    factor, failed = lapack.dpotrf(M.T, lower=1, clean=0, overwrite_a=1)
    if failed or lapack.dpocon(factor, norm, uplo="L")[0] <= unit:
        return np.full_like(right, np.inf)
    x, _ = lapack.dpotrs(factor, right, lower=1)
    return np.asarray(x)


def in_two_steps(N: Array, beyond: Array, alpha: float, G: Array, c: Array, unit: float) -> Array:
    """The limit of (N + alpha G)^-1 (beyond + alpha c) for alpha -> 0, where N may be singular.

    What N reaches is solved for first; the rest, where N and `beyond` vanish, is decided by G and c.

    N, beyond : (f, f) and (f, outputs), with eigenvalues of N from 0 to 1
    alpha : at least 0, (nearly) 0
    G, c : likewise, with G positive definite where N vanishes
    unit : eigenvalues of N up to this are rounding

    >>> N, G = np.diag([1.0, 0.0]), np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> in_two_steps(N, np.array([[3.0], [0.0]]), 0.0, G, np.array([[5.0], [5.0]]), 1e-15)  # 1*3 + 2*e = 5
    array([[3.],
           [1.]])
    """
    values, basis = np.linalg.eigh(N)
    reached, rest = basis[:, values > unit], basis[:, values <= unit]
    first = np.diag(values[values > unit]) + alpha * (reached.T @ G @ reached)
    found = _back(reached, solved(first, reached.T @ (beyond + alpha * c), unit))
    if not np.isfinite(found).all():
        return found
    return found + _back(rest, solved(rest.T @ G @ rest, rest.T @ (c - G @ found), unit))


def _back(basis: Array, x: Array) -> Array:
    """basis @ x; inf everywhere where x is."""
    return basis @ x if np.isfinite(x).all() else np.full((len(basis), x.shape[1]), np.inf)
