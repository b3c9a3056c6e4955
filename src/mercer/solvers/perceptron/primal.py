"""The perceptron on stored features: theta, and whether a row is a mistake, the same to the last bit in all ways.

A compiled loop takes one row after the other. Without it NumPy takes a block of rows at once, with the matrix of their
inner products; it takes about ten calls for each mistake, and so the loop is loaded once that took as long as loading
does. Both round scores, each in its own way. So where the rounding could decide, the score is computed anew in one
order of its terms; and theta is the sum of rows in the order of the mistakes. So the mistakes, and all that comes of
them, depend on the data alone.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from numpy.typing import NDArray

from mercer.compute.codegen import jit_cache
from mercer.compute.codegen.compiled import compiled
from mercer.solvers.perceptron.perceptron import Rows, Space, margins, rivals

Array = NDArray[np.float64]
EPS = float(np.finfo(np.float64).eps)
ROUNDINGS = 4.0
"""Units of rounding of |theta| |x| by which a score may be off for each term of its sums, generously."""
LOADING_SECONDS = 0.1
"""Seconds that NumPy takes, in all fits of a process, until compiled loops are loaded."""
NUMPY_ROWS, SEARCH_ROWS = 128, 64
"""Rows of a block that NumPy takes at once, and of these at which the next mistake is looked for."""


class _Spent:
    """Seconds that NumPy took so far."""

    seconds = 0.0


def loops_pay() -> bool:
    """Whether compiled loops are there, or worth loading."""
    return ("numba" in sys.modules or _Spent.seconds > LOADING_SECONDS) and jit_cache.numba_works()


class Primal(Space):
    """f(x) = theta.phi(x): features are stored, and theta is learned.

    features : (n, p)
    theta : (outputs, p), changed in place
    known : how many mistakes are in theta already
    """

    def __init__(self, features: Array, theta: Array, known: int = 0) -> None:
        self.features, self.count, self.theta, self.made = features, len(features), theta, known
        squares = np.einsum("ij,ij->i", features, features)
        self.longest = float(squares.max(initial=0.0))

    def scores(self, rows: Rows) -> Array:
        return np.asarray(self.features[rows] @ self.theta.T)

    def follow(self, rows: Rows, right: Rows) -> tuple[Rows, Rows]:
        if loops_pay():
            at, wrong = np.empty(len(rows), np.intp), np.empty(len(rows), np.intp)
            unit = ROUNDINGS * EPS * self.longest
            count = follow_loop(self.features, rows, right, self.theta, self.made, unit, at, wrong)
            found = at[:count], wrong[:count]
        else:
            start = time.perf_counter()
            found = self._by_numpy(rows, right)
            _Spent.seconds += time.perf_counter() - start
        self.made += len(found[0])
        return found

    def _by_numpy(self, rows: Rows, right: Rows) -> tuple[Rows, Rows]:
        at, wrong = list[int](), list[int]()
        for start in range(0, len(rows), NUMPY_ROWS):
            part, most = slice(start, start + NUMPY_ROWS), self.made + start + NUMPY_ROWS
            sure = ROUNDINGS * EPS * self.longest * most * (self.features.shape[1] + most + 8)
            own, features = right[part], self.features[rows[part]]
            if len(self.theta) == 1:
                signs = np.where(own == 1, 1.0, -1.0)
                found = _two_classes(features * signs[:, None], self.theta[0], sure)
                others = (1 - own[found]).tolist()
            else:
                found, others = _many_classes(features, own, self.theta, sure)
            at += [start + i for i in found]
            wrong += others
        return np.array(at, np.intp), np.array(wrong, np.intp)


# -- NumPy ------------------------------------------------------------------------------------------------------------


def _two_classes(signed: Array, theta: Array, sure: float) -> list[int]:
    """Which rows are mistakes, one after the other; theta is changed.

    signed : the rows, those of the first class with the other sign
    """
    scores, K = signed @ theta, signed @ signed.T
    at, begin = list[int](), 0
    while begin < len(scores):
        doubtful = ~(scores[begin : begin + SEARCH_ROWS] > sure)
        first = int(doubtful.argmax())
        if not doubtful[first]:
            begin += SEARCH_ROWS
            continue
        i = begin + first
        begin = i + 1
        if scores[i] < -sure or not (theta * signed[i]).cumsum()[-1] > 0:
            at.append(i)
            theta += signed[i]
            scores[begin:] += K[i, begin:]
    return at


def _many_classes(features: Array, right: Rows, theta: Array, sure: float) -> tuple[list[int], list[int]]:
    """Which rows are mistakes, and which classes were taken for theirs; theta is changed."""
    scores, K = features @ theta.T, features @ features.T
    at, wrong, begin = list[int](), list[int](), 0
    while begin < len(right):
        near = slice(begin, begin + SEARCH_ROWS)
        others = rivals(scores[near], right[near])
        doubtful = ~(margins(scores[near], right[near], others) > sure)
        first = int(doubtful.argmax())
        if not doubtful[first]:
            begin += SEARCH_ROWS
            continue
        i, own, other = begin + first, int(right[begin + first]), int(others[first])
        begin = i + 1
        if not _decided(scores[i], own, other, sure):
            exact = (theta * features[i]).cumsum(axis=1)[:, -1]
            other = int(rivals(exact[None], right[i : i + 1])[0])
            if exact[own] - exact[other] > 0:
                continue
        at.append(i)
        wrong.append(other)
        theta[own] += features[i]
        theta[other] -= features[i]
        scores[begin:, own] += K[i, begin:]
        scores[begin:, other] -= K[i, begin:]
    return at, wrong


def _decided(scores: Array, right: int, other: int, sure: float) -> bool:
    """Whether a row is a mistake beyond doubt, and which class scores highest instead."""
    below = np.delete(scores, [right, other]).max(initial=-np.inf)
    return bool(scores[other] - scores[right] > sure and scores[other] - below > sure)


# -- loops ------------------------------------------------------------------------------------------------------------


@compiled(fastmath={"reassoc", "contract"})
def quick(row: Array, theta: Array) -> float:
    """An inner product, in any order of its terms."""
    total = 0.0
    for j in range(len(row)):
        total += row[j] * theta[j]
    return total


@compiled()
def ordered(row: Array, theta: Array) -> float:
    """An inner product, in the order of its terms."""
    total = 0.0
    for j in range(len(row)):
        total += row[j] * theta[j]
    return total


@compiled()
def best_other(scores: Array, right: int) -> int:
    """The class of the highest score but that of the right one, the first of equals."""
    found = 1 if right == 0 else 0
    for c in range(len(scores)):
        if c != right and scores[c] > scores[found]:
            found = c
    return found


@compiled()
def is_decided(scores: Array, right: int, other: int, sure: float) -> bool:
    """Whether a row is a mistake beyond doubt, and which class scores highest instead."""
    decided = scores[other] - scores[right] > sure
    for c in range(len(scores)):
        if c not in (right, other):
            decided = decided and scores[other] - scores[c] > sure
    return bool(decided)


@compiled()
def follow_loop(
    features: Array, rows: Rows, classes: Rows, theta: Array, made: int, unit: float, at: Rows, wrong: Rows
) -> int:
    """All rows, one after the other; how many are mistakes: where they are, and which class was taken for theirs."""
    outputs, width = theta.shape
    scores = np.empty(max(2, outputs))
    count = 0
    for t in range(len(rows)):
        x, right = features[rows[t]], classes[t]
        sure = unit * made * (width + made + 8)
        if outputs == 1:
            scores[1], other = quick(x, theta[0]), 1 - right
            scores[0] = 0.0
        else:
            for c in range(outputs):
                scores[c] = quick(x, theta[c])
            other = best_other(scores, right)
        if scores[right] - scores[other] > sure:
            continue
        if not is_decided(scores, right, other, sure):
            for c in range(outputs):
                scores[1 if outputs == 1 else c] = ordered(x, theta[c])
            other = 1 - right if outputs == 1 else best_other(scores, right)
            if scores[right] - scores[other] > 0:
                continue
        at[count], wrong[count] = t, other
        count += 1
        made += 1
        if outputs == 1:
            for j in range(width):
                theta[0, j] += x[j] if right == 1 else -x[j]
        else:
            for j in range(width):
                theta[right, j] += x[j]
                theta[other, j] -= x[j]
    return count
