"""What sums and products share: several kernels, side by side."""

from __future__ import annotations

from abc import abstractmethod
from functools import reduce
from typing import Any, Self

from mercer.errors import KernelError, message
from mercer.kernels.base import Kernel
from mercer.kernels.domain import Domain, meet
from mercer.kernels.points import Column
from mercer.kernels.proof.judgement import Judgement, Premise, Situation


class Several(Kernel):
    """A node over two or more kernels; a node of the same kind inside it is flattened, no other is.

    Cost: that of the parts, in one pass.
    """

    parts: tuple[Kernel, ...]

    def __post_init__(self) -> None:
        flat: list[Kernel] = []
        for part in self.parts:
            if not isinstance(part, Kernel):
                raise KernelError(
                    message("kernels as parts", f"got {part!r}", "Give kernels.", subject=type(self).__name__)
                )
            flat.extend(part.parts if isinstance(part, type(self)) else (part,))
        if len(flat) < 2:
            got = f"got {len(flat)}"
            raise KernelError(
                message("two or more kernels", got, "Use the kernel itself.", subject=type(self).__name__)
            )
        object.__setattr__(self, "parts", tuple(flat))
        super().__post_init__()

    @property
    def children(self) -> tuple[Kernel, ...]:
        return self.parts

    @property
    def domain(self) -> Domain:
        return reduce(meet, (part.domain for part in self.parts))

    @property
    def needed(self) -> frozenset[Column] | None:
        looked = [part.needed for part in self.parts]
        return None if None in looked else frozenset().union(*(columns for columns in looked if columns))

    @property
    def width(self) -> int | None:
        return next((part.width for part in self.parts if part.width is not None), None)

    @property
    def radial(self) -> bool:
        return all(part.radial for part in self.parts)

    @abstractmethod
    def rule(self) -> str:
        """The name and the words of the rule."""

    def judge(self, situation: Situation) -> Judgement:
        premises = tuple(Premise(part, situation) for part in self.parts)
        return Judgement(self.rule(), premises, rule_for=str(self))

    def with_children(self, children: tuple[Kernel, ...]) -> Self:
        return type(self)(children)

    def parameters(self) -> dict[str, Any]:
        return {f"k{i}": part for i, part in enumerate(self.parts, start=1)}

    def with_parameters(self, changes: dict[str, Any]) -> Self:
        return type(self)(tuple((self.parameters() | changes).values()))
