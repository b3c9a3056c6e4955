"""What accuracy costs: the error on held-out rows against the seconds of a fit, for exact and approximate ways.

    python benchmarks/curves.py --data FOLDER [--quick] [--only SET] [--pictures FOLDER] [--json PATH]

Four sets, a fifth of each held out. The kernel is a Gaussian whose lengthscale, like the penalty, is the choice of
exact leave-one-out on 2,000 rows, and the same for all: what differs is how much of the data, or of the kernel, is
used. Curves: all of the kernel on fewer rows; all rows by conjugate gradients with a coarser or finer tolerance;
landmarks; random features. The error is the root of the mean squared one, in deviations of the target. Short fits are
repeated, and the best time counts. Each set has a picture, an SVG.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from report import machine
from tables import Split, split_of

from mercer import KernelRidge
from mercer.kernels import Gaussian
from mercer.lifts import Nystrom, RandomFourier
from mercer.solvers import Cholesky, ConjugateGradient

RESULTS = Path(__file__).parent / "results"
PICTURES = Path(__file__).parent.parent / "docs" / "pictures"
SETS = ("kin40k", "protein", "california_housing", "elevators")
HELD_OUT = 0.2
TUNED = 2_000
"""Rows on which lengthscale and penalty are chosen."""
SHORT, REPEATS = 5.0, 3
"""Fits of fewer seconds than the first are repeated."""
WARM = 500
"""Rows of the first fits, which load and compile."""
LARGEST = 60_000
"""Bytes of a picture, at most."""


@dataclass(frozen=True)
class Sizes:
    """How far the curves go."""

    rows: tuple[int, ...] = (250, 500, 1_000, 2_000, 4_000, 8_000)
    tolerances: tuple[float, ...] = (3e-1, 1e-1, 1e-2, 1e-3, 1e-4)
    landmarks: tuple[int, ...] = (30, 100, 300, 1_000, 2_000)
    waves: tuple[int, ...] = (30, 100, 300, 1_000, 2_000)
    most: int | None = None


QUICK = Sizes((250, 1_000), (1e-1, 1e-2), (30, 200), (30, 200), 4_000)


@dataclass(frozen=True)
class Point:
    """One fit: its curve, how much it used, what it took, and how wrong it is."""

    curve: str
    amount: float
    seconds: float
    error: float
    converged: bool


@dataclass(frozen=True)
class Problem:
    """A set, and the model that everybody fits or approximates."""

    name: str
    data: Split
    kernel: Any
    alpha: float

    @classmethod
    def of(cls, folder: Path, name: str, most: int | None) -> Problem:
        """A set of the folder, in float32, with its lengthscale and penalty found."""
        data = split_of(folder, name, HELD_OUT).first(most).cast("float32")
        tuned = KernelRidge(Gaussian("median"), lengthscale="loo").fit(data.X[:TUNED], data.y[:TUNED])
        return cls(name, data, tuned.kernel_, float(tuned.alpha_))

    def fit(self, kernel: Any, rows: int | None = None, **settings: Any) -> Any:
        """A fitted model on the first rows."""
        model = KernelRidge(kernel, alpha=self.alpha, random_state=0, **settings)
        return model.fit(self.data.X[:rows], self.data.y[:rows])

    def point(self, curve: str, amount: float, fit: Callable[[], Any]) -> Point:
        """Time a fit, and look at its errors."""
        seconds, model = _timed(fit)
        wrong = np.asarray(model.predict(self.data.new), dtype=float) - self.data.true
        error = float(np.sqrt(np.mean(wrong**2)) / self.data.true.std())
        found = Point(curve, amount, seconds, error, bool(model.converged_))
        print(f"  {self.name}, {curve} {amount:g}: {seconds:.3f} s, error {error:.4f}", flush=True)
        return found


def _timed(fit: Callable[[], Any]) -> tuple[float, Any]:
    best = float("inf")
    for _ in range(REPEATS):
        start = time.perf_counter()
        model = fit()
        taken = time.perf_counter() - start
        best = min(best, taken)
        if taken > SHORT:
            break
    return best, model


# -- the curves ------------------------------------------------------------------------------------------------------


def on_fewer_rows(problem: Problem, sizes: Sizes) -> Iterator[Point]:
    """The exact model of a part of the rows, by Cholesky's method."""
    fit = partial(problem.fit, problem.kernel, solver=Cholesky())
    fit(WARM)
    for rows in [count for count in sizes.rows if count <= len(problem.data.X)]:
        yield problem.point("rows", rows, partial(fit, rows))


def by_products(problem: Problem, sizes: Sizes) -> Iterator[Point]:
    """The exact model of all rows, by conjugate gradients that end sooner or later."""
    for tolerance in sizes.tolerances:
        fit = partial(problem.fit, problem.kernel, solver=ConjugateGradient(tol=tolerance))
        fit(WARM)
        yield problem.point("tolerance", tolerance, fit)


