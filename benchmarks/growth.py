"""Time and memory against the number of rows, for every learner and its peers, up to where each gives out.

    python benchmarks/growth.py [--quick] [--only LEARNER] [--seconds S] [--gigabytes G] [--json PATH]

Rows are drawn at random, about three times as many from point to point. A point is a fit in a process of its own, after
a small one that loads and compiles; short fits are repeated, and the best counts. A curve ends with the first point
that takes more than --seconds, or --gigabytes, or fails; and why is kept. All who are compared do one size before the
next begins.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from alone import Failed, Found, alone, measured
from growth_learners import LEARNERS, QUICK
from report import machine

RESULTS = Path(__file__).parent / "results"
SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
SMALL = (500, 1_500)
"""Rows of a quick run."""
GRAPHS = 10_000
"""Graphs, at most: the matrix of more would not fit in memory, whoever computes it."""
SHORT, REPEATS = 1.0, 3
WARM, LOADED = 1_100, 300
"""Rows of a first fit, which loads and compiles: so many that ours goes the way of many, and fewer for the others."""
STARTING = 12.0
"""Seconds that loading, drawing rows and the small fit may take besides."""


@dataclass(frozen=True)
class Limits:
    """Where a curve ends."""

    seconds: float = 6.0
    gigabytes: float = 16.0


@dataclass
class Curve:
    """The points of one who fits, and why there are no more."""

    learner: str
    who: str
    points: list[Found] = field(default_factory=list)
    end: str = ""

    def record(self) -> dict[str, Any]:
        """For JSON."""
        return {"learner": self.learner, "who": self.who, "points": self.points, "end": self.end}


def fitted(learner: str, who: str, sizes: tuple[int, ...]) -> Found:
    """What fits of some sizes take."""
    warnings.simplefilter("ignore")
    make, fits = LEARNERS[learner]
    fit = fits[who]
    fit(*make(WARM if who.startswith("ours") else LOADED))
    points = []
    for rows in sizes:
        given = make(rows)
        costs = [measured(lambda given=given: fit(*given))[1]]  # type: ignore[misc]
        while costs[0]["seconds"] < SHORT and len(costs) < REPEATS:
            costs.append(measured(lambda given=given: fit(*given))[1])  # type: ignore[misc]
        best = min(costs, key=lambda cost: float(cost["seconds"]))
        turns = [cost["seconds"] for cost in costs]
        points.append(best | {"rows": rows, "megabytes": costs[0]["megabytes"], "turns": turns})
    return {"points": points}


def extended(curve: Curve, sizes: tuple[int, ...], limits: Limits) -> None:
    """Add points to a curve, or its end."""
    seconds = limits.seconds * len(sizes) + STARTING
    try:
        found = alone(fitted, curve.learner, curve.who, sizes, seconds=seconds, gigabytes=limits.gigabytes)
    except Failed as error:
        curve.end = _reason(str(error), sizes[-1], limits)
    else:
        curve.points += found["points"]
        taken = curve.points[-1]["seconds"]
        if taken > limits.seconds:
            curve.end = f"{sizes[-1]:,} rows took {taken:.0f} s, more than the {limits.seconds:.0f} s given"
    told = f"{curve.points[-1]['seconds']:.2f} s" if not curve.end else curve.end
    print(f"  {curve.learner}, {curve.who}, {sizes[-1]:,} rows: {told}", flush=True)


def _reason(why: str, rows: int, limits: Limits) -> str:
    if "not done" in why:
        return f"{rows:,} rows took more than the {limits.seconds:.0f} s given"
    if "memory" in why or "allocate" in why:
        return f"{rows:,} rows took more than the {limits.gigabytes:g} GB given"
    return f"{rows:,} rows: {why}"


def curves_of(learner: str, quick: bool, limits: Limits) -> list[Curve]:
    """All curves of a learner, a size at a time; quickly each is one process."""
    found = [Curve(learner, who) for who in LEARNERS[learner][1]]
    for sizes in [SMALL] if quick else [(rows,) for rows in _sizes(learner)]:
        for curve in found:
            if not curve.end:
                extended(curve, sizes, limits)
    for curve in found:
        curve.end = curve.end or "no more rows were asked for"
    return found


def _sizes(learner: str) -> list[int]:
    return [rows for rows in SIZES if rows <= GRAPHS or not learner.startswith("graphs")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few rows, and some of the learners")
    parser.add_argument("--only", choices=LEARNERS, help="one learner")
    parser.add_argument("--seconds", type=float, default=Limits.seconds, help="of a fit, at most")
    parser.add_argument("--gigabytes", type=float, default=Limits.gigabytes, help="of a process, at most")
    parser.add_argument("--json", type=Path, help="where the record goes")
    options = parser.parse_args()
    path = options.json or RESULTS / f"growth{'-quick' * options.quick}.json"
    limits, found, about = Limits(options.seconds, options.gigabytes), list[Curve](), machine()
    for learner in [options.only] if options.only else QUICK if options.quick else LEARNERS:
        found += curves_of(learner, options.quick, limits)
        record = {"date": time.strftime("%Y-%m-%d"), "machine": about, "limits": vars(limits)}
        path.write_text(json.dumps(record | {"curves": [curve.record() for curve in found]}, indent=1) + "\n")


if __name__ == "__main__":
    main()
