"""How good the default model is: a fit without arguments against a 5-fold search over a wide grid.

    python benchmarks/defaults.py --data FOLDER [--rows N] [--only NAME] [--json PATH]

The default is `KernelRidge()` or `KernelRidgeClassifier()` on standardised columns. Its score is R^2, or the part of
labels that is right, as a mean over five shuffled folds. It is compared with the best of 84 settings of scikit-learn's
`KernelRidge` with the rbf kernel, scored on the same folds, and so chosen with a look at the test rows: 12 penalties
(1e-8 to 1e3) times 7 lengthscales (1/16 to 4 times the median distance). That model has no intercept, so its targets
are centred by the mean of the training rows; as a classifier it is the sign of a regression on -1 and 1. The goal is
95 % of that best score, on four of five sets.

The search is GridSearchCV's, but computes distances once a fold, and a kernel matrix once a fold and lengthscale. Each
penalty is then a Cholesky factor, as in scikit-learn. That all 84 scores are those of GridSearchCV itself is checked
on two small sets first. Tables of more rows than --rows are cut to that many, drawn at random, for both.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyarrow import types
from pyarrow.parquet import read_table
from report import machine
from scipy.linalg import cho_factor, cho_solve
from scipy.spatial.distance import pdist
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import TransformedTargetRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import accuracy_score, r2_score
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer

Array = NDArray[Any]
RESULTS = Path(__file__).parent / "results"
REGRESSION = ("yacht", "housing", "energy", "concrete", "airfoil", "pumadyn32nm", "elevators")
CLASSIFICATION = ("two_spirals", "sonar", "ionosphere", "german_credit", "spambase", "mushrooms")
CHECKED = ("yacht", "sonar")
"""The sets on which the search is compared with GridSearchCV."""
ALPHAS = 10.0 ** np.arange(-8, 4)
FACTORS = 2.0 ** np.arange(-4, 3)
"""Of the median distance: the lengthscales that are tried."""
NEAR, PART = 0.95, 0.8
"""The goal: this part of the best score, on this part of the sets."""
SAME = 1e-7
"""How far the scores of the two searches may be apart. Rounding is amplified by n / alpha, which reaches 1e10 there."""


@dataclass(frozen=True)
class Task:
    """One table: columns as numbers, and numbers or two kinds of labels to predict."""

    name: str
    X: Array
    y: Array
    labels: bool

    @property
    def targets(self) -> Array:
        """Numbers for a regression: labels become -1 and 1."""
        return np.where(self.y == np.unique(self.y)[1], 1.0, -1.0) if self.labels else self.y

    @property
    def folds(self) -> list[tuple[Array, Array]]:
        """Five pairs of training and test rows; with labels, the same mixture of them in each."""
        kind = StratifiedKFold if self.labels else KFold
        return list(kind(5, shuffle=True, random_state=0).split(self.X, self.y))

    @property
    def gammas(self) -> Array:
        """What scikit-learn has for lengthscales: 1 / (2 l^2) of those around the median distance of 2,000 rows."""
        rows = np.random.default_rng(0).permutation(len(self.X))[:2_000]
        median = np.median(pdist(StandardScaler().fit_transform(self.X)[rows]))
        return np.asarray(1 / (2 * (FACTORS * median) ** 2))

    def score(self, rows: Array, predicted: Array) -> float:
        """Of predicted targets on some rows."""
        true = self.targets[rows]
        return float(accuracy_score(true > 0, predicted > 0) if self.labels else r2_score(true, predicted))


@dataclass(frozen=True)
class Row:
    """One set: its size, the score of the default, the best of the search, where that lies, and seconds of both."""

    name: str
    measure: str
    rows: int
    of_rows: int
    columns: int
    default: float
    best: float
    best_alpha: float
    best_factor: float
    seconds: float
    search_seconds: float

    @property
    def part(self) -> float:
        """The score of the default as a part of the best."""
        return self.default / self.best

    @property
    def near(self) -> bool:
        """Whether the goal is met; a best score below zero is no easier to reach."""
        return self.default >= self.best - (1 - NEAR) * abs(self.best)

    def record(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self) | {"part": self.part, "near": self.near}

    def cells(self) -> list[str]:
        """For the table, under HEAD."""
        size = f"{self.rows:,}" if self.rows == self.of_rows else f"{self.rows:,} of {self.of_rows:,}"
        found = f"alpha {self.best_alpha:.0e}, {self.best_factor:g} medians"
        scores = [f"{self.default:.4f}", f"{self.best:.4f}", found, f"{self.part:.3f}"]
        times = [f"{self.seconds:.1f}", f"{self.search_seconds:.1f}"]
        return [self.name, size, str(self.columns), self.measure, *scores, "yes" if self.near else "NO", *times]


HEAD = ["set", "rows", "columns", "score", "default", "best of 84", "found at", "part", "near", "default s", "search s"]


# -- the data ------------------------------------------------------------------------------------------------------


def load(folder: Path, name: str, most: int) -> tuple[Task, int]:
    """A table of at most so many rows, and how many it has; one column a category, and none that does not vary."""
    table = read_table(folder / f"{name}.parquet")
    kept = [column for column in table.column_names if column != "target" and not column.startswith("_")]
    X = np.column_stack([_numbers(table[column]) for column in kept])
    y = _values(table["target"])
    rows = np.sort(np.random.default_rng(0).permutation(len(y))[:most])
    X, y = X[rows], y[rows]
    labels = name in CLASSIFICATION
    return Task(name, X[:, np.ptp(X, axis=0) > 0], y if labels else y.astype(np.float64), labels), table.num_rows


def _numbers(column: Any) -> Array:
    """A column as it is; one of categories as a column for each, of zeros and ones."""
    values = _values(column)
    if types.is_dictionary(column.type):
        return np.asarray(values[:, None] == np.unique(values), dtype=np.float64)
    return np.asarray(values.astype(np.float64)[:, None])


def _values(column: Any) -> Array:
    whole = column.combine_chunks()
    if types.is_dictionary(column.type):
        return np.array(whole.dictionary_decode().to_pylist())
    return np.asarray(whole.to_numpy())


# -- the default, and the search -----------------------------------------------------------------------------------


def default(task: Task) -> float:
    """The score of the model without arguments."""
    model = mercer.KernelRidgeClassifier() if task.labels else mercer.KernelRidge()
    return float(np.mean(cross_val_score(make_pipeline(StandardScaler(), model), task.X, task.y, cv=task.folds)))


def search(task: Task) -> Array:
    """The scores of all settings, (lengthscales, penalties), each a mean over the folds."""
    return np.asarray(np.mean([_fold(task, train, test) for train, test in task.folds], axis=0))


def _fold(task: Task, train: Array, test: Array) -> Array:
    scaler = StandardScaler().fit(task.X[train])
    A, B = scaler.transform(task.X[train]), scaler.transform(task.X[test])
    within, across = euclidean_distances(A, squared=True), euclidean_distances(B, A, squared=True)
    mean = task.targets[train].mean()
    y = task.targets[train] - mean
    scores = []
    for gamma in task.gammas:
        K, reach = np.exp(-gamma * within), np.exp(-gamma * across)
        scores.append([task.score(test, reach @ _solved(K, alpha, y) + mean) for alpha in ALPHAS])
    return np.array(scores)


def _solved(K: Array, alpha: float, y: Array) -> Array:
    """(K + alpha I)^-1 y."""
    H = K.copy().T  # still K, which is symmetric, and in the order that LAPACK factors in place
    np.fill_diagonal(H, H.diagonal() + alpha)
    return np.asarray(cho_solve(cho_factor(H, overwrite_a=True, check_finite=False), y, check_finite=False))


def measured(task: Task, of_rows: int) -> Row:
    """The row of one set."""
    start = time.perf_counter()
    ours = default(task)
    middle = time.perf_counter()
    scores = search(task)
    end = time.perf_counter()
    i, j = np.unravel_index(scores.argmax(), scores.shape)
    found = float(scores[i, j]), float(ALPHAS[j]), float(FACTORS[i])
    measure = "accuracy" if task.labels else "R^2"
    return Row(task.name, measure, len(task.y), of_rows, task.X.shape[1], ours, *found, middle - start, end - middle)


# -- is it GridSearchCV's? -----------------------------------------------------------------------------------------


class Signs(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """The lectures' classifier: the sign of a centred kernel ridge regression on -1 and 1."""

    def __init__(self, alpha: float = 1.0, gamma: float = 1.0) -> None:
        self.alpha = alpha
        self.gamma = gamma

    def fit(self, X: Array, y: Array) -> Signs:
        self.classes_ = np.unique(y)
        self.model_ = _centred(self.alpha, self.gamma).fit(X, np.where(y == self.classes_[1], 1.0, -1.0))
        return self

    def predict(self, X: Array) -> Array:
        return np.asarray(self.classes_[(self.model_.predict(X) > 0).astype(int)])


