"""What is here: tests without it are skipped, and say what is missing."""

import pytest


def triton_or_skip():
    """Go on where PyTorch and Triton can be imported."""
    for name in ("torch", "triton"):
        pytest.importorskip(name, reason=f"{name} is missing: pip install 'mercer[gpu]'")


def card_or_skip():
    """Go on where there is a graphics card, too."""
    triton_or_skip()
    import torch

    if not torch.cuda.is_available():
        pytest.skip("there is no graphics card here", allow_module_level=True)
