"""What the fit itself says: scores beside baselines, the solver, the target."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mercer.cli.diagnostics.finding import LOOK, SERIOUS, Finding
from mercer.cli.metrics import NORMAL_DEVIATIONS, Score, uneven
from mercer.cli.target import CLASSIFICATION

if TYPE_CHECKING:
    from mercer.cli.result import Fitted

RARE_SHARE = 0.05
"""A class is rare with less than this part of the rows."""
MIN_LEARNED_ROWS = 10
"""Of fewer rows nothing is learned."""
MAX_EXTREME_SHARE = 0.02
"""The part of rows that may share the largest or the smallest target."""
MIN_DIFFERENT_TARGETS = 50
"""Different targets below which that is not looked at."""
MAX_KURTOSIS = 10.0
"""The excess kurtosis from which on a few targets decide the fit."""
CONSTANT = ("mean", "largest class")
"""Baselines that look at no column: a model that is no better has learned nothing."""
MIN_LOST_ROWS = 3
"""Rows held out of a class, at least, of which none is found before it is reported: of fewer that may be chance."""
SUSPICIOUS_R2 = 0.999
"""The R^2 from which on real measurements are suspicious."""
MAX_ERROR_SPREADS = 0.1
"""How far an approximation may move predictions, in spreads of the target, before it is reported."""
MAX_RELATIVE_ROUNDING = 1e-6
"""What rounding may have moved predictions by, as a part of their size, before it is reported."""


def headline(done: Fitted) -> dict[str, Score]:
    """The first metric of each model by its name: rmse, (balanced) accuracy; {} where nothing was held out."""
    return {name: scores[0] for name, scores in done.scores}


def beats(done: Fitted, name: str) -> str:
    """Whether the model is better than a baseline: "clearly", "perhaps" or "not".

    Clearly: row by row, the mean difference of the squared errors, or of what is right, is two of its deviations away
    from zero. Where classes are uneven each counts as much as another, as in the balanced accuracy.
    """
    differences = _gains(done, name)
    mean, error = differences.mean(), differences.std() / np.sqrt(len(differences))
    if mean <= 0:
        return "not"
    return "clearly" if mean > NORMAL_DEVIATIONS * error else "perhaps"


def _gains(done: Fitted, name: str) -> NDArray[np.float64]:
    """How much better the model is, row by row."""
    truth, said, other = done.parts.truth, done.judged.predicted, done.judged.others[name]
    if done.target.task == CLASSIFICATION:
        gains = np.asarray((said == truth).astype(np.float64) - (other == truth))
        if not uneven(truth):
            return gains
        _, place, counts = np.unique(truth, return_inverse=True, return_counts=True)
        return np.asarray(gains * len(truth) / (len(counts) * counts[place]))
    return np.asarray((other - truth) ** 2 - (said - truth) ** 2, dtype=np.float64)


def beaten(done: Fitted) -> Iterator[Finding]:
    """Baselines that are as good as the model."""
    scores = headline(done)
    for name in done.judged.others:
        if beats(done, name) == "not":
            told = f"{scores['mercer'].metric} {scores['mercer'].value:.4g} against {scores[name].value:.4g}"
            text = f"The model is no better than the baseline {name!r} on the rows held out: {told}."
            remedy = "Take the simpler one, or look for columns that tell more."
            yield Finding("baseline", SERIOUS if name in CONSTANT else LOOK, text, remedy)


def too_good(done: Fitted) -> Iterator[Finding]:
    """A target that is predicted nearly without error, though no column gives it away alone."""
    if not done.held:
        return
    score = next(s for s in dict(done.scores)["mercer"] if s.metric in ("r2", "accuracy"))
    if score.metric == "r2" and score.low > SUSPICIOUS_R2:
        text = f"R^2 is {score.value:.6g} on the rows held out: is that too good to be true?"
        remedy = (
            "Look for columns that are known only with the target, and for groups of rows (a subject, a device) "
            "of which some were fitted and some held out."
        )
        yield Finding("too good", LOOK, text, remedy)


def converged(done: Fitted) -> Iterator[Finding]:
    """A solver that stopped early."""
    if not done.converged:
        reason = getattr(getattr(done.model.learner, "outcome_", None), "reason", "") or "it stopped early"
        text = f"The fit has not converged: {reason}".rstrip(".") + "."
        yield Finding("not converged", SERIOUS, text, "Give it a longer --time-limit, or scale the columns.")


def approximated(done: Fitted) -> Iterator[Finding]:
    """A kernel that was replaced by landmarks or random features, so coarsely that predictions may suffer."""
    learner = done.judged.model.learner
    if getattr(learner.plan_, "exact", True) or not hasattr(type(learner), "certificate_"):
        return
    relative = getattr(learner.certificate_, "relative", None)
    # a fit that was stopped has no bound
    if relative is not None and MAX_ERROR_SPREADS < float(np.max(relative)) < np.inf:
        count = learner.plan_.n_landmarks or learner.plan_.n_features
        text = (
            f"The kernel was approximated by {count:,} landmarks or features, and predictions may be off by "
            f"{float(np.max(relative)):.2g} of the spread of the target from those of the exact kernel, at most."
        )
        yield Finding(
            "approximated",
            LOOK,
            text,
            "A longer --time-limit or a larger --memory-limit gives more landmarks, or the exact fit.",
        )


def rounded(done: Fitted) -> Iterator[Finding]:
    """A system so badly conditioned that rounding is seen in predictions."""
    learner = done.judged.model.learner
    rounding, condition = getattr(learner, "rounding_", 0.0), getattr(learner, "condition_", None)
    if condition is not None and not rounding <= MAX_RELATIVE_ROUNDING:
        text = f"The condition number is {condition:.1e}: rounding may have moved predictions by {rounding:.0e}."
        yield Finding("condition", LOOK, text, "Drop rows that are nearly equal, or scale the columns.")


def rare_classes(done: Fitted) -> Iterator[Finding]:
    """Classes of few rows, of which accuracy says little."""
    if done.target.task != CLASSIFICATION:
        return
    labels, counts = np.unique(done.target.values, return_counts=True)
    rare = (counts < RARE_SHARE * counts.sum() / max(1.0, len(labels) / 4)) | (counts < MIN_LEARNED_ROWS)
    if rare.any():
        places = np.flatnonzero(rare)
        shown = ", ".join(f"{labels[i].item()!r} ({counts[i]:,} rows)" for i in places[:5])
        which = f"Class {shown} is" if len(places) == 1 else f"{len(places)} of {len(labels)} classes are"
        text = f"{which} rare{f': {shown}' * (len(places) > 1)}{', ...' * (len(places) > 5)}."
        remedy = "Look at the recall of each class, and at the balanced accuracy, not at the accuracy alone."
        yield Finding("rare classes", LOOK, text, remedy)


def never_found(done: Fitted) -> Iterator[Finding]:
    """Classes of which not one row held out was found, though there are some."""
    if done.target.task != CLASSIFICATION or not done.held:
        return
    truth, said = done.parts.truth, done.judged.predicted
    labels, counts = np.unique(truth, return_counts=True)
    lost = [
        k for k, label in enumerate(labels) if counts[k] >= MIN_LOST_ROWS and not (said[truth == label] == label).any()
    ]
    if lost:
        shown = ", ".join(f"{labels[k].item()!r} ({counts[k]:,} rows)" for k in lost[:5]) + ", ..." * (len(lost) > 5)
        text = f"Recall 0: of the rows held out, none of class {shown} is found."
        fitted = type(done.judged.model.learner).__name__ == "KernelLogisticRegression"
        first = "C" if fitted else "Fit with --learner logistic, and c"
        remedy = f"{first}hoose your own threshold for the probabilities that mercer predict --probabilities gives."
        yield Finding("never found", SERIOUS, text, remedy)


def heavy_tails(done: Fitted) -> Iterator[Finding]:
    """Targets of which a few are far from all others."""
    if done.target.task == CLASSIFICATION:
        return
    y = np.asarray(done.target.values, dtype=np.float64)
    apart = (y - y.mean()) / y.std()
    excess = float(np.mean(apart**4)) - 3.0
    if excess > MAX_KURTOSIS and len(y) >= MIN_LEARNED_ROWS:
        text = f"The target has heavy tails: some lie {np.abs(apart).max():.0f} deviations away from the mean."
        remedy = "Squared errors follow these few rows. Look at them; a logarithm of the target may help."
        yield Finding("heavy tails", LOOK, text, remedy)


def cut_off(done: Fitted) -> Iterator[Finding]:
    """Targets that pile up at their largest or smallest value, as if what lies beyond had been cut off."""
    if done.target.task == CLASSIFICATION:
        return
    values, counts = np.unique(done.target.values, return_counts=True)
    if len(values) < MIN_DIFFERENT_TARGETS:
        return
    for place, name in ((-1, "largest"), (0, "smallest")):
        share = float(counts[place] / counts.sum())
        if share > MAX_EXTREME_SHARE and counts[place] > 5 * np.median(counts):
            text = (
                f"{100 * share:.3g} % of the rows have the {name} target, {values[place]:.6g}: it may be cut off there."
            )
            remedy = "Look whether larger or smaller ones were recorded so; errors there are not what they seem."
            yield Finding("cut off", LOOK, text, remedy)
