"""Cholesky factors on a device, and what solvers ask of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from mercer.backends.cuda import panels
from mercer.backends.cuda.resident import Resident
from mercer.backends.squares import Array, check_alphas
from mercer.errors import BudgetError, MercerError, message

MAX_ESTIMATE_STEPS = 5
"""Solutions from which the norm of an inverse is estimated, at most, and one more."""


class Product(Protocol):
    """The matrix that was factored."""

    @property
    def resident(self) -> Resident: ...
    def times(self, V: NDArray[Any]) -> Array: ...


class DeviceFactor:
    """L with A + alpha I = L L', below the diagonal and on it: a `Factor` on a device.

    square : A
    lower : L, in float64 or float32
    alpha, norm : as in the protocol
    """

    condition = np.inf

    def __init__(self, square: Product, lower: torch.Tensor, alpha: float, norm: float) -> None:
        self.square = square
        self.alpha = alpha
        self.norm = norm
        self.single = lower.dtype == torch.float32
        self._lower: torch.Tensor | None = lower

    @property
    def lower(self) -> torch.Tensor:
        """L; above its diagonal there is anything."""
        if self._lower is None:
            raise MercerError(message("a factor", "it was given back", "This is a defect: please report it."))
        return self._lower

    def solve(self, targets: NDArray[Any], alphas: NDArray[Any] | None = None) -> Array:
        return self.roughly(targets, alphas)

    def roughly(self, targets: NDArray[Any], alphas: NDArray[Any] | None = None) -> Array:
        if alphas is not None:
            check_alphas(self.alpha, alphas)
        resident, units = self.square.resident, _units(targets) if self.single else np.ones(targets.shape[1])
        x = resident.sent(targets / units, self.lower.dtype)
        panels.solve_in_place(self.lower, x)
        return np.asarray(resident.brought(x.double()) * units)

    def multiply(self, x: NDArray[Any]) -> Array:
        return self.square.times(x)

    def inverse_diagonal(self, alpha: float) -> Array:
        check_alphas(self.alpha, alpha)
        resident = self.square.resident
        return resident.brought(panels.inverse_diagonal(self._double(), resident.settle))

    def log_determinant(self, alpha: float) -> float:
        check_alphas(self.alpha, alpha)
        logarithms = self.square.resident.brought(self._double().diagonal().log())
        return float(2 * logarithms.sum())

    def _double(self) -> torch.Tensor:
        """L in float64; an error where there is room for float32 only."""
        if self.single:
            needs, got = "a Cholesky factor in float64", f"there is room for one of {len(self.lower)} rows in float32"
            raise BudgetError(message(needs, got, "Use fewer rows."))
        return self.lower

    def serves(self, alphas: NDArray[Any]) -> bool:
        return not self.single and bool((np.asarray(alphas) == self.alpha).all())

    def restore(self) -> None:
        self._lower = None


def condition_of(factor: DeviceFactor, n: int) -> float:
    """The condition number of A + alpha I in the 1-norm, estimated; infinite where it is out of range."""
    with np.errstate(all="ignore"):
        found = factor.norm * inverse_norm(factor.roughly, n)
    return found if np.isfinite(found) else np.inf


def inverse_norm(solve: Callable[[Array], Array], n: int) -> float:
    """The 1-norm of the inverse of a symmetric matrix, estimated from below, as LAPACK does (Higham, 1988)."""
    x = np.full((n, 1), 1 / n)
    y = solve(x)
    if n == 1:
        return float(np.abs(y).sum())
    found, signs, at = float(np.abs(y).sum()), np.where(y < 0, -1.0, 1.0), -1
    for _ in range(MAX_ESTIMATE_STEPS - 1):
        slopes = np.abs(solve(signs))[:, 0]
        most = int(slopes.argmax())
        if at >= 0 and slopes[most] <= slopes[at]:
            break
        at, x = most, np.zeros((n, 1))
        x[at] = 1.0
        y, before = solve(x), found
        found, old, signs = float(np.abs(y).sum()), signs, np.where(y < 0, -1.0, 1.0)
        if found <= before or (old == signs).all():
            found = max(found, before)
            break
    rows = np.arange(n)
    alternating = np.where(rows % 2, -1.0, 1.0) * (1 + rows / (n - 1))
    return max(found, 2 * float(np.abs(solve(alternating[:, None])).sum()) / (3 * n))


def _units(targets: NDArray[Any]) -> Array:
    """The largest entry of each column: what is divided by it fits float32."""
    largest = np.abs(targets).max(axis=0, initial=0.0)
    return np.where(largest > 0, largest, 1.0)
