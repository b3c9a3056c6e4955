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

from mercer.errors import InputError, caller_level, message, speaks
from mercer.learners.data.labels import classes_of, decided, labels_of
from mercer.learners.data.validation import shown
from mercer.learners.data.views import TableView, View, joined
from mercer.learners.estimator import KernelEstimator
from mercer.learners.parameters import boolean, positive_int
from mercer.learners.perceptron.averaging import LAST, VOTED, check_combine
from mercer.learners.perceptron.state import FullUpdater, PerceptronState, Updater, run_passes, separation
from mercer.learners.run.convergence import ConvergenceWarning
from mercer.learners.run.fit_run import Watched
from mercer.lifts.randomness import generator
from mercer.planner.perceptron import PerceptronPlan, PerceptronTask
from mercer.solvers.perceptron.budget import slots_for
from mercer.solvers.perceptron.perceptron import MistakeLog

Array = NDArray[np.float64]
Rows = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class PerceptronProblem:
    """Rows that are to be learned.

    view : the rows that are remembered, and the new ones after them
    classes : all labels, sorted
    codes : of the new rows, the positions of their labels in `classes`
    state : what was learned before; None with the first rows
    passes : how many, at most
    """

    view: View
    classes: NDArray[Any]
    codes: Rows
    state: PerceptronState | None
    passes: int

    @property
    def outputs(self) -> int:
        """How many functions are learned: one for two classes, else one per class."""
        return outputs_of(self.classes)

    @property
    def remembered(self) -> int:
        """How many rows of the view are remembered from before."""
        return self.view.count - len(self.codes)

    @property
    def every_code(self) -> Rows:
        """Of all rows of the view; zeros for those that are remembered, which are not looked at again."""
        return np.concatenate([np.zeros(self.remembered, np.intp), self.codes])


@dataclass(frozen=True, eq=False)
class PerceptronResult:
    """What passes have done.

    updater : what it learned with, and what it remembers
    stopped : why passes ended early; "" where they did not
    """

    updater: Updater
    log: MistakeLog
    stopped: str


