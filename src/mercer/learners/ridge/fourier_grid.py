"""Least squares on a grid of frequencies: one pass of non-uniform transforms, and a system that knows no rows.

The sums of a pass hold all inner products of features. Few features make a stored matrix, whose one spectrum serves
all penalties, exact leave-one-out errors of all rows, deviations and the likelihood; many are solved for by conjugate
gradients, with products by fast transforms (`solvers/ridge/toeplitz.py`). A second pass finds the residuals of rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mercer.compute import nonuniform
from mercer.compute.runtime.run import Run, Stopped
from mercer.errors import number_of
from mercer.learners.data.validation import Penalty
from mercer.learners.data.views import View
from mercer.learners.ridge.grid_path import left_out_path
from mercer.learners.ridge.grids import ends_of, grid_lift
from mercer.learners.ridge.normal_equations import added
from mercer.learners.ridge.primal import log_determinants
from mercer.learners.ridge.problem import RidgeProblem, table_of
from mercer.learners.ridge.result import BasisFit, raised, relative
from mercer.learners.ridge.sample_tuning import Chosen
from mercer.learners.streaming.grid import (
    GridBasis,
    GridMoments,
    at_frequencies,
    feature_squares,
    feature_sums,
)
from mercer.learners.streaming.moments import Normal, kept_features, spectrum_of
from mercer.learners.streaming.stream import Stream
from mercer.lifts.fourier_grid import FourierGrid
from mercer.operators import Centering
from mercer.planner.ridge import RidgePlan
from mercer.solvers import Outcome
from mercer.solvers.ridge.perturbation import ERROR_FACTOR, mean_size
from mercer.solvers.ridge.spectrum import Spectrum
from mercer.solvers.ridge.toeplitz import Toeplitz, solved
from mercer.tuning.nearest import Conditionals
from mercer.tuning.path import Path, default_alphas

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]
SETTLED, STEPS = 1e-12, 2
"""The relative residual up to which no step of refinement is taken, and how many are, at most."""
BATCH = 1 << 19
"""Rows of a piece, about."""
LOW = 1500
"""Features of the largest weights, which are factored as a preconditioner of all."""
ROUNDED = 7.0
"""Digits that transforms lose, in units of the square root of those of floats."""


def solve(problem: RidgeProblem, rows: Stream, lift: FourierGrid, plan: RidgePlan, run: Run) -> BasisFit:
    """The model at given alphas, or at the best of a path, on the waves of a fitted lift."""
    basis, batch = GridBasis(lift), plan.details.batch or BATCH
    moments = GridMoments(basis.grid, rows.outputs, problem.centering.intercept)
    saved = run.saved("pass")
    if saved is not None:
        moments.restore(saved)
    with run.stage("pass", rows.count):
        stopped = added(rows, batch, moments, run)
    boxes, squares = moments.joined()
    sums = _Sums(problem, rows, basis, batch, boxes, squares, moments.shift, moments.rows, stopped)
    with run.stage("solve"):
        return _dense(sums, run) if plan.details.solver.whole_path else _by_steps(sums, run)


@dataclass(frozen=True, eq=False)
class _Sums:
    """What is known after the pass.

    boxes : (1 + outputs, *box), sums of waves, plain and with the targets less a shift
    squares : (1 + outputs,), the sum of the weights, and of the squares of these targets
    count : rows that were summed
    stopped : why others are missing; "" where none are
    """

    problem: RidgeProblem
    rows: Stream
    basis: GridBasis
    batch: int
    boxes: Complex
    squares: Array
    shift: Array
    count: int
    stopped: str

    @property
    def intercept(self) -> bool:
        return self.problem.centering.intercept

    @property
    def total(self) -> float:
        """The sum of all weights."""
        return float(self.squares[0])

    @property
    def beside(self) -> Array:
        """(outputs,): the mean of the targets less the shift; zero where there is no intercept."""
        zero, _ = at_frequencies(self.basis.grid, self.boxes[1:])
        return np.asarray(zero.real / self.total * self.intercept)

    @property
    def level(self) -> Array:
        """(outputs,): the mean of the targets; zero where there is no intercept."""
        return self.shift + self.beside

    @property
    def spread(self) -> Array:
        """(outputs,): sum_i s_i (y_i - level)^2."""
        return np.maximum(self.squares[1:] - self.total * self.beside**2, 0.0)

    @property
    def means(self) -> Array:
        """(M,), of the features; zero where there is no intercept."""
        return feature_sums(self.basis.grid, self.boxes[0]) / self.total * self.intercept

    @property
    def right(self) -> Array:
        """(M, outputs): Z'D(y - level)."""
        found = feature_sums(self.basis.grid, self.boxes[1:]).T
        return np.asarray(found - self.total * self.means[:, None] * self.beside)


