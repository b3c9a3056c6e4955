"""One step of an argument: a fact about a leaf, or a rule with its premises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mercer.kernels.domain import Domain

if TYPE_CHECKING:
    from mercer.kernels.base import Kernel


@dataclass(frozen=True)
class Fact:
    """A known theorem: on this domain, up to this dimension, the function is positive semi-definite.

    Parameters
    ----------
    domain : Domain
        Where it holds; it then holds on every smaller domain.
    reason : str
        The argument in a sentence, to be read by a student.
    max_dimension : int or None, default=None
        The largest d for which it holds, None for every d.

    Examples
    --------
    >>> from mercer.kernels import REALS, Fact, Gaussian
    >>> [fact.domain == REALS for fact in Gaussian().facts()], Fact(REALS, "it is an inner product").max_dimension
    ([True], None)
    """

    domain: Domain
    reason: str
    max_dimension: int | None = None


@dataclass(frozen=True)
class Situation:
    """Where a kernel is asked to be one.

    domain : the set of points
    d : the number of columns; None for "as many as possible"
    every : whether it must hold for every number of columns, since the number is not known
    """

    domain: Domain
    d: int | None = None
    every: bool = False

    def allows(self, max_dimension: int | None) -> bool:
        """Whether a truth up to this dimension is enough."""
        if max_dimension is None:
            return True
        return not self.every and (self.d is None or self.d <= max_dimension)


@dataclass(frozen=True)
class Premise:
    """What a rule needs: that another kernel is one, in a situation of its own.

    inherits : whether that kernel's largest dimension also limits the whole
    """

    kernel: Kernel
    situation: Situation
    inherits: bool = True


@dataclass(frozen=True)
class Judgement:
    """What a node says of itself: a reason, and the premises on which it rests.

    reason : a whole sentence for a fact; for a rule, what makes `rule_for` a kernel once the premises hold
    rule_for : the text of the kernel to which a rule applies
    proven : False where neither a fact nor a rule applies, whatever the premises
    """

    reason: str
    premises: tuple[Premise, ...] = ()
    rule_for: str = ""
    proven: bool = True
    max_dimension: int | None = None


def judge_by_facts(kernel: Kernel, situation: Situation) -> Judgement:
    """The strongest fact that covers the situation, or the objection to it."""
    facts = [
        fact for fact in kernel.facts() if situation.domain.within(fact.domain) and situation.allows(fact.max_dimension)
    ]
    if not facts:
        return Judgement(_why_not(kernel, situation), proven=False)
    best = max(facts, key=lambda fact: float("inf") if fact.max_dimension is None else fact.max_dimension)
    return Judgement(f"{kernel} is a kernel {_where(best)}: {best.reason}", max_dimension=best.max_dimension)


def _where(fact: Fact) -> str:
    if not fact.domain.columns:
        return f"on {fact.domain}"
    if fact.max_dimension is None:
        return f"on {fact.domain}, for every d"
    return f"on {fact.domain}, for d <= {fact.max_dimension}"


def _why_not(kernel: Kernel, situation: Situation) -> str:
    columns = "" if situation.d is None else f" with d = {situation.d}"
    known = "; ".join(_where(fact) for fact in kernel.facts())
    granted = f" (it is one {known})" if known else ""
    objection = kernel.objection()
    tail = f": {objection}" if objection else ""
    return f"{kernel}: no known fact makes it a kernel on {situation.domain}{columns}{granted}{tail}"
