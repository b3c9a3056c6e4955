"""The kernel perceptron: a mistake adds its row to the function, and nothing else ever happens."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mercer.backends.base import Backend
from mercer.errors import InputError, message, speaks
from mercer.kernels import Kernel
from mercer.kernels.base import PythonFunction
from mercer.learners.data.kernel_parameters import DEFAULT_KERNEL
from mercer.learners.data.resolve import resolve_view
from mercer.learners.data.rows import n_rows
from mercer.learners.data.validation import sees_rows, shown
from mercer.learners.data.views import MatrixView, View
from mercer.learners.parameters import positive_int_or_none, refuse_loo
from mercer.learners.perceptron.averaging import LAST
from mercer.learners.perceptron.base import BasePerceptron, PerceptronProblem, outputs_of
from mercer.learners.perceptron.state import BudgetUpdater, FullUpdater, Updater
from mercer.learners.streaming.weights import lifted
from mercer.lifts.base import Lift
from mercer.lifts.in_kind import in_kind
from mercer.operators.precomputed import check_precomputed
from mercer.solvers.perceptron.budget import STRATEGIES, Budgeted, Memory
from mercer.solvers.perceptron.perceptron import Dual

Array = NDArray[np.float64]


class KernelPerceptron(BasePerceptron):
    """The kernel perceptron: f grows by y_i k(., x_i) at each mistake.

    `f(x) = sum_j alpha_j y_j k(x, x_j)`. Rows are processed in order: where y_i f(x_i) <= 0, alpha_i grows by 1. Passes
    end when one makes no mistake, which happens for separable data after at most (R / margin)^2 mistakes, or after
    `max_iter`. With more than two classes there is one f per class: a mistake adds to that of its own class, and
    subtracts from the best other one.

    Rows are processed in blocks, by products of matrices, with the result of the sequential algorithm. Cost of a pass:
    n times the mistakes since the last one, in values of the kernel; memory: the mistakes, and some blocks.

    Parameters
    ----------
    kernel : Kernel, str, callable, Lift or "precomputed", default="matern(nu=2.5, lengthscale='median')"
        A kernel, its text, a Python function, a lift (its kernel, by its features where that is cheaper), or
        "precomputed": X is then the matrix of all pairs of training rows, and new rows are given as their similarities
        with these. A lengthscale that a text leaves out ("rbf", "2*matern(nu=1.5) + linear") is open, as if it were
        "median".
    lengthscale : float or "median", default="median"
        The value of open lengthscales; "median" takes the median distance of the first rows.
    max_iter : int, default=10
        The most passes over the rows.
    shuffle : bool, default=False
        Whether each pass has its own order, from `random_state`; otherwise that of the rows.
    combine : {"last", "averaged", "voted"}, default="last"
        What predicts: the last f, as in the lectures; the mean of all f on the way; or a vote of all of them. The
        latter two are better where classes overlap.
    budget : int or None, default=None
        The most rows that are stored; None for all mistakes. Only with combine="last".
    strategy : {"forgetron", "projectron"}, default="forgetron"
        What happens beyond the budget: "forgetron" shrinks all and forgets the oldest, "projectron" projects the new
        one onto those that are stored.
    memory_limit : int, str or None, default=None
        Bytes, or a text such as "4 GB", that the fit may hold beyond the data; None for 80 % of the free memory.
    time_limit : float or None, default=None
        Seconds. A fit that cannot keep to it stops with the model so far.
    backend : str or Backend, default="auto"
        What computes: "cpu", "cuda" (or "cuda:1"), a graphics card, or a member of `mercer.backends`. "auto" takes the
        card where there is one and it is clearly faster.
    on_interrupt : {"raise", "keep"}, default="raise"
        With "keep", Ctrl-C ends the fit with the model so far.
    verbose : bool or "auto", default=False
        True shows a bar on a terminal, lines elsewhere; "auto" a bar on a terminal, for fits of more than two seconds.
    random_state : int, Generator or None, default=None
        The source of the order of rows.

    Attributes
    ----------
    classes_ : array of shape (classes,)
        The labels, sorted.
    support_ : array of int
        Positions of the rows of which f is made.
    dual_coef_ : array
        Their coefficients alpha_j y_j.
    alpha_ : array of shape (n,)
        The alpha of each row, for two classes: the number of its mistakes, or their mean on the way if averaged.
    mistakes_ : array of int of shape (n,)
        How many mistakes each row made; not on a budget.
    coef_ : array of shape (features,) or (classes, features)
        theta = sum_j alpha_j y_j phi(x_j), where the kernel has a finite lift phi.
    history_ : array of int
        The mistakes of each pass.
    converged_ : bool
        Whether the last pass made none.
    margin_ : float
        `min_i y_i f(x_i) / |f|` of the last f, where it separates the rows; NaN otherwise.
    mistake_bound_ : float
        (R / `margin_`)^2, which the mistakes never exceed; infinite where the rows were not separated.
    n_iter_ : int
        The passes.
    plan_ : Plan
        The method, and its predicted time and memory.

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
        backend: Backend | str = "auto",
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
        self.backend = backend
        self.on_interrupt = on_interrupt
        self.verbose = verbose
        self.random_state = random_state

    @available_if(sees_rows)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    @in_kind
    @speaks
    def partial_fit(self, X: Any, y: Any, classes: ArrayLike | None = None) -> Self:
        """One pass over new rows, after all before; not with a matrix of similarities.

        classes : all labels that will ever come; asked for with the first rows
        """
        return super().partial_fit(X, y, classes)

    def _known_columns(self, rows: Any) -> Any:
        return rows[:, self._state.numbers]

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
        return FullUpdater(space, problem.every_code)

    def _same_budget(self, memory: Memory | None) -> None:
        """Refuse another budget, or another strategy, than that of the rows that are remembered."""
        size = None if memory is None else memory.budget
        if size == self.budget and (memory is None or type(memory) is STRATEGIES[self.strategy]):
            return
        how = "" if memory is None else f" and strategy={type(memory).__name__.lower()!r}"
        got = f"got budget={self.budget!r} and strategy={self.strategy!r}"
        needs, remedy = f"budget={size}{how}, as for the rows before", "Set that back, or begin again with fit."
        raise InputError(message(needs, got, remedy))

    @property
    def coef_(self) -> Array:
        """The weights of the features of `lift_`, or of `mercer.lift(kernel_, columns)`: theta.

        An AttributeError where the kernel has no finite lift. Cost: the features of the support.
        """
        check_is_fitted(self)
        duals = self._state.coefficients(outputs_of(self.classes_), self.combine)
        theta = lifted(self._state.view, duals)
        return theta[:, 0] if theta.shape[1] == 1 else theta.T

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
