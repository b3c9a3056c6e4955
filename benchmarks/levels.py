"""Level and power of the tests of difference and of dependence, and what they take for many rows.

    python benchmarks/levels.py [--quick] [--only levels|growth] [--data WORDS] [--first SEED] [--repeats N]
        [--json PATH]

levels : how often a test at 5 % says "different" (or "dependent"): its level where there is no difference, which should
    be 5 %, and its power elsewhere. Each share has its standard error, sqrt(p (1 - p) / repetitions). All tests of a
    line see the same data.
growth : seconds and the memory that is added at the peak, each in a process of its own, after a small run that loads
    and compiles.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from alone import Found, alone, measured
from numpy.typing import NDArray
from report import machine

from mercer.hypothesis_tests import Comparison, hsic, mmd
from mercer.hypothesis_tests.block_test import MIN_BLOCKS

RESULTS = Path(__file__).parent / "results"
LEVEL = 0.05
REPEATS, QUICK = 500, 40
PERMUTATIONS = 199
Array = NDArray[np.float64]
Compare = Callable[..., Comparison]
Draw = Callable[[np.random.Generator], tuple[Array, Array]]
Data = dict[str, tuple[bool, Draw]]
Settings = dict[str, Any]


# -- what is compared -------------------------------------------------------------------------------------------------


def normals(sizes: tuple[int, int], d: int, shift: float = 0.0, stretch: float = 1.0) -> Draw:
    def draw(random: np.random.Generator) -> tuple[Array, Array]:
        X, Y = random.normal(size=(sizes[0], d)), random.normal(size=(sizes[1], d))
        Y *= stretch
        Y[:, 0] += shift
        return X, Y

    return draw


def heavy(sizes: tuple[int, int], d: int) -> Draw:
    def draw(random: np.random.Generator) -> tuple[Array, Array]:
        return random.standard_t(2, size=(sizes[0], d)), random.standard_t(2, size=(sizes[1], d))

    return draw


def counts(sizes: tuple[int, int], d: int) -> Draw:
    def draw(random: np.random.Generator) -> tuple[Array, Array]:
        X, Y = random.poisson(1.0, size=(sizes[0], d)), random.poisson(1.0, size=(sizes[1], d))
        return X.astype(float), Y.astype(float)

    return draw


def independent(n: int) -> Draw:
    def draw(random: np.random.Generator) -> tuple[Array, Array]:
        return random.normal(size=(n, 2)), random.exponential(size=(n, 1))

    return draw


def ring(n: int, noise: float) -> Draw:
    """Points on a circle, with noise: dependent, without correlation."""

    def draw(random: np.random.Generator) -> tuple[Array, Array]:
        angle = random.uniform(0, 2 * math.pi, size=(n, 1))
        return (
            np.cos(angle) + noise * random.normal(size=(n, 1)),
            np.sin(angle) + noise * random.normal(size=(n, 1)),
        )

    return draw


def linear(n: int, strength: float) -> Draw:
    def draw(random: np.random.Generator) -> tuple[Array, Array]:
        X = random.normal(size=(n, 2))
        return X, strength * X[:, :1] + random.normal(size=(n, 1))

    return draw


SMALL, UNEQUAL, LARGE = (100, 100), (40, 160), (400, 400)
TWO_SAMPLES: Data = {
    "normal, d = 2, 100 + 100": (False, normals(SMALL, 2)),
    "normal, d = 20, 100 + 100": (False, normals(SMALL, 20)),
    "normal, d = 2, 40 + 160": (False, normals(UNEQUAL, 2)),
    "Student (2), d = 2, 40 + 160": (False, heavy(UNEQUAL, 2)),
    "Poisson (1), d = 1, 100 + 100": (False, counts(SMALL, 1)),
    "normal, d = 2, 400 + 400": (False, normals(LARGE, 2)),
    "shift 0.4, d = 2, 100 + 100": (True, normals(SMALL, 2, shift=0.4)),
    "shift 0.5, d = 2, 40 + 160": (True, normals(UNEQUAL, 2, shift=0.5)),
    "deviation 1.4, d = 2, 100 + 100": (True, normals(SMALL, 2, stretch=1.4)),
    "shift 0.2, d = 2, 400 + 400": (True, normals(LARGE, 2, shift=0.2)),
    "deviation 1.2, d = 2, 400 + 400": (True, normals(LARGE, 2, stretch=1.2)),
}
"""Data, and whether there is a difference."""
PAIRS: Data = {
    "normal and exponential, n = 100": (False, independent(100)),
    "Student (2), n = 100": (False, heavy((100, 100), 1)),
    "Poisson (1), n = 100": (False, counts((100, 100), 1)),
    "linear 0.3, n = 100": (True, linear(100, 0.3)),
    "circle, noise 0.3, n = 100": (True, ring(100, 0.3)),
}
MMD: dict[str, Settings] = {
    "exact, permutation": {"method": "exact"},
    "exact, spectral": {"method": "exact", "null": "spectral"},
    "features, permutation": {"method": "features"},
    "features, spectral": {"method": "features", "null": "spectral"},
    "blocks, normal": {"method": "blocks"},
}
HSIC = {name: settings for name, settings in MMD.items() if settings["method"] != "blocks"}


@dataclass(frozen=True)
class Row:
    """How often each test rejects on one kind of data."""

    test: str
    data: str
    different: bool
    repeats: int
    shares: dict[str, float]

    def error(self, share: float) -> float:
        """The standard error of a share."""
        return math.sqrt(share * (1 - share) / self.repeats)

    def record(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self) | {"errors": {name: self.error(share) for name, share in self.shares.items()}}

    def cells(self) -> list[str]:
        """For the table; a test that needs more rows has none."""
        methods = MMD if self.test == "mmd" else HSIC
        return [
            self.data,
            "power" if self.different else "level",
            *(self._cell(self.shares.get(method)) for method in methods),
        ]

    def _cell(self, share: float | None) -> str:
        return "" if share is None else f"{100 * share:.1f} ± {100 * self.error(share):.1f}"


def levels(seeds: range, words: str) -> Iterator[Row]:
    """Shares of rejections at 5 %, in percent, with their standard errors, on data whose name has some words."""
    parts: list[tuple[str, Compare, Data, dict[str, Settings]]] = [
        ("mmd", mmd, TWO_SAMPLES, MMD),
        ("hsic", hsic, PAIRS, HSIC),
    ]
    for test, compare, data, methods in parts:
        for number, (name, (different, draw)) in enumerate(data.items()):
            rejected: dict[str, int] = {}
            for seed in seeds if words in name else ():
                X, Y = draw(np.random.default_rng([seed, number, len(methods)]))
                for method, settings in methods.items():
                    if settings["method"] == "blocks" and min(len(X), len(Y)) < MIN_BLOCKS**2:
                        continue
                    found = compare(X, Y, permutations=PERMUTATIONS, random_state=seed, **settings)
                    rejected[method] = rejected.get(method, 0) + (found.p_value <= LEVEL)
            if rejected:
                shares = {method: count / len(seeds) for method, count in rejected.items()}
                yield Row(test, name, different, len(seeds), shares)


# -- many rows --------------------------------------------------------------------------------------------------------


def growing(test: str, settings: Settings, n: int) -> Found:
    """Seconds and megabytes of one test, with n rows of 5 columns a table."""
    random = np.random.default_rng(0)
    X, Y = random.normal(size=(n, 5)), random.normal(size=(n, 5))
    compare: Compare = mmd if test == "mmd" else hsic
    compare(X[:3_000], Y[:3_000], permutations=20, random_state=0, **settings)
    found, cost = measured(lambda: compare(X, Y, random_state=0, **settings))
    return {"test": test, "rows": n, "p_value": found.p_value, "detail": found.detail, "method": found.method} | cost


def growth(quick: bool) -> Iterator[Found]:
    """What 1,000 permutations take for many rows."""
    cases: list[tuple[str, Settings]] = [
        ("mmd", {"method": "features"}),
        ("mmd", {"method": "features", "null": "spectral"}),
        ("mmd", {"method": "blocks"}),
        ("hsic", {"method": "features"}),
        ("hsic", {"method": "features", "null": "spectral"}),
    ]
    for test, settings in cases:
        for n in (2_000, 5_000) if quick else (10_000, 30_000, 100_000):
            yield {"settings": settings} | alone(growing, test, settings, n)
    for n in (1_000,) if quick else (1_000, 2_500, 10_000):
        yield {"settings": {"method": "exact"}} | alone(growing, "mmd", {"method": "exact"}, n)
    for n in (1_000,) if quick else (1_000, 4_000):
        yield {"settings": {"method": "exact"}} | alone(growing, "hsic", {"method": "exact"}, n)


# -- tables -----------------------------------------------------------------------------------------------------------


def table(head: list[str], lines: list[list[str]]) -> str:
    return "\n".join(f"| {' | '.join(line)} |" for line in [head, ["---"] * len(head), *lines])


def show_levels(rows: list[Row]) -> None:
    for test, methods in (("mmd", MMD), ("hsic", HSIC)):
        print(f"\n{test}")
        print(table(["data", "", *methods], [row.cells() for row in rows if row.test == test]))


def show_growth(found: list[Found]) -> None:
    head = ["test", "method", "null", "rows a table", "summed over", "s", "MB"]
    lines = [
        [
            each["test"],
            each["method"],
            each["settings"].get("null", "normal" if each["method"] == "blocks" else "permutation"),
            f"{each['rows']:,}",
            each["detail"],
            f"{each['seconds']:.1f}",
            f"{each['megabytes']:.0f}",
        ]
        for each in found
    ]
    print("\n" + table(head, lines))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few repetitions and rows, to see that it runs")
    parser.add_argument("--only", choices=["levels", "growth"], help="one part")
    parser.add_argument("--data", default="", help="levels of data with these words in its name alone")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--repeats", type=int, help=f"repetitions: {REPEATS}, quickly {QUICK}")
    parser.add_argument("--json", type=Path, help="where the record goes")
    options = parser.parse_args()
    path = options.json or RESULTS / f"levels{'-quick' * options.quick}.json"
    path.parent.mkdir(exist_ok=True)
    record = json.loads(path.read_text()) if path.exists() else {}
    if options.only != "growth":
        about, start, rows = machine(), time.perf_counter(), []
        repeats = options.repeats or (QUICK if options.quick else REPEATS)
        for row in levels(range(options.first, options.first + repeats), options.data):
            rows.append(row)
            print(" | ".join([row.test, *row.cells()]), flush=True)
        show_levels(rows)
        settings = {"level": LEVEL, "permutations": PERMUTATIONS, "seconds": time.perf_counter() - start}
        record["levels"] = {"machine": about, **settings, "rows": [row.record() for row in rows]}
    if options.only != "levels":
        about, found = machine(), []
        for each in growth(options.quick):
            found.append(each)
            print(each, flush=True)
        show_growth(found)
        record["growth"] = {"machine": about, "rows": found}
    path.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
