"""The report as a file: whole, or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mercer.cli.report.case import Case
from mercer.cli.report.data import data
from mercer.cli.report.importance_page import matters
from mercer.cli.report.issues import doubts
from mercer.cli.report.model import choice
from mercer.cli.report.page import page
from mercer.cli.report.quality import quality
from mercer.cli.report.reproduce import reproduce
from mercer.cli.report.summary import summary
from mercer.html import short
from mercer.models.writing import write_whole

if TYPE_CHECKING:
    from mercer.cli.diagnostics.finding import Finding
    from mercer.cli.fit import FitOptions
    from mercer.cli.output import Voice
    from mercer.cli.result import Fitted

SECTIONS = (summary, data, choice, quality, matters, doubts, reproduce)


def write_report(path: Path, done: Fitted, options: FitOptions, findings: list[Finding], voice: Voice) -> int:
    """Write the report, and tell how many bytes it has. Cost: some seconds, for the curve and the shuffled columns."""
    voice.say("writing the report: a learning curve, shuffled columns ...")
    text = report(Case(done, options, findings, list(voice.warnings)))
    raw = text.encode("utf-8", "backslashreplace")
    write_whole(path, [raw])
    return len(raw)


def report(case: Case) -> str:
    """The whole page."""
    from mercer import __version__

    title = f"{short(case.done.target.name, 60)}, predicted from {short(case.done.sheet.name, 60)}"
    return page(title, f"A report of mercer {__version__}.", [section(case) for section in SECTIONS])
