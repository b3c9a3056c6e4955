"""`mercer demo`: fifty years of air in one command."""

from __future__ import annotations

import time
from dataclasses import dataclass
from importlib.resources import as_file, files
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mercer.cli.options import Writing
from mercer.cli.outputs import MODEL, PICTURE, REPORT, Writes

if TYPE_CHECKING:
    from mercer.cli.output import Voice
    from mercer.cli.result import Fitted

DATA, TARGET = "co2_weekly.csv", "co2"
MODEL_FILE, PICTURE_FILE, REPORT_FILE = "co2.mercer", "co2.png", "co2.html"
MADE = ((MODEL_FILE, MODEL), (PICTURE_FILE, PICTURE), (REPORT_FILE, REPORT))
REFUTED = "sinc"
"""No kernel on four columns: shown with points that anyone can check."""


@dataclass(frozen=True, kw_only=True)
class DemoOptions(Writing):
    """What `mercer demo` takes."""

    out: Annotated[Path, typer.Option("--out", "-o", help="Output folder."), Writes(inside=MADE)] = Path("mercer-demo")


def demo(options: DemoOptions, voice: Voice) -> None:
    """Fit bundled real data, carbon dioxide on Mauna Loa week by week: plan, proof, scores, picture, report, model.

    The data is that of Keeling and Whorf, Scripps Institution of Oceanography, 1958 to 2001, in the public domain.
    """
    from mercer.cli.models import save_model
    from mercer.kernels.proof.prove import prove

    start = time.perf_counter()
    options.out.mkdir(parents=True, exist_ok=True)
    report = options.out / REPORT_FILE
    with as_file(files("mercer.cli") / "data" / DATA) as path:
        voice.say(f"$ mercer fit {path.name} --target {TARGET} --report {report.name}")
        done = _fitted(path, report, options, voice)
    voice.tell("", str(done.proof))
    voice.say(f"$ mercer prove {REFUTED} --columns 4\n{prove(REFUTED, d=4)}")
    model = options.out / MODEL_FILE
    save_model(done.model, model)
    made = {"model": str(model), "picture": _picture(done, options.out / PICTURE_FILE), "report": str(report)}
    took = time.perf_counter() - start
    voice.data({**done.record(), **made, "seconds": took}, f"{done.text()}\n{_places(made, took)}")


def _fitted(table: Path, report: Path, options: DemoOptions, voice: Voice) -> Fitted:
    """Fit, and report."""
    from mercer.cli.diagnostics.examine import told_findings
    from mercer.cli.fit import FitOptions
    from mercer.cli.pipeline import fitted
    from mercer.cli.report.writing import write_report

    asked = FitOptions(
        table=str(table), target=TARGET, random_state=options.random_state, quiet=options.quiet, verbose=options.verbose
    )
    done = fitted(asked, voice)
    write_report(report, done, asked, told_findings(done, voice), voice)
    return done


def _places(made: dict[str, str | None], took: float) -> str:
    shown = [f"the {name} is in {place}" for name, place in made.items() if place is not None]
    return "\n".join([*shown, f"all in {took:.0f} s"])


def _picture(done: Fitted, path: Path) -> str | None:
    """The measured weeks and the curve through them, with two deviations; None without matplotlib."""
    if find_spec("matplotlib") is None:
        return None
    from matplotlib.figure import Figure

    from mercer.models.writing import write_whole

    figure = Figure(figsize=(10, 4), layout="constrained")
    axes = figure.subplots()
    days, values, deviations = _curve(done)
    weeks = done.sheet.column("week").to_numpy()
    axes.plot(weeks, done.target.values, ".", color="0.6", markersize=2, label="measured")
    axes.plot(days, values, color="black", linewidth=0.8, label="Mercer")
    axes.fill_between(days, values - 2 * deviations, values + 2 * deviations, alpha=0.3, label="two deviations")
    axes.set_ylabel("carbon dioxide, parts per million")
    axes.legend()
    drawn = BytesIO()
    figure.savefig(drawn, format="png", dpi=120, metadata={"Software": "mercer"})
    write_whole(path, [drawn.getvalue()])
    return str(path)


def _curve(done: Fitted) -> tuple[Any, Any, Any]:
    """Predictions from the first week to three years after the last."""
    import numpy as np
    import pyarrow

    from mercer.tables.read import Sheet

    later, step = np.timedelta64(3 * 365, "D"), np.timedelta64(30, "D")

    weeks = done.sheet.column("week").to_numpy()
    days = np.arange(weeks.min(), weeks.max() + later, step)
    rows = done.model.rows(Sheet("weeks", "arrow", pyarrow.table({"week": days})))
    values, deviations = done.model.learner.predict(rows, return_std=True)
    return days, values, deviations
