"""The kernel perceptron against the plain loop: the part `perceptron` of margins.py."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from alone import Found, alone, in_turns, measured
from margin_exact import ENDLESS
from scaling import Row, peaks
from tables import FEW, Array, median_distance, split_of

from mercer import KernelPerceptron
from mercer.kernels import Gaussian

PASSES = 3
GOAL = 50.0
PATIENCE = 1.1
"""The plain loop is stopped when it has taken so many times what the goal says."""


@dataclass(frozen=True)
class Rows:
    """So many rows of covertype, with labels 0 and 1."""

    folder: Path
    count: int

    def data(self) -> tuple[Array, Array, float]:
        """The rows, their labels, and the lengthscale."""
        found = split_of(self.folder, "covertype").first(self.count)
        return found.X, (found.y == 2).astype(int), median_distance(found.X) / 4


def ours(rows: Rows) -> Found:
    X, y, length = rows.data()
    model = KernelPerceptron(Gaussian(length), max_iter=PASSES)
    model.fit(X[:FEW], y[:FEW])
    _, cost = measured(lambda: model.fit(X, y))
    coefficients = np.zeros(len(y))
    coefficients[model.support_] = model.dual_coef_
    return cost | {"coefficients": coefficients, "mistakes": int(model.history_.sum()), "support": len(model.support_)}


def loop(rows: Rows, careful: bool) -> Found:
    X, y, length = rows.data()
    coefficients, cost = measured(lambda: (sequential if careful else plain)(X, np.where(y == 1, 1.0, -1.0), length))
    return cost | {"coefficients": coefficients}


def plain(X: Array, signs: Array, length: float) -> Array:
    """As the lectures have it: alpha_i grows by one where y_i sum_j alpha_j y_j k(x_j, x_i) <= 0."""
    alpha = np.zeros(len(X))
    for _ in range(PASSES):
        for i in range(len(X)):
            values = np.exp(((X - X[i]) ** 2).sum(axis=1) / (-2 * length**2))
            if signs[i] * ((alpha * signs) @ values) <= 0:
                alpha[i] += 1
    return np.asarray(alpha * signs)


def sequential(X: Array, signs: Array, length: float) -> Array:
    """The same with the mistakes alone, whose rows and coefficients are in arrays that are filled as they come."""
    coefficients, place = np.zeros(len(X)), np.full(len(X), -1)
    kept, values, used = np.empty_like(X), np.empty(len(X)), 0
    norms, lengths = np.empty(len(X)), np.einsum("ij,ij->i", X, X)
    for _ in range(PASSES):
        for i in range(len(X)):
            squares = np.maximum(norms[:used] - 2 * (kept[:used] @ X[i]) + lengths[i], 0.0)
            if signs[i] * (np.exp(squares / (-2 * length**2)) @ values[:used]) > 0:
                continue
            coefficients[i] += signs[i]
            if place[i] < 0:
                place[i], kept[used], norms[used], values[used] = used, X[i], lengths[i], 0.0
                used += 1
            values[place[i]] += signs[i]
    return coefficients


def perceptron(folder: Path, quick: bool, repeats: int) -> Iterator[Row]:
    """Rows of covertype, one class against the others: the lectures' loop over all rows, and one over mistakes."""
    rows = Rows(folder, 3_000 if quick else 50_000)
    work = f"kernel perceptron, {rows.count:,} rows, {PASSES} passes"
    careful = partial(alone, loop, rows, True)
    found = in_turns({"ours": partial(alone, ours, rows), "loop": careful}, repeats)
    yield _compared(work, "a loop over mistakes", found["ours"], found["loop"])
    longest = PATIENCE * GOAL * found["ours"]["seconds"]
    found |= in_turns({"plain": partial(alone, loop, rows, False, seconds=longest)}, 1)
    yield _compared(work, "the lectures' loop", found["ours"], found["plain"], GOAL, longest)


def _compared(
    work: str, who: str, mine: Found, theirs: Found, goal: float | None = None, longest: float = np.nan
) -> Row:
    seconds, note, same = mine["seconds"], f"{mine['mistakes']:,} mistakes", True
    if ENDLESS in theirs.get("failed", ""):
        other, note = longest, f"{note}, the loop was stopped, {theirs['failed']}: the ratio is at least that"
    else:
        other, same = theirs["seconds"], bool(np.array_equal(mine["coefficients"], theirs["coefficients"]))
        note = f"{note}, coefficients {'are the same' if same else 'DIFFER'}"
    held = peaks(mine, theirs)
    return Row(work, who, seconds, other, other / seconds, "times faster", goal, True, same, note, held)
