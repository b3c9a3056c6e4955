"""A task: what is to be fitted, the methods that could do it with what each costs, and which is preferred."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Generic

from mercer.compute.runtime.memory import text_of
from mercer.planner.explain import duration
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

    Examples
    --------
    >>> from mercer.planner import PCATask
    >>> from mercer.planner.limits import Limits
    >>> [plan.method for plan in PCATask(500, 5, components=3).candidates(Limits())]
    ['exact', 'krylov', 'landmarks']
    """

    rows: int

    @abstractmethod
    def candidates(self, limits: Limits) -> Iterable[Plan[AnyDetails]]:
        """A plan for each method that the task allows, the preferred one first.

        Parameters
        ----------
        limits : Limits
            Memory and time.

        Returns
        -------
        iterable of Plan
        """

    @abstractmethod
    def refusal(self, plans: Sequence[Plan[AnyDetails]], limits: Limits) -> Refusal:
        """What would be needed, where no plan fits the memory.

        Parameters
        ----------
        plans : sequence of Plan
            The candidates.
        limits : Limits
            Memory and time.

        Returns
        -------
        Refusal
        """

    def closed(self) -> tuple[str, str, str]:
        """What is needed, what was given and what to do, where there are no candidates.

        Returns
        -------
        (str, str, str)
        """
        return "a method that can fit this", "none is open", "Use other settings."

    # -- the choice -----------------------------------------------------------------------------------------------

    def patience(self, limits: Limits) -> float:
        """Seconds up to which a method is taken because it is preferred.

        Parameters
        ----------
        limits : Limits
            Memory and time.

        Returns
        -------
        float
        """
        return limits.patience

    def best(self, plans: Iterable[Plan[AnyDetails]], limits: Limits) -> Plan[AnyDetails] | None:
        """The chosen plan: the first candidate within memory and time, else the quickest that fits.

        The smallest where none fits the memory; None where there are no candidates. Candidates after the chosen one
        need not be costed.

        Parameters
        ----------
        plans : iterable of Plan
            The candidates.
        limits : Limits
            Memory and time.

        Returns
        -------
        Plan or None
        """
        return next(first_within(plans, limits, self.patience(limits)), None)

    def at_once(self, limits: Limits) -> Plan[AnyDetails] | None:
        """What `best` would take, where that is known without the cost of all candidates; None where it is not.

        Parameters
        ----------
        limits : Limits
            Memory and time.

        Returns
        -------
        Plan or None
        """
        return None

    def is_long(self, limits: Limits) -> bool:
        """Whether the rates of this machine may change the choice, by rough ones.

        Parameters
        ----------
        limits : Limits
            Memory and time.

        Returns
        -------
        bool
        """
        return float(self.rows) ** 2 > MANY_PAIRS

    def started(self, plan: Plan[AnyDetails], limits: Limits) -> Plan[AnyDetails]:
        """The plan with the costs of a fit beside its method, which are no reason to prefer one.

        Parameters
        ----------
        plan : Plan
            The plan.
        limits : Limits
            Memory and time.

        Returns
        -------
        Plan
        """
        return plan

    # -- in words -------------------------------------------------------------------------------------------------

    def order(self, plan: Plan[AnyDetails]) -> tuple[float, ...]:
        """The key by which the other methods are sorted.

        Parameters
        ----------
        plan : Plan
            The plan.

        Returns
        -------
        tuple of float
        """
        return (max(plan.seconds, INSTANT),)

    def why(self, best: Plan[AnyDetails], plans: Sequence[Plan[AnyDetails]], limits: Limits) -> str:
        """The reason of the choice.

        Parameters
        ----------
        best : Plan
            The chosen plan.
        plans : sequence of Plan
            The candidates.
        limits : Limits
            Memory and time.

        Returns
        -------
        str
        """
        if best.seconds > self.patience(limits):
            return f"Nothing that fits the memory meets {self.aim(limits)}."
        before = [plan for plan in plans[: plans.index(best)] if plan.exact]
        if not before:
            return "It is exact, within memory and time." if best.exact else "It was requested."
        fitting = [plan.seconds for plan in before if plan.bytes <= limits.bytes]
        names = " and ".join(plan.method for plan in before)
        if not fitting:
            return f"What is preferred, {names}, does not fit the memory."
        return f"What is preferred, {names}, takes {duration(min(fitting))} within memory."

    def why_not(self, plan: Plan[AnyDetails], best: Plan[AnyDetails], limits: Limits) -> str:
        """The reason why another plan was not chosen.

        Parameters
        ----------
        plan : Plan
            The other plan.
        best : Plan
            The chosen plan.
        limits : Limits
            Memory and time.

        Returns
        -------
        str
        """
        if plan.bytes > limits.bytes:
            return f"does not fit the memory, {text_of(limits.bytes)}"
        if plan.seconds > self.patience(limits):
            return f"too slow, for {self.aim(limits)}"
        if best.exact and not plan.exact:
            return "approximates the kernel"
        return "slower" if plan.seconds > max(best.seconds, INSTANT) else f"{best.method} is preferred"

    def aim(self, limits: Limits) -> str:
        """The time to keep to, in words.

        Parameters
        ----------
        limits : Limits
            Memory and time.

        Returns
        -------
        str
        """
        return f"{'an aim' if limits.seconds is None else 'a limit'} of {self.patience(limits):g} s"
