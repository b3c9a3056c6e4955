"""Triangular factors of the matrix of landmarks on a device, and what preconditions least squares in their features."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from mercer.backends.cuda import panels
from mercer.backends.cuda.factors import DeviceFactor, condition_of
from mercer.backends.cuda.panels import product
from mercer.backends.cuda.resident import Resident
from mercer.backends.squares import Array, check_sums
from mercer.compute.runtime.lapack import patiently
from mercer.compute.runtime.memory import Budget
from mercer.compute.runtime.run import IDLE

REMEDY = 'Use fewer landmarks, or backend="cpu".'
EIGENVECTOR_COPIES = 5
"""Matrices of M^2 numbers that the eigenvectors of M rows take, the matrix counted."""


@dataclass(frozen=True, eq=False)
class DeviceTriangle:
    """R = L', upper triangular: a `Triangle` on a device.

    lower : L, zero above the diagonal
    budget : the memory of the device that may be taken now
    """

    lower: torch.Tensor
    resident: Resident
    budget: Callable[[], Budget]

    @property
    def width(self) -> int:
        return len(self.lower)

    @cached_property
    def squares(self) -> Array:
        found = torch.empty(self.width, dtype=torch.float64, device=self.resident.device)
        for part in panels.panels(0, self.width):
            found[part] = self.lower[part, : part.stop].square().sum(dim=1)
        return self.resident.brought(found)

    def to_raw(self, weights: NDArray[Any]) -> Array:
        x = self._own(weights)
        panels.backward_in_place(self.lower, x)
        return self.resident.brought(x)

    def to_features(self, sums: NDArray[Any]) -> Array:
        x = self._own(sums)
        panels.forward_in_place(self.lower, x)
        return self.resident.brought(x)

    def _own(self, columns: NDArray[Any]) -> torch.Tensor:
        """A copy that may be overwritten: on the cores a tensor that was sent shares its memory with the array."""
        return self.resident.sent(columns).clone()

    # -- H ----------------------------------------------------------------------------------------------------------

    def trace(self, weights: Array, share: float) -> float:
        return float(weights @ self.squares - share * (self._mean(weights) ** 2).sum())

    def factor(self, weights: Array, share: float, ridge: float) -> DeviceFactor | None:
        M = self.width
        self.budget().require(8 * M * (M + 4 * panels.PANEL), f"the factor of {M} landmarks, on the card", REMEDY)
        lower = self._sums(weights, share)
        lower.diagonal().add_(ridge)
        norm = float(check_sums(self.resident.brought(_row_sums(lower))).max())
        if not panels.factor_in_place(lower, self.resident.settle, IDLE.tell):
            return None
        known = Sums(self, weights, share)
        found = DeviceFactor(known, lower, ridge, norm)
        found.condition = condition_of(found, M)
        return found if 1 / found.condition > np.finfo(np.float64).eps else None

    def spectrum(self, weights: Array, share: float) -> DeviceSpectrum:
        M = self.width
        self.budget().require(8 * EIGENVECTOR_COPIES * M * M, f"the eigenvectors of {M} landmarks, on the card", REMEDY)
        values, vectors = patiently(partial(torch.linalg.eigh, self._sums(weights, share)))
        return DeviceSpectrum(self.resident.brought(values), vectors, self.resident)

    def times(self, weights: Array, share: float, V: NDArray[Any]) -> Array:
        """H V."""
        there, q = self.resident.sent(V), self.resident.sent(weights)
        found = product(self.lower.T, q[:, None] * product(self.lower, there))
        mean = self.resident.sent(self._mean(weights))[:, None]
        return self.resident.brought(found - share * mean * (mean.T @ there))

    def _mean(self, weights: Array) -> Array:
        """R q."""
        return self.resident.brought(product(self.lower.T, self.resident.sent(weights)[:, None]))[:, 0]

    @panels.full_precision()
    def _sums(self, weights: Array, share: float) -> torch.Tensor:
        """H on and below the diagonal, with anything above it."""
        M, L, q = self.width, self.lower, self.resident.sent(weights)
        mean = self.resident.sent(self._mean(weights))
        H = torch.empty((M, M), dtype=torch.float64, device=self.resident.device)
        for part in panels.panels(0, M):
            left = L[part.start :, part] * q[part.start :, None]  # L is zero above
            H[part, : part.stop] = left.T @ L[part.start :, : part.stop]
            H[part, : part.stop].addr_(mean[part], mean[: part.stop], alpha=-share)
            self.resident.settle()
        return H


@dataclass(frozen=True, eq=False)
class Sums:
    """H of a triangle, as the matrix that was factored."""

    triangle: DeviceTriangle
    weights: Array
    share: float

    @property
    def resident(self) -> Resident:
        """Of the triangle."""
        return self.triangle.resident

    def times(self, V: NDArray[Any]) -> Array:
        """H V."""
        return self.triangle.times(self.weights, self.share, V)


@dataclass(frozen=True, eq=False)
class DeviceSpectrum:
    """Q diag(values) Q' with Q on a device: solves for any alpha.

    values : eigenvalues in rising order
    """

    values: Array
    vectors: torch.Tensor
    resident: Resident

    def solve(self, targets: NDArray[Any], alphas: NDArray[Any]) -> Array:
        """(H + alpha_t I)^-1 b_t for each column; what is negative by rounding counts as zero."""
        shifted = np.maximum(self.values, 0.0)[:, None] + alphas
        inside = product(self.vectors.T, self.resident.sent(targets)) / self.resident.sent(shifted)
        return self.resident.brought(product(self.vectors, inside))


def triangle_of(lower: torch.Tensor, resident: Resident, budget: Callable[[], Budget]) -> DeviceTriangle:
    """That of a square tensor, above whose diagonal there is anything."""
    for part in panels.panels(0, len(lower)):
        lower[part, part].tril_()
        lower[part, part.stop :] = 0.0
    return DeviceTriangle(lower, resident, budget)


def _row_sums(lower: torch.Tensor) -> torch.Tensor:
    """The sums of |H| along the rows of a symmetric matrix that is there on and below the diagonal."""
    found = torch.zeros(len(lower), dtype=lower.dtype, device=lower.device)
    for part in panels.panels(0, len(lower)):
        square = lower[part, part].tril().abs()
        beside = lower[part, : part.start].abs()
        found[part] += beside.sum(dim=1) + square.sum(dim=1) + square.sum(dim=0) - square.diagonal()
        found[: part.start] += beside.sum(dim=0)
    return found
