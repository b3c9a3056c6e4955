"""Least squares in the dual: one coefficient a row, from the kernel matrix."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mercer.errors import speaking
from mercer.learners.data.views import EPS, MatrixView, definite
from mercer.learners.ridge import determinants
from mercer.learners.ridge.request import Fit, Request, by_alpha, level_size, leverages, missed, raised, relative
from mercer.operators import Centered
from mercer.operators.centering import CenteredOperator
from mercer.operators.precomputed import check_semidefinite
from mercer.solvers import Eigen, Outcome, System
from mercer.solvers.ridge.eigen import outcome_of
from mercer.solvers.ridge.perturbation import MARGIN, Predict, mean_size, perturbations
from mercer.tuning.leave_one_out import path_of
from mercer.tuning.path import Path, default_alphas, scale_of
from mercer.tuning.sides import DualSide

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class _Matrix:
    """The centred kernel matrix, sqrt(k(x_i, x_i)), and how far entries of K are off, relative to these."""

    centered: Centered
    sizes: Array
    unit: float


@dataclass(frozen=True, eq=False)
class Tuned:
    """One decomposition of a kernel's centred matrix, with the leave-one-out errors of a whole path.

    chosen : for each output, the position of its alpha in the path
    """

    request: Request
    matrix: _Matrix
    side: DualSide
    path: Path
    chosen: NDArray[np.intp]

    @property
    def score(self) -> tuple[float, float]:
        """What is least for the best of several kernels: wrong labels, then the squared errors relative to y's."""
        spread = np.square(self.side.targets).sum(axis=0) / self.request.centering.total
        errors = self.path.errors[self.chosen, np.arange(len(self.chosen))]
        relative = np.divide(errors, spread, out=np.zeros_like(errors), where=spread > 0)
        wrong = 0.0 if self.path.wrong is None else round(float(self.path.wrong[self.chosen[0]]), 12)  # a share
        return wrong, float(relative.sum())


def tune(request: Request) -> Tuned:
    """Decompose the matrix once, and follow the path of alphas."""
    request, found = _matrix(request)
    with request.run.stage("solve"):
        spectrum = Eigen().decompose(found.centered.stored)
    side = DualSide(spectrum, request.centering, found.centered.pull, request.centering.rows(request.targets))
    given = request.penalty.values
    alphas = default_alphas(scale_of(spectrum, request.centering, found.sizes)) if given is None else np.unique(given)
    path = path_of(side, alphas, request.labels)
    outputs = request.targets.shape[1]
    asked = path.best if request.penalty.path or given is None else np.searchsorted(alphas, given)
    return Tuned(request, found, side, path, np.broadcast_to(asked, (outputs,)))


def finish(tuned: Tuned) -> Fit:
    """The model at the chosen alphas."""
    side, spectrum = tuned.side, tuned.side.spectrum
    alphas = tuned.path.alphas[tuned.chosen]
    system = _system(tuned.request, tuned.matrix.centered, spectrum.vectors, alphas)
    outcome = outcome_of(spectrum, system, spectrum.solve(side.targets, alphas))
    leverage = leverages(side, alphas)
    fit = _fit(tuned.request, tuned.matrix, outcome, alphas, tuned.path, leverage)
    request, doubtful = tuned.request, ~(fit.roundings <= tuned.request.trusted)
    larger = raised(request.penalty, doubtful, tuned.chosen, len(tuned.path.alphas), request.labels is not None)
    return fit if larger is None else finish(replace(tuned, chosen=larger))


def solve(request: Request) -> Fit:
    """The model at given alphas, by the solver of the plan."""
    return by_alpha(request, _given)


def _given(request: Request) -> Fit:
    request, found = _matrix(request)
    alphas = request.penalty.given
    with request.run.stage("solve"):
        outcome = request.plan.solver.solve(_system(request, found.centered, found.centered.stored, alphas))
    return _fit(request, found, outcome, alphas, None, None)


def _matrix(request: Request) -> tuple[Request, _Matrix]:
    """The request with its view made sound, and the matrix."""
    with request.run.stage("kernel matrix"):
        K = request.view.dense(request.run.watch)
    if not request.sure:
        request = _definite(request, K)
    sizes = np.sqrt(np.maximum(np.diagonal(K), 0.0))
    unit = request.view.unit(K, sizes)
    return request, _Matrix(request.centering.matrix(K), sizes, unit)


def _definite(request: Request, K: Array) -> Request:
    if isinstance(request.view, MatrixView):
        return replace(request, view=definite(request.view, K))
    with speaking(request.who):
        check_semidefinite(K, request.view.dtype)
    return request


