"""From one time to the next: how a state moves, and what is new in it.

A Matern process of smoothness p + 1/2 and rate r solves (d/dt + r)^(p + 1) f = noise. Its state z has the components
z_j = (d/du + 1)^j f in units u = r t, so that over a step u it moves by A_ij = exp(-u) u^(j - i) / (j - i)! for j >= i,
and what is new has the covariance Q_ij = q g(2 p - i - j) / ((p - i)! (p - j)!), where g(k) is the integral of
s^k exp(-2 s) from 0 to u. All terms are positive: nothing cancels, however near two times are.

Of several processes the first component of the first state is replaced by the sum of all, which is what is observed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import factorial

import numpy as np
from numpy.typing import NDArray

from mercer.compute.codegen.compiled import compiled
from mercer.kernels.processes import Process

Array = NDArray[np.float64]
ENDLESS = 800.0
"""A step after which nothing is left: exp(-800) is 0 in float64."""


@dataclass(frozen=True, eq=False)
class Steps:
    """What a sum of processes does from one time to the next, as numbers that the sweeps read.

    Of each process in its turn: A_0j; of all but the first what it decays less than the first; the factor of Q below
    the diagonal, row by row; and its diagonal.
    """

    processes: tuple[Process, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """The components of each state."""
        return tuple(each.size for each in self.processes)

    @property
    def width(self) -> int:
        """How many numbers there are for a step."""
        return sum(size + (b > 0) + size * (size - 1) // 2 + size for b, size in enumerate(self.sizes))

    def of(self, gaps: Array) -> Array:
        """(steps, width): the numbers of each gap between times, which is at least 0."""
        found = np.empty((len(gaps), self.width))
        fill(gaps, *self._numbers, found)
        return found

    @cached_property
    def _numbers(self) -> tuple[NDArray[np.int64], Array, Array]:
        """Sizes, rates, and what Q is in units of its integrals."""
        tables = np.zeros((len(self.processes), 8, 8))
        for table, process in zip(tables, self.processes, strict=True):
            table[: process.size, : process.size] = process.variance * integrated(process.size)
        return np.array(self.sizes, dtype=np.int64), np.array([each.rate for each in self.processes]), tables

    def start(self) -> tuple[Array, Array]:
        """The stationary covariance L diag(d) L': d, and L below its diagonal, row by row."""
        count = sum(self.sizes)
        columns, weights = np.zeros((count, count)), np.empty(count)
        place = 0
        for each in self.processes:
            inside = slice(place, place + each.size)
            lower = np.linalg.cholesky(stationary(each.size))
            columns[inside, inside], weights[inside] = lower, each.variance
            columns[0, place] = lower[0, 0]
            place += each.size
        return factored(columns, weights)


def factorials() -> Array:
    """0!, 1!, 2!, ..."""
    return np.array([float(factorial(k)) for k in range(16)])


def integrated(size: int) -> Array:
    """What Q is in units of g(2 p - i - j), for a variance of 1."""
    p, fact = size - 1, factorials()
    i, j = np.indices((size, size))
    q = 2.0 ** (2 * p + 1) * fact[p] ** 2 / fact[2 * p]
    return np.asarray(q / fact[p - i] / fact[p - j])


def stationary(size: int) -> Array:
    """The covariance of a state of variance 1: Q of an endless step."""
    k = 2 * (size - 1) - np.indices((size, size)).sum(axis=0)
    return np.asarray(integrated(size) * factorials()[k] / 2.0 ** (k + 1))


def factored(columns: Array, weights: Array) -> tuple[Array, Array]:
    """C diag(w) C' as L diag(d) L': d, and L below its diagonal, row by row."""
    rows, diagonal, below = columns.copy(), [], np.eye(len(columns))
    for r in range(len(rows)):
        diagonal.append(float(weights @ rows[r] ** 2))
        for s in range(r + 1, len(rows)):
            below[s, r] = float((weights * rows[r]) @ rows[s]) / diagonal[r]
            rows[s] -= below[s, r] * rows[r]
    return np.array(diagonal), below[np.tril_indices(len(rows), -1)]


