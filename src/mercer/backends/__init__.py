"""Backends: what computes, and where wide arrays live: on the cores of this machine, or on a graphics card."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mercer.backends.base import Accumulator as Accumulator
    from mercer.backends.base import Backend as Backend
    from mercer.backends.base import Evaluator as Evaluator
    from mercer.backends.base import Layout as Layout
    from mercer.backends.base import RowValues as RowValues
    from mercer.backends.base import Traced as Traced
    from mercer.backends.base import Traffic as Traffic
    from mercer.backends.context import current as current
    from mercer.backends.context import use as use
    from mercer.backends.cpu import CPU as CPU
    from mercer.backends.cuda.backend import CUDA as CUDA
    from mercer.backends.passes import Column as Column
    from mercer.backends.passes import Pass as Pass
else:
    from mercer.exports import later

    __getattr__, __dir__, __all__ = later(
        __name__,
        {
            "Accumulator": "base",
            "Backend": "base",
            "CPU": "cpu",
            "CUDA": "cuda.backend",
            "Column": "passes",
            "Evaluator": "base",
            "Layout": "base",
            "Pass": "passes",
            "RowValues": "base",
            "Traced": "base",
            "Traffic": "base",
            "current": "context",
            "use": "context",
        },
    )
