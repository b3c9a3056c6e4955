"""Z'SZ, the weighted squares of features: what preconditions conjugate gradients of logistic regression."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

Array = NDArray[np.float64]
MIN_RELATIVE_EIGENVALUE = 1e-8
"""Eigenvalues below this part of the largest are left out where a function is imitated."""
REFINEMENTS = 3
"""Steps by a factor of G with a little more on its diagonal that find what G itself would."""


class Squares(ABC):
    """Z'SZ = G, as a preconditioner sees it."""

    @abstractmethod
    def divided(self, W: Array, curvatures: Array, alpha: float) -> Array:
        """(curvature G + alpha)^-1 w for each column w of W, about, with a curvature of its own."""

    @abstractmethod
    def fitted(self, W: Array) -> Array:
        """G^-1 W in directions that can be told apart."""


@dataclass(frozen=True, eq=False)
class Spectral(Squares):
    """By its eigenvalues and eigenvectors, V diag(values) V'; None stands for V = I."""

    values: Array
    vectors: Array | None = None

    def divided(self, W: Array, curvatures: Array, alpha: float) -> Array:
        inner = self._turned(W) / (curvatures * np.maximum(self.values, 0.0)[:, None] + alpha)
        return self._turned_back(inner)

    def fitted(self, W: Array) -> Array:
        right = self._turned(W)
        seen = self.values[:, None] > MIN_RELATIVE_EIGENVALUE * self.values.max(initial=0.0)
        return self._turned_back(np.divide(right, self.values[:, None], out=np.zeros_like(right), where=seen))

    def _turned(self, W: Array) -> Array:
        return W if self.vectors is None else np.asarray(self.vectors.T @ W)

    def _turned_back(self, W: Array) -> Array:
        return W if self.vectors is None else np.asarray(self.vectors @ W)


@dataclass(frozen=True, eq=False)
class OfFactor(Squares):
    """For Z = S^-1/2 L with a factor L of a matrix A = LL' of as many rows: by Cholesky factors of c A + alpha.

    (c L'L + alpha)^-1 = (1 - c L' (c A + alpha)^-1 L) / alpha, where c is the curvature to the nearest power of two:
    a factor serves many steps, and conjugate gradients hardly notice. It loses as many digits as |c A| is larger than
    alpha.

    matrix : A, its lower triangle and the diagonal beside it
    """

    L: Array
    matrix: Array
    diagonal: Array
    norm: float
    _known: dict[tuple[int, float], Any] = field(default_factory=dict)

    def divided(self, W: Array, curvatures: Array, alpha: float) -> Array:
        found = np.empty_like(W)
        exponents = np.round(np.log2(curvatures)).astype(int)
        for key in [key for key in self._known if key[0] not in exponents or key[1] != alpha]:
            del self._known[key]
        for exponent in np.unique(exponents).tolist():
            own = exponents == exponent
            factor, scale = self._factor(exponent, alpha), math.ldexp(1.0, exponent)
            found[:, own] = (
                W[:, own] - scale * (self.L.T @ cho_solve(factor, self.L @ W[:, own], check_finite=False))
            ) / alpha
        return found

    def fitted(self, W: Array) -> Array:
        found, ones = np.zeros_like(W), np.ones(W.shape[1])
        for _ in range(REFINEMENTS):
            left = W - self.L.T @ (self.L @ found)
            found += self.divided(left, ones, MIN_RELATIVE_EIGENVALUE * self.norm)
        return found

    def _factor(self, exponent: int, alpha: float) -> Any:
        key = exponent, alpha
        if key not in self._known:
            scale = math.ldexp(1.0, exponent)
            shifted = scale * self.matrix
            np.fill_diagonal(shifted, scale * self.diagonal + alpha)
            self._known[key] = cho_factor(shifted, lower=True, overwrite_a=True, check_finite=False)
        return self._known[key]
