"""How far a fit of features is from the exact solution, by rows of the kernel matrix that are drawn.

See `bounds.py` for what is bounded. Rows i_1 .. i_m are drawn, with replacement and probabilities p_i, and an
empirical Bernstein bound is solved for what its range depends on. For independent z_j with a mean Z and a range of
width W it says (Maurer and Pontil, theorem 4, scaled) that with probability 1 - delta

    Z <= mean + sqrt(2 V log(2 / delta) / m) + 7 W log(2 / delta) / (3 (m - 1)),    V the sample variance.

Landmarks: with a = D P c and G = k - k~ Q is a'G a, and z = a_i (G a)_i / p_i has the mean Q. G is a kernel, so that
|(G a)_i| <= sqrt(G_ii Q), and |z| <= C sqrt(Q) for C = max |a_i| sqrt(G_ii) / p_i. The bound is a quadratic inequality
for sqrt(Q), whose width W = 2 C sqrt(Q) is a number, though an unknown one. For one output p_i is proportional to
|a_i| sqrt(G_ii), and C their sum; for several, the mean of such. Always sqrt(Q) <= sum_i |a_i| sqrt(G_ii). Larger G_ii
may take the place of the true ones: those of the first landmarks alone.

Features: T = sum_i s_i g_i^2 for g_i = f~(x_i) - (K a)_i - h is at least |r|^2 for any number h (0 without an
intercept, else from draws of its own), and z = s_i g_i^2 / p_i has the mean T. With F^2 = a'K a = a'(f~ - h - g) <=
a'f~ + |a / sqrt(s)| sqrt(T) (a sums to zero with an intercept), |g_i| <= |f~(x_i) - h| + sqrt(k_ii) F bounds z, and
what comes out is quadratic in sqrt(T).

References
----------
Maurer and Pontil, Empirical Bernstein bounds and sample-variance penalization, COLT 2009.
"""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray

from mercer.compute.runtime.run import Run
from mercer.learners.certificates.approximation import Approximation
from mercer.learners.streaming.basis import LandmarkBasis
from mercer.lifts.pivoting import RELATIVE_TOLERANCE, strips, whitened
from mercer.operators import Gram

Array = NDArray[np.float64]
BOUND_PROBABILITY = 0.99
"""The probability of a bound, for all outputs together."""
OPERATIONS_PER_VALUE = 64.0
"""Operations on features, by value of the kernel: how much the residuals of landmarks may take."""
PILOT_SHARE = 0.1
"""The part of the draws that finds a level."""


def squares(
    given: Approximation, lifted: Array, random: np.random.Generator, pairs: int, run: Run
) -> tuple[Array, float]:
    """Q of a fit of landmarks, at most; and sum_i s_i G_ii, at most: |D G a|^2 is not more than their product.

    lifted : (p, outputs), Phi'a
    """
    a, n, basis, G = given.balanced, len(given.duals), given.basis, _residuals(given, pairs)
    sizes = np.abs(a) * np.sqrt(G)[:, None]
    chances = _mixed(sizes)
    rows = random.choice(n, max(2, pairs // n), p=chances)
    product = _product(given, rows, run) - basis.times(given.rows.rows(rows), basis.to_raw(lifted), run)
    above, width = _bernstein(a[rows] * product / chances[rows, None])
    found = _largest(2 * width * _most(sizes, chances), above)
    return np.asarray(np.minimum(found, sizes.sum(axis=0) ** 2)), float(given.centering.weights @ G)


def left(given: Approximation, random: np.random.Generator, pairs: int, run: Run) -> Array:
    """|Z w - A c| of a fit of any features, at most."""
    a, n, count = given.balanced, len(given.duals), max(4, pairs // len(given.duals))
    s, diagonal, fitted = given.centering.weights[:, None], given.diagonal[:, None], given.predicted(run)
    fitted = fitted - _level(given, fitted, random, max(2, int(PILOT_SHARE * count)), run)
    by_fit, by_size = s * fitted**2, s * diagonal
    chances = _mixed(np.column_stack([_mixed(by_fit), _mixed(by_size)]))
    rows = random.choice(n, count, p=chances)
    above, width = _bernstein(s[rows] * (fitted[rows] - _product(given, rows, run)) ** 2 / chances[rows, None])
    energy = np.maximum((a * fitted).sum(axis=0), 0.0)
    constant = above + 2 * width * (_most(by_fit, chances) + _most(by_size, chances) * energy)
    slope = 2 * width * _most(by_size, chances) * np.sqrt((a**2 / s).sum(axis=0))
    return np.asarray(np.sqrt(_largest(slope, constant)) + given.lost_at_rows)


def _level(given: Approximation, fitted: Array, random: np.random.Generator, count: int, run: Run) -> Array:
    """h: about the mean of f~(x_i) - (K a)_i, from draws of its own; 0 where there is no intercept."""
    if not given.centering.intercept:
        return np.zeros(fitted.shape[1])
    rows = random.choice(len(fitted), count, p=given.centering.shares)
    return np.asarray((fitted[rows] - _product(given, rows, run)).mean(axis=0))


def _residuals(given: Approximation, pairs: int) -> Array:
    """k(x, x) - |phi(x)|^2 of each row, at least: for the first landmarks alone where all of them take too long."""
    rows, basis, left = given.rows, cast(LandmarkBasis, given.basis), given.diagonal.copy()
    count = max(1, min(basis.width, int(np.sqrt(OPERATIONS_PER_VALUE * pairs / len(left)))))
    first = basis.first(count)
    for part in strips(len(left), count):
        values = whitened(first.factor, first.raw(rows.rows(part)))
        left[part] -= np.einsum("ij,ij->i", values, values)
    return np.maximum(left, RELATIVE_TOLERANCE * given.diagonal)


def _mixed(sizes: Array) -> Array:
    """The mean of the distributions that are proportional to columns; equal chances where all of them are zero."""
    sums = sizes.sum(axis=0)
    chances = (sizes / np.where(sums > 0, sums, 1.0)).mean(axis=1)
    total = float(chances.sum())
    return np.asarray(chances / total if total > 0 else np.full(len(chances), 1 / len(chances)))


def _most(sizes: Array, chances: Array) -> Array:
    """The largest size over its chance, by column."""
    ratios = np.divide(sizes, chances[:, None], out=np.zeros_like(sizes), where=chances[:, None] > 0)
    return np.asarray(ratios.max(axis=0))


def _product(given: Approximation, rows: NDArray[np.intp], run: Run) -> Array:
    """(K a)_i for some rows, each computed once."""
    different, place = np.unique(rows, return_inverse=True)
    some = given.rows.rows(different)
    return np.asarray(Gram.of(given.kernel, some, given.rows, watch=run.watch) @ given.balanced)[place]


def _bernstein(values: Array) -> tuple[Array, float]:
    """Of draws in columns: the mean with its deviation, and what the width of the range is to be multiplied by."""
    m, outputs = values.shape
    log = np.log(2 * outputs / (1 - BOUND_PROBABILITY))
    above = values.mean(axis=0) + np.sqrt(2 * values.var(axis=0, ddof=1) * log / m)
    return above, float(7 * log / (3 * (m - 1)))


def _largest(slope: Array, constant: Array) -> Array:
    """The largest q^2 with q^2 <= constant + slope q; infinite where there is none, which has a small chance."""
    inside = slope**2 + 4 * constant
    return np.where(inside >= 0, ((slope + np.sqrt(np.maximum(inside, 0.0))) / 2) ** 2, np.inf)