def _system(request: Request, centered: Centered, matrix: Array, alphas: Array) -> System:
    """The system, with the loss that gradient methods report: the sum of squares and the penalty, halved."""
    targets = request.centering.rows(request.targets)

    def product(x: Array) -> Array:
        return np.asarray(CenteredOperator(request.view.operator(), request.centering, centered) @ x)

    def loss(x: Array, products: Array) -> Array:
        return np.asarray((((targets - products) ** 2).sum(axis=0) + alphas * (x * products).sum(axis=0)) / 2)

    held, center = request.held_out, request.centering
    watched = None if held is None else held.of_duals(request.view, center, request.targets, centered.means)
    return System(matrix, targets, alphas, product, loss, watched, request.run)


def _fit(
    request: Request,
    found: _Matrix,
    outcome: Outcome,
    alphas: Array,
    path: Path | None,
    leverage: Array | None,
) -> Fit:
    outcome, center, centered = balanced(request, outcome), request.centering, found.centered
    known = determinants.in_dual(outcome.decomposition, center, centered.pull, alphas)
    fit = described(request, centered, outcome, alphas, _roundings(request, found, outcome, alphas))
    return replace(fit, log_determinants=known, path=path, leverage=leverage)


def described(request: Request, centered: Centered, outcome: Outcome, alphas: Array, roundings: Array) -> Fit:
    """The model of a balanced solution, without what a decomposition would tell."""
    center, x = request.centering, outcome.value
    duals = center.roots[:, None] * x
    intercepts = center.intercepts(request.targets, duals, centered.means)
    variance = (center.rows(request.targets) * x).sum(axis=0) / max(center.total - center.intercept, 1.0)
    return Fit(
        outcome=outcome,
        alphas=alphas,
        duals=duals,
        weights=None,
        intercepts=intercepts,
        levels=intercepts,
        means=centered.means,
        noise=alphas * variance,
        variance=variance,
        log_determinants=None,
        roundings=roundings,
    )


def balanced(request: Request, outcome: Outcome) -> Outcome:
    """Without the part along u, of which a solution has none: rounding of K brings it in, and K is large along u."""
    return replace(outcome, value=_projected(request, outcome.value))


def _projected(request: Request, x: Array) -> Array:
    u = request.centering.direction[:, None]
    return np.asarray(x - u * (u.T @ x))


def _roundings(request: Request, found: _Matrix, outcome: Outcome, alphas: Array) -> Array:
    """The estimated relative errors of predictions, at the rows and at new ones like them."""
    if not outcome.converged:
        return np.full(len(alphas), np.inf)
    center, x, known = request.centering, outcome.value, outcome.decomposition
    targets, scale = center.rows(request.targets), (center.roots * found.sizes)[:, None]
    lengths = np.linalg.norm(scale * x, axis=0)
    errors = found.unit * scale * lengths + missed(outcome) * np.linalg.norm(targets, axis=0) / np.sqrt(len(x))
    summed = MARGIN * (found.unit * found.sizes.max() * lengths + EPS * level_size(request))
    if known is None:  # A (A + alpha)^-1 makes nothing longer
        size = mean_size(request.targets - alphas * x / center.roots[:, None])
        return relative(MARGIN * mean_size(errors / center.roots[:, None]) + summed, size)
    predict = _prediction(request, found, alphas)
    moved = perturbations(known, predict, alphas, lambda random: errors * random.standard_normal(errors.shape))
    sizes = [mean_size(table + center.means(request.targets)) for table in predict(x, targets)]
    if request.view.between() is None:
        sizes[1] = sizes[0]  # what bounds an error from above would do the same for a size
    return np.asarray(relative(moved + summed, np.array(sizes)).max(axis=0))


def _prediction(request: Request, found: _Matrix, alphas: Array) -> Predict:
    """From solutions to predictions less the mean of y: at the rows, and at new ones, or a bound for these."""
    roots, means, new = request.centering.roots[:, None], found.centered.means, request.view.between()
    u, pull = request.centering.direction[:, None], found.centered.pull
    cross = None if new is None else request.view.cross(new).to_dense()

    def predict(x: Array, right: Array) -> tuple[Array, Array]:
        along = u * (u.T @ x)
        products = right - np.tile(alphas, x.shape[1] // len(alphas)) * x - pull * along  # A x, and A u is pull u
        x = x - along
        duals = roots * x
        if cross is None:  # |f(x)| <= |f| sqrt(k(x, x))
            beyond = found.sizes.max() * np.sqrt(np.maximum((x * products).sum(axis=0, keepdims=True), 0.0))
        else:
            beyond = cross @ duals - means @ duals
        return products / roots, beyond

    return predict
