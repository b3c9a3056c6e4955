"""The perceptron on raw columns, or on the features of any lift or of any kernel that has a finite one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from mercer.compute.runtime.memory import Budget
from mercer.errors import InputError, message, number_of
from mercer.kernels import Kernel
from mercer.kernels.base import PythonFunction
from mercer.kernels.fields import MEDIAN
from mercer.kernels.points import DOUBLE, Points
from mercer.learners.data.resolve import resolve_view
from mercer.learners.data.validation import is_precomputed
from mercer.learners.data.views import LiftView, View
from mercer.learners.parameters import boolean
from mercer.learners.perceptron.averaging import LAST
from mercer.learners.perceptron.base import BasePerceptron, PerceptronProblem, outputs_of
from mercer.learners.perceptron.state import FullUpdater, Updater
from mercer.lifts.base import Lift
from mercer.solvers.perceptron.perceptron import Primal

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class WithOne(LiftView):
    """Features of a lift, and 1 after them: what an intercept is."""

    @property
    def most_features(self) -> int | None:
        return self.lift.n_features() + 1

    def features_of(self, new: Points) -> Array:
        found = super().features_of(new)
        return np.column_stack([found, np.ones(len(found))])


class Perceptron(BasePerceptron):
    """Rosenblatt's perceptron: theta grows by y_i phi(x_i) at each mistake.

    A mistake is a row with `y_i theta.phi(x_i) <= 0`. Passes end when one makes no mistake, which happens for separable
    data after at most (R / margin)^2 mistakes, or after `max_iter`. With more than two classes there is one theta per
    class: a mistake adds to that of its own class, and subtracts from the best other one. Rows are processed in blocks,
    with the result of the sequential algorithm. Cost of a pass: 1,000 n p operations for p features; memory: n p
    numbers.

    Parameters
    ----------
    kernel : Kernel, str, Lift or callable, default="linear"
        The features phi: a lift, or a kernel that has a finite one ("polynomial(2)"). The features of "linear" are the
        columns themselves.
    fit_intercept : bool, default=True
        Whether 1 is a feature, too.
    max_iter : int, default=10
        The most passes over the rows.
    shuffle : bool, default=False
        Whether each pass has its own order, from `random_state`; otherwise that of the rows.
    combine : {"last", "averaged", "voted"}, default="last"
        As in `KernelPerceptron`.
    memory_limit : int, str or None, default=None
        Bytes, or a text such as "4 GB", that the fit may hold beyond the data; None for 80 % of the free memory.
    time_limit : float or None, default=None
        Seconds. A fit that cannot keep to it stops with the model so far.
    on_interrupt : {"raise", "keep"}, default="raise"
        With "keep", Ctrl-C ends the fit with the model so far.
    verbose : bool or "auto", default=False
        True shows a bar on a terminal, lines elsewhere; "auto" a bar on a terminal, for fits of more than two seconds.
    random_state : int, Generator or None, default=None
        The source of the order of rows.

    Attributes
    ----------
    coef_ : array of shape (p,) or (classes, p)
        theta, one weight per feature (and class).
    intercept_ : float or array of shape (classes,)
        The weight of 1.
    kernel_ : Kernel
        The kernel with its numbers.
    lift_ : Lift
        The fitted lift.
    classes_, support_, dual_coef_, alpha_, mistakes_, history_ : array
        As in `KernelPerceptron`, for the kernel phi(x).phi(z), plus 1 with an intercept.
    converged_, margin_, mistake_bound_, n_iter_, plan_ : various
        Likewise.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Perceptron
    >>> from mercer.lifts import Polynomial
    >>> X = np.array([[0.0, 0.0], [0.5, 0.1], [2.0, 0.0], [0.0, -2.5], [-1.9, 1.0]])
    >>> Perceptron(Polynomial(2), max_iter=100).fit(X, [0, 0, 1, 1, 1]).predict([[0.1, 0.1], [3.0, 3.0]])
    array([0, 1])

    References
    ----------
    Rosenblatt, The perceptron, Psychological Review 65 (1958).
    Novikoff, On convergence proofs for perceptrons (1962).
    """

    def __init__(
        self,
        kernel: Kernel | Lift | PythonFunction | str = "linear",
        *,
        fit_intercept: bool = True,
        max_iter: int = 10,
        shuffle: bool = False,
        combine: str = LAST,
        memory_limit: int | str | None = None,
        time_limit: float | None = None,
        on_interrupt: str = "raise",
        verbose: bool | str = False,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.combine = combine
        self.memory_limit = memory_limit
        self.time_limit = time_limit
        self.on_interrupt = on_interrupt
        self.verbose = verbose
        self.random_state = random_state

    def _read(self, X: Any, reset: bool) -> Points:
        """Dense rows: their features are dense, too."""
        rows: Points = super()._read(X, reset)
        values: Any = rows.values
        return replace(rows, values=values.toarray() if rows.sparse else values, dtype=DOUBLE)

    def _viewed(self, X: Any, rows: Points) -> View:
        table, kept = rows.values if sp.issparse(X) else X, np.arange(rows.shape[0])
        given = resolve_view(self.kernel, MEDIAN, rows, table, kept, memory_limit=self.memory_limit)
        view = self._lifted(given)
        self.kernel_, self.lift_ = view.kernel, view.lift
        return (WithOne if self.fit_intercept else LiftView)(view.points, view.lift)

    def _lifted(self, view: View) -> Any:
        """The rows with their features; refuses a kernel without, and one whose features the memory cannot hold."""
        width, remedy = view.most_features, "Use KernelPerceptron, or a lift such as Nystrom."
        if width is not None:
            self._require(width, view.count, remedy)
        try:
            found: Any = view.lifted()
        except AttributeError:
            got = f"{view.kernel} has none"
            raise InputError(message("a kernel with a finite lift", got, remedy)) from None
        if width is None:
            self._require(found.lift.n_features(), view.count, remedy)
        return found

    def _require(self, width: int, count: int, remedy: str) -> None:
        purpose = f"{number_of(width, 'feature')} of {number_of(count, 'row')}"
        Budget.of(self.memory_limit).require(8 * count * width, purpose, remedy)

    def _width(self, view: View) -> int:
        return view.most_features or 1

    def _updater(self, problem: PerceptronProblem) -> Updater:
        features, outputs = problem.view.features(), problem.outputs
        theta = np.zeros((features.shape[1], outputs))
        if problem.state is not None:
            theta = features[: problem.remembered].T @ problem.state.coefficients(outputs, LAST)
        return FullUpdater(Primal(features, np.ascontiguousarray(theta)), problem.every_code, outputs)

    def _settings(self) -> None:
        super()._settings()
        if is_precomputed(self.kernel):
            needs, got = "a lift, or a kernel with a finite one", "got 'precomputed'"
            raise InputError(message(needs, got, "Give the rows, or use KernelPerceptron."))
        boolean("fit_intercept", self.fit_intercept, "Use True.")

    @property
    def coef_(self) -> Array:
        """(features,) for two classes, else (classes, features)."""
        theta = self._theta()
        theta = theta[:-1] if self._with_one else theta
        return np.asarray(theta[:, 0] if theta.shape[1] == 1 else theta.T)

    @property
    def intercept_(self) -> Any:
        """The weight of 1; 0 without an intercept."""
        theta = self._theta()
        b = theta[-1] if self._with_one else np.zeros(theta.shape[1])
        return float(b[0]) if len(b) == 1 else b

    @property
    def _with_one(self) -> bool:
        """Whether 1 is a feature of what was fitted."""
        return isinstance(self._state.view, WithOne)

    def _theta(self) -> Array:
        check_is_fitted(self)
        state = self._state
        return np.asarray(state.view.features().T @ state.coefficients(outputs_of(self.classes_), self.combine))
