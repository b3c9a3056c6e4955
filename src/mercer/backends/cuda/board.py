"""A board on a device: no row of the matrix is kept, but computed when it is needed, so that memory is no limit.

Cost of a round of q coefficients among n rows: n q pairs for the gradient, q^2 for the square, two sorts of n numbers.
Memory: some vectors of n numbers, a square, and what the evaluator makes of the rows at hand.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from mercer.backends.base import Chosen
from mercer.backends.board import Array, Box, Rows
from mercer.backends.cuda.resident import Resident

VECTORS = 16
"""Vectors of the length of the data that a board holds at its peak, those of a sort counted."""
SQUARES = 3
"""Squares of a working set, at the peak."""
MOST_CHOSEN = 4096
"""Coefficients of a working set that memory is asked for."""
TYPES = {"float32": torch.float32, "float64": torch.float64}


class Computed(Protocol):
    """Where the matrix comes from: an evaluator whose values stay on the device."""

    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...

    def device_rows(self, i0: int, i1: int) -> torch.Tensor:
        """(i1 - i0, m): some rows."""
        ...

    def device_times(self, V: torch.Tensor) -> torch.Tensor:
        """The product with a matrix of m rows, in float64."""
        ...

    def within(self, rows: Chosen, columns: Chosen) -> Computed:
        """Some rows and columns; None for all."""
        ...


class DeviceBoard:
    """A `Board` (`mercer.backends.board`) on a device.

    computed : K, of all rows
    known : the diagonal of K, which is exact where products of rows round
    """

    def __init__(self, computed: Computed, known: Array, resident: Resident) -> None:
        self.whole, self.resident, self._diagonal = computed, resident, known
        self._memory = torch.empty(0, dtype=TYPES[computed.dtype.name])

    def begin(self, rows: Rows, box: Box, b: Array, g: Array) -> None:
        sent, all_of_them = self.resident.sent, len(rows) == self.whole.shape[0]
        needed = 8 * VECTORS * len(rows) + SQUARES * self.whole.dtype.itemsize * min(len(rows), MOST_CHOSEN) ** 2
        self.resident.require(needed, f"working sets of {len(rows):,} rows")
        self.K = self.whole if all_of_them else self.whole.within(rows, rows)
        self.known = sent(self._diagonal if all_of_them else self._diagonal[rows])
        self.lower, self.upper, self.kink = sent(box.lower), sent(box.upper), box.kink
        self.b, self.g = sent(b).clone(), sent(g).clone()  # on the cores these would be the arrays themselves
        self._recent = np.zeros(0, np.intp)

    # -- slopes -------------------------------------------------------------------------------------------------------

    def ends(self) -> tuple[float, float]:
        self._rises, self._falls = self._slopes()
        low, high = self.resident.brought(torch.stack([self._rises.min(), self._falls.max()])).tolist()
        self._low, self._high = low, high
        return low, high

    def _slopes(self) -> tuple[torch.Tensor, torch.Tensor]:
        """As `BoxQP` (`mercer.solvers.svm.box_qp`) has them: infinite where a coefficient cannot grow, or fall."""
        up = down = self.g
        if self.kink > 0:
            more, less = self.g + self.kink, self.g - self.kink
            up, down = torch.where(self.b >= 0, more, less), torch.where(self.b > 0, more, less)
        rises = torch.where(self.b < self.upper, up, torch.inf)
        return rises, torch.where(self.b > self.lower, down, -torch.inf)

    def shrink(self, share: float) -> Rows | None:
        stay = torch.nonzero((self._rises < self._high) | (self._falls > self._low))[:, 0]
        if len(stay) > share * len(self.g):
            return None
        found: Rows = self.resident.brought(stay).astype(np.intp, copy=False)
        self.K = self.K.within(found, found)
        for name in ("known", "lower", "upper", "b", "g"):
            setattr(self, name, getattr(self, name).index_select(0, stay))
        self._recent = np.zeros(0, np.intp)
        return found

    def chosen(self, size: int) -> Rows:
        n = len(self.g)
        if n <= size:
            self._recent = np.arange(n)
            return self._recent
        kept = self._recent[-(size // 2) :]
        count, free = (size - len(kept)) // 2, torch.ones(n, dtype=torch.bool, device=self.resident.device)
        free[self._at(kept)] = False
        found = []
        for slopes in (self._rises, -self._falls):
            values, places = torch.sort(torch.where(free, slopes, torch.inf), stable=True)  # of equal ones the first
            worst = torch.where(torch.isfinite(values[:count]), places[:count], -1)
            free[places[:count]] &= worst < 0
            found.append(worst)
        new = np.sort(self.resident.brought(torch.cat(found)))
        self._recent = np.concatenate([kept, new[new >= 0]]).astype(np.intp, copy=False)
        return self._recent

    # -- a working set --------------------------------------------------------------------------------------------

    def square(self, chosen: Rows) -> tuple[NDArray[Any], Array]:
        q, at = len(chosen), self._at(chosen)
        found = self.K.within(chosen, chosen).device_rows(0, q)
        diagonal = found.diagonal()
        self._off = self.known[at] - diagonal  # what products with rows have wrong there
        diagonal.copy_(self.known[at])
        out = self._room(q)
        self.resident.block(found, out)
        return out, self.resident.brought(self.g[at])

    def _room(self, q: int) -> NDArray[Any]:
        """(q, q) in this process's memory, where the device can write at its full speed."""
        if len(self._memory) < q * q:
            pinned = self.resident.device.type == "cuda"
            self._memory = torch.empty(q * q, dtype=self._memory.dtype, pin_memory=pinned)
        out: NDArray[Any] = self._memory.numpy()[: q * q].reshape(q, q)
        return out

    def move(self, chosen: Rows, b: Array, moves: Array) -> None:
        some, at = np.flatnonzero(moves), self._at(chosen)
        self.b[at] = self.resident.sent(b)
        if len(some):
            changes = self.resident.sent(moves)
            self.g += self.K.within(None, chosen[some]).device_times(self.resident.sent(moves[some][:, None]))[:, 0]
            self.g[at] += self._off * changes

    def gradient(self) -> Array:
        return self.resident.brought(self.g)

    def _at(self, chosen: Rows) -> torch.Tensor:
        return self.resident.sent(chosen, torch.int64)


def board_of(rows: Any, diagonal: NDArray[Any], resident: Resident) -> DeviceBoard | None:
    """The board of an evaluator; None of one whose values are computed by this process."""
    if not hasattr(rows, "device_rows"):
        return None
    return DeviceBoard(rows, np.array(diagonal, dtype=np.float64), resident)
