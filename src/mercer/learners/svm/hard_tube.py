"""Regression without errors: no residual beyond epsilon, or an error that says why there is no such function."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mercer.compute.runtime.run import Run
from mercer.errors import InputError, sentence
from mercer.learners.svm.hard_margin import FIRST, TOUCHING, WIDER, WIDEST, boxed, held, width_of
from mercer.learners.svm.methods import Method
from mercer.learners.svm.subproblem import Subproblem
from mercer.solvers.svm.box_qp import BoxQP, QPResult

SMALLEST = float(np.finfo(np.float64).tiny)


def within_tube(who: str, way: Method, sought: Subproblem, run: Run) -> tuple[BoxQP, QPResult]:
    """The flattest function within epsilon of all targets: a box so wide that no coefficient is at its end.

    The box grows until that is so. With u = b / |b|_1 every such function has |f| >= (y.u - epsilon) / sqrt(u'Ku):
    where the root is 0 and what it divides is not, there is none.
    """
    y = -sought.problem.linear
    spread, width = float(np.ptp(y)), width_of(way, sought.problem.count)
    if spread <= 2 * sought.problem.kink:  # a constant is within the tube
        cap = 1.0
        return boxed(sought.problem, cap), way.solve(boxed(sought.problem, cap), None, run)
    if not width > 0:
        _refuse(who, sought, spread / 2)
    unit = spread / width**2
    cap, start, brief, steps = FIRST * unit, None, way.brief(), 0
    while True:
        problem = boxed(sought.problem, cap)
        rested = brief.solve(problem, start, run)
        steps += rested.steps
        if not held(rested, cap):
            rested = way.solve(problem, rested.b, run)
            steps += rested.steps
            if not held(rested, cap):
                return problem, replace(rested, steps=steps)
        total = max(float(np.abs(rested.b).sum()), SMALLEST)
        size = np.sqrt(max(float(rested.b @ (rested.g - problem.linear)), 0.0)) / total
        excess = float(y @ rested.b) / total - problem.kink
        if size <= TOUCHING * width and excess > TOUCHING * spread:
            _refuse(who, sought, problem.kink + excess)
        if cap >= WIDEST * unit:
            return problem, replace(rested, converged=False, steps=steps)
        cap, start = WIDER * cap, rested.b


def _refuse(who: str, sought: Subproblem, least: float) -> None:
    needs = f"a function within epsilon = {sought.problem.kink:g} of all y, for C = inf"
    got = f"every function of this kernel is off by about {least:.2g} somewhere"
    remedy = "Use a finite C, a larger epsilon or a narrower kernel, or drop rows that contradict others."
    raise InputError(sentence(who, needs, got, remedy))
