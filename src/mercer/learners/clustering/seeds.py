"""Where k-means begins, and the best of several beginnings: rows far from each other, drawn by k-means++."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from mercer.compute.runtime.run import Run
from mercer.learners.run.stage_share import StageShare
from mercer.solvers.kmeans.cluster_sums import ZERO_DISTANCE_ROUNDINGS, Sums
from mercer.solvers.kmeans.lloyd import Clusters, LloydSettings, descend

MIN_RELATIVE_GAIN = 1e-12
"""The part by which the inertia of a start must be less than the best before: equal partitions differ by rounding."""


def best_of(
    runs: int, sums: Sums, settings: LloydSettings, random: np.random.Generator, run: Run, stage: str
) -> Clusters:
    """The best of so many starts; the sums are those of the last.

    A run that stops it ends with the best so far, which is not converged then.
    """
    with run.stage(stage, runs):
        best = last = _descended(sums, settings, random, run, 0)
        for k in range(1, runs):
            if last.stopped:
                break
            last = _descended(sums, settings, random, run, k)
            best = last if last.inertia < (1.0 - MIN_RELATIVE_GAIN) * best.inertia else best
    if last.stopped:
        return replace(best, converged=False, stopped=True, reason=last.reason)
    return best


def _descended(sums: Sums, settings: LloydSettings, random: np.random.Generator, run: Run, k: int) -> Clusters:
    start = seeded(sums, random)
    with run.stoppable():
        return descend(sums, start, settings, StageShare(run, k))


def seeded(sums: Sums, random: np.random.Generator) -> Any:
    """The partition by the nearest of rows that are drawn, with distances of the kernel's own space.

    The first row is drawn in proportion to the weights, every other one in proportion to the weight times the squared
    distance from the nearest so far: of 2 + log(count) such rows the one that leaves least of that. Where nothing is
    left, clusters stay empty. Cost: the distances of (2 + log(count)) count rows from all.

    Arthur and Vassilvitskii, k-means++: the advantages of careful seeding, SODA 2007; Bhattacharya, Eube, Roglin and
    Schmidt, Noisy, greedy and not so greedy k-means++, ESA 2020.
    """
    tries, seeds = 2 + int(np.log(sums.count)), sums.seeds(random.random(1))
    floor = ZERO_DISTANCE_ROUNDINGS * sums.unit * float(sums.weights @ np.abs(sums.sizes))
    for _ in range(1, sums.count):
        if seeds.cost <= floor:
            break
        seeds.add(random.random(tries))
    return seeds.labels
