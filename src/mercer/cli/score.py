"""`mercer score`: how good a model is on a table whose target is known."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mercer.cli.exit_codes import Exit, Failure
from mercer.cli.options import TABLE, Reading
from mercer.cli.outputs import Reads
from mercer.errors import number_of

if TYPE_CHECKING:
    from mercer.cli.output import Voice
    from mercer.models.table_model import TableModel
    from mercer.tables.read import Sheet


@dataclass(frozen=True, kw_only=True)
class ScoreOptions(Reading):
    """What `mercer score` takes."""

    model: Annotated[Path, typer.Argument(help="A model file of mercer fit."), Reads()]
    table: Annotated[str, typer.Argument(help=TABLE), Reads()]


def score(options: ScoreOptions, voice: Voice) -> None:
    """Score a model on a table that it was not fitted to, with intervals of 95 %."""
    from mercer.cli.metrics import table_of_scores
    from mercer.cli.models import load_model
    from mercer.cli.scoring import scores_of

    model = load_model(options.model)
    if model.task == "lift":
        raise Failure(Exit.USAGE, f"{options.model.name} holds a lift, which predicts nothing.")
    sheet = options.read_for(model, options.table, voice)
    known, truth, dropped = _truth(model, sheet)
    if dropped:
        rows, verb = ("row has", "is") if dropped == 1 else ("rows have", "are")
        voice.say(f"{dropped:,} {rows} no {model.target!r}, and {verb} left out")
    scores = scores_of(model, known, truth, options.random_state)
    record = {"rows": known.rows, "dropped_rows": dropped, "task": model.task, "scores": [vars(s) for s in scores]}
    told = f"on {number_of(known.rows, 'row')}, with intervals of 95 %"
    voice.data(record, f"{table_of_scores([('mercer', scores)])}\n{told}")


def _truth(model: TableModel, sheet: Sheet) -> tuple[Sheet, Any, int]:
    from mercer.cli.target import known_values, like

    rows, values = known_values(sheet, model.target)
    kept = sheet if len(rows) == sheet.rows else sheet.take(rows)
    truth = like(values, getattr(model.learner, "classes_", None), model.target)
    return kept, truth, sheet.rows - len(rows)
