"""Regression without errors: no residual beyond epsilon, or an error that says why there is no such function."""

from __future__ import annotations

from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from mercer.compute.runtime.run import Run
from mercer.errors import InputError, message
from mercer.learners.svm.hard_margin import FIRST_BOX, LAST_BOX, TOUCHING_DISTANCE, grow_box, in_box, width_of
from mercer.learners.svm.methods import Method
from mercer.learners.svm.subproblem import Subproblem
from mercer.solvers.svm.box_qp import BoxQP, QPResult

Array = NDArray[np.float64]
SMALLEST = float(np.finfo(np.float64).tiny)


class HardTube(Subproblem):
    """The flattest function within epsilon of all targets: the box is infinite.

    It grows until no coefficient is at its end. With u = b / |b|_1 every such function has
    |f| >= (y.u - epsilon) / sqrt(u'Ku): where the root is 0 and what it divides is not, there is none.
    """

    def solve(self, method: Method, start: Array | None, run: Run) -> tuple[BoxQP, QPResult]:
        y, epsilon, method = -self.qp.linear, self.qp.kink, method.sharpened()
        spread, width = float(np.ptp(y)), width_of(method, self.qp.count)
        if spread <= 2 * epsilon:  # a constant is within the tube
            boxed = in_box(self.qp, 1.0)
            return boxed, method.solve(boxed, None, run)
        if not width > 0:
            self._refuse(spread / 2)

        def check(qp: BoxQP, result: QPResult) -> bool:
            total = max(float(np.abs(result.b).sum()), SMALLEST)
            size = np.sqrt(max(float(result.b @ (result.g - qp.linear)), 0.0)) / total
            excess = float(y @ result.b) / total - epsilon
            if size <= TOUCHING_DISTANCE * width and excess > TOUCHING_DISTANCE * spread:
                self._refuse(epsilon + excess)
            return False

        unit = spread / width**2
        return grow_box(self.qp, method, FIRST_BOX * unit, LAST_BOX * unit, check, run)

    def _refuse(self, least: float) -> NoReturn:
        needs = f"a function within epsilon = {self.qp.kink:g} of all y, for C = inf"
        got = f"every function of this kernel is off by about {least:.2g} somewhere"
        remedy = "Use a finite C, a larger epsilon or a narrower kernel, or drop rows that contradict others."
        raise InputError(message(needs, got, remedy))
