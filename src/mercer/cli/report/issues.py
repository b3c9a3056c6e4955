"""What may be wrong."""

from __future__ import annotations

from mercer.cli.diagnostics.examine import CHECKS
from mercer.cli.diagnostics.finding import LOOK, NOTE, SERIOUS, Finding
from mercer.cli.report.case import Case
from mercer.cli.report.page import Section
from mercer.html import WHOLE, Markup, details, element, items, joined, p

BADNESS = {SERIOUS: "serious: the scores may not be believed", LOOK: "worth a look", NOTE: "good to know"}


def doubts(case: Case) -> Section:
    """Findings with what to do, the warnings, the certificate, and what was looked at."""
    findings: list[object] = [_shown(finding) for finding in case.findings]
    told = [finding.text for finding in case.findings]
    said = [text for text in case.warnings if not any(text.startswith(each) for each in told)]
    parts = findings or [p(element("b", "Nothing was found", kind="good"), " of what was looked at.")]
    if said:
        parts += [element("h3", "Warnings of the fit"), items(said, most=WHOLE)]
    named = [*(text for text, _ in CHECKS), "warnings that were given while the model was fitted"]
    looked = items(named, most=WHOLE)
    parts += [*_solver(case), details("What was looked at", [looked], most=WHOLE)]
    about = "Each finding says what was seen, how bad that is, and what to do."
    return Section("doubts", "What may be wrong", about, joined(parts))


def _shown(finding: Finding) -> Markup:
    how = element("span", BADNESS[finding.severity], kind="how")
    return element("div", how, p(finding.text), p(finding.remedy), kind=f"finding {finding.severity}")


def _solver(case: Case) -> list[object]:
    """What is known of the error of the solution."""
    learner = case.done.judged.model.learner
    condition = getattr(learner, "condition_", None)
    parts: list[object] = []
    if condition is not None:
        moved = f"rounding may have moved predictions by {learner.rounding_:.0e} of their size"
        parts.append(p(f"The condition number of the system that was solved is {condition:.1e}; {moved}."))
    plan = getattr(learner, "plan_", None)
    if plan is not None and not getattr(plan, "exact", True) and hasattr(type(learner), "certificate_"):
        parts.append(p(f"The kernel was approximated. {learner.certificate_}"))
    gap = getattr(learner, "duality_gap_", None)
    if gap is not None:
        parts.append(p(f"The duality gap, which bounds how far the objective is from its best value, is {gap:.2e}."))
    return [element("h3", "The solution"), *parts] if parts else []
