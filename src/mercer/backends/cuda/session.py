"""A card during one fit or prediction: what it holds for that long, and what computes with it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, ClassVar

import torch
from numpy.typing import NDArray

from mercer.backends.base import Accumulator, Backend, Evaluator, Layout, Traced, Traffic
from mercer.backends.board import Board
from mercer.backends.cpu import CPU
from mercer.backends.cuda.backend import CUDA
from mercer.backends.cuda.board import board_of
from mercer.backends.cuda.eager import Eager
from mercer.backends.cuda.resident import Resident
from mercer.backends.cuda.squares import square_of
from mercer.backends.cuda.sums import DeviceSums
from mercer.backends.cuda.tables import DeviceTable
from mercer.backends.passes import Pass
from mercer.backends.squares import Square
from mercer.backends.tables import Table
from mercer.backends.tensors import BROUGHT
from mercer.compute.codegen.formula import groups
from mercer.compute.codegen.symbols import Untraceable
from mercer.compute.runtime.memory import Budget
from mercer.compute.runtime.run import State


@contextmanager
def opened(card: CUDA) -> Iterator[Session]:
    """A session of a card, which holds nothing when it ends; single precision is that of float32, and not TF32's."""
    resident, precision = Resident(torch.device(card.device), card.budget), torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    try:
        yield Session(card, resident)
    finally:
        torch.set_float32_matmul_precision(precision)
        resident.clear()


@dataclass(frozen=True, eq=False)
class Session(Backend):
    """A card that is open."""

    card: CUDA
    resident: Resident

    holds_squares: ClassVar[bool] = True
    prefers_products: ClassVar[bool] = True
    holds_tables: ClassVar[bool] = True

    def further_units(self, width: int) -> float:
        """Sums over 16 columns at a time are cut off, and not rounded: by half a unit each, of half the sum about.

        Of few columns that is within the usual ones.
        """
        return max(0, width - 32) / 32

    @property
    def name(self) -> str:
        return self.card.name

    @property
    def device(self) -> str:
        """As PyTorch calls it."""
        return self.card.device

    def signature(self) -> str:
        return self.card.signature()

    def budget(self) -> Budget:
        return self.card.budget()

    def rates(self) -> dict[str, float]:
        return self.card.rates()

    def evaluator(self, traced: Traced) -> Evaluator | None:
        if any(group.sparse for group in groups(traced.formula)):
            return CPU().evaluator(traced)
        if self.resident.device.type == "cpu" or find_spec("triton") is None:
            return Eager(traced, self.resident)
        from mercer.backends.cuda.on_card import OnCard  # Triton comes with it

        try:
            return OnCard(traced, self.resident)
        except Untraceable:  # words that generated code does not have
            return Eager(traced, self.resident)

    def accumulate(
        self, work: Pass, width: int, layout: Layout, state: State | None = None, after: Accumulator | None = None
    ) -> Accumulator:
        return DeviceSums(work, width, self.resident, state)

    def table(self, shape: tuple[int, int], dtype: Any) -> NDArray[Any] | Table:
        return DeviceTable.empty(shape, dtype, self.resident)

    def square(self, rows: Evaluator | NDArray[Any], diagonal: NDArray[Any]) -> Square | None:
        return square_of(rows, diagonal, self.resident, self.budget)

    def board(self, rows: Evaluator, diagonal: NDArray[Any]) -> Board | None:
        return board_of(rows, diagonal, self.resident)

    def traffic(self) -> Traffic:
        seen = self.resident.traffic
        return Traffic(seen.rows, seen.wide + BROUGHT.bytes - self.resident.brought_before)
