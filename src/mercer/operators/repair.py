"""From a symmetric matrix of similarities to a positive semi-definite one, and what that changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray
from scipy.linalg import eigh, eigvalsh

from mercer.errors import InputError, message, speaks
from mercer.operators.base import read
from mercer.operators.dense import driver_for
from mercer.operators.precomputed import eps, negligible, read_square, refuse_not_finite, symmetric_copy

How = Literal["clip", "shift", "flip"]

WHAT = {
    "clip": "set the negative eigenvalues, down to {smallest:.3g}, to 0",
    "flip": "made the negative eigenvalues, down to {smallest:.3g}, positive",
    "shift": "added {shift:.3g} to the diagonal, since the eigenvalues went down to {smallest:.3g}",
}


@dataclass(frozen=True, eq=False, repr=False)
class Repaired:
    """A matrix that was made positive semi-definite; NumPy and the learners take it as that matrix.

    matrix : (n, n), exactly symmetric, float32 where K was, float64 otherwise; read-only
    how : "clip", "shift" or "flip"
    removed : sum |negative eigenvalues| / sum |eigenvalues| of K, 0.0 where it was positive semi-definite to rounding
    smallest : the smallest eigenvalue of K
    directions : (n, r) eigenvectors of K that `transform` keeps; None where it changes nothing
    signs : with what sign, r numbers 1 or -1; None where there are no directions
    """

    matrix: NDArray[Any]
    how: How
    removed: float
    smallest: float
    directions: NDArray[np.float64] | None = None
    signs: NDArray[np.float64] | None = None

    @speaks
    def transform(self, rows: ArrayLike) -> NDArray[Any]:
        """Similarities of new points that fit the repaired matrix: those of the training points become its rows.

        clip : rows Q diag(1[l > 0]) Q', with the eigenvalues l and the eigenvectors Q of K
        flip : rows Q diag(sign l) Q'
        shift : rows as they are, since only what a point has with itself was raised

        An eigenvalue that is 0 to rounding counts as 0. Cost: 4 m n r operations, and m (n + r) numbers.

        rows : (m, n), the similarities of m new points with the n training points; or (n,), those of one
        """
        array = self._read(rows)
        narrow = array.dtype in (np.float16, np.float32)
        dtype = np.float32 if narrow else np.float64
        if self.directions is None or self.signs is None:
            return array.astype(dtype)
        kept = (array.astype(np.float64) @ self.directions) * self.signs
        return np.asarray(kept @ self.directions.T, dtype=dtype)

    def _read(self, rows: ArrayLike) -> NDArray[Any]:
        array, n = read(rows, subject="Repaired.transform"), len(self.matrix)
        if array.ndim not in (1, 2) or array.shape[-1] != n:
            needs = f"rows of {n} numbers, the similarities with the training points"
            got = f"got shape {array.shape}"
            raise InputError(message(needs, got, "A row is one new point.", subject="Repaired.transform"))
        refuse_not_finite(np.atleast_2d(array))
        return array

    @property
    def shape(self) -> tuple[int, int]:
        """(n, n)."""
        n = len(self.matrix)
        return (n, n)

    @property
    def dtype(self) -> np.dtype[Any]:
        """float32 or float64."""
        return self.matrix.dtype

    def __len__(self) -> int:
        return len(self.matrix)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        changes = dtype is not None and np.dtype(dtype) != self.matrix.dtype
        if changes and copy is False:
            raise ValueError(f"{self!r} cannot become {np.dtype(dtype)} without a copy.")
        return self.matrix.astype(dtype or self.matrix.dtype) if changes or copy else self.matrix

    def __str__(self) -> str:
        if self.removed == 0:
            return f"Nothing to repair: the smallest eigenvalue, {self.smallest:.3g}, is not negative beyond rounding."
        what = WHAT[self.how].format(smallest=self.smallest, shift=-self.smallest)
        return f"{self.how} {what}; the negative ones were {100 * self.removed:.3g} % of the sum of |eigenvalues|."

    def __repr__(self) -> str:
        n, numbers = len(self.matrix), f"removed={self.removed:.3g}, smallest={self.smallest:.3g}"
        return f"Repaired({n} x {n}, {self.how}, {numbers}, {self.matrix.dtype})"


@speaks
def repair(K: ArrayLike, how: How = "clip") -> Repaired:
    """A positive semi-definite matrix near a symmetric one, from its eigenvalues l: K = Q diag(l) Q'.

    A K that is positive semi-definite to rounding is returned as it is. New points need the same treatment: see
    `Repaired.transform`. Cost: about 10 n^3 operations, 4/3 n^3 for "shift", and 4 n^2 numbers beyond K, 2 n^2 for
    "shift"; all in float64.

    Parameters
    ----------
    K : array of shape (n, n)
        Symmetric to rounding; its diagonal may be negative.
    how : {"clip", "shift", "flip"}, default="clip"
        "clip" gives Q diag(max(l, 0)) Q', the nearest such matrix in the Frobenius norm; "shift" gives K - min(l) I,
        which keeps all similarities but those of a point with itself; "flip" gives Q `diag(|l|)` Q'.

    Returns
    -------
    Repaired
        The matrix, with `transform` for the similarities of new points.

    Examples
    --------
    >>> repaired = repair([[1, 2], [2, 1]])
    >>> print(repaired)
    clip set the negative eigenvalues, down to -1, to 0; the negative ones were 25 % of the sum of |eigenvalues|.
    >>> np.asarray(repaired).round(12)
    array([[1.5, 1.5],
           [1.5, 1.5]])
    >>> repaired.transform([3.0, 1.0]).round(12)
    array([2., 2.])

    References
    ----------
    Chen, Garcia, Gupta, Rahimi, Cazzanti (2009), Similarity-based classification: concepts and algorithms, JMLR 10.
    Higham (1988), Computing a nearest symmetric positive semidefinite matrix, Linear Algebra and its Applications 103.
    """
    if how not in get_args(How):
        raise InputError(message('how to be "clip", "shift" or "flip"', f"got {how!r}", "Choose one."))
    array = read_square(K)
    S = symmetric_copy(array)
    values, vectors = _eigen(S, how)
    smallest = float(min(values[0], S.diagonal().min()))  # equal but for rounding; so no diagonal falls below 0
    dtype = np.float32 if array.dtype in (np.float16, np.float32) else np.float64
    if smallest >= -negligible(len(S), values[-1], array.dtype):
        return Repaired(_held(S, dtype), how, 0.0, smallest)
    removed = float(np.abs(values[values < 0]).sum() / np.abs(values).sum())
    if vectors is None:
        S.flat[:: len(S) + 1] -= smallest
        return Repaired(_held(S, dtype), how, removed, smallest)
    directions, kept = _kept(values, vectors, how)
    del vectors  # a copy of some of them is kept
    half = directions * np.sqrt(np.abs(kept))
    return Repaired(_held(half @ half.T, dtype), how, removed, smallest, directions, np.sign(kept))


def _eigen(S: NDArray[np.float64], how: How) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """The eigenvalues, from the smallest, and the eigenvectors where they are needed."""
    if how == "shift":
        return eigvalsh(S, check_finite=False), None
    values, vectors = eigh(S, driver=driver_for(len(S)), check_finite=False)
    return values, vectors


def _kept(
    values: NDArray[np.float64], vectors: NDArray[np.float64], how: How
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The eigenvectors and eigenvalues that go on: clip keeps the positive ones, flip all that are not 0 to rounding.

    In directions where K is 0, rows of new points mean nothing, and the sign of what the eigensolver found is chance.
    """
    sizes = values if how == "clip" else np.abs(values)
    kept = sizes > len(values) * eps(np.float64) * np.abs(values).max()
    return vectors[:, kept], values[kept]


def _held(matrix: NDArray[np.float64], dtype: DTypeLike) -> NDArray[Any]:
    """The matrix in its dtype, not to be changed."""
    result = matrix.astype(dtype, copy=False)
    result.flags.writeable = False
    return result
