"""Large data against the usual ways: exact by products, landmarks, and how the time grows with the rows.

    python benchmarks/scale.py --data FOLDER [--work FOLDER] [--quick] [--only exact|nystrom|growth] [--repeats N]
        [--json PATH]

exact : kernel ridge of all rows of two sets by conjugate gradients, against SciPy's on KeOps' products (CPU, float32).
    Both true residuals are recomputed in float64, from the definition.
nystrom : 1,000 and 2,000 landmarks on covertype and on flights, against scikit-learn's Nystroem and ridge regression
    with the same kernel and penalty, on the same rows; and all flights from a Parquet file within 2 GB.
growth : seconds for 500 landmarks on 10,000 to 3,000,000 flights, and the exponent of their growth.

Every fit runs in a process of its own, after a small one that loads and compiles. Those that are compared take turns,
and the best of several times counts, unless one takes minutes: compare ratios, not seconds, between machines. Memory is
the peak above what the process held before `fit`, with its data. Each part is written when it is done; with --only
the others stay in the file as they are. The folder --work keeps the table of flights between runs.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from alone import Found, alone, in_turns, measured
from report import machine
from scipy.sparse.linalg import LinearOperator, cg
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.metrics import accuracy_score, r2_score
from sklearn.pipeline import make_pipeline
from tables import FEW, TARGET, Array, Flights, Split, columns_of, median_distance, split_of

from mercer import KernelRidge, KernelRidgeClassifier
from mercer.kernels import Gaussian, Matern
from mercer.lifts import Nystrom
from mercer.solvers import ConjugateGradient

RESULTS = Path(__file__).parent / "results"
TOLERANCE, ALPHA = 1e-3, 0.1
"""The relative residual that is asked of exact fits, and the penalty of all models."""
MOST_STEPS, MOST_SECONDS = 300, 100.0
"""What SciPy's conjugate gradients may take; where they are cut off, the ratio is a lower bound."""
WORSE = 0.002
"""By how much a score may be below the other's and still count as no worse."""
GIGABYTES = 20.0
"""What scikit-learn may hold; where that is not enough, both get fewer rows."""
LIMIT = 2_000.0
"""Megabytes that the exact fits, and those from a file, may add."""
SMALL = 100
"""Landmarks of the small fit that loads and compiles."""
BLOCK = 20_000
"""New rows that are predicted at once."""
LONGEST = 7_200.0
"""Seconds that any process may take."""


@dataclass(frozen=True)
class Sizes:
    """How much is computed."""

    exact: int | None = None
    covertype: int | None = None
    compared: int = 300_000
    landmarks: tuple[int, ...] = (1_000, 2_000)
    growth: tuple[int, ...] = (10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000)
    growing: int = 500
    repeats: int = 3


QUICK = Sizes(3_000, 20_000, 10_000, (200,), (5_000, 15_000, 50_000, 150_000), 100, 2)


@dataclass(frozen=True)
class Place:
    """Where data is found."""

    data: Path
    work: Path


@dataclass(frozen=True)
class Row:
    """One result: a measure with its goal, what it was computed from, and whether all else was as it should be."""

    work: str
    against: str
    ours: float | None
    theirs: float | None
    measure: float
    unit: str
    goal: float | None
    more_is_better: bool
    fine: bool
    note: str

    @property
    def met(self) -> str:
        """Whether the goal is reached, and the results are as good as they should be."""
        if self.goal is None:
            return ""
        reached = self.measure >= self.goal if self.more_is_better else self.measure <= self.goal
        return "yes" if reached and self.fine else "NO"

    def cells(self) -> list[str]:
        """For the table, under HEAD."""
        goal = "" if self.goal is None else f"{'>=' if self.more_is_better else '<='} {self.goal:g}"
        times = ["" if seconds is None else f"{seconds:.2f}" for seconds in (self.ours, self.theirs)]
        return [self.work, self.against, *times, f"{self.measure:.3g} {self.unit}", goal, self.met, self.note]


HEAD = ["work", "against", "ours s", "other s", "measure", "goal", "met", "note"]