@compiled()
def integrals(top: int, u: float, decay: float, inverse: Array, halves: Array, out: Array) -> None:
    """g(k), the integral of s^k exp(-2 s) from 0 to u, for k = 0 ... top: sums of positive terms where u is small.

    decay : exp(-2 u)
    inverse, halves : 1 / k, and 2^-(k + 1)
    """
    x = 2.0 * u
    out[0] = decay  # x^k exp(-x), until it is overwritten from above
    for k in range(1, top + 1):
        out[k] = out[k - 1] * x
    if x < top + 2.0:
        term = inverse[top + 1]
        total = term
        k = top + 2
        while term > 1e-17 * total:
            term *= x * inverse[k]
            total += term
            k += 1
        value = total * out[top] * x
    else:
        term = 1.0
        total = 1.0
        whole = 1.0
        for k in range(1, top + 1):
            term *= x / k
            total += term
            whole *= k
        value = whole * (1.0 - decay * total)
    for k in range(top, -1, -1):  # value is the integral of x^k exp(-x), and k times the next is it and x^k exp(-x)
        after = (value + out[k]) * inverse[k]
        out[k] = value * halves[k]
        value = after


@compiled()
def fill(gaps: Array, sizes: NDArray[np.int64], rates: Array, tables: Array, out: Array) -> None:
    """The numbers of all steps; those of equal gaps in a row are found once.

    tables : (processes, 8, 8), what Q is in units of g
    """
    g, Q = np.empty(16), np.empty((8, 8))
    factors, inverse, halves = np.empty(8), np.zeros(128), np.empty(16)
    factors[0] = 1.0
    for k in range(1, 8):
        factors[k] = factors[k - 1] / k
    for k in range(1, 128):
        inverse[k] = 1.0 / k
    for k in range(16):
        halves[k] = 0.5 ** (k + 1.0)
    last = -1.0
    for i in range(len(gaps)):
        if gaps[i] == last:
            out[i] = out[i - 1]
            continue
        last = gaps[i]
        place = 0
        first = min(last * rates[0], ENDLESS)
        for b in range(len(sizes)):
            size = sizes[b]
            p = size - 1
            u = min(last * rates[b], ENDLESS)
            decay = np.exp(-u)
            power = decay
            for j in range(size):
                out[i, place + j] = power * factors[j]
                power *= u
            place += size
            if b > 0:
                more = u - first
                out[i, place] = np.expm1(-more) * np.exp(-first) if more > 0.0 else -np.expm1(more) * decay
                place += 1
            integrals(2 * p, u, decay * decay, inverse, halves, g)
            for r in range(size):
                for s in range(r + 1):
                    Q[r, s] = tables[b, r, s] * g[2 * p - r - s]
            diagonal = place + size * (size - 1) // 2
            for s in range(size):
                pivot = Q[s, s] if Q[s, s] > 0.0 else 0.0
                out[i, diagonal + s] = pivot
                inverted = 1.0 / pivot if pivot > 0.0 else 0.0
                for r in range(s + 1, size):
                    out[i, place + r * (r - 1) // 2 + s] = Q[r, s] * inverted
                for r in range(s + 1, size):
                    ratio = out[i, place + r * (r - 1) // 2 + s]
                    for t in range(s + 1, r + 1):
                        Q[r, t] -= ratio * Q[t, s]
            place = diagonal + size


@compiled()
def multiply(gaps: Array, sizes: NDArray[np.int64], rates: Array, heads: Array, V: Array, out: Array) -> None:
    """K V for the covariance of a sum of processes at ordered times; row b of heads is that of z with f, times k(0)."""
    state, moved = np.zeros((V.shape[1], 8)), np.zeros(8)
    n = len(V)
    for b in range(len(sizes)):
        size = sizes[b]
        for turn in range(2):
            state[:] = 0.0
            for step in range(n):
                i = step if turn == 0 else n - 1 - step
                u = min(rates[b] * (gaps[i] if turn == 0 else (gaps[i + 1] if step > 0 else 0.0)), ENDLESS)
                decay = np.exp(-u)
                for c in range(V.shape[1]):
                    for r in range(size):
                        total = 0.0
                        for s in range(size - 1, r - 1, -1):
                            total = state[c, s] + total * u / (s - r + 1.0)
                        moved[r] = decay * total
                    if turn == 1:
                        out[i, c] += moved[0]
                    for r in range(size):
                        state[c, r] = moved[r] + heads[b, r] * V[i, c]
                    if turn == 0:
                        out[i, c] += state[c, 0]
