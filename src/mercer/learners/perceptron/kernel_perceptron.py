"""The kernel perceptron: a mistake adds its row to the function, and nothing else ever happens."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.metaestimators import available_if

from mercer.errors import InputError, message, speaks
from mercer.kernels import Kernel
from mercer.kernels.function import PythonFunction
from mercer.learners.data.kernel_parameters import DEFAULT_KERNEL
from mercer.learners.data.resolve import resolve_view
from mercer.learners.data.rows import n_rows
from mercer.learners.data.validation import sees_rows, shown
from mercer.learners.data.views import MatrixView, View
from mercer.learners.parameters import positive_int_or_none, refuse_loo
from mercer.learners.perceptron.averaging import LAST
from mercer.learners.perceptron.base import BasePerceptron, PerceptronProblem
from mercer.learners.perceptron.state import BudgetUpdater, FullUpdater, Updater
from mercer.lifts.base import Lift
from mercer.operators.precomputed import check_precomputed
from mercer.solvers.perceptron.budget import STRATEGIES, Budgeted, Memory
from mercer.solvers.perceptron.perceptron import Dual

Array = NDArray[np.float64]


class KernelPerceptron(BasePerceptron):
    """The perceptron on the lifted features of a kernel, which are never computed: f(x) = sum_j alpha_j y_j k(x, x_j).

    Every row is looked at in order: where y_i f(x_i) <= 0, alpha_i grows by 1. Passes go on until one makes no mistake,
    which separable data gets to after at most (R / margin)^2 mistakes, or `max_iter` are over. With more than two
    classes there is one f per class: a mistake adds to that of its own, and takes from the best other one.

    Rows are worked on in blocks, by products of matrices, to what the sequential algorithm finds. Cost of a pass:
    n times the mistakes since the last one, in values of the kernel; memory: the mistakes, and some blocks.

    Parameters
    ----------
    kernel : a kernel or its text, a lift, or "precomputed"; an open lengthscale ("median", or one
        that a text leaves out) is found from the first rows
    lengthscale : "median", or a number: what open lengthscales of the kernel are
    max_iter : passes over the rows, at most
    shuffle : whether each pass has its own order, from `random_state`; else that of the rows
    combine : what predicts: "last", the last f, as in the lectures; "averaged", the mean of all f that there were;
        "voted", a vote of all of them. The latter two are better where classes overlap
    budget : how many rows are remembered, at most; None for all mistakes. Only with combine="last"
    strategy : what happens when more are to be: "forgetron" shrinks all and forgets the oldest, "projectron" projects
        the new one onto those that are there
    memory_limit, time_limit, on_interrupt, verbose, random_state : as in `KernelRidge`

    Attributes
    ----------
    classes_ : the labels, sorted
    support_, dual_coef_ : the rows of which f is made, and their coefficients: alpha_j y_j
    history_ : the mistakes of each pass
    converged_ : whether the last pass made none
    margin_ : min_i y_i f(x_i) / |f| of the last f, where it separates the rows; NaN otherwise
    mistake_bound_ : (R / margin_)^2, which the mistakes never exceed; infinite where the rows were not separated
    n_iter_, plan_ : the passes, and what they were to take

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelPerceptron
    >>> angle = np.linspace(0, 6, 50)
    >>> ring = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> X, y = np.vstack([ring, 3 * ring]), np.repeat(["inner", "outer"], 50)
    >>> model = KernelPerceptron("gaussian(1)").fit(X, y)
    >>> model.predict([[0.5, 0.0], [0.0, -2.8]])
    array(['inner', 'outer'], dtype='<U5')
    >>> model.converged_, bool(model.history_.sum() <= model.mistake_bound_)
    (True, True)

    References
    ----------
    Aizerman, Braverman, Rozonoer, Theoretical foundations of the potential function method (1964).
    Freund and Schapire, Large margin classification using the perceptron algorithm, Machine Learning 37 (1999).
    """

    def __init__(
        self,
        kernel: Kernel | Lift | PythonFunction | str = DEFAULT_KERNEL,
        *,
        lengthscale: float | str = "median",
        max_iter: int = 10,
        shuffle: bool = False,
        combine: str = LAST,
        budget: int | None = None,
        strategy: str = "forgetron",
        memory_limit: int | str | None = None,
        time_limit: float | None = None,
        on_interrupt: str = "raise",
        verbose: bool | str = False,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.lengthscale = lengthscale
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.combine = combine
        self.budget = budget
        self.strategy = strategy
        self.memory_limit = memory_limit
        self.time_limit = time_limit
        self.on_interrupt = on_interrupt
        self.verbose = verbose
        self.random_state = random_state

    @available_if(sees_rows)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    @speaks
    def partial_fit(self, X: Any, y: Any, classes: ArrayLike | None = None) -> Self:
        """One pass over new rows, after all before; not with a matrix of similarities.

        classes : all labels that will ever come; asked for with the first rows
        """
        return super().partial_fit(X, y, classes)

    def _known_columns(self, rows: Any) -> Any:
        return rows[:, self._course.numbers]

    def _viewed(self, X: Any, rows: Any) -> View:
        count = n_rows(rows)
        limit = self.memory_limit
        view = resolve_view(self.kernel, self.lengthscale, rows, X, np.arange(count), memory_limit=limit)
        if isinstance(view, MatrixView):
            view = replace(view, matrix=check_precomputed(view.matrix))
        self.kernel_, self.lift_ = view.kernel, view.lift
        return view

    def _updater(self, problem: PerceptronProblem) -> Updater:
        state, K, known = problem.state, problem.view.operator(), np.arange(problem.remembered)
        if state is not None:
            self._same_budget(state.memory)
        if self.budget is not None:
            memory = None if state is None else deepcopy(state.memory)
            memory = memory or STRATEGIES[self.strategy](int(self.budget), problem.outputs)
            return BudgetUpdater(Budgeted(K, memory, known), problem.every_code)
        space = Dual(K, problem.outputs)
        if state is not None:
            space.learn(known, state.coefficients(problem.outputs, LAST))
        return FullUpdater(space, problem.every_code, problem.outputs)

    def _same_budget(self, memory: Memory | None) -> None:
        """Refuse another budget, or another strategy, than that of the rows that are remembered."""
        size = None if memory is None else memory.budget
        if size == self.budget and (memory is None or type(memory) is STRATEGIES[self.strategy]):
            return
        how = "" if memory is None else f" and strategy={type(memory).__name__.lower()!r}"
        got = f"got budget={self.budget!r} and strategy={self.strategy!r}"
        needs, remedy = f"budget={size}{how}, as for the rows before", "Set that back, or begin again with fit."
        raise InputError(message(needs, got, remedy))

    def _settings(self) -> None:
        super()._settings()
        refuse_loo(self.lengthscale, 'got "loo", which is for least squares', 'Use "median".')
        if not (isinstance(self.strategy, str) and self.strategy in STRATEGIES):
            needs = 'strategy that is "forgetron" or "projectron"'
            raise InputError(message(needs, f"got {shown(self.strategy)}", 'Use "forgetron".'))
        budget = positive_int_or_none("budget", self.budget, "Use 500, say.")
        if budget is not None and self.combine != LAST:
            got = f"combine is {self.combine!r}"
            raise InputError(message('combine="last" with a budget', got, "Leave one of them out."))
