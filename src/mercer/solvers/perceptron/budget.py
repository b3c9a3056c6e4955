"""A perceptron on a budget: at most so many rows are remembered, whatever comes.

**Forgetron** (Dekel, Shalev-Shwartz and Singer): where a mistake exceeds the budget all coefficients shrink by the
largest factor phi that keeps the harm of forgetting, sum Psi, within 15/32 of the mistakes, and the oldest row is
forgotten. With the kernel in units of the largest k(x, x), the coefficients v of the oldest row r, and f after the
mistake,

    Psi(phi) = phi^2 |v|^2 k(r, r) + 2 phi (|v| - phi v.f(r)).

**Projectron** (Orabona, Keshet and Caputo): a mistake whose image is near the span of the remembered ones, by less than
`MAX_PROJECTION_DISTANCE` of its length, is projected onto them, and no row
is added; where the budget is full, every mistake is.

Cost of a mistake: as many operations as the budget has rows, times a block; the Projectron takes the square of the
budget, too. Memory: the square of the rows that are remembered, and a block of rows.

References
----------
Dekel, Shalev-Shwartz, Singer, The Forgetron: a kernel-based perceptron on a budget, SIAM J. Comput. 37 (2008).
Orabona, Keshet, Caputo, Bounded kernel-based online learning, JMLR 10 (2009).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mercer.compute.consistency import shapes
from mercer.compute.runtime.run import IDLE, Run
from mercer.operators import Operator
from mercer.solvers.perceptron.perceptron import BLOCK_ROWS, SEARCH_ROWS, MistakeLog, Mistakes, Rows, margins, rivals

Array = NDArray[np.float64]
MAX_MISTAKE_SHARE = 15.0 / 32.0
"""The part of the mistakes that all forgetting together may cost."""
FIRST_SLOTS = 64
"""Slots that a memory begins with."""
SLOT_GROWTH = 1.5
"""How many times more slots it has when these are full, up to the budget."""
MAX_PROJECTION_DISTANCE = 0.1
"""The distance to the span of the remembered rows, in units of the length, up to which a mistake is projected."""


class Memory(ABC):
    """The rows that are remembered, one per slot, and their coefficients.

    budget : how many rows are remembered, at most
    coefficients : (slots, outputs); zero where a slot is free
    inner : (slots, slots), the kernel between remembered rows
    used : how many slots are taken, the first ones
    """

    def __init__(self, budget: int, outputs: int) -> None:
        slots = min(budget, FIRST_SLOTS)
        self.budget = budget
        self.coefficients = np.zeros((slots, outputs))
        self.inner = np.zeros((slots, slots))
        self.used = 0

    _saved: ClassVar[Mapping[str, Any]] = {"budget": int, "coefficients": Array, "inner": Array, "used": int}

    @classmethod
    def _restored(cls, fields: Mapping[str, Any]) -> Memory:
        """What was saved: it is filled as it learns."""
        found = cls(0, 1)
        found.__dict__.update(fields)
        return found

    def _inconsistency(self) -> str:
        slots = self.coefficients.shape[0] if self.coefficients.ndim else 0
        if not 0 <= self.used <= slots <= self.budget:
            return f"{self.used} of {slots} slots are taken"
        return shapes((self.coefficients, (slots, None)), (self.inner, (slots, slots)))

    @property
    def full(self) -> bool:
        """Whether no slot is free."""
        return self.used == self.budget

    def _grow(self) -> None:
        """More slots, where all are taken and the budget allows more."""
        old, slots = len(self.coefficients), slots_for(self.used + 1, self.budget)
        if self.used == old < slots:
            self.coefficients = np.pad(self.coefficients, [(0, slots - old), (0, 0)])
            self.inner = np.pad(self.inner, (0, slots - old))

    @abstractmethod
    def take(self, values: Array, own: float, update: Array) -> int | None:
        """Learn a mistake; the slot of its row, or None where it is not remembered.

        values : (used,), the kernel between the row and the remembered ones
        own : k(x, x), positive
        update : (outputs,), the coefficients that a mistake gives its row
        """

    def _put(self, slot: int, values: Array, own: float, update: Array) -> int:
        """A row into a slot, new or old."""
        self._grow()
        self.used = max(self.used, slot + 1)
        self.inner[slot, : len(values)] = self.inner[: len(values), slot] = values
        self.inner[slot, slot] = own
        self.coefficients[slot] = update
        return slot


class Forgetron(Memory):
    """The oldest row is forgotten, after all have shrunk."""

    def __init__(self, budget: int, outputs: int) -> None:
        super().__init__(budget, outputs)
        self.oldest, self.harm, self.mistakes, self.largest = 0, 0.0, 0, 0.0

    _saved: ClassVar[Mapping[str, Any]] = {"oldest": int, "harm": float, "mistakes": int, "largest": float}

    def _inconsistency(self) -> str:
        wrong = super()._inconsistency()
        if wrong or 0 <= self.oldest < max(len(self.coefficients), 1):
            return wrong
        return f"the oldest row is in slot {self.oldest} of {len(self.coefficients)}"

    def take(self, values: Array, own: float, update: Array) -> int | None:
        self.mistakes += 1
        self.largest = max(self.largest, own)
        if not self.full:
            return self._put(self.used, values, own, update)
        r = self.oldest
        v = self.coefficients[r].copy()
        score = (self.inner[r] @ self.coefficients + values[r] * update) / self.largest  # with the mistake learned
        squares, lean = (
            float(v @ v) * self.inner[r, r] / self.largest - 2 * float(v @ score),
            2 * float(np.linalg.norm(v)),
        )
        phi = shrinking(squares, lean, MAX_MISTAKE_SHARE * self.mistakes - self.harm)
        self.harm += squares * phi**2 + lean * phi
        self.coefficients *= phi
        self.oldest = (r + 1) % self.budget
        return self._put(r, values, own, phi * update)


def shrinking(squares: float, lean: float, allowed: float) -> float:
    """The largest phi of at most 1 with squares phi^2 + lean phi <= allowed; lean and allowed are not negative."""
    if squares + lean <= allowed:
        return 1.0
    if allowed <= 0.0:
        return 0.0
    root = math.sqrt(max(0.0, lean**2 + 4 * squares * allowed))
    return min(1.0, 2 * allowed / (lean + root))  # the root of a quadratic, without cancellation


class Projectron(Memory):
    """What the remembered rows nearly span is projected onto them."""

    def __init__(self, budget: int, outputs: int) -> None:
        super().__init__(budget, outputs)
        self.inverse = np.zeros_like(self.inner)

    _saved: ClassVar[Mapping[str, Any]] = {"inverse": Array}

    def _inconsistency(self) -> str:
        return super()._inconsistency() or shapes((self.inverse, self.inner.shape))

    def _grow(self) -> None:
        super()._grow()
        more = len(self.inner) - len(self.inverse)
        if more:
            self.inverse = np.pad(self.inverse, (0, more))

    def take(self, values: Array, own: float, update: Array) -> int | None:
        n = self.used
        weights = self.inverse[:n, :n] @ values
        left = own - float(values @ weights)
        if n and (self.full or left <= MAX_PROJECTION_DISTANCE**2 * own):
            self.coefficients[:n] += np.outer(weights, update)
            return None
        self._grow()
        self.inverse[:n, :n] += np.outer(weights, weights) / left
        self.inverse[n, :n] = self.inverse[:n, n] = -weights / left
        self.inverse[n, n] = 1 / left
        return self._put(n, values, own, update)


def slots_for(rows: int, budget: int) -> int:
    """The slots that a memory has for so many rows, at most: as many as they, and half as many again."""
    return min(budget, max(FIRST_SLOTS, int(SLOT_GROWTH * rows)))


STRATEGIES = {"forgetron": Forgetron, "projectron": Projectron}
"""The strategies by their names."""


class Budgeted:
    """The rows that a memory holds, and passes over all rows that fill it.

    K : the kernel matrix of all rows
    support : the row in each slot that is taken
    """

    def __init__(self, K: Operator, memory: Memory, support: Rows) -> None:
        self.K, self.memory = K, memory
        self.support = support.copy()

    def one_pass(self, order: Rows, classes: Rows, log: MistakeLog, run: Run = IDLE) -> None:
        """All rows once, in an order."""
        log.begin()
        for start in range(0, len(order), BLOCK_ROWS):
            rows = order[start : start + BLOCK_ROWS]
            right = classes[rows]
            log.add(rows, right, *self._block(rows, right))
            run.tell(log.seen / len(order))

    def _block(self, rows: Rows, right: Rows) -> tuple[Rows, Rows]:
        """The mistakes among the rows of a block, one after the other: where, and which classes were taken."""
        memory, inner = self.memory, np.asarray(self.K.block(rows, rows), dtype=np.float64)
        slots = min(memory.budget, memory.used + len(rows))
        values = np.zeros((len(rows), slots))  # between these rows and the remembered ones
        values[:, : memory.used] = self.K.block(rows, self.support)
        at: list[int] = []
        wrong: list[int] = []
        begin = 0
        while begin < len(rows):
            near = slice(begin, begin + SEARCH_ROWS)
            scores = values[near, : memory.used] @ memory.coefficients[: memory.used]
            others = rivals(scores, right[near])
            missed = ~(margins(scores, right[near], others) > 0)
            first = int(missed.argmax())
            if not missed[first]:
                begin += SEARCH_ROWS
                continue
            i = begin + first
            found = Mistakes(rows[i : i + 1], right[i : i + 1], others[first : first + 1], np.zeros(1, np.intp))
            update = found.updates(memory.coefficients.shape[1])[0]
            if inner[i, i] > 0:  # a row of no length changes f nowhere
                slot = memory.take(values[i, : memory.used], inner[i, i], update)
                self._remember(slot, rows[i], values, inner[:, i])
            at.append(i)
            wrong.append(int(others[first]))
            begin = i + 1
        return np.array(at, np.intp), np.array(wrong, np.intp)

    def _remember(self, slot: int | None, row: int, values: Array, column: Array) -> None:
        if slot is None:
            return
        values[:, slot] = column
        if slot == len(self.support):
            self.support = np.append(self.support, row)
        else:
            self.support[slot] = row
