"""Matrices of ours and of peers, each computed in a process of its own: how much faster, and whether they are equal."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from alone import Found, alone, in_turns, measured
from scaling import Row, both, failure, faster
from structured_sets import Place
from tables import Array

GIGABYTES, LONGEST = 18.0, 3_600.0
"""What a process may hold, and seconds that it may take."""
Jobs = dict[str, Callable[[Path], Found]]


def computed(action: Callable[[], Array], file: Path) -> Found:
    """What a matrix costs; it is kept in a file, to be compared."""
    matrix, cost = measured(action)
    np.save(file, matrix)
    return cost


def in_processes(jobs: Jobs, place: Place, repeats: int) -> dict[str, Found]:
    """The fastest result of each job, which get the file for their matrix; the first is ours."""
    place.work.mkdir(parents=True, exist_ok=True)
    alone_each = {
        name: partial(alone, job, _file(place, name), seconds=LONGEST, gigabytes=GIGABYTES)
        for name, job in jobs.items()
    }
    return in_turns(alone_each, repeats)


def compared(work: str, who: str, best: dict[str, Found], place: Place, goal: float | None) -> Row:
    """One row: the times, and the largest difference of the matrices, which hold whole numbers."""
    if failed := [f"{name}: {best[name]['failed']}" for name in ("ours", who) if "failed" in best.get(name, {})]:
        return failure(work, who, failed)
    if who not in best:
        return failure(work, who, ["not tried, since another failed"])
    off = difference(place, who)
    note = f"values {'are equal' if off == 0 else f'DIFFER by {off:g}'}; {both(best, who)}"
    if "built" in best[who]:
        note += f"; graphs were made before in {best['ours']['built']:.2f} / {best[who]['built']:.2f} s"
    return faster(work, who, best, goal, off == 0, note)


def difference(place: Place, who: str) -> float:
    """The largest difference of two matrices in files."""
    mine, theirs = (np.load(_file(place, name), mmap_mode="r") for name in ("ours", who))
    if mine.shape != theirs.shape:
        return float("inf")
    return max(float(np.abs(a - b).max()) for a, b in zip(mine, theirs, strict=True))


def fastest(best: dict[str, Found], peers: list[str]) -> str:
    """Who of the peers was the fastest."""
    done = [name for name in peers if "seconds" in best.get(name, {})]
    return min(done, key=lambda name: float(best[name]["seconds"])) if done else peers[0]


def _file(place: Place, name: str) -> Path:
    return place.work / f"{name.replace(' ', '-').replace(',', '')}.npy"
