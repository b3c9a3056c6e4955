"""The parts of `mercer fit`: read, look, plan, fit, score."""

from __future__ import annotations

import textwrap
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mercer.cli import baselines
from mercer.cli.evaluation import Score, classification_scores, regression_scores, split, table_of_scores
from mercer.cli.learning import Terms, learner_of
from mercer.cli.looking import Look, look
from mercer.cli.options import seconds
from mercer.cli.stretching import SAMPLE, stretched_kernel, worth_stretching
from mercer.cli.target import CLASSIFICATION, Target, target_of
from mercer.files.tables import Sheet, read_table
from mercer.files.tables_model import TableModel

if TYPE_CHECKING:
    from mercer.cli.fit import FitOptions
    from mercer.cli.voice import Voice

Scores = list[tuple[str, list[Score]]]


@dataclass(frozen=True, eq=False)
class Parts:
    """Rows that were fitted, and rows that were held out.

    train, test : the tables; test has no rows where none were held out
    y, truth : their targets
    kept, held : where they stand in the table that was read, rows without a target aside
    """

    train: Sheet
    test: Sheet
    y: NDArray[Any]
    truth: NDArray[Any]
    kept: NDArray[np.intp]
    held: NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Judged:
    """What the rows held out say of a model.

    model : of the rows that were fitted; what is saved may be another, of all rows
    predicted : for the rows held out; chances : the probabilities of its classes, where it has such
    seconds : that the fit took
    others : what the baselines predict, by their names
    """

    model: TableModel
    predicted: NDArray[Any]
    chances: NDArray[Any] | None
    seconds: float
    others: dict[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Fitted:
    """What a fit found.

    sheet, target, look : what was read, predicted and looked at
    model : what is saved
    parts, judged : the rows that were fitted and held out, and the model of the former on the latter
    scores : of the model and of the baselines, on the rows held out
    left_out : the leave-one-out score, where it was free
    proof : why the kernel is one
    """

    sheet: Sheet
    target: Target
    look: Look
    model: TableModel
    parts: Parts
    judged: Judged
    scores: Scores
    left_out: tuple[str, float] | None
    proof: Any

    @property
    def held(self) -> int:
        """How many rows were held out."""
        return len(self.parts.truth)

    @property
    def converged(self) -> bool:
        """Whether the learner did what was asked."""
        return bool(self.model.learner.converged_)

    def record(self) -> dict[str, Any]:
        """All of it as plain values."""
        learner, target = self.model.learner, self.target
        return {
            "table": {"name": self.sheet.name, "format": self.sheet.format, "rows": self.sheet.rows},
            "target": {"name": target.name, "task": target.task, "why": target.why, "dropped_rows": target.dropped},
            "kernel": {"text": str(self.look.kernel), "fitted": str(learner.kernel_), "proof": self.proof.status},
            "columns": _columns(self.look),
            "learner": type(learner).__name__,
            "converged": self.converged,
            "plan": plan_record(learner.plan_),
            "held_out_rows": self.held,
            "scores": [{"model": name, **vars(score)} for name, scores in self.scores for score in scores],
            "leave_one_out": None if self.left_out is None else dict([self.left_out]),
        }

    def text(self) -> str:
        """The scores, for people."""
        lines = [table_of_scores(self.scores)] if self.held else ["too few rows to hold some out"]
        if self.held:
            lines.append(f"on {self.held:,} rows held out, with intervals of 95 %")
        if self.left_out is not None:
            lines.append(f"leave-one-out {self.left_out[0]} of the fitted rows: {self.left_out[1]:.4g}")
        return "\n".join(lines)


def fitted(options: FitOptions, voice: Voice) -> Fitted:
    """Do all that `mercer fit` does before it saves."""
    sheet, target = _read(options, voice)
    parts = _parts(sheet, target, options)
    found = look(parts.train, (target.name, *(options.drop or ())), options.kernel, options.seed)
    found = _stretched(options, found, parts, voice)
    proof = _told(found, voice)
    _doubted(found, target, parts.truth, voice)
    learner = _learner(options, target, found, parts.y)
    seconds_taken = _fit(learner, found.rows(parts.train), parts.y, voice)
    model = TableModel(learner, target.task, target.name, found.columns, found.kinds, found.filled)
    others = _baselines(found, parts, target.task == CLASSIFICATION, options.seed)
    judged = Judged(model, *_predictions(model, parts.test), seconds_taken, others)
    scores = _scores(judged, parts.truth, options.seed) if len(parts.truth) else []
    left_out = _left_out(learner)
    if options.refit and len(parts.truth):
        voice.say("fitting again to all rows ...")
        model = replace(model, learner=_again(learner, found.rows(sheet), target.values))
    return Fitted(sheet, target, found, model, parts, judged, scores, left_out, proof)


def _parts(sheet: Sheet, target: Target, options: FitOptions) -> Parts:
    train, test = split(target.values, target.task == CLASSIFICATION, options.test, options.seed)
    fitted_rows = sheet.take(train) if len(test) else sheet
    return Parts(fitted_rows, sheet.take(test), target.values[train], target.values[test], train, test)


def _read(options: FitOptions, voice: Voice) -> tuple[Sheet, Target]:
    sheet = read_table(options.table, options.limits(), options.table_options())
    voice.say(f"{sheet.name}: {sheet.format}, {sheet.rows:,} rows x {sheet.width:,} columns")
    for remark in sheet.remarks:
        voice.say(remark)
    for doubt in sheet.doubts:
        voice.warn(doubt)
    sheet, target = target_of(sheet, options.target, options.task)
    if target.dropped:
        voice.say(f"{target.dropped:,} rows have no {target.name!r}, and are left out")
    voice.say(f"{target.name!r} gives a {target.task}: {target.why}")
    return sheet, target


def _stretched(options: FitOptions, found: Look, parts: Parts, voice: Voice) -> Look:
    """A proposed kernel with lengthscales that suit the target; up to STRETCHED rows kernel ridge finds them itself."""
    if found.proposal is not None:
        voice.say(str(found.proposal))
    if found.proposal is None or not worth_stretching(options, found.kernel, len(parts.y)):
        return found
    kernel = stretched_kernel(found.kernel, lambda rows: found.rows(parts.train.take(rows)), parts.y, options.seed)
    if kernel != found.kernel:
        voice.say(f"lengthscales by leave-one-out on {min(SAMPLE, len(parts.y)):,} rows: {kernel}")
    return replace(found, kernel=kernel)


def _told(found: Look, voice: Voice) -> Any:
    """Say why it is a kernel."""
    from mercer.kernels.proof.prove import prove

    if found.proposal is None:
        voice.say(f"kernel: {found.kernel}")
    proof = prove(found.kernel)
    voice.say(f"that it is a kernel is {proof.status}, in {len(proof.steps)} steps: mercer prove tells them")
    return proof


def _doubted(found: Look, target: Target, truth: NDArray[Any], voice: Voice) -> None:
    """Warn of columns that could not be read, and of scores that tell nothing."""
    for choice in () if found.proposal is None else found.proposal.columns:
        if choice.taken_for == "other things":
            voice.warn(f"column {choice.name!r} is left out: {choice.why}")
    held = np.unique(truth)
    if target.task == CLASSIFICATION and len(held) == 1:
        voice.warn(f"all rows held out are {str(held[0])!r}: their scores tell nothing of the other classes")


def _learner(options: FitOptions, target: Target, found: Look, y: NDArray[Any]) -> Any:
    proposed = found.proposal is not None
    terms = Terms(options.memory, seconds(options.time), options.seed, not options.quiet, stretch=proposed)
    return learner_of(options.learner, target.task, found.kernel, y, terms)


def _fit(learner: Any, rows: Any, y: NDArray[Any], voice: Voice) -> float:
    """Fit, and tell how: the seconds that it took."""
    if hasattr(learner, "plan"):
        voice.say(f"plan: {textwrap.indent(str(learner.plan(rows, y)), '  ').strip()}")
    start = time.perf_counter()
    learner.fit(rows, y)
    return time.perf_counter() - start


def _again(learner: Any, rows: Any, y: NDArray[Any]) -> Any:
    """A learner with the same settings, of other rows: the one that was judged stays as it is."""
    from sklearn.base import clone

    return clone(learner).fit(rows, y)


def _predictions(model: TableModel, sheet: Sheet) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """What a model says of rows, and how surely, where it knows that."""
    if not sheet.rows:
        return np.empty(0), None
    rows, learner = model.rows(sheet), model.learner
    chances = learner.predict_proba(rows) if type(learner).__name__ == "KernelLogisticRegression" else None
    return np.asarray(learner.predict(rows)), chances


def _baselines(found: Look, parts: Parts, classes: bool, seed: int) -> dict[str, NDArray[Any]]:
    """What a linear model says of the rows held out, where there is one, and the mean or the largest class."""
    if not len(parts.truth):
        return {}
    straight = baselines.linear(found, parts.train, parts.y, parts.test, seed)
    flat = {"largest class" if classes else "mean": baselines.constant(parts.y, len(parts.truth), classes)}
    return flat if straight is None else {"linear": straight, **flat}


def _scores(judged: Judged, truth: NDArray[Any], seed: int) -> Scores:
    """Those of the model and of the baselines."""
    classes = judged.model.task == CLASSIFICATION
    model = _of_predictions(judged.model, judged.predicted, judged.chances, truth, seed)
    others = judged.others.items()
    return [("mercer", model), *((name, _plain(said, truth, classes, seed)) for name, said in others)]


def scores_of(model: TableModel, sheet: Sheet, truth: NDArray[Any], seed: int) -> list[Score]:
    """The metrics of a model on rows whose target is known."""
    return _of_predictions(model, *_predictions(model, sheet), truth, seed)


def _of_predictions(
    model: TableModel, predicted: NDArray[Any], chances: NDArray[Any] | None, truth: NDArray[Any], seed: int
) -> list[Score]:
    if model.task != CLASSIFICATION:
        return regression_scores(truth, np.asarray(predicted, dtype=np.float64), seed)
    return classification_scores(truth, predicted, chances, model.learner.classes_, seed)


def _plain(predicted: NDArray[Any], truth: NDArray[Any], classes: bool, seed: int) -> list[Score]:
    if not classes:
        return regression_scores(truth, predicted, seed)
    return classification_scores(truth, predicted, None, np.unique(truth), seed)


def _left_out(learner: Any) -> tuple[str, float] | None:
    """The leave-one-out score of the chosen penalty; None where the learner has none."""
    path = getattr(learner, "loo_", None)
    if path is None:
        return None
    if path.wrong is not None:
        return "accuracy", 1 - float(path.wrong[path.best[0]])
    return "rmse", float(np.sqrt(path.errors[path.best[0], 0]))


def _columns(found: Look) -> list[dict[str, Any]]:
    if found.proposal is None:
        return [{"name": name, "holds": kind} for name, kind in zip(found.columns, found.kinds, strict=True)]
    chosen = found.proposal.columns
    return [{"name": c.name, "taken_for": c.taken_for, "part": c.part, "why": c.why} for c in chosen]


def plan_record(plan: Any) -> dict[str, Any]:
    """A plan as plain values: of least squares all of it, of others what all have."""
    if hasattr(plan, "record"):
        return dict(plan.record())
    names = ("way", "rows", "columns", "bytes", "seconds", "reason")
    return {name: getattr(plan, name) for name in names if hasattr(plan, name)} | {"text": str(plan)}
