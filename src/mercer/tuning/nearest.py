"""Few columns, many rows: likelihoods and deviations from the rows that are nearest.

Of rows in a random order the likelihood is the product of p(y_i | y_1, ..., y_(i-1)). For a stationary kernel in few
columns it is well approximated where each row is conditioned on the nearest of the earlier rows alone (Vecchia). Early
rows have far neighbours and tell lengths, late rows have near ones and tell smoothness and noise; a sample of rows of
each generation, weighted by their number, estimates the whole.

References
----------
Vecchia, Estimation and model identification for continuous spatial processes, JRSS B 50 (1988); Guinness, Permutation
and grouping methods for sharpening Gaussian process approximations, Technometrics 60 (2018).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize, minimize_scalar
from scipy.spatial import cKDTree

from mercer.compute.runtime import threads
from mercer.kernels import Kernel
from mercer.kernels.evaluation.evaluate import matrix
from mercer.kernels.points import Points

Array = NDArray[np.float64]
FIRST = 32
"""Rows before the first generation."""
SAMPLED, LATE, NEIGHBOURS = 96, 384, 20
"""Rows of a generation that are looked at, of each of the last two, and the earlier rows on which each depends."""
RATIOS = 1e-8, 1e4
"""The least and the largest penalty that is tried, in units of k(x, x)."""
STRETCHES = 1 / 64, 2.0
"""The same for lengthscales, in units of the median distance: longer ones than the rows are apart cannot be told."""
CLOSEST, OTHERS, THINNED, LEAST = 16, 6, 4, 64
"""For deviations: rows among the nearest of all, and of each thinner part of the rows, a quarter of the one before."""
NUMBERS = 1 << 22
"""Pairs of a block."""


@dataclass(frozen=True, eq=False)
class Conditionals:
    """Rows, each with the nearest of earlier rows: what their likelihood needs.

    near : (s, k, d), neighbours less the row
    among : (s, k, k, d), differences of neighbours
    noise, noises : (s,) and (s, k), 1 / weight
    targets, others : (s, outputs) and (s, k, outputs)
    shares : (s,), how many rows each stands for
    intercept : whether there is an unknown mean
    """

    near: Array
    among: Array
    noise: Array
    noises: Array
    targets: Array
    others: Array
    shares: Array
    intercept: bool

    @classmethod
    def of(cls, X: Array, Y: Array, weights: Array, intercept: bool, random: np.random.Generator) -> Conditionals:
        """Cost: trees of twice as many rows as there are."""
        n, order = len(X), random.permutation(len(X))
        ends = [min(FIRST, n - 1)]
        while 2 * ends[-1] < n:
            ends.append(2 * ends[-1])
        k, rows, found, shares = min(NEIGHBOURS, ends[0]), [], [], []
        for place, end in enumerate(ends):
            some = LATE if place + 2 >= len(ends) else SAMPLED
            new = order[end : min(end + some, n, 2 * end)]
            earlier = order[:end]
            near = cKDTree(X[earlier]).query(X[new], k)[1].reshape(len(new), k)
            rows.append(new)
            found.append(earlier[near])
            last = n if place + 1 == len(ends) else 2 * end
            shares.append(np.full(len(new), (last - end) / len(new)))
        at, beside = np.concatenate(rows), np.concatenate(found)
        near, inverse = X[beside] - X[at][:, None], 1 / weights
        among = near[:, :, None] - near[:, None]
        return cls(near, among, inverse[at], inverse[beside], Y[at], Y[beside], np.concatenate(shares), intercept)

    def value(self, kernel: Kernel, alpha: float) -> float:
        """-log p(y) per row and output, less a constant, with the best mean and scale; inf where it is not known."""
        solved = _solved(kernel, self.near, self.among, alpha * self.noises, False)
        if solved is None:
            return np.inf
        c, k, _ = solved
        mass = _at_zero(kernel)
        v = mass + alpha * self.noise - (c * k).sum(axis=1)
        if not (v > 0).all():
            return np.inf
        left = self.targets - np.einsum("sk,skt->st", c, self.others)
        w, total = self.shares / v, self.shares.sum()
        if self.intercept:
            ones = 1 - c.sum(axis=1)
            size = float(w @ ones**2)
            left = left - ones[:, None] * ((w * ones) @ left / size if size > 0 else 0.0)
        scale = np.maximum(w @ left**2 / total, np.finfo(np.float64).tiny)
        return float(0.5 * np.log(scale).mean() + 0.5 * (self.shares @ np.log(v)) / total)

    def alpha(self, kernel: Kernel, given: Array | None = None) -> float:
        """The penalty of largest likelihood, among those that are given where some are."""
        mass = _at_zero(kernel)
        if given is not None:
            return float(given[int(np.argmin([self.value(kernel, float(alpha)) for alpha in given]))])
        low, high = np.log(RATIOS)
        tried = np.linspace(low, high, 14)
        best = int(np.argmin([self.value(kernel, mass * float(np.exp(one))) for one in tried]))
        bounds = tried[max(0, best - 1)], tried[min(len(tried) - 1, best + 1)]
        found = minimize_scalar(
            lambda one: self.value(kernel, mass * float(np.exp(one))),
            bounds=bounds,
            method="bounded",
            options={"xatol": 0.02},
        )
        return mass * float(np.exp(found.x))

    def stretched(self, kernel: Kernel, start: tuple[float, float] = (1.0, 0.1)) -> tuple[float, Kernel, float]:
        """The kernel with all lengthscales times the factor of largest likelihood, and its penalty; with the value.

        start : a factor, and a penalty in units of k(x, x)
        """
        mass = _at_zero(kernel)
        low, high = np.log([[STRETCHES[0], RATIOS[0]], [STRETCHES[1], RATIOS[1]]])

        def at(place: Array) -> float:
            factor, ratio = np.exp(np.clip(place, low, high))
            return self.value(kernel.stretched(float(factor)), mass * float(ratio))

        simplex = np.log(start) + np.array([[0.0, 0.0], [-1.0, 0.0], [0.0, -2.0]])
        options = {"initial_simplex": simplex, "xatol": 0.02, "fatol": 1e-4, "maxfev": 60}
        found = minimize(at, simplex[0], method="Nelder-Mead", options=options)
        factor, ratio = np.exp(np.clip(found.x, low, high))
        return float(found.fun), kernel.stretched(float(factor)), mass * float(ratio)


@dataclass(frozen=True, eq=False)
class NearestRows:
    """Rows in parts, each a quarter of the one before: near ones of all, and some of far ones.

    rows : the positions of each part
    """

    X: Array
    noise: Array
    rows: list[NDArray[np.intp]]
    trees: list[cKDTree]

    @classmethod
    def of(cls, X: Array, weights: Array, random: np.random.Generator) -> NearestRows:
        """Trees of all rows."""
        order, parts = random.permutation(len(X)), []
        while len(order) > THINNED * LEAST:
            cut = len(order) // THINNED
            parts.append(order[cut:])
            order = order[:cut]
        parts.append(order)
        return cls(X, 1 / weights, parts, [cKDTree(X[part]) for part in parts])

    def variances(self, kernel: Kernel, alpha: float, new: Array, intercept: bool) -> Array:
        """The variance of f(x) + b at new rows, in units of the scale of the kernel: at most those given all rows.

        Fewer rows never say more, so that no variance comes out too small. Cost: some 40^3 operations for a row.
        """
        mass, found = _at_zero(kernel), np.empty(len(new))
        counts = [min(CLOSEST if i == 0 else OTHERS, len(part)) for i, part in enumerate(self.rows)]
        step = max(1, NUMBERS // sum(counts) ** 2)

        def work(_: int, start: int, stop: threads.Stop) -> None:
            some = new[start : start + step]
            beside = np.hstack(
                [part[tree.query(some, k)[1].reshape(len(some), k)]
                 for part, tree, k in zip(self.rows, self.trees, counts, strict=True)]
            )  # fmt: skip
            near = self.X[beside] - some[:, None]
            among = near[:, :, None] - near[:, None]
            solved = _solved(kernel, near, among, alpha * self.noise[beside], intercept)
            if solved is None:
                found[start : start + step] = mass
                return
            c, k, ones = solved
            left = mass - (c * k).sum(axis=1)
            if intercept:
                left += (1 - c.sum(axis=1)) ** 2 / np.maximum(ones.sum(axis=1), np.finfo(np.float64).tiny)
            found[start : start + step] = np.maximum(left, 0.0)
            stop.step(0, len(some))

        starts = range(0, len(new), step)
        workers = min(threads.available(), max(1, len(starts)))
        threads.run(work, [list(starts[worker::workers]) for worker in range(workers)], len(new))
        return found


def _at_zero(kernel: Kernel) -> float:
    return float(kernel.evaluate_diagonal(Points(np.zeros((1, _width(kernel)))))[0])


def _width(kernel: Kernel) -> int:
    """Columns that a kernel takes, at least."""
    named = [column + 1 for column in kernel.needed or () if isinstance(column, int)]
    return kernel.width or max(named, default=1)


def _of_differences(kernel: Kernel, differences: Array) -> Array:
    """k as a function of x - z, of the shape of the differences less their last axis."""
    flat = np.ascontiguousarray(differences.reshape(-1, differences.shape[-1]))
    found = matrix(kernel, Points(np.zeros((1, flat.shape[1]))), Points(flat))
    return np.asarray(found, dtype=np.float64).reshape(differences.shape[:-1])


def _solved(
    kernel: Kernel, near: Array, among: Array, noises: Array, with_ones: bool
) -> tuple[Array, Array, Array] | None:
    """(K + noise)^-1 k, k, and (K + noise)^-1 1, for each row; None where a matrix is singular."""
    k = _of_differences(kernel, near)
    upper = np.triu_indices(near.shape[1], 1)
    values = _of_differences(kernel, among[:, upper[0], upper[1]])
    K = np.empty((len(k), k.shape[1], k.shape[1]))
    K[:, upper[0], upper[1]] = values
    K[:, upper[1], upper[0]] = values
    diagonal = np.arange(K.shape[1])
    K[:, diagonal, diagonal] = _at_zero(kernel) + noises
    right = np.stack([k, np.ones_like(k)], axis=2) if with_ones else k[:, :, None]
    try:
        found = np.linalg.solve(K, right)
    except np.linalg.LinAlgError:
        return None
    return np.asarray(found[:, :, 0]), k, np.asarray(found[:, :, -1])
