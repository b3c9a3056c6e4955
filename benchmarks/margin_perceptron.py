"""The kernel perceptron against the plain loop: the part `perceptron` of margins.py."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from alone import Found, alone, in_turns, measured
from scaling import Row
from tables import FEW, Array, median_distance, split_of

from mercer import KernelPerceptron
from mercer.kernels import Gaussian

PASSES = 3
GOAL = 50.0


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


def loop(rows: Rows) -> Found:
    X, y, length = rows.data()
    coefficients, cost = measured(lambda: sequential(X, np.where(y == 1, 1.0, -1.0), length))
    return cost | {"coefficients": coefficients}


def sequential(X: Array, signs: Array, length: float) -> Array:
    """One row after the other, with the rows and coefficients of mistakes in arrays that are filled as they come."""
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
    """Rows of covertype, one class against the others; the loop has the kernel of each row with its mistakes."""
    rows = Rows(folder, 3_000 if quick else 50_000)
    best = in_turns({"ours": partial(alone, ours, rows), "loop": partial(alone, loop, rows)}, repeats)
    same = bool(np.array_equal(best["ours"].pop("coefficients"), best["loop"].pop("coefficients")))
    seconds, theirs = best["ours"]["seconds"], best["loop"]["seconds"]
    note = f"{best['ours']['mistakes']:,} mistakes, coefficients {'are the same' if same else 'DIFFER'}"
    work = f"kernel perceptron, {rows.count:,} rows, {PASSES} passes"
    yield Row(work, "a loop in NumPy", seconds, theirs, theirs / seconds, "times faster", GOAL, True, same, note)