class BasePerceptron(ClassifierMixin, KernelEstimator[PerceptronProblem, PerceptronPlan, PerceptronResult]):  # type: ignore[misc]  # scikit-learn has no types
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

    # -- what a member answers ------------------------------------------------------------------------------------

    @abstractmethod
    def _viewed(self, X: Any, rows: Any) -> View:
        """The first rows, through a kernel or a lift whose numbers are found here."""

    @abstractmethod
    def _updater(self, problem: PerceptronProblem) -> Updater:
        """What makes the passes, and knows what was learned before."""

    def _width(self, view: View) -> int | None:
        """How many features are stored for each row; None where there are none."""
        return None

    # -- learning -------------------------------------------------------------------------------------------------

    @speaks
    def fit(self, X: Any, y: Any) -> Self:
        """Passes over the rows until one makes no mistake, at most `max_iter`."""
        self._fit(X, y)
        self._warn_if_stopped()
        return self

    @speaks
    def partial_fit(self, X: Any, y: Any, classes: ArrayLike | None = None) -> Self:
        """One pass over new rows, after all before.

        classes : all labels that will ever come; asked for with the first rows
        """
        state = self.__dict__.get("_state")
        if state is None and classes is None:
            got, remedy = "classes are not given", "Give all labels that will come, as classes."
            raise InputError(message("all classes with the first rows", got, remedy))
        with self._run() as run:
            self._follow(self._new_rows(X, y, state, classes, 1), run, X, y, None)
        self._warn_if_stopped()
        return self

    def _problem(self, X: Any, y: Any, sample_weight: Any, run: Watched | None) -> PerceptronProblem:
        passes = positive_int("max_iter", self.max_iter, "Use 10.")
        return self._new_rows(X, y, None, None, passes)

    def _new_rows(
        self, X: Any, y: Any, state: PerceptronState | None, classes: ArrayLike | None, passes: int
    ) -> PerceptronProblem:
        """The problem of new rows, after what was learned before."""
        self._settings()
        rows = self._read(X, reset=state is None)
        labels = labels_of(X, y)
        if state is not None:
            known: NDArray[Any] = self.classes_
            codes = self._codes(known, labels)
            return PerceptronProblem(self._joined(state.view, rows), known, codes, state, passes)
        known = classes_of(labels if classes is None else np.asarray(classes))
        codes = self._codes(known, labels)
        return PerceptronProblem(self._viewed(X, rows), known, codes, None, passes)

    def _joined(self, view: View, rows: Any) -> View:
        """The rows that are remembered, and new ones after them."""
        if not isinstance(view, TableView):
            needs, got = "a kernel or a lift for partial_fit", "similarities come as one matrix"
            raise InputError(message(needs, got, "Give the rows, and the kernel itself."))
        return joined(view, rows)

    def _plan(self, problem: PerceptronProblem, run: Watched | None) -> PerceptronPlan:
        budget = getattr(self, "budget", None)
        slots = None if budget is None else slots_for(problem.view.count, int(budget))
        shape = len(problem.codes), int(self.n_features_in_), problem.outputs
        task = PerceptronTask(*shape, self._width(problem.view), problem.passes, slots)
        return self._choose(task, problem.view)

    def _settings(self) -> None:
        """Complain of settings before anything is read."""
        check_combine(self.combine)
        boolean("shuffle", self.shuffle, "Use True.")

    def _codes(self, classes: NDArray[Any], labels: NDArray[Any]) -> Rows:
        """The positions of labels among the classes."""
        codes = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
        strange = np.flatnonzero(classes[codes] != labels)
        if len(strange):
            got = f"row {strange[0]} has {labels[strange].tolist()[0]!r}"
            needs = f"labels that are among {shown(classes.tolist())}"
            raise InputError(message(needs, got, "Name all classes at the start."))
        return np.asarray(codes, dtype=np.intp)

    def _solve(self, problem: PerceptronProblem, plan: PerceptronPlan, run: Watched) -> PerceptronResult:
        """The passes; positions count the rows that are remembered first, and then the new ones."""
        state, updater = problem.state, self._updater(problem)
        log = MistakeLog() if state is None else MistakeLog([state.mistakes], state.seen)
        orders = self._orders(problem.remembered, len(problem.codes), problem.passes)
        with run.stage("passes", problem.passes):
            stopped = run_passes(updater, orders, log, run)
        return PerceptronResult(updater, log, stopped)

    _saved: ClassVar[Mapping[str, Any]] = {
        "classes_": NDArray[Any],
        "plan_": PerceptronPlan,
        "history_": Rows,
        "converged_": bool,
        "n_iter_": int,
        "margin_": float,
        "mistake_bound_": float,
        "_state": PerceptronState,
        "_stopped": str,
    }

    def _store(self, problem: PerceptronProblem, plan: PerceptronPlan, result: PerceptronResult) -> None:
        state, log, view = problem.state, result.log, problem.view
        new, before, given = np.arange(len(problem.codes)), np.zeros(0, np.intp), len(problem.codes)
        if state is not None:
            new, before, given = np.concatenate([state.numbers, state.given + new]), self.history_, state.given + given
        self.plan_, self.classes_, self._stopped = plan, problem.classes, result.stopped
        self._state = result.updater.state(view, new, log, given)
        self.history_ = np.concatenate([before, np.array(log.history, np.intp)])
        self.converged_, self.n_iter_ = not result.stopped and log.history[-1] == 0, len(log.history)
        self.margin_, self.mistake_bound_ = np.nan, np.inf
        if self.converged_ and state is None and isinstance(result.updater, FullUpdater):
            # the last pass changed nothing, so that its scores are those of f
            scores, kept = result.updater.space.scores(np.arange(len(problem.codes))), self._state.numbers
            coefficients = self._state.coefficients(problem.outputs, LAST)
            longest = float(view.operator().diagonal().max())
            self.margin_, self.mistake_bound_ = separation(scores, problem.codes, coefficients, scores[kept], longest)

    def _warn_if_stopped(self) -> None:
        if self._stopped:
            text = f"{type(self).__name__}: {self._stopped} What was learned until then is kept."
            warnings.warn(text, ConvergenceWarning, stacklevel=caller_level())

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
        return self._state.numbers

    @property
    def dual_coef_(self) -> Array:
        """`f(x) = sum_j dual_coef_[j] k(x, x_j)` over the support: one number each, or one per class."""
        check_is_fitted(self)
        duals = self._state.coefficients(outputs_of(self.classes_), self.combine)
        return duals[:, 0] if duals.shape[1] == 1 else duals

    @property
    def mistakes_(self) -> Rows:
        """(n,): how many mistakes each row made, of all rows that were given, in all calls.

        An AttributeError on a budget, which forgets them.
        """
        check_is_fitted(self)
        if self._state.memory is not None:
            raise AttributeError("mistakes_: a budget keeps no record of rows; history_ has the mistakes of each pass")
        return self._state.mistakes_of_rows()

    @property
    def alpha_(self) -> Array:
        """(n,): theta = `sum_j alpha_[j] y_j phi(x_j)` over all rows that were given, with y_j = 1 or -1.

        The lectures' alphas: of `combine="last"` the mistakes of each row, of "averaged" the mean of these numbers on
        the way. An AttributeError for a vote, which has no one theta, for more than two classes, where a mistake moves
        two functions, and on a budget; `dual_coef_` has the coefficients of these.
        """
        check_is_fitted(self)
        missing = ""
        if self.combine == VOTED:
            missing = "a vote is not one function"
        elif len(self.classes_) != 2:
            missing = "with more than two classes a mistake moves two functions"
        elif self._state.memory is not None:
            missing = "on a budget coefficients are no counts"
        if missing:
            raise AttributeError(f"alpha_: {missing}; dual_coef_ has a coefficient per row of support_ and function")
        found = np.zeros(self._state.length)
        found[self._state.numbers] = np.abs(self._state.coefficients(1, self.combine)[:, 0])  # a row has one sign
        return found

    @speaks
    def decision_function(self, X: Any) -> NDArray[Any]:
        """The score: for two classes one per row, positive for the second; else one per row and class.

        A vote gives the votes for the second class less those for the first, or those for each, as parts of all.
        """
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def _scores(self, X: Any) -> Array:
        check_is_fitted(self)
        rows = self._read(X, reset=False)
        with self._computing(rows, self._state):
            return self._state.scores(rows, outputs_of(self.classes_), self.combine)

    @speaks
    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row."""
        found = decided(self._scores(X))
        return np.asarray(self.classes_[found])


def outputs_of(classes: NDArray[Any]) -> int:
    """How many functions tell so many classes apart: one for two, else one per class."""
    return 1 if len(classes) == 2 else len(classes)
