"""Least squares in one pass over rows that come in pieces: sums, one spectrum for all penalties, and a check.

Cost: n p^2 operations for the sums, 9 p^3 for the spectrum, 4 n p an output for each check; 4 p^2 numbers and a block.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from mercer.compute.run import Run, Stopped
from mercer.learners import determinants
from mercer.learners.basis import Basis, FeatureBasis
from mercer.learners.check_pass import TRIED, Checked, Trial, check
from mercer.learners.moments import Moments, Normal
from mercer.learners.request import Fit, relative
from mercer.learners.sampled import SAMPLED, drawn, sampled_path
from mercer.learners.streamed import Streamed, StreamedFit
from mercer.learners.views import EPS
from mercer.operators import Centering
from mercer.solvers import Outcome
from mercer.solvers.base import solves
from mercer.solvers.rounding import MARGIN, Draw, mean_size, perturbations
from mercer.tuning.path import Path, default_alphas

Array = NDArray[np.float64]
STRETCHED = 1e6
"""Where whitening magnifies the rounding of sums by more than this, features are summed, at twice the operations.

From about 4e6 on the best penalty may be one at which sums of raw functions are nothing but rounding.
"""
SETTLED = 1e-8
"""A relative residual, or a relative error of predictions, above which a check is followed by a step of refinement."""
CHECKS = 3
"""Passes that check, at most: each but the last may be followed by a step."""
REFINABLE = 0.1
"""The estimated relative error of predictions that steps of refinement surely take out."""


@dataclass(frozen=True, eq=False)
class _Problem:
    """What is known after the pass.

    summed : the basis whose functions were summed
    stopped : why the pass ended early; "" where it did not
    """

    request: Streamed
    summed: Basis
    normal: Normal
    trial: Trial
    stopped: str

    @property
    def basis(self) -> Basis:
        return self.request.basis

    def predicted(self, w: Array) -> Array:
        """(2, outputs): the sizes of predictions at rows and at new ones."""
        return np.array([mean_size(table + self.normal.level) for table in self.trial.predict(w, w)])


@dataclass(frozen=True, eq=False)
class _Solution:
    """Weights w of features, and what a check said of them; None where there was none, because of `stopped`."""

    alphas: Array
    w: Array
    steps: int = 0
    checked: Checked | None = None
    stopped: str = ""


def solve(request: Streamed, run: Run) -> StreamedFit:
    """The model at given alphas, or at the best of a path that a sample of rows judges."""
    moments, stopped = _passed(request, run)
    with run.stage("solve"):
        path, problem = _decomposed(request, moments, stopped, run)
        chosen = None if path is None else _trusted(problem, path, path.best)
    while True:
        alphas = request.penalty.given if path is None or chosen is None else path.alphas[chosen]
        solution = _refined(problem, alphas, run)
        fit = _fit(problem, solution, path)
        larger = None if path is None or chosen is None else _raised(request, fit.roundings, path, chosen)
        if larger is None or solution.stopped:
            return _with_raw(problem, fit)
        chosen = larger


# -- the pass ---------------------------------------------------------------------------------------------------------


def _passed(request: Streamed, run: Run) -> tuple[Moments, str]:
    """Sums over all rows, or over the first of them, and why the others are missing."""
    stream, basis = request.stream, request.basis
    summed = FeatureBasis(basis) if basis.stretch > STRETCHED else basis
    moments = Moments(summed, stream.outputs, request.intercept)
    saved = run.saved("pass")
    if saved is not None:
        moments.restore(saved)
    with run.stage("pass", stream.count):
        run.tell(moments.rows)
        return moments, _added(request, moments, run)


def _added(request: Streamed, moments: Moments, run: Run) -> str:
    """Add the rows that are not in yet; why this ended early, "" where it did not."""
    pieces = request.stream.pieces(_batch(request), moments.rows)
    try:
        for piece in islice(pieces, 0 if moments.rows else 1):
            moments.add(piece, run)
            run.offer("pass", moments.state)
        with run.stoppable():
            for piece in pieces:
                moments.add(piece, run)
                run.offer("pass", moments.state)
    except Stopped as stopped:
        return f"stopped after {100 * moments.rows / request.stream.count:.0f} % of the rows: {stopped}"
    return ""


def _batch(request: Streamed) -> int:
    return request.plan.batch or request.stream.count


# -- the path ---------------------------------------------------------------------------------------------------------


def _decomposed(request: Streamed, moments: Moments, stopped: str, run: Run) -> tuple[Path | None, _Problem]:
    """The normal equations, and how each penalty does; None where nothing is to be chosen."""
    summed, normal = moments.basis, Normal.of(moments, request.intercept)
    most = SAMPLED if request.penalty.path else TRIED
    sample = drawn(request.stream, normal.rows, most, request.random)
    problem = _Problem(request, summed, normal, Trial.of(normal, request.basis, sample), stopped)
    if not request.penalty.path:
        return None, problem
    given = request.penalty.values
    alphas = default_alphas(normal.spectrum.values[-1]) if given is None else np.unique(given)
    return sampled_path(normal, summed, sample, alphas, request.coded, run), problem


def _trusted(problem: _Problem, path: Path, chosen: NDArray[np.intp]) -> NDArray[np.intp]:
    """Candidates at which rounding does not show, or can be taken out: known without a pass."""
    limit = problem.request.trusted if problem.stopped else REFINABLE
    while True:
        alphas = path.alphas[chosen]
        solution = _Solution(alphas, problem.normal.spectrum.solve(problem.normal.right, alphas))
        larger = _raised(problem.request, _roundings(problem, solution), path, chosen, limit)
        if larger is None:
            return chosen
        chosen = larger


def _raised(
    request: Streamed, roundings: Array, path: Path, chosen: NDArray[np.intp], limit: float | None = None
) -> NDArray[np.intp] | None:
    """The next larger candidate for outputs that rounding makes doubtful; None where nothing is to be changed.

    Only where nobody named the candidates: "auto" never ends in a warning while a larger alpha helps.
    """
    doubtful = ~(roundings <= (request.trusted if limit is None else limit))
    if request.penalty.values is not None or not doubtful.any() or chosen.max() + 1 >= len(path.alphas):
        return None
    return chosen + (1 if request.coded else doubtful.astype(np.intp))


# -- the check --------------------------------------------------------------------------------------------------------


def _refined(problem: _Problem, alphas: Array, run: Run) -> _Solution:
    """The solution, checked on the rows, after steps from their residuals where it needs some.

    Sums of functions that are nearly dependent lose digits, which the residuals of rows still have (Bjorck, Stability
    analysis of the method of seminormal equations, 1987).
    """
    spectrum = problem.normal.spectrum
    best = _Solution(alphas, spectrum.solve(problem.normal.right, alphas), stopped=problem.stopped)
    if problem.stopped:
        return best
    w = best.w
    try:
        with run.stoppable():
            for steps in range(CHECKS):
                best = _checked(problem, alphas, w, steps, run)
                if _settled(problem, best):
                    break
                w = w + _step(problem, best)
    except Stopped as stopped:
        return replace(best, stopped=f"stopped in the check: {stopped}")
    return best


def _checked(problem: _Problem, alphas: Array, w: Array, steps: int, run: Run) -> _Solution:
    request = problem.request
    found = check(request.stream, request.basis, problem.normal, problem.trial, w, _batch(request), run)
    return _Solution(alphas, w, steps, replace(found, gradient=found.gradient - alphas * w))


def _step(problem: _Problem, solution: _Solution) -> Array:
    """Where the gradient says that the solution is; zero where there was no check."""
    if solution.checked is None:
        return np.zeros_like(solution.w)
    return problem.normal.spectrum.solve(solution.checked.gradient, solution.alphas)


def _settled(problem: _Problem, solution: _Solution) -> bool:
    """Whether a step would change nothing that matters, or could do no good."""
    if problem.normal.spectrum.truncated(solution.alphas):
        return True
    moved = [mean_size(table) for table in problem.trial.predict(_step(problem, solution), solution.w)]
    off = relative(np.array(moved), problem.predicted(solution.w)).max()
    return bool(max(off, _residual(problem, solution)) <= SETTLED)


def _residual(problem: _Problem, solution: _Solution) -> float:
    """The largest |Z'D(y - f) - alpha w| / |Z'Dy|: from the rows, or from sums where they were not checked."""
    normal, w = problem.normal, solution.w
    left = normal.right - normal.spectrum.multiply(w) - solution.alphas * w
    if solution.checked is not None:
        left = solution.checked.gradient
    return float(relative(np.linalg.norm(left, axis=0), np.linalg.norm(normal.right, axis=0)).max())


# -- what is told -----------------------------------------------------------------------------------------------------


def _outcome(problem: _Problem, solution: _Solution) -> Outcome:
    """What is known of a solution."""
    spectrum, residual = problem.normal.spectrum, _residual(problem, solution)
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


def _fit(problem: _Problem, solution: _Solution, path: Path | None) -> Fit:
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
        roundings=_roundings(problem, solution),
        path=path,
    )


def _with_raw(problem: _Problem, fit: Fit) -> StreamedFit:
    weights = fit.outcome.value
    return StreamedFit(fit, problem.basis.to_raw(weights), fit.intercepts, problem.normal.spectrum)


def _roundings(problem: _Problem, solution: _Solution) -> Array:
    """The estimated relative errors of predictions, at the rows and at new ones like them."""
    normal, alphas, w = problem.normal, solution.alphas, solution.w
    if normal.spectrum.truncated(alphas):
        return np.full(len(alphas), np.inf)
    lengths = np.linalg.norm(problem.trial.longest[:, None] * problem.basis.to_raw(w), axis=0)
    level = np.sqrt(normal.squares / normal.total + normal.level**2) * normal.intercept
    summed = MARGIN * EPS * (lengths / np.sqrt(normal.total) + level)
    step = [mean_size(table) for table in problem.trial.predict(_step(problem, solution), w)]
    draw = _of_sums(problem, solution) if solution.checked is None else _of_rows(problem, solution, solution.checked)
    moved = perturbations(normal.spectrum, problem.trial.predict, alphas, draw) + MARGIN * np.array(step)
    return np.asarray(relative(moved + summed, problem.predicted(w)).max(axis=0))


def _of_sums(problem: _Problem, solution: _Solution) -> Draw:
    """Random errors of Z'Dy - Z'Z w as sums have them: entries are off by eps e_i e_j before they are whitened."""
    basis, sizes = problem.summed, problem.normal.sizes[:, None]
    lengths = np.linalg.norm(sizes * basis.to_raw(solution.w), axis=0) + np.sqrt(problem.normal.squares)

    def draw(random: np.random.Generator) -> Array:
        return basis.to_features((EPS * sizes * lengths * random.standard_normal(solution.w.shape)).T).T

    return draw


def _of_rows(problem: _Problem, solution: _Solution, checked: Checked) -> Draw:
    """Random errors of Z'D(y - f) - alpha w as a check has them: of residuals, and of what is made of them."""
    basis, normal, w, sizes = problem.basis, problem.normal, solution.w, problem.trial.sizes[:, None]
    lengths = np.linalg.norm(sizes * basis.to_raw(w), axis=0) + np.sqrt(normal.squares)
    of_rows = EPS * lengths / np.sqrt(normal.rows) * np.sqrt(normal.spectrum.kept)[:, None]
    of_sums, of_ridge = EPS * sizes * np.sqrt(checked.squares), EPS * solution.alphas * np.abs(w)

    def draw(random: np.random.Generator) -> Array:
        rows = normal.spectrum.vectors @ (of_rows * random.standard_normal(of_rows.shape))
        sums = basis.to_features((of_sums * random.standard_normal(w.shape)).T).T
        return np.asarray(rows + sums + of_ridge * random.standard_normal(w.shape))

    return draw
