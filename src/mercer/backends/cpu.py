"""The cores of this machine: generated loops, BLAS and LAPACK."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer.backends.base import Backend, Evaluator, Traced
from mercer.compute.codegen import jit_cache
from mercer.compute.codegen.tiles import Fused
from mercer.compute.runtime.memory import Budget


@dataclass(frozen=True)
class CPU(Backend):
    """The cores of this machine, in threads.

    Examples
    --------
    >>> from mercer.backends import CPU
    >>> CPU().name
    'cpu'
    """

    @property
    def name(self) -> str:
        return "cpu"

    def signature(self) -> str:
        import scipy  # kernels need none

        return f"cpu, NumPy {np.__version__}, SciPy {scipy.__version__}"

    def budget(self) -> Budget:
        return Budget.of(None)

    def evaluator(self, traced: Traced) -> Evaluator | None:
        if not jit_cache.numba_works():
            return None
        return Fused(traced.formula, traced.shape, traced.precision, traced.methods, traced.measured, traced.symmetric)
