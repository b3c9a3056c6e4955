"""How quickly SVMs let go: the part `interrupt` of margins.py."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from alone import Found, alone, measured
from scaling import Row
from tables import FEW, Array
from watching import latencies

from mercer import KernelLogisticRegression, KernelPerceptron, KernelSVC, KernelSVR

GOAL = 1.0
"""Seconds from Ctrl-C to the end of `fit`."""
COLUMNS = 10
LEARNERS = {"SVC": KernelSVC, "SVR": KernelSVR, "perceptron": KernelPerceptron, "logistic": KernelLogisticRegression}


@dataclass(frozen=True)
class Fit:
    """A learner, rows of clouds that overlap, and settings."""

    name: str
    learner: str
    rows: int
    settings: tuple[tuple[str, Any], ...] = ()

    def data(self) -> tuple[Array, Array]:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(self.rows, COLUMNS))
        score = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=self.rows)
        return X, score if self.learner == "SVR" else (score > 0).astype(int)

    def model(self, **more: Any) -> Any:
        """The learner."""
        return LEARNERS[self.learner]("gaussian(2)", **dict(self.settings), **more)

    def warm(self, X: Array, y: Array) -> None:
        """A small fit, which loads and compiles."""
        self.model(verbose=False).fit(X[:FEW], y[:FEW])


FITS = (
    Fit("KernelSVC, exact", "SVC", 30_000, (("C", 10.0),)),
    Fit("KernelSVC, landmarks", "SVC", 200_000, (("method", "landmarks"), ("n_landmarks", 500), ("random_state", 0))),
    Fit("KernelSVR, exact", "SVR", 20_000, (("C", 10.0),)),
    Fit("KernelPerceptron", "perceptron", 100_000, (("max_iter", 5),)),
    Fit("KernelLogisticRegression", "logistic", 20_000, (("alpha", 1e-3),)),
)


def whole(fit: Fit) -> Found:
    """A fit that nobody stops."""
    X, y = fit.data()
    fit.warm(X, y)
    return measured(lambda: fit.model(verbose=False).fit(X, y))[1]


def interrupt(folder: Path, quick: bool, repeats: int) -> Iterator[Row]:
    """Ctrl-C at random moments of fits in processes of their own: the longest time until `fit` has raised."""
    for each in FITS:
        fit = replace(each, rows=each.rows // 10) if quick else each
        seconds = alone(whole, fit)["seconds"]
        late = latencies(fit, seconds, 3 if quick else 5)
        note = f"{len(late)} times, median {np.median(late):.2f} s"
        work = f"Ctrl-C in {fit.name}, {fit.rows:,} rows"
        yield Row(work, "", seconds, None, max(late), "s", GOAL, False, True, note)
