"""`mercer predict`: a table in, a column of predictions out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mercer.cli.exits import Exit, Failure
from mercer.cli.options import TABLE, Reading

if TYPE_CHECKING:
    from mercer.cli.voice import Voice
    from mercer.files.tables import Sheet
    from mercer.files.tables_model import TableModel


@dataclass(frozen=True, kw_only=True)
class PredictOptions(Reading):
    """What `mercer predict` takes."""

    model: Annotated[Path, typer.Argument(help="A model file of mercer fit.")]
    table: Annotated[str, typer.Argument(help=TABLE)]
    keep: Annotated[list[str] | None, typer.Option("--keep", help="A column to copy; repeatable.")] = None
    std: Annotated[bool, typer.Option("--std", help="With the deviation of each prediction (ridge).")] = False
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="With the probability of each class (logistic).")
    ] = False
    out: Annotated[str, typer.Option("--out", "-o", help=".csv, .parquet or .arrow; - for standard output.")] = "-"


def predict(options: PredictOptions, voice: Voice) -> None:
    """Predict the target for each row of a table, as CSV on standard output or into a file."""
    from mercer.cli.models import load_model
    from mercer.cli.writing import check_output, write_columns

    check_output(options.out)
    model = load_model(options.model)
    if model.task == "lift":
        raise Failure(Exit.USAGE, f"{options.model.name} holds a lift, which predicts nothing. Use mercer transform.")
    sheet = options.read_for(model, options.table)
    columns = {**{name: sheet.column(name) for name in options.keep or ()}, **_predicted(options, model, sheet)}
    write_columns(options.out, columns, {"rows": sheet.rows, "target": model.target}, voice)


def _predicted(options: PredictOptions, model: TableModel, sheet: Sheet) -> dict[str, Any]:
    rows, learner = model.rows(sheet), model.learner
    if options.std:
        return _with_deviations(model, rows)
    found: dict[str, Any] = {model.target: learner.predict(rows)}
    if options.probabilities:
        if not hasattr(learner, "predict_proba"):
            raise Failure(Exit.USAGE, f"--probabilities needs a model of --learner logistic; it is {_name(learner)}.")
        chances = learner.predict_proba(rows)
        found |= {f"p({label})": chances[:, i] for i, label in enumerate(learner.classes_)}
    return found


def _with_deviations(model: TableModel, rows: Any) -> dict[str, Any]:
    if type(model.learner).__name__ != "KernelRidge":
        raise Failure(Exit.USAGE, f"--std needs a regression of --learner ridge; it is {_name(model.learner)}.")
    values, deviations = model.learner.predict(rows, return_std=True)
    return {model.target: values, "std": deviations}


def _name(learner: Any) -> str:
    return f"a {type(learner).__name__}"
