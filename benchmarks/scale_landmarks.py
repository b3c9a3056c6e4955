"""Landmarks against scikit-learn's, and how their time grows with the rows: two parts of scale.py."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from alone import Found, alone, in_turns, measured
from scaling import ALPHA, GIGABYTES, LIMIT, LONGEST, Place, Row, Sizes, both, failure, faster, held
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.metrics import accuracy_score, r2_score
from sklearn.pipeline import make_pipeline
from tables import FEW, TARGET, Array, Flights, Split, columns_of, median_distance, split_of

from mercer import KernelRidge, KernelRidgeClassifier
from mercer.kernels import Gaussian
from mercer.lifts import Nystrom

WORSE = 0.002
"""By how much a score may be below the other's and still count as no worse."""
SMALL = 100
"""Landmarks of the small fit that loads and compiles."""
BLOCK = 20_000
"""New rows that are predicted at once."""


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
    def measure(self) -> str:
        """What `score` is."""
        return "accuracy" if self.labels else "R^2"

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
    return {
        "way": plan.method,
        "features": plan.n_landmarks or plan.n_features,
        "planned seconds": plan.seconds,
        "planned MB": plan.bytes / 1e6,
    }


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
    yield from _large(replace(contest, landmarks=sizes.landmarks[0], rows=None, dtype="float32"))


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
        yield failure(work, against, failed)
        return
    ours, other = best["ours"], best[against]
    note = f"scores {ours['score']:.4f} / {other['score']:.4f}, {both(best, against)}"
    goal = 3.0 if contest.dtype == "float64" else None
    row = faster(work, against, best, goal, ours["score"] >= other["score"] - WORSE, note)
    yield replace(row, accuracy=(contest.measure, ours["score"], other["score"]))


def _by_planner(contest: Contest) -> Iterator[Row]:
    """A plain kernel: what the planner takes, for comparison."""
    work = f"{contest.name}, {contest.rows:,} rows, as planned, float32"
    print(f"  {work}", flush=True)
    job = partial(alone, fitted, replace(contest, dtype="float32"), "ours", seconds=LONGEST)
    found = in_turns({"ours": job}, 1)["ours"]
    if "failed" in found:
        yield failure(work, "", [found["failed"]])
        return
    note = f"{found['way']}, {found['features']} features, score {found['score']:.4f}"
    yield Row(work, "the plan", found["seconds"], None, found["seconds"], "s", None, False, True, note)


def _large(contest: Contest) -> Iterator[Row]:
    """All rows from a file."""
    work = f"all flights from Parquet, {contest.landmarks:,} landmarks, memory_limit 2GB"
    print(f"  {work}", flush=True)
    found = in_turns({"ours": partial(alone, from_file, contest, seconds=LONGEST)}, 1)["ours"]
    if "failed" in found:
        yield failure(work, "", [found["failed"]])
        return
    note = f"R^2 {found['score']:.4f}; planned {found['planned seconds']:.0f} s and {found['planned MB']:.0f} MB"
    yield held(work, found, LIMIT, note)


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
