"""`mercer transform`: the lifted features of rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mercer.cli.exit_codes import Exit, Failure
from mercer.cli.options import TABLE, Reading, Writing
from mercer.cli.outputs import MODEL, Reads, Writes
from mercer.cli.outputs import TABLE as TABLE_FILE

if TYPE_CHECKING:
    from mercer.cli.output import Voice
    from mercer.models.table_model import TableModel
    from mercer.tables.read import Sheet


@dataclass(frozen=True, kw_only=True)
class TransformOptions(Reading, Writing):
    """What `mercer transform` takes."""

    table: Annotated[str, typer.Argument(help=TABLE), Reads()]
    kernel: Annotated[str | None, typer.Option("--kernel", "-k", help="A kernel as text (default: proposed).")] = None
    n_components: Annotated[int, typer.Option("--n-components", "-d", min=1, help="Largest number of landmarks.")] = 100
    drop: Annotated[list[str] | None, typer.Option("--drop", help="Column to ignore (repeatable).")] = None
    lift: Annotated[Path | None, typer.Option("--lift", help="A saved lift, for new rows."), Reads()] = None
    save: Annotated[Path | None, typer.Option("--save", help="File of the lift, for new rows."), Writes(MODEL)] = None
    out: Annotated[
        str,
        typer.Option("--out", "-o", help=".csv, .parquet, .arrow or .npy; - for standard output."),
        Writes(TABLE_FILE),
    ] = "-"


def transform(options: TransformOptions, voice: Voice) -> None:
    """Give the features of a kernel for each row, by landmarks among them: inner products are values of the kernel."""
    from mercer.cli.writing import write_columns

    model, sheet = _known(options, voice) if options.lift is not None else _new(options, voice)
    features = model.learner.transform(model.rows(sheet))
    names = [str(name) for name in model.learner.get_feature_names_out()]
    columns = {name: features[:, i] for i, name in enumerate(names)}
    write_columns(options.out, columns, {"rows": sheet.rows, "kernel": str(model.kernel)}, voice)


def _known(options: TransformOptions, voice: Voice) -> tuple[TableModel, Sheet]:
    from mercer.cli.models import load_model

    if options.lift is None or options.save is not None or options.kernel is not None:
        raise Failure(Exit.USAGE, "--lift is a lift that is there: leave --kernel and --save out.")
    model = load_model(options.lift)
    if model.task != "lift":
        raise Failure(Exit.USAGE, f"{options.lift.name} holds a {model.task}. Use mercer predict.")
    return model, options.read_for(model, options.table, voice)


def _new(options: TransformOptions, voice: Voice) -> tuple[TableModel, Sheet]:
    from mercer.cli.features import by_position, look
    from mercer.cli.models import save_model
    from mercer.cli.telling import short_kernel, tell_columns
    from mercer.tables.read import read_table

    sheet = read_table(options.table, options.limits(), options.table_options())
    for doubt in sheet.doubts:
        voice.warn(doubt)
    found = look(sheet, tuple(options.drop or ()), options.kernel, options.random_state)
    tell_columns(found, sheet, voice)
    whole = f"kernel: {found.kernel}" if found.proposal is None else str(found.proposal)
    voice.tell(f"kernel: {short_kernel(found.kernel)}", whole)
    if sheet.sparse is None and not found.kernel.kinds:
        found = replace(found, kernel=by_position(found.kernel, found.columns))
    lift = _lift(found.kernel, options).fit(found.rows(sheet))
    model = found.model(lift, "lift", "", sheet, sheet)
    if options.save is not None:
        save_model(model, options.save)
        voice.say(f"The lift is in {options.save}: mercer transform new_rows.csv --lift {options.save}")
    return model, sheet


def _lift(kernel: Any, options: TransformOptions) -> Any:
    from mercer.lifts import Nystrom

    return Nystrom(kernel, options.n_components, random_state=options.random_state)
