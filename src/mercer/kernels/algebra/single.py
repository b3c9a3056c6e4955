"""What the rules over one kernel share."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any, Self

from mercer.errors import KernelError, message
from mercer.kernels.base import ATOM, Kernel
from mercer.kernels.constant import Constant
from mercer.kernels.domain import Domain
from mercer.kernels.points import Column
from mercer.kernels.proof.judgement import Judgement, Premise, Situation


class Single(Kernel):
    """A node over one kernel, kept in the field `kernel`.

    Cost: that of the kernel inside, in the same pass.
    """

    kernel: Kernel

    def __post_init__(self) -> None:
        if not isinstance(self.kernel, Kernel):
            got = f"got {self.kernel!r}"
            raise KernelError(message("a kernel inside", got, "Give a kernel.", subject=type(self).__name__))
        super().__post_init__()

    @property
    def children(self) -> tuple[Kernel, ...]:
        return (self.kernel,)

    @property
    def domain(self) -> Domain:
        return self.kernel.domain

    @property
    def needed(self) -> frozenset[Column] | None:
        return self.kernel.needed

    @property
    def width(self) -> int | None:
        return self.kernel.width

    @property
    def radial(self) -> bool:
        return self.kernel.radial

    @property
    def divisible(self) -> bool:
        return self.kernel.divisible

    def inner_situation(self, situation: Situation) -> Situation | None:
        """Where the inner kernel must be one; None where that cannot be said."""
        return situation

    @abstractmethod
    def rule(self) -> str:
        """The name and the words of the rule."""

    def judge(self, situation: Situation) -> Judgement:
        inside = self.inner_situation(situation)
        if inside is None:
            return Judgement(f"{self}: its columns do not exist for d = {situation.d}", proven=False)
        inherits = inside == situation  # a kernel of other points has a dimension of its own
        return Judgement(self.rule(), (Premise(self.kernel, inside, inherits),), rule_for=str(self))

    def with_children(self, children: tuple[Kernel, ...]) -> Self:
        return replace(self, kernel=children[0])

    def write_postfix(self, python: bool, method: str, argument: str) -> tuple[str, int]:
        """The text of kernel.method(argument)."""
        inside = self.kernel.write_inside(python, ATOM)
        if isinstance(self.kernel, Constant) and not python:
            inside = f"constant(variance={self.kernel.variance!r})"  # a number takes no dot behind it
        return f"{inside}.{method}({argument})", ATOM


def refuse_kernel(owner: str, needs: str, value: Any) -> None:
    """Refuse a kernel where a function of rows is needed: it can be called, but it is a function of two points."""
    if isinstance(value, Kernel) or (isinstance(value, type) and issubclass(value, Kernel)):
        raise KernelError(message(needs, f"got {value!r}", "Compose kernels with +, * and exp().", subject=owner))