def _centred(alpha: float = 1.0, gamma: float = 1.0) -> Any:
    ridge = KernelRidge(alpha=alpha, kernel="rbf", gamma=gamma)
    return TransformedTargetRegressor(ridge, transformer=StandardScaler(with_std=False))


def apart(task: Task) -> float:
    """The largest difference of our search's scores and GridSearchCV's, over all settings."""
    model, place = (Signs(), "signs__") if task.labels else (_centred(), "transformedtargetregressor__regressor__")
    grid = {f"{place}gamma": task.gammas, f"{place}alpha": ALPHAS}
    found = GridSearchCV(make_pipeline(StandardScaler(), model), grid, cv=task.folds).fit(task.X, task.y)
    theirs = np.empty((len(FACTORS), len(ALPHAS)))
    for setting, score in zip(found.cv_results_["params"], found.cv_results_["mean_test_score"], strict=True):
        at = task.gammas == setting[f"{place}gamma"], setting[f"{place}alpha"] == ALPHAS
        theirs[at] = score
    return float(np.abs(theirs - search(task)).max())


def check(folder: Path) -> dict[str, float]:
    """How far the two searches are apart on the small sets; ends the run where that is more than rounding."""
    found = {name: apart(load(folder, name, 20_000)[0]) for name in CHECKED}
    for name, difference in found.items():
        print(f"{name}: the 84 scores differ from GridSearchCV's by at most {difference:.1e}", flush=True)
    if max(found.values()) > SAME:
        raise SystemExit(f"The search is not GridSearchCV's: more than {SAME:g} apart.")
    return found


