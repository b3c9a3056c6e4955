"""The parts of `mercer fit`: read, look, plan, fit, score."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mercer.cli import baselines
from mercer.cli.evaluation import Score, classification_scores, regression_scores, split, table_of_scores
from mercer.cli.learning import Terms, learner_of
from mercer.cli.looking import Look, look
from mercer.cli.options import seconds
from mercer.cli.target import CLASSIFICATION, Target, target_of
from mercer.files.tables import Sheet, read_table
from mercer.files.tables_model import TableModel

if TYPE_CHECKING:
    from mercer.cli.fit import FitOptions
    from mercer.cli.voice import Voice

Scores = list[tuple[str, list[Score]]]


@dataclass(frozen=True, eq=False)
class Fitted:
    """What a fit found.

    sheet, target, look : what was read, predicted and looked at
    model : what is saved
    held : how many rows were held out
    scores : of the model and of the baselines, on these
    left_out : the leave-one-out score, where it was free
    proof : why the kernel is one
    """

    sheet: Sheet
    target: Target
    look: Look
    model: TableModel
    held: int
    scores: Scores
    left_out: tuple[str, float] | None
    proof: Any

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
    train, test = split(target.values, target.task == CLASSIFICATION, options.test, options.seed)
    parts = (sheet.take(train), sheet.take(test)) if len(test) else (sheet, sheet)
    found = look(parts[0], (target.name, *(options.drop or ())), options.kernel, options.seed)
    proof = _told(found, voice)
    _doubted(found, target, test, voice)
    learner = _learner(options, target, found, target.values[train])
    _fit(learner, found.rows(parts[0]), target.values[train], voice)
    model = TableModel(learner, target.task, target.name, found.columns, found.kinds, found.filled)
    targets = target.values[train], target.values[test]
    scores = _scores(model, found, parts, targets, options.seed) if len(test) else []
    left_out = _left_out(learner)
    if options.refit and len(test):
        voice.say("fitting again to all rows ...")
        _fit(learner, found.rows(sheet), target.values, None)
    return Fitted(sheet, target, found, model, len(test), scores, left_out, proof)


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


def _told(found: Look, voice: Voice) -> Any:
    """Say what was chosen, and why it is a kernel."""
    from mercer.kernels.proof.prove import prove

    voice.say(str(found.proposal) if found.proposal is not None else f"kernel: {found.kernel}")
    proof = prove(found.kernel)
    voice.say(f"that it is a kernel is {proof.status}, in {len(proof.steps)} steps: mercer prove tells them")
    return proof


def _doubted(found: Look, target: Target, test: NDArray[Any], voice: Voice) -> None:
    """Warn of columns that could not be read, and of scores that tell nothing."""
    for choice in () if found.proposal is None else found.proposal.columns:
        if choice.taken_for == "other things":
            voice.warn(f"column {choice.name!r} is left out: {choice.why}")
    held = np.unique(target.values[test])
    if target.task == CLASSIFICATION and len(held) == 1:
        voice.warn(f"all rows held out are {str(held[0])!r}: their scores tell nothing of the other classes")


def _learner(options: FitOptions, target: Target, found: Look, y: NDArray[Any]) -> Any:
    proposed = found.proposal is not None
    terms = Terms(options.memory, seconds(options.time), options.seed, not options.quiet, stretch=proposed)
    return learner_of(options.learner, target.task, found.kernel, y, terms)


def _fit(learner: Any, rows: Any, y: NDArray[Any], voice: Voice | None) -> None:
    if voice is not None and hasattr(learner, "plan"):
        voice.say(f"plan: {textwrap.indent(str(learner.plan(rows, y)), '  ').strip()}")
    learner.fit(rows, y)


def _scores(
    model: TableModel, found: Look, parts: tuple[Sheet, Sheet], targets: tuple[NDArray[Any], NDArray[Any]], seed: int
) -> Scores:
    """Those of the model, of a linear one, and of the mean or the largest class."""
    y, truth = targets
    classes = model.task == CLASSIFICATION
    rows = [("mercer", scores_of(model, parts[1], truth, seed))]
    straight = baselines.linear(found, parts[0], y, parts[1], seed)
    if straight is not None:
        rows.append(("linear", _plain(straight, truth, classes, seed)))
    flat = baselines.constant(y, len(truth), classes)
    return [*rows, ("largest class" if classes else "mean", _plain(flat, truth, classes, seed))]


def scores_of(model: TableModel, sheet: Sheet, truth: NDArray[Any], seed: int) -> list[Score]:
    """The metrics of a model on rows whose target is known."""
    rows, learner = model.rows(sheet), model.learner
    predicted = learner.predict(rows)
    if model.task != CLASSIFICATION:
        return regression_scores(truth, np.asarray(predicted, dtype=np.float64), seed)
    chances = learner.predict_proba(rows) if type(learner).__name__ == "KernelLogisticRegression" else None
    return classification_scores(truth, predicted, chances, learner.classes_, seed)


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
