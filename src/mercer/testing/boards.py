"""The law of boards: coefficients in a box at a backend, beside plain NumPy with the whole matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.backends.base import Backend
from mercer.backends.board import Board
from mercer.kernels import Gaussian, Kernel
from mercer.kernels.evaluation.evaluate import evaluator
from mercer.kernels.evaluation.plain import Plain
from mercer.kernels.points import DOUBLE, SINGLE, Points
from mercer.testing.laws import close, require

Array = NDArray[np.float64]
Rows = NDArray[np.intp]
KERNEL = Gaussian(1.5)
ROWS, CHOSEN, TURNS = 301, 40, 4
EXACT = {"float64": 1e-11, "float32": 2e-6}
"""How far values may be off, relative to the largest."""


@dataclass
class Truth:
    """What a board must say.

    K : the matrix among the rows at hand
    lower, upper, kink : the box, as `mercer.backends.board.Box` has it
    """

    K: Array
    b: Array
    g: Array
    lower: Array
    upper: Array
    kink: float

    def slopes(self) -> tuple[Array, Array]:
        """Where coefficients grow, and where falling gives something back; infinite where they cannot."""
        rises = self.g + np.where(self.b >= 0, self.kink, -self.kink)
        falls = self.g + np.where(self.b > 0, self.kink, -self.kink)
        return np.where(self.b < self.upper, rises, np.inf), np.where(self.b > self.lower, falls, -np.inf)

    def moved(self, chosen: Rows, b: Array) -> None:
        """Some coefficients are b now."""
        self.g += self.K[:, chosen] @ (b - self.b[chosen])
        self.b[chosen] = b

    def part(self, kept: Rows) -> Truth:
        """Of some rows."""
        b, g, lower, upper = (each[kept] for each in (self.b, self.g, self.lower, self.upper))
        return Truth(self.K[np.ix_(kept, kept)], b, g, lower, upper, self.kink)


def law_of_boards(backend: Backend) -> None:
    """Slopes, squares and gradients are true after any moves, the worst are chosen, and bits are the same twice."""
    for dtype in (DOUBLE, SINGLE):
        for kink in (0.0, 0.3):
            runs = [_tried(backend, np.dtype(dtype), kink) for _ in range(2)]
            if runs[0] is None or runs[1] is None:  # the matrix is worked with in this process
                return
            for one, two in zip(*runs, strict=True):
                require(np.array_equal(one, two), f"{np.dtype(dtype)}: other bits in the second run")


def _tried(backend: Backend, dtype: np.dtype[Any], kink: float) -> list[Array] | None:
    """Some turns on some of the rows, each beside the truth; all gradients, None where there is no board."""
    random, kernel = np.random.default_rng(0), KERNEL
    X = random.normal(size=(ROWS, 3)).astype(dtype).astype(np.float64)
    points, rows = Points(X, dtype=dtype), np.sort(random.permutation(ROWS)[: ROWS - 50])
    board = backend.board(evaluator(kernel, points, points), np.ones(ROWS))
    if board is None:
        return None
    truth, exact = _beginning(kernel, points, rows, kink, random), EXACT[dtype.name]
    board.begin(rows, truth, truth.b.copy(), truth.g.copy())
    recent, found = np.zeros(0, np.intp), []
    for turn in range(TURNS):
        rises, falls = truth.slopes()
        ends = np.array([rises.min(), falls.max()])
        close(board.ends(), ends, f"{dtype}, turn {turn}: the ends of slopes", exact)
        if turn == TURNS - 2:
            truth, recent = _left_out(board, truth, exact), recent[:0]
            continue
        chosen = board.chosen(CHOSEN)
        _are_the_worst(chosen, recent, rises, falls, exact)
        recent, own = chosen, np.clip(truth.b[chosen] + random.normal(size=len(chosen)), -1.0, 1.0)
        own[::5] = truth.b[chosen[::5]]  # these do not move
        square, slopes = board.square(chosen)
        close(square, truth.K[np.ix_(chosen, chosen)], f"{dtype}: the square of a working set", exact)
        close(slopes, truth.g[chosen], f"{dtype}: the gradient of a working set", exact)
        board.move(chosen, own, own - truth.b[chosen])
        truth.moved(chosen, own)
        found.append(np.array(board.gradient()))
        close(found[-1], truth.g, f"{dtype}: the gradient after a move", exact)
    return found


def _beginning(kernel: Kernel, points: Points, rows: Rows, kink: float, random: np.random.Generator) -> Truth:
    """Coefficients of which some are at an end of the box that suits them, whatever the others do."""
    K = np.asarray(Plain(kernel, points, points).matrix(np.dtype(DOUBLE), 1)[0])[np.ix_(rows, rows)]
    g, ones = random.normal(size=len(rows)), np.ones(len(rows))
    b = np.where(np.abs(g) > 1, -np.sign(g), random.choice([-0.5, 0.0, 0.5], len(rows)))
    return Truth(K, b, g, -ones, ones, kink)


def _left_out(board: Board, truth: Truth, exact: float) -> Truth:
    """The truth of the rows that a board keeps when it may leave out some, which are those that no other violates."""
    rises, falls = truth.slopes()
    low, high, slack = rises.min(), falls.max(), exact * np.abs(truth.g).max()
    require(board.shrink(0.0) is None, "rows are left out although too many would stay")
    kept = board.shrink(1.0)
    if kept is None:
        raise AssertionError("no rows are left out")
    require((np.diff(kept) > 0).all(), "the rows that stay are not in order")
    away = np.setdiff1d(np.arange(len(rises)), kept)
    require(len(away) > 0, "rows that violate nothing stay")
    require(((rises[away] >= high - slack) & (falls[away] <= low + slack)).all(), "rows are left out that violate much")
    require(((rises[kept] < high + slack) | (falls[kept] > low - slack)).all(), "rows stay that violate nothing")
    return truth.part(kept)


def _are_the_worst(chosen: Rows, recent: Rows, rises: Array, falls: Array, exact: float) -> None:
    """A working set: the newest half of the last one, and the worst on both sides."""
    require(len(np.unique(chosen)) == len(chosen) <= CHOSEN, "a working set has a coefficient twice, or too many")
    old = recent[-(CHOSEN // 2) :]
    require(np.array_equal(chosen[: len(old)], old), "the newest of the last working set do not stand first")
    others = np.setdiff1d(np.arange(len(rises)), chosen)
    slack = exact * max(np.abs(rises[np.isfinite(rises)]).max(), 1.0)
    count = (CHOSEN - len(old)) // 4  # the other half may be those whose rows are known
    for slopes, side in ((rises, "growing"), (-falls, "falling")):
        fresh = np.setdiff1d(chosen, old)
        better = np.count_nonzero(slopes[fresh] <= slopes[others].min() + slack)
        require(better >= count, f"of the worst in {side} only {better} of {count} are chosen")
