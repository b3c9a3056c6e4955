"""Least squares in one pass over rows that come in pieces: sums, one spectrum for all penalties, and a check.

Cost: n p^2 operations for the sums, 9 p^3 for the spectrum, 4 n p per output for each check; 4 p^2 numbers and a block.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mercer.compute.runtime.run import Run, Stopped
from mercer.learners.ridge import determinants
from mercer.learners.ridge.refinement import (
    Problem,
    Solution,
    as_if_checked,
    left_by_step,
    moved_by,
    residual_of,
    roundings_of,
    step_of,
    stepped,
)
from mercer.learners.ridge.request import Fit, raised
from mercer.learners.ridge.residual_pass import Trial, check
from mercer.learners.ridge.sampled_loo import drawn, sampled_path
from mercer.learners.ridge.streamed import Streamed, StreamedFit
from mercer.learners.streaming.basis import FeatureBasis
from mercer.learners.streaming.moments import Moments, Normal
from mercer.operators import Centering
from mercer.planner.streaming import JUDGED, TRIED
from mercer.solvers import Outcome
from mercer.solvers.ridge.base import solves
from mercer.solvers.ridge.perturbation import MARGIN
from mercer.tuning.path import Path, default_alphas

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


def solve(request: Streamed, run: Run) -> StreamedFit:
    """The model at given alphas, or at the best of a path that a sample of rows judges."""
    moments, stopped = _passed(request, run)
    with run.stage("solve"):
        path, problem = _decomposed(request, moments, stopped, run)
        chosen = None if path is None else _trusted(problem, path, path.best, run)
    if path is None or chosen is None:
        return _with_raw(problem, _fit(problem, _refined(problem, request.penalty.given, run), None))
    while True:
        solution = _refined(problem, path.alphas[chosen], run)
        fit = _fit(problem, solution, path)
        doubtful = ~(fit.roundings <= request.trusted)
        larger = raised(request.penalty, doubtful, chosen, len(path.alphas), request.coded)
        if larger is None or solution.stopped:
            return _with_raw(problem, fit)
        chosen = larger


# -- the pass ---------------------------------------------------------------------------------------------------------


def _passed(request: Streamed, run: Run) -> tuple[Moments, str]:
    """Sums over all rows, or over the first of them, and why the others are missing."""
    stream, basis = request.stream, request.basis
    summed = FeatureBasis(basis) if _lossy(request) else basis
    moments = Moments(summed, stream.outputs, request.intercept)
    saved = run.saved("pass")
    if saved is not None:
        moments.restore(saved)
    with run.stage("pass", stream.count):
        return moments, _added(request, moments, run)


def _lossy(request: Streamed) -> bool:
    """Whether sums of raw functions may lose digits that the residuals of rows cannot bring back.

    A step of refinement leaves the part (rounding of the sums) / (eigenvalue + alpha) of what was off. Which penalty is
    best is read from the sums alone, so that a path needs sums that are true.
    """
    basis, penalty = request.basis, request.penalty
    if basis.stretch <= STRETCHED:
        return False
    if penalty.path:
        return True
    return basis.rounding * request.stream.count > REGAINED * float(penalty.given.min())


def _added(request: Streamed, moments: Moments, run: Run) -> str:
    """Add the rows that are not in yet; why this ended early, "" where it did not."""
    whole = _Whole(run)
    with ExitStack() as usable:
        try:
            if moments.rows:  # of an earlier run
                usable.enter_context(run.stoppable())
            run.tell(moments.rows)
            for piece in request.stream.pieces(_batch(request), moments.rows):
                moments.add(piece, whole)
                run.offer("pass", moments.state)
                if piece.start == 0:
                    usable.enter_context(run.stoppable())
                whole.end()
                run.tell(moments.rows)
        except Stopped as stopped:
            if moments.rows < request.stream.count:
                return f"stopped after {100 * moments.rows / request.stream.count:.0f} % of the rows: {stopped}"
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


def _batch(request: Streamed) -> int:
    return request.plan.batch or request.stream.count


# -- the path ---------------------------------------------------------------------------------------------------------


def _decomposed(request: Streamed, moments: Moments, stopped: str, run: Run) -> tuple[Path | None, Problem]:
    """The normal equations, and how each penalty does; None where nothing is to be chosen."""
    summed, normal = moments.basis, Normal.of(moments, request.intercept)
    most = JUDGED if request.penalty.path else TRIED
    sample = drawn(request.stream, normal.rows, most, request.random)
    problem = Problem(request, summed, normal, Trial.of(normal, request.basis, sample), stopped)
    if not request.penalty.path:
        return None, problem
    given = request.penalty.values
    alphas = default_alphas(normal.spectrum.values[-1]) if given is None else np.unique(given)
    return sampled_path(normal, summed, sample, alphas, request.coded, run), problem


def _trusted(problem: Problem, path: Path, chosen: NDArray[np.intp], run: Run) -> NDArray[np.intp]:
    """Candidates at which rounding does not show, or steps of refinement take it out: known without a pass."""
    request, normal = problem.request, problem.normal
    while True:
        alphas = path.alphas[chosen]
        solution = Solution(alphas, normal.spectrum.solve(normal.right, alphas))
        doubtful = ~(roundings_of(problem, solution) <= (request.trusted if problem.stopped else REFINABLE))
        doubtful |= ~(roundings_of(problem, as_if_checked(problem, solution)) <= request.trusted)
        larger = raised(request.penalty, doubtful, chosen, len(path.alphas), request.coded)
        if larger is None or run.over(1.0):
            return chosen
        chosen = larger


# -- the check --------------------------------------------------------------------------------------------------------


def _refined(problem: Problem, alphas: Array, run: Run) -> Solution:
    """The solution, checked on the rows, after steps from their residuals where it needs some.

    Sums of functions that are nearly dependent lose digits, which the residuals of rows still have (Bjorck, Stability
    analysis of the method of seminormal equations, 1987).
    """
    spectrum = problem.normal.spectrum
    best = Solution(alphas, spectrum.solve(problem.normal.right, alphas), stopped=problem.stopped)
    if problem.stopped:
        return best
    try:
        with run.stoppable():
            for steps in range(CHECKS):
                found = _checked(problem, alphas, best.w + step_of(problem, best), steps, run)
                if best.checked is not None and residual_of(problem, found) >= residual_of(problem, best):
                    break  # the sums are so far off that steps lead away
                best = found
                if _settled(problem, best):
                    break
                if _surely(problem, best):
                    return stepped(problem, best)
    except Stopped as stopped:
        return replace(best, stopped=f"stopped in the check: {stopped}")
    return best


def _checked(problem: Problem, alphas: Array, w: Array, steps: int, run: Run) -> Solution:
    request = problem.request
    found = check(request.stream, request.basis, problem.normal, problem.trial, w, _batch(request), run)
    return Solution(alphas, w, steps, replace(found, gradient=found.gradient - alphas * w))


def _settled(problem: Problem, solution: Solution) -> bool:
    """Whether a step would change nothing that matters, or could do no good."""
    if problem.normal.spectrum.truncated(solution.alphas):
        return True
    return _off(problem, solution) <= SETTLED * problem.request.trusted


def _surely(problem: Problem, solution: Solution) -> bool:
    """Whether a step settles it, and no check is needed to know that."""
    left = MARGIN * left_by_step(problem, solution) * _off(problem, solution)
    return left <= KNOWN * problem.request.trusted


def _off(problem: Problem, solution: Solution) -> float:
    return max(moved_by(problem, solution), residual_of(problem, solution))


# -- what is told -----------------------------------------------------------------------------------------------------


def _outcome(problem: Problem, solution: Solution) -> Outcome:
    """What is known of a solution."""
    spectrum, residual = problem.normal.spectrum, residual_of(problem, solution)
    reason = [f"One pass over {problem.normal.rows} rows, and one eigendecomposition."]
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


def _fit(problem: Problem, solution: Solution, path: Path | None) -> Fit:
    normal, w, alphas, checked = problem.normal, solution.w, solution.alphas, solution.checked
    products = normal.squares - (normal.right * w).sum(axis=0) if checked is None else checked.products
    noise = np.maximum(products, 0.0) / max(normal.total - normal.intercept, 1.0)
    residuals = None if checked is None or not (alphas > 0).all() else checked.residuals
    centering, width = Centering(np.array([normal.total]), normal.intercept), len(normal.spectrum.values)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = noise / alphas
    return Fit(
        outcome=_outcome(problem, solution),
        alphas=alphas,
        duals=None if residuals is None else residuals / alphas,
        weights=w,
        intercepts=normal.level - normal.means @ w - normal.rest @ w,
        levels=normal.level - normal.rest @ w,
        means=normal.means,
        noise=noise,
        variance=variance,
        log_determinants=determinants.in_primal(normal.spectrum, centering, width, alphas),
        roundings=roundings_of(problem, solution),
        path=path,
    )


def _with_raw(problem: Problem, fit: Fit) -> StreamedFit:
    weights = fit.outcome.value
    return StreamedFit(fit, problem.basis.to_raw(weights), fit.intercepts, problem.normal.spectrum)
