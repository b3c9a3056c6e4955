"""Slices of many rows on a device, and sums over them that are always added in the same order."""

from __future__ import annotations

from collections.abc import Iterator

import torch

SLICE_NUMBERS = {"cuda": 1 << 27, "cpu": 1 << 20}
"""Numbers of a slice, about (1 GiB in float64)."""
CHUNK_ROWS = 4096
"""Rows that one product sums over: products of few columns with more rows leave a card idle, and lose digits."""


def slices(count: int, width: int, device: torch.device, most: int | None = None, multiple: int = 1) -> Iterator[slice]:
    """Slices of some rows that cover all of them, for as many numbers a row.

    most : rows of one, at most
    multiple : of how many rows each but the last is a multiple, where there are as many
    """
    step = max(1, SLICE_NUMBERS[device.type] // max(1, width))
    step = step if most is None else min(step, most)
    step = max(multiple, step // multiple * multiple)
    return (slice(start, min(start + step, count)) for start in range(0, count, step))


def chunked(A: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
    """A'B for matrices of many rows and few columns, in float64: products of chunks, which are added in float64."""
    whole = len(A) // CHUNK_ROWS
    split = whole * CHUNK_ROWS
    found = (A[split:].T @ B[split:]).double()
    if whole:
        left = A[:split].unflatten(0, (whole, CHUNK_ROWS)).transpose(1, 2)
        found += torch.bmm(left, B[:split].unflatten(0, (whole, CHUNK_ROWS))).sum(dim=0, dtype=torch.float64)
    return found
