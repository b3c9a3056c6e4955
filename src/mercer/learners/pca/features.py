"""Components in features, of a lift or of landmarks: one pass over the rows adds up, one more fixes the signs."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mercer.compute.runtime.run import IDLE, Run, Stopped
from mercer.errors import InputError, message, number_of
from mercer.kernels import Kernel
from mercer.learners.data.rows import draw_rows
from mercer.learners.data.views import EPS, KernelView, LiftView
from mercer.learners.pca.problem import PCAProblem, TableProblem, stored
from mercer.learners.pca.result import MIN_RELATIVE_EIGENVALUE, PCAResult, leading_part
from mercer.learners.pca.settings import PCASettings
from mercer.learners.pca.signs import Signs
from mercer.learners.streaming.basis import MAX_STRETCH_OF_WEIGHTS, Basis, FeatureBasis, LiftBasis, landmark_basis
from mercer.learners.streaming.moments import Moments, Normal
from mercer.learners.streaming.predictor import ByBasis, ByFeatures
from mercer.learners.streaming.stream import Stream
from mercer.lifts.base import Lift
from mercer.lifts.nystrom import Nystrom, nystrom_of
from mercer.planner.pca import PCAPlan
from mercer.solvers.ridge.base import opening

Array = NDArray[np.float64]
MAX_STRETCH_OF_SUMS = 1e6
"""Where whitening magnifies the rounding of sums by more than this, features are summed, at twice the operations."""
BATCH_ROWS = 1 << 14
"""Rows that are added at once where no plan says how many."""


@dataclass(frozen=True, eq=False)
class TableBasis(LiftBasis):
    """The features of a fitted lift, of dense or of sparse rows; model files know it by this name."""


@dataclass(frozen=True, eq=False)
class FeatureSums:
    """What a pass over the rows has summed.

    normal : the squares of the centred features, decomposed
    sizes : the sum of k(x, x) over the rows; 0 without landmarks
    stopped : why some rows are missing; "" where none is
    """

    normal: Normal
    sizes: float
    stopped: str

    def lost(self) -> float:
        """What the features lack of sum k(x, x), at least 0."""
        normal = self.normal
        means = normal.means + normal.rest
        return max(0.0, self.sizes - float(normal.spectrum.kept.sum()) - normal.total * float(means @ means))


def by_features(problem: TableProblem, plan: PCAPlan, random: np.random.Generator, run: Run) -> PCAResult:
    """By the features of the lift that was given, of the kernel's own, or of landmarks that are drawn now.

    Cost: n p^2 + 9 p^3 operations for p features, 2 n p for each component; 5 p^2 numbers and a batch of rows.
    """
    view, stream, settings, batch = problem.view, problem.stream, problem.settings, plan.details.batch or BATCH_ROWS
    approximate = isinstance(view, KernelView) and plan.method == "landmarks"
    if isinstance(view, KernelView) and approximate:
        lift: Lift = _drawn(view.kernel, plan, stream, random, run)
    else:
        lift = view.finite_lift()
    basis = landmark_basis(lift, view.points) if isinstance(lift, Nystrom) else TableBasis(lift)
    summed = _sums(basis, stream, batch, view.kernel if approximate else None, run)
    count, predictor = _turned(settings, basis, summed, LiftView(view.points, lift))
    signs = _signs(predictor, count, stream, batch, run)
    normal, values = summed.normal, summed.normal.spectrum.values[::-1][:count].copy()
    return PCAResult(
        values=values,
        total=float(normal.spectrum.kept.sum()) + (summed.lost() if approximate else 0.0),
        residuals=normal.noise[::-1][:count] / values[:1],
        predictor=_signed(predictor, signs),
        rows=normal.rows,
        converged=not summed.stopped,
        reason=summed.stopped or f"One pass over {number_of(normal.rows, 'row')}, and one eigendecomposition.",
        lift=lift,
    )


def _drawn(kernel: Kernel, plan: PCAPlan, stream: Stream, random: np.random.Generator, run: Run) -> Nystrom:
    """A Nystrom lift with landmarks that are pivots of a sample of the rows."""
    with run.stage("landmarks"):
        points = stream.sample(draw_rows(stream.count, plan.details.drawn, random)).points
        lift = nystrom_of(kernel, points, min(plan.n_landmarks, points.values.shape[0]), random)
    if lift.n_components_ == 0:
        got = "k(x, x) is 0 in every row"
        raise InputError(message("a kernel that is not zero on the data", got, "Check the kernel."))
    return lift


# -- the passes -------------------------------------------------------------------------------------------------------


def _sums(basis: Basis, stream: Stream, batch: int, kernel: Kernel | None, run: Run) -> FeatureSums:
    """Sums over all rows, or over the first of them where the run stops."""
    moments = Moments(FeatureBasis(basis) if basis.stretch > MAX_STRETCH_OF_SUMS else basis, 1, centred=True)
    sizes, reason = 0.0, ""
    with run.stage("pass", stream.count), ExitStack() as usable:
        try:
            for piece in stream.pieces(batch):
                moments.add(piece)  # not stopped half-way: nothing would say which rows are in the sums
                if kernel is not None:
                    sizes += float(np.asarray(kernel.evaluate_diagonal(piece.points), dtype=np.float64).sum())
                if piece.start == 0:
                    usable.enter_context(run.stoppable())
                run.tell(moments.rows)
        except Stopped as stopped:
            if moments.rows < stream.count:
                reason = f"{opening(stopped)}: the components are those of the first {moments.rows} rows."
    with run.stage("decompose"):
        return FeatureSums(Normal.of(moments, intercept=True), sizes, reason)


def _turned(
    settings: PCASettings, basis: Basis, summed: FeatureSums, view: LiftView
) -> tuple[int, ByBasis | ByFeatures]:
    """How many components there are, and what gives their scores, with any signs."""
    normal, values = summed.normal, summed.normal.spectrum.values[::-1]
    floors = np.maximum(normal.noise[::-1], max(MIN_RELATIVE_EIGENVALUE, len(values) * EPS) * float(values[0]))
    squares = float(normal.spectrum.kept.sum() + normal.total * (normal.means @ normal.means))
    floors = np.maximum(floors, (normal.rows * EPS) ** 2 * squares)  # what is constant, but for rounding
    count = leading_part(values, floors, settings.components)
    return count, _scoring(basis, normal, normal.spectrum.vectors[:, ::-1][:, :count], view)


def _scoring(basis: Basis, normal: Normal, vectors: Array, view: LiftView) -> ByBasis | ByFeatures:
    """(phi(x) - mean) . vectors, by kernel values where there are landmarks; other features are centred first."""
    rest = normal.rest @ vectors
    if basis.plain or basis.stretch > MAX_STRETCH_OF_WEIGHTS:  # weights of kernel values would be too large
        return ByFeatures(view, np.ascontiguousarray(vectors), normal.means, -rest)
    return ByBasis(basis, basis.to_raw(np.asfortranarray(vectors)), -(normal.means @ vectors) - rest)


def _signs(predictor: ByBasis | ByFeatures, count: int, stream: Stream, batch: int, run: Run) -> Array:
    """The signs of all rows, or of the first of them where the run stops."""
    signs = Signs(count)
    with run.stage("signs", stream.count), ExitStack() as usable:
        try:
            for piece in stream.pieces(batch):
                signs.add(predictor.values(piece.points))
                if piece.start == 0:
                    usable.enter_context(run.stoppable())
                run.tell(piece.stop)
        except Stopped:  # fewer rows have decided; the components are the same
            pass
    return signs.signs


def _signed(predictor: ByBasis | ByFeatures, signs: Array) -> ByBasis | ByFeatures:
    if isinstance(predictor, ByBasis):
        return replace(predictor, weights=predictor.weights * signs, offset=predictor.offset * signs)
    return replace(predictor, weights=predictor.weights * signs, levels=predictor.levels * signs)


# -- a start for products ---------------------------------------------------------------------------------------------


def start_of(problem: PCAProblem, plan: PCAPlan, width: int, random: np.random.Generator, run: Run) -> Array | None:
    """(n, width): scores by landmarks, from which products with the kernel matrix begin; None where there are none."""
    view = problem.view
    if not (isinstance(view, KernelView) and view.sure and plan.n_landmarks):
        return None
    with run.stage("landmarks"):
        drawn = draw_rows(view.count, plan.details.drawn, random)
        points = view.points.rows(drawn)
        lift = nystrom_of(view.kernel, points, min(plan.n_landmarks, len(drawn)), random)
        if lift.n_components_ == 0:
            return None
        basis = landmark_basis(lift, view.points)
        normal = _sums(basis, stored(view.points), BATCH_ROWS, None, IDLE).normal
        vectors = normal.spectrum.vectors[:, ::-1][:, :width]
        return _scoring(basis, normal, vectors, LiftView(view.points, lift)).values(view.points)
