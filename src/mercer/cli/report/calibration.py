"""Calibration of predicted uncertainties."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mercer.cli.metrics import NORMAL_DEVIATIONS
from mercer.cli.report.case import Case
from mercer.cli.report.numbers import percent
from mercer.cli.report.page import wide_table
from mercer.html import element, p

BINS = 10
MAX_ROWS = 500
"""Rows held out whose deviations are requested, at most."""
MAX_FITTED_ROWS = 3_000
"""Rows of a fit up to which that is quick."""


def calibration(case: Case) -> list[object]:
    """Probabilities beside shares, or intervals beside the truth; nothing where the model has neither."""
    if case.done.judged.chances is not None:
        return _of_probabilities(case, case.done.judged.chances)
    if type(case.done.judged.model.learner).__name__ == "KernelRidge" and len(case.done.parts.y) <= MAX_FITTED_ROWS:
        return _of_deviations(case)
    return []


def _of_probabilities(case: Case, chances: NDArray[np.float64]) -> list[object]:
    learner, done = case.done.judged.model.learner, case.done
    sure, right = chances.max(axis=1), learner.classes_[chances.argmax(axis=1)] == done.parts.truth
    place = np.minimum((sure * BINS).astype(int), BINS - 1)
    rows = [
        [
            f"{k / BINS:g} to {(k + 1) / BINS:g}",
            f"{count:,}",
            percent(sure[place == k].mean()),
            percent(right[place == k].mean()),
        ]
        for k in range(BINS)
        if (count := int((place == k).sum()))
    ]
    told = "Rows by the probability of the class that was said. In a model that knows itself both shares are equal."
    head = ["probability", "rows", "said on the average", "right"]
    return [element("h3", "Are its probabilities right?"), p(told), wide_table(rows, head, (1, 2, 3))]


def _of_deviations(case: Case) -> list[object]:
    """How many true values lie in the intervals of the Gaussian process of the same mean."""
    done = case.done
    rows = np.sort(np.random.default_rng(case.options.random_state).permutation(done.held)[:MAX_ROWS])
    model = done.judged.model
    values, deviations = model.learner.predict(model.rows(done.parts.test.take(rows)), return_std=True)
    whole = np.sqrt(deviations**2 + float(model.learner.noise_))
    inside = np.abs(done.parts.truth[rows] - values) <= NORMAL_DEVIATIONS * whole
    share = f"{percent(float(inside.mean()))} of {len(rows):,} rows held out"
    told = f"Its intervals of 95 %, noise included, hold the truth of {share}."
    verdict = "That is as it should be." if abs(inside.mean() - 0.95) <= 0.04 else "They should hold 95 %: take care."
    return [element("h3", "Does it know how sure it may be?"), p(f"{told} {verdict}")]