# -- the run -------------------------------------------------------------------------------------------------------


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder of the tables")
    parser.add_argument("--rows", type=int, default=6_000, help="the most rows of a table; 20000 takes all of each")
    parser.add_argument("--only", nargs="+", choices=REGRESSION + CLASSIFICATION, help="some of the sets")
    parser.add_argument("--json", type=Path, default=RESULTS / "defaults.json", help="where the record goes")
    options = parser.parse_args()
    about, same, rows = machine(), check(options.data), []
    for name in options.only or REGRESSION + CLASSIFICATION:
        rows.append(measured(*load(options.data, name, options.rows)))
        print("  ".join(rows[-1].cells()), flush=True)
    near = [row.near for row in rows]
    _table(rows)
    met = "met" if np.mean(near) >= PART else "NOT MET"
    print(f"\nAt least {NEAR:.0%} of the best score on {sum(near)} of {len(near)} sets; the goal is {PART:.0%}: {met}.")
    record = {"machine": about, "differences from GridSearchCV": same, "rows": [row.record() for row in rows]}
    options.json.parent.mkdir(exist_ok=True)
    options.json.write_text(json.dumps(record, indent=1) + "\n")


def _table(rows: list[Row]) -> None:
    print(f"\n| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}")
    for row in rows:
        print(f"| {' | '.join(row.cells())} |")


if __name__ == "__main__":
    main()
