"""The rates of a graphics card, each from a piece of the work that it stands for: a second or two in all."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import torch

REPEATS = 3
"""The shortest of so many times counts."""
SQUARE = 4096
"""Rows of the matrices that are multiplied, factored and decomposed."""
STREAM = 1 << 27
"""Numbers that are read and written."""
CALL_SECONDS = 1e-5
"""Seconds of a launch, about."""
VECTOR = 1 << 20
"""Numbers of a vector that goes up and comes down."""


def rates(name: str) -> dict[str, float]:
    """What `mercer.planner.machine.Machine` says of a card, but for pairs of rows."""
    device, n, count = torch.device(name), SQUARE, STREAM
    A = torch.randn(n, n, dtype=torch.float64, device=device)
    A32 = A.float()
    products, products32 = 2 * n**3 / _seconds(device, lambda: A @ A), 2 * n**3 / _seconds(device, lambda: A32 @ A32)
    P = A @ A.T / n + torch.eye(n, dtype=torch.float64, device=device)
    factor = _seconds(device, lambda: torch.linalg.cholesky(P))
    small, large = (_seconds(device, lambda k=k: torch.linalg.eigh(P[:k, :k])) for k in (n // 4, n))  # type: ignore[misc]
    cubic = max((large / n - small / (n // 4)) / (n**2 - (n // 4) ** 2), large / n**3 / 2)
    v = torch.ones(count, dtype=torch.float64, device=device)
    few, many = (_seconds(device, lambda k=k: _crossing(device, k)) for k in (8, VECTOR))  # type: ignore[misc]
    return {
        "products": products,
        "products32": products32,
        "factor": max(0.0, factor / n**2 - n / 3 / products),
        "eigen": cubic,
        "eigen_row": max(0.0, large / n - cubic * n**2),
        "bandwidth": 8 * count / _seconds(device, v.sum),
        "fresh": 8 * count / _seconds(device, lambda: torch.full_like(v, 0.5)),
        "call": CALL_SECONDS,
        "turn": few,
        "thin": max(0.0, many - few) / VECTOR,
    }


def _crossing(device: torch.device, count: int) -> object:
    """A vector of new memory goes up, is doubled there, and comes down."""
    return (2 * torch.from_numpy(np.ones(count)).to(device)).cpu().numpy().sum()


def _seconds(device: torch.device, work: Callable[[], object]) -> float:
    """The least of some times, until the device is done."""
    times = []
    for _ in range(REPEATS + 1):
        start = time.perf_counter()
        work()
        torch.cuda.synchronize(device)
        times.append(time.perf_counter() - start)
    return min(times[1:])
