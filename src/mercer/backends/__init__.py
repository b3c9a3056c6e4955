"""Who computes, and where wide arrays live: this machine's cores, or a graphics card."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mercer.backends.base import Backend as Backend
    from mercer.backends.base import Evaluator as Evaluator
    from mercer.backends.base import Traced as Traced
    from mercer.backends.context import current as current
    from mercer.backends.context import use as use
    from mercer.backends.cpu import CPU as CPU
    from mercer.backends.cuda.backend import CUDA as CUDA
else:
    from mercer.exports import later

    __getattr__, __dir__, __all__ = later(
        __name__,
        {
            "Backend": "base",
            "CPU": "cpu",
            "CUDA": "cuda.backend",
            "Evaluator": "base",
            "Traced": "base",
            "current": "context",
            "use": "context",
        },
    )
