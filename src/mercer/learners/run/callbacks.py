"""scikit-learn's callbacks, where it has them: from version 1.9 on; older ones leave learners without `set_callbacks`.

A callback has `setup`, `on_fit_task_begin`, `on_fit_task_end` and `teardown`, each called with the estimator and the
context of a task. A fit is a tree of tasks: "fit", its stages, and steps of each stage.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from mercer.compute.runtime.threads import WATCH_SECONDS
from mercer.planner.plan import Stage


class NoCallbacks:
    """The base class of learners where scikit-learn has no callbacks."""


def _no_teardown(estimator: object) -> None:
    """No callback was set up."""


try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9
    CallbackSupport: Any = NoCallbacks
    teardown: Callable[[object], None] = _no_teardown
else:
    CallbackSupport = CallbackSupportMixin
    teardown = with_callbacks(_no_teardown)  # what it decorates is followed by the teardown

MAX_STEPS = 100
"""Steps of a stage at most; fewer where one would take less than the time between two looks."""


class Context(Protocol):
    """A task of a fit: scikit-learn's `CallbackContext`."""

    def subcontext(self, task_name: str = "", max_subtasks: int | None = 0) -> Context:
        """The next subtask of this task."""
        ...

    def call_on_fit_task_begin(self, *, estimator: Listened, **given: Any) -> object:
        """Tell all callbacks that this task begins."""
        ...

    def call_on_fit_task_end(self, *, estimator: Listened, **given: Any) -> bool:
        """Tell all callbacks that this task has ended; whether one of them asks to stop."""
        ...


class Listened(Protocol):
    """An estimator with scikit-learn's support for callbacks."""

    def _init_callback_context(self, *, max_subtasks: int) -> Context: ...


class Tree:
    """The tasks of one fit, as callbacks are told of them: "fit", its stages, and steps of each stage.

    estimator : with callbacks
    stages : of the plan
    data : X, y and metadata, for callbacks that ask for them
    """

    def __init__(self, estimator: Listened, stages: Sequence[Stage], data: Mapping[str, Any]) -> None:
        self.estimator, self.data = estimator, data
        self._seconds = {stage.name: stage.seconds for stage in stages}
        self._root = estimator._init_callback_context(max_subtasks=len(stages))
        self._stage: Context | None = None
        self._steps = self._done = 0
        self._root.call_on_fit_task_begin(estimator=estimator, **data)

    def enter(self, name: str) -> None:
        """A stage begins: of steps that take as long as the time between two looks, or a hundred longer ones."""
        self._steps, self._done = max(1, math.ceil(min(MAX_STEPS, self._seconds[name] / WATCH_SECONDS))), 0
        self._stage = self._root.subcontext(task_name=name, max_subtasks=self._steps)
        self._stage.call_on_fit_task_begin(estimator=self.estimator)

    def reach(self, part: float) -> bool:
        """A part of this stage is done: all steps up to there are told; whether a callback asks to stop."""
        stop = False
        while self._stage is not None and self._done < min(int(part * self._steps), self._steps):
            self._done += 1
            step = self._stage.subcontext(task_name="step")
            step.call_on_fit_task_begin(estimator=self.estimator)
            stop |= step.call_on_fit_task_end(estimator=self.estimator)
        return stop

    def leave(self) -> bool:
        """The stage has ended, which says enough about the steps that are left; whether a callback asks to stop."""
        stage, self._stage = self._stage, None
        return stage is not None and bool(stage.call_on_fit_task_end(estimator=self.estimator))

    def finish(self, ready: bool) -> None:
        """The fit has ended; where the estimator is ready to predict, callbacks that ask for a model get a copy."""
        attributes: dict[str, Any] | None = {} if ready else None
        self._root.call_on_fit_task_end(estimator=self.estimator, reconstruction_attributes=attributes, **self.data)
