"""What was chosen, and why: the kernel, its proof, and the method of the fit."""

from __future__ import annotations

from mercer.cli.report.case import Case
from mercer.cli.report.page import Section, wide_table
from mercer.compute.runtime.memory import text_of
from mercer.html import WHOLE, code, details, element, items, joined, p, pre, short
from mercer.kernels import Kernel
from mercer.kernels.algebra.on import On
from mercer.kernels.algebra.scaled import Scaled
from mercer.kernels.categories.gapped import Gapped
from mercer.planner.explain import duration, named

MAX_LISTED_COLUMNS = 100
"""Columns that are listed."""
MAX_FORMULA_CHARACTERS = 4_000
"""Characters of a formula."""
MIN_LISTED_SECONDS = 0.1
"""Seconds that are not worth a line."""


def choice(case: Case) -> Section:
    """The kernel with its reasons, the proof, and the plan beside what it took."""
    about = "A kernel says how alike two rows are; the model is a weighted sum of likenesses to fitted rows."
    return Section("choice", "What was chosen, and why", about, joined([*_kernel(case), *_proof(case), *_plan(case)]))


def _kernel(case: Case) -> list[object]:
    look, learner = case.done.look, case.done.judged.model.learner
    parts: list[object] = [element("h3", "The kernel"), pre(short(str(look.kernel), MAX_FORMULA_CHARACTERS), "formula")]
    if str(learner.kernel_) != str(look.kernel):
        found = pre(short(str(learner.kernel_), MAX_FORMULA_CHARACTERS), "formula")
        parts.append(details("The same with the numbers that were found from the rows", [found], most=WHOLE))
    if look.proposal is None:
        return [*parts, p(_told(case))]
    parts += [items(case.done.tried)] if case.done.tried else []
    columns = look.proposal.columns
    rows = [
        [code(c.name), c.taken_for, part_of(learner.kernel_, c.name) or c.part, c.why]
        for c in columns[:MAX_LISTED_COLUMNS]
    ]
    more = [p(f"And {len(columns) - MAX_LISTED_COLUMNS:,} more columns.")] if len(columns) > MAX_LISTED_COLUMNS else []
    return [*parts, wide_table(rows, ["column", "taken for", "part of the fitted kernel", "why"]), *more]


def part_of(kernel: Kernel, name: int | str) -> str:
    """The parts of a fitted kernel that look at a column, with the numbers that were found.

    >>> from mercer.kernels import Gaussian, Hamming
    >>> part_of(Gaussian(2.0).scaled([3.0, 5.0]).on(["a", "b"]) * Hamming(2.0).on(["c"]), "b")
    'gaussian, divided by 5, lengthscale 2'
    """
    if isinstance(kernel, On):
        return _of_column(kernel.kernel, kernel.columns.index(name)) if name in kernel.columns else ""
    found = [part_of(child, name) for child in kernel.children]
    return "; ".join(dict.fromkeys(filter(None, found)))


def _of_column(kernel: Kernel, at: int) -> str:
    if isinstance(kernel, Gapped):
        return f"gapped, divided by {kernel.moments[at][1]:.4g}, lengthscale {kernel.lengthscale:.4g}"
    if isinstance(kernel, Scaled) and isinstance(length := getattr(kernel.kernel, "lengthscale", None), float):
        return f"{kernel.kernel.name}, divided by {kernel.lengthscales[at]:.4g}, lengthscale {length:.4g}"
    return short(str(kernel), 100)


def _told(case: Case) -> str:
    if case.options.kernel is not None:
        return "It was given by --kernel."
    return "Nothing is known of the columns of sparse rows: a Gaussian at the median distance is a good first guess."


def _proof(case: Case) -> list[object]:
    proof = case.done.proof
    means = {
        "proven": "it is positive semi-definite by rules and known facts, so that the fit has one best solution",
        "refuted": "it is no kernel: the fit may have no best solution",
        "unknown": "no rule is known that proves it, and no points were found that refute it",
    }
    colour = {"proven": "good", "refuted": "bad"}.get(proof.status, "soft")
    status = element("b", proof.status, kind=colour)
    steps = items((f"{step}." for step in proof.steps), ordered=True, most=WHOLE)
    shown = details(f"The {len(proof.steps)} steps", [steps], most=WHOLE)
    return [element("h3", "Is it a kernel?"), p(status, f": {means[proof.status]}."), shown]


def _plan(case: Case) -> list[object]:
    learner = case.done.judged.model.learner
    plan = getattr(learner, "plan_", None)
    title = element("h3", "How it was fitted")
    if plan is None:
        return [title, p(f"By {type(learner).__name__}, in {duration(case.done.judged.seconds)}.")]
    rows: list[list[object]] = [["learner", code(type(learner).__name__)], *_settings(learner)]
    rows += [["method", named(plan)]]
    judged = case.done.judged
    rows += [["time of the fit", f"{duration(plan.seconds)} predicted, {duration(judged.seconds)} taken"]]
    rows += [["time for the kernel before", duration(judged.tuned)]] if judged.tuned > MIN_LISTED_SECONDS else []
    rows += [["memory beyond the data", f"{text_of(plan.bytes)} predicted"]]
    rows += [["converged", "yes" if case.done.converged else "no"]]
    reason = plan.reason
    rows += [["why this method", reason]] if reason else []
    return [title, wide_table(rows), details("The plan in full, with the other methods", [pre(plan)], most=WHOLE)]


def _settings(learner: object) -> list[list[object]]:
    """The penalty that was found or given."""
    for name in ("alpha_", "C"):
        value = getattr(learner, name, None)
        if isinstance(value, int | float):
            how = ", chosen by leave-one-out" if getattr(learner, "loo_", None) is not None else ""
            return [["penalty " + name.rstrip("_"), f"{value:.4g}{how}"]]
    return []
