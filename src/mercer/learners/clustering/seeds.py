"""Where k-means begins, and the best of several beginnings: rows far from each other, drawn by k-means++."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mercer.compute.runtime.run import Run
from mercer.learners.run.stage_share import StageShare
from mercer.solvers.kmeans.cluster_sums import ZERO_DISTANCE_ROUNDINGS, Labels, Rows, Sums
from mercer.solvers.kmeans.lloyd import Clusters, LloydSettings, descend

Array = NDArray[np.float64]
MIN_RELATIVE_GAIN = 1e-12
"""The part by which the inertia of a start must be less than the best before: equal partitions differ by rounding."""


def best_of(
    runs: int, sums: Sums, settings: LloydSettings, random: np.random.Generator, run: Run, stage: str
) -> Clusters:
    """The best of so many starts; the sums are those of the last.

    A run that stops it ends with the best so far, which is not converged then.
    """
    found: list[Clusters] = []
    with run.stage(stage, runs):
        for k in range(runs):
            start = seeded(sums, random)
            with run.stoppable():
                found.append(descend(sums, start, settings, StageShare(run, k)))
            if found[-1].stopped:
                break
    best = found[0]
    for other in found[1:]:
        best = other if other.inertia < (1.0 - MIN_RELATIVE_GAIN) * best.inertia else best
    if found[-1].stopped:
        return replace(best, converged=False, stopped=True, reason=found[-1].reason)
    return best


def seeded(sums: Sums, random: np.random.Generator) -> Labels:
    """The partition by the nearest of rows that are drawn, with distances of the kernel's own space.

    The first row is drawn in proportion to the weights, every other one in proportion to the weight times the squared
    distance from the nearest so far: of 2 + log(count) such rows the one that leaves least of that. Where nothing is
    left, clusters stay empty. Cost: the distances of (2 + log(count)) count rows from all.

    Arthur and Vassilvitskii, k-means++: the advantages of careful seeding, SODA 2007; Bhattacharya, Eube, Roglin and
    Schmidt, Noisy, greedy and not so greedy k-means++, ESA 2020.
    """
    weights, tries = sums.weights, 2 + int(np.log(sums.count))
    left = _apart(sums, drawn(weights, random.random(1)))[0]
    labels = np.zeros(len(weights), np.intp)
    floor = ZERO_DISTANCE_ROUNDINGS * sums.unit * float(weights @ np.abs(sums.sizes))
    for cluster in range(1, sums.count):
        costs = weights * left
        if costs.sum() <= floor:
            break
        squares = np.minimum(_apart(sums, drawn(costs, random.random(tries))), left)
        best = squares[int(np.argmin(squares @ weights))]
        labels[best < left] = cluster
        left = best
    return labels


def drawn(costs: Array, draws: Array) -> Rows:
    """Rows in proportion to what they cost, one for each number from 0 to 1."""
    ends = np.cumsum(costs)
    return np.asarray(np.minimum(np.searchsorted(ends, draws * ends[-1], side="right"), len(ends) - 1), dtype=np.intp)


def _apart(sums: Sums, rows: Rows) -> Array:
    """The squared distances of some rows from all; rounding leaves none of a row from itself."""
    found = sums.apart(rows)
    found[np.arange(len(rows)), rows] = 0.0
    return found
