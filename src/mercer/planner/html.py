"""A plan as a card for notebooks: what is done and why, what it takes, and the ways not taken."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from mercer.compute.runtime.memory import text_of
from mercer.html import Markup, Shown, details, element, table

TAKES = ("", "time", "memory", "gives up", "why not")


class ShownPlan(Shown):
    """What plans of all kinds are for a card: `seconds`, `bytes` and `stages`, and a `reason` and `others` of some."""

    def _html_pieces(self) -> Iterable[Markup]:
        yield element("p", element("b", str(self).partition("\n")[0]))
        if reason := getattr(self, "reason", ""):
            yield element("p", f"why: {reason}")
        yield _ways(self, getattr(self, "others", ()))
        stages = getattr(self, "stages", ())
        if stages:
            yield details("stages", (_stages(stages),))


def _ways(plan: Any, others: Sequence[Any]) -> Markup:
    """The way that is taken, and below it the others."""
    chosen = [("taken", *_takes(plan), getattr(plan, "gives_up", "") or _given_up(plan), "")]
    rows = chosen + [(_named(other), *_takes(other), other.gives_up or "nothing", other.reason) for other in others]
    head = TAKES if others else TAKES[:4]
    return table([row[: len(head)] for row in rows], head)


def _named(plan: Any) -> str:
    from mercer.planner.explain import named  # it explains plans, which need this class first

    return named(plan)


def _takes(plan: Any) -> tuple[str, str]:
    from mercer.planner.explain import duration  # it explains plans, which need this class first

    return duration(plan.seconds), text_of(plan.bytes)


def _given_up(plan: Any) -> str:
    return "nothing" if getattr(plan, "exact", True) else "the kernel is approximated"


def _stages(stages: Sequence[Any]) -> Markup:
    from mercer.planner.explain import duration  # it explains plans, which need this class first

    return table([(stage.name, duration(stage.seconds)) for stage in stages], ("stage", "time"))
