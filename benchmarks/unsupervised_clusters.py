"""Kernel k-means of many rows against its peers: the part `clusters` of unsupervised.py."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from alone import Found, alone, in_turns, measured
from scaling import Row, failure, held, peaks
from sklearn.metrics.pairwise import rbf_kernel
from tables import Array
from unsupervised_rows import LOADED, WARM, Rows

from mercer import KernelKMeans
from mercer.kernels import Gaussian
from mercer.operators import Gram

CLUSTERS, STARTS, STEPS = 10, 3, 50
"""Clusters, restarts and the most steps of each, the same for all."""
FASTER = 8.0
"""The goal."""
LOWER = 1e-6
"""How much higher our inertia may be, relatively: two that found the same clusters differ by rounding."""
TSLEARN, STORED = "tslearn", "NumPy, matrix stored"
GIGABYTES, LONGEST = 20.0, 150.0
"""What a peer may take: one that takes longer is stopped, and the ratio is a lower bound."""
SIZES, QUICK = (5_000, 20_000), (1_500,)
"""Rows: few enough for all to end, and the size of the goal."""


class Stored:
    """Kernel k-means with a stored matrix, by NumPy and BLAS alone: k-means++, and one product of matrices a step."""

    def __init__(self, gamma: float) -> None:
        self.gamma = gamma

    def fit(self, X: Array) -> Stored:
        K, random = rbf_kernel(X, gamma=self.gamma), np.random.default_rng(0)
        runs = [self._run(K, self._seeded(K, random)) for _ in range(STARTS)]
        self.labels_ = min(runs, key=lambda run: run[0])[1]
        return self

    @staticmethod
    def _seeded(K: Array, random: np.random.Generator) -> Array:
        """Each center is a row, drawn by its squared distance from those before; rows go to the nearest."""
        diagonal = np.diagonal(K)
        chosen, near = [int(random.integers(len(K)))], list[Array]()
        while True:
            last = chosen[-1]
            near.append(diagonal - 2 * K[last] + K[last, last])
            if len(chosen) == CLUSTERS:
                return np.asarray(np.argmin(near, axis=0))
            least = np.maximum(np.min(near, axis=0), 0.0)
            chosen.append(int(random.choice(len(K), p=least / least.sum())))

    @staticmethod
    def _run(K: Array, labels: Array) -> tuple[float, Array]:
        """Steps until no row changes its cluster; the inertia, and the labels."""
        every = np.arange(len(K))
        for _ in range(STEPS):
            members = (labels[:, None] == np.arange(CLUSTERS)).astype(K.dtype)
            shares = members / np.maximum(members.sum(axis=0), 1.0)
            means = K @ shares
            distances = np.einsum("ij,ij->j", shares, means) - 2 * means
            new = np.argmin(distances, axis=1)
            inertia = float(np.trace(K) + distances[every, new].sum())
            if (new == labels).all():
                break
            labels = new
        return inertia, new


def model_of(who: str, rows: Rows) -> Any:
    """Clusters of somebody, with equal settings."""
    if who == STORED:
        return Stored(rows.gamma)
    settings: dict[str, Any] = {"n_clusters": CLUSTERS, "n_init": STARTS, "max_iter": STEPS, "random_state": 0}
    if who == "ours":
        return KernelKMeans(kernel=Gaussian(rows.length), **settings)
    theirs = import_module("tslearn.clustering").KernelKMeans
    return theirs(kernel="rbf", kernel_params={"gamma": rows.gamma}, **settings)


def clustered(rows: Rows, who: str) -> Found:
    X, few = rows.values(), rows.few(WARM if who == "ours" else LOADED)
    given, small = (X[..., None], few[..., None]) if who == TSLEARN else (X, few)  # series of one number a step
    model_of(who, rows).fit(small)
    model = model_of(who, rows)
    _, cost = measured(lambda: model.fit(given))
    plan = getattr(model, "plan_", None)
    method = "" if plan is None else plan.method
    return cost | {"inertia": inertia(X, np.asarray(model.labels_), rows.length), "way": method}


def inertia(X: Array, labels: Array, length: float) -> float:
    """The sum of squared distances from the centers of clusters in feature space, in float64, from the labels."""
    members = (labels[:, None] == np.unique(labels)).astype(np.float64)
    within = np.einsum("ij,ij->j", members, Gram(Gaussian(length), X.astype(np.float64)) @ members)
    return float(len(X) - (within / members.sum(axis=0)).sum())  # k(x, x) is 1


def clusters(file: Path, quick: bool, repeats: int) -> Iterator[Row]:
    """10 clusters, 3 restarts, the Gaussian at the median distance."""
    for count in QUICK if quick else SIZES:
        rows = Rows(file, count)
        print(f"  {rows.title}", flush=True)
        for who in (TSLEARN, STORED):  # one who fails does not end the rest
            job = partial(alone, clustered, rows, seconds=LONGEST, gigabytes=GIGABYTES)
            best = in_turns({"ours": partial(job, "ours"), who: partial(job, who)}, repeats)
            yield from _compared(rows.title, who, FASTER if who == TSLEARN else None, best)


def _compared(work: str, who: str, goal: float | None, best: dict[str, Found]) -> Iterator[Row]:
    ours, theirs = best["ours"], best.get(who, {"failed": "not tried"})
    if "failed" in ours or ("failed" in theirs and "not done" not in theirs["failed"]):
        yield failure(work, who, [f"{name}: {found['failed']}" for name, found in best.items() if "failed" in found])
        return
    seconds = theirs.get("seconds", LONGEST)
    note = f"{ours['way']}; inertia {ours['inertia']:.3f} / {_ended(theirs)}"
    fine = "failed" in theirs or ours["inertia"] <= (1 + LOWER) * theirs["inertia"]
    ratio = seconds / ours["seconds"]
    row = Row(work, who, ours["seconds"], seconds, ratio, "times faster", goal, True, fine, note, peaks(ours, theirs))
    yield replace(row, accuracy=("inertia", ours["inertia"], theirs.get("inertia")))
    if goal is not None:
        yield held(work, ours, None)


def _ended(theirs: Found) -> str:
    if "failed" in theirs:
        return f"stopped after {LONGEST:.0f} s: at least so many times"
    return f"{theirs['inertia']:.3f}, {theirs['megabytes']:,.0f} MB there"
