"""A task: what is to be fitted, the methods that could do it with what each costs, and which is preferred."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Generic

from mercer.compute.runtime.memory import text_of
from mercer.planner.limits import INSTANT, Limits, first_within
from mercer.planner.plan import AnyDetails, Plan

MANY_PAIRS = 1e8
"""Pairs of rows above which the rates of this machine count, and not those of a rough one."""


@dataclass(frozen=True)
class Refusal:
    """Why nothing fits: the bytes that the smallest method needs, what for, and what to do."""

    needed: int
    purpose: str
    remedy: str


class Task(ABC, Generic[AnyDetails]):
    """What is to be fitted; a member is a frozen dataclass of what is known of it.

    A family of learners lists its methods in `candidates`, the preferred one first, and says in `refusal` what to do
    where none fits the memory. The rest has answers here, which a member may replace.
    """

    rows: int

    @abstractmethod
    def candidates(self, limits: Limits) -> Iterable[Plan[AnyDetails]]:
        """A plan for each method that the task allows, the preferred one first."""

    @abstractmethod
    def refusal(self, plans: Sequence[Plan[AnyDetails]], limits: Limits) -> Refusal:
        """What would be needed, where no plan fits the memory."""

    def closed(self) -> tuple[str, str, str]:
        """What is needed, what was given and what to do, where there are no candidates."""
        return "a method that can fit this", "none is open", "Use other settings."

    # -- the choice -----------------------------------------------------------------------------------------------

    def patience(self, limits: Limits) -> float:
        """Seconds up to which a method is taken because it is preferred."""
        return limits.patience

    def best(self, plans: Iterable[Plan[AnyDetails]], limits: Limits) -> Plan[AnyDetails] | None:
        """The plan to take, of the candidates: the first within memory and time, else the quickest that fits.

        The smallest where none fits the memory; None where there are no candidates. What comes after the one to take
        need not be costed.
        """
        return next(first_within(plans, limits, self.patience(limits)), None)

    def at_once(self, limits: Limits) -> Plan[AnyDetails] | None:
        """What `best` would take, where that is known without the cost of all candidates; None where it is not."""
        return None

    def is_long(self, limits: Limits) -> bool:
        """Whether the rates of this machine may change the choice, by rough ones."""
        return float(self.rows) ** 2 > MANY_PAIRS

    def started(self, plan: Plan[AnyDetails], limits: Limits) -> Plan[AnyDetails]:
        """With what a fit takes beside the work of its method, which is no reason to prefer one."""
        return plan

    # -- in words -------------------------------------------------------------------------------------------------

    def order(self, plan: Plan[AnyDetails]) -> tuple[float, ...]:
        """What the methods that were not chosen are sorted by."""
        return (max(plan.seconds, INSTANT),)

    def why(self, best: Plan[AnyDetails], plans: Sequence[Plan[AnyDetails]], limits: Limits) -> str:
        """Why this plan: where it stands among the candidates, and what before it could not be taken."""
        if len(plans) == 1:
            return "No other method is open."
        if best is plans[0]:
            return "It comes first, and fits memory and time." if self._keeps(best, limits) else self._least(limits)
        if not self._keeps(best, limits):
            return self._least(limits)
        before = plans[: plans.index(best)]
        slow = [plan for plan in before if plan.bytes <= limits.bytes]
        return "What comes first takes too long." if slow else "What comes first does not fit the memory."

    def why_not(self, plan: Plan[AnyDetails], best: Plan[AnyDetails], limits: Limits) -> str:
        """Why another plan was not taken: memory, time, or that another one is preferred."""
        if plan.bytes > limits.bytes:
            return f"does not fit the memory, {text_of(limits.bytes)}"
        if plan.seconds > self.patience(limits):
            return f"too slow, for {self.aim(limits)}"
        if best.exact and not plan.exact:
            return "approximates the kernel"
        return "slower" if plan.seconds > max(best.seconds, INSTANT) else f"comes after {best.method}"

    def aim(self, limits: Limits) -> str:
        """The time to keep to, in words."""
        return f"{'an aim' if limits.seconds is None else 'a limit'} of {self.patience(limits):g} s"

    def _keeps(self, plan: Plan[AnyDetails], limits: Limits) -> bool:
        return plan.seconds <= self.patience(limits)

    def _least(self, limits: Limits) -> str:
        return f"Nothing that fits the memory meets {self.aim(limits)}."
