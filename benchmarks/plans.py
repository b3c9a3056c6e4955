"""Whether plans keep their word: predicted against measured time and memory, and limits, on random problems.

    python benchmarks/plans.py [--cases N] [--seed S] [--only NUMBER] [--json PATH]

Each problem is planned and fitted in a process of its own, after small fits of the same kernel in every way, so that
neither imports nor compiling count. Where a plan promises more than LONGEST seconds, the rows are halved and planned
again. Memory is the peak of `fit` above what the process held before it, with its data. A limit is kept where the peak
is at most 5 % and 64 MiB above it, or where the planner refuses. With the plan another peak is compared, of a second
process in which every array goes back to the system when it is done with: otherwise glibc keeps up to 64 MB of them in
hand, and whether those were there before, or come with the fit, is chance. The share by the first peak is told beside
it. The goals: times within a factor of two, memory within 15 % (of problems that take 64 MB or more), and every limit
kept.
"""

from __future__ import annotations

import argparse
import json
import os
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from alone import Found, alone, in_turns, measured
from numpy.typing import NDArray
from report import machine

from mercer import KernelRidge
from mercer.errors import BudgetError
from mercer.lifts import Nystrom, RandomFourier
from mercer.operators import Gram
from mercer.solvers import ConjugateGradient

Array = NDArray[Any]
RESULTS = Path(__file__).parent / "results"
ALL = 60
"""Cases of a full run."""
LONGEST = 20.0
"""Seconds that a problem may be planned to take; otherwise it gets half of the rows."""
PATIENCE = 10 * LONGEST
"""Seconds after which a process is ended: the plan was wrong, then."""
FACTOR, NEAR = 2.0, 0.15
"""The goals: of times the ratio, of memory the relative difference."""
LONG = 0.1
"""Seconds from which on a second share of times is counted: nobody plans for less."""
COUNTED = 64.0
"""Megabytes from which on memory is compared."""
SLACK, ROOM = 1.05, 64 * 2**20
"""A limit is kept up to this factor, and these bytes: threads and libraries hold some of their own."""
AT_ONCE = {"MALLOC_MMAP_THRESHOLD_": "131072", "MALLOC_TRIM_THRESHOLD_": "131072"}
"""What tells glibc to keep nothing in hand."""
WARM, LARGE = 300, 1_500
"""Rows of the small fits, and of matrices that are multiplied once."""
SPECTRAL = ("gaussian('median')", "matern(nu=2.5, lengthscale='median')", "laplace('median')")
KERNELS = (
    *SPECTRAL,
    "polynomial(degree=2)",
    "gaussian('median') + 0.1*linear",
    "0.5*gaussian('median') + laplace('median')",
)
LIMITS = (None, None, None, "2GB", "1GB", "500MB", "200MB", "100MB", "50MB")


@dataclass(frozen=True)
class Case:
    """One problem: rows whose variation has few directions, smooth targets with noise, and how they are to be fitted.

    lift : "" for the kernel, else "nystrom" or "fourier", with so many features
    """

    number: int
    rows: int
    columns: int
    outputs: int
    directions: int
    kernel: str
    lift: str
    features: int
    alpha: float | str
    dtype: str
    limit: str | None

    def __str__(self) -> str:
        lift = f" by {self.lift} {self.features}" if self.lift else ""
        alpha = self.alpha if isinstance(self.alpha, str) else f"{self.alpha:.0e}"
        return f"{self.rows} x {self.columns} -> {self.outputs}, {self.kernel}{lift}, {self.dtype}, alpha {alpha}"

    def data(self) -> tuple[Array, Array]:
        """The table and the targets."""
        rng = np.random.default_rng(self.number)
        hidden = rng.normal(size=(self.rows, self.directions))
        X = hidden @ rng.normal(size=(self.directions, self.columns)) / self.directions**0.5
        X += 0.1 * rng.normal(size=X.shape)
        y = np.sin(2 * hidden @ rng.normal(size=(self.directions, self.outputs)) / self.directions**0.5)
        y += 0.2 * rng.normal(size=y.shape)
        return X.astype(self.dtype), (y[:, 0] if self.outputs == 1 else y).astype(self.dtype)

    def model(self) -> Any:
        """What is fitted."""
        return KernelRidge(self._kernel(), alpha=self.alpha, memory_limit=self.limit, verbose=False, random_state=0)

    def _kernel(self) -> Any:
        if not self.lift:
            return self.kernel
        kind = Nystrom if self.lift == "nystrom" else RandomFourier
        return kind(self.kernel, self.features, random_state=0)

    def warm(self, X: Array, y: Array) -> None:
        """Small fits in every way, which load and compile."""
        few, small = slice(None, WARM), replace(self, features=20, limit=None)
        kernels = [small._kernel(), Nystrom(self.kernel, 20, random_state=0)]
        kernels += [RandomFourier(self.kernel, 20, random_state=0)] if self.kernel in SPECTRAL else []
        for kernel in kernels:
            KernelRidge(kernel, alpha=self.alpha, random_state=0).fit(X[few], y[few])
        KernelRidge(self.kernel, alpha=0.1, solver=ConjugateGradient(), random_state=0).fit(X[few], y[few])
        for dtype in ("float32", "float64"):  # BLAS takes buffers of its own with the first large product of a thread
            table = np.ones((LARGE, LARGE), dtype)
            np.linalg.cholesky(table @ table + LARGE**2 * np.eye(LARGE, dtype=dtype))
            np.ones((20 * LARGE, 400), dtype) @ np.ones((400, 4), dtype)  # tall ones take more
            rows = np.linspace(0.0, 1.0, LARGE * X.shape[1]).reshape(LARGE, -1).astype(dtype)
            Gram("gaussian(1)", rows) @ np.ones((LARGE, 4), dtype)
            KernelRidge(Nystrom("gaussian(0.01)", 200, random_state=0), memory_limit="40MB").fit(rows, rows[:, 0])


