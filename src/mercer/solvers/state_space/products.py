"""Products with the covariance of a sum of processes, n numbers at a time, and its largest eigenvalue."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, eigsh

from mercer.operators import Centering
from mercer.solvers.state_space.series import Series
from mercer.solvers.state_space.steps import ENDLESS, factorials, multiply, stationary

Array = NDArray[np.float64]
SAMPLED = 4096
"""Times among which the largest eigenvalue is looked for, at most."""


def product(series: Series, V: Array) -> Array:
    """K V, (n, columns), of the processes alone."""
    heads = np.zeros((len(series.sizes), 8))
    for b, process in enumerate(series.steps.processes):
        heads[b, : process.size] = process.variance * stationary(process.size)[0]
    gaps, out = np.diff(series.times, prepend=series.times[0]), np.zeros(V.shape)
    multiply(gaps, series.sizes, series.rates, heads, np.ascontiguousarray(V, dtype=np.float64), out)
    return out


def covariance(series: Series, left: Array, right: Array) -> Array:
    """The covariance of the processes between all pairs of times."""
    apart, fact = np.abs(left[:, None] - right), factorials()
    found = np.zeros_like(apart)
    for process in series.steps.processes:
        u, head = np.minimum(process.rate * apart, ENDLESS), stationary(process.size)[0]
        total = np.zeros_like(u)
        for j in range(process.size - 1, -1, -1):
            total = total * u + head[j] / fact[j]
        found = found + process.variance * np.exp(-u) * total
    return np.asarray(found)


def largest(series: Series, centering: Centering) -> float:
    """The largest eigenvalue of P D K D P, or the mean of its diagonal where that is larger (`Centering`).

    Of more than `SAMPLED` times some are looked at, as many from each part of the series, with the weight of all.
    """
    series, whole = _some(series)
    if whole != 1.0:
        centering = Centering.of(series.count, series.weights * whole, centering.intercept)
    features = series.columns[:, series.outputs :][:, series.penalties > 0]

    def times(V: Array) -> Array:
        return product(series, V) + features @ (features.T @ V)

    roots = centering.roots
    diagonal = series.variances.sum() + np.square(features).sum(axis=1)
    means = times(centering.shares[:, None])[:, 0] if centering.intercept else np.zeros(series.count)
    middle = float(centering.shares @ means)
    mean = float((centering.weights * (diagonal - 2 * means + middle)).mean())

    def moved(V: Array) -> Array:
        x = V.reshape(series.count, -1)
        x = x - centering.direction[:, None] * (centering.direction @ x)
        y = roots[:, None] * times(roots[:, None] * x)
        return np.asarray(y - centering.direction[:, None] * (centering.direction @ y))

    if series.count < 3:  # too few for Lanczos
        return max(float(np.linalg.eigvalsh(moved(np.eye(series.count)))[-1]), mean if centering.intercept else 0.0)
    first = np.cos(np.arange(series.count))
    found = eigsh(
        LinearOperator((series.count,) * 2, matvec=moved, dtype=np.float64),
        1,
        v0=first,
        tol=1e-12,
        return_eigenvectors=False,
    )
    return max(float(found[0]), mean if centering.intercept else 0.0)


def _some(series: Series) -> tuple[Series, float]:
    """Some of the times, and how many times more weight all have."""
    if series.count <= SAMPLED:
        return series, 1.0
    from dataclasses import replace

    rows = np.linspace(0, series.count - 1, SAMPLED).astype(np.intp)
    part = replace(series, times=series.times[rows], weights=series.weights[rows], columns=series.columns[rows])
    return part, float(series.weights.sum() / part.weights.sum())
