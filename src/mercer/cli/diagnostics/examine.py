"""What may be wrong with a fit: looks at the rows, the columns and the solver, each with what to do."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from mercer.cli.diagnostics import columns, fit, leaks, rows
from mercer.cli.diagnostics.finding import LOOK, SERIOUS, SEVERITIES, Finding

if TYPE_CHECKING:
    from mercer.cli.output import Voice
    from mercer.cli.result import Fitted

CHECKS: tuple[tuple[str, Callable[[Fitted], Iterable[Finding]]], ...] = (
    ("columns that equal or give away the target", leaks.giving_away),
    ("rows held out that are copies of fitted ones", rows.copies),
    ("equal rows with different targets", rows.contradictions),
    ("dates, of which rows held out by chance know the future", columns.dates),
    ("rows that are ordered, so that rows held out have fitted neighbours", rows.ordered),
    ("labels or numbers that repeat, as those of a subject or a device do", rows.groups),
    ("a score no better than that of a baseline", fit.beaten),
    ("classes that are never found", fit.never_found),
    ("a score that is too good to be true", fit.too_good),
    ("whether the solver converged", fit.converged),
    ("how far landmarks may move predictions", fit.approximated),
    ("the condition number and what rounding may do", fit.rounded),
    ("classes that are rare", fit.rare_classes),
    ("heavy tails of the target", fit.heavy_tails),
    ("a target that is cut off at one end", fit.cut_off),
    ("constant columns", columns.constants),
    ("columns that number the rows", columns.identifiers),
    ("columns that are mostly missing", columns.missing),
    ("columns whose offset is far larger than their spread", columns.offsets),
    ("rows held out that lie outside of the fitted range", columns.outside),
)
"""What each check looks at, and the check."""


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
