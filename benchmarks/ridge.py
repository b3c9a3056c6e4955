"""Kernel ridge regression against scikit-learn and himalaya: time, memory and choices, in one run.

    python benchmarks/ridge.py [--quick] [--only exact|path|lengthscales] [--json PATH]

Both take turns in the same process, and the best of several times counts: compare ratios, not seconds, between
machines. Memory is the peak of a process of its own, less what it held before `fit`. A first fit of ours, which
compiles the formula of the kernel, does not count: it is kept on disk.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from himalaya.kernel_ridge import KernelRidgeCV
from numpy.typing import NDArray
from report import best_seconds, machine
from sklearn.kernel_ridge import KernelRidge as Theirs
from sklearn.model_selection import GridSearchCV

from mercer import KernelRidge
from mercer.kernels import Gaussian

Array = NDArray[np.float64]
RESULTS = Path(__file__).parent / "results"
ALPHAS = np.geomspace(1e-6, 1e2, 30)
STRETCHES = tuple(2.0**k for k in range(-4, 3))
LENGTH = 10**0.5


@dataclass(frozen=True)
class Sizes:
    """How much is computed."""

    exact: int = 10_000
    path: int = 3_000
    brute: int = 300
    repeats: int = 3


QUICK = Sizes(3_000, 800, 60, 1)


@dataclass(frozen=True)
class Row:
    """One comparison: what was measured of ours and theirs, the ratio, and the goal for it."""

    work: str
    against: str
    ours: float
    theirs: float
    unit: str
    ratio: float
    goal: float
    more_is_better: bool
    agree: str

    def cells(self) -> list[str]:
        """For the table, under HEAD."""
        met = self.ratio >= self.goal if self.more_is_better else self.ratio <= self.goal
        goal = f"{'>=' if self.more_is_better else '<='} {self.goal:g}"
        amounts = [f"{amount:.2f} {self.unit}" for amount in (self.ours, self.theirs)]
        return [self.work, self.against, *amounts, f"{self.ratio:.2f}", goal, "yes" if met else "NO", self.agree]


HEAD = ["work", "against", "ours", "theirs", "ratio", "goal", "met", "agreement"]


def problem(n: int, rows: int = 0) -> tuple[Array, Array, Array]:
    """Ten columns, a smooth function of three of them with noise, and new rows."""
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(n, 10)), rng.normal(size=(rows or n // 5, 10))
    return X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=n), new


# -- one alpha: time and memory --------------------------------------------------------------------------------------


def ours_exact(X: Array, y: Array, new: Array) -> Array:
    return np.asarray(KernelRidge(Gaussian(LENGTH), alpha=1e-2, fit_intercept=False).fit(X, y).predict(new))


def theirs_exact(X: Array, y: Array, new: Array) -> Array:
    return np.asarray(Theirs(kernel="rbf", gamma=1 / (2 * LENGTH**2), alpha=1e-2).fit(X, y).predict(new))


def exact(sizes: Sizes) -> Iterator[Row]:
    """fit and predict for one alpha."""
    X, y, new = problem(sizes.exact)
    gap = np.abs(ours_exact(X, y, new) - theirs_exact(X, y, new)).max()
    best = best_seconds(
        {"ours": lambda: ours_exact(X, y, new), "theirs": lambda: theirs_exact(X, y, new)}, sizes.repeats
    )
    work, agree = f"fit + predict, n = {sizes.exact:,}, d = 10, one alpha", f"predictions differ by {gap:.0e} at most"
    ratio = best["ours"] / best["theirs"]
    yield Row(f"{work}: time", "scikit-learn", best["ours"], best["theirs"], "s", ratio, 0.6, False, agree)
    ours, theirs = (peak_of(action, sizes.exact) for action in (ours_exact, theirs_exact))
    yield Row(f"{work}: peak memory", "scikit-learn", ours, theirs, "MB", ours / max(theirs, 1.0), 0.45, False, "")


def peak_of(action: Callable[[Array, Array, Array], Array], n: int) -> float:
    """Megabytes that a fit and a prediction add to a fresh process at their peak."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return float(pool.apply(added, (action, n)))


def added(action: Callable[[Array, Array, Array], Array], n: int) -> float:
    """The same, in that process; a small problem first loads everything."""
    action(*problem(1_100))
    data = problem(n)
    before = _memory("VmRSS")
    action(*data)
    return (_memory("VmHWM") - before) / 1e3