def by_landmarks(problem: Problem, sizes: Sizes) -> Iterator[Point]:
    """All rows, and the part of the kernel that landmarks span."""
    problem.fit(Nystrom(problem.kernel, 10, random_state=0), WARM)
    for count in sizes.landmarks:
        yield problem.point("landmarks", count, partial(problem.fit, Nystrom(problem.kernel, count, random_state=0)))


def by_waves(problem: Problem, sizes: Sizes) -> Iterator[Point]:
    """All rows, and a kernel that is a sum of random waves."""
    problem.fit(RandomFourier(problem.kernel, 10, random_state=0), WARM)
    for count in sizes.waves:
        yield problem.point("waves", count, partial(problem.fit, RandomFourier(problem.kernel, count, random_state=0)))


CURVES = {"rows": on_fewer_rows, "tolerance": by_products, "landmarks": by_landmarks, "waves": by_waves}
LABELS = {
    "rows": ("exact, on n of the rows", "n = {:,.0f}", "o-", "#444444"),
    "tolerance": ("exact, all rows, to a tolerance", "{:.0e}", "s-", "#c0392b"),
    "landmarks": ("Nystrom, M landmarks", "M = {:,.0f}", "^-", "#2166ac"),
    "waves": ("random features, D of them", "D = {:,.0f}", "v--", "#4d9221"),
}
"""Of each curve: its name, how its ends are written, its line, its colour."""


# -- the picture -----------------------------------------------------------------------------------------------------


def draw(name: str, about: str, points: list[Point], path: Path) -> None:
    """An SVG of one set, the same bytes for the same points."""
    mpl.use("Agg")
    from matplotlib import pyplot as plt

    plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": name, "font.size": 9})
    figure, axes = plt.subplots(figsize=(7.2, 4.6), layout="constrained")
    for curve, (label, form, line, colour) in LABELS.items():
        found = [point for point in points if point.curve == curve]
        seconds, errors = [point.seconds for point in found], [point.error for point in found]
        axes.plot(seconds, errors, line, color=colour, label=label, markersize=4, linewidth=1.3)
        for point in found[:: max(len(found) - 1, 1)]:
            text = form.format(point.amount)
            axes.annotate(text, (point.seconds, point.error), (4, 4), textcoords="offset points", color=colour, size=7)
    _frame(axes, f"{name}: {about}")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
    if path.stat().st_size > LARGEST:
        raise RuntimeError(f"{path.name} has {path.stat().st_size} bytes, which is more than {LARGEST}")


def _frame(axes: Any, title: str) -> None:
    axes.set(xscale="log", yscale="log", xlabel="seconds of the fit", ylabel="error / deviation of the target")
    axes.set_title(title, fontsize=9)
    axes.yaxis.set_major_formatter(mpl.ticker.FormatStrFormatter("%.2g"))
    axes.yaxis.set_minor_formatter(mpl.ticker.FormatStrFormatter("%.2g"))
    axes.grid(visible=True, which="both", color="#dddddd", linewidth=0.5)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="a folder with kin40k.parquet and others")
    parser.add_argument(
        "--quick", action="store_true", help="few and small fits; without pictures, unless a folder is given"
    )
    parser.add_argument("--only", choices=SETS, help="one set")
    parser.add_argument("--pictures", type=Path, help="where the pictures go")
    parser.add_argument("--json", type=Path, help="where the record goes")
    options = parser.parse_args()
    path = options.json or RESULTS / f"curves{'-quick' * options.quick}.json"
    pictures = options.pictures or (None if options.quick else PICTURES)
    for name in [options.only] if options.only else list(SETS):
        problem = Problem.of(options.data, name, (QUICK if options.quick else Sizes()).most)
        _measured(problem, QUICK if options.quick else Sizes(), path, pictures)


def _measured(problem: Problem, sizes: Sizes, path: Path, pictures: Path | None) -> None:
    """All curves of a set, into the record and the picture; other sets stay in the record as they are."""
    n, d = problem.data.X.shape
    about = f"{n:,} x {d}, {problem.kernel}, alpha {problem.alpha:.2g}, float32"
    print(f"\n{problem.name}: {about}", flush=True)
    machine_ = machine()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a coarse tolerance is asked for, and told in the record
        points = [point for curve in CURVES.values() for point in curve(problem, sizes)]
    record = json.loads(path.read_text()) if path.exists() else {}
    record[problem.name] = {
        "date": time.strftime("%Y-%m-%d"),
        "machine": machine_,
        "model": about,
        "points": [asdict(point) for point in points],
    }
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(record, indent=1) + "\n")
    if pictures is not None:
        draw(problem.name, about, points, pictures / f"curves_{problem.name}.svg")


if __name__ == "__main__":
    main()
