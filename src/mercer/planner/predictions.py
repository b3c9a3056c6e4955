"""Where predictions are computed: on the cores, or on a card where that is clearly faster.

The answer is the same in every process of a machine: it asks the rates that are kept, and not what has been loaded.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from mercer.backends.base import Backend
from mercer.backends.choosing import found_card, may_have_card
from mercer.backends.context import use
from mercer.planner.machine import ROUGH, Machine
from mercer.planner.placement import CLEARLY, MIN_SECONDS, START_SECONDS

SENT = 5e9
"""Bytes a second that go to a card from memory that is not pinned, about."""
TABLES, EXTRA = 4, 16
"""What a card holds of rows: so many tables of float64, with some columns more."""


@dataclass(frozen=True)
class Comparisons:
    """New rows, each compared with all rows of a model.

    rows, others : how many
    columns : of both
    single : whether new rows are in float32
    """

    rows: int
    others: int
    columns: int
    single: bool

    def seconds(self, machine: Machine) -> float:
        """On a machine, or on a card that has the rows."""
        return machine.pairs(float(self.rows) * self.others, self.columns, self.single)

    @property
    def bytes(self) -> int:
        """Of a card's memory."""
        return 8 * TABLES * (self.rows + self.others) * (self.columns + EXTRA)

    @property
    def sending(self) -> float:
        """Seconds until all rows are on a card."""
        return 8 * (self.rows + self.others) * self.columns / SENT


def quickest(work: Comparisons, fitted_there: bool) -> AbstractContextManager[object]:
    """Inside, the cores compute, or a card where that is clearly faster.

    fitted_there : whether the model was fitted on a card, so that who has one is expected to have loaded PyTorch
    """
    card = _faster_card(work, fitted_there)
    return nullcontext() if card is None else use(card)


def _faster_card(work: Comparisons, fitted_there: bool) -> Backend | None:
    """The first card, where it wins; PyTorch is loaded only where it could."""
    if work.seconds(ROUGH) < MIN_SECONDS or not may_have_card():
        return None
    start = 0.0 if fitted_there else START_SECONDS
    here, sending = work.seconds(Machine.here()), work.sending
    if here < max(MIN_SECONDS, CLEARLY * (start + sending)):
        return None
    card = found_card()
    if card is None or not card.budget().allows(work.bytes):
        return None
    return card if here > CLEARLY * (start + sending + work.seconds(Machine.of(card))) else None
