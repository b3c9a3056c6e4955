"""Symmetric matrices of many rows at a backend: nothing of their size comes to this process unless it is asked for.

A square is not stored: its rows are computed whenever they are needed, which a card does many times faster than it
factors them. Only a factor is held.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mercer.compute.runtime.run import Run
from mercer.errors import InputError, message

Array = NDArray[np.float64]
Rows = NDArray[np.intp]


class Factor(Protocol):
    """L with A + alpha I = L L', at a backend; it answers what solvers ask of a decomposition.

    alpha : the ridge; other alphas are refused
    norm : the largest sum of |A + alpha I| along a row
    condition : an estimate of the condition number, in the 1-norm
    single : whether L is in float32, so that a solution has a few digits only
    """

    @property
    def alpha(self) -> float: ...
    @property
    def norm(self) -> float: ...
    @property
    def condition(self) -> float: ...
    @property
    def single(self) -> bool: ...

    def solve(self, targets: NDArray[Any], alphas: NDArray[Any] | None = None) -> Array:
        """(A + alpha I)^-1 b for each column b, with the digits of L."""
        ...

    def roughly(self, targets: NDArray[Any], alphas: NDArray[Any] | None = None) -> Array:
        """The same, where a few digits do."""
        ...

    def multiply(self, x: NDArray[Any]) -> Array:
        """A x, in float64."""
        ...

    def inverse_diagonal(self, alpha: float) -> Array:
        """The diagonal of (A + alpha I)^-1."""
        ...

    def log_determinant(self, alpha: float) -> float:
        """log det(A + alpha I)."""
        ...

    def serves(self, alphas: NDArray[Any]) -> bool:
        """Whether it speaks for all of these alphas."""
        ...

    def restore(self) -> None:
        """Give the memory of L back: this factor is used up."""
        ...


class Inverse(Protocol):
    """The inverse of F F' + ridge I, at a backend."""

    def solve(self, R: NDArray[Any]) -> Array:
        """(F F' + ridge I)^-1 r for each column r. Cost: 4 n k operations per column."""
        ...


class Spectrum(Protocol):
    """The eigenvectors of a matrix, at a backend."""

    @property
    def values(self) -> Array:
        """The eigenvalues in rising order."""
        ...

    def solve(self, targets: NDArray[Any], alphas: NDArray[Any]) -> Array:
        """(A + alpha_t I)^-1 b_t for each column b_t; all A + alpha I are regular."""
        ...


class Triangle(Protocol):
    """R with k(L, L) = R'R, upper triangular, at a backend; and H = R diag(q) R' - share R q (R q)' for weights q.

    phi(x) = R^-T k(L, x) are features, and H is the sum of their products over rows that stand at the landmarks.
    """

    @property
    def width(self) -> int:
        """The number of landmarks."""
        ...

    @property
    def squares(self) -> Array:
        """The squared lengths of the columns of R: k(l, l)."""
        ...

    def to_raw(self, weights: NDArray[Any]) -> Array:
        """R^-1 w for each column: weights of features become weights of values at landmarks."""
        ...

    def to_features(self, sums: NDArray[Any]) -> Array:
        """R^-T u for each column: sums of values at landmarks become sums of features."""
        ...

    def trace(self, weights: Array, share: float) -> float:
        """The trace of H."""
        ...

    def factor(self, weights: Array, share: float, ridge: float) -> Factor | None:
        """The factor of H + ridge I; None where that is not positive definite to rounding."""
        ...

    def spectrum(self, weights: Array, share: float) -> Spectrum:
        """The eigenvectors of H, which stay at the backend."""
        ...


class Features(Protocol):
    """F of n rows, whose columns come one block after the other: a pivoted Cholesky factor of a square."""

    @property
    def shape(self) -> tuple[int, int]:
        """The rows, and the columns that are there."""
        ...

    @property
    def size(self) -> int:
        """The numbers that there is room for."""
        ...

    def rows(self, chosen: Rows) -> Array:
        """Some rows."""
        ...

    def rest(self, chosen: Rows) -> Array:
        """What F leaves of the square among some rows."""
        ...

    def extend(self, chosen: Rows, lower: Array) -> Array:
        """New columns: those of the square at new pivots, less what the pivots before explain, divided by L'.

        lower : L, the factor of what is left of the square among them

        Returns the sums of squares of the new columns along the rows, (n,).
        """
        ...

    def trim(self) -> None:
        """Give back the room of columns that did not come."""
        ...

    def across(self, R: Array) -> Array:
        """F'R."""
        ...

    def along(self, x: Array) -> Array:
        """F x."""
        ...

    def squares(self) -> Array:
        """F'F."""
        ...

    def top(self) -> float:
        """The largest eigenvalue of F'F, estimated from below; not finite where F is not."""
        ...

    def triangle(self, chosen: Rows) -> Triangle:
        """L with L L' = A[chosen, chosen] for the pivots in their order: F at these rows. F is used up."""
        ...

    def inverse(self, ridge: float) -> Inverse | None:
        """The inverse of F F' + ridge I, in the memory of F, which is used up; None, with F as it was, without one."""
        ...


class Square(Protocol):
    """A symmetric matrix A at a backend."""

    @property
    def shape(self) -> tuple[int, int]:
        """n and n."""
        ...

    def diagonal(self) -> Array:
        """The entries a_ii."""
        ...

    def row_sums(self) -> Array:
        """The sums of |A| along the rows."""
        ...

    def block(self, i: Rows, j: Rows) -> Array:
        """The entries in some rows and columns."""
        ...

    def times(self, V: NDArray[Any]) -> Array:
        """A V."""
        ...

    def whole(self) -> Array:
        """A, in this process."""
        ...

    def shifted(self, shifts: Array, roots: Array | None) -> Square:
        """The square with the entries roots_i (a_ij - shifts_i - shifts_j) roots_j; roots of None are ones."""
        ...

    def takes_single(self, alpha: float) -> bool:
        """Whether a factor in float32 may do, and is far quicker than one in float64, or all that there is room for."""
        ...

    def factor(self, alpha: float, run: Run, single: bool = False) -> Factor | None:
        """The factor of A + alpha I; None where that is not positive definite to rounding, an error for infinities.

        run : takes the share of finished work, and may stop it
        single : whether it is in float32
        """
        ...

    def triangle(self) -> Triangle | None:
        """R with A = R'R; None where rounding hides that A is positive definite."""
        ...

    def spectrum(self) -> tuple[Array, Array]:
        """The eigenvalues in rising order, and the eigenvectors, in this process; an error for infinities."""
        ...

    def most_features(self) -> int:
        """How many columns of n numbers there is room for."""
        ...

    def features(self, count: int) -> Features:
        """A factor without columns yet, and room for so many."""
        ...


def check_sums(sums: Array) -> Array:
    """The sums of |A| along the rows; an error where they are not finite."""
    wrong = np.flatnonzero(~np.isfinite(sums))
    if wrong.size:
        got = f"row {wrong[0]} of A adds up to {sums[wrong[0]]}"
        raise InputError(message("finite numbers with finite sums", got, "Check the data and the kernel."))
    return sums


def check_alphas(own: float, alphas: Any) -> None:
    """An error for an alpha that a factor was not made for."""
    if not (np.asarray(alphas) == own).all():
        got, remedy = f"got {alphas}", "Solve for one alpha at a time, or use Eigen(), which serves them all."
        raise InputError(message(f"the alpha it was made for, {own:g}", got, remedy, subject="A Cholesky factor"))
