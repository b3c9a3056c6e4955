"""Triangles of large matrices on a device, panel after panel: a Cholesky factor, solutions, and the inverse's diagonal.

All work is queued in portions that take a device a part of a second, and between two of them somebody looks at the
keyboard. There are products of matrices in it, and triangles of one panel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch

PANEL = 2048
"""Columns of a panel: enough for fast products, few enough that triangles are a small part of the work."""
QUEUED_OPERATIONS = 1e13
"""Floating-point operations that are queued at once, about: some tenths of a second."""

Settle = Callable[[], None]


@contextmanager
def full_precision() -> Iterator[None]:
    """Inside, products in float32 keep all their digits, whatever a user allows elsewhere."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


@full_precision()
def factor_in_place(A: torch.Tensor, settle: Settle, tell: Callable[[float], None]) -> bool:
    """L in the lower triangle of A, with A = L L'; whether there is one: if not, the triangle is spoiled.

    Above the diagonal nothing is read, and anything is written. Cost: n^3 / 3 operations, and 2 PANEL n numbers.
    """
    n = len(A)
    for part in panels(0, n):
        corner, info = torch.linalg.cholesky_ex(A[part, part])
        A[part, part] = corner
        if part.stop < n:
            rest = slice(part.stop, n)
            beside = torch.linalg.solve_triangular(corner.T, A[rest, part], upper=True, left=False)
            A[rest, part] = beside
            _subtract_squares(A[rest, rest], beside, settle)
        settle()
        if info.item():
            return False
        tell(_share(part.stop, n))
    return True


def _subtract_squares(A: torch.Tensor, beside: torch.Tensor, settle: Settle) -> None:
    """A -= B B', on and below the diagonal, and in the corners above it."""
    n, queued = len(A), 0.0
    for part in panels(0, n):
        A[part.start :, part].addmm_(beside[part.start :], beside[part].T, alpha=-1)
        queued += 2.0 * (n - part.start) * (part.stop - part.start) * beside.shape[1]
        if queued > QUEUED_OPERATIONS:
            settle()
            queued = 0.0


def solve_in_place(lower: torch.Tensor, x: torch.Tensor) -> None:
    """x <- (L L')^-1 x. Cost: 2 n^2 operations for each column."""
    forward_in_place(lower, x)
    backward_in_place(lower, x)


@full_precision()
def forward_in_place(lower: torch.Tensor, x: torch.Tensor) -> None:
    """x <- L^-1 x."""
    for part in panels(0, len(lower)):
        if part.start:
            _subtract_product(x[part], lower[part, : part.start], x[: part.start])
        x[part] = torch.linalg.solve_triangular(lower[part, part], x[part], upper=False)


@full_precision()
def backward_in_place(lower: torch.Tensor, x: torch.Tensor) -> None:
    """x <- L'^-1 x."""
    for part in reversed(panels(0, len(lower))):
        if part.stop < len(lower):
            _subtract_product(x[part], lower[part.stop :, part].T, x[part.stop :])
        x[part] = torch.linalg.solve_triangular(lower[part, part].T, x[part], upper=True)


def _subtract_product(x: torch.Tensor, M: torch.Tensor, y: torch.Tensor) -> None:
    """x -= M y; a single column is not made a matrix, for which cuBLAS would read M slowly."""
    if x.shape[1] == 1:
        x[:, 0].addmv_(M, y[:, 0], alpha=-1)
    else:
        x.addmm_(M, y, alpha=-1)


def product(M: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """M y, likewise."""
    return torch.mv(M, y[:, 0])[:, None] if y.shape[1] == 1 else M @ y


def inverse_diagonal(lower: torch.Tensor, settle: Settle) -> torch.Tensor:
    """The diagonal of (L L')^-1: sums of squares of the columns of L^-1. Cost: n^3 / 3 operations, PANEL n numbers."""
    n, found = len(lower), torch.empty(len(lower), dtype=lower.dtype, device=lower.device)
    for columns in panels(0, n):
        width, queued = columns.stop - columns.start, 0.0
        X = torch.zeros((n - columns.start, width), dtype=lower.dtype, device=lower.device)
        X[:width].fill_diagonal_(1.0)
        for part in panels(columns.start, n):
            here = slice(part.start - columns.start, part.stop - columns.start)
            if here.start:
                X[here].addmm_(lower[part, columns.start : part.start], X[: here.start], alpha=-1)
            X[here] = torch.linalg.solve_triangular(lower[part, part], X[here], upper=False)
            queued += 2.0 * (part.stop - part.start) * here.stop * width
            if queued > QUEUED_OPERATIONS:
                settle()
                queued = 0.0
        found[columns] = X.square_().sum(dim=0)
        settle()
    return found


def panels(start: int, stop: int) -> list[slice]:
    """Slices of `PANEL` rows or columns that cover a range."""
    return [slice(first, min(first + PANEL, stop)) for first in range(start, stop, PANEL)]


def _share(stop: int, n: int) -> float:
    """The share of the work that is done after the panel that ends here."""
    left = 1 - stop / n
    return 1 - left * left * left
