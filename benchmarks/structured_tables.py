"""Raw tables with a proposed kernel against what is usually done by hand: the part `tables` of structured.py."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from alone import Failed, Found, alone, measured
from scaling import Row, failure, peaks
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from structured_matrices import LONGEST
from structured_sets import Place, frame
from tables import Array

from mercer import KernelRidgeClassifier, KernelSVC, kernel_for
from mercer.kernels import Gaussian

HAND = "one-hot + Gaussian"
DRAWS = 2
"""How often the 10 folds of german_credit are drawn anew, with the seeds 0, 1, ..."""
COSTS = [1.0, 3.0, 10.0]


def by_hand(learner: Any) -> Any:
    """Standardised numbers, a column of zeros and ones for each label, and one learner of all."""
    numbers, labels = make_column_selector(dtype_include="number"), make_column_selector(dtype_exclude="number")
    ones = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return make_pipeline(make_column_transformer((StandardScaler(), numbers), (ones, labels)), learner)


def ridge(who: str, train: Any) -> Any:
    """Its penalty is chosen by leave-one-out on the training rows."""
    if who == "ours":
        return KernelRidgeClassifier(kernel_for(train).kernel, verbose=False)
    return by_hand(KernelRidgeClassifier(Gaussian("median"), verbose=False))


def margin(who: str, train: Any) -> Any:
    """Its C is chosen by 3 folds of the training rows."""
    model = KernelSVC(kernel_for(train).kernel if who == "ours" else Gaussian("median"), verbose=False)
    whole, name = (model, "C") if who == "ours" else (by_hand(model), "kernelsvc__C")
    return GridSearchCV(whole, {name: COSTS}, cv=StratifiedKFold(3, shuffle=True, random_state=0))


def german_credit(folder: Path, who: str, quick: bool) -> Found:
    """10 folds of all rows, several times."""
    X, y = frame(folder, "german_credit")
    right = np.zeros((1 if quick else DRAWS, len(y)))

    def all_folds() -> None:
        for seed, found in enumerate(right):
            for train, test in StratifiedKFold(10, shuffle=True, random_state=seed).split(X, y):
                found[test] = _right(ridge, who, X, y, (train, test))

    _, cost = measured(all_folds)
    return cost | {"right": right}


def adult(folder: Path, who: str, quick: bool) -> Found:
    """A tenth of the rows held out."""
    X, y = frame(folder, "adult")
    rows = np.random.default_rng(0).permutation(len(y))[: 3_000 if quick else None]
    split = train_test_split(rows, test_size=0.1, stratify=y[rows], random_state=0)
    right, cost = measured(lambda: _right(margin, who, X, y, split))
    return cost | {"right": right[None, :]}


def _right(model_of: Callable[[str, Any], Any], who: str, X: Any, y: Array, split: Sequence[Array]) -> Array:
    """Whether test rows get their class; models, and the proposal of a kernel, see training rows alone."""
    train, test = split
    model = model_of(who, X.iloc[train]).fit(X.iloc[train], y[train])
    return np.asarray(model.predict(X.iloc[test]) == y[test])


WORKS: dict[str, Callable[[Path, str, bool], Found]] = {
    f"german_credit, ridge, 10 folds {DRAWS} times": german_credit,
    "adult, SVC, a tenth held out": adult,
}


def tables(place: Place, quick: bool, repeats: int) -> Iterator[Row]:
    """Equal or better: the accuracy is not lower by more than one standard error of the difference, row by row."""
    for work, job in WORKS.items():
        try:
            mine, other = (alone(job, place.data, who, quick, seconds=LONGEST) for who in ("ours", HAND))
        except Failed as error:
            yield failure(work, HAND, [str(error)])
            continue
        difference = (mine["right"].astype(float) - other["right"]).mean(axis=0)
        better, doubt = float(difference.mean()), float(difference.std() / len(difference) ** 0.5)
        note = f"accuracy {mine['right'].mean():.4f} / {other['right'].mean():.4f}, standard error of the difference "
        note += f"{100 * doubt:.2f} points"
        seconds = mine["seconds"], other["seconds"]
        row = Row(work, HAND, *seconds, 100 * better, "points better", round(-100 * doubt, 2), True, True, note)
        accuracy = ("accuracy", float(mine["right"].mean()), float(other["right"].mean()))
        yield replace(row, memory=peaks(mine, other), accuracy=accuracy)
