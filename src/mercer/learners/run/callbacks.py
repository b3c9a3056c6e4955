"""scikit-learn's callbacks: its own protocol where it has one (from 1.9 on), and an equal one where it has not.

A callback has `setup`, `on_fit_task_begin`, `on_fit_task_end` and `teardown`, each called with the estimator and the
context of a task. A fit is a tree of tasks: "fit", its stages, and steps of each stage.
"""

from __future__ import annotations

import copy
import inspect
import math
import uuid
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Self

from mercer.compute.runtime.threads import PATIENCE
from mercer.errors import InputError, sentence
from mercer.planner.plan import Stage

HOOKS = ("setup", "on_fit_task_begin", "on_fit_task_end", "teardown")
OFFERED = ("X", "y", "metadata", "fitted_estimator")
"""What a hook may ask for by keywords, as in scikit-learn."""
STEPS = 100
"""Steps of a stage at most; fewer where one would take less than the time between two looks."""


# -- the equal protocol -----------------------------------------------------------------------------------------------


class Context:
    """A task of a fit, with the attributes and methods of scikit-learn's `CallbackContext`."""

    def __init__(
        self, callbacks: Sequence[Any], estimator: str, task_name: str, task_id: int, most: int | None
    ) -> None:
        self._callbacks = callbacks
        self.estimator_name = estimator
        self.task_name = task_name
        self.task_id = task_id
        self.max_subtasks = most
        self.sequential_subtasks = True
        self.parent: Context | None = None
        self.root_uuid = uuid.uuid4()
        self.init_time = datetime.now(UTC)
        self.source_estimator_name: str | None = None
        self.source_task_name: str | None = None
        self._children = 0

    def subcontext(self, task_name: str = "", max_subtasks: int | None = 0) -> Context:
        """The next subtask of this task."""
        if self.max_subtasks is not None and self._children >= self.max_subtasks:
            needs, got = f"at most {self.max_subtasks} subtasks in {self.task_name}", "got one more"
            raise InputError(sentence(self.estimator_name, needs, got, "Raise max_subtasks."))
        child = Context(self._callbacks, self.estimator_name, task_name, self._children, max_subtasks)
        child.parent, child.root_uuid = self, self.root_uuid
        self._children += 1
        return child

    def call_on_fit_task_begin(self, *, estimator: Any, **offered: Any) -> Self:
        """Tell all callbacks that this task begins."""
        self._call(estimator, "on_fit_task_begin", offered)
        return self

    def call_on_fit_task_end(self, *, estimator: Any, **offered: Any) -> bool:
        """Tell all callbacks that this task has ended; whether one of them asks to stop."""
        return self._call(estimator, "on_fit_task_end", offered)

    def _call(self, estimator: Any, hook: str, offered: Mapping[str, Any]) -> bool:
        answers = []
        for callback in self._callbacks:
            method = getattr(callback, hook)
            answers.append(bool(method(estimator, self, **_asked(method, estimator, offered))))
        return any(answers)


def _asked(method: Callable[..., Any], estimator: Any, offered: Mapping[str, Any]) -> dict[str, Any]:
    """What a hook asks for; a model that can predict is made only for those that ask."""
    parameters = inspect.signature(method).parameters.values()
    names = [parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY]
    strange = [name for name in names if name not in OFFERED]
    if strange:
        needs = f"keywords among {', '.join(OFFERED)} in {method.__name__}"
        raise TypeError(sentence(type(estimator).__name__, needs, f"got {strange[0]!r}", "Leave it out."))
    return {name: _fitted(estimator, offered) if name == "fitted_estimator" else offered.get(name) for name in names}


def _fitted(estimator: Any, offered: Mapping[str, Any]) -> Any:
    attributes = offered.get("reconstruction_attributes")
    if attributes is None:
        return None
    model = copy.copy(estimator)
    for name, value in attributes.items():
        setattr(model, name, value)
    return model


