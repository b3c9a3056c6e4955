"""Matrices of similarities that somebody else computed: what they must be, and when they are not."""

from __future__ import annotations

import math
import warnings
from functools import partial
from typing import Any, NoReturn

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.linalg import blas, lapack
from scipy.sparse.linalg import LinearOperator

from mercer.compute.runtime.lapack import MAX_CALL_OPERATIONS, patiently, routine
from mercer.errors import InputError, NumericalWarning, caller_level, message, number_of, speaker
from mercer.operators.base import read
from mercer.operators.dense import TILE_NUMBERS, tiles

DOUBLE = np.dtype(np.float64)
MAX_NEGATIVE_SHARE = 1e-5
"""How far below 0 the smallest eigenvalue of a matrix of rounded numbers may be, in parts of the largest."""
EIGENVALUE_OPERATIONS = 4 / 3
"""Operations for the eigenvalues alone, in units of the cube of the rows."""

# -- the entries ------------------------------------------------------------------------------------------------------


def check_precomputed(K: Any) -> NDArray[np.float64]:
    """A copy of K in float64, exactly symmetric, which the caller may overwrite; or an error that says what is wrong.

    K must be square, real, finite, and symmetric to rounding, without negative numbers on its diagonal. Whether it is
    positive semi-definite takes more work: see `check_semidefinite`.
    Cost: one pass over K, and n^2 numbers beyond it.

    K : (n, n) table of numbers; float32 is judged by its own rounding

    >>> check_precomputed([[2, 1], [1, 3]])
    array([[2., 1.],
           [1., 3.]])
    """
    array = read_square(K)
    result = symmetric_copy(array)
    diagonal = result.diagonal()
    i = int(diagonal.argmin())
    if diagonal[i] < -negligible(len(array), np.abs(diagonal).max(), array.dtype):
        needs, got = "a diagonal without negative numbers", f"K[{i}, {i}] is {array[i, i]!s}"
        raise InputError(message(needs, got, "k(x, x) is a squared length: check K, or use mercer.repair(K)."))
    return result


def read_square(K: Any) -> NDArray[Any]:
    """The table as an array of real numbers with as many rows as columns; not a copy where it is one."""
    _refuse_other_matrices(K)
    array = read(K)
    if array.ndim != 2:
        remedy = "Give the similarities of all pairs of training points."
        raise InputError(message("a matrix of n rows and n columns", f"got shape {array.shape}", remedy))
    rows, columns = array.shape
    if rows != columns:
        got = f"got {number_of(rows, 'row')} and {number_of(columns, 'column')}"
        remedy = 'Only a kernel "precomputed" takes K instead of X.'
        raise InputError(message("as many rows as columns: the similarities of all pairs", got, remedy))
    if rows == 0:
        raise InputError(message("at least one row", "got an empty matrix", "Check the data."))
    return array