@dataclass(frozen=True, eq=False)
class _Checked:
    """What a pass over the rows found of weights.

    gradient : (M, outputs), Z'D(y - prediction), without alpha w
    products : (outputs,), sum_i s_i (y_i - level) (y_i - prediction)
    residuals : (n, outputs), s_i (y_i - prediction), where all rows are in memory; else None
    """

    gradient: Array
    products: Array
    residuals: Array | None


def of_least_error(problem: RidgeProblem, plan: RidgePlan, run: Run) -> Chosen:
    """The view of least leave-one-out error, all alphas of each; the rows are read once for the grids of all."""
    rows, batch = problem.rows(problem.view), plan.details.batch or BATCH
    low, high = ends_of(rows, batch)
    lifts = [grid_lift(table_of(view), low, high, plan.details.epsilon) for view in problem.views]
    bases = [GridBasis(lift) for lift in lifts]
    moments = [GridMoments(basis.grid, rows.outputs, problem.centering.intercept) for basis in bases]
    with run.stage("tuning", rows.count):
        for piece in rows.pieces(batch):
            for each in moments:
                each.add(piece)
            run.tell(piece.stop)
    best: tuple[tuple[float, float], View] = (np.inf, np.inf), problem.view
    for view, basis, each in zip(problem.views, bases, moments, strict=True):
        boxes, squares = each.joined()
        sums = _Sums(problem, rows, basis, batch, boxes, squares, each.shift, each.rows, "")
        path = _path(sums, _normal(sums), run)
        errors = path.errors[path.best, np.arange(rows.outputs)]
        wrong = 0.0 if path.wrong is None else round(float(path.wrong[path.best[0]]), 12)
        score = wrong, float(relative(errors, sums.spread / sums.total).sum())
        if score < best[0]:
            best = score, view
    return Chosen(best[1], problem.penalty)


def by_likelihood(problem: RidgeProblem, plan: RidgePlan, run: Run, random: np.random.Generator) -> Chosen:
    """The penalties of largest likelihood, of a sample of rows given the nearest of others: no path is known here.

    What the waves leave of the kernel is noise to them, so that no penalty below their error is taken.
    """
    view = table_of(problem.view)
    if not problem.penalty.path:
        return Chosen(view, problem.penalty)
    kernel, points, center = view.kernel, view.points, problem.centering
    if problem.source is None and len(problem.kept) < view.count:
        points = points.rows(problem.kept)
    X, count = np.asarray(points.values, dtype=np.float64), problem.targets.shape[1]
    if kernel is None:
        raise TypeError("a grid stands for a kernel")
    with run.stage("tuning"):
        floor = plan.details.epsilon * float(kernel.evaluate_diagonal(points.rows(slice(0, 1)))[0])
        given = problem.penalty.values
        columns = [problem.targets] if problem.is_coded else list(problem.targets.T[:, :, None])
        known = [Conditionals.of(X, y, center.weights, center.intercept, random) for y in columns]
        alphas = np.array([each.alpha(kernel, given) for each in known])
    alphas = alphas if given is not None else np.maximum(alphas, floor)
    return Chosen(view, Penalty(np.broadcast_to(alphas, (count,)).copy(), path=False))


def _path(sums: _Sums, normal: Normal, run: Run) -> Path:
    given = sums.problem.penalty.values
    alphas = default_alphas(normal.spectrum.values[-1]) if given is None else np.unique(given)
    return left_out_path(normal, sums.basis, sums.rows, alphas, sums.problem.is_coded, run)


# -- few features -----------------------------------------------------------------------------------------------------


def _dense(sums: _Sums, run: Run) -> BasisFit:
    problem, normal = sums.problem, _normal(sums)
    if not problem.penalty.path:
        return _fit(sums, normal, _refined(sums, normal, problem.penalty.given, run), None)
    path = _path(sums, normal, run)
    chosen = path.best
    while True:
        solution = _refined(sums, normal, path.alphas[chosen], run)
        fit = _fit(sums, normal, solution, path)
        larger = raised(problem, ~(fit.roundings <= problem.trusted), chosen, len(path.alphas))
        if larger is None or solution.stopped:
            return fit
        chosen = larger


