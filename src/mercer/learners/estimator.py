"""The base of all learners: how rows are read, and the one path that every fit takes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import has_fit_parameter

from mercer.backends.base import Backend
from mercer.backends.choosing import AUTO, CPU_NAME, computing, named
from mercer.backends.context import CORES, use
from mercer.backends.tensors import WHERE_ROWS_ARE
from mercer.compute.runtime.memory import Budget, limited
from mercer.compute.runtime.threads import as_planned
from mercer.errors import InputError, explains_parameters, message, speaks
from mercer.kernels import Kernel
from mercer.kernels.points import Points
from mercer.learners.data.kernel_parameters import KernelParameters
from mercer.learners.data.validation import PRECOMPUTED, is_precomputed, kernel_of, matrix_of, rows_of
from mercer.learners.data.views import View
from mercer.learners.run.callbacks import CallbackSupport
from mercer.learners.run.fit_run import Planned, Terms, Watched, watched
from mercer.lifts.base import Lift
from mercer.lifts.html import ShownEstimator
from mercer.lifts.in_kind import AnswersInKind
from mercer.lifts.parameter_names import ParameterNames
from mercer.planner.placement import place
from mercer.planner.plan import AnyDetails, Plan
from mercer.planner.task import Task

Problem = TypeVar("Problem")
AnyPlan = TypeVar("AnyPlan", bound=Planned)
Result = TypeVar("Result")
MANY_ROWS = 1000
"""New rows for which "auto" thinks of a card: fewer take too short a time."""


class Compared(Protocol):
    """A model that compares each new row with rows of its own."""

    @property
    def compared(self) -> int:
        """How many these are, where a card can do that; 0 where it cannot, or has nothing to win."""
        ...


class KernelEstimator(
    AnswersInKind,
    ShownEstimator,
    ParameterNames,
    KernelParameters,
    CallbackSupport,  # type: ignore[misc]  # scikit-learn has no types
    BaseEstimator,  # type: ignore[misc]
    ABC,
    Generic[Problem, AnyPlan, Result],
):
    """A learner: `_problem`, `_plan`, `_solve` and `_store` are its own, and their order stands here.

    kernel : a kernel, its text, a lift or "precomputed"
    checkpoint : None where a fit cannot be resumed
    """

    kernel: Any
    memory_limit: Any
    time_limit: Any
    backend: Any = CPU_NAME
    on_interrupt: Any
    verbose: Any
    random_state: Any
    checkpoint: Any = None

    _saved: ClassVar[Mapping[str, Any]] = {
        "n_features_in_": int,
        "kernel_": Kernel | None,
        "lift_": Lift | None,
        "_precomputed": bool,
        "_reader": Kernel | None,
    }
    """The attributes that a fit sets, with their types: what a model file holds. A class adds its own."""
    _saved_if_set: ClassVar[Mapping[str, Any]] = {"feature_names_in_": NDArray[np.object_]}
    """Those that it may set."""
    _renewed: ClassVar[Mapping[str, Callable[[], Any]]] = {}
    """Those that no file holds, and what stands for them in a loaded model."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__init__" in vars(cls):
            cls.__init__ = explains_parameters(cls.__init__, beside_kernel=True)  # type: ignore[method-assign]

    # -- what a learner answers -----------------------------------------------------------------------------------

    @abstractmethod
    def _problem(self, X: Any, y: Any, sample_weight: Any, run: Watched | None) -> Problem:
        """Validated rows, targets and weights, with the kernel's view of the rows; no run where it is only planned."""

    @abstractmethod
    def _plan(self, problem: Problem, run: Watched | None) -> AnyPlan:
        """How it is to be solved, or a refusal."""

    @abstractmethod
    def _solve(self, problem: Problem, plan: AnyPlan, run: Watched) -> Result:
        """What is learned."""

    @abstractmethod
    def _store(self, problem: Problem, plan: AnyPlan, result: Result) -> None:
        """Keep what predictions and public attributes need."""

    def _in_memory(self, problem: Problem) -> bool:
        """Whether callbacks may be given X and y."""
        return True

    # -- the path of a fit ----------------------------------------------------------------------------------------

    def _fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> tuple[Problem, Result]:
        """Fit, or leave the model as it was."""
        with self._run() as run:
            return self._follow(self._problem(X, y, sample_weight, run), run, X, y, sample_weight)

    @contextmanager
    def _run(self) -> Iterator[Watched]:
        """Within limits and watched by displays and callbacks; a fit that fails leaves the model as it was."""
        before, done = dict(self.__dict__), False
        try:
            memory = nullcontext() if self.memory_limit is None else limited(self.memory_limit)
            with memory, watched(type(self).__name__, self, self._terms()) as run:
                yield run
            done = True
        finally:
            if not done:
                self.__dict__.clear()
                self.__dict__.update(before)

    def _follow(self, problem: Problem, run: Watched, X: Any, y: Any, sample_weight: Any) -> tuple[Problem, Result]:
        plan = self._plan(problem, run)
        given = {} if sample_weight is None else {"metadata": {"sample_weight": sample_weight}}
        run.follow(plan, **({"X": X, "y": y, **given} if self._in_memory(problem) else {}))
        with as_planned(plan.lanes, plan.threads), self._placed(plan):
            result = self._solve(problem, plan, run)
            self._store(problem, plan, result)
        run.ready()
        return problem, result

    def _choose(self, task: Task[AnyDetails], view: View) -> Plan[AnyDetails]:
        """The plan within the limits of the learner, on its backend."""
        return place(task, self._backend, Budget.of(self.memory_limit), self.time_limit, takes_card=view.on_card)

    @property
    def _backend(self) -> Backend | str:
        """The parameter `backend`; where it is "auto" and the rows lie on a card, that card."""
        given: Backend | str = self.backend
        there = WHERE_ROWS_ARE.get() if isinstance(given, str) and given == AUTO else None
        if there is None:
            return given
        from mercer.backends.cuda.backend import CUDA  # most rows are in this process

        return CUDA(there)

    def _holds_tensors(self) -> bool:
        if self._asks_for_cores():
            return False
        kernel = kernel_of(self.kernel)
        return isinstance(kernel, Kernel) and not kernel.kinds

    def _asks_for_cores(self) -> bool:
        backend = self._backend
        return backend in (CPU_NAME, CORES)

    def _placed(self, plan: AnyPlan) -> AbstractContextManager[object]:
        """Inside, the backend of the plan computes."""
        if plan.backend == CPU_NAME:
            return nullcontext()
        given = self._backend
        return use(given if isinstance(given, Backend) else named(plan.backend) or CORES)

    def _computing(self, rows: Any = None, model: Compared | None = None) -> AbstractContextManager[object]:
        """The same for predictions, and for what is computed when it is asked for, within the memory that is given.

        rows : that are predicted; None for what is asked of the model itself
        model : that predicts them; None where it has nothing to compare them with
        """
        given = self._backend
        if given == AUTO and model is not None and isinstance(rows, Points) and rows.values.shape[0] >= MANY_ROWS:
            there = self._quickest(rows, model)
        else:
            there = computing(given)
        return there if self.memory_limit is None else _both(limited(self.memory_limit), there)

    def _quickest(self, rows: Points, model: Compared) -> AbstractContextManager[object]:
        from mercer.planner.predictions import Comparisons, quickest  # few rows need none

        others, (count, columns) = model.compared, rows.values.shape
        work = Comparisons(count, others, columns, rows.dtype == np.float32)
        return quickest(work, fitted_there=self.plan_.backend != CPU_NAME) if others else nullcontext()

    @speaks
    def plan(self, X: Any, y: Any = None, sample_weight: Any = None) -> AnyPlan:
        """How `fit` would do it with this data, what that takes, and what else could be done; nothing is fitted.

        Cost: the data is read, and a thousand rows of large data are looked at. Of a lift that would take long to learn
        the features are counted.
        """
        if sample_weight is not None and not has_fit_parameter(self, "sample_weight"):
            needs, remedy = "rows that all count once", "Leave it out, as its fit takes none."
            raise InputError(message(needs, "got sample_weight", remedy))
        from mercer.learners.data.plan_copy import draft  # fits need none

        twin = draft(self)
        twin._terms()
        with limited(self.memory_limit):
            found: AnyPlan = twin._plan(twin._problem(X, y, sample_weight, None), None)
        return found

    def _terms(self) -> Terms:
        return Terms.of(self.time_limit, self.on_interrupt, self.verbose, self.checkpoint)

    # -- rows -----------------------------------------------------------------------------------------------------

    def _read(self, X: Any, reset: bool) -> Any:
        """Rows as points, or as a matrix where the kernel is precomputed; new rows like those that were fitted."""
        if reset:
            kernel = kernel_of(self.kernel)
            self._precomputed = isinstance(kernel, str) and kernel == PRECOMPUTED
            self._reader = kernel if isinstance(kernel, Kernel) else None
        if not self._precomputed:
            return rows_of(self, X, self._reader, reset)
        rows = matrix_of(self, X, reset)
        return rows if reset else self._known_columns(rows)

    def _known_columns(self, rows: Any) -> Any:
        """Of similarities with all fitted rows those that predictions need."""
        return rows

    # -- scikit-learn's contract ----------------------------------------------------------------------------------

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = is_precomputed(self.kernel)
        tags.input_tags.sparse = not tags.input_tags.pairwise
        return tags


@contextmanager
def _both(outer: AbstractContextManager[object], inner: AbstractContextManager[object]) -> Iterator[None]:
    with outer, inner:
        yield
