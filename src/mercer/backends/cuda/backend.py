"""The member of backends that computes on a graphics card."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from typing import Any, ClassVar

import torch
from numpy.typing import NDArray

from mercer.backends.base import Accumulator, Backend, Evaluator, Layout, Traced, Traffic
from mercer.backends.board import Board
from mercer.backends.cpu import CPU
from mercer.backends.cuda.board import board_of
from mercer.backends.cuda.eager import Eager
from mercer.backends.cuda.resident import Resident
from mercer.backends.cuda.squares import square_of
from mercer.backends.cuda.sums import DeviceSums
from mercer.backends.cuda.tables import DeviceTable
from mercer.backends.passes import Pass
from mercer.backends.squares import Square
from mercer.backends.tables import Table
from mercer.compute.codegen.formula import groups
from mercer.compute.runtime.memory import Budget
from mercer.compute.runtime.run import State

CORES = CPU()

FREE_SHARE = 0.9
"""Of the free memory of a card that a fit may hold."""


@dataclass(frozen=True)
class CUDA(Backend):
    """A graphics card, by PyTorch and Triton.

    Rows go to the card once a fit; sparse rows, and code that symbols cannot follow, are computed on the cores.

    Parameters
    ----------
    device : str, default="cuda:0"
        As PyTorch calls it. "cpu" computes with PyTorch on the cores: for tests.
    memory_limit : int, str or None, default=None
        Bytes of the card's memory, or a text such as "40 GB", that a fit may hold; None for 90 % of what is free.

    Examples
    --------
    >>> from mercer.backends import CUDA
    >>> CUDA("cpu").name
    'cpu by PyTorch'
    """

    device: str = "cuda:0"
    memory_limit: int | str | None = None
    resident: Resident | None = field(default=None, repr=False, compare=False)

    holds_squares: ClassVar[bool] = True
    prefers_products: ClassVar[bool] = True
    holds_tables: ClassVar[bool] = True

    @property
    def name(self) -> str:
        return "cpu by PyTorch" if self.device == "cpu" else self.device

    def signature(self) -> str:
        device = torch.device(self.device)
        card = torch.cuda.get_device_name(device) if device.type == "cuda" else "cores"
        return f"{card}, torch {torch.__version__}"

    def budget(self) -> Budget:
        """What is given as its limit, else most of what the card has free."""
        if self.memory_limit is not None:
            return Budget.of(self.memory_limit)
        device = torch.device(self.device)
        if device.type != "cuda":
            return Budget.of(None)
        kept = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)  # by PyTorch, for nobody
        return Budget(int(FREE_SHARE * (torch.cuda.mem_get_info(device)[0] + kept)))

    def rates(self) -> dict[str, float]:
        if self.device == "cpu":
            return {}
        from mercer.backends.cuda.measuring import rates  # once on a machine

        return rates(torch.device(self.device))

    @contextmanager
    def opened(self) -> Iterator[CUDA]:
        """With memory on the card for one fit or prediction."""
        if self.resident is not None:
            yield self
            return
        resident = Resident(torch.device(self.device), self.budget)
        precision = torch.get_float32_matmul_precision()
        torch.set_float32_matmul_precision("highest")  # TF32 keeps three digits
        try:
            yield replace(self, resident=resident)
        finally:
            torch.set_float32_matmul_precision(precision)
            resident.clear()

    def evaluator(self, traced: Traced) -> Evaluator | None:
        if self.resident is None or any(group.sparse for group in groups(traced.formula)):
            return CORES.evaluator(traced)
        if self.device == "cpu" or find_spec("triton") is None:
            return Eager(traced, self.resident)
        from mercer.backends.cuda.on_card import OnCard  # Triton comes with it

        return OnCard(traced, self.resident)

    def accumulate(
        self, work: Pass, width: int, layout: Layout, state: State | None = None, after: Accumulator | None = None
    ) -> Accumulator:
        if self.resident is None:
            return CORES.accumulate(work, width, layout, state, after)
        return DeviceSums(work, width, self.resident, state)

    def table(self, shape: tuple[int, int], dtype: Any) -> NDArray[Any] | Table:
        return CORES.table(shape, dtype) if self.resident is None else DeviceTable.empty(shape, dtype, self.resident)

    def traffic(self) -> Traffic:
        if self.resident is None:
            return Traffic()
        seen = self.resident.traffic
        return Traffic(seen.rows, seen.wide)

    def square(self, rows: Evaluator | NDArray[Any], diagonal: NDArray[Any]) -> Square | None:
        return None if self.resident is None else square_of(rows, diagonal, self.resident, self.budget)

    def board(self, rows: Evaluator, diagonal: NDArray[Any]) -> Board | None:
        return None if self.resident is None else board_of(rows, diagonal, self.resident)