def _normal(sums: _Sums) -> Normal:
    """Z'Z and Z'y of centred features, decomposed."""
    grid, means, total = sums.basis.grid, sums.means, sums.total
    inner = feature_squares(grid, sums.boxes[0])
    sizes = np.sqrt(np.maximum(np.diagonal(inner), 0.0))
    kept = np.ones(len(inner), dtype=bool)
    right = sums.right
    if sums.intercept:
        inner -= total * np.outer(means, means)
        kept = kept_features(np.diagonal(inner), means, sums.count, total)
        right[~kept] = 0.0
    spectrum = spectrum_of(inner, kept)
    return Normal(
        rows=sums.count,
        total=total,
        intercept=sums.intercept,
        spectrum=spectrum,
        kept=kept,
        right=right,
        means=means,
        rest=np.zeros_like(means),
        level=sums.level,
        squares=sums.spread,
        center=(means, np.zeros_like(means)),
        sizes=ROUNDED * sizes,
        turned=spectrum.vectors,
    )


@dataclass(frozen=True, eq=False)
class _Solution:
    """Weights w of features, what a pass found with them, and the last step that led there, or would be the next."""

    alphas: Array
    w: Array
    checked: _Checked | None = None
    step: Array | None = None
    stopped: str = ""


def _refined(sums: _Sums, normal: Normal, alphas: Array, run: Run) -> _Solution:
    """The solution, checked on the rows, after steps from their residuals where it needs some."""
    best = _Solution(alphas, normal.spectrum.solve(normal.right, alphas), stopped=sums.stopped)
    if sums.stopped:
        return best
    try:
        with run.stoppable():
            for steps in range(1 + STEPS):
                found = _checked(sums, normal.means, best.w, run)
                left = found.gradient - alphas * best.w
                left[~normal.kept] = 0.0
                step = normal.spectrum.solve(left, alphas)
                best = replace(best, checked=found, step=step)
                if steps == STEPS or _residual(normal, best) <= SETTLED:
                    break
                best = replace(best, w=best.w + step)
    except Stopped as stopped:
        return replace(best, stopped=f"stopped in the check: {stopped}")
    return best


def _checked(sums: _Sums, means: Array, w: Array, run: Run) -> _Checked:
    """Residuals of all rows, and what they sum to. Cost: two transforms of all rows for every two outputs."""
    basis, grid, outputs = sums.basis, sums.basis.grid, w.shape[1]
    boxes, level = grid.coefficients(w), sums.level - means @ w
    gradient, lost, products = np.zeros_like(w), np.zeros(outputs), np.zeros(outputs)
    kept = np.empty((sums.rows.count, outputs)) if sums.rows.stored else None
    shape = tuple(2 * order + 1 for order in grid.orders)
    with run.stage("check", sums.rows.count):
        for piece in sums.rows.pieces(sums.batch):
            left = piece.targets - basis.of_boxes(piece.points, boxes).T - level
            weighted = piece.weights[:, None] * left
            angles = grid.angles(np.asarray(piece.points.values, dtype=np.float64))
            gradient += feature_sums(grid, nonuniform.sums(angles, weighted.T.astype(complex), shape)).T
            lost += weighted.sum(axis=0)
            products += (weighted * (piece.targets - sums.level)).sum(axis=0)
            if kept is not None:
                kept[piece.start : piece.stop] = weighted
            run.tell(piece.stop)
    return _Checked(gradient - means[:, None] * lost, products, kept)


def _residual(normal: Normal, solution: _Solution) -> float:
    """The largest |Z'b - (Z'Z + alpha I) w| / |Z'b|."""
    size = np.linalg.norm(normal.right, axis=0)
    if solution.checked is None:
        return 0.0
    left = solution.checked.gradient - solution.alphas * solution.w
    return float(relative(np.linalg.norm(left[normal.kept], axis=0), size).max(initial=0.0))


def _fit(sums: _Sums, normal: Normal, solution: _Solution, path: Path | None) -> BasisFit:
    spectrum, alphas, short = normal.spectrum, solution.alphas, normal.spectrum.truncated(solution.alphas)
    reason = f"One pass over {number_of(normal.rows, 'row')}, and one eigendecomposition."
    if short:
        reason += f" Z'Z + alpha I is singular to rounding, {spectrum.floor:.1e}: the shortest solution was taken."
    if solution.stopped:
        reason = f"{solution.stopped[:1].upper()}{solution.stopped[1:].rstrip('.')}."
    outcome = Outcome(
        solution.w,
        not (short or solution.stopped),
        reason,
        0,
        _residual(normal, solution),
        spectrum.condition(alphas),
    )
    return _described(sums, normal.means, solution, outcome, path, spectrum, _roundings(sums, normal, solution))


