"""How good models of strings and graphs are: the part `accuracy` of structured.py."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from alone import Failed, Found, alone, measured
from scaling import Row, failure
from sklearn.model_selection import GridSearchCV, LeaveOneOut, StratifiedKFold, train_test_split
from structured_matrices import LONGEST
from structured_sets import Place, chosen, graphs, strings
from tables import Array

from mercer import KernelSVC
from mercer.kernels import BlendedSpectrum, Hamming, Kernel, Spectrum, WeisfeilerLehman

PUBLISHED = {"MUTAG": (0.85, 0.90), "PTC_MR": (0.60, 0.65), "NCI1": (0.82, 0.86)}
"""What others report for this kernel with a support vector machine and 10 folds, about."""
TIMES = {"MUTAG": 5, "PTC_MR": 5, "NCI1": 1}
"""How often all 10 folds are drawn anew, with the seeds 0, 1, ...: small sets differ much from draw to draw."""
MISTAKES, MESSAGES, NAMES = 10, 0.98, 0.75
"""The goals: of the 106 promoters, and parts of messages and of names."""
COSTS = [0.1, 1.0, 10.0, 100.0]
INNER = 3
Splits = list[tuple[Array, Array]]


def folds(y: Array, count: int, seed: int) -> Splits:
    """Training rows and test rows, each class spread evenly."""
    return list(StratifiedKFold(count, shuffle=True, random_state=seed).split(y, y))


def machine_of(kernels: list[Kernel], costs: list[float]) -> Any:
    """A machine that chooses its kernel and C by folds of the rows that it is fitted to; the first of equals."""
    inner = StratifiedKFold(INNER, shuffle=True, random_state=0)
    return GridSearchCV(KernelSVC(kernels[0], verbose=False), {"kernel": kernels, "C": costs}, cv=inner)


def predictions(model: Any, things: list[Any], y: Array, splits: Splits) -> tuple[Array, Array, list[str]]:
    """For each test row, in the order of the splits: which it is, whether it got its class; and what was chosen."""
    rows, right, told = list[Array](), list[Array](), list[str]()
    for train, test in splits:
        model.fit(chosen(things, train), y[train])
        rows.append(test)
        right.append(model.predict(chosen(things, test)) == y[test])
        told.append(_short(model.best_params_))
    return np.concatenate(rows), np.concatenate(right), told


def _short(choice: dict[str, Any]) -> str:
    return f"C = {choice['C']:g} with {choice['kernel']}"


def most(told: list[str]) -> str:
    """What was chosen most often."""
    first = max(dict.fromkeys(told), key=told.count)
    return f"{first} in {told.count(first)} of {len(told)} fits"


# -- graphs ----------------------------------------------------------------------------------------------------------


def molecules(folder: Path, name: str, quick: bool) -> Found:
    """The accuracy of 10 folds, for each seed."""
    given, y = graphs(folder, name)
    if quick:  # classes stand one after the other
        rows = np.random.default_rng(0).permutation(len(y))[:200]
        given, y = chosen(given, rows), y[rows]
    model = machine_of([WeisfeilerLehman(5).normalized()], COSTS)

    def all_folds() -> tuple[list[float], list[str]]:
        found = [predictions(model, given, y, folds(y, 10, seed)) for seed in range(1 if quick else TIMES[name])]
        return [float(right.mean()) for _, right, _ in found], [each for *_, told in found for each in told]

    (parts, told), cost = measured(all_folds)
    return cost | {"parts": parts, "told": most(told)}


def _molecules_rows(name: str, found: Found) -> Iterator[Row]:
    low, high = PUBLISHED[name]
    parts = found["parts"]
    spread = f", {len(parts)} times: {min(parts):.3f} to {max(parts):.3f}" if len(parts) > 1 else ""
    note = f"10 folds{spread}; published about {low:.2f} to {high:.2f}; {found['told']}"
    yield _good(f"{name}, Weisfeiler-Lehman", found, float(np.mean(parts)), low, note)


# -- strings ---------------------------------------------------------------------------------------------------------


def promoters(folder: Path, by_place: bool, quick: bool) -> Found:
    """Each of 106 pieces of DNA left out once: runs of 3 to 6 letters, or the letters at their 57 places."""
    texts, y = strings(folder, "promoters")
    things: list[Any] = [list(text) for text in texts] if by_place else texts
    kernels: list[Kernel] = [Spectrum(k).normalized() for k in (3, 4, 5, 6)]
    model = machine_of([Hamming("median")] if by_place else kernels, COSTS[1:])
    splits = folds(y, 5, 0) if quick else list(LeaveOneOut().split(y))
    (_, right, told), cost = measured(lambda: predictions(model, things, y, splits))
    found = {"mistakes": int((~right).sum()), "splits": len(splits), "overlapping": overlapping(texts)}
    return cost | found | {"told": most(told)}


def overlapping(texts: list[str], length: int = 30) -> int:
    """How many strings have a run of so many letters that another one has, too."""
    runs = [{text[i : i + length] for i in range(len(text) - length + 1)} for text in texts]
    return sum(any(run & other for other in runs if other is not run) for run in runs)


def messages(folder: Path, quick: bool) -> Found:
    """10 folds of all messages, runs of 3, 4 or 5 letters."""
    texts, y = strings(folder, "sms_spam")
    texts, y = (texts[:600], y[:600]) if quick else (texts, y)
    kernels: list[Kernel] = [Spectrum(k).normalized() for k in (3, 4, 5)]
    return _found(machine_of(kernels, [1.0, 10.0]), texts, y, folds(y, 10, 0))


def names(folder: Path, quick: bool) -> Found:
    """A tenth held out, each language spread evenly; runs of up to 3 or 4 letters."""
    texts, y = strings(folder, "surnames")
    rows = np.random.default_rng(0).permutation(len(y))[: 1_500 if quick else None]
    rows = rows[np.isin(y[rows], [label for label in np.unique(y) if (y[rows] == label).sum() >= 10])]
    train, test = train_test_split(rows, test_size=0.1, stratify=y[rows], random_state=0)
    kernels: list[Kernel] = [BlendedSpectrum(k).normalized() for k in (3, 4)]
    return _found(machine_of(kernels, [1.0, 10.0]), texts, y, [(train, test)])


def _found(model: Any, texts: list[str], y: Array, splits: Splits) -> Found:
    """The part that got its class, and that of strings that no training row holds in the same letters."""
    (_, right, told), cost = measured(lambda: predictions(model, texts, y, splits))
    new = np.concatenate([_new(texts, *split) for split in splits])
    found = {"accuracy": float(right.mean()), "new accuracy": float(right[new].mean()), "new": int(new.sum())}
    return cost | found | {"tested": len(right), "told": most(told)}


def _new(texts: list[str], train: Array, test: Array) -> Array:
    known = set(chosen(texts, train))
    return np.array([text not in known for text in chosen(texts, test)])


def _promoters_rows(title: str, found: Found) -> Iterator[Row]:
    note = f"{found['splits']} test sets; {found['told']}"
    if "letters" not in title:
        note += f"; {found['overlapping']} pieces share a run of 30 letters with another one, which makes it easier"
    mistakes = float(found["mistakes"])
    yield Row(title, "", found["seconds"], None, mistakes, "errors of 106", MISTAKES, False, True, note)


def _strings_rows(title: str, goal: float, found: Found) -> Iterator[Row]:
    yield _good(title, found, found["accuracy"], goal, f"{found['tested']:,} test rows; {found['told']}")
    note = f"the {found['new']:,} test rows that no training row equals"
    yield _good(f"{title}, new ones only", found, found["new accuracy"], None, note)


def _good(title: str, found: Found, accuracy: float, goal: float | None, note: str) -> Row:
    held = (found["megabytes"], None)
    return Row(title, "", found["seconds"], None, accuracy, "accuracy", goal, True, True, note, held)


# -- all -------------------------------------------------------------------------------------------------------------


def accuracy(place: Place, quick: bool, repeats: int) -> Iterator[Row]:
    """Support vector machines; kernels and C are chosen by folds of the training rows, and test rows are never seen."""
    data = place.data
    for name in PUBLISHED:
        yield from _tried(name, partial(molecules, data, name, quick), partial(_molecules_rows, name))
    for title, by_place in (("promoters, spectrum", False), ("promoters, letters at their places", True)):
        yield from _tried(title, partial(promoters, data, by_place, quick), partial(_promoters_rows, title))
    yield from _tried("SMS spam", partial(messages, data, quick), partial(_strings_rows, "SMS spam", MESSAGES))
    yield from _tried("surnames", partial(names, data, quick), partial(_strings_rows, "surnames, 18 languages", NAMES))


def _tried(title: str, job: Callable[[], Found], rows: Callable[[Found], Iterator[Row]]) -> Iterator[Row]:
    try:
        yield from rows(alone(job, seconds=LONGEST))
    except Failed as error:
        yield failure(title, "", [str(error)])
