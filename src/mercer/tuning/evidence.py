"""How likely targets are under a kernel and a penalty, and which way the likelihood grows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

Array = NDArray[np.float64]


class Slopes(NamedTuple):
    """The value, and its slopes by each entry of K, and by the logarithm of alpha."""

    value: float
    by_kernel: Array
    by_alpha: float


@dataclass(frozen=True, eq=False)
class Evidence:
    """-log p(y) a row of a Gaussian process of covariance s (K + alpha D^-1) with the best scale s, less a constant.

    With A = K + alpha D^-1, D the weights of the rows and W = A^-1, each output has the value
    log |A| / 2 + n log(y' W y / n) / 2, divided by n. An intercept has no prior: then W becomes
    A^-1 - A^-1 1 1' A^-1 / (1' A^-1 1), the value grows by log(1' A^-1 1) / 2, and n is one less (the restricted
    likelihood). Its slope by K is W / 2 - n W y y' W / (2 y' W y), either way. Outputs have scales of their own, and
    their mean counts.

    targets : (rows, outputs), each of about one in size
    weights : positive
    """

    targets: Array
    weights: Array
    intercept: bool

    def __call__(self, K: Array, alpha: float) -> Slopes | None:
        """The value and its slopes; None where rounding leaves K + alpha D^-1 without a factor.

        K is used up. Cost: n^3 operations, 5 n^2 numbers.
        """
        K.flat[:: len(K) + 1] += alpha / self.weights
        factor, failed = lapack.dpotrf(K.T, lower=1, clean=0, overwrite_a=1)
        if failed:
            return None
        half = float(np.log(np.diagonal(factor)).sum())
        inverse, _ = lapack.dpotri(factor, lower=1, overwrite_c=1)
        W = np.triu(inverse.T) + np.triu(inverse.T, 1).T
        n = len(W) - int(self.intercept)
        if self.intercept:
            along = W.sum(axis=1)
            total = float(along.sum())
            W -= np.outer(along / total, along)
            half += 0.5 * float(np.log(total))
        c = W @ self.targets
        sizes = np.maximum(np.einsum("ij,ij->j", self.targets, c), np.finfo(np.float64).tiny)
        value = half / n + 0.5 * float(np.log(sizes / n).mean())
        slopes = (0.5 / n) * W - (0.5 / c.shape[1]) * (c / sizes) @ c.T
        return Slopes(value, slopes, alpha * float((np.diagonal(slopes) / self.weights).sum()))