def _roundings(sums: _Sums, normal: Normal, solution: _Solution) -> Array:
    """The estimated relative errors of predictions: what a step of refinement would still change, and transforms."""
    spectrum = normal.spectrum

    def size(w: Array) -> Array:
        along = spectrum.vectors.T @ w
        return np.asarray(np.sqrt((spectrum.kept[:, None] * along**2).sum(axis=0) / normal.total))

    step = np.zeros_like(solution.w) if solution.step is None else solution.step
    predicted = np.sqrt(size(solution.w) ** 2 + normal.level**2)
    return relative(size(step) + nonuniform.VALUES_DIGITS * predicted, predicted)


# -- many features ----------------------------------------------------------------------------------------------------


def _by_steps(sums: _Sums, run: Run) -> BasisFit:
    """Conjugate gradients, which a run may stop from the first step on."""
    alphas = sums.problem.penalty.given
    means, right = sums.means, sums.right
    grid, spread = sums.basis.grid, np.sqrt(sums.spread / sums.total)
    system = Toeplitz.of(grid, sums.boxes[0], means, sums.total)
    low = np.sort(np.argsort(-grid.weights[1:], kind="stable")[: LOW // 2])
    part = replace(
        grid, frequencies=grid.frequencies[low], weights=np.concatenate([grid.weights[:1], grid.weights[1:][low]])
    )
    chosen = np.concatenate([[0], 1 + low, 1 + len(grid.frequencies) + low])
    block = feature_squares(part, sums.boxes[0]) - sums.total * np.outer(means[chosen], means[chosen])
    found = solved(system, block, chosen, right, alphas, spread, run)
    w, steps, reached, reason = found.weights, found.steps, found.converged, found.reason
    solution = _Solution(alphas, w, stopped=sums.stopped)
    if not sums.stopped:
        try:
            with run.stoppable():
                solution = replace(solution, checked=_checked(sums, means, w, run))
        except Stopped as stopped:
            solution = replace(solution, stopped=f"stopped in the check: {stopped}")
    sizes, residual = np.linalg.norm(right, axis=0), np.nan
    if solution.checked is not None:
        left = solution.checked.gradient - alphas * w
        residual = float(relative(np.linalg.norm(left, axis=0), sizes).max(initial=0.0))
    else:
        residual = float(relative(np.linalg.norm(right - system.times(w) - alphas * w, axis=0), sizes).max(initial=0.0))
    told = reason if not solution.stopped else f"{solution.stopped[:1].upper()}{solution.stopped[1:].rstrip('.')}."
    condition = float((system.largest + alphas.min()) / alphas.min()) if alphas.min() > 0 else np.inf
    outcome = Outcome(w, reached and not solution.stopped, told, steps, residual, condition)
    size = mean_size(np.sqrt(spread**2 + sums.level**2)[None, :])
    roundings = relative(ERROR_FACTOR * nonuniform.VALUES_DIGITS * size, size)
    return _described(sums, means, solution, outcome, None, None, roundings)


def _described(
    sums: _Sums,
    means: Array,
    solution: _Solution,
    outcome: Outcome,
    path: Path | None,
    spectrum: Spectrum | None,
    roundings: Array,
) -> BasisFit:
    w, alphas, checked = solution.w, solution.alphas, solution.checked
    products = sums.spread - (sums.right * w).sum(axis=0) if checked is None else checked.products
    noise = np.maximum(products, 0.0) / max(sums.total - sums.intercept, 1.0)
    duals = None if checked is None or checked.residuals is None or not (alphas > 0).all() else checked.residuals
    centering = Centering(np.array([sums.total]), sums.intercept)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = noise / alphas
    return BasisFit(
        outcome=outcome,
        alphas=alphas,
        duals=None if duals is None else duals / alphas,
        weights=w,
        intercepts=sums.level - means @ w,
        levels=sums.level,
        means=means,
        noise=noise,
        variance=variance,
        log_determinants=None
        if spectrum is None
        else log_determinants(spectrum, centering, len(spectrum.values), alphas),
        roundings=roundings,
        path=path,
        raw=w,
        basis=sums.basis,
        spectrum=spectrum,
    )