def _faster(work: str, against: str, best: dict[str, Found], goal: float | None, fine: bool, note: str) -> Row:
    ours, theirs = best["ours"]["seconds"], best[against]["seconds"]
    return Row(work, against, ours, theirs, theirs / ours, "times faster", goal, True, fine, note)


def _both(best: dict[str, Found], against: str) -> str:
    """Seconds of processors tell whether somebody had to wait for them."""
    ours, theirs = best["ours"], best[against]
    return f"CPU {ours['cpu']:.1f} / {theirs['cpu']:.1f} s, {ours['megabytes']:.0f} / {theirs['megabytes']:.0f} MB"


def _held(work: str, found: Found, goal: float | None, note: str = "") -> Row:
    return Row(f"{work}: peak memory", "", found["seconds"], None, found["megabytes"], "MB", goal, False, True, note)


# -- exact -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class System:
    """(K + alpha I) a = y on the rows of a set, in float32, without an intercept."""

    folder: Path
    name: str
    rows: int | None
    shape: str
    length: float = 1.0

    def data(self) -> tuple[Array, Array]:
        found = split_of(self.folder, self.name, 0.0).first(self.rows)
        return found.X.astype(np.float32), found.y.astype(np.float32)

    @property
    def kernel(self) -> Any:
        return Gaussian(self.length) if self.shape == "gaussian" else Matern(2.5, self.length)

    def values(self, squares: Array) -> Array:
        """The kernel from squared distances, in place of KeOps' and ours: plain NumPy."""
        if self.shape == "gaussian":
            return np.asarray(np.exp(squares / (-2 * self.length**2)))
        t = np.sqrt(squares * (5 / self.length**2))
        return np.asarray((1 + t + t * t / 3) * np.exp(-t))


def exact_ours(system: System) -> Found:
    X, y = system.data()
    solver = ConjugateGradient(tolerance=TOLERANCE)
    model = KernelRidge(system.kernel, alpha=ALPHA, fit_intercept=False, solver=solver, random_state=0)
    model.fit(X[:FEW], y[:FEW])
    _, cost = measured(lambda: model.fit(X, y))
    steps = {"steps": model.outcome_.iterations, "residual": float(model.residual_), "way": model.plan_.way}
    return cost | steps | {"converged": bool(model.converged_), "duals": np.asarray(model.dual_coef_)}


class Late(Exception):  # noqa: N818  # what was found so far is used
    """Raised where conjugate gradients take too long."""


def exact_keops(system: System) -> Found:
    X, y = system.data()
    K = _Products(system, X)
    _Products(system, X[:FEW]) @ y[:FEW]
    latest: dict[str, Any] = {"steps": 0, "duals": np.zeros(len(y))}
    start = time.perf_counter()

    def seen(duals: Array) -> None:
        latest.update(steps=latest["steps"] + 1, duals=duals.copy())
        if time.perf_counter() - start > MOST_SECONDS:
            raise Late

    def solve() -> bool:
        A = LinearOperator((len(y), len(y)), lambda v: K @ v + ALPHA * v, dtype=np.float64)
        try:
            duals, stopped = cg(A, y.astype(float), rtol=TOLERANCE, maxiter=MOST_STEPS, callback=seen)
        except Late:
            return False
        latest.update(duals=duals)
        return bool(stopped == 0)

    converged, cost = measured(solve)
    return cost | latest | {"converged": converged}


class _Products:
    """A kernel matrix that KeOps multiplies with, in float32, from data that is scaled once."""

    def __init__(self, system: System, X: Array) -> None:
        from pykeops.numpy import LazyTensor

        gaussian = system.shape == "gaussian"
        scaled = X * np.float32((0.5 if gaussian else 5.0) ** 0.5 / system.length)
        squares = LazyTensor(scaled[:, None, :]).sqdist(LazyTensor(scaled[None, :, :]))
        t = squares if gaussian else squares.sqrt()
        self.K = (-t).exp() if gaussian else (1 + t + t * t * (1 / 3)) * (-t).exp()

    def __matmul__(self, v: Array) -> Array:
        column = np.ascontiguousarray(v, dtype=np.float32).reshape(-1, 1)
        return np.asarray(self.K.__matmul__(column, backend="CPU")).reshape(-1).astype(np.float64)


