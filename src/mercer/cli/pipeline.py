"""The parts of `mercer fit`: read, look, plan, fit, score."""

from __future__ import annotations

import textwrap
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mercer.cli.estimators import Terms, check_learner, learner_of
from mercer.cli.features import Look, look
from mercer.cli.lengthscales import hurried, suited
from mercer.cli.metrics import split
from mercer.cli.models import check_saved
from mercer.cli.options import seconds
from mercer.cli.result import Fitted, Judged, Parts
from mercer.cli.scoring import baseline_predictions, judged_scores, left_out_score, predictions
from mercer.cli.target import CLASSIFICATION, Target, target_of
from mercer.cli.telling import short_kernel, short_plan, tell_columns, tell_remarks
from mercer.cli.text_readings import with_readings
from mercer.errors import number_of
from mercer.learners.run.fit_run import plans_told_to
from mercer.models.table_model import AnyLearner
from mercer.tables.read import Sheet, read_table

if TYPE_CHECKING:
    from mercer.cli.fit import FitOptions
    from mercer.cli.output import Voice


def fitted(options: FitOptions, voice: Voice) -> Fitted:
    """Do all that `mercer fit` does before it saves."""
    sheet, target = _read(options, voice)
    parts = _parts(sheet, target, options)
    found = look(parts.train, (target.name, *(options.drop or ())), options.kernel, options.random_state, sheet)
    if options.out is not None:
        check_saved(found.kernel)
    start = time.perf_counter()
    found, tried = _stretched(options, found, parts, voice)
    tuned = time.perf_counter() - start
    proof = _told(found, voice)
    _doubted(found, target, parts.truth, voice)
    learner = _learner(options, target, found, parts.y)
    seconds_taken = _fit(learner, found.rows(parts.train), parts.y, voice)
    model = found.model(learner, target.task, target.name, sheet, parts.train)
    others = baseline_predictions(found, parts, target.task == CLASSIFICATION, options.random_state)
    judged = Judged(model, *predictions(model, parts.test), seconds_taken, tuned, others)
    scores = judged_scores(judged, parts.truth, options.random_state) if len(parts.truth) else []
    left_out = left_out_score(learner)
    if options.refit and len(parts.truth):
        voice.say("fitting again to all rows ...")
        model = replace(model, learner=_again(learner, found.rows(sheet), target.values, voice))
    return Fitted(sheet, target, found, model, parts, judged, scores, left_out, proof, tried)


def planned(options: FitOptions, voice: Voice) -> Any:
    """What `mercer fit` would plan; lengthscales, which a plan does not depend on, are not looked for."""
    check_learner(options.learner)
    sheet, target = _read(options, voice)
    parts = _parts(sheet, target, options)
    found = look(parts.train, (target.name, *(options.drop or ())), options.kernel, options.random_state, sheet)
    tell_columns(found, sheet, voice)
    if found.proposal is not None:
        voice.tell(f"kernel: {short_kernel(found.kernel)}", str(found.proposal))
    return _learner(options, target, found, parts.y).plan(found.rows(parts.train), parts.y)


def _parts(sheet: Sheet, target: Target, options: FitOptions) -> Parts:
    train, test = split(target.values, target.task == CLASSIFICATION, options.test, options.random_state)
    fitted_rows = sheet.take(train) if len(test) else sheet
    return Parts(fitted_rows, sheet.take(test), target.values[train], target.values[test], train, test)


def _read(options: FitOptions, voice: Voice) -> tuple[Sheet, Target]:
    sheet = read_table(options.table, options.limits(), options.table_options())
    sheet = sheet.with_numbers_as_given(sheet.called(options.target))
    read = f"{sheet.name}: {sheet.format}, {number_of(sheet.rows, 'row')} x {number_of(sheet.width, 'column')}"
    remarks = sheet.remarks
    for doubt in sheet.doubts:
        voice.warn(doubt)
    sheet, target = target_of(sheet, options.target, options.task)
    gone = (
        f" ({target.dropped:,} without it {'is' if target.dropped == 1 else 'are'} left out)" if target.dropped else ""
    )
    voice.say(f"{read}; {target.name!r}{gone} gives a {target.task}: {target.why}")
    tell_remarks(remarks, voice)
    return sheet, target


def _stretched(options: FitOptions, found: Look, parts: Parts, voice: Voice) -> tuple[Look, tuple[str, ...]]:
    """A proposed kernel with lengthscales that suit the target, and what was tried for that."""
    if found.proposal is None:
        return found, ()
    found, readings = with_readings(options, found, lambda rows: found.rows(parts.train.take(rows)), parts.y)
    tell_columns(found, parts.train, voice)
    voice.tell("", "\n".join([*readings, str(found.proposal)]))
    dated = any(choice.taken_for == "date" for choice in found.proposal.columns)
    kernel = suited(options, found.kernel, lambda rows: found.rows(parts.train.take(rows)), parts.y, dated)
    tried = tuple(filter(None, (kernel.taken, kernel.refused)))
    voice.tell("", "\n".join(tried))
    return replace(found, kernel=kernel.kernel), (*readings, *tried)


def _told(found: Look, voice: Voice) -> Any:
    """Say why it is a kernel."""
    from mercer.kernels.proof.prove import prove

    proof = prove(found.kernel)
    steps = f", in {len(proof.steps)} steps (mercer prove shows them)" if proof.status == "proven" else ""
    whole = f"kernel: {found.kernel}\n" if found.proposal is None else ""
    voice.tell(
        f"kernel: {short_kernel(found.kernel)}; valid: {proof.status}",
        f"{whole}this kernel is valid (positive semidefinite): {proof.status}{steps}",
    )
    return proof


def _doubted(found: Look, target: Target, truth: NDArray[Any], voice: Voice) -> None:
    """Warn of columns that could not be read, and of scores that tell nothing."""
    for choice in () if found.proposal is None else found.proposal.columns:
        if choice.taken_for == "other objects":
            voice.warn(f"column {choice.name!r} is left out: {choice.why}")
    held = np.unique(truth)
    if target.task == CLASSIFICATION and len(held) == 1:
        voice.warn(f"all rows held out are {str(held[0])!r}: their scores tell nothing of the other classes")


def _learner(options: FitOptions, target: Target, found: Look, y: NDArray[Any]) -> AnyLearner:
    stretch = found.proposal is not None and not hurried(options)
    limits = (options.memory_limit, seconds(options.time_limit), options.random_state, not options.quiet)
    terms = Terms(*limits, stretch=stretch, alpha=options.alpha, C=options.C, backend=options.backend)
    return learner_of(options.learner, target.task, found.kernel, y, terms)


def _fit(learner: AnyLearner, rows: Any, y: NDArray[Any], voice: Voice) -> float:
    """Fit, and say the plan that is followed: the seconds that it took from there on."""
    begun: list[float] = []

    def hear(plan: Any) -> None:
        if not begun:  # of the fit itself, not of fits within
            voice.tell(f"plan: {short_plan(plan)}", f"plan: {textwrap.indent(str(plan), '  ').strip()}")
            begun.append(time.perf_counter())

    with plans_told_to(hear):
        learner.fit(rows, y)
    return time.perf_counter() - begun[0]


def _again(learner: AnyLearner, rows: Any, y: NDArray[Any], voice: Voice) -> AnyLearner:
    """A learner with the same settings, of other rows: the one that was judged stays as it is."""
    from sklearn.base import clone

    found: AnyLearner = clone(learner)
    _fit(found, rows, y, voice)
    return found
