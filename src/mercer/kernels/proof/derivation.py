"""From a tree to numbered steps: children first, each rule citing the steps on which it rests."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mercer.kernels.proof.judgement import Judgement, Situation

if TYPE_CHECKING:
    from mercer.kernels.base import Kernel


@dataclass(frozen=True)
class Verdict:
    """What the rules and facts give for one node."""

    step: int
    proven: bool
    max_dimension: int | None


@dataclass
class Derivation:
    """A list of steps that grows from the leaves to the root; equal questions are answered once."""

    steps: list[str] = field(default_factory=list)
    _known: dict[tuple[Kernel, Situation], Verdict] = field(default_factory=dict)

    def conclude(self, kernel: Kernel, situation: Situation) -> Verdict:
        """The verdict on a kernel, with its steps written down."""
        key = (kernel, situation)
        if key not in self._known:
            self._known[key] = self._derive(kernel, situation)
        return self._known[key]

    def _derive(self, kernel: Kernel, situation: Situation) -> Verdict:
        judgement = kernel.judge(situation)
        verdicts = [self.conclude(premise.kernel, premise.situation) for premise in judgement.premises]
        limits = [judgement.max_dimension] + [
            verdict.max_dimension
            for premise, verdict in zip(judgement.premises, verdicts, strict=True)
            if premise.inherits
        ]
        bounded = [limit for limit in limits if limit is not None]
        proven = judgement.proven and all(verdict.proven for verdict in verdicts)
        self.steps.append(_sentence(judgement, verdicts, proven))
        return Verdict(len(self.steps), proven, min(bounded) if bounded else None)


def _sentence(judgement: Judgement, verdicts: list[Verdict], proven: bool) -> str:
    """A fact as it stands; a rule with the steps on which it rests, or those that it lacks."""
    if not judgement.rule_for:
        return judgement.reason
    if proven:
        return f"{judgement.rule_for} is a kernel: {judgement.reason} [by {_cited(verdicts)}]"
    missing = _cited([verdict for verdict in verdicts if not verdict.proven])
    return f"{judgement.rule_for} would be a kernel: {judgement.reason}; but its premises are not shown ({missing})"


def _cited(verdicts: list[Verdict]) -> str:
    steps = sorted({verdict.step for verdict in verdicts})
    if len(steps) == 1:
        return f"step {steps[0]}"
    return "steps " + (" and ".join(map(str, steps)) if len(steps) == 2 else ", ".join(map(str, steps)))