class OwnSupport:
    """`set_callbacks` for versions of scikit-learn that have none."""

    def set_callbacks(self, *callbacks: Any) -> Self:
        """Set callbacks, which are told of the tasks of each fit; none takes them away."""
        for callback in callbacks:
            if isinstance(callback, type) or not all(callable(getattr(callback, hook, None)) for hook in HOOKS):
                needs = f"callbacks with {', '.join(HOOKS)}"
                raise TypeError(sentence(type(self).__name__, needs, f"got {callback!r}", "Give an instance of one."))
        if callbacks:
            self._skl_callbacks = list(callbacks)
        else:
            self.__dict__.pop("_skl_callbacks", None)
        return self

    def _init_callback_context(self, task_name: str = "fit", max_subtasks: int | None = 0) -> Context:
        """The root of the tree; sets the callbacks up, and remembers which."""
        callbacks: list[Any] = getattr(self, "_skl_callbacks", [])
        self._callback_fit_ctx = Context(callbacks, type(self).__name__, task_name, 0, max_subtasks)
        self._skl_callbacks_to_teardown: list[Any] = []
        for callback in callbacks:
            self._skl_callbacks_to_teardown.append(callback)
            callback.setup(estimator=self, context=self._callback_fit_ctx)
        return self._callback_fit_ctx

    def __sklearn_clone__(self) -> Any:
        """A clone has the same callbacks, as in scikit-learn from 1.9 on."""
        parent: Any = super()
        clone = parent.__sklearn_clone__()
        if hasattr(self, "_skl_callbacks"):
            clone._skl_callbacks = self._skl_callbacks
        return clone


def torn_down(estimator: Any) -> None:
    """Call `teardown` of all callbacks that were set up, also where one of them fails."""
    if not hasattr(estimator, "_callback_fit_ctx"):
        return
    context, callbacks = estimator._callback_fit_ctx, estimator._skl_callbacks_to_teardown
    del estimator._callback_fit_ctx, estimator._skl_callbacks_to_teardown
    failures = []
    for callback in callbacks:
        try:
            callback.teardown(estimator=estimator, context=context)
        except Exception as failure:  # noqa: BLE001  # the others must be torn down too; it is raised below
            failures.append(failure)
    if len(failures) == 1:
        raise failures[0]
    if failures:
        raise ExceptionGroup("teardown of callbacks failed", failures)


try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9
    CallbackSupport: Any = OwnSupport
    teardown: Callable[[Any], None] = torn_down
else:
    CallbackSupport = CallbackSupportMixin
    teardown = with_callbacks(lambda estimator: None)  # what it decorates is followed by the teardown


# -- the tree of a fit ------------------------------------------------------------------------------------------------


def listeners(estimator: Any) -> bool:
    """Whether callbacks are set, or were handed down by a search or pipeline."""
    return bool(getattr(estimator, "_skl_callbacks", ()))


class Tree:
    """The tasks of one fit, as callbacks are told of them: "fit", its stages, and steps of each stage.

    estimator : with callbacks
    stages : of the plan
    data : X, y and metadata, for callbacks that ask for them
    """

    def __init__(self, estimator: Any, stages: Sequence[Stage], data: Mapping[str, Any]) -> None:
        self.estimator, self.data = estimator, data
        self._seconds = {stage.name: stage.seconds for stage in stages}
        self._root = estimator._init_callback_context(max_subtasks=len(stages))
        self._stage: Any = None
        self._steps = self._done = 0
        self._root.call_on_fit_task_begin(estimator=estimator, **data)

    def enter(self, name: str) -> None:
        """A stage begins: of steps that take as long as the time between two looks, or a hundred longer ones."""
        self._steps, self._done = max(1, math.ceil(min(STEPS, self._seconds[name] / PATIENCE))), 0
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
        return bool(stage.call_on_fit_task_end(estimator=self.estimator))

    def finish(self, ready: bool) -> None:
        """The fit has ended; where the estimator is ready to predict, callbacks that ask for a model get a copy."""
        attributes: dict[str, Any] | None = {} if ready else None
        self._root.call_on_fit_task_end(estimator=self.estimator, reconstruction_attributes=attributes, **self.data)
