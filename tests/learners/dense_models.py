"""The oracle of the learners: dense equations of the problem itself, solved anew for each question.

Weights are s, and M = K + alpha diag(1/s): sum_i s_i (y_i - f(x_i) - b)^2 + alpha |f|^2 is least where M a + b = y and,
with an intercept, sum(a) = 0. Nothing here is centred, decomposed or shared between two penalties.
"""

import numpy as np


def draw(n=24, d=3, outputs=1, seed=0):
    """Rows, and targets that they explain in part."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    Y = np.column_stack([np.sin((t + 1) * X[:, 0]) + X[:, -1] + 3 for t in range(outputs)])
    Y = Y + 0.5 * random.normal(size=Y.shape)
    return X, Y[:, 0] if outputs == 1 else Y


def saddle(K, y, alpha, intercept, s=None):
    """Dual coefficients and the intercept, for one output."""
    n, s = len(y), np.ones(len(y)) if s is None else s
    M = np.zeros((n + 1, n + 1))
    M[:n, :n] = K + alpha * np.diag(1 / s)
    M[n, n] = 0.0 if intercept else 1.0
    M[:n, n] = M[n, :n] = float(intercept)
    found = np.linalg.solve(M, np.append(y, 0.0))
    return found[:n], found[n]


def predict(K, y, alpha, intercept, s, across):
    """Predictions where `across` are the similarities with the rows; rows of weight zero are left out."""
    rows = np.flatnonzero(s)
    a, b = saddle(K[np.ix_(rows, rows)], y[rows], alpha, intercept, s[rows])
    return across[:, rows] @ a + b


def left_out(K, y, alpha, intercept, s=None, copies=None):
    """y_i less its prediction by a model without one copy of row i, or without the row where it has less than one.

    n models at once, with the weights r of what is left: (D K D + alpha) c + D b = D y, sum(D c) = 0, for D = sqrt(r).

    y : (n,) or (n, outputs)
    copies : how many of them a row has, where its weight says more than that
    """
    n, targets = len(y), y.reshape(len(y), -1)
    s = np.ones(n) if s is None else s
    rest = np.tile(s, (n, 1))
    np.fill_diagonal(rest, s * (1 - np.minimum(1, 1 / (s if copies is None else copies))))
    D = np.sqrt(rest)
    M = np.zeros((n, n + 1, n + 1))
    M[:, :n, :n] = D[:, :, None] * K * D[:, None, :] + alpha * np.eye(n)
    M[:, n, n] = 0.0 if intercept else 1.0
    M[:, :n, n] = M[:, n, :n] = D * intercept
    right = np.zeros((n, n + 1, targets.shape[1]))
    right[:, :n] = D[:, :, None] * targets
    found = np.linalg.solve(M, right)
    predictions = np.einsum("ij,ij,ijt->it", K, D, found[:, :n]) + found[:, n]
    return (targets - predictions).reshape(y.shape)


def loo_error(K, y, alpha, intercept, s=None):
    """The mean square of these, copies counted: one number per output."""
    return np.average(left_out(K, y, alpha, intercept, s) ** 2, axis=0, weights=s)


def hat(K, alpha, intercept, s=None):
    """The matrix that takes y to predictions, a column at a time."""
    n = len(K)
    weights = np.ones(n) if s is None else s
    return np.column_stack([predict(K, column, alpha, intercept, weights, K) for column in np.eye(n)])


def process(K, y, alpha, intercept, s=None):
    """The factor of the kernel of largest likelihood, and the log-likelihood at it; weights are integers.

    An intercept with a flat prior takes one observation, and 1'M^-1 1 joins the determinant.
    """
    copies = np.arange(len(y)) if s is None else np.repeat(np.arange(len(y)), s.astype(int))
    y, n = y[copies], len(copies)
    inverse = np.linalg.inv(K[np.ix_(copies, copies)] + alpha * np.eye(n))
    determinant, m = -np.linalg.slogdet(inverse)[1], n
    if intercept:
        one = inverse.sum(axis=1)
        determinant += np.log(one.sum())
        inverse, m = inverse - np.outer(one, one) / one.sum(), n - 1
    variance = y @ inverse @ y / m
    return variance, -(m * np.log(2 * np.pi * variance) + determinant + m) / 2


def deviations(K, across, own, alpha, intercept, s=None):
    """The standard deviation of f + b at new rows in units of sqrt(variance): universal kriging's formula.

    across : similarities of new rows with the rows; own : of new rows with themselves
    """
    M = K + alpha * np.diag(np.ones(len(K)) if s is None else 1 / s)
    solved = np.linalg.solve(M, across.T)
    found = own - np.einsum("ij,ji->i", across, solved)
    if intercept:
        one = np.linalg.solve(M, np.ones(len(K)))
        found = found + (1 - across @ one) ** 2 / one.sum()
    return np.sqrt(found)
