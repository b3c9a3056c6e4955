"""The member of backends that computes on a graphics card."""

from __future__ import annotations

from dataclasses import dataclass

from mercer.backends.base import Backend, Evaluator, Traced


@dataclass(frozen=True)
class CUDA(Backend):
    """A graphics card, by PyTorch and Triton.

    device : "cuda:0", ...; "cpu" computes with PyTorch on the cores, for tests
    """

    device: str = "cuda:0"

    @property
    def name(self) -> str:
        return self.device

    def signature(self) -> str:
        return self.device

    def evaluator(self, traced: Traced) -> Evaluator | None:
        return None
