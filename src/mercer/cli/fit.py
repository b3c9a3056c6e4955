"""`mercer fit`: from a table to a model, its scores and its file."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mercer.cli.exits import Exit, Failure
from mercer.cli.options import TABLE, Reading, seconds, size

if TYPE_CHECKING:
    from mercer.cli.fitting import Fitted
    from mercer.cli.voice import Voice

TASKS = ("", "regression", "classification")


@dataclass(frozen=True, kw_only=True)
class FitOptions(Reading):
    """What `mercer fit` takes."""

    table: Annotated[str, typer.Argument(help=TABLE)]
    target: Annotated[str, typer.Option("--target", "-t", help="The column to predict.")]
    task: Annotated[str, typer.Option("--task", help="regression or classification; else the target decides.")] = ""
    kernel: Annotated[str | None, typer.Option("--kernel", "-k", help="Left out, one is proposed.")] = None
    learner: Annotated[str, typer.Option("--learner", "-l", help="ridge, svm, logistic or perceptron.")] = "ridge"
    drop: Annotated[list[str] | None, typer.Option("--drop", help="A column that is no feature; repeatable.")] = None
    memory: Annotated[str | None, typer.Option("--memory", help="What the fit may hold, such as 4GB.")] = None
    time: Annotated[str | None, typer.Option("--time", help="What the fit may take, such as 60s.")] = None
    test: Annotated[float, typer.Option("--test", min=0, max=0.9, help="The part of rows held out for scores.")] = 0.2
    refit: Annotated[bool, typer.Option("--refit", help="After the scores, fit again to all rows.")] = False
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 6 if the fit has not converged.")] = False
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Where the model is saved: model.mercer.")] = None


def fit(options: FitOptions, voice: Voice) -> None:
    """Fit a model to a table, tell how good it is on rows held out, and save it.

    A target of labels, of two different numbers, or of at most 20 different whole numbers with ten rows each on the
    average is classified; any other is regressed. Rows without a target are left out, and counted.
    """
    start = time.perf_counter()
    _check(options)
    from mercer.cli.fitting import fitted

    done = fitted(options, voice)
    record = {**done.record(), "seconds": time.perf_counter() - start, "model": _saved(options, done, voice)}
    voice.data(record, done.text())
    if options.strict and not done.converged:
        raise Failure(Exit.UNCONVERGED, "the fit has not converged. Give it more --time, or leave --strict out.")


def _check(options: FitOptions) -> None:
    """Complain of options before anything is read."""
    from mercer.cli.learning import check_learner

    check_learner(options.learner)
    seconds(options.time)
    if options.memory is not None:
        size("--memory", options.memory)
    if options.task not in TASKS:
        raise Failure(Exit.USAGE, f"--task needs regression or classification; {options.task!r} came.")
    if options.out is not None and not options.out.resolve().parent.is_dir():
        raise Failure(Exit.USAGE, f"--out needs a folder that exists; {options.out.parent} does not.")


def _saved(options: FitOptions, done: Fitted, voice: Voice) -> dict[str, Any] | None:
    from mercer.cli.models import save_model

    if options.out is None:
        voice.say("The model was not saved: give --out model.mercer.")
        return None
    save_model(done.model, options.out)
    voice.say(f"The model is in {options.out}: mercer predict {options.out} new_rows.csv")
    return {"path": str(options.out), "bytes": options.out.stat().st_size}
