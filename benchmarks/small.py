"""Fits of 50 to 2,000 rows against scikit-learn's: warm, in a fresh process, in searches, and of one row.

    python benchmarks/small.py [--quick] [--only SECTION ...] [--learner NAME ...] [--repeats N] [--json PATH]

Both sides take turns in one process with equal settings, and the best of many turns counts: compare ratios, not
seconds, between machines. Tables are scikit-learn's own, with standardised columns. "First" is a process of its own:
imports, one fit and one prediction, less what importing the peer alone takes.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from alone import Failed, Found, alone, measured
from numpy.typing import NDArray
from report import machine
from scaling import HEAD, Row
from seconds import Seconds
from sklearn import datasets, decomposition, kernel_approximation, kernel_ridge, linear_model, svm
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler

import mercer
from mercer import lifts
from mercer.kernels import Gaussian

Array = NDArray[Any]
RESULTS = Path(__file__).parent / "results"
TABLES = ("iris", "wine", "breast_cancer", "diabetes", "digits")
SHORTEST = 0.02
"""Seconds that a turn takes at least: short work is done several times in it."""
MORE_MEGABYTES = 5.0
"""Memory that a fit may take beyond the peer's."""
FASTEST, TYPICAL = 1.0, 1.5
"""Times faster on every line, and on the median line."""
ONE_ROW, FOUND, FIRST = 0.15e-3, 10e-3, 0.3
"""Seconds: one row's prediction, KernelRidge() on diabetes, a fresh process beyond scikit-learn's import."""
SEARCHED = 10.0
"""Times faster than GridSearchCV: 30 alphas at 7 lengthscales."""


