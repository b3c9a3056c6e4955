"""The data of a fit and its plan, within a run that may have been begun before."""

from __future__ import annotations

from typing import Any

from mercer.errors import InputError, sentence
from mercer.learners.assembly import Settings
from mercer.learners.planning import Shape, foreseen, planned
from mercer.learners.posing import Posed, from_rows, from_stream
from mercer.learners.reading import is_precomputed
from mercer.learners.running import Watched
from mercer.learners.sourced import note_columns
from mercer.planner import Plan
from mercer.sources import source_of


def pose(estimator: Any, X: Any, y: Any, sample_weight: Any, run: Watched | None) -> Posed:
    """The data of a table or of a source, checked, with the kernel's numbers.

    run : shows how long it may take as soon as the numbers of rows, columns and outputs are known; None shows nothing
    """

    def foresee(shape: Shape) -> None:
        if run is not None:
            run.foresee(lambda: foreseen(estimator, shape))

    precomputed = is_precomputed(estimator.kernel)
    source = source_of(type(estimator).__name__, X, y, sample_weight, matrix=precomputed)
    if source is None:
        rows = estimator._read(X, reset=True)
        problem = estimator._targets(X, y, sample_weight)
        foresee((len(problem.targets), int(estimator.n_features_in_), problem.targets.shape[1]))
        return from_rows(settings(estimator), rows, problem)
    if precomputed:
        needs, came = "a kernel or a lift for rows from a source", "similarities come as one matrix"
        raise InputError(sentence(type(estimator).__name__, needs, came, "Load the matrix with np.load."))
    stream = estimator._streamed_rows(source)
    note_columns(estimator, stream.head)
    estimator._precomputed, estimator._reader = False, None
    foresee((stream.count, stream.columns, stream.outputs))
    return from_stream(settings(estimator), stream)


def settings(estimator: Any) -> Settings:
    """The parameters that decide what is fitted, and within which limits."""
    names = ("kernel", "alpha", "lengthscale", "fit_intercept", "solver", "memory_limit", "time_limit")
    return Settings(type(estimator).__name__, *(getattr(estimator, name) for name in names))


def plan_of(run: Watched, posed: Posed) -> Plan:
    """A plan made now, or that of the fit that is resumed: what the machine can do is not asked twice."""
    made: list[Plan] = []

    def record() -> dict[str, Any]:
        made.append(planned(posed, resumable=run.terms.checkpoint is not None))
        return dict(made[0].record())

    found = run.recall("plan", record)
    return made[0] if made else Plan.restored(found, run.who)