def residuals(system: System, *duals: Array) -> list[float]:
    """|y - (K + alpha I) a| / |y| of each, in float64, from the definition, a block of rows at a time."""
    X, y = (values.astype(float) for values in system.data())
    A, norms = np.column_stack([found.astype(float) for found in duals]), (X * X).sum(axis=1)
    left = y[:, None] - ALPHA * A
    for start in range(0, len(X), 500):
        rows = slice(start, start + 500)
        squares = norms[rows, None] + norms - 2 * (X[rows] @ X.T)
        left[rows] -= system.values(np.maximum(squares, 0.0)) @ A
    return [float(norm) for norm in np.linalg.norm(left, axis=0) / np.linalg.norm(y)]


def exact(sizes: Sizes, place: Place) -> Iterator[Row]:
    """All rows by conjugate gradients."""
    for name in ("kin40k", "protein"):
        for shape in ("gaussian", "matern"):
            system = System(place.data, name, sizes.exact, shape)
            X, _ = system.data()
            system = replace(system, length=median_distance(X))
            work = f"{name}, {len(X):,} x {X.shape[1]}, {shape}, float32, alpha {ALPHA:g}"
            print(f"  {work}", flush=True)
            yield from _solved(work, system, sizes.repeats)


def _solved(work: str, system: System, repeats: int) -> Iterator[Row]:
    against = "SciPy cg on KeOps"
    jobs = {"ours": partial(alone, exact_ours, system), against: partial(alone, exact_keops, system)}
    best = in_turns(jobs, repeats)
    failed = [f"{name}: {found['failed']}" for name, found in best.items() if "failed" in found]
    if failed:
        yield _failure(work, against, failed)
        return
    ours, theirs = best["ours"], best[against]
    true = residuals(system, ours["duals"], theirs["duals"])
    cut = "" if theirs["converged"] else "; the other was cut off: the ratio is a lower bound"
    steps = f"steps {ours['steps']} / {theirs['steps']}"
    note = f"residuals {true[0]:.1e} / {true[1]:.1e}, {steps}, {_both(best, against)}{cut}"
    yield _faster(work, against, best, 8.0, ours["converged"] and true[0] <= 1.05 * TOLERANCE, note)
    yield _held(work, ours, LIMIT)


def _failure(work: str, against: str, why: list[str]) -> Row:
    return Row(work, against, None, None, 0.0, "", 1.0, True, False, "FAILED: " + "; ".join(why))


# -- landmarks -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Contest:
    """Landmarks on a table: so many training rows, in float32 or float64; 0 landmarks leave it to the planner."""

    place: Place
    name: str
    rows: int | None
    landmarks: int
    length: float
    dtype: str

    @property
    def labels(self) -> bool:
        """Whether classes are learnt."""
        return self.name == "covertype"

    @property
    def small(self) -> Contest:
        """With few landmarks, to warm up."""
        return replace(self, landmarks=SMALL)

    def data(self) -> Split:
        """The rows, and those held out."""
        return _table(self.place, self.name).first(self.rows).cast(self.dtype)

    def ours(self) -> Any:
        """Our model."""
        kernel: Any = Gaussian(self.length)
        if self.landmarks:
            kernel = Nystrom(kernel, self.landmarks, random_state=0)
        learner = KernelRidgeClassifier if self.labels else KernelRidge
        return learner(kernel, alpha=ALPHA, random_state=0)

    def theirs(self) -> Any:
        """scikit-learn's."""
        gamma = 1 / (2 * self.length**2)
        lift = Nystroem(kernel="rbf", gamma=gamma, n_components=self.landmarks, random_state=0)
        return make_pipeline(lift, RidgeClassifier(alpha=ALPHA) if self.labels else Ridge(alpha=ALPHA))

    def score(self, true: Array, found: Array) -> float:
        """The part of labels that is right, or R^2."""
        return float(accuracy_score(true, found) if self.labels else r2_score(true.astype(float), found.astype(float)))


def _table(place: Place, name: str) -> Split:
    return split_of(place.data, name) if name == "covertype" else Flights.prepared(place.data, place.work).split()