@dataclass(frozen=True)
class Table:
    """Standardised columns, and a target."""

    name: str
    X: Array
    y: Array

    @classmethod
    def of(cls, name: str) -> Table:
        """One of scikit-learn's."""
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        return cls(name, StandardScaler().fit_transform(X), y)

    @property
    def length(self) -> float:
        """The lengthscale of both sides: the root of the columns, which is near the median distance."""
        return float(np.sqrt(self.X.shape[1]))

    @property
    def gamma(self) -> float:
        """The same for scikit-learn."""
        return 1 / (2 * self.length**2)

    @property
    def few(self) -> int:
        """Landmarks: 100, or half of the rows."""
        return min(100, len(self.X) // 2)

    @property
    def is_regression(self) -> bool:
        return self.name == "diabetes"

    @property
    def labels(self) -> Array:
        """Classes; of a number whether it is above the median."""
        return self.y > np.median(self.y) if self.is_regression else self.y

    @property
    def numbers(self) -> Array:
        """Standardised targets."""
        return np.asarray((self.y - self.y.mean()) / self.y.std())


@dataclass(frozen=True)
class Contest:
    """A learner and its peer, with equal settings, and the target that both are fitted to.

    whole : whether rows are transformed, too
    """

    ours: Callable[[Table], Any]
    theirs: Callable[[Table], Any]
    peer: str
    target: Callable[[Table], Array | None] = lambda table: table.labels
    whole: bool = False


CONTESTS: Mapping[str, Contest] = {
    "KernelSVC": Contest(
        lambda t: mercer.KernelSVC(Gaussian(t.length), C=1.0),
        lambda t: svm.SVC(gamma=t.gamma, C=1.0),
        "SVC",
    ),
    "KernelSVR": Contest(
        lambda t: mercer.KernelSVR(Gaussian(t.length), C=1.0, epsilon=0.1),
        lambda t: svm.SVR(gamma=t.gamma, C=1.0, epsilon=0.1),
        "SVR",
        lambda t: t.numbers,
    ),
    "KernelOneClassSVM": Contest(
        lambda t: mercer.KernelOneClassSVM(Gaussian(t.length), nu=0.1),
        lambda t: svm.OneClassSVM(gamma=t.gamma, nu=0.1),
        "OneClassSVM",
        lambda _: None,
    ),
    "KernelRidge": Contest(
        lambda t: mercer.KernelRidge(Gaussian(t.length), alpha=0.1, fit_intercept=False),
        lambda t: kernel_ridge.KernelRidge(kernel="rbf", gamma=t.gamma, alpha=0.1),
        "KernelRidge",
        lambda t: t.numbers,
    ),
    "KernelPCA": Contest(
        lambda t: mercer.KernelPCA(Gaussian(t.length), n_components=5, random_state=0),
        lambda t: decomposition.KernelPCA(5, kernel="rbf", gamma=t.gamma, random_state=0),
        "KernelPCA",
        lambda _: None,
    ),
    "Perceptron": Contest(
        lambda t: mercer.Perceptron(max_iter=5, shuffle=False),
        lambda t: linear_model.Perceptron(max_iter=5, tol=None, shuffle=False),
        "Perceptron",
    ),
    "Nystrom": Contest(
        lambda t: lifts.Nystrom(Gaussian(t.length), t.few, random_state=0),
        lambda t: kernel_approximation.Nystroem(kernel="rbf", gamma=t.gamma, n_components=t.few, random_state=0),
        "Nystroem",
        lambda _: None,
        whole=True,
    ),
    "RandomFourier": Contest(
        lambda t: lifts.RandomFourier(Gaussian(t.length), 100, random_state=0),
        lambda t: kernel_approximation.RBFSampler(gamma=t.gamma, n_components=100, random_state=0),
        "RBFSampler",
        lambda _: None,
        whole=True,
    ),
}
"""All settings are equal, and the peers' names are scikit-learn's."""


def action(model: Any, contest: Contest, table: Table) -> Callable[[], Any]:
    """The fit, with its transform where that is the work."""
    target = contest.target(table)
    if contest.whole:
        return partial(model.fit_transform, table.X)
    return partial(model.fit, table.X) if target is None else partial(model.fit, table.X, target)


def in_turns(actions: Mapping[str, Callable[[], Any]], repeats: int) -> dict[str, Seconds]:
    """The best of many turns, taken in turns after one that does not count; short work is done several times a turn."""
    times: dict[str, list[float]] = {name: [] for name in actions}
    often: dict[str, int] = {}
    for name, act in actions.items():
        act()
        start = time.perf_counter()
        act()
        often[name] = max(1, int(SHORTEST / max(time.perf_counter() - start, 1e-6)))
    for _ in range(repeats):
        for name, act in actions.items():
            start = time.perf_counter()
            for _ in range(often[name]):
                act()
            times[name].append((time.perf_counter() - start) / often[name])
    return {name: Seconds.best_of(*each) for name, each in times.items()}


# -- fits -------------------------------------------------------------------------------------------------------------


def fits(options: argparse.Namespace) -> Iterator[Row]:
    """Warm fits, line by line; then the median of all, and memory."""
    found: list[Row] = []
    for name, contest in CONTESTS.items():
        if options.learner and name not in options.learner:
            continue
        for table in map(Table.of, TABLES):
            work = {"ours": contest.ours(table), "theirs": contest.theirs(table)}
            best = in_turns({who: action(model, contest, table) for who, model in work.items()}, options.repeats)
            ours, theirs = best["ours"], best["theirs"]
            row = Row(
                f"{name}, {table.name}, {len(table.X):,} rows", contest.peer, ours, theirs, theirs / ours,
                "times faster", FASTEST, True, True, f"{1e3 * ours:.2f} / {1e3 * theirs:.2f} ms",
            )  # fmt: skip
            if options.memory:
                row = _with_memory(row, name, table.name)
            print("  ", *row.cells(), flush=True)
            found.append(row)
    yield from found
    typical = statistics.median(row.measure for row in found)
    yield Row("all fits, the median", "scikit-learn", None, None, typical, "times faster", TYPICAL, True, True, "")


def _with_memory(row: Row, name: str, table: str) -> Row:
    try:
        ours, theirs = (alone(peak, name, table, who)["megabytes"] for who in ("ours", "theirs"))
    except Failed as error:
        return replace(row, note=f"{row.note}; memory: {error}")
    fine = ours <= theirs + MORE_MEGABYTES
    return replace(row, memory=(ours, theirs), fine=fine, note=f"{row.note}, {ours:.1f} / {theirs:.1f} MB")


def peak(name: str, table: str, who: str) -> Found:
    """Memory of the second fit in a process: what is loaded and compiled does not count."""
    contest, rows = CONTESTS[name], Table.of(table)
    model = contest.ours(rows) if who == "ours" else contest.theirs(rows)
    act = action(model, contest, rows)
    act()
    return measured(act)[1]


# -- rows between the tables ------------------------------------------------------------------------------------------


def sizes(options: argparse.Namespace) -> Iterator[Row]:
    """The same learners on 50, 150, 500 and 2,000 rows that no table has: two rings in five columns, and noise."""
    random = np.random.default_rng(0)
    X = random.normal(size=(2_000, 5))
    y = (np.linalg.norm(X[:, :2], axis=1) + 0.3 * random.normal(size=2_000) > 1.2).astype(float)
    for name, contest in CONTESTS.items():
        if options.learner and name not in options.learner:
            continue
        for rows in (50, 150, 500, 2_000):
            table = Table("rings", X[:rows], y[:rows])
            work = {"ours": contest.ours(table), "theirs": contest.theirs(table)}
            best = in_turns({who: action(model, contest, table) for who, model in work.items()}, options.repeats)
            ours, theirs = best["ours"], best["theirs"]
            note = f"{1e3 * ours:.2f} / {1e3 * theirs:.2f} ms"
            what = f"{name}, rings, {rows:,} rows"
            yield Row(what, contest.peer, ours, theirs, theirs / ours, "times faster", FASTEST, True, True, note)


# -- searches ---------------------------------------------------------------------------------------------------------


def searches(options: argparse.Namespace) -> Iterator[Row]:
    """GridSearchCV with 20 candidates and 5 folds, by one process and by two."""
    table = Table.of("breast_cancer")
    lengths = [table.length * factor for factor in (0.25, 0.5, 1.0, 2.0)]
    gammas = [1 / (2 * length**2) for length in lengths]
    prices, alphas = [0.1, 1.0, 10.0, 100.0, 1000.0], [1e-3, 1e-2, 0.1, 1.0, 10.0]
    kernels = [Gaussian(length) for length in lengths]
    contests = {
        "KernelSVC": (
            (mercer.KernelSVC(), {"kernel": kernels, "C": prices}, table.labels),
            (svm.SVC(), {"gamma": gammas, "C": prices}, table.labels),
        ),
        "KernelRidge": (
            (mercer.KernelRidge(fit_intercept=False), {"kernel": kernels, "alpha": alphas}, table.numbers),
            (kernel_ridge.KernelRidge(kernel="rbf"), {"gamma": gammas, "alpha": alphas}, table.numbers),
        ),
    }
    for name, pair in contests.items():
        for jobs in (1, 2):
            searching = {
                who: partial(GridSearchCV(model, grid, cv=5, n_jobs=jobs).fit, table.X, y)
                for who, (model, grid, y) in zip(("ours", "theirs"), pair, strict=True)
            }
            best = in_turns(searching, max(2, options.repeats // 5))
            ours, theirs = best["ours"], best["theirs"]
            work = f"GridSearchCV of {name}, 20 candidates, 5 folds, n_jobs={jobs}"
            scores = [round(GridSearchCV(model, grid, cv=5).fit(table.X, y).best_score_, 4) for model, grid, y in pair]
            yield Row(work, "GridSearchCV", ours, theirs, theirs / ours, "times faster", 1.0, True, True,
                      f"best scores {scores[0]} / {scores[1]}")  # fmt: skip


def tuned(options: argparse.Namespace) -> Iterator[Row]:
    """What leave-one-out finds on diabetes: alpha, and alpha with the lengthscale."""
    table = Table.of("diabetes")
    y = table.numbers
    best = in_turns({"ours": partial(mercer.KernelRidge().fit, table.X, y)}, options.repeats)
    yield Row("KernelRidge(), alpha found, 442 rows", "", best["ours"], None, best["ours"], "s", FOUND, False, True, "")
    factors = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 4.0)
    gammas, alphas = [table.gamma / factor**2 for factor in factors], np.logspace(-5, 2, 30)
    theirs = GridSearchCV(kernel_ridge.KernelRidge(kernel="rbf"), {"gamma": gammas, "alpha": alphas}, cv=5)

    def ours() -> float:
        kernels = [Gaussian(table.length * factor) for factor in factors]
        models = [mercer.KernelRidge(kernel, alpha=alphas, fit_intercept=False) for kernel in kernels]
        paths = [model.fit(table.X, y).loo_ for model in models]
        return min(float(path.errors.min()) for path in paths if path is not None)

    best = in_turns({"ours": ours, "theirs": partial(theirs.fit, table.X, y)}, 2)
    ratio = best["theirs"] / best["ours"]
    work = "30 alphas at 7 lengthscales, 442 rows"
    yield Row(work, "GridSearchCV", best["ours"], best["theirs"], ratio, "times faster", SEARCHED, True, True, "")


def predictions(options: argparse.Namespace) -> Iterator[Row]:
    """One row, of a model of 569."""
    table = Table.of("breast_cancer")
    for name in ("KernelSVC", "KernelSVR", "KernelRidge", "KernelPCA", "Perceptron", "Nystrom", "RandomFourier"):
        contest, calls = CONTESTS[name], {}
        for who in ("ours", "theirs"):
            model = getattr(contest, who)(table)
            target = contest.target(table)
            fitted = model.fit(table.X) if target is None else model.fit(table.X, target)
            calls[who] = partial(getattr(fitted, "predict", None) or fitted.transform, table.X[:1])
        best = in_turns(calls, options.repeats)
        ours, theirs = best["ours"], best["theirs"]
        note = f"{1e3 * ours:.3f} / {1e3 * theirs:.3f} ms"
        yield Row(f"{name}: one row", contest.peer, ours, theirs, ours, "s", ONE_ROW, False, True, note)


# -- a fresh process --------------------------------------------------------------------------------------------------

BARE = "import sklearn.{module}, numpy"
FRESH = {
    "KernelRidge": "from mercer import KernelRidge\nfrom mercer.kernels import Gaussian\n"
    "KernelRidge(Gaussian(2.0), alpha=0.1).fit(X, y).predict(X)",
    "KernelRidge()": "from mercer import KernelRidge\nKernelRidge().fit(X, y).predict(X)",
    "KernelSVC": "from mercer import KernelSVC\nfrom mercer.kernels import Gaussian\n"
    "KernelSVC(Gaussian(2.0)).fit(X, y > 1).predict(X)",
    "KernelSVC, three classes": "from mercer import KernelSVC\nfrom mercer.kernels import Gaussian\n"
    "KernelSVC(Gaussian(2.0)).fit(X, y).predict(X)",
    "KernelPCA": "from mercer import KernelPCA\nfrom mercer.kernels import Gaussian\n"
    "KernelPCA(Gaussian(2.0), n_components=2).fit(X).transform(X)",
    "KernelLogisticRegression": "from mercer import KernelLogisticRegression\nfrom mercer.kernels import Gaussian\n"
    "KernelLogisticRegression(Gaussian(2.0)).fit(X, y > 1).predict(X)",
}
MODULES = {"KernelPCA": "decomposition", "KernelLogisticRegression": "linear_model"}
THEIRS = {
    "KernelSVC": "from sklearn.svm import SVC\nSVC(gamma=0.125).fit(X, y > 1).predict(X)",
    "KernelRidge": "from sklearn.kernel_ridge import KernelRidge\n"
    'KernelRidge(kernel="rbf", gamma=0.125, alpha=0.1).fit(X, y).predict(X)',
}
ROWS = "import numpy as np\nr = np.random.default_rng(0)\nX, y = r.normal(size=(150, 4)), r.integers(0, 3, 150)\n"


def fresh(code: str, bytecode: str) -> float:
    """Seconds of a process that runs this and ends; bytecode is kept in a folder, as Python does by default."""
    own = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, env=own | {"PYTHONPYCACHEPREFIX": bytecode})  # noqa: S603
    return time.perf_counter() - start


def first(options: argparse.Namespace) -> Iterator[Row]:
    """Import, fit and predict of 150 rows, beyond importing the peer's module."""
    with TemporaryDirectory() as bytecode:
        yield from _first(max(3, options.repeats // 3), bytecode)


def _first(repeats: int, bytecode: str) -> Iterator[Row]:
    for name, code in FRESH.items():
        bare = BARE.format(module=MODULES.get(name, "svm" if "SVC" in name else "kernel_ridge"))
        codes = {"bare": bare, "ours": ROWS + code} | ({"theirs": ROWS + THEIRS[name]} if name in THEIRS else {})
        times: dict[str, list[float]] = {who: [] for who in codes}
        for text in codes.values():
            fresh(text, bytecode)
        for _ in range(repeats):
            for who, text in codes.items():
                times[who].append(fresh(text, bytecode))
        best = {who: Seconds.best_of(*each) for who, each in times.items()}
        beyond = best["ours"] - best["bare"]
        note = f"{best['bare']:.2f} s to import scikit-learn's module alone"
        yield Row(f"first: {name}, 150 rows", "scikit-learn's import", best["ours"], best.get("theirs"), beyond,
                  "s beyond it", FIRST, False, True, note)  # fmt: skip


SECTIONS = {"fits": fits, "sizes": sizes, "searches": searches, "tuned": tuned, "one row": predictions, "first": first}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few turns, and no memory")
    parser.add_argument("--only", nargs="+", choices=list(SECTIONS), help="some sections")
    parser.add_argument("--learner", nargs="+", choices=list(CONTESTS), help="some learners, of fits and sizes")
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--json", type=Path, help="where the record goes")
    options = parser.parse_args()
    options.memory = not options.quick
    options.repeats = 3 if options.quick else options.repeats
    warnings.simplefilter("ignore")  # perceptrons and SVMs that are cut off say so
    record: dict[str, Any] = {}
    for name, section in SECTIONS.items():
        if options.only and name not in options.only:
            continue
        rows = list(section(options))
        record[name] = {"machine": machine(), "rows": [row.record() for row in rows]}
        print(f"\n{name}")
        lines = [HEAD, *(row.cells() for row in rows)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        for line in lines:
            print("  ", "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
    path = options.json or RESULTS / "small.json"
    path.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
