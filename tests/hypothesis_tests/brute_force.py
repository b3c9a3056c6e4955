"""The statistics from their definitions, by loops over pairs and quadruples of rows."""

from itertools import permutations

import numpy as np


def distance_of_means(K, first):
    """The unbiased squared distance of two samples, from the matrix of all rows; `first` are those of one sample."""
    first = set(first)
    second = [i for i in range(len(K)) if i not in first]
    m, n = len(first), len(second)
    inside = sum(K[i][j] for i in first for j in first if i != j) / (m * (m - 1))
    others = sum(K[i][j] for i in second for j in second if i != j) / (n * (n - 1))
    return inside + others - 2 * sum(K[i][j] for i in first for j in second) / (m * n)


def dependence(K, L):
    """The unbiased HSIC: the mean over all quadruples of different rows of k_ab (l_ab + l_cd - 2 l_ac)."""
    found = [K[a, b] * (L[a, b] + L[c, d] - 2 * L[a, c]) for a, b, c, d in permutations(range(len(K)), 4)]
    return float(np.mean(found))


def dependence_by_sums(K, L):
    """The same for more rows, by the formula of Song et al. (2012), equation 5."""
    n = len(K)
    K, L = K - np.diag(np.diag(K)), L - np.diag(np.diag(L))
    product = K @ L
    rest = K.sum() * L.sum() / ((n - 1) * (n - 2)) - 2 * product.sum() / (n - 2)
    return (np.trace(product) + rest) / (n * (n - 3))


def matrix_by_loops(X, value):
    """k(x_i, x_j), one pair after the other."""
    return np.array([[value(x, z) for z in X] for x in X])


def gaussian(lengthscale):
    return lambda x, z: np.exp(-sum((a - b) ** 2 for a, b in zip(x, z, strict=True)) / (2 * lengthscale**2))


def laplace(lengthscale):
    return lambda x, z: np.exp(-np.sqrt(sum((a - b) ** 2 for a, b in zip(x, z, strict=True))) / lengthscale)


def polynomial(degree):
    return lambda x, z: (1 + sum(a * b for a, b in zip(x, z, strict=True))) ** degree


def uniform(p_values, draws, random):
    """P-values on a grid of 1 / (1 + draws), spread evenly over their steps: uniform where they are uniform there."""
    p_values = np.asarray(p_values)
    return p_values - random.random(len(p_values)) / (1 + draws)