def fitted(contest: Contest, whose: str) -> Found:
    data, model = contest.data(), getattr(contest, whose)()
    getattr(contest.small, whose)().fit(data.X[:FEW], data.y[:FEW])
    _, cost = measured(lambda: model.fit(data.X, data.y))
    start = time.perf_counter()
    score = contest.score(data.true, _predicted(model, data.new))
    return cost | {"score": score, "predict seconds": time.perf_counter() - start} | _planned(model)


def _predicted(model: Any, new: Array) -> Array:
    """In blocks, so that nobody holds the features of all new rows."""
    return np.concatenate([model.predict(new[start : start + BLOCK]) for start in range(0, len(new), BLOCK)])


def from_file(contest: Contest) -> Found:
    flights = Flights.prepared(contest.place.data, contest.place.work)
    contest.small.ours().fit(flights.few, TARGET)
    model = contest.ours().set_params(memory_limit="2GB")
    _, cost = measured(lambda: model.fit(flights.train, TARGET))
    predicted, (_, true) = model.predict(flights.test), columns_of(flights.test)
    return cost | {"score": contest.score(true, predicted)} | _planned(model)


def _planned(model: Any) -> Found:
    plan = getattr(model, "plan_", None)
    if plan is None:
        return {}
    return {"way": plan.way, "features": plan.features, "planned seconds": plan.seconds, "planned MB": plan.bytes / 1e6}


def nystrom(sizes: Sizes, place: Place) -> Iterator[Row]:
    """Landmarks at equal rows, kernel and penalty."""
    for name, rows in (("covertype", sizes.covertype), ("flights", sizes.compared)):
        table = _table(place, name)
        rows = len(table.X) if rows is None else rows
        contest = Contest(place, name, rows, 0, median_distance(table.X), "float64")
        for count in sizes.landmarks:
            for dtype in ("float64", "float32") if count == sizes.landmarks[0] else ("float64",):
                yield from _against(replace(contest, landmarks=count, dtype=dtype), sizes.repeats)
        yield from _by_planner(contest)
    for count in sizes.landmarks:
        yield from _large(replace(contest, landmarks=count, rows=None, dtype="float32"))


def _against(contest: Contest, repeats: int) -> Iterator[Row]:
    """Both on the same rows; on fewer where scikit-learn's features do not fit."""
    against = "scikit-learn"
    while True:
        rows = contest.rows or 0
        work = f"{contest.name}, {rows:,} rows, {contest.landmarks:,} landmarks, {contest.dtype}"
        print(f"  {work}", flush=True)
        theirs = partial(alone, fitted, contest, "theirs", seconds=LONGEST, gigabytes=GIGABYTES)
        best = in_turns({against: theirs, "ours": partial(alone, fitted, contest, "ours", seconds=LONGEST)}, repeats)
        if "failed" not in best.get(against, {}) or rows < FEW * 10:
            break
        contest = replace(contest, rows=int(0.7 * rows))
    if failed := [f"{name}: {found['failed']}" for name, found in best.items() if "failed" in found]:
        yield _failure(work, against, failed)
        return
    ours, other = best["ours"], best[against]
    note = f"scores {ours['score']:.4f} / {other['score']:.4f}, {_both(best, against)}"
    goal = 3.0 if contest.dtype == "float64" else None
    yield _faster(work, against, best, goal, ours["score"] >= other["score"] - WORSE, note)


def _by_planner(contest: Contest) -> Iterator[Row]:
    """A plain kernel: what the planner takes, for comparison."""
    work = f"{contest.name}, {contest.rows:,} rows, as planned, float32"
    print(f"  {work}", flush=True)
    job = partial(alone, fitted, replace(contest, dtype="float32"), "ours", seconds=LONGEST)
    found = in_turns({"ours": job}, 1)["ours"]
    if "failed" in found:
        yield _failure(work, "", [found["failed"]])
        return
    note = f"{found['way']}, {found['features']} features, score {found['score']:.4f}"
    yield Row(work, "the plan", found["seconds"], None, found["seconds"], "s", None, False, True, note)


