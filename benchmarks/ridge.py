"""Kernel ridge regression against scikit-learn and himalaya: time, memory and choices, in one run.

    python benchmarks/ridge.py [--quick] [--only exact|path|lengthscales] [--json PATH]

Each runs in a process of its own, after a small fit that loads and compiles; they take turns, and the best of several
counts, unless one takes minutes: compare ratios, not seconds, between machines. Memory is the peak of the process, less
what it held before `fit`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from alone import Found, alone, in_turns, measured
from numpy.typing import NDArray
from report import machine
from seconds import turns
from sklearn.kernel_ridge import KernelRidge as Theirs
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV

from mercer import KernelRidge
from mercer.kernels import Gaussian

Array = NDArray[np.float64]
RESULTS = Path(__file__).parent / "results"
ALPHAS = np.geomspace(1e-6, 1e2, 30)
STRETCHES = tuple(2.0**k for k in range(-4, 3))
LENGTH, ALPHA = 10**0.5, 1e-2
GAMMA = 1 / (2 * LENGTH**2)
WARM, LOADED = 1_100, 100
"""Rows of a first fit, which loads and compiles: so many that ours goes the way of many, and fewer for the others."""


@dataclass(frozen=True)
class Sizes:
    """How much is computed."""

    exact: int = 10_000
    path: int = 3_000
    brute: int = 300
    repeats: int = 3


QUICK = Sizes(3_000, 400, 30, 1)


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


# -- models, each of which is fitted in a process of its own ---------------------------------------------------------


def ours(X: Array, y: Array, **settings: Any) -> Any:
    return KernelRidge(Gaussian(LENGTH), fit_intercept=False, verbose=False, **settings).fit(X, y)


def theirs(X: Array, y: Array) -> Any:
    return Theirs(kernel="rbf", gamma=GAMMA, alpha=ALPHA).fit(X, y)


def grid_search(X: Array, y: Array, stretches: tuple[float, ...]) -> Any:
    gammas = [GAMMA / stretch**2 for stretch in stretches]
    return GridSearchCV(Theirs(kernel="rbf"), {"alpha": ALPHAS, "gamma": gammas}, cv=5).fit(X, y)


def himalaya(X: Array, y: Array) -> Any:
    model = import_module("himalaya.kernel_ridge").KernelRidgeCV
    return model(alphas=ALPHAS, kernel="rbf", kernel_params={"gamma": GAMMA}, cv=5).fit(X, y)


SEARCH, HIMALAYA = "scikit-learn GridSearchCV", "himalaya KernelRidgeCV"
MODELS: dict[str, dict[str, Callable[[Array, Array], Any]]] = {
    "exact": {"ours": partial(ours, alpha=ALPHA), "scikit-learn": theirs},
    "path": {
        "ours": partial(ours, alpha=ALPHAS), SEARCH: partial(grid_search, stretches=(1.0,)), HIMALAYA: himalaya,
    },
    "lengthscales": {
        "ours": partial(ours, alpha=ALPHAS, lengthscale="loo"), SEARCH: partial(grid_search, stretches=STRETCHES),
    },
}  # fmt: skip


def fitted(table: str, who: str, n: int) -> Found:
    """What a fit and predictions take, how good they are, and what was chosen."""
    fit = MODELS[table][who]
    X, y, new = problem(WARM if who == "ours" else LOADED)
    fit(X, y).predict(new)
    X, y, new = problem(n)
    model: Any = None

    def work() -> Array:
        nonlocal model
        model = fit(X, y)
        return np.asarray(model.predict(new))

    predicted, cost = measured(work)
    return cost | {"predicted": predicted, "score": float(r2_score(truth(new), predicted)), "told": chosen(model)}


def chosen(model: Any) -> str:
    """The penalty of a model, and its lengthscale where that was looked for."""
    if hasattr(model, "best_params_"):
        length = (2 * model.best_params_["gamma"]) ** -0.5
        return f"alpha {model.best_params_['alpha']:.2g}, lengthscale {length:.3g}"
    if hasattr(model, "best_alphas_"):
        return f"alpha {float(np.ravel(model.best_alphas_)[0]):.2g}"
    kernel = getattr(model, "kernel_", None)
    return f"alpha {model.alpha_:.2g}, lengthscale {kernel.lengthscale:.3g}" if kernel is not None else ""


def contest(table: str, who: str, n: int, repeats: int) -> dict[str, Found]:
    """Both in turns."""
    return in_turns({name: partial(alone, fitted, table, name, n) for name in ("ours", who)}, repeats)


def row(work: str, who: str, best: dict[str, Found], goal: float, agree: str) -> Row:
    """How many times faster ours is."""
    if failed := [found["failed"] for found in best.values() if "failed" in found]:
        return Row(work, who, 0.0, 0.0, "s", 0.0, goal, True, "", failed="; ".join(failed))
    mine, other = best["ours"], best[who]
    times = (mine["seconds"], other["seconds"])
    found = Row(work, who, *times, "s", times[1] / times[0], goal, True, agree)
    accuracy = ("R^2", mine["score"], other["score"])
    return replace(found, memory=(mine["megabytes"], other["megabytes"]), accuracy=accuracy)


# -- one alpha: time and memory --------------------------------------------------------------------------------------


def exact(sizes: Sizes) -> Iterator[Row]:
    """fit and predict for one alpha."""
    best = contest("exact", "scikit-learn", sizes.exact, sizes.repeats)
    work = f"fit + predict, n = {sizes.exact:,}, d = 10, one alpha"
    time_ = row(f"{work}: time", "scikit-learn", best, 0.6, "")
    if time_.failed or time_.memory is None:
        yield time_
        return
    gap = np.abs(best["ours"]["predicted"] - best["scikit-learn"]["predicted"]).max()
    agree = f"predictions differ by {gap:.0e} at most"
    yield replace(time_, ratio=time_.ours / time_.theirs, more_is_better=False, agree=agree)
    mine, other = time_.memory
    yield Row(f"{work}: peak memory", "scikit-learn", mine, other, "MB", mine / max(other, 1.0), 0.45, False, "")


# -- a path of alphas ------------------------------------------------------------------------------------------------


def path(sizes: Sizes) -> Iterator[Row]:
    """30 alphas, ours by leave-one-out, theirs by 5 folds."""
    choice = same_choice(sizes.brute)
    for who, goal in ((SEARCH, 12.0), (HIMALAYA, 8.0)):
        best = contest("path", who, sizes.path, sizes.repeats)
        told = f"{best['ours'].get('told')}, by 5 folds {best.get(who, {}).get('told')}; {choice}"
        yield row(f"30 alphas, n = {sizes.path:,}", who, best, goal, told)


def same_choice(n: int) -> str:
    """Our alpha on n rows, against fits of scikit-learn without each of the rows."""
    X, y, _ = problem(n)
    kept = [np.delete(np.arange(n), i) for i in range(n)]
    errors = [
        np.mean([(y[i] - _refit(X[rows], y[rows], X[i], alpha)) ** 2 for i, rows in enumerate(kept)])
        for alpha in ALPHAS
    ]
    mine, wanted = ours(X, y, alpha=ALPHAS), ALPHAS[int(np.argmin(errors))]
    found: Any = mine.loo_
    gap = np.abs(found.errors[:, 0] / errors - 1).max()
    word = "the same" if mine.alpha_ == wanted else "ANOTHER"
    return f"on {n} rows {word} choice as {n} refits an alpha, errors equal to {gap:.0e}"


def _refit(X: Array, y: Array, row: Array, alpha: float) -> float:
    return float(Theirs(kernel="rbf", gamma=GAMMA, alpha=alpha).fit(X, y).predict(row[None])[0])


def lengthscales(sizes: Sizes) -> Iterator[Row]:
    """7 lengthscales, and 30 alphas at each."""
    best = contest("lengthscales", SEARCH, sizes.path, sizes.repeats)
    told = f"{best['ours'].get('told')}; by 5 folds {best.get(SEARCH, {}).get('told')}"
    yield row(f"7 lengthscales x 30 alphas, n = {sizes.path:,}", SEARCH, best, 12.0, told)


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
