"""Classifiers with margins: the kernel perceptron against the plain loop.

    python benchmarks/margins.py --data FOLDER [--quick] [--json PATH]

perceptron : 50,000 rows of covertype (the second class against the others), three passes, against the sequential loop
    in NumPy, which computes the values of the kernel between each row and the mistakes so far. Both coefficients are
    compared: they must be the same.

Each runs in a process of its own, after a small one that loads and compiles. Compare ratios, not seconds.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from alone import Found, alone, in_turns, measured
from report import machine
from tables import FEW, Array, median_distance, split_of

from mercer import KernelPerceptron
from mercer.kernels import Gaussian

RESULTS = Path(__file__).parent / "results"
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="a folder with covertype.parquet")
    parser.add_argument("--quick", action="store_true", help="few rows; goals mean little there")
    parser.add_argument("--json", type=Path, help="where the record goes")
    options = parser.parse_args()
    rows = Rows(options.data.resolve(), 3_000 if options.quick else 50_000)
    best = in_turns({"ours": partial(alone, ours, rows), "loop": partial(alone, loop, rows)}, 2)
    same = bool(np.array_equal(best["ours"].pop("coefficients"), best["loop"].pop("coefficients")))
    ratio = best["loop"]["seconds"] / best["ours"]["seconds"]
    met = "yes" if ratio >= GOAL and same else "NO"
    print("| work | ours s | loop s | ratio | goal | same coefficients | met |\n|---|---|---|---|---|---|---|")
    seconds = f"{best['ours']['seconds']:.2f} | {best['loop']['seconds']:.1f}"
    print(
        f"| kernel perceptron, {rows.count:,} rows, {PASSES} passes | {seconds} | {ratio:.0f} | {GOAL:g} | {same} | {met} |"
    )
    record: dict[str, Any] = {"date": time.strftime("%Y-%m-%d"), "machine": machine(), "rows": rows.count}
    record |= {"found": best, "ratio": ratio, "same": same, "met": met}
    path = options.json or RESULTS / f"margins{'-quick' * options.quick}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
