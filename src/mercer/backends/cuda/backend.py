"""The member of backends that computes on a graphics card; PyTorch is loaded when a fit begins there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec

from mercer.backends.base import Backend, Evaluator, Traced
from mercer.backends.cpu import CPU
from mercer.compute.runtime.memory import Budget

FREE_SHARE = 0.9
"""Of the free memory of a card that a fit may hold."""


@dataclass(frozen=True)
class CUDA(Backend):
    """A graphics card, by PyTorch and Triton.

    Rows go to the card once a fit; sparse rows, and code that symbols cannot follow, are computed on the cores.

    Parameters
    ----------
    device : str, default="cuda:0"
        As PyTorch calls it. "cpu" computes with PyTorch on the cores: for tests.
    memory_limit : int, str or None, default=None
        Bytes of the card's memory, or a text such as "40 GB", that a fit may hold; None for 90 % of what is free.

    Examples
    --------
    >>> from mercer.backends import CUDA
    >>> CUDA("cpu").name
    'cpu by PyTorch'
    """

    device: str = "cuda:0"
    memory_limit: int | str | None = None

    @property
    def name(self) -> str:
        return "cpu by PyTorch" if self.device == "cpu" else self.device

    def is_here(self) -> bool:
        from mercer.backends.choosing import found_card  # which looks for this class

        if self.device == "cpu":
            return find_spec("torch") is not None
        _, _, number = self.device.partition(":")
        return found_card(int(number or 0)) is not None

    def signature(self) -> str:
        import torch

        device = torch.device(self.device)
        card = torch.cuda.get_device_name(device) if device.type == "cuda" else "cores"
        return f"{card}, torch {torch.__version__}"

    def budget(self) -> Budget:
        """What is given as its limit, else most of what the card has free."""
        if self.memory_limit is not None:
            return Budget.of(self.memory_limit)
        if self.device == "cpu":
            return Budget.of(None)
        import torch

        device = torch.device(self.device)
        kept = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)  # by PyTorch, for nobody
        return Budget(int(FREE_SHARE * (torch.cuda.mem_get_info(device)[0] + kept)))

    def rates(self) -> dict[str, float]:
        if self.device == "cpu":
            return {}
        from mercer.backends.cuda.measuring import rates  # once on a machine

        return rates(self.device)

    @contextmanager
    def opened(self) -> Iterator[Backend]:
        """With memory on the card for one fit or prediction."""
        from mercer.backends.cuda.session import opened  # PyTorch is loaded

        with opened(self) as session:
            yield session

    def evaluator(self, traced: Traced) -> Evaluator | None:
        """That of the cores: who has not opened the card holds nothing there."""
        return CPU().evaluator(traced)
