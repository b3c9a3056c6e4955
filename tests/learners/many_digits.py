"""Kernel ridge regression with as many digits as it takes: the oracle of the learners.

Each kernel is written down a second time, from its definition, for lists of mpmath's numbers; no code of Mercer's is
used. The model comes from its own equations: (K + alpha / s) a + b = y and sum(a) = 0, by the factors L D L'.
"""

from fractions import Fraction
from functools import cache, singledispatch

import mpmath
import numpy as np

from mercer import kernels as k

mp = mpmath.MPContext()
SPARE = 60
"""Digits beyond those that the condition number takes: angles of near-equal rows cancel some 40."""
VANISHING = 200
"""An alpha of 0 is taken as 10^-200 of the largest k(x, x): the limit, which is the shortest of all solutions."""


def predictions(kernel, X, Y, new, alphas, weights=None, intercept=True):
    """f(x) + b at each row of X and then of `new`, (rows, outputs): for the very floats given, rounded at the end.

    alphas : one per output
    """
    weights = np.ones(len(X)) if weights is None else np.asarray(weights, dtype=float)
    kept = np.flatnonzero(weights)
    largest = max(float(kernel.diagonal(np.asarray(X, dtype=float)).max()), np.finfo(float).tiny)
    least = weights[kept].min()
    found = np.empty((len(X) + len(new), Y.shape[1]))
    for alpha in np.unique(alphas):
        outputs = np.flatnonzero(alphas == alpha)
        lost = VANISHING if alpha == 0 else np.log10(1 + len(X) * weights.max() * largest / (alpha * least))
        mp.dps = SPARE + int(lost)
        ridge = mp.mpf(float(alpha)) if alpha else mp.mpf(largest) / mp.mpf(10) ** VANISHING
        K = _matrix(kernel, _lists(X), _lists(new))
        for t in outputs:
            found[:, t] = _solved(K, kept, _lists(Y[:, [t]]), ridge, weights, intercept)
    return found


def _matrix(kernel, X, new):
    """K with a row for each of X and of the new ones, and a column for each of X."""
    K = [[value(kernel, x, z) for z in X[: i + 1]] for i, x in enumerate(X)]
    whole = [[K[max(i, j)][min(i, j)] for j in range(len(X))] for i in range(len(X))]
    return whole + [[value(kernel, x, z) for z in X] for x in new]


def _solved(K, kept, y, ridge, weights, intercept):
    A = [[K[i][j] for j in kept[: at + 1]] for at, i in enumerate(kept)]
    for row, i in zip(A, kept, strict=True):
        row[-1] += ridge / mp.mpf(float(weights[i]))
    ones, c = _positive_solve(A, [[mp.one] * len(kept), [y[i][0] for i in kept]])
    b = mp.fsum(c) / mp.fsum(ones) if intercept else mp.zero
    a = [first - b * second for first, second in zip(c, ones, strict=True)]
    return [float(mp.fdot([row[j] for j in kept], a) + b) for row in K]


def _lists(table):
    return [[mp.mpf(number) for number in row] for row in np.asarray(table, dtype=float).tolist()]


def _positive_solve(A, rights):
    """A^-1 b for each of several b, from the lower triangle of A, which is used up: L D L' without pivots."""
    n = len(A)
    for j in range(n):
        scaled = [A[j][m] for m in range(j)]
        for m in range(j):
            A[j][m] = scaled[m] / A[m][m]
        A[j][j] -= mp.fdot(A[j][:j], scaled)
        for i in range(j + 1, n):
            A[i][j] -= mp.fdot(A[i][:j], A[j][:j])
    return [_substituted(A, list(right)) for right in rights]


def _substituted(L, x):
    n = len(x)
    for i in range(n):
        x[i] -= mp.fdot(L[i][:i], x[:i])
    x = [x[i] / L[i][i] for i in range(n)]
    for i in reversed(range(n)):
        x[i] -= mp.fdot([L[m][i] for m in range(i + 1, n)], x[i + 1 :])
    return x


# -- kernels ----------------------------------------------------------------------------------------------------------


@singledispatch
def value(kernel, x, z):
    """k(x, z) of two lists of mpmath's numbers."""
    raise TypeError(f"no formula of many digits for {kernel!r}")