def _memory(what: str) -> int:
    """Kilobytes, as Linux counts them: VmRSS is what a process holds, VmHWM its peak."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith(what)))


# -- a path of alphas ------------------------------------------------------------------------------------------------


def grid_search(X: Array, y: Array, lengths: list[float]) -> Any:
    gammas = [1 / (2 * length**2) for length in lengths]
    return GridSearchCV(Theirs(kernel="rbf"), {"alpha": ALPHAS, "gamma": gammas}, cv=5).fit(X, y)


def himalaya(X: Array, y: Array) -> Any:
    parameters = {"gamma": 1 / (2 * LENGTH**2)}
    return KernelRidgeCV(alphas=ALPHAS, kernel="rbf", kernel_params=parameters, cv=5).fit(X, y)


def ours_path(X: Array, y: Array) -> KernelRidge:
    return KernelRidge(Gaussian(LENGTH), alpha=ALPHAS, fit_intercept=False).fit(X, y)


def path(sizes: Sizes) -> Iterator[Row]:
    """30 alphas, ours by leave-one-out, theirs by 5 folds."""
    X, y, _ = problem(sizes.path)
    choice = same_choice(sizes.brute)
    actions = {"ours": lambda: ours_path(X, y), "himalaya": lambda: himalaya(X, y)}
    best = best_seconds(actions, sizes.repeats)
    start = time.perf_counter()
    search = grid_search(X, y, [LENGTH])
    best["scikit-learn"] = time.perf_counter() - start
    best["ours"] = min(best["ours"], best_seconds({"ours": actions["ours"]}, 1)["ours"])
    work = f"30 alphas, n = {sizes.path:,}"
    chosen = f"alpha {ours_path(X, y).alpha_:.2g}, by 5 folds {search.best_params_['alpha']:.2g}; {choice}"
    for against, goal in (("scikit-learn", 12.0), ("himalaya", 8.0)):
        name = {"scikit-learn": "scikit-learn GridSearchCV", "himalaya": "himalaya KernelRidgeCV"}[against]
        yield Row(work, name, best["ours"], best[against], "s", best[against] / best["ours"], goal, True, chosen)


def same_choice(n: int) -> str:
    """Our alpha on n rows, against fits of scikit-learn without each of the rows."""
    X, y, _ = problem(n)
    kept = [np.delete(np.arange(n), i) for i in range(n)]
    gamma = 1 / (2 * LENGTH**2)
    errors = [
        np.mean([(y[i] - _refit(X[rows], y[rows], X[i], gamma, alpha)) ** 2 for i, rows in enumerate(kept)])
        for alpha in ALPHAS
    ]
    ours, wanted = ours_path(X, y), ALPHAS[int(np.argmin(errors))]
    found: Any = ours.loo_
    gap = np.abs(found.errors[:, 0] / errors - 1).max()
    word = "the same" if ours.alpha_ == wanted else "ANOTHER"
    return f"on {n} rows {word} choice as {n} refits an alpha, errors equal to {gap:.0e}"


def _refit(X: Array, y: Array, row: Array, gamma: float, alpha: float) -> float:
    return float(Theirs(kernel="rbf", gamma=gamma, alpha=alpha).fit(X, y).predict(row[None])[0])


def lengthscales(sizes: Sizes) -> Iterator[Row]:
    """7 lengthscales, and 30 alphas at each."""
    X, y, _ = problem(sizes.path)
    model = KernelRidge(Gaussian(LENGTH), alpha=ALPHAS, lengthscale="loo", fit_intercept=False)
    ours = best_seconds({"ours": lambda: model.fit(X, y)}, 1)["ours"]
    start = time.perf_counter()
    search = grid_search(X, y, [LENGTH * stretch for stretch in STRETCHES])
    theirs = time.perf_counter() - start
    ours = min(ours, best_seconds({"ours": lambda: model.fit(X, y)}, 1)["ours"])
    length, kernel = 1 / (2 * search.best_params_["gamma"]) ** 0.5, cast(Any, model.kernel_)
    agree = (
        f"lengthscale {kernel.lengthscale:.3g} and alpha {model.alpha_:.2g}; "
        f"by 5 folds {length:.3g} and {search.best_params_['alpha']:.2g}"
    )
    work = f"7 lengthscales x 30 alphas, n = {sizes.path:,}"
    yield Row(work, "scikit-learn GridSearchCV", ours, theirs, "s", theirs / ours, 12.0, True, agree)


COMPARISONS = {"exact": exact, "path": path, "lengthscales": lengthscales}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="smaller tables")
    parser.add_argument("--only", choices=sorted(COMPARISONS), help="one comparison")
    parser.add_argument("--json", type=Path, default=RESULTS / "ridge.json", help="where the record goes")
    options = parser.parse_args()
    sizes, about, rows = QUICK if options.quick else Sizes(), machine(), []
    for name, comparison in COMPARISONS.items():
        if options.only in (None, name):
            for row in comparison(sizes):
                rows.append(row)
                print("  ".join(row.cells()), flush=True)
    print(f"\n| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}")
    for row in rows:
        print(f"| {' | '.join(row.cells())} |")
    options.json.parent.mkdir(exist_ok=True)
    options.json.write_text(json.dumps({"machine": about, "rows": [asdict(row) for row in rows]}, indent=1) + "\n")


if __name__ == "__main__":
    main()
