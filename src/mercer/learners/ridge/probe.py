"""A short look at the data before a plan is made: how long a pair takes here, and how fast the spectrum falls."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.kernels.points import DOUBLE, SINGLE
from mercer.learners.data.validation import Penalty
from mercer.learners.data.views import KernelView
from mercer.learners.ridge import dual
from mercer.learners.ridge.problem import RidgeProblem
from mercer.operators import Gram

PROBED = 4_000
"""Up to so many rows nothing is looked at: every way is short."""
TIMED, TURNS = 4_000, 4
"""Rows whose product is timed, a few milliseconds, and how often."""
DECOMPOSED = 1_000
"""Rows whose spectrum is found: a fifth of a second."""


@dataclass(frozen=True, eq=False)
class Probe:
    """What was seen.

    pair : seconds a pair of rows takes, in a product with one column; None where it was not timed
    spectrum : eigenvalues, largest first, scaled to all rows; None where they are not known
    alpha : the least penalty, the one given or what the sample would choose
    """

    pair: float | None = None
    spectrum: tuple[float, ...] | None = None
    alpha: float | None = None


def probe(problem: RidgeProblem) -> Probe:
    """Look at a sample, where there are many rows and a kernel."""
    view = problem.view
    if not isinstance(view, KernelView) or len(problem.kept) <= PROBED:
        return Probe()
    random = np.random.default_rng(0)
    rows = np.sort(random.choice(len(problem.kept), DECOMPOSED, replace=False))
    part = replace(problem.part(rows), views=(view,))
    if not part.penalty.path:
        part = replace(part, penalty=Penalty(np.unique(part.penalty.given), path=True))
    tuned = dual.tune(part.through(view))
    values = np.maximum(tuned.side.spectrum.values[::-1], 0.0) * (problem.count / DECOMPOSED)
    return Probe(_pair(problem, view, random), tuple(values.tolist()), _least(problem, tuned))


def _least(problem: RidgeProblem, tuned: dual.Tuned) -> float:
    penalty = problem.penalty
    return float(tuned.path.alphas[tuned.chosen].min() if penalty.path else penalty.given.min())


def _pair(problem: RidgeProblem, view: KernelView, random: np.random.Generator) -> float:
    """Seconds per pair, from the quickest of some products: the first one may compile."""
    rows = np.sort(random.choice(len(problem.kept), min(TIMED, len(problem.kept)), replace=False))
    points = view.points.rows(problem.kept[rows])
    K = Gram.of(view.kernel, replace(points, dtype=SINGLE if problem.dtype == SINGLE else DOUBLE))
    ones = np.ones(len(rows), K.dtype)
    return min(_seconds(K, ones) for _ in range(TURNS)) / (len(rows) ** 2 / 2)


def _seconds(K: Gram, ones: NDArray[Any]) -> float:
    start = time.perf_counter()
    K @ ones
    return time.perf_counter() - start
