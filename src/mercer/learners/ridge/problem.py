"""What least squares is to fit: rows as they are seen, what is to be predicted from them, and the penalty."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mercer.backends.tensors import is_held
from mercer.errors import InputError, message
from mercer.kernels.points import Points
from mercer.learners.data.range_checks import refuse_extremes
from mercer.learners.data.resolve import candidate_views
from mercer.learners.data.rows import at_rows
from mercer.learners.data.validation import AUTO, Penalty, penalty_of, shown
from mercer.learners.data.views import KernelView, LiftView, MatrixView, TableView, View, with_landmarks
from mercer.learners.parameters import LOO, boolean, method_of, positive_int_or_none
from mercer.learners.ridge.validation_rows import HeldOut, held_out_rows
from mercer.learners.streaming.source_stream import SourceStream, fits_memory, loaded, sampled
from mercer.learners.streaming.stream import Piece, StoredStream, Stream
from mercer.operators import Centering
from mercer.solvers import Solver

Array = NDArray[np.float64]
EXACT, LANDMARKS = "exact", "landmarks"
DUAL, PRIMAL = "dual", "primal"
TRUSTED = {np.dtype(np.float64): 1e-6, np.dtype(np.float32): 1e-3}
"""The relative error of predictions above which rounding is reported, by the dtype of the data."""

DOUBTFUL = 1e-3
"""The same, in units of what is trusted, above which features are tried, where there are some: the kernel matrix
squares their condition number."""


class RidgeParameters(Protocol):
    """The parameters of a learner of least squares."""

    kernel: Any
    alpha: Any
    lengthscale: Any
    fit_intercept: Any
    solver: Any
    side: Any
    method: Any
    n_landmarks: Any
    memory_limit: Any
    time_limit: Any

    @property
    def _backend(self) -> Any: ...


@dataclass(frozen=True, eq=False)
class Targets:
    """What is to be predicted, one row per row of X.

    values : (n, outputs)
    is_flat : whether y had one dimension
    weights : (n,), or None where each row counts once
    labels : classes as integers where the values code them, or None
    counts : (n,), how many copies a row stands for, where weights say more than that; None otherwise
    """

    values: Array
    is_flat: bool
    weights: Array | None = None
    labels: NDArray[np.intp] | None = None
    counts: Array | None = None


@dataclass(frozen=True, eq=False)
class RidgeProblem:
    """All that is known before a plan is made.

    views : of all rows in memory, one per kernel that is tried
    kept : the positions of the rows that are fitted: of positive weight, and not held out
    targets : (len(kept), outputs)
    labels : (len(kept),) classes as integers, where the targets code them; None for regression
    centering : the weights of these rows, and the intercept
    penalty : alpha, or how it is chosen
    dtype : of the data and of predictions
    is_flat : whether y had one dimension
    copied : numbers that are held beside every method: rows that were converted to float64, and some for each row
    memory_limit, time_limit, backend : as they were given
    solver : the one that was given; None for any
    side : "auto", "dual" or "primal"
    method : "auto", "exact" or "landmarks"
    n_landmarks : how many landmarks, where the plan has some; None for the planner's choice
    held_out : the rows that a gradient method is stopped by; None where there are none
    source : the rows where they stay in their source; views and targets are then those of a sample
    """

    views: tuple[View, ...]
    kept: NDArray[np.intp]
    targets: Array
    labels: NDArray[np.intp] | None
    centering: Centering
    penalty: Penalty
    dtype: np.dtype[Any]
    is_flat: bool
    copied: int = 0
    memory_limit: Any = None
    backend: Any = "cpu"
    time_limit: Any = None
    solver: Solver | None = None
    side: str = AUTO
    method: str = AUTO
    n_landmarks: int | None = None
    held_out: HeldOut | None = None
    source: SourceStream | None = None

    @property
    def view(self) -> View:
        """The rows as the first kernel sees them."""
        return self.views[0]

    @property
    def count(self) -> int:
        """How many rows are fitted."""
        return len(self.kept) if self.source is None else self.source.count

    @property
    def total(self) -> float:
        """The sum of all weights."""
        return self.centering.total if self.source is None else self.source.total

    @property
    def trusted(self) -> float:
        """The relative error of predictions above which rounding is reported."""
        return TRUSTED[self.dtype]

    @property
    def is_coded(self) -> bool:
        """Whether targets are coded labels, +1 and -1, one column per class where there are more than two."""
        return self.labels is not None

    @property
    def data(self) -> tuple[Any, ...]:
        """What a checkpoint belongs to."""
        if self.source is not None:
            return (self.source.source,)
        rows = self.view.matrix if isinstance(self.view, MatrixView) else table_of(self.view).points
        return rows, self.kept, self.targets, self.centering.weights, self.centering.counts

    def fitted(self, view: View) -> View:
        """The view of the rows that are fitted."""
        return view if len(self.kept) == view.count else view.chosen(self.kept)

    def through(self, view: View) -> RidgeProblem:
        """The rows that are fitted, seen through one of the views; numbers out of range are refused."""
        seen = self.fitted(view)
        refuse_extremes(seen, self.targets, self.centering, self.penalty.values is None, self.dtype)
        if self.views == (seen,):
            return self
        return replace(self, views=(seen,), kept=np.arange(len(self.kept)))

    def part(self, positions: NDArray[np.intp]) -> RidgeProblem:
        """The same for some of the rows that are fitted, by their positions among these."""
        center = self.centering
        counts = None if center.counts is None else center.counts[positions]
        return replace(
            self,
            kept=self.kept[positions],
            targets=self.targets[positions],
            labels=None if self.labels is None else self.labels[positions],
            centering=Centering(center.weights[positions], center.intercept, counts),
            held_out=None,
        )

    def rows(self, view: View) -> Stream:
        """The rows that are fitted, in pieces, of a view that is a table."""
        if self.source is not None:
            return self.source
        return StoredStream(
            table_of(self.fitted(view)).points, self.targets, self.centering.weights, self.centering.copies
        )


def table_of(view: View) -> TableView:
    """The view as rows of numbers: plans read no precomputed matrix in pieces."""
    if not isinstance(view, TableView):
        raise TypeError(f"a table of rows is needed, got {type(view).__name__}")
    return view


def sizes_of(problem: RidgeProblem) -> tuple[Array, Array]:
    """Of each output |b|, the length of the weighted and centred targets, and the standard deviation of y."""
    center, y = problem.centering, problem.targets
    spread = np.sqrt(center.shares @ (y - center.shares @ y) ** 2)
    return np.linalg.norm(center.rows(y), axis=0), np.asarray(spread)


# -- from data to a problem -------------------------------------------------------------------------------------------


def from_rows(
    model: RidgeParameters, kernel: Any, rows: Any, table: Any, given: Targets, source: SourceStream | None = None
) -> RidgeProblem:
    """The problem of rows in memory: parameters are checked against the data, and the kernel's numbers are found.

    kernel : as it was given, or as it was read
    rows : points, or a matrix where the kernel is precomputed
    table : the same as the user gave it, for lifts, which know names of columns
    source : where these rows are a sample of more
    """
    solver, everything = _solver(model.solver), len(given.values)
    method, landmarks = _method(model, solver)
    kept, held = _parted(given, solver)
    whole = len(kept) == everything
    weights, counts, targets = given.weights, given.counts, np.ascontiguousarray(given.values)
    labels, copies = given.labels, weights if counts is None else counts
    if not whole:
        weights, counts = at_rows(weights, kept), at_rows(counts, kept)
        targets, labels = targets[kept], at_rows(labels, kept)
    intercept = model.fit_intercept
    if type(intercept) is not bool:
        intercept = boolean("fit_intercept", intercept, "Use True.")
    penalty = _penalty(model, given, len(kept), solver)
    views = tuple(candidate_views(kernel, model.lengthscale, rows, table, kept, copies, model.memory_limit))
    if method == LANDMARKS:
        _refuse_no_kernel(views[0])
    side = model.side
    if not (isinstance(side, str) and side == AUTO):
        side = _side(side, method, views)
    return RidgeProblem(
        views=views,
        kept=kept,
        targets=targets,
        labels=labels,
        centering=Centering.of(len(kept), weights, intercept, counts),
        penalty=penalty,
        dtype=np.dtype(rows.dtype),
        is_flat=given.is_flat,
        copied=_copied(rows, table, targets) if source is None else 0,
        memory_limit=model.memory_limit,
        backend=model._backend,
        time_limit=model.time_limit,
        solver=solver,
        side=side,
        method=method,
        n_landmarks=landmarks,
        held_out=_held_out(rows, given, kept, held) if len(held) else None,
        source=source,
    )


def from_source(model: RidgeParameters, source: SourceStream) -> RidgeProblem:
    """The problem of rows in a source: read into memory where they fit well, else left where they are."""
    if not fits_memory(source, model.memory_limit):
        piece = sampled(source)
        return from_rows(model, model.kernel, piece.points, piece.points.values, _targets(source, piece), source)
    whole = loaded(source)
    piece = Piece(0, whole.count, whole.points, whole.targets, whole.weights, whole.copies)
    return from_rows(model, model.kernel, piece.points, piece.points.values, _targets(source, piece))


def _targets(source: SourceStream, piece: Piece) -> Targets:
    weights = None if (piece.weights == 1.0).all() else piece.weights
    counts = None if weights is None or np.array_equal(piece.weights, piece.copies) else piece.copies
    labels = None if source.labels is None else _classes(piece.targets)
    return Targets(piece.targets, source.labels is None and source.head.shape == (), weights, labels, counts)


def _classes(coded: Array) -> NDArray[np.intp]:
    """The classes of coded targets, as integers."""
    return (coded[:, 0] > 0).astype(np.intp) if coded.shape[1] == 1 else np.argmax(coded, axis=1)


def _solver(given: Any) -> Solver | None:
    if isinstance(given, str) and given == AUTO:
        return None
    if not isinstance(given, Solver):
        from mercer.guesses.parameters import solver_meant  # what is meant is looked for when somebody guesses

        needs = 'solver="auto" or a solver of mercer.solvers'
        raise InputError(message(needs, f"got {shown(given)}", f"Use {solver_meant(given)}, say."))
    return given


def _method(model: RidgeParameters, solver: Solver | None) -> tuple[str, int | None]:
    """The method and the number of landmarks, as far as parameters alone say what is wrong with them."""
    method, landmarks = model.method, model.n_landmarks
    if not (isinstance(method, str) and method == AUTO):
        method = method_of(method, AUTO, EXACT, LANDMARKS)
    if landmarks is not None:
        landmarks = positive_int_or_none("n_landmarks", landmarks)
    if method == LANDMARKS and solver is not None:
        needs, got = 'solver="auto" for method="landmarks"', f"{type(solver).__name__} solves for all rows"
        raise InputError(message(needs, got, "Leave the solver out: landmarks have their own."))
    return method, landmarks


def _side(side: Any, method: str, views: tuple[View, ...]) -> str:
    """The side that was given, where these rows have it."""
    if not (isinstance(side, str) and side in (DUAL, PRIMAL)):
        needs = 'side that is "auto", "dual" or "primal"'
        raise InputError(message(needs, f"got {shown(side)}", 'Use "auto", the default.'))
    if method == LANDMARKS:
        needs, got = f'method="exact" or "auto" for side="{side}"', 'got method="landmarks"'
        raise InputError(message(needs, got, "Leave the side out: landmarks have weights of their own."))
    if side == DUAL:
        return side
    if len(views) > 1:
        needs, got = 'a lengthscale that is given for side="primal"', "several are tried, by their kernel matrices"
        raise InputError(message(needs, got, 'Give a number, or use side="dual".'))
    if views[0].most_features is None:
        kernel = views[0].kernel
        given = "the kernel is precomputed" if kernel is None else f"{kernel} has none that is known before the fit"
        remedy = 'Use side="dual", or a lift such as Nystrom.'
        raise InputError(message('a kernel with a finite lift for side="primal"', given, remedy))
    return side


def _refuse_no_kernel(view: View) -> None:
    """Landmarks are drawn for a kernel that is proven, and its rows are points."""
    if isinstance(view, LiftView):
        needs, got = 'a kernel for method="landmarks"', f"{type(view.lift).__name__} is a lift, whose features are used"
        raise InputError(message(needs, got, 'Use "auto".'))
    if not isinstance(view, KernelView):
        needs, got = 'a kernel for method="landmarks"', "the kernel is precomputed"
        raise InputError(message(needs, got, 'Use "exact", or give the rows.'))
    with_landmarks(view)


def _penalty(model: RidgeParameters, given: Targets, count: int, solver: Solver | None) -> Penalty:
    per_output = not given.is_flat and given.labels is None
    penalty = penalty_of(model.alpha, given.values.shape[1], per_output)
    if count < 2 and (penalty.path or (isinstance(model.lengthscale, str) and model.lengthscale == LOO)):
        chosen = "alpha" if penalty.path else "the lengthscale"
        got = f"n_samples = {count}"
        raise InputError(message(f"two rows or more to choose {chosen}", got, "Give a number for it."))
    if penalty.path and solver is not None and not (solver.whole_path or _is_iterative(solver)):
        many = 'alpha="auto"' if penalty.values is None else f"{len(penalty.values)} candidates"
        got = f"got {many}, and {type(solver).__name__} solves for one"
        raise InputError(message("one number for alpha", got, "Give it, or use solver=Eigen()."))
    return penalty


def _is_iterative(solver: Solver) -> bool:
    from mercer.solvers import ConjugateGradient  # most fits have no solver of their own

    return isinstance(solver, ConjugateGradient)


def _parted(given: Targets, solver: Solver | None) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The rows to fit, and those that a gradient method is stopped by."""
    n = len(given.values)
    counted = np.arange(n) if given.weights is None else np.flatnonzero(given.weights)
    share = getattr(solver, "validation", 0.0)
    if not share:
        return counted, np.empty(0, np.intp)
    held = counted[held_out_rows(len(counted), share)]
    kept = np.setdiff1d(counted, held)
    if len(kept) == 0:
        raise InputError(message("rows to fit", "all are held out", "Give more rows, or validation=0."))
    return kept, held


def _held_out(rows: Any, given: Targets, kept: NDArray[np.intp], held: NDArray[np.intp]) -> HeldOut:
    found = rows.rows(held) if isinstance(rows, Points) else rows[np.ix_(held, kept)]
    weights = np.ones(len(held)) if given.weights is None else given.weights[held]
    return HeldOut(found, given.values[held], weights)


def _copied(rows: Any, table: Any, targets: Array) -> int:
    if not isinstance(rows, Points) or rows.sparse:
        return 0
    if type(rows.values) is not np.ndarray and is_held(rows.values):
        return int(len(targets) * (3 + 3 * targets.shape[1]))
    shared = isinstance(table, np.ndarray) and np.shares_memory(table, rows.values)
    return int(len(targets) * ((0 if shared else rows.values.shape[1]) + 3 + 3 * targets.shape[1]))
