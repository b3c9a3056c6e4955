"""What perceptrons share: reading, passes, what they remember, and how they predict."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from mercer.compute.runtime.memory import Budget
from mercer.errors import InputError, caller_level, message, speaks
from mercer.learners.data.labels import classes_of, decided, labels_of
from mercer.learners.data.validation import shown
from mercer.learners.data.views import View
from mercer.learners.estimator import KernelEstimator
from mercer.learners.parameters import boolean, positive_int
from mercer.learners.perceptron.averaging import check_combine
from mercer.learners.perceptron.state import FullUpdater, PerceptronState, Updater, learn, separation
from mercer.learners.run.convergence import ConvergenceWarning
from mercer.learners.run.fit_run import Watched
from mercer.lifts.randomness import generator
from mercer.planner.perceptron import PassPlan, passes
from mercer.planner.task import Task
from mercer.solvers.perceptron.budget import slots_for
from mercer.solvers.perceptron.perceptron import MistakeLog, Mistakes, Space

Array = NDArray[np.float64]
Rows = NDArray[np.intp]
NONE = PerceptronState(Mistakes.none(), None, np.zeros(0, np.intp))
"""Before the first row."""


@dataclass(frozen=True, eq=False)
class PerceptronProblem:
    """Rows that are to be learned.

    view : the rows that are remembered, and those that came after them
    codes : of those that came, classes as whole numbers
    course : what was learned before
    most : passes, at most
    """

    view: View
    codes: Rows
    state: PerceptronState
    most: int


class BasePerceptron(ClassifierMixin, KernelEstimator[PerceptronProblem, PassPlan, tuple[Updater, MistakeLog]]):  # type: ignore[misc]  # scikit-learn has no types
    """A classifier that learns from its mistakes alone."""

    max_iter: Any
    shuffle: Any
    combine: Any
    memory_limit: Any
    time_limit: Any
    on_interrupt: Any
    verbose: Any
    random_state: Any
    history_: Rows

    # -- what a member states -------------------------------------------------------------------------------------

    @abstractmethod
    def _viewed(self, X: Any, rows: Any) -> View:
        """The first rows, through a kernel or a lift whose numbers are found here."""

    @abstractmethod
    def _joined(self, view: View, rows: Any) -> View:
        """The rows that are remembered, and new ones after them."""

    @abstractmethod
    def _pupil(self, view: View, state: PerceptronState, classes: Rows, outputs: int) -> Updater:
        """Who learns, and knows what the course has taught.

        view : the rows that are remembered, and those at hand after them
        """

    def _width(self, view: View) -> int | None:
        """How many features are stored for each row; None where there are none."""
        return None

    # -- learning -------------------------------------------------------------------------------------------------

    @speaks
    def fit(self, X: Any, y: Any) -> Self:
        """Passes over the rows until one makes no mistake, at most `max_iter`."""
        self._fit(X, y)
        self._say_why_stopped()
        return self

    @speaks
    def partial_fit(self, X: Any, y: Any, classes: ArrayLike | None = None) -> Self:
        """One pass over new rows, after all before.

        classes : all labels that will ever come; asked for with the first rows
        """
        begun = hasattr(self, "_course")
        if not begun and classes is None:
            got, remedy = "classes are not given", "Give all labels that will come, as classes."
            raise InputError(message("all classes with the first rows", got, remedy))
        with self._run() as run:
            problem = self._lesson(X, y, self._course if begun else NONE, classes, 1)
            self._follow(problem, run, X, y, None)
        self._say_why_stopped()
        return self

    def _problem(self, X: Any, y: Any, sample_weight: Any, run: Watched | None) -> PerceptronProblem:
        most = positive_int("max_iter", self.max_iter, "Use 10.")
        return self._lesson(X, y, NONE, None, most)

    def _lesson(
        self, X: Any, y: Any, state: PerceptronState, classes: ArrayLike | None, most: int
    ) -> PerceptronProblem:
        self._settings()
        rows = self._read(X, reset=state is NONE)
        codes = self._codes(X, y, state, classes)
        view = self._viewed(X, rows) if state.view is None else self._joined(state.view, rows)
        return PerceptronProblem(view, codes, state, most)

    def _plan(self, problem: PerceptronProblem, run: Watched | None) -> PassPlan:
        outputs = _outputs(len(self.classes_))
        task = Task(len(problem.codes), int(self.n_features_in_), outputs, self._width(problem.view))
        budget = getattr(self, "budget", None)
        slots = None if budget is None else slots_for(problem.view.count, int(budget))
        return passes(type(self).__name__, task, problem.most, slots, Budget.of(self.memory_limit))

    def _settings(self) -> None:
        """Complain of settings before anything is read."""
        check_combine(self.combine)
        boolean("shuffle", self.shuffle, "Use True.")

    def _codes(self, X: Any, y: Any, state: PerceptronState, classes: ArrayLike | None) -> Rows:
        """Classes as whole numbers; `classes_` is set with the first rows."""
        labels = labels_of(X, y)
        if state is NONE:
            self.classes_ = classes_of(labels if classes is None else np.asarray(classes))
        codes = np.minimum(np.searchsorted(self.classes_, labels), len(self.classes_) - 1)
        strange = np.flatnonzero(self.classes_[codes] != labels)
        if len(strange):
            got = f"row {strange[0]} has {labels[strange].tolist()[0]!r}"
            known = shown(self.classes_.tolist())
            raise InputError(message(f"labels that are among {known}", got, "Name all classes at the start."))
        return np.asarray(codes, dtype=np.intp)

    def _solve(self, problem: PerceptronProblem, plan: PassPlan, run: Watched) -> tuple[Updater, MistakeLog]:
        """The passes; positions count the rows that are remembered first, and then the new ones."""
        state, old, count = problem.state, len(problem.state.numbers), len(problem.codes)
        classes = np.concatenate([np.zeros(old, np.intp), problem.codes])
        updater = self._pupil(problem.view, state, classes, _outputs(len(self.classes_)))
        log = MistakeLog([state.mistakes], state.seen)
        with run.stage("passes", problem.most):
            self._stopped = learn(updater, self._orders(old, count, problem.most), log, run)
        return updater, log

    _saved: ClassVar[Mapping[str, Any]] = {
        "classes_": NDArray[Any],
        "plan_": PassPlan,
        "history_": Rows,
        "converged_": bool,
        "n_iter_": int,
        "margin_": float,
        "mistake_bound_": float,
        "_course": PerceptronState,
        "_stopped": str,
    }

    def _store(self, problem: PerceptronProblem, plan: PassPlan, result: tuple[Updater, MistakeLog]) -> None:
        (updater, log), state, count = result, problem.state, len(problem.codes)
        numbers = np.concatenate([state.numbers, state.came + np.arange(count)])
        self.plan_, self._course = plan, updater.state(problem.view, numbers, log, state.came + count)
        before = self.history_ if state is not NONE else np.zeros(0, np.intp)
        self.history_ = np.concatenate([before, np.array(log.history, np.intp)])
        self.converged_, self.n_iter_ = not self._stopped and log.history[-1] == 0, len(log.history)
        self.margin_, self.mistake_bound_ = np.nan, np.inf
        if self.converged_ and state is NONE and isinstance(updater, FullUpdater):
            self._separated(updater.space, problem.codes, problem.view, _outputs(len(self.classes_)))

    def _say_why_stopped(self) -> None:
        if self._stopped:
            told = f"{type(self).__name__}: {self._stopped} What was learned until then is kept."
            warnings.warn(told, ConvergenceWarning, stacklevel=caller_level())

    def _separated(self, space: Space, codes: Rows, view: View, outputs: int) -> None:
        """The margin, and the bound on mistakes: the last pass changed nothing, so that its scores are those of f."""
        scores, kept = space.scores(np.arange(len(codes))), self._course.numbers
        coefficients = self._course.coefficients(outputs, "last")
        longest = float(view.operator().diagonal().max())
        self.margin_, self.mistake_bound_ = separation(scores, codes, coefficients, scores[kept], longest)

    def _orders(self, first: int, count: int, most: int) -> Iterator[Rows]:
        """As they are, or another order in each pass."""
        random = generator(self.random_state) if self.shuffle else None
        for _ in range(most):
            yield first + (np.arange(count) if random is None else random.permutation(count)).astype(np.intp)

    # -- predicting -----------------------------------------------------------------------------------------------

    @property
    def support_(self) -> Rows:
        """The rows of which f is made, by their numbers among all that were seen."""
        check_is_fitted(self)
        return self._course.numbers

    @property
    def dual_coef_(self) -> Array:
        """f(x) = sum_j dual_coef_[j] k(x, x_j) over the support: one number each, or one a class."""
        check_is_fitted(self)
        found = self._course.coefficients(_outputs(len(self.classes_)), self.combine)
        return found[:, 0] if found.shape[1] == 1 else found

    @speaks
    def decision_function(self, X: Any) -> NDArray[Any]:
        """The score: for two classes one a row, positive for the second; else one a row and class.

        A vote gives the votes for the second class less those for the first, or those for each, as parts of all.
        """
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def _scores(self, X: Any) -> Array:
        check_is_fitted(self)
        return self._course.scores(self._read(X, reset=False), _outputs(len(self.classes_)), self.combine)

    @speaks
    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row."""
        found = decided(self._scores(X))
        return np.asarray(self.classes_[found])


def _outputs(classes: int) -> int:
    return 1 if classes == 2 else classes
