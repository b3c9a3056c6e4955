"""What may be wrong with a fit: looks at the rows, the columns and the solver, each with what to do."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from mercer.cli import examining_columns, examining_fit, examining_leaks, examining_rows
from mercer.cli.finding import LOOK, SERIOUS, SEVERITIES, Finding

if TYPE_CHECKING:
    from mercer.cli.fitted import Fitted
    from mercer.cli.voice import Voice

CHECKS: tuple[tuple[str, Callable[[Fitted], Iterable[Finding]]], ...] = (
    ("columns that equal or give away the target", examining_leaks.giving_away),
    ("rows held out that are copies of fitted ones", examining_rows.copies),
    ("equal rows with different targets", examining_rows.contradictions),
    ("dates, of which rows held out by chance know the future", examining_columns.dates),
    ("rows that are ordered, so that rows held out have fitted neighbours", examining_rows.ordered),
    ("labels or numbers that repeat, as those of a subject or a device do", examining_rows.groups),
    ("a score no better than that of a baseline", examining_fit.beaten),
    ("classes that are never found", examining_fit.never_found),
    ("a score that is too good to be true", examining_fit.too_good),
    ("whether the solver converged", examining_fit.converged),
    ("how far landmarks may move predictions", examining_fit.approximated),
    ("the condition number and what rounding may do", examining_fit.rounded),
    ("classes that are rare", examining_fit.rare_classes),
    ("heavy tails of the target", examining_fit.heavy_tails),
    ("a target that is cut off at one end", examining_fit.cut_off),
    ("constant columns", examining_columns.constants),
    ("columns that number the rows", examining_columns.identifiers),
    ("columns that are mostly missing", examining_columns.missing),
    ("columns whose offset is far larger than their spread", examining_columns.offsets),
    ("rows held out that lie outside of the fitted range", examining_columns.outside),
)
"""What is looked at, in words, and who looks."""


def examine(done: Fitted) -> list[Finding]:
    """All findings, the worst first. Cost: some passes over the table; ranks are of 20,000 rows at most."""
    found = [finding for _, check in CHECKS for finding in check(done)]
    return sorted(found, key=lambda finding: SEVERITIES.index(finding.severity))


def told_findings(done: Fitted, voice: Voice) -> list[Finding]:
    """All findings; serious ones are warnings, those worth a look are said after them."""
    found = examine(done)
    for finding in found:
        if finding.severity == SERIOUS:
            voice.warn(f"{finding.text} {finding.remedy}")
        elif finding.severity == LOOK:
            voice.say(f"worth a look: {finding.text} {finding.remedy}")
    return found
