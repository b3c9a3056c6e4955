"""Exact SVMs against their peers: the part `exact` of margins.py."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from alone import Found, alone, in_turns, measured
from margin_tables import Task
from scaling import Row, failure, faster
from tables import FEW, Array

from mercer import KernelSVC
from mercer.kernels import Gaussian
from mercer.operators import Gram

TOLERANCE = 1e-3
CACHE = 2_000
"""Megabytes that the peers may keep rows in; ours has its memory limit."""
PEERS = {
    "scikit-learn": "sklearn.svm",
    "scikit-learn-intelex": "sklearnex.svm",
    "LIBSVM": "libsvm_machine",
    "thundersvm": "thundersvm",
}
GOALS: dict[str, float | None] = {"scikit-learn": 4.0, "scikit-learn-intelex": 1.0, "LIBSVM": None, "thundersvm": 3.0}
LONGEST = {"thundersvm": 30.0, "LIBSVM": 30.0}
OTHERWISE = 3_600.0
"""Seconds after which a fit is given up; ThunderSVM was seen to go on for ever."""
QUICKLY = 15.0
"""The same of a quick run, with the time that loading takes."""
WARM = 5_000
"""Rows of a first fit of ours, which loads and compiles: so many that it goes the way of many."""
ENDLESS = "not done after"
"""How `alone` calls it then."""
ONCE = ("LIBSVM", "thundersvm")
"""Who has one turn, and so has ours beside it."""
AGREES, OBJECTIVE = 0.995, 1e-3
"""The part of new rows on which predictions agree, at least; and by how much objectives differ, at most."""
TASKS = (
    ("adult", 40_000, True, 1.0),
    ("a9a", 32_000, True, 1.0),
    ("ijcnn1", 50_000, True, 10.0),
    ("covertype", 20_000, True, 10.0),
    ("covertype", 20_000, False, 10.0),
    ("mnist", 10_000, False, 10.0),
    ("covertype", 50_000, True, 10.0),
    ("covertype", 50_000, False, 10.0),
)
SMALL = (("spambase", 3_000, True, 10.0),)
"""Of a quick run: a table that is read in no time."""


def model_of(who: str, gamma: float, C: float) -> Any:
    """A machine of somebody, with equal settings."""
    if who == "ours":
        return KernelSVC(Gaussian((2 * gamma) ** -0.5), C=C, tol=TOLERANCE, memory_limit="8GB")
    return import_module(PEERS[who]).SVC(kernel="rbf", gamma=gamma, C=C, tol=TOLERANCE, cache_size=CACHE)


def fitted(task: Task, who: str) -> Found:
    data = task.data()
    gamma = task.gamma(data.X)
    few = np.sort(np.unique(data.y, return_index=True)[1])
    few = np.unique(np.concatenate([few, np.arange(min(len(data.X), WARM if who == "ours" else FEW))]))
    warm = model_of(who, gamma, task.C).fit(data.X[few], data.y[few])
    warm.predict(data.new[:10])
    model = model_of(who, gamma, task.C)
    _, cost = measured(lambda: model.fit(data.X, data.y))
    start = time.perf_counter()
    predicted = np.asarray(model.predict(data.new))
    found = cost | {"predict seconds": time.perf_counter() - start, "support": len(model.support_)}
    found |= {"accuracy": float((predicted == data.true).mean()), "predicted": predicted}
    return found | {"objective": objective(model, data.X, gamma) if task.binary else None}


def objective(model: Any, X: Array, gamma: float) -> float:
    """b'Kb / 2 - |b|_1, in float64."""
    support, b = np.asarray(model.support_), np.asarray(model.dual_coef_, dtype=np.float64).reshape(-1)
    K = Gram(Gaussian((2 * gamma) ** -0.5), X[support])
    return float(b @ (K @ b) / 2 - np.abs(b).sum())


def exact(folder: Path, quick: bool, repeats: int) -> Iterator[Row]:
    """Equal kernel, C and tolerance."""
    for name, rows, binary, C in SMALL if quick else TASKS:
        task = Task(folder, name, rows, binary, C)
        print(f"  {task.title}", flush=True)
        longest = dict.fromkeys(PEERS, QUICKLY) if quick else LONGEST
        jobs = {who: partial(alone, fitted, task, who, seconds=longest.get(who, OTHERWISE)) for who in ("ours", *PEERS)}
        for who in PEERS:  # as many turns for ours as for the other, and one who fails does not end the rest
            found = in_turns({"ours": jobs["ours"], who: jobs[who]}, 1 if who in ONCE else repeats)
            yield _compared(task, who, found, longest.get(who, OTHERWISE))


def _compared(task: Task, who: str, best: dict[str, Found], most: float) -> Row:
    ours, theirs = best["ours"], best.get(who, {"failed": "not tried"})
    if "failed" not in ours and ENDLESS in theirs.get("failed", ""):
        note = f"{who} was stopped, {theirs['failed']}: the ratio is at least that"
        row = faster(task.title, who, {"ours": ours, who: {"seconds": most}}, GOALS[who], True, note)
        return replace(row, accuracy=("accuracy", ours["accuracy"], None))
    if failed := [f"{name}: {found['failed']}" for name, found in (("ours", ours), (who, theirs)) if "failed" in found]:
        return failure(task.title, who, failed)
    agree = float((ours["predicted"] == theirs["predicted"]).mean())
    note = f"accuracy {ours['accuracy']:.4f} / {theirs['accuracy']:.4f}, agree {100 * agree:.2f} %"
    fine = agree >= AGREES
    if ours["objective"] is not None:
        off = abs(ours["objective"] - theirs["objective"]) / abs(theirs["objective"])
        fine, note = fine and off <= OBJECTIVE, f"{note}, objectives {off:.1e} apart"
    note += f", {ours['support']:,} / {theirs['support']:,} support vectors"
    row = faster(task.title, who, best, GOALS[who], fine, note)
    return replace(row, accuracy=("accuracy", ours["accuracy"], theirs["accuracy"]))
