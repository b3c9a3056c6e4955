"""The oracle of the closed forms: models that are fitted again, by the saddle-point equations of the problem itself."""

import mpmath
import numpy as np

from mercer.kernels import Gaussian
from mercer.operators import Centering
from mercer.solvers import Eigen
from mercer.tuning.sides import DualSide, PrimalSide


def predict(K, Y, s, alpha, intercept, i):
    """The prediction at row i of the model with weights s, by (K + alpha / s) a + b = y and sum(a) = 0."""
    rows = np.flatnonzero(s)
    n = len(rows)
    M = np.zeros((n + intercept, n + intercept))
    M[:n, :n] = K[np.ix_(rows, rows)] + alpha * np.diag(1 / s[rows])
    M[:n, n:], M[n:, :n] = 1.0, 1.0
    right = np.zeros((n + intercept, Y.shape[1]))
    right[:n] = Y[rows]
    found = np.linalg.solve(M, right)
    return K[i, rows] @ found[:n] + (found[n] if intercept else 0.0)


def predict_precisely(K, Y, s, alpha, intercept, i):
    """The same with many digits, for one output; an alpha of zero becomes so small that it shows the limit."""
    digits = 50 if alpha else 120
    with mpmath.workdps(digits):
        rows = [int(j) for j in np.flatnonzero(s)]
        n = len(rows)
        M, right = mpmath.zeros(n + intercept, n + intercept), mpmath.zeros(n + intercept, 1)
        for p, j in enumerate(rows):
            for q, k in enumerate(rows):
                M[p, q] = mpmath.mpf(K[j, k])
            M[p, p] += (mpmath.mpf(alpha) or mpmath.mpf(10) ** (-digits // 3)) / mpmath.mpf(s[j])
            right[p] = mpmath.mpf(Y[j, 0])
            if intercept:
                M[p, n] = M[n, p] = 1
        found = mpmath.lu_solve(M, right)
        at = mpmath.fsum(mpmath.mpf(K[i, j]) * found[p] for p, j in enumerate(rows))
        return float(at + (found[n] if intercept else 0))


def without_copies(K, Y, s, alpha, intercept, predict=predict):
    """y_i less its prediction without one copy of row i, or without the row where it has less than one."""
    errors = []
    for i in range(len(s)):
        rest = s.copy()
        rest[i] -= min(1.0, s[i])
        errors.append(Y[i] - predict(K, Y, rest, alpha, intercept, i))
    return np.array(errors)


def without_folds(K, Y, s, alpha, intercept, folds, predict=predict):
    """y_i less its prediction without the rows of its fold."""
    return np.array(
        [Y[i] - predict(K, Y, np.where(folds == folds[i], 0.0, s), alpha, intercept, i) for i in range(len(s))]
    )


def dual(K, Y, s, intercept):
    centering = Centering(np.asarray(s, dtype=float), intercept)
    A = centering.matrix(np.array(K, dtype=float))
    return DualSide(Eigen().decompose(A.values), centering, A.pull, centering.rows(Y))


def primal(Phi, Y, s, intercept):
    centering = Centering(np.asarray(s, dtype=float), intercept)
    Z = centering.rows(Phi)
    return PrimalSide(Eigen().decompose(Z.T @ Z), Z, centering, centering.rows(Y))


def draw(n=14, d=2, outputs=2, seed=0, lengthscale=0.7):
    """Rows, a well-conditioned kernel matrix of them, and targets."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    return X, Gaussian(lengthscale)(X), random.normal(size=(n, outputs)) + 3


WEIGHTS = {
    "ones": np.ones(14),
    "whole": np.array([1.0, 2, 3, 1, 5, 1, 1, 2, 1, 1, 1, 4, 1, 2]),
    "fractions": np.random.default_rng(5).uniform(0.1, 4.0, 14),
    "below one": np.random.default_rng(6).uniform(0.05, 0.95, 14),
    "mixed": np.array([1e-3, 1e3, 1, 1 + 1e-9, 0.5, 1, 2, 1, 30, 1, 0.1, 1, 1, 1]),
}
