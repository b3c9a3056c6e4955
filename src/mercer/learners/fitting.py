"""One fit from the door to the model: data is read, planned for, and followed through, inside one run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mercer.errors import InputError, sentence
from mercer.learners.assembly import Settings
from mercer.learners.fingerprint import fingerprint
from mercer.learners.following import follow
from mercer.learners.planning import Shape, foreseen, planned
from mercer.learners.posing import Posed, from_rows, from_stream
from mercer.learners.reading import is_precomputed
from mercer.learners.running import Terms, Watched, watched
from mercer.learners.sourced import note_columns
from mercer.learners.transaction import all_or_nothing
from mercer.lifts.randomness import generator
from mercer.planner import Plan
from mercer.sources import source_of


def fit(estimator: Any, X: Any, y: Any, sample_weight: Any) -> None:
    """Fit in the way that the plan says, or go on from a checkpoint; the estimator keeps what was found."""
    who = type(estimator).__name__
    terms = Terms.of(who, estimator.time_limit, estimator.on_interrupt, estimator.verbose, estimator.checkpoint)
    with all_or_nothing(estimator), watched(who, estimator, terms) as run:
        posed = pose(estimator, X, y, sample_weight, lambda shape: run.foresee(lambda: foreseen(estimator, shape)))
        run.resume(fingerprint(estimator.get_params(deep=False), *_data(posed)))
        seed = run.recall("seed", lambda: int(generator(estimator.random_state).integers(2**62)))
        plan = _plan(run, posed, who)
        run.follow(plan, **_for_callbacks(posed, X, y, sample_weight))
        estimator._keep(posed, follow(posed, plan, run, seed))
        run.ready()


def _for_callbacks(posed: Posed, X: Any, y: Any, sample_weight: Any) -> dict[str, Any]:
    """What callbacks are told of the data: nothing of rows that stay in their source."""
    if posed.stream is not None:
        return {}
    given = {} if sample_weight is None else {"metadata": {"sample_weight": sample_weight}}
    return {"X": X, "y": y, **given}


def pose(
    estimator: Any, X: Any, y: Any, sample_weight: Any, read: Callable[[Shape], object] = lambda shape: None
) -> Posed:
    """The data of a table or of a source, checked, with the kernel's numbers.

    read : is told the numbers of rows, columns and outputs when they are known: what comes next may take its time
    """
    precomputed = is_precomputed(estimator.kernel)
    source = source_of(type(estimator).__name__, X, y, sample_weight, matrix=precomputed)
    if source is None:
        rows = estimator._read(X, reset=True)
        problem = estimator._problem(X, y, sample_weight)
        read((len(problem.targets), int(estimator.n_features_in_), problem.targets.shape[1]))
        return from_rows(settings(estimator), rows, problem)
    if precomputed:
        needs, came = "a kernel or a lift for rows from a source", "similarities come as one matrix"
        raise InputError(sentence(type(estimator).__name__, needs, came, "Load the matrix with np.load."))
    stream = estimator._streamed_rows(source)
    note_columns(estimator, stream.head)
    estimator._precomputed, estimator._reader = False, None
    read((stream.count, stream.columns, stream.outputs))
    return from_stream(settings(estimator), stream)


def settings(estimator: Any) -> Settings:
    """The parameters that decide what is fitted, and within which limits."""
    names = ("kernel", "alpha", "lengthscale", "fit_intercept", "solver", "memory_limit", "time_limit")
    return Settings(type(estimator).__name__, *(getattr(estimator, name) for name in names))


def _data(posed: Posed) -> tuple[Any, ...]:
    """What a checkpoint belongs to."""
    if posed.stream is not None:
        return (posed.stream.source,)
    problem = posed.prepared.problem
    return posed.prepared.rows, problem.targets, problem.weights, problem.counts


def _plan(run: Watched, posed: Posed, who: str) -> Plan:
    """A plan made now, or that of the fit that is resumed: what the machine can do is not asked twice."""
    made: list[Plan] = []

    def record() -> dict[str, Any]:
        made.append(planned(posed, resumable=run.terms.checkpoint is not None))
        return dict(made[0].record())

    found = run.recall("plan", record)
    return made[0] if made else Plan.restored(found, who)
