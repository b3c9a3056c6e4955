"""Arrays of this process as matrices on a device: sent once where there is room, else whenever rows are needed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from mercer.backends.base import Chosen
from mercer.backends.cuda.resident import Resident


@dataclass(frozen=True, eq=False)
class Sent:
    """A stored array, whose rows are sent when they are asked for."""

    values: NDArray[Any]
    resident: Resident

    @property
    def shape(self) -> tuple[int, int]:
        return self.values.shape[0], self.values.shape[1]

    def device_rows(self, i0: int, i1: int) -> torch.Tensor:
        part = np.ascontiguousarray(self.values[i0:i1])
        self.resident.traffic.rows += part.nbytes
        return torch.from_numpy(part).to(self.resident.device)

    def within(self, rows: Chosen, columns: Chosen) -> Sent:
        chosen = self.values if rows is None else self.values[rows]
        return replace(self, values=chosen if columns is None else chosen[:, columns])


@dataclass(frozen=True, eq=False)
class Held:
    """The same, which is there as a whole from the first time on; nobody changes it meanwhile."""

    sent: Sent

    @property
    def shape(self) -> tuple[int, int]:
        return self.sent.shape

    def device_rows(self, i0: int, i1: int) -> torch.Tensor:
        return self._there[i0:i1]

    def within(self, rows: Chosen, columns: Chosen) -> Part:
        index = self.sent.resident.like
        chosen = self._there if rows is None else self._there[index(rows)]
        return Part(chosen if columns is None else chosen[:, index(columns)], self.sent.resident)

    @cached_property
    def _there(self) -> torch.Tensor:
        return self.sent.device_rows(0, self.shape[0])


@dataclass(frozen=True, eq=False)
class Part:
    """Some rows and columns of one that is held."""

    values: torch.Tensor
    resident: Resident

    @property
    def shape(self) -> tuple[int, int]:
        return self.values.shape[0], self.values.shape[1]

    def device_rows(self, i0: int, i1: int) -> torch.Tensor:
        return self.values[i0:i1]

    def within(self, rows: Chosen, columns: Chosen) -> Part:
        index = self.resident.like
        chosen = self.values if rows is None else self.values[index(rows)]
        return replace(self, values=chosen if columns is None else chosen[:, index(columns)])


def stored(values: NDArray[Any], resident: Resident, beside: int) -> Sent | Held:
    """An array, held where there is room for it.

    beside : bytes that its factor takes
    """
    sent = Sent(values, resident)
    return Held(sent) if resident.budget().allows(values.nbytes + beside) else sent