def _squared(x, z):
    return mp.fsum((a - b) ** 2 for a, b in zip(x, z, strict=True))


def _distance(kernel, x, z):
    return mp.sqrt(_squared(x, z)) / mp.mpf(kernel.lengthscale)


def _angle(x, z):
    """From sine and cosine; None where a point is the origin."""
    dot, square = mp.fdot(x, z), mp.fdot(x, x) * mp.fdot(z, z)
    return mp.atan2(mp.sqrt(max(square - dot * dot, mp.zero)), dot) if square else None


@value.register
def _(kernel: k.Constant, x, z):
    return mp.mpf(kernel.variance)


@value.register
def _(kernel: k.Gaussian, x, z):
    return mp.exp(-_squared(x, z) / (2 * mp.mpf(kernel.lengthscale) ** 2))


@value.register
def _(kernel: k.Laplace, x, z):
    return mp.exp(-_distance(kernel, x, z))


@value.register
def _(kernel: k.Matern, x, z):
    nu = mp.mpf(kernel.nu)
    t = mp.sqrt(2 * nu) * _distance(kernel, x, z)
    if kernel.nu in (0.5, 1.5, 2.5):
        return (1 + (t if nu > 1 else 0) + (t * t / 3 if nu > 2 else 0)) * mp.exp(-t)
    return 2 ** (1 - nu) / mp.gamma(nu) * t**nu * mp.besselk(nu, t) if t else mp.one


@value.register
def _(kernel: k.RationalQuadratic, x, z):
    shape, scale = mp.mpf(kernel.shape), mp.mpf(kernel.lengthscale)
    return (1 + _squared(x, z) / (2 * shape * scale**2)) ** -shape


@value.register
def _(kernel: k.Sinc, x, z):
    t = _distance(kernel, x, z)
    return mp.sin(t) / t if t else mp.one


@value.register
def _(kernel: k.Wendland, x, z):
    u = _distance(kernel, x, z)
    coefficients = _wendland(kernel.dimension, kernel.smoothness)
    return (
        mp.fdot((mp.mpf(c.numerator) / c.denominator, u**i) for i, c in enumerate(coefficients)) if u < 1 else mp.zero
    )


@cache
def _wendland(dimension, smoothness):
    """From the definition: Askey's function, then r phi(r) integrated from u to 1, as often as the smoothness."""
    order = dimension // 2 + smoothness + 1
    coefficients = [Fraction(int(c)) for c in np.polynomial.polynomial.polypow([1, -1], order)]
    for _ in range(smoothness):
        raised = [Fraction(0), Fraction(0)] + [c / (i + 2) for i, c in enumerate(coefficients)]
        coefficients = [sum(raised)] + [-c for c in raised[1:]]
    return [c / coefficients[0] for c in coefficients]


@value.register
def _(kernel: k.Linear, x, z):
    return mp.fdot(x, z)


@value.register
def _(kernel: k.Polynomial, x, z):
    return (mp.mpf(kernel.offset) + mp.fdot(x, z)) ** kernel.degree


@value.register
def _(kernel: k.Exponential, x, z):
    return mp.exp(mp.fdot(x, z) / mp.mpf(kernel.lengthscale) ** 2)


@value.register
def _(kernel: k.Parabolic, x, z):
    return mp.fdot(x, z) + mp.fdot(x, x) * mp.fdot(z, z)


@value.register
def _(kernel: k.Cosine, x, z):
    square = mp.fdot(x, x) * mp.fdot(z, z)
    return mp.fdot(x, z) / mp.sqrt(square) if square else mp.zero


@value.register
def _(kernel: k.ArcCosine, x, z):
    a = _angle(x, z)
    if a is None:
        return mp.zero
    if kernel.order == 0:
        return 1 - a / mp.pi
    return mp.sqrt(mp.fdot(x, x) * mp.fdot(z, z)) * (mp.sin(a) + (mp.pi - a) * mp.cos(a)) / mp.pi


@value.register
def _(kernel: k.Geodesic, x, z):
    a = _angle(x, z)
    return mp.zero if a is None else mp.exp(-((a / mp.mpf(kernel.lengthscale)) ** mp.mpf(kernel.power)))


@value.register
def _(kernel: k.Min, x, z):
    return mp.fsum(map(min, x, z))