def symmetric_part(K: NDArray[Any]) -> NDArray[Any]:
    """K where it is symmetric to rounding, else (K + K') / 2, with a warning that says how far from symmetric K is.

    Cost: one pass over K; a copy where it is not symmetric.

    K : (n, n), of numbers; what is not finite stays, and is refused where it is used

    >>> symmetric_part(np.eye(2)).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    largest, gap = 0.0, (0.0, 0, 0)
    with np.errstate(over="ignore", invalid="ignore"):
        for rows, columns in _upper_tiles(len(K)):
            one, other = K[rows, columns].astype(DOUBLE), K[columns, rows].T.astype(DOUBLE)
            largest = max(largest, float(np.abs(one).max()), float(np.abs(other).max()))
            gap = max(gap, _widest(one - other, rows.start, columns.start))
    part = gap[0] / largest if largest > 0 else 0.0
    if not math.isfinite(part) or part <= 100 * eps(K.dtype):
        return K
    _, i, j = gap
    warnings.warn(
        f"{speaker()}: K is not symmetric: K[{i}, {j}] is {K[i, j]!s} and K[{j}, {i}] is {K[j, i]!s}, which differ by "
        f"{part:.2g} of the largest entry. (K + K.T) / 2 is used. Check how K was computed.",
        NumericalWarning,
        stacklevel=caller_level(),
    )
    return np.asarray(K / 2 + K.T / 2)


def symmetric_copy(array: NDArray[Any]) -> NDArray[np.float64]:
    """(K + K') / 2 in float64, if K is finite and |K - K'| <= 100 eps max |K|, with eps that of K's dtype.

    Cost: one pass over pairs of square tiles, and n^2 numbers.
    """
    result = np.empty(array.shape)
    largest, worst = 0.0, (0.0, 0, 0)
    with np.errstate(over="ignore"):  # infinity is found below
        for rows, columns in _upper_tiles(len(array)):
            one, other = array[rows, columns].astype(DOUBLE), array[columns, rows].T.astype(DOUBLE)
            largest = max(largest, _largest(array, one), _largest(array, other))
            gap = _widest(one - other, rows.start, columns.start)
            mean = one / 2 + other / 2 if gap[0] > 0 else one
            result[rows, columns], result[columns, rows] = mean, mean.T
            worst = max(worst, gap)
    if worst[0] > 100 * eps(array.dtype) * largest:
        _refuse_asymmetric(array, worst[1], worst[2], largest)
    return result


def refuse_not_finite(array: NDArray[Any]) -> None:
    """An error that names the first entry of a matrix that is not finite in float64; nothing where all are."""
    for part in tiles(len(array), max(1, array.shape[1])):
        with np.errstate(over="ignore"):
            bad = np.argwhere(~np.isfinite(array[part].astype(DOUBLE)))
        if len(bad):
            i, j = int(bad[0, 0]) + part.start, int(bad[0, 1])
            got = f"row {i}, column {j} holds {array[i, j]!s}"
            raise InputError(message("finite numbers", got, "Compute that similarity again, or drop the point."))


def _refuse_other_matrices(K: Any) -> None:
    if hasattr(K, "toarray") and hasattr(K, "nnz"):
        got = f"got a sparse {type(K).__name__}"
        raise InputError(message("a dense matrix", got, "Use K.toarray()."))
    if isinstance(K, LinearOperator):
        raise InputError(message("a stored matrix", f"got {K!r}", "Use K.to_dense(), or K @ np.eye(n)."))
    if np.ma.is_masked(K):
        got, remedy = "got a masked array with missing entries", "Compute these, or drop the points."
        raise InputError(message("all similarities", got, remedy))


def _refuse_asymmetric(array: NDArray[Any], i: int, j: int, largest: float) -> NoReturn:
    one, other = array[i, j], array[j, i]
    part = abs(float(one) / largest - float(other) / largest)
    got = f"K[{i}, {j}] is {one!s} and K[{j}, {i}] is {other!s}, which differ by {part:.2g} of the largest entry"
    raise InputError(message("a symmetric matrix", got, "Use (K + K.T) / 2 if either is right."))


def _upper_tiles(n: int) -> list[tuple[slice, slice]]:
    """Rows and columns of the square tiles on and above the diagonal: these and their mirror images cover a matrix."""
    parts = tiles(
        n, 2 * math.isqrt(TILE_NUMBERS)
    )  # four such tiles, which are worked on at once, hold TILE_NUMBERS numbers
    return [(rows, columns) for a, rows in enumerate(parts) for columns in parts[a:]]


def _largest(array: NDArray[Any], tile: NDArray[np.float64]) -> float:
    """The largest |entry| of a tile of the array, if all are finite."""
    largest = float(np.maximum(tile.max(), -tile.min()))
    if not math.isfinite(largest):
        refuse_not_finite(array)
    return largest


def _widest(differences: NDArray[np.float64], row: int, column: int) -> tuple[float, int, int]:
    """The largest |difference|, and where it stands in the matrix if the first of them stands at (row, column)."""
    sizes = np.abs(differences, out=differences)
    i, j = divmod(int(sizes.argmax()), sizes.shape[1])
    return float(sizes[i, j]), row + i, column + j


# -- the eigenvalues --------------------------------------------------------------------------------------------------


def eps(dtype: DTypeLike) -> float:
    """The rounding unit of numbers that are given in some dtype and computed with in float64."""
    kind = np.dtype(dtype)
    own = float(np.finfo(kind).eps) if kind.kind == "f" else 0.0
    return max(own, float(np.finfo(DOUBLE).eps))


def negligible(n: int, largest: float, dtype: DTypeLike = DOUBLE) -> float:
    """10 n eps largest: an eigenvalue of a positive semi-definite matrix may fall so far below 0 by rounding.

    n : rows of the matrix
    largest : its largest eigenvalue; 0 stands for a negative one
    dtype : what its entries were rounded to; float64 for everything wider, and for integers

    >>> negligible(1000, 1.0) < 1e-11 < 1e-4 < negligible(1000, 1.0, "float32")
    True
    """
    return 10 * n * eps(dtype) * max(0.0, float(largest))


def refuse_indefinite(K: NDArray[Any], smallest: float, largest: float, dtype: DTypeLike | None = None) -> None:
    """An error that calls K indefinite where smallest < -negligible(n, largest, dtype); nothing otherwise.

    K : (n, n); its shape and its diagonal are read
    smallest, largest : the extreme eigenvalues of K
    dtype : of the entries before, where K is a float64 copy of them; that of K where None

    >>> refuse_indefinite(np.eye(2), 1.0, 1.0)
    """
    if smallest >= -negligible(len(K), largest, K.dtype if dtype is None else dtype):
        return
    got = f"K is indefinite: smallest eigenvalue {smallest:.3g}, largest {largest:.3g}"
    remedy = "mercer.repair(K) makes it so, and says what that removes."
    if not K.diagonal().any():
        remedy += " Or are these distances D? np.exp(-D**2 / 2) is a kernel where they are Euclidean."
    raise InputError(message("a positive semi-definite matrix of similarities", got, remedy))


def is_indefinite_by_cholesky(K: NDArray[Any], dtype: DTypeLike | None = None) -> bool:
    """Whether K + negligible I has no Cholesky factor, so that K has a negative eigenvalue beyond rounding.

    The largest eigenvalue is replaced by a bound from below (`least_largest`): what passes here, `refuse_indefinite`
    passes too, up to the rounding of the factor; where it fails, the eigenvalues must decide.
    Cost: n^3 / 3 operations, and n^2 numbers for a copy.

    K : (n, n), exactly symmetric
    dtype : of the entries before, where K is a float64 copy of them; that of K where None

    >>> is_indefinite_by_cholesky(np.ones((3, 3))), is_indefinite_by_cholesky(-np.ones((3, 3)))
    (False, True)
    """
    largest = least_largest(K)
    if largest == 0:  # there are zeros alone
        return False
    shifted = K.T.astype(DOUBLE, order="F")  # of rows as NumPy stores them, a plain copy
    shifted.flat[:: len(K) + 1] += negligible(len(K), largest, K.dtype if dtype is None else dtype)
    return _has_no_factor(shifted)


def _has_no_factor(A: NDArray[np.float64]) -> bool:
    """Whether A, in Fortran's order, has no Cholesky factor; a long call can be interrupted. A is overwritten."""
    n, potrf = len(A), routine("dpotrf")
    if n**3 / 3 <= MAX_CALL_OPERATIONS or potrf is None:
        _, failed = lapack.dpotrf(A, clean=0, overwrite_a=1)
        return bool(failed)
    return bool(patiently(partial(potrf.checked, "U", n, A, n)))


def _eigenvalues(K: NDArray[np.float64]) -> NDArray[np.float64]:
    """The eigenvalues, from the smallest; a long call can be interrupted."""
    if EIGENVALUE_OPERATIONS * len(K) ** 3 <= MAX_CALL_OPERATIONS:
        return np.asarray(np.linalg.eigvalsh(K), dtype=DOUBLE)
    return np.asarray(patiently(partial(np.linalg.eigvalsh, K)), dtype=DOUBLE)


def check_semidefinite(K: NDArray[Any], dtype: DTypeLike | None = None) -> None:
    """An error where K is indefinite. Cost: n^3 / 3 operations and n^2 numbers; 5 times as many operations if it fails.

    K : (n, n), exactly symmetric, as `check_precomputed` returns it
    dtype : of the entries before; that of K where None

    >>> check_semidefinite(np.ones((3, 3)))
    """
    if is_indefinite_by_cholesky(K, dtype):
        values = _eigenvalues(K.astype(DOUBLE, copy=False))
        refuse_indefinite(K, values[0], values[-1], K.dtype if dtype is None else dtype)


def made_semidefinite(K: NDArray[np.float64], dtype: DTypeLike | None = None) -> float:
    """Add to the diagonal of K, in place, what a slightly indefinite K lacks, with a warning; how much that was.

    Entries that were rounded, as those of a text file, make a kernel matrix indefinite: its smallest eigenvalue may
    fall below 0 by more than the rounding of float64. Up to 1e-5 of the largest one it is lifted to 0; below that K is
    refused. Cost: that of `check_semidefinite`.

    >>> made_semidefinite(np.ones((3, 3)))
    0.0
    """
    if not is_indefinite_by_cholesky(K, dtype):
        return 0.0
    values = _eigenvalues(K)
    smallest, largest = float(values[0]), float(values[-1])
    if smallest >= -negligible(len(K), largest, K.dtype if dtype is None else dtype):
        return 0.0
    if smallest < -MAX_NEGATIVE_SHARE * largest:
        refuse_indefinite(K, smallest, largest, dtype)
    K.flat[:: len(K) + 1] -= smallest
    warnings.warn(
        slightly_indefinite(smallest, largest) + f" {-smallest:.2g} was added to its diagonal. "
        "Give K with more digits, or use mercer.repair(K).",
        NumericalWarning,
        stacklevel=caller_level(),
    )
    return -smallest


def slightly_indefinite(smallest: float, largest: float) -> str:
    """What a warning says of such a matrix first."""
    return (
        f"{speaker()}: K is slightly indefinite, as a matrix of rounded numbers may be: its smallest eigenvalue is "
        f"{smallest:.2g}, {-smallest / largest:.1g} of the largest."
    )


def least_largest(K: NDArray[Any]) -> float:
    """A number that the largest eigenvalue of a positive semi-definite K reaches, from one pass; 0 for K = 0 alone.

    It is the largest of the diagonal entries and sum l^2 / sum l, that is |K|_F^2 / trace K, both of which are at most
    the largest eigenvalue. An indefinite K, whose trace may vanish, gets at most |K|_F.
    """
    norm, diagonal = _norm(K), K.diagonal().astype(DOUBLE)
    trace = float(diagonal.sum())
    return max(float(diagonal.max()), norm * (norm / trace) if norm < trace else norm)


def _norm(K: NDArray[Any]) -> float:
    """|K|_F, without overflow: BLAS scales the squares."""
    parts = [blas.dnrm2(K[part].astype(DOUBLE, copy=False).ravel()) for part in tiles(len(K), len(K))]
    return float(blas.dnrm2(np.array(parts)))
