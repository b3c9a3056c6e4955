"""How much memory a device has left, and refusals before it is too late."""

from __future__ import annotations

import torch

from mercer.compute.runtime.memory import Budget

SHARE = 0.95
"""Of the free memory that may be taken: allocations leave gaps."""


def free_bytes(device: torch.device) -> int:
    """What may still be taken: of a device what nobody holds, PyTorch's own reserve counted; else this machine's."""
    if device.type != "cuda":
        return Budget.of(None).bytes
    reserved = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return int(SHARE * (torch.cuda.mem_get_info(device)[0] + reserved))


def require(device: torch.device, needed: int, purpose: str) -> None:
    """Refuse a computation that needs more bytes than there are, before it starts."""
    free = Budget(free_bytes(device))
    free.require(needed, f"{purpose} on {device}", 'Use conjugate gradients, landmarks or backend="cpu".')
