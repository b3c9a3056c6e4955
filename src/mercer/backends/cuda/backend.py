"""The member of backends that computes on a graphics card."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
from numpy.typing import NDArray

from mercer.backends.base import Backend, Evaluator, Traced
from mercer.backends.cpu import CPU
from mercer.backends.cuda.eager import Eager
from mercer.backends.cuda.resident import Resident
from mercer.backends.cuda.squares import square_of
from mercer.backends.squares import Square
from mercer.compute.codegen.formula import groups


@dataclass(frozen=True)
class CUDA(Backend):
    """A graphics card, by PyTorch and Triton.

    Rows go to the card once a fit; sparse rows, and code that symbols cannot follow, are computed on the cores.

    Parameters
    ----------
    device : str, default="cuda:0"
        As PyTorch calls it. "cpu" computes with PyTorch on the cores: for tests.

    Examples
    --------
    >>> from mercer.backends import CUDA
    >>> CUDA("cpu").name
    'cpu by PyTorch'
    """

    device: str = "cuda:0"
    resident: Resident | None = None

    holds_squares: ClassVar[bool] = True

    @property
    def name(self) -> str:
        return "cpu by PyTorch" if self.device == "cpu" else self.device

    def signature(self) -> str:
        device = torch.device(self.device)
        card = torch.cuda.get_device_name(device) if device.type == "cuda" else "cores"
        return f"{card}, torch {torch.__version__}"

    @contextmanager
    def opened(self) -> Iterator[CUDA]:
        """With memory on the card for one fit or prediction."""
        if self.resident is not None:
            yield self
            return
        resident = Resident(torch.device(self.device))
        try:
            yield replace(self, resident=resident)
        finally:
            resident.clear()

    def evaluator(self, traced: Traced) -> Evaluator | None:
        if self.resident is None or any(group.sparse for group in groups(traced.formula)):
            return CPU().evaluator(traced)
        return Eager(traced, self.resident)

    def square(self, rows: Evaluator | NDArray[Any], diagonal: NDArray[Any]) -> Square | None:
        return None if self.resident is None else square_of(rows, diagonal, self.resident)
