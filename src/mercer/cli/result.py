"""What `mercer fit` found: rows, model, scores; as text and as plain values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.cli.features import Look
from mercer.cli.metrics import Score, table_of_scores
from mercer.cli.target import Target
from mercer.errors import number_of
from mercer.models.table_model import TableModel
from mercer.tables.read import Sheet

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
    seconds : that the fit took, from its plan on; tuned : that were spent on lengthscales and readings before
    others : what the baselines predict, by their names
    """

    model: TableModel
    predicted: NDArray[Any]
    chances: NDArray[Any] | None
    seconds: float
    tuned: float
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
    tried : readings and lengthscales that were tried, and what was refused, in sentences
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
    tried: tuple[str, ...] = ()

    @property
    def held(self) -> int:
        """How many rows were held out."""
        return len(self.parts.truth)

    @property
    def converged(self) -> bool:
        """Whether the learner did what was asked."""
        return bool(self.model.learner.converged_)

    @property
    def left_out_rows(self) -> str:
        """Whose leave-one-out score it is, in words: of a sample it is another model's than the one that is scored."""
        sample = getattr(self.judged.model.learner.plan_.details, "sample", None)
        if sample is None or sample >= len(self.parts.y):
            return "the fitted rows"
        return f"{sample:,} of the fitted rows, by models of {sample - 1:,} rows"

    def record(self) -> dict[str, Any]:
        """All of it as plain values."""
        learner, target = self.model.learner, self.target
        return {
            "table": {"name": self.sheet.name, "format": self.sheet.format, "rows": self.sheet.rows},
            "target": {"name": target.name, "task": target.task, "why": target.why, "dropped_rows": target.dropped},
            "kernel": {
                "text": str(self.look.kernel),
                "fitted": str(learner.kernel_),
                "proof": self.proof.status,
                "tried": self.tried,
            },
            "columns": _columns(self.look),
            "learner": type(learner).__name__,
            "converged": self.converged,
            "plan": dict(learner.plan_.record()),
            "held_out_rows": self.held,
            "scores": [{"model": name, **vars(score)} for name, scores in self.scores for score in scores],
            "leave_one_out": None if self.left_out is None else dict([self.left_out]),
        }

    def text(self, share: float = 0.2) -> str:
        """The scores, for people; of the rows such a share was to be held out."""
        some = f"on {number_of(self.held, 'row')} held out, with intervals of 95 %"
        held = some if self.held else none_held_out(share)
        scores = [table_of_scores(self.scores)] if self.held else []
        if self.left_out is not None:
            held += f"; leave-one-out {self.left_out[0]} of {self.left_out_rows}: {self.left_out[1]:.4g}"
        return "\n".join([*scores, held])


def none_held_out(share: float) -> str:
    """Why no rows were held out, of which such a share was to be."""
    return "too few rows to hold some out" if share > 0 else "no rows were held out, as --test 0 says"


def _columns(found: Look) -> list[dict[str, Any]]:
    if found.proposal is None:
        return [{"name": name, "holds": kind} for name, kind in zip(found.columns, found.kinds, strict=True)]
    chosen = found.proposal.columns
    return [{"name": c.name, "taken_for": c.taken_for, "part": c.part, "why": c.why} for c in chosen]
