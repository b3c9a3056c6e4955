"""Least squares on a line, by the states of processes: fit, choice of alpha, deviations; digits, growth, peers.

    python benchmarks/series.py [--quick] [--only series digits growth path peers] [--repeats N] [--json PATH]

Rows are drawn at irregular times; y is two waves and noise. `series` is the row of ten million times: a fit that
chooses one of 45 alphas by exact leave-one-out errors, predictions and deviations at all of its times. `digits` is the
distance from the dense solution on 2,000 rows. `growth` is the exponent of time with n. `path` is what 30 alphas take
in units of one fit. `peers` is scikit-learn's Gaussian process at given numbers.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from alone import measured
from numpy.typing import NDArray
from report import machine
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import Matern as PeerMatern
from sklearn.gaussian_process.kernels import WhiteKernel

from mercer import KernelRidge
from mercer.kernels import Matern
from mercer.solvers import Cholesky

Array = NDArray[np.float64]
RESULTS = Path(__file__).resolve().parent / "results"
ROWS, QUICKLY = 10_000_000, 200_000
PER_ROW = 1e-3
"""The mean gap between times, in lengthscales: as dense as a sensor is read."""
NOISE = 0.3
GOALS = {"series": 15.0, "digits": 1e-8, "growth": 1.05, "path": 10.0}
HEAD = ("work", "n", "what", "value", "goal", "met")


@dataclass(frozen=True)
class Row:
    """One figure: what was measured, its value, and the goal."""

    work: str
    rows: int
    what: str
    value: float
    goal: float | None = None
    seconds: float | None = None
    cpu: float | None = None

    @property
    def met(self) -> bool | None:
        """Whether the goal was reached; None where there is none."""
        return None if self.goal is None else self.value <= self.goal

    def cells(self) -> tuple[str, ...]:
        """As a line of the table."""
        goal = "" if self.goal is None else f"{self.goal:g}"
        return (
            self.work,
            f"{self.rows:,}",
            self.what,
            f"{self.value:.3g}",
            goal,
            "" if self.met is None else "yes" if self.met else "no",
        )


def drawn(rows: int, ordered: bool = True) -> tuple[Array, Array]:
    """Times, in their order or in none, and what is observed there."""
    draw = np.random.default_rng(0)
    times = draw.random(rows) * rows * PER_ROW
    times = np.sort(times) if ordered else times
    return times[:, None], np.sin(times) + np.sin(7.3 * times) + NOISE * draw.normal(size=rows)


def timed(work: Callable[[], Any], repeats: int) -> tuple[Any, float, float]:
    """What the work gives, and the least seconds, on the clock and of all processors together."""
    turns = [measured(work) for _ in range(repeats)]
    return turns[-1][0], min(cost["seconds"] for _, cost in turns), min(cost["cpu"] for _, cost in turns)


def model(**options: Any) -> KernelRidge:
    """Matern 3/2 of a lengthscale that is known, so that nothing but alpha is chosen."""
    return KernelRidge(Matern(1.5, 1.0), **options)


def series(rows: int, repeats: int) -> Iterator[Row]:
    """The whole of it, of times in their order and in none."""
    for ordered in (True, False):
        X, y = drawn(rows, ordered)
        name = "fit, alpha of 45, deviations" + ", rows in no order" * (not ordered)

        def work(X: Array = X, y: Array = y) -> Any:
            fitted = model(method="state_space").fit(X, y)
            return fitted, fitted.predict(X, return_std=True)

        (fitted, (means, _)), seconds, cpu = timed(work, repeats)
        yield Row(name, rows, "seconds", seconds, GOALS["series"] if rows == ROWS else None, seconds, cpu)
        yield Row(name, rows, "seconds of all processors", cpu)
        truth = np.sin(X[:, 0]) + np.sin(7.3 * X[:, 0])
        yield Row(name, rows, "error of the mean", float(np.sqrt(np.mean((means - truth) ** 2))))
        yield Row(name, rows, "log-likelihood for each row", float(fitted.log_marginal_likelihood() / rows))


def digits(rows: int, repeats: int) -> Iterator[Row]:
    """Predictions and deviations, in between and beyond, against a Cholesky factor of the kernel matrix."""
    X, y = drawn(2000)
    new = np.linspace(-1, 2000 * PER_ROW + 1, 4000)[:, None]
    for alpha in (1e-2, 1.0):
        dense = model(alpha=alpha, solver=Cholesky()).fit(X, y).predict(new, return_std=True)
        swept = model(alpha=alpha, method="state_space").fit(X, y).predict(new, return_std=True)
        for what, one, other in zip(("means", "deviations"), swept, dense, strict=True):
            far = float(np.abs(one - other).max() / np.abs(other).max())
            yield Row(f"alpha {alpha:g}, {what}", 2000, "distance from dense", far, GOALS["digits"])


def growth(rows: int, repeats: int) -> Iterator[Row]:
    """The exponent of time with n, of a fit with one alpha, by processors' seconds."""
    sizes, found = [rows // 100, rows // 10, rows], []
    for size in sizes:
        X, y = drawn(size)
        _, seconds, cpu = timed(partial(model(alpha=0.1, method="state_space").fit, X, y), max(repeats, 2))
        found.append(cpu)
        yield Row("fit, one alpha", size, "rows a second", size / seconds, None, seconds, cpu)
    slope = float(np.log(found[-1] / found[1]) / np.log(sizes[-1] / sizes[1]))
    yield Row("fit, one alpha", rows, "exponent of growth", slope, GOALS["growth"])


def path(rows: int, repeats: int) -> Iterator[Row]:
    """30 alphas with exact leave-one-out errors, in units of a fit with one."""
    X, y = drawn(min(rows, 1_000_000))
    alphas = np.geomspace(1e-4, 10, 30)
    _, one, one_cpu = timed(lambda: model(alpha=0.1, method="state_space").fit(X, y), repeats)
    _, many, many_cpu = timed(lambda: model(alpha=alphas, method="state_space").fit(X, y), repeats)
    yield Row("30 alphas, leave-one-out", len(X), "times one fit", many / one, GOALS["path"], many, many_cpu)
    yield Row("30 alphas, leave-one-out", len(X), "times one fit, of all processors", many_cpu / one_cpu)


def peers(rows: int, repeats: int) -> Iterator[Row]:
    """The same model elsewhere, at numbers that are given."""
    n = 1000 if rows == QUICKLY else 4000
    X, y = drawn(n)
    swept = model(alpha=0.1, method="state_space", fit_intercept=False)
    _, ours, _ = timed(lambda: swept.fit(X, y).predict(X, return_std=True), max(repeats, 3))
    there = GaussianProcessRegressor(PeerMatern(1.0, nu=1.5) + WhiteKernel(0.1), optimizer=None)
    _, theirs, _ = timed(lambda: there.fit(X, y).predict(X, return_std=True), repeats)
    yield Row("scikit-learn's Gaussian process", n, "times faster", theirs / ours, None, ours)


PARTS = {"series": series, "digits": digits, "growth": growth, "path": path, "peers": peers}


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few rows")
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--repeats", type=int, help="turns: 2, quickly 1")
    parser.add_argument("--json", type=Path, help="where the record goes")
    options = parser.parse_args()
    rows, repeats = QUICKLY if options.quick else ROWS, options.repeats or (1 if options.quick else 2)
    X, y = drawn(3000)
    for given in ({}, {"alpha": 0.1}):  # the loops are compiled once
        model(method="state_space", **given).fit(X, y).predict(X, return_std=True)
    record: dict[str, Any] = {"date": time.strftime("%Y-%m-%d"), "machine": machine(), "rows": []}
    destination = options.json or RESULTS / f"series{'-quick' * options.quick}.json"
    print("\n".join(f"| {' | '.join(line)} |" for line in (HEAD, ["---"] * len(HEAD))))
    for name in options.only:
        for row in PARTS[name](rows, repeats):
            print(f"| {' | '.join(row.cells())} |", flush=True)
            record["rows"].append(asdict(row) | {"met": row.met})
            destination.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