def _large(contest: Contest) -> Iterator[Row]:
    """All rows from a file."""
    work = f"all flights from Parquet, {contest.landmarks:,} landmarks, memory_limit 2GB"
    print(f"  {work}", flush=True)
    found = in_turns({"ours": partial(alone, from_file, contest, seconds=LONGEST)}, 1)["ours"]
    if "failed" in found:
        yield _failure(work, "", [found["failed"]])
        return
    note = f"R^2 {found['score']:.4f}; planned {found['planned seconds']:.0f} s and {found['planned MB']:.0f} MB"
    yield _held(work, found, LIMIT, note)


# -- growth ----------------------------------------------------------------------------------------------------------


def grown(place: Place, rows: tuple[int, ...], landmarks: int, repeats: int) -> Found:
    """The best seconds for each number of rows, in turns."""
    data = Flights.prepared(place.data, place.work).split()
    X, y = np.concatenate([data.X, data.new]), np.concatenate([data.y, data.true])
    contest = Contest(place, "flights", None, landmarks, median_distance(X), "float32")
    contest.small.ours().fit(X[:FEW], y[:FEW])
    best = dict.fromkeys(sorted({min(count, len(X)) for count in rows}), float("inf"))
    for turn in range(repeats):
        for count in best:
            model = contest.ours()
            _, cost = measured(partial(model.fit, X[:count], y[:count]))
            best[count] = min(best[count], cost["seconds"])
            print(
                f"    turn {turn + 1}, {count:,} rows: {cost['seconds']:.3f} s, {cost['megabytes']:.0f} MB", flush=True
            )
    return {"seconds": sum(best.values()), "rows": list(best), "best": list(best.values())}


def growth(sizes: Sizes, place: Place) -> Iterator[Row]:
    """Seconds against rows."""
    found = alone(grown, place, sizes.growth, sizes.growing, sizes.repeats, seconds=LONGEST)
    rows, best = np.array(found["rows"]), np.array(found["best"])
    told = ", ".join(f"{count:,}: {seconds:.2f} s" for count, seconds in zip(rows, best, strict=True))
    for part, name in ((slice(-4, None), "the largest four"), (slice(None), "all")):
        exponent = float(np.polyfit(np.log(rows[part]), np.log(best[part]), 1)[0])
        work = f"flights, {sizes.growing} landmarks, float32: growth over {name}"
        yield Row(work, "", best[-1], None, exponent, "is the exponent", 1.05, False, True, told)


PARTS: dict[str, Callable[[Sizes, Place], Iterator[Row]]] = {"exact": exact, "nystrom": nystrom, "growth": growth}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="a folder with kin40k.parquet and others")
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "mercer-scale", help="kept files")
    parser.add_argument("--quick", action="store_true", help="small tables; goals mean little there")
    parser.add_argument("--only", choices=PARTS, help="one part")
    parser.add_argument("--repeats", type=int, default=3, help="turns of what is compared, of which the best counts")
    parser.add_argument("--json", type=Path, help="where the record goes")
    options = parser.parse_args()
    path = options.json or RESULTS / f"scale{'-quick' * options.quick}.json"
    sizes = replace(QUICK if options.quick else Sizes(), repeats=options.repeats)
    place = Place(options.data.resolve(), options.work.resolve())
    for name in [options.only] if options.only else list(PARTS):
        _part(name, sizes, place, path)


def _part(name: str, sizes: Sizes, place: Place, path: Path) -> None:
    """Measure a part, printing each row when it is there, and put it into the record after each row."""
    print(f"\n{name}: {PARTS[name].__doc__}", flush=True)
    record = json.loads(path.read_text()) if path.exists() else {}
    about: dict[str, Any] = {"date": time.strftime("%Y-%m-%d"), "machine": machine(), "sizes": asdict(sizes)}
    rows: list[Row] = []
    path.parent.mkdir(exist_ok=True)
    for row in PARTS[name](sizes, place):
        rows.append(row)
        print("  " + " | ".join(row.cells()), flush=True)
        record[name] = about | {"rows": [asdict(row) | {"met": row.met} for row in rows]}
        path.write_text(json.dumps(record, indent=1) + "\n")
    print("\n".join(f"| {' | '.join(line)} |" for line in [HEAD, ["---"] * len(HEAD), *(row.cells() for row in rows)]))


if __name__ == "__main__":
    main()