@value.register
def _(kernel: k.ChiSquared, x, z):
    return mp.fsum(2 * a * b / (a + b) for a, b in zip(x, z, strict=True) if a + b)


@value.register
def _(kernel: k.ExponentialChiSquared, x, z):
    total = mp.fsum((a - b) ** 2 / (a + b) for a, b in zip(x, z, strict=True) if a + b)
    return mp.exp(-total / mp.mpf(kernel.lengthscale))


@value.register
def _(kernel: k.ProductLaplace, x, z):
    return mp.exp(-mp.fsum(abs(a - b) for a, b in zip(x, z, strict=True)) / mp.mpf(kernel.lengthscale))


@value.register
def _(kernel: k.ProductSinc, x, z):
    steps = [(a - b) / mp.mpf(kernel.lengthscale) for a, b in zip(x, z, strict=True)]
    return mp.fprod(mp.sin(t) / t for t in steps if t)


@value.register
def _(kernel: k.Periodic, x, z):
    turns = [(a - b) / mp.mpf(kernel.period) for a, b in zip(x, z, strict=True)]
    return mp.exp(-2 * mp.fsum(mp.sinpi(t) ** 2 for t in turns) / mp.mpf(kernel.lengthscale) ** 2)


@value.register
def _(kernel: k.Trigonometric, x, z):
    turn = mp.one if kernel.period == 2 * np.pi else 2 * mp.pi / mp.mpf(kernel.period)
    steps = [turn * (a - b) for a, b in zip(x, z, strict=True)]
    return mp.fsum(mp.cos(j * t) for t in steps for j in range(1, kernel.order + 1))


@value.register
def _(kernel: k.Powers, x, z):
    return mp.fsum((a * b) ** power for a, b in zip(x, z, strict=True) for power in range(1, kernel.degree + 1))


@value.register
def _(kernel: k.Subsets, x, z):
    sums = [mp.one] + [mp.zero] * len(x)
    for seen, (a, b) in enumerate(zip(x, z, strict=True), start=1):
        for order in range(seen, 0, -1):
            sums[order] += a * b * sums[order - 1]
    highest = len(x) if kernel.max_order is None else kernel.max_order
    return mp.fsum(sums[kernel.min_order : highest + 1])


@value.register
def _(kernel: k.Monomials, x, z):
    """One coordinate after the other: the sum of all monomials of each degree that hold the coordinates so far."""
    sums = [mp.one] + [mp.zero] * kernel.degree
    for a, b in zip(x, z, strict=True):
        for degree in range(1, kernel.degree + 1):
            sums[degree] += a * b * sums[degree - 1]
    return mp.fsum(sums if kernel.include_bias else sums[1:])


# -- rules ------------------------------------------------------------------------------------------------------------


@value.register
def _(kernel: k.Sum, x, z):
    return mp.fsum(value(part, x, z) for part in kernel.parts)


@value.register
def _(kernel: k.Product, x, z):
    return mp.fprod(value(part, x, z) for part in kernel.parts)


@value.register
def _(kernel: k.Power, x, z):
    return value(kernel.kernel, x, z) ** mp.mpf(kernel.exponent)


@value.register
def _(kernel: k.Exp, x, z):
    return mp.exp(value(kernel.kernel, x, z))


@value.register
def _(kernel: k.Normalized, x, z):
    square = value(kernel.kernel, x, x) * value(kernel.kernel, z, z)
    return value(kernel.kernel, x, z) / mp.sqrt(square) if square else mp.zero


@value.register
def _(kernel: k.Scaled, x, z):
    scales = [mp.mpf(scale) for scale in kernel.lengthscales]
    return value(kernel.kernel, *([a / s for a, s in zip(point, scales, strict=True)] for point in (x, z)))


@value.register
def _(kernel: k.On, x, z):
    return value(kernel.kernel, *([point[column] for column in kernel.columns] for point in (x, z)))


@value.register
def _(kernel: k.After, x, z):
    matrix = _lists(kernel.matrix)
    return value(kernel.kernel, *([mp.fdot(row, point) for row in matrix] for point in (x, z)))


@value.register
def _(kernel: k.Weighted, x, z):
    first, second = kernel.function(np.array([x, z], dtype=object))
    return first * value(kernel.kernel, x, z) * second
