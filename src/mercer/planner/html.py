"""A plan as a card for notebooks: what is done and why, what it takes, and the methods not taken."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mercer.compute.runtime.memory import text_of
from mercer.html import Markup, Shown, details, element, table

HEAD = ("", "time", "memory", "gives up", "why not")


class ShownPlan(Shown):
    """What a plan is for a card."""

    def _html_pieces(self: Any) -> Iterable[Markup]:
        from mercer.planner.explain import duration, named, summary  # they explain plans, which need this class first

        yield element("p", element("b", summary(self)))
        if self.reason:
            yield element("p", f"why: {self.reason}")
        plans = ((named(self), self, ""), *((named(other), other, other.reason) for other in self.others))
        rows = [(name, duration(p.seconds), text_of(p.bytes), p.gives_up or "nothing", why) for name, p, why in plans]
        head = HEAD if self.others else HEAD[:4]
        yield table([row[: len(head)] for row in rows], head)
        if self.stages:
            stages = table([(stage.name, duration(stage.seconds)) for stage in self.stages], ("stage", "time"))
            yield details("stages", (stages,))
