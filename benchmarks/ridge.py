"""Kernel ridge regression against scikit-learn and himalaya: time, memory and choices, in one run.

    python benchmarks/ridge.py [--quick] [--only exact|path|lengthscales] [--json PATH]

Both take turns in the same process, and the best of several times counts: compare ratios, not seconds, between
machines. Memory is the peak of a process of its own, less what it held before `fit`. A first fit of ours, which
compiles the formula of the kernel, does not count: it is kept on disk.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import numpy as np
from alone import Found, alone, measured
from numpy.typing import NDArray
from peers import tried
from report import best_seconds, machine
from seconds import Seconds, turns
from sklearn.kernel_ridge import KernelRidge as Theirs
from sklearn.metrics import r2_score
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
    """One comparison: what was measured of ours and theirs, the ratio, and the goal for it.

    memory : megabytes of both at their peaks; accuracy : R^2 of both on new rows; failed : why there is no result
    """

    work: str
    against: str
    ours: float
    theirs: float
    unit: str
    ratio: float
    goal: float
    more_is_better: bool
    agree: str
    memory: tuple[float, float] | None = None
    accuracy: tuple[str, float, float] | None = None
    failed: str = ""

    def record(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self) | {"turns": turns(self.ours, self.theirs)}

    def cells(self) -> list[str]:
        """For the table, under HEAD."""
        if self.failed:
            return [self.work, self.against, "", "", "", "", "NO", self.failed]
        met = self.ratio >= self.goal if self.more_is_better else self.ratio <= self.goal
        goal = f"{'>=' if self.more_is_better else '<='} {self.goal:g}"
        amounts = [f"{amount:.2f} {self.unit}" for amount in (self.ours, self.theirs)]
        return [self.work, self.against, *amounts, f"{self.ratio:.2f}", goal, "yes" if met else "NO", self.agree]


HEAD = ["work", "against", "ours", "theirs", "ratio", "goal", "met", "agreement"]


def problem(n: int, rows: int = 0) -> tuple[Array, Array, Array]:
    """Ten columns, a smooth function of three of them with noise, and new rows."""
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(n, 10)), rng.normal(size=(rows or n // 5, 10))
    return X, truth(X) + 0.3 * rng.normal(size=n), new


def truth(X: Array) -> Array:
    """The function."""
    return np.asarray(np.sin(X[:, 0]) + X[:, 1] * X[:, 2])


# -- one alpha: time and memory --------------------------------------------------------------------------------------


def ours_exact(X: Array, y: Array, new: Array) -> Array:
    return np.asarray(KernelRidge(Gaussian(LENGTH), alpha=1e-2, fit_intercept=False).fit(X, y).predict(new))


def theirs_exact(X: Array, y: Array, new: Array) -> Array:
    return np.asarray(Theirs(kernel="rbf", gamma=1 / (2 * LENGTH**2), alpha=1e-2).fit(X, y).predict(new))


def exact(sizes: Sizes) -> Iterator[Row]:
    """fit and predict for one alpha."""
    X, y, new = problem(sizes.exact)
    found = {"ours": ours_exact(X, y, new), "theirs": theirs_exact(X, y, new)}
    gap = np.abs(found["ours"] - found["theirs"]).max()
    scores = [float(r2_score(truth(new), values)) for values in found.values()]
    best = best_seconds(
        {"ours": lambda: ours_exact(X, y, new), "theirs": lambda: theirs_exact(X, y, new)}, sizes.repeats
    )
    work, agree = f"fit + predict, n = {sizes.exact:,}, d = 10, one alpha", f"predictions differ by {gap:.0e} at most"
    ratio = best["ours"] / best["theirs"]
    ours, theirs = (alone(added, action, sizes.exact)["megabytes"] for action in (ours_exact, theirs_exact))
    row = Row(f"{work}: time", "scikit-learn", best["ours"], best["theirs"], "s", ratio, 0.6, False, agree)
    yield replace(row, memory=(ours, theirs), accuracy=("R^2", scores[0], scores[1]))
    yield Row(f"{work}: peak memory", "scikit-learn", ours, theirs, "MB", ours / max(theirs, 1.0), 0.45, False, "")


def added(action: Callable[..., Any], n: int) -> Found:
    """What a fit and a prediction add to this process at their peak; a small problem first loads everything."""
    action(*problem(1_100))
    data = problem(n)
    return measured(lambda: action(*data))[1]


# -- a path of alphas ------------------------------------------------------------------------------------------------


def grid_search(X: Array, y: Array, lengths: list[float]) -> Any:
    gammas = [1 / (2 * length**2) for length in lengths]
    return GridSearchCV(Theirs(kernel="rbf"), {"alpha": ALPHAS, "gamma": gammas}, cv=5).fit(X, y)


def himalaya(X: Array, y: Array, new: Array | None = None) -> Any:
    model = import_module("himalaya.kernel_ridge").KernelRidgeCV
    parameters = {"gamma": 1 / (2 * LENGTH**2)}
    return model(alphas=ALPHAS, kernel="rbf", kernel_params=parameters, cv=5).fit(X, y)


def search_alone(X: Array, y: Array, new: Array | None = None) -> Any:
    return grid_search(X, y, [LENGTH])


def ours_path(X: Array, y: Array, new: Array | None = None) -> KernelRidge:
    return KernelRidge(Gaussian(LENGTH), alpha=ALPHAS, fit_intercept=False).fit(X, y)


PATHS: dict[str, tuple[Callable[..., Any], float]] = {
    "scikit-learn GridSearchCV": (search_alone, 12.0),
    "himalaya KernelRidgeCV": (himalaya, 8.0),
}
"""Whom the path meets, and how many times faster ours is to be."""


def path(sizes: Sizes) -> Iterator[Row]:
    """30 alphas, ours by leave-one-out, theirs by 5 folds."""
    X, y, new = problem(sizes.path)
    choice, mine = same_choice(sizes.brute), ours_path(X, y)
    work, held = f"30 alphas, n = {sizes.path:,}", alone(added, ours_path, sizes.path)["megabytes"]
    for name, (action, goal) in PATHS.items():
        if failed := tried("himalaya") if name.startswith("himalaya") else "":
            yield Row(work, name, 0.0, 0.0, "s", 0.0, goal, True, "", failed=failed)
            continue
        theirs = action(X, y)
        best = best_seconds({"ours": partial(ours_path, X, y), "theirs": partial(action, X, y)}, sizes.repeats)
        alpha = theirs.best_params_["alpha"] if name.startswith("scikit") else float(np.ravel(theirs.best_alphas_)[0])
        chosen = f"alpha {mine.alpha_:.2g}, by 5 folds {alpha:.2g}; {choice}"
        scores = [float(r2_score(truth(new), np.asarray(model.predict(new)))) for model in (mine, theirs)]
        row = Row(work, name, best["ours"], best["theirs"], "s", best["theirs"] / best["ours"], goal, True, chosen)
        peaks = (held, alone(added, action, sizes.path)["megabytes"])
        yield replace(row, memory=peaks, accuracy=("R^2", scores[0], scores[1]))


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
    X, y, new = problem(sizes.path)
    model = KernelRidge(Gaussian(LENGTH), alpha=ALPHAS, lengthscale="loo", fit_intercept=False)
    ours = best_seconds({"ours": lambda: model.fit(X, y)}, 1)["ours"]
    start = time.perf_counter()
    search = grid_search(X, y, [LENGTH * stretch for stretch in STRETCHES])
    theirs = time.perf_counter() - start
    ours = Seconds.best_of(ours, best_seconds({"ours": lambda: model.fit(X, y)}, 1)["ours"])
    length, kernel = 1 / (2 * search.best_params_["gamma"]) ** 0.5, cast(Any, model.kernel_)
    agree = (
        f"lengthscale {kernel.lengthscale:.3g} and alpha {model.alpha_:.2g}; "
        f"by 5 folds {length:.3g} and {search.best_params_['alpha']:.2g}"
    )
    work = f"7 lengthscales x 30 alphas, n = {sizes.path:,}"
    row = Row(work, "scikit-learn GridSearchCV", ours, theirs, "s", theirs / ours, 12.0, True, agree)
    scores = [float(r2_score(truth(new), np.asarray(each.predict(new)))) for each in (model, search)]
    yield replace(row, accuracy=("R^2", scores[0], scores[1]))


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
    options.json.write_text(json.dumps({"machine": about, "rows": [row.record() for row in rows]}, indent=1) + "\n")


if __name__ == "__main__":
    main()
