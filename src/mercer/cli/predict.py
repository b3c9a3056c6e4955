"""`mercer predict`: a table in, a column of predictions out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mercer.cli.exit_codes import Exit, Failure
from mercer.cli.options import TABLE, Reading, Writing
from mercer.cli.outputs import TABLE as TABLE_FILE
from mercer.cli.outputs import Reads, Writes

if TYPE_CHECKING:
    from mercer.cli.output import Voice
    from mercer.models.table_model import TableModel
    from mercer.tables.read import Sheet


@dataclass(frozen=True, kw_only=True)
class PredictOptions(Reading, Writing):
    """What `mercer predict` takes."""

    model: Annotated[Path, typer.Argument(help="A model file of mercer fit."), Reads()]
    table: Annotated[str, typer.Argument(help=TABLE), Reads()]
    keep: Annotated[
        list[str] | None,
        typer.Option("--keep", help="Column to copy (repeatable). Beside the target, predictions are 'predicted ...'."),
    ] = None
    std: Annotated[bool, typer.Option("--std", help="With the deviation of each prediction (ridge).")] = False
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="With the probability of each class (logistic).")
    ] = False
    out: Annotated[
        str, typer.Option("--out", "-o", help=".csv, .parquet or .arrow; - for standard output."), Writes(TABLE_FILE)
    ] = "-"


def predict(options: PredictOptions, voice: Voice) -> None:
    """Predict the target for each row of a table, as CSV on standard output or into a file."""
    from mercer.cli.models import load_model
    from mercer.cli.writing import write_columns

    model = load_model(options.model)
    if model.task == "lift":
        raise Failure(Exit.USAGE, f"{options.model.name} holds a lift, which predicts nothing. Use mercer transform.")
    sheet = options.read_for(model, options.table, voice)
    kept = {sheet.called(name): sheet.column(name) for name in options.keep or ()}
    target = f"predicted {model.target}" if model.target in kept else model.target
    found = _predicted(options, model, sheet, target)
    if twice := kept.keys() & found.keys():
        raise Failure(Exit.USAGE, f"--keep {min(twice)}: predictions have a column of this name. Rename it first.")
    write_columns(options.out, kept | found, {"rows": sheet.rows, "target": model.target}, voice)


def _predicted(options: PredictOptions, model: TableModel, sheet: Sheet, target: str) -> dict[str, Any]:
    rows, learner = model.rows(sheet), model.learner
    if options.std:
        return _with_deviations(model, rows, target)
    found: dict[str, Any] = {target: learner.predict(rows)}
    if options.probabilities:
        if not hasattr(learner, "predict_proba"):
            raise Failure(Exit.USAGE, f"--probabilities needs a model of --learner logistic; it is {_name(learner)}.")
        chances = learner.predict_proba(rows)
        found |= {f"p({label})": chances[:, i] for i, label in enumerate(learner.classes_)}
    return found


def _with_deviations(model: TableModel, rows: Any, target: str) -> dict[str, Any]:
    if type(model.learner).__name__ != "KernelRidge":
        raise Failure(Exit.USAGE, f"--std needs a regression of --learner ridge; it is {_name(model.learner)}.")
    values, deviations = model.learner.predict(rows, return_std=True)
    return {target: values, f"std of {target}" if target == "std" else "std": deviations}


def _name(learner: object) -> str:
    return f"a {type(learner).__name__}"
