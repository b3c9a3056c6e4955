"""One lengthscale a column: what it brings on real tables, against one for all, and against scikit-learn's process.

    python benchmarks/relevance.py --data FOLDER [--quick] [--repeats N] [--json PATH]

process : lengthscales, one a column, and the noise, found by the likelihood of the same ROWS rows and the same Matern
    kernel: `mercer.tuning.stretch` with KernelRidge, and GaussianProcessRegressor with an anisotropic kernel (no
    restarts). R^2 is of rows held out.
all : KernelRidge with one lengthscale for all columns, the best of seven by leave-one-out, against lengthscales that
    were found on ROWS rows; both are fitted to MOST rows at most.

Each runs in a process of its own, after a small one that loads and compiles; they take turns.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from alone import Found, alone, in_turns, measured
from report import machine
from scaling import HEAD, Row, failure, faster
from sklearn.metrics import r2_score
from tables import Array, Split, split_of

from mercer import KernelRidge
from mercer.tuning import stretch

RESULTS = Path(__file__).parent / "results"
ROWS, MOST, WARM, HELD_OUT = 1_000, 4_000, 200, 0.2
LONGEST = 900.0
WORSE = 0.005
"""By how much R^2 may be below the other's and still count as no worse."""
SETS = (
    "pumadyn32nm",
    "california_housing",
    "protein",
    "kin40k",
    "elevators",
    "airfoil",
    "concrete",
    "energy",
    "housing",
)
QUICK = ("airfoil",)
KERNEL = "matern(nu=2.5, lengthscale='median')"
PROCESS, ONE = "GaussianProcessRegressor", "one lengthscale"


def ours_of(rows: Split) -> Array:
    found = stretch(KERNEL, rows.X, rows.y, rows=ROWS, random_state=0)
    return np.asarray(KernelRidge(found.kernel, verbose=False).fit(rows.X, rows.y).predict(rows.new))


def one_of(rows: Split) -> Array:
    model = KernelRidge(KERNEL, lengthscale="loo", verbose=False).fit(rows.X, rows.y)
    return np.asarray(model.predict(rows.new))


def process_of(rows: Split) -> Array:
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

    lengths = np.full(rows.X.shape[1], np.sqrt(2 * rows.X.shape[1]))  # about the median distance, where ours starts
    kernel = ConstantKernel(1.0) * Matern(lengths, (1e-2, 1e5), nu=2.5) + WhiteKernel(0.01, (1e-8, 1e2))
    return np.asarray(GaussianProcessRegressor(kernel, normalize_y=True).fit(rows.X, rows.y).predict(rows.new))


@dataclass(frozen=True)
class Task:
    """A set, and how many of its rows are fitted."""

    folder: Path
    name: str
    rows: int

    def data(self) -> Split:
        """Standardised rows and targets, and those held out, 4,000 at most."""
        found = split_of(self.folder, self.name, HELD_OUT)
        return replace(found.first(self.rows), new=found.new[:4_000], true=found.true[:4_000])


WAYS: dict[str, Callable[[Split], Array]] = {"ours": ours_of, ONE: one_of, PROCESS: process_of}


def predicted(task: Task, who: str) -> Found:
    warnings.simplefilter("ignore")
    data = task.data()
    WAYS[who](data.first(WARM))
    mean, cost = measured(lambda: WAYS[who](data))
    return cost | {"score": float(r2_score(data.true, mean))}


def compared(folder: Path, name: str, against: str, rows: int, repeats: int) -> Row:
    task = Task(folder, name, rows)
    best = in_turns({who: partial(alone, predicted, task, who, seconds=LONGEST) for who in ("ours", against)}, repeats)
    work = f"{name}, {min(rows, len(task.data().X)):,} rows"
    if failed := [f"{who}: {found['failed']}" for who, found in best.items() if "failed" in found]:
        return failure(work, against, failed)
    scores = best["ours"]["score"], best[against]["score"]
    row = faster(work, against, best, None, scores[0] >= scores[1] - WORSE, "")
    return replace(row, accuracy=("R^2", *scores))


def tables(folder: Path, quick: bool, repeats: int) -> Iterator[tuple[str, Row]]:
    for name in QUICK if quick else SETS:
        yield "process", compared(folder, name, PROCESS, 300 if quick else ROWS, repeats)
        yield "all", compared(folder, name, ONE, 600 if quick else MOST, repeats)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="a folder with pumadyn32nm.parquet and others")
    parser.add_argument("--quick", action="store_true", help="one small set")
    parser.add_argument("--repeats", type=int, help="turns: 2, quickly 1")
    parser.add_argument("--json", type=Path, help="where the record goes")
    options = parser.parse_args()
    path = options.json or RESULTS / f"relevance{'-quick' * options.quick}.json"
    about = {"date": time.strftime("%Y-%m-%d"), "machine": machine()}
    record: dict[str, Any] = {}
    print(" | ".join(HEAD))
    for table, row in tables(options.data.resolve(), options.quick, options.repeats or (1 if options.quick else 2)):
        print("  " + " | ".join(row.cells()), row.accuracy, flush=True)
        record.setdefault(table, about | {"rows": []})["rows"].append(row.record())
        path.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
