"""Symmetric matrices on a device, whose rows are computed whenever they are needed: only a factor is stored."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from mercer.backends.base import Chosen
from mercer.backends.cuda import panels
from mercer.backends.cuda.factors import DeviceFactor, condition_of
from mercer.backends.cuda.features import FIRST_COLUMNS, DeviceFeatures
from mercer.backends.cuda.resident import Resident
from mercer.backends.cuda.stored import stored
from mercer.backends.cuda.triangles import DeviceTriangle, triangle_of
from mercer.backends.squares import Array, Rows, check_sums
from mercer.compute.runtime.lapack import patiently
from mercer.compute.runtime.memory import Budget
from mercer.compute.runtime.run import IDLE, Run

SLICE_NUMBERS = 1 << 24
"""Numbers of the rows that are computed at once (128 MiB); a formula holds some ten of such blocks."""
FORMULA_BLOCKS = 12
"""So many of them are counted."""
EIGENVECTOR_COPIES = 5
"""Matrices of n^2 numbers that the eigenvectors take, the matrix counted."""
FEATURE_SHARE = 0.25
"""Of the free memory, for the columns of a preconditioner whose number nobody named."""
REMEDY = 'Use a larger alpha, conjugate gradients, landmarks or backend="cpu".'
MIN_SINGLE_ROWS = 4000
"""Rows from which on the time that a factor in float32 saves is worth some steps of refinement."""
MAX_ROUNDING_SHARE = 0.25
"""The rounding of |A| to float32 may be this part of alpha: then steps gain a digit and a half, and mostly more."""
FAST_IN_DOUBLE = {(6, 0), (7, 0), (8, 0), (9, 0), (10, 0)}
"""The generations of cards that compute in float64 half as fast as in float32, or as fast; others take 32 times as
long."""


class Computed(Protocol):
    """Where the rows of a symmetric matrix come from: an evaluator, or an array of this process."""

    @property
    def shape(self) -> tuple[int, int]: ...

    def device_rows(self, i0: int, i1: int) -> torch.Tensor:
        """(i1 - i0, m): some rows, on the device."""
        ...

    def within(self, rows: Chosen, columns: Chosen) -> Computed:
        """Some rows and columns; None for all."""
        ...


@dataclass(frozen=True, eq=False)
class DeviceSquare:
    """D (k_ij - h_i - h_j) D of a matrix K: a `Square` on a device.

    computed : K
    known : the diagonal of K
    budget : the memory of the device that may be taken now
    shifts, roots : h and the diagonal of D; None for zeros, and ones
    """

    computed: Computed
    known: Array
    resident: Resident
    budget: Callable[[], Budget]
    shifts: Array | None = None
    roots: Array | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.known), len(self.known)

    # -- entries --------------------------------------------------------------------------------------------------

    def diagonal(self) -> Array:
        found = self.known if self.shifts is None else self.known - 2 * self.shifts
        return found.copy() if self.roots is None else found * self.roots * self.roots

    def shifted(self, shifts: Array, roots: Array | None) -> DeviceSquare:
        if self.shifts is not None:
            raise NotImplementedError  # no problem is centred twice
        return replace(self, shifts=shifts, roots=roots)

    def block(self, i: Rows, j: Rows) -> Array:
        out = np.empty((len(i), len(j)))
        if out.size:
            self.resident.block(self.computed.within(i, j).device_rows(0, len(i)), out)
            rows, columns = np.nonzero(i[:, None] == j)
            out[rows, columns] = self.known[i[rows]]
        if self.shifts is not None:
            out -= self.shifts[i][:, None] + self.shifts[j]
        if self.roots is not None:
            out *= self.roots[i][:, None] * self.roots[j]
        return out

    def columns(self, chosen: Rows) -> Iterator[tuple[slice, torch.Tensor]]:
        """All rows of some columns, slice by slice, on the device; none is chosen twice."""
        part, at = self.computed.within(None, chosen), self._position(chosen)
        for rows in slices(len(self.known), len(chosen)):
            found = part.device_rows(rows.start, rows.stop).to(torch.float64, copy=True)
            here = np.flatnonzero((chosen >= rows.start) & (chosen < rows.stop))
            if here.size:
                own = self._position(here)
                found[at[own] - rows.start, own] = self._diagonal[at[own]]
            yield rows, self._shift(found, rows, at)

    def _position(self, chosen: NDArray[np.intp]) -> torch.Tensor:
        return self.resident.sent(chosen, torch.int64)

    def among(self, chosen: Rows) -> torch.Tensor:
        """Some rows and the same columns, on the device; a row may be there twice."""
        found, at = self.computed.within(chosen, chosen).device_rows(0, len(chosen)), self._position(chosen)
        found = torch.where(at[:, None] == at, self._diagonal[at][:, None], found.to(torch.float64))
        return self._shift(found, at, at)

    @cached_property
    def _diagonal(self) -> torch.Tensor:
        """The diagonal of K, on the device."""
        return self.resident.sent(self.known)

    @cached_property
    def _centre(self) -> tuple[torch.Tensor | None, torch.Tensor | None]:
        """The shifts and the roots, on the device."""
        shifts, roots = (None if each is None else self.resident.sent(each) for each in (self.shifts, self.roots))
        return shifts, roots

    def _shift(self, found: torch.Tensor, i: slice | torch.Tensor, j: slice | torch.Tensor) -> torch.Tensor:
        """Values of K in some rows and columns, in place."""
        shifts, roots = self._centre
        if shifts is not None:
            found -= shifts[i][:, None] + shifts[j]
        if roots is not None:
            found *= roots[i][:, None] * roots[j]
        return found

    def _whole_rows(self) -> Iterator[tuple[slice, torch.Tensor]]:
        """All rows, slice by slice."""
        n = len(self.known)
        for rows in slices(n, n):
            found = self.computed.device_rows(rows.start, rows.stop).to(torch.float64, copy=True)
            found[:, rows].diagonal().copy_(self.resident.sent(self.known[rows]))
            yield rows, self._shift(found, rows, slice(None))
            self.resident.settle()

    # -- what reads it once ---------------------------------------------------------------------------------------

    def row_sums(self) -> Array:
        sums = torch.empty(len(self.known), dtype=torch.float64, device=self.resident.device)
        for rows, values in self._whole_rows():
            sums[rows] = values.abs_().sum(dim=1)
        return self.resident.brought(sums)

    def times(self, V: NDArray[Any]) -> Array:
        columns = self.resident.sent(V)
        out = torch.empty(columns.shape, dtype=torch.float64, device=self.resident.device)
        for rows, values in self._whole_rows():
            out[rows] = panels.product(values, columns)
        return self.resident.brought(out)

    def whole(self) -> Array:
        n = len(self.known)
        Budget.of(None).require(8 * n * n, "its dense matrix", "Use products A @ V, or blocks.")
        out = np.empty((n, n))
        for rows, values in self._whole_rows():
            self.resident.block(values, out[rows])
        return out

    # -- decompositions -------------------------------------------------------------------------------------------

    def takes_single(self, alpha: float) -> bool:
        budget, n = self.budget(), len(self.known)
        if not budget.allows(factor_bytes(n, 8)):
            return budget.allows(factor_bytes(n, 4))
        if n < MIN_SINGLE_ROWS or not is_slow_in_double(self.resident.device):
            return False
        norm = float(self.row_sums().max()) + alpha
        return bool(np.finfo(np.float32).eps * norm <= MAX_ROUNDING_SHARE * alpha)

    def factor(self, alpha: float, run: Run, single: bool = False) -> DeviceFactor | None:
        n, kind = len(self.known), torch.float32 if single else torch.float64
        purpose = f"the Cholesky factor of {n} rows in {'float32' if single else 'float64'}, on the card"
        self.budget().require(factor_bytes(n, kind.itemsize), purpose, REMEDY)
        lower, norm = self._lower(alpha, kind)
        if not panels.factor_in_place(lower, self.resident.settle, run.tell):
            return None
        factor = DeviceFactor(self, lower, alpha, norm)
        factor.condition = condition_of(factor, n)
        least = 0.0 if single else np.finfo(np.float64).eps  # below, it is luck whether the last pivots are positive
        return factor if 1 / factor.condition > least else None

    def triangle(self) -> DeviceTriangle | None:
        n = len(self.known)
        self.budget().require(factor_bytes(n, 8), f"the factor of {n} landmarks, on the card", REMEDY)
        lower, _ = self._lower(0.0, torch.float64)
        found = panels.factor_in_place(lower, self.resident.settle, IDLE.tell)
        return triangle_of(lower, self.resident, self.budget) if found else None

    def _lower(self, alpha: float, kind: torch.dtype) -> tuple[torch.Tensor, float]:
        """M = A + alpha I on and below the diagonal, with anything above it; and the largest sum of |M| on a row."""
        n, device = len(self.known), self.resident.device
        lower, sums = torch.empty((n, n), dtype=kind, device=device), torch.empty(n, dtype=torch.float64, device=device)
        for rows, values in self._whole_rows():
            values[:, rows].diagonal().add_(alpha)
            lower[rows, : rows.stop] = values[:, : rows.stop]
            sums[rows] = values.abs_().sum(dim=1)
        return lower, float(check_sums(self.resident.brought(sums)).max())

    def spectrum(self) -> tuple[Array, Array]:
        n = len(self.known)
        self.budget().require(8 * EIGENVECTOR_COPIES * n * n, f"the eigenvectors of {n} rows, on the card", REMEDY)
        Budget.of(None).require(8 * n * n, f"the eigenvectors of {n} rows", "Use Cholesky() with one alpha.")
        lower, _ = self._lower(0.0, torch.float64)
        values, vectors = patiently(partial(torch.linalg.eigh, lower))
        del lower
        return self.resident.brought(values), self._brought(vectors)

    def _brought(self, vectors: torch.Tensor) -> Array:
        """Columns side by side in this process, as LAPACK leaves them."""
        out = np.empty(vectors.shape).T
        self.resident.block(vectors.T, out.T)
        return out

    # -- a pivoted factor -----------------------------------------------------------------------------------------

    def most_features(self) -> int:
        return int(FEATURE_SHARE * self.budget().bytes) // (8 * len(self.known))

    def features(self, count: int) -> DeviceFeatures:
        n = len(self.known)
        self.budget().require(
            feature_bytes(n, count), f"a preconditioner of rank {count}, on the card", "Use a lower rank."
        )
        return DeviceFeatures(self, count)


def square_of(
    rows: Any, diagonal: NDArray[Any], resident: Resident, budget: Callable[[], Budget]
) -> DeviceSquare | None:
    """The square of an evaluator, or of an array; None of an evaluator whose values are computed by this process."""
    if not isinstance(rows, np.ndarray) and not hasattr(rows, "device_rows"):
        return None
    beside = factor_bytes(len(diagonal), 8)
    computed: Computed = stored(rows, resident, beside) if isinstance(rows, np.ndarray) else rows
    return DeviceSquare(computed, np.array(diagonal, dtype=np.float64), resident, budget)


def is_slow_in_double(device: torch.device) -> bool:
    """Whether a card is far slower in float64 than in float32."""
    return device.type == "cuda" and torch.cuda.get_device_capability(device) not in FAST_IN_DOUBLE


def factor_bytes(n: int, size: int) -> int:
    """Bytes of a factor with numbers of a size, and of all that is held while it is made and used."""
    return size * n * (n + 3 * panels.PANEL) + 8 * FORMULA_BLOCKS * min(SLICE_NUMBERS, n * n)


def feature_bytes(n: int, count: int) -> int:
    """Bytes of so many columns, and of those that are there while room is made for more."""
    return 8 * n * (count + (count // 2 if count > FIRST_COLUMNS else 0))


def slices(rows: int, columns: int) -> list[slice]:
    """Some rows after the other, about `SLICE_NUMBERS` numbers each."""
    step = max(1, SLICE_NUMBERS // max(1, columns))
    return [slice(start, min(start + step, rows)) for start in range(0, rows, step)]
