"""Slices of many rows on a device, and sums over them that are always added in the same order."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from mercer.backends.cuda.resident import Resident

SLICE_NUMBERS = {"cuda": 1 << 27, "cpu": 1 << 20}
"""Numbers of a slice, about (1 GiB in float64)."""
QUEUED_NUMBERS = 1 << 31
"""Numbers that a card is told to read before somebody waits for it, and looks at the keyboard: some milliseconds."""
CHUNK_ROWS = 4096
"""Rows that one product sums over: products of few columns with more rows leave a card idle, and lose digits."""


def slices(count: int, width: int, resident: Resident, most: int | None = None, multiple: int = 1) -> Iterator[slice]:
    """Slices of some rows that cover all of them, for so many numbers per row; the device is waited for now and then.

    most : rows of one, at most
    multiple : of how many rows each but the last is a multiple, where there are as many
    """
    step, queued = max(1, SLICE_NUMBERS[resident.device.type] // max(1, width)), 0
    step = step if most is None else min(step, most)
    step = max(multiple, step // multiple * multiple)
    for start in range(0, count, step):
        yield slice(start, min(start + step, count))
        queued += step * width
        if queued > QUEUED_NUMBERS:
            resident.settle()
            queued = 0


def chunked(A: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
    """A'B for matrices of many rows and few columns, in float64: products of chunks, which are added in float64."""
    whole = len(A) // CHUNK_ROWS
    split = whole * CHUNK_ROWS
    found = (A[split:].T @ B[split:]).double()
    if whole:
        left = A[:split].reshape(whole, CHUNK_ROWS, A.shape[1]).transpose(1, 2)
        found += torch.bmm(left, B[:split].reshape(whole, CHUNK_ROWS, B.shape[1])).sum(dim=0, dtype=torch.float64)
    return found
