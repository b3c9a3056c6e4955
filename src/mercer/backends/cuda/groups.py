"""Steps of k-means on a device: labels and distances of all rows stay there, sums over groups come down.

Sums are products with a matrix of zeros and weights, chunk by chunk: nothing is added in an order of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from mercer.backends.cuda.resident import Resident
from mercer.backends.cuda.slices import CHUNK_ROWS, chunked, slices
from mercer.backends.tables import Array, Rows, Tell, silent


@dataclass(frozen=True, eq=False)
class DeviceGroups:
    """The rows of a table in groups: `Groups` on a device.

    values : (n, p)
    own : (n,), |z|^2
    weights, sizes : (n,), see `Table.groups`
    """

    values: torch.Tensor
    own: torch.Tensor
    weights: torch.Tensor
    sizes: torch.Tensor
    count: int
    resident: Resident

    def sent(self, labels: Rows) -> torch.Tensor:
        return self.resident.sent(labels, torch.int64)

    def brought(self, numbers: torch.Tensor) -> NDArray[Any]:
        return self.resident.brought(numbers)

    def slices(self) -> Iterator[slice]:
        """Rows that are worked on at once: some tables of a number for each row and group are held meanwhile."""
        width = max(self.values.shape[1], 4 * self.count)
        return slices(len(self.values), width, self.resident, multiple=CHUNK_ROWS)

    def sums(self, labels: torch.Tensor) -> tuple[Array, Array]:
        p, dtype = self.values.shape[1], torch.float64
        found = torch.zeros((p, self.count), dtype=dtype, device=self.resident.device)
        totals = torch.zeros(self.count, dtype=dtype, device=self.resident.device)
        for part in self.slices():
            places = self._places(labels[part]) * self.weights[part]
            totals += places.sum(dim=1)
            found += chunked(self.values[part], places.to(self.values.dtype).T)
        return self.resident.brought(found), self.resident.brought(totals)

    def counts(self, labels: torch.Tensor) -> Rows:
        found = torch.zeros(self.count, dtype=torch.int64, device=self.resident.device)
        for part in self.slices():
            found += self._places(labels[part]).sum(dim=1)
        return np.asarray(self.resident.brought(found), dtype=np.intp)

    def _places(self, labels: torch.Tensor) -> torch.Tensor:
        """(count, some): whether a row is in a group; rows are last, where sums over groups are quick."""
        return labels == torch.arange(self.count, device=self.resident.device)[:, None]

    def nearest(
        self, vectors: Array, lengths: Array, slack: float, tell: Tell = silent
    ) -> tuple[torch.Tensor, torch.Tensor]:
        there = self.resident.sent(np.ascontiguousarray(vectors.T), self.values.dtype)
        sizes = self.resident.sent(lengths)[:, None]
        labels, squares = torch.empty_like(self.own, dtype=torch.int64), torch.empty_like(self.own)
        order = torch.arange(self.count, device=self.resident.device)[:, None]
        longest = float(lengths[np.isfinite(lengths)].max(initial=0.0))
        for part in self.slices():
            tell()
            gaps = sizes - 2.0 * (there @ self.values[part].T).double()
            least = gaps.amin(dim=0)
            near = gaps <= least + slack * (least.abs() + 2.0 * longest)
            own = torch.where(near, order, self.count - 1).amin(dim=0)  # the first of all that are near enough
            labels[part] = own
            squares[part] = (self.sizes[part] + gaps.gather(0, own[None])[0]).clip(min=0.0)
        return labels, squares

    def total(self, squares: torch.Tensor) -> float:
        return float(self.resident.brought((self.weights * squares).sum()))

    def equal(self, labels: torch.Tensor, others: torch.Tensor) -> bool:
        return bool(self.resident.brought((labels == others).all()))

    def seeds(self, draws: Array) -> DeviceSeeds:
        return DeviceSeeds(self, draws)


class DeviceSeeds:
    """Rows that are drawn one after the other: `Seeds` on a device."""

    def __init__(self, groups: DeviceGroups, draws: Array) -> None:
        self.groups, self.resident, self.added = groups, groups.resident, 0
        self.labels = torch.zeros_like(groups.own, dtype=torch.int64)
        first = self._drawn(groups.weights, draws)
        infinite = torch.full_like(groups.own, torch.inf)
        self.left = self._apart(first, infinite)[0][0]

    @property
    def cost(self) -> float:
        return self.groups.total(self.left)

    def add(self, draws: Array) -> None:
        squares, costs = self._apart(self._drawn(self.groups.weights * self.left, draws), self.left)
        best = squares[int(np.argmin(costs))].clone()
        self.added += 1
        self.labels[best < self.left] = self.added
        self.left = best

    def _apart(self, rows: Rows, most: torch.Tensor) -> tuple[torch.Tensor, Array]:
        """(some, n), the squared distances of some rows from all, at most `most`; and their sums by weights."""
        groups, positions = self.groups, self.resident.sent(rows, torch.int64)
        chosen, own = groups.values[positions], groups.own[positions][:, None]
        found = torch.empty((len(rows), len(groups.own)), dtype=torch.float64, device=self.resident.device)
        for part in groups.slices():
            inner = (chosen @ groups.values[part].T).double()
            found[:, part] = (own + groups.own[part] - 2.0 * inner).clip(min=0.0)
        found[torch.arange(len(rows), device=self.resident.device), positions] = 0.0
        found = torch.minimum(found, most)
        costs = torch.stack([(row * groups.weights).sum() for row in found])
        return found, self.resident.brought(costs)

    def _drawn(self, costs: torch.Tensor, draws: Array) -> Rows:
        """Rows in proportion to what they cost: by sums of chunks, then inside of one, which comes down."""
        count, last = len(costs), -len(costs) % CHUNK_ROWS
        chunks = torch.nn.functional.pad(costs, (0, last)).reshape(-1, CHUNK_ROWS)
        ends = np.cumsum(self.resident.brought(chunks.sum(dim=1)))
        found = np.empty(len(draws), np.intp)
        for i, aim in enumerate(draws * ends[-1]):
            chunk = min(int(np.searchsorted(ends, aim, side="right")), len(ends) - 1)
            before = ends[chunk - 1] if chunk else 0.0
            inside = before + np.cumsum(self.resident.brought(chunks[chunk]))
            found[i] = min(chunk * CHUNK_ROWS + int(np.searchsorted(inside, aim, side="right")), count - 1)
        return found
