"""The first section: what was predicted from what, and how well."""

from __future__ import annotations

from mercer.cli.diagnostics.finding import SERIOUS
from mercer.cli.diagnostics.fit import beats, headline
from mercer.cli.metrics import Score
from mercer.cli.report.case import Case
from mercer.cli.report.numbers import number
from mercer.cli.report.page import Section
from mercer.html import Markup, code, element, joined, p

BASELINES = {
    "linear": "a linear model of the same columns",
    "mean": "always saying the mean",
    "largest class": "always saying the largest class",
}
VERDICTS = {
    "clearly": "clearly better than",
    "perhaps": "better, but not by more than chance may do, than",
    "not": "no better than",
}
"""What a comparison row by row says."""


def summary(case: Case) -> Section:
    """What was predicted from what, the score beside those of baselines, and whether it is better."""
    parts = [p(*_task(case))]
    scores = headline(case.done)
    if scores:
        parts += [_cards(scores), p(_verdict(case, scores["mercer"].metric)), p(_held(case))]
    else:
        parts.append(p("No rows were held out, so that nothing is known of new ones."))
    serious = [finding for finding in case.findings if finding.severity == SERIOUS]
    if serious:
        link = element("a", "what may be wrong", href="#doubts")
        parts.append(element("p", f"Read before you trust this: {serious[0].text} See ", link, ".", kind="bad"))
    return Section("summary", "Summary", "", joined(parts))


def _task(case: Case) -> list[object]:
    done = case.done
    width = len(done.look.columns) or done.sheet.width - 1
    what = "The class" if case.classes else "The number"
    kind = f" ({len(done.judged.model.learner.classes_)} classes)" if case.classes else ""
    columns = f"{width:,} column{'s' * (width != 1)}"
    fitted = f" from {columns} of {done.sheet.name}, by {type(done.model.learner).__name__}"
    return [f"{what} ", code(done.target.name), f"{kind} was predicted{fitted}, fitted to {len(done.parts.y):,} rows."]


def _cards(scores: dict[str, Score]) -> Markup:
    return element("div", *(_card(name, score) for name, score in scores.items()), kind="headline")


def _card(name: str, score: Score) -> Markup:
    interval = f"{number(score.low)} to {number(score.high)}"
    return element(
        "div",
        element("span", f"{name}: {score.metric}"),
        element("b", number(score.value)),
        element("span", f"95 % interval {interval}"),
        kind="card",
    )


def _verdict(case: Case, metric: str) -> Markup:
    """Whether it is better, row by row, in words."""
    words = [f"{VERDICTS[beats(case.done, name)]} {BASELINES[name]}" for name in case.done.judged.others]
    better = "Lower is better. " if metric == "rmse" else "Higher is better. "
    return element("span", better, element("strong", f"The model is {', and '.join(words)}."))


def _held(case: Case) -> str:
    text = f"Scores are of {case.done.held:,} rows that were drawn by chance and held out of the fit."
    if case.options.refit:
        text += " The saved model was then fitted to all rows."
    return text
