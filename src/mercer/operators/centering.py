"""Weights and an unpenalised intercept, folded into a symmetric matrix: what is left is plain least squares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from mercer.backends.squares import Square
from mercer.compute.consistency import shapes
from mercer.errors import InputError, message
from mercer.operators.base import Index, Operator

if TYPE_CHECKING:
    from mercer.operators.at_backend import AtBackend

Array = NDArray[np.float64]
EPS = float(np.finfo(np.float64).eps)
SHIFTED_NUMBERS = 2**14
"""Numbers of a strip that is centred at once: 128 KiB, for which no new pages are asked."""


@dataclass(frozen=True, eq=False)
class Centering:
    """A weighted problem with an intercept, as one system without weights and intercept.

    The problem is to minimise `sum_i s_i (y_i - f(x_i) - b)^2 + alpha |f|^2`. With D = diag(sqrt(s)), `u = D 1 / |D 1|`
    and P = I - u u' (P = I and u = 0 where there is no intercept), the dual coefficients are D c with (P D K D P + tau
    u u' + alpha I) c = P D y, and sum to zero. The term tau u u', with tau the mean of the diagonal of P D K D P,
    changes no solution: it keeps u from being a null vector.

    Parameters
    ----------
    weights : array of shape (n,)
        s, each positive.
    intercept : bool
        Whether there is one.
    counts : array of shape (n,) or None, default=None
        How many copies of a row its weight stands for, where that is not the weight itself: a class may weigh more than
        it has rows.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.operators import Centering
    >>> centering = Centering.of(3, weights=None, intercept=True)
    >>> centering.rows(np.array([[1.0], [2.0], [6.0]])).ravel()
    array([-2., -1.,  3.])
    """

    weights: Array
    intercept: bool
    counts: Array | None = None

    def _inconsistency(self) -> str:
        counts = [] if self.counts is None else [(self.counts, self.weights.shape)]
        return shapes((self.weights, (None,)), *counts)

    @classmethod
    def of(cls, n: int, weights: Array | None, intercept: bool, counts: Array | None = None) -> Self:
        """A centering for n rows.

        Parameters
        ----------
        n : int
            How many rows.
        weights : array of shape (n,) or None
            None for weights of one.
        intercept : bool
            Whether there is one.
        counts : array of shape (n,) or None, default=None
            As in the class.

        Returns
        -------
        Self
        """
        return cls(np.ones(n) if weights is None else np.asarray(weights, dtype=np.float64), intercept, counts)

    @property
    def copies(self) -> Array:
        """How many copies of each row there are: leaving a row out takes one of them."""
        return self.weights if self.counts is None else self.counts

    @cached_property
    def total(self) -> float:
        """How many observations there are, copies counted."""
        return float(self.weights.sum())

    @property
    def rank(self) -> int:
        """The largest rank of a matrix of rows that were centred: an intercept takes one."""
        return len(self.weights) - self.intercept

    @cached_property
    def roots(self) -> Array:
        """The diagonal of D."""
        return np.sqrt(self.weights)

    @cached_property
    def shares(self) -> Array:
        """The weights, scaled to a sum of one."""
        return self.weights / self.total

    @cached_property
    def direction(self) -> Array:
        """u, a unit vector; zero where there is no intercept."""
        return self.roots / np.sqrt(self.total) if self.intercept else np.zeros(len(self.weights))

    @cached_property
    def unweighted(self) -> bool:
        """Whether all weights are one."""
        return bool((self.weights == 1.0).all())

    @property
    def idle(self) -> bool:
        """Whether nothing changes: all weights are one, and there is no intercept."""
        return not self.intercept and self.unweighted

    def means(self, Y: NDArray[Any]) -> Array:
        """The weighted mean of each column; 0 where there is no intercept.

        Parameters
        ----------
        Y : array of shape (n, outputs)
            The columns.

        Returns
        -------
        array of shape (outputs,)
        """
        return np.asarray(self.shares @ Y) if self.intercept else np.zeros(Y.shape[1:])

    def rows(self, Y: NDArray[Any]) -> Array:
        """P D Y: each column less its weighted mean, each row times the root of its weight.

        Parameters
        ----------
        Y : array of shape (n, outputs)
            The columns.

        Returns
        -------
        array of shape (n, outputs)
        """
        if self.unweighted:
            return Y - self.means(Y) if self.intercept else np.array(Y)
        return np.asarray(((Y - self.means(Y)).T * self.roots).T)

    def matrix(self, K: Array | AtBackend) -> Centered:
        """P D K D P + tau u u' in the memory of a stored K; exactly symmetric where K is. Cost: 4 n^2 operations.

        What cannot hold it, because it is read-only or narrower than float64, is copied.

        Parameters
        ----------
        K : array of shape (n, n), or AtBackend
            Overwritten where it can be.

        Returns
        -------
        Centered
        """
        if not isinstance(K, np.ndarray):
            found = self.operator(K)
            return replace(found.parts, values=K if self.idle else type(K)(found.of(K.square)))
        K = np.require(K, np.float64, ["W"])
        means, middle = self._means_of(K)
        pull = self._pull(np.diagonal(K), means, middle)
        centered = Centered(K, means, middle, pull)
        if not self.idle:
            shifts = centered.shifts(self)
            _shift(K, shifts, shifts, *(None, None) if self.unweighted else (self.roots, self.roots))
        return centered

    def _means_of(self, K: Array | Operator) -> tuple[Array, float]:
        """m(x_i) = sum_j w_j k(x_i, x_j), and its weighted mean; zeros where there is no intercept."""
        if not self.intercept:
            return np.zeros(K.shape[0]), 0.0
        means = np.asarray(K @ self.shares)
        return means, float(self.shares @ means)

    def _pull(self, diagonal: NDArray[Any], means: Array, middle: float) -> float:
        """tau: a number well inside the spectrum, 1 where all of that is zero to rounding."""
        if not self.intercept:
            return 0.0
        mean = float((self.weights * (diagonal - 2 * means + middle)).mean())
        rounding = len(diagonal) * EPS * float((self.weights * np.abs(diagonal)).mean())
        return mean if mean > rounding else 1.0

    def operator(self, K: Operator) -> CenteredOperator:
        """The same for a K that gives products only.

        Parameters
        ----------
        K : Operator
            The matrix.

        Returns
        -------
        CenteredOperator
        """
        means, middle = self._means_of(K)
        pull = self._pull(K.diagonal(), means, middle)
        return CenteredOperator(K, self, Centered(None, means, middle, pull))

    def product(self, K: Callable[[Array], NDArray[Any]], parts: Centered, V: NDArray[Any]) -> Array:
        """(P D K D P + tau u u') V, for a K that gives products only.

        Parameters
        ----------
        K : callable
            Returns K V.
        parts : Centered
            The centred matrix, without its values.
        V : array of shape (n, c)
            The columns.

        Returns
        -------
        array of shape (n, c)
        """
        u, D = self.direction[:, None], self.roots[:, None]
        along = u.T @ V
        result = D * K(D * (V - u * along))
        return np.asarray(result - u * (u.T @ result) + parts.pull * (u * along))

    def intercepts(self, Y: NDArray[Any], duals: Array, means: Array) -> Array:
        """b of each output: the weighted mean of y, less that of f = K a.

        Parameters
        ----------
        Y : array of shape (n, outputs)
            The targets.
        duals : array of shape (n, outputs)
            a.
        means : array of shape (n,)
            The weighted mean of each row of K.

        Returns
        -------
        array of shape (outputs,)
        """
        return self.means(Y) - means @ duals


@dataclass(frozen=True, eq=False)
class Centered:
    """A centred and weighted matrix, and the numbers with which new rows are centred.

    Parameters
    ----------
    values : array of shape (n, n), AtBackend or None
        P D K D P + tau u u', or None where products alone are known.
    means : array of shape (n,)
        m(x_i), the weighted mean of each row of K; zeros where there is no intercept.
    middle : float
        Their weighted mean.
    pull : float
        tau.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.operators import Centering
    >>> centred = Centering.of(2, weights=None, intercept=True).matrix(np.array([[2.0, 1.0], [1.0, 4.0]]))
    >>> centred.means, centred.middle, float(centred.stored.sum().round(6)) == round(2 * centred.pull, 6)
    (array([1.5, 2.5]), 2.0, True)
    """

    values: Array | AtBackend | None
    means: Array
    middle: float
    pull: float

    def shifts(self, centering: Centering) -> Array:
        """h, such that P D K D P + tau u u' has the entries D_i (k_ij - h_i - h_j) D_j.

        Parameters
        ----------
        centering : Centering
            That of the matrix.

        Returns
        -------
        array of shape (n,)
        """
        return self.means - (self.middle + self.pull / centering.total) / 2 if centering.intercept else self.means

    @property
    def stored(self) -> Array | AtBackend:
        """The matrix itself, in this process or at a backend."""
        if self.values is None:
            raise InputError(
                message("a stored matrix", "products alone are known", "Use operator().", subject="Centered")
            )
        return self.values

    def cross(self, K: Array, centering: Centering) -> Array:
        """Rows of k(x*, x_j) for new points, centred as the training rows are, in place; not yet weighted.

        Parameters
        ----------
        K : array of shape (m, n)
            Values between new and training rows; overwritten.
        centering : Centering
            That of the matrix.

        Returns
        -------
        array of shape (m, n)
        """
        if centering.intercept:
            K -= (K @ centering.shares)[:, None]
            K -= self.means - self.middle
        return K


class CenteredOperator(Operator):
    """P D K D P + tau u u' of an operator K: products alone, nothing of the size n^2."""

    def __init__(self, inner: Operator, centering: Centering, parts: Centered) -> None:
        self.inner = inner
        self.centering = centering
        self.parts = parts
        super().__init__(inner.shape, np.float64, symmetric=True)

    def _multiply(self, V: NDArray[Any]) -> NDArray[Any]:
        return self.centering.product(self.inner.__matmul__, self.parts, V)

    def _transposed(self) -> Operator:
        return self

    def _block(self, i: Index, j: Index) -> NDArray[Any]:
        shifts, roots = self.parts.shifts(self.centering), self.centering.roots
        block = np.asarray(self.inner.block(i, j), dtype=np.float64)
        _shift(block, shifts[i], shifts[j], roots[i], roots[j])
        return block

    def at_backend(self) -> Square | None:
        inner = self.inner.at_backend()
        return None if inner is None else self.of(inner)

    def of(self, square: Square) -> Square:
        """The same of the inner matrix at a backend."""
        roots = None if self.centering.unweighted else self.centering.roots
        return square.shifted(self.parts.shifts(self.centering), roots)

    def diagonal(self) -> NDArray[Any]:
        center, parts = self.centering, self.parts
        middle = parts.middle + parts.pull / center.total if center.intercept else 0.0
        return np.asarray(center.weights * (self.inner.diagonal() - 2 * parts.means + middle))

    def peak(self, columns: int = 1) -> int:
        return self.inner.peak(columns) + 3 * 8 * self.shape[0] * columns

    def _peak_dense(self) -> int:
        widened = super()._peak_dense() if self.inner.dtype != self.dtype else 0
        return self.inner._peak_dense() + widened + 8 * min(SHIFTED_NUMBERS, self.shape[0] * self.shape[1])


def _shift(K: Array, left: Array, right: Array, rows: Array | None, columns: Array | None) -> None:
    """rows_i (k_ij - left_i - right_j) columns_j, in place, strip by strip; symmetric where both sides are the same.

    rows, columns : None for ones
    """
    step = max(1, SHIFTED_NUMBERS // max(1, K.shape[1]))
    for start in range(0, len(K), step):
        part = K[start : start + step]
        part -= left[start : start + step, None] + right
        if rows is not None and columns is not None:
            part *= rows[start : start + step, None] * columns