def cases(count: int, seed: int) -> Iterator[Case]:
    """Random problems, the same for the same seed."""
    rng = np.random.default_rng(seed)
    for number in range(count):
        rows, features = int(np.exp(rng.uniform(np.log(300), np.log(200_000)))), int(np.exp(rng.uniform(4.0, 6.9)))
        columns, outputs = int(np.exp(rng.uniform(np.log(2), np.log(51)))), int(rng.integers(1, 6))
        kernel, lift = str(rng.choice(KERNELS)), str(rng.choice(["", "", "", "nystrom", "fourier"]))
        lift = "nystrom" if lift == "fourier" and kernel not in SPECTRAL else lift
        features = 2 * (min(features, rows) // 2)  # waves come in pairs
        alpha = "auto" if rng.random() < 0.5 else float(10.0 ** rng.integers(-3, 2))
        limit, dtype = LIMITS[int(rng.integers(len(LIMITS)))], str(rng.choice(["float32", "float64"]))
        directions = int(rng.integers(1, 9))
        yield Case(number, rows, columns, outputs, directions, kernel, lift, features, alpha, dtype, limit)


def tried(case: Case) -> Found:
    """Plan and fit a case."""
    warnings.simplefilter("ignore")  # numbers are not judged here
    X, y = case.data()
    case.warm(X, y)
    model = case.model()
    try:
        plan = model.plan(X, y)
        while plan.seconds > LONGEST:
            X, y = X[: len(X) // 2].copy(), y[: len(y) // 2].copy()
            plan = model.plan(X, y)
        _, cost = measured(lambda: model.fit(X, y))
    except BudgetError as error:
        return {"seconds": 0.0, "refused": str(error)}
    planned = {"planned seconds": plan.seconds, "planned MB": plan.bytes / 1e6, "rows": len(X)}
    return (
        cost
        | planned
        | {
            "way": plan.method,
            "features": plan.n_landmarks or plan.n_features,
            "same": plan.method == model.plan_.method,
        }
    )


def held_by(case: Case, found: Found) -> Found:
    """What was found of a case, and the peak of a fit in a process that keeps no freed array in hand."""
    if "megabytes" not in found:
        return found
    with patch.dict(os.environ, AT_ONCE):
        again = in_turns({"held": partial(alone, tried, case, seconds=PATIENCE)}, 1)["held"]
    return found | {"held MB": again["megabytes"]} if "megabytes" in again else again


@dataclass(frozen=True)
class Row:
    """One case: what was planned, what it took, or why it was refused."""

    case: Case
    found: Found

    @property
    def done(self) -> bool:
        """Whether it was fitted."""
        return "megabytes" in self.found

    @property
    def time(self) -> float:
        """Measured seconds as a part of planned ones."""
        return float(self.found["seconds"] / self.found["planned seconds"])

    def memory(self, which: str = "held MB") -> float | None:
        """Measured memory as a part of planned memory; None where it is too little to tell."""
        measured, planned = self.found[which], self.found["planned MB"]
        return float(measured / planned) if max(measured, planned) >= COUNTED else None

    @property
    def kept(self) -> bool:
        """Whether a limit was kept; one that was not given is."""
        if "failed" in self.found:
            return False
        if "refused" in self.found or self.case.limit is None:
            return True
        return 1e6 * float(self.found["megabytes"]) <= SLACK * _bytes(self.case.limit) + ROOM

    def cells(self) -> list[str]:
        """For the table, under HEAD."""
        about = [str(self.case.number), str(replace(self.case, rows=self.found.get("rows", self.case.rows)))]
        limit, kept = self.case.limit or "", "" if self.case.limit is None else "yes" if self.kept else "NO"
        if not self.done:
            why = self.found.get("refused") or self.found["failed"]
            return [*about, "refused" if "refused" in self.found else "FAILED", *[""] * 7, limit, kept, str(why)]
        times = [f"{self.found['planned seconds']:.2f}", f"{self.found['seconds']:.2f}", f"{self.time:.2f}"]
        held = [f"{self.found[name]:.0f}" for name in ("planned MB", "held MB", "megabytes")]
        ratio = self.memory()
        memory = "" if ratio is None else f"{ratio:.2f}"
        note = "" if self.found["same"] else "fit took another way"
        return [*about, self.found["way"], *times, *held[:2], memory, held[2], limit, kept, note]

    def record(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self.case) | {"found": self.found, "kept": self.kept}


HEAD = ["case", "problem", "way", "planned s", "s", "ratio", "planned MB", "MB", "ratio", "with what glibc keeps"]
HEAD += ["limit", "kept", "note"]


def _bytes(limit: str) -> float:
    return float(limit[:-2]) * {"MB": 1e6, "GB": 1e9}[limit[-2:]]


def summary(rows: list[Row]) -> dict[str, Any]:
    """The shares of which the goals speak, in all and for each way."""
    done = [row for row in rows if row.done]
    ways = sorted({row.found["way"] for row in done})
    return {
        "cases": len(rows),
        "fitted": len(done),
        "failed": sum("failed" in row.found for row in rows),
        "times within a factor of two": _share([_close(row) for row in done]),
        "the same of those that take 0.1 s or more": _share(
            [_close(row) for row in done if row.found["seconds"] >= LONG]
        ),
        "memory within 15 %": _near(done),
        "the same with what the system keeps in hand": _near(done, "megabytes"),
        "limits kept": all(row.kept for row in rows),
        "ways": {way: _of_way([row for row in done if row.found["way"] == way]) for way in ways},
    }


def _of_way(rows: list[Row]) -> dict[str, Any]:
    times = [row.time for row in rows]
    spread = [round(float(level), 2) for level in np.quantile(times, [0.0, 0.5, 1.0])]
    shares = {"within a factor of two": _share([_close(row) for row in rows]), "memory within 15 %": _near(rows)}
    return {"cases": len(rows), "measured / planned: least, median, most": spread} | shares


def _close(row: Row) -> bool:
    return 1 / FACTOR <= row.time <= FACTOR


def _near(rows: list[Row], which: str = "held MB") -> float | None:
    ratios = [row.memory(which) for row in rows]
    return _share([abs(ratio - 1) <= NEAR for ratio in ratios if ratio is not None])


def _share(hits: list[bool]) -> float | None:
    return round(sum(hits) / len(hits), 3) if hits else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=ALL, help="how many")
    parser.add_argument("--seed", type=int, default=0, help="of the cases")
    parser.add_argument("--only", type=int, help="the case of this number")
    parser.add_argument("--json", type=Path, help="where the record goes")
    options = parser.parse_args()
    path = options.json or RESULTS / f"plans{'-partly' * (options.only is not None or options.cases < ALL)}.json"
    about, rows = machine(), list[Row]()
    path.parent.mkdir(exist_ok=True)
    for case in cases(options.cases, options.seed):
        if options.only in (None, case.number):
            print(f"  {case.number}: {case}, limit {case.limit}", flush=True)
            found = in_turns({"found": partial(alone, tried, case, seconds=PATIENCE)}, 1)["found"]
            rows.append(Row(case, held_by(case, found)))
            record = {"machine": about, "summary": summary(rows), "rows": [row.record() for row in rows]}
            path.write_text(json.dumps(record, indent=1) + "\n")
    lines = [HEAD, ["---"] * len(HEAD), *(row.cells() for row in rows)]
    print("\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines))
    print(json.dumps(summary(rows), indent=1))


if __name__ == "__main__":
    main()
