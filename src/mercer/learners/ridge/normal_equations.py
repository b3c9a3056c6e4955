"""Least squares in one pass over rows that come in pieces: sums, one spectrum for all penalties, and a check.

Cost: n p^2 operations for the sums, 9 p^3 for the spectrum, 4 n p per output for each check; 4 p^2 numbers and a block.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mercer.compute.runtime.run import Run, Stopped
from mercer.errors import number_of
from mercer.learners.ridge import primal
from mercer.learners.ridge.problem import RidgeProblem
from mercer.learners.ridge.refinement import (
    Solution,
    Summed,
    as_if_checked,
    left_by_step,
    moved_by,
    residual_of,
    roundings_of,
    step_of,
    stepped,
)
from mercer.learners.ridge.residual_pass import Trial, check
from mercer.learners.ridge.result import BasisFit, raised
from mercer.learners.ridge.sampled_loo import drawn, sampled_path
from mercer.learners.streaming.basis import Basis, FeatureBasis
from mercer.learners.streaming.moments import Moments, Normal
from mercer.learners.streaming.stream import Piece, Stream
from mercer.operators import Centering
from mercer.planner.ridge import RidgePlan
from mercer.planner.ridge.streaming import JUDGED, TRIED
from mercer.solvers import Outcome
from mercer.solvers.ridge.checks import solves
from mercer.solvers.ridge.perturbation import ERROR_FACTOR
from mercer.tuning.path import Path, default_alphas

if TYPE_CHECKING:
    from mercer.learners.streaming.grid import GridMoments

Array = NDArray[np.float64]
STRETCHED = 1e6
"""Where whitening magnifies the rounding of sums by more than this, features are summed, at twice the operations.

From about 4e6 on the best penalty may be one at which sums of raw functions are nothing but rounding.
"""
REGAINED = 0.02
"""... except where the penalty is given, and each step of refinement leaves at most this part of what they are off."""
SETTLED = 0.01
"""A relative residual, or a relative error of predictions, in units of what is trusted, above which a check is followed
by a step of refinement."""
KNOWN = 0.1
"""The same for what is left after a step, up to which no check is needed to know it."""
CHECKS = 3
"""Passes that check, at most: each but the last may be followed by a step."""
REFINABLE = 0.1
"""The estimated relative error of predictions that steps of refinement surely take out."""


def solve(
    problem: RidgeProblem, rows: Stream, basis: Basis, plan: RidgePlan, run: Run, random: np.random.Generator
) -> BasisFit:
    """The model at given alphas, or at the best of a path that a sample of rows judges."""
    batch = plan.details.batch or rows.count
    moments, stopped = _passed(problem, rows, basis, batch, run)
    with run.stage("solve"):
        normal = Normal.of(moments, problem.centering.intercept)
        sample = drawn(rows, normal.rows, JUDGED if problem.penalty.path else TRIED, random)
        sums = Summed(problem, rows, basis, batch, moments.basis, normal, Trial.of(normal, basis, sample), stopped)
        path = _path(sums, sample, run)
        chosen = None if path is None else _trusted(sums, path, path.best, run)
    if path is None or chosen is None:
        return _fit(sums, _refined(sums, problem.penalty.given, run), None)
    while True:
        solution = _refined(sums, path.alphas[chosen], run)
        fit = _fit(sums, solution, path)
        larger = raised(problem, ~(fit.roundings <= problem.trusted), chosen, len(path.alphas))
        if larger is None or solution.stopped:
            return fit
        chosen = larger


# -- the pass ---------------------------------------------------------------------------------------------------------


def _passed(problem: RidgeProblem, rows: Stream, basis: Basis, batch: int, run: Run) -> tuple[Moments, str]:
    """Sums over all rows, or over the first of them, and why the others are missing."""
    summed = FeatureBasis(basis) if _lossy(problem, rows, basis) else basis
    moments = Moments(summed, rows.outputs, problem.centering.intercept)
    saved = run.saved("pass")
    if saved is not None:
        moments.restore(saved)
    with run.stage("pass", rows.count):
        return moments, added(rows, batch, moments, run)


def _lossy(problem: RidgeProblem, rows: Stream, basis: Basis) -> bool:
    """Whether sums of raw functions may lose digits that the residuals of rows cannot bring back.

    A step of refinement leaves the part (rounding of the sums) / (eigenvalue + alpha) of what was off. Which penalty is
    best is read from the sums alone, so that a path needs sums that are true.
    """
    if basis.stretch <= STRETCHED:
        return False
    if problem.penalty.path:
        return True
    return basis.rounding * rows.count > REGAINED * float(problem.penalty.given.min())


def added(rows: Stream, batch: int, moments: Moments | GridMoments, run: Run) -> str:
    """Add the rows that are not in yet; why this ended early, "" where it did not."""
    whole = _Whole(run)
    with ExitStack() as usable:
        try:
            if moments.rows:  # of an earlier run
                usable.enter_context(run.stoppable())
            run.tell(moments.rows)
            for piece in rows.pieces(batch, moments.rows):
                moments.add(piece, whole)
                run.offer("pass", moments.state)
                if piece.start == 0:
                    usable.enter_context(run.stoppable())
                whole.end()
                run.tell(moments.rows)
        except Stopped as stopped:
            if moments.rows < rows.count:
                return f"stopped after {100 * moments.rows / rows.count:.0f} % of the rows: {stopped}"
    return ""


class _Whole(Run):
    """A run that stops after a piece, not inside it: sums of half a piece would be of nobody knows which rows."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._stopped: Stopped | None = None

    def tell(self, done: float) -> None:
        try:
            self._run.tell(done)
        except Stopped as stopped:
            self._stopped = stopped

    def end(self) -> None:
        """The piece is in: stop now, where that was asked for meanwhile."""
        if self._stopped is not None:
            raise self._stopped


