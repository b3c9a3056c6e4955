"""Half a million rows, and prediction with many support vectors: the parts `large` and `predict` of margins.py."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from alone import Found, alone, in_turns, measured
from margin_exact import model_of
from margin_tables import Task
from scaling import Row, failure, faster
from seconds import Seconds
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC
from tables import FEW

from mercer import KernelSVC
from mercer.kernels import Gaussian

C, ROWS, RANKS, LIMIT = 10.0, 500_000, (1_000, 2_000), "8GB"
FEWER = 50_000
"""Rows of the exact fit whose accuracy is to be reached."""
GIGABYTES = 20.0
LONGEST = 7_200.0
PEER = "Nystroem + LinearSVC"
BLOCK = 20_000
DRAWS = (0, 1, 2)
"""Landmarks are drawn at random, which moves accuracies: ours is fitted with several draws."""


def large_model(who: str, gamma: float, rank: int, draw: int = 0) -> Any:
    """Machines of rank so much."""
    if who == "ours":
        kernel = Gaussian((2 * gamma) ** -0.5)
        return KernelSVC(kernel, C=C, method="landmarks", n_landmarks=rank, memory_limit=LIMIT, random_state=draw)
    lift = Nystroem(kernel="rbf", gamma=gamma, n_components=rank, random_state=draw)
    return make_pipeline(lift, LinearSVC(C=C, loss="hinge", random_state=0))


def fitted(task: Task, who: str, rank: int, draw: int = 0) -> Found:
    data = task.data()
    gamma = task.gamma(data.X)
    small = (data.X[:FEW], data.y[:FEW])
    model: Any
    if who == "exact":
        model = model_of("ours", gamma, C)
        model.fit(*small)
    else:
        large_model(who, gamma, 50).fit(*small)
        model = large_model(who, gamma, rank, draw)
    _, cost = measured(lambda: model.fit(data.X, data.y))
    found = np.concatenate([model.predict(data.new[start : start + BLOCK]) for start in range(0, len(data.new), BLOCK)])
    return cost | {"accuracy": float((found == data.true).mean())}


def large(folder: Path, quick: bool, repeats: int) -> Iterator[Row]:
    """covertype, the largest class against all others: scikit-learn at the same rank, and exact on fewer rows."""
    task = Task(folder, "covertype", 20_000 if quick else ROWS, True, C)
    fewer = Task(folder, "covertype", 3_000 if quick else FEWER, True, C)
    exact = in_turns({"exact": partial(alone, fitted, fewer, "exact", 0, seconds=LONGEST)}, 1)["exact"]
    for rank in (100,) if quick else RANKS:
        work = f"{task.title}, rank {rank:,}"
        print(f"  {work}", flush=True)
        job = partial(alone, fitted, task, seconds=LONGEST, gigabytes=GIGABYTES)
        turns = {f"draw {draw}": partial(job, "ours", rank, draw) for draw in DRAWS}
        found = in_turns(turns | {"scikit-learn": partial(job, "scikit-learn", rank)}, 1)
        yield from _both(work, fewer, [found[name] for name in turns], found["scikit-learn"], exact)


def _both(work: str, fewer: Task, ours: list[Found], theirs: Found, exact: Found) -> Iterator[Row]:
    """Memory, with accuracy beside the exact machine's; and time, with accuracy beside scikit-learn's."""
    if failed := [found["failed"] for found in (*ours, exact) if "failed" in found]:
        yield failure(work, PEER, failed)
        return
    scores, every = [found["accuracy"] for found in ours], [float(found["seconds"]) for found in ours]
    seconds = Seconds(float(np.median(every)), every)  # the draws are different fits: the best of them would be luck
    draws = f"accuracy {np.mean(scores):.4f} ({min(scores):.4f} to {max(scores):.4f}, {len(ours)} draws)"
    note = f"{draws}; exact on {fewer.rows:,} rows {exact['accuracy']:.4f}"
    most, good = max(found["megabytes"] for found in ours), np.mean(scores) >= exact["accuracy"]
    yield Row(f"{work}: peak memory", "", seconds, None, most, "MB", 8_000.0, False, bool(good), note)
    if "failed" in theirs:
        yield failure(work, PEER, [theirs["failed"]])
        return
    note = f"{draws} / {theirs['accuracy']:.4f}, {theirs['megabytes']:,.0f} MB there"
    fine, ratio = bool(np.mean(scores) >= theirs["accuracy"] - 0.002), theirs["seconds"] / seconds
    row = Row(work, PEER, seconds, theirs["seconds"], ratio, "times faster", 4.0, True, fine, note)
    accuracy = ("accuracy", float(np.mean(scores)), theirs["accuracy"])
    yield replace(row, memory=(most, theirs["megabytes"]), accuracy=accuracy)


# -- prediction -------------------------------------------------------------------------------------------------------


def predicted(rows: int, support: int, who: str) -> Found:
    """Labels at random, so that nearly every row is a support vector."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(support, 20)), np.where(rng.random(support) < 0.5, 1, -1)
    new = rng.normal(size=(rows, 20))
    gamma = 1 / 20
    model = KernelSVC(Gaussian((2 * gamma) ** -0.5)) if who == "ours" else SVC(gamma=gamma, cache_size=2_000)
    model.fit(X, y)
    model.predict(new[:100])
    values, cost = measured(lambda: model.decision_function(new))
    return cost | {"support": len(model.support_), "values": values}


def predict(folder: Path, quick: bool, repeats: int) -> Iterator[Row]:
    """Decision values of new rows."""
    rows, support = (10_000, 1_000) if quick else (100_000, 10_000)
    jobs = {who: partial(alone, predicted, rows, support, who) for who in ("ours", "scikit-learn")}
    best = in_turns(jobs, repeats)
    ours, theirs = best["ours"], best["scikit-learn"]
    off = float(np.abs(ours["values"] - theirs["values"]).max())
    note = f"{ours['support']:,} / {theirs['support']:,} support vectors, values differ by at most {off:.1e}"
    yield faster(f"decision values of {rows:,} rows", "scikit-learn", best, 10.0, off < 0.05, note)
