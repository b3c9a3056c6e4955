"""`mercer fit`: from a table to a model, its scores and its file."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mercer.cli.exit_codes import Exit, Failure
from mercer.cli.options import TABLE, Reading, Writing, seconds, size
from mercer.cli.outputs import MODEL, REPORT, Reads, Writes

if TYPE_CHECKING:
    from mercer.cli.diagnostics.finding import Finding
    from mercer.cli.output import Voice
    from mercer.cli.result import Fitted

TASKS = ("", "regression", "classification")


@dataclass(frozen=True, kw_only=True)
class FitOptions(Reading, Writing):
    """What `mercer fit` takes."""

    table: Annotated[str, typer.Argument(help=TABLE), Reads()]
    target: Annotated[str, typer.Option("--target", "-t", help="The column to predict.")]
    task: Annotated[str, typer.Option("--task", help="regression or classification (default: by the target).")] = ""
    kernel: Annotated[str | None, typer.Option("--kernel", "-k", help="A kernel as text (default: proposed).")] = None
    learner: Annotated[str, typer.Option("--learner", "-l", help="ridge, svm, logistic or perceptron.")] = "ridge"
    alpha: Annotated[
        float | None, typer.Option("--alpha", help="The penalty of ridge (else by leave-one-out) or logistic.")
    ] = None
    C: Annotated[float | None, typer.Option("--C", help="The C of svm: how much an error costs.")] = None
    drop: Annotated[list[str] | None, typer.Option("--drop", help="Column to ignore (repeatable).")] = None
    memory_limit: Annotated[str | None, typer.Option("--memory-limit", help="Memory limit, e.g. 4GB.")] = None
    time_limit: Annotated[str | None, typer.Option("--time-limit", help="Time limit, e.g. 60s.")] = None
    backend: Annotated[str, typer.Option("--backend", help="What computes: auto, cpu, cuda or cuda:1.")] = "auto"
    test: Annotated[float, typer.Option("--test", min=0, max=0.9, help="Part of the rows held out for scores.")] = 0.2
    refit: Annotated[bool, typer.Option("--refit", help="After the scores, fit again to all rows.")] = False
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 6 if the fit has not converged.")] = False
    out: Annotated[Path | None, typer.Option("--out", "-o", help="File of the model: model.mercer."), Writes(MODEL)] = (
        None
    )
    report: Annotated[
        Path | None, typer.Option("--report", help="File of the report: report.html."), Writes(REPORT)
    ] = None


def fit(options: FitOptions, voice: Voice) -> None:
    """Fit a model to a table, tell how good it is on rows held out, save it and report.

    A target of labels, of two different numbers, or of at most 20 different integers with ten rows each on the
    average is classified; any other is regressed. Rows without a target are left out, and counted.
    """
    start = time.perf_counter()
    _check(options)
    from mercer.cli.diagnostics.examine import told_findings
    from mercer.cli.pipeline import fitted

    done = fitted(options, voice)
    findings = told_findings(done, voice)
    record = {**done.record(), "findings": [vars(finding) for finding in findings]}
    record |= {"model": _saved(options, done, voice), "report": _reported(options, done, findings, voice)}
    record["seconds"] = time.perf_counter() - start
    voice.data(record, done.text(options.test))
    if options.strict and not done.converged:
        raise Failure(
            Exit.UNCONVERGED, "the fit has not converged. Give it a longer --time-limit, or leave --strict out."
        )


def _check(options: FitOptions) -> None:
    """Complain of options before anything is read."""
    from mercer.cli.estimators import check_backend, check_learner, check_penalty

    check_learner(options.learner)
    check_penalty(options.learner, options.alpha, options.C)
    check_backend(options.backend)
    seconds(options.time_limit)
    if options.memory_limit is not None:
        size("--memory-limit", options.memory_limit)
    if options.task not in TASKS:
        raise Failure(Exit.USAGE, f"--task needs regression or classification; got {options.task!r}.")


def _saved(options: FitOptions, done: Fitted, voice: Voice) -> dict[str, Any] | None:
    from mercer.cli.models import save_model

    if options.out is None:
        voice.say("The model was not saved: give --out model.mercer.")
        return None
    save_model(done.model, options.out)
    voice.say(f"The model is in {options.out}: mercer predict {options.out} new_rows.csv")
    return {"path": str(options.out), "bytes": options.out.stat().st_size}


def _reported(options: FitOptions, done: Fitted, findings: list[Finding], voice: Voice) -> dict[str, Any] | None:
    if options.report is None:
        return None
    from mercer.cli.report.writing import write_report

    size = write_report(options.report, done, options, findings, voice)
    voice.say(f"The report is in {options.report}: open it in a browser")
    return {"path": str(options.report), "bytes": size}