# -- the path ---------------------------------------------------------------------------------------------------------


def _path(sums: Summed, sample: Piece, run: Run) -> Path | None:
    """How each penalty does; None where nothing is to be chosen."""
    problem = sums.problem
    if not problem.penalty.path:
        return None
    given = problem.penalty.values
    alphas = default_alphas(sums.normal.spectrum.values[-1]) if given is None else np.unique(given)
    return sampled_path(sums.normal, sums.summed, sample, alphas, problem.is_coded, run)


def _trusted(sums: Summed, path: Path, chosen: NDArray[np.intp], run: Run) -> NDArray[np.intp]:
    """Candidates at which rounding does not show, or steps of refinement take it out: known without a pass."""
    problem, normal = sums.problem, sums.normal
    while True:
        alphas = path.alphas[chosen]
        solution = Solution(alphas, normal.spectrum.solve(normal.right, alphas))
        doubtful = ~(roundings_of(sums, solution) <= (problem.trusted if sums.stopped else REFINABLE))
        doubtful |= ~(roundings_of(sums, as_if_checked(sums, solution)) <= problem.trusted)
        larger = raised(problem, doubtful, chosen, len(path.alphas))
        if larger is None or run.over(1.0):
            return chosen
        chosen = larger


# -- the check --------------------------------------------------------------------------------------------------------


def _refined(sums: Summed, alphas: Array, run: Run) -> Solution:
    """The solution, checked on the rows, after steps from their residuals where it needs some.

    Sums of functions that are nearly dependent lose digits, which the residuals of rows still have (Bjorck, Stability
    analysis of the method of seminormal equations, 1987).
    """
    spectrum = sums.normal.spectrum
    best = Solution(alphas, spectrum.solve(sums.normal.right, alphas), stopped=sums.stopped)
    if sums.stopped:
        return best
    try:
        with run.stoppable():
            for steps in range(CHECKS):
                found = _checked(sums, alphas, best.w + step_of(sums, best), steps, run)
                if best.checked is not None and residual_of(sums, found) >= residual_of(sums, best):
                    break  # the sums are so far off that steps lead away
                best = found
                if _settled(sums, best):
                    break
                if _surely(sums, best):
                    return stepped(sums, best)
    except Stopped as stopped:
        return replace(best, stopped=f"stopped in the check: {stopped}")
    return best


def _checked(sums: Summed, alphas: Array, w: Array, steps: int, run: Run) -> Solution:
    found = check(sums.rows, sums.basis, sums.normal, sums.trial, w, sums.batch, run)
    return Solution(alphas, w, steps, replace(found, gradient=found.gradient - alphas * w))


def _settled(sums: Summed, solution: Solution) -> bool:
    """Whether a step would change nothing that matters, or could do no good."""
    if sums.normal.spectrum.truncated(solution.alphas):
        return True
    return _off(sums, solution) <= SETTLED * sums.problem.trusted


def _surely(sums: Summed, solution: Solution) -> bool:
    """Whether a step settles it, and no check is needed to know that."""
    left = ERROR_FACTOR * left_by_step(sums, solution) * _off(sums, solution)
    return left <= KNOWN * sums.problem.trusted


def _off(sums: Summed, solution: Solution) -> float:
    return max(moved_by(sums, solution), residual_of(sums, solution))


# -- what is told -----------------------------------------------------------------------------------------------------


def _outcome(sums: Summed, solution: Solution) -> Outcome:
    """What is known of a solution."""
    spectrum, residual = sums.normal.spectrum, residual_of(sums, solution)
    reason = [f"One pass over {number_of(sums.normal.rows, 'row')}, and one eigendecomposition."]
    short = spectrum.truncated(solution.alphas)
    if short:
        reason += [
            "Z'Z + alpha I is singular to rounding: the shortest of the solutions was taken, without the directions "
            f"whose eigenvalues are at most {spectrum.floor:.1e}."
        ]
    if solution.stopped:
        reason[0] = f"{solution.stopped[:1].upper()}{solution.stopped[1:].rstrip('.')}."
    converged = not (short or solution.stopped) and solves(residual, reason)
    condition = spectrum.condition(solution.alphas)
    return Outcome(solution.w, converged, " ".join(reason), solution.steps, residual, condition)


def _fit(sums: Summed, solution: Solution, path: Path | None) -> BasisFit:
    normal, w, alphas, checked = sums.normal, solution.w, solution.alphas, solution.checked
    products = normal.squares - (normal.right * w).sum(axis=0) if checked is None else checked.products
    noise = np.maximum(products, 0.0) / max(normal.total - normal.intercept, 1.0)
    residuals = None if checked is None or not (alphas > 0).all() else checked.residuals
    centering, width = Centering(np.array([normal.total]), normal.intercept), len(normal.spectrum.values)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = noise / alphas
    return BasisFit(
        outcome=_outcome(sums, solution),
        alphas=alphas,
        duals=None if residuals is None else residuals / alphas,
        weights=w,
        intercepts=normal.level - normal.means @ w - normal.rest @ w,
        levels=normal.level - normal.rest @ w,
        means=normal.means,
        noise=noise,
        variance=variance,
        log_determinants=primal.log_determinants(normal.spectrum, centering, width, alphas),
        roundings=roundings_of(sums, solution),
        path=path,
        raw=sums.basis.to_raw(w),
        basis=sums.basis,
        spectrum=normal.spectrum,
    )
