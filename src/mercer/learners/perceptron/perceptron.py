"""The perceptron on raw columns, or on the features of any lift."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from mercer.errors import InputError, sentence
from mercer.kernels import Linear
from mercer.kernels.points import DOUBLE, Points
from mercer.learners.data.validation import lift_of, rows_of, shown
from mercer.learners.data.views import KernelView, LiftView, TableView, View, joined
from mercer.learners.parameters import boolean
from mercer.learners.perceptron.averaging import LAST
from mercer.learners.perceptron.base import Mistaken
from mercer.learners.perceptron.state import Course, Pupil, Unbounded
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


class Perceptron(Mistaken):
    """Rosenblatt's perceptron: theta grows by y_i phi(x_i) wherever y_i theta.phi(x_i) <= 0.

    Passes go on until one makes no mistake, which separable data gets to after at most (R / margin)^2 mistakes, or
    `max_iter` are over. With more than two classes there is one theta per class: a mistake adds to that of its own, and
    takes from the best other one. Rows are worked on in blocks, to what the sequential algorithm finds. Cost of a pass:
    1,000 n p operations for p features; memory: n p numbers.

    Parameters
    ----------
    lift : whose features phi are learned from; None for the columns as they are
    fit_intercept : whether 1 is a feature, too
    max_iter, shuffle, combine, memory_limit, time_limit, on_interrupt, verbose, random_state : as in `KernelPerceptron`

    Attributes
    ----------
    coef_, intercept_ : theta, one weight per feature (and class), and that of 1
    lift_ : the fitted lift
    classes_, support_, dual_coef_, history_, converged_, margin_, mistake_bound_, n_iter_, plan_ : as in
        `KernelPerceptron`, for the kernel phi(x).phi(z), plus 1 with an intercept

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

    kernel = None  # a lift stands in its place

    def __init__(
        self,
        lift: Lift | None = None,
        *,
        fit_intercept: bool = True,
        max_iter: int = 10,
        shuffle: bool = False,
        combine: str = LAST,
        memory_limit: int | str | None = None,
        time_limit: float | None = None,
        on_interrupt: str = "raise",
        verbose: bool | str = "auto",
        random_state: Any = None,
    ) -> None:
        self.lift = lift
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
        rows = rows_of(self, X, None, reset)
        values: Any = rows.values
        return replace(rows, values=values.toarray() if rows.sparse else values, dtype=DOUBLE)

    def _viewed(self, X: Any, rows: Points) -> View:
        lift: Any = KernelView(rows, Linear()).lifted().lift
        if self.lift is not None:
            lift = clone(self.lift).fit(rows.values if sp.issparse(X) else X)
        self.lift_ = lift
        return (WithOne if self.fit_intercept else LiftView)(rows, lift)

    def _width(self, view: View) -> int:
        return view.most_features or 1

    def _joined(self, view: View, rows: Points) -> View:
        assert isinstance(view, TableView)  # noqa: S101  # it was made here
        return joined(view, rows)

    def _pupil(self, view: View, course: Course, classes: NDArray[np.intp], outputs: int) -> Pupil:
        features, known = view.features(), course.coefficients(outputs, LAST)
        theta = features[: len(known)].T @ known
        return Unbounded(Primal(features, np.ascontiguousarray(theta)), classes, outputs)

    def _settings(self) -> None:
        super()._settings()
        who = type(self).__name__
        if not (self.lift is None or isinstance(self.lift, Lift)):
            remedy = "Use Polynomial(2), say; a kernel goes into KernelPerceptron."
            raise InputError(sentence(who, "a lift, or None", f"got {shown(self.lift)}", remedy))
        if self.lift is not None:
            lift_of(who, self.lift)
        boolean(who, "fit_intercept", self.fit_intercept, "Use True.")

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
        found = theta[-1] if self._with_one else np.zeros(theta.shape[1])
        return float(found[0]) if len(found) == 1 else found

    @property
    def _with_one(self) -> bool:
        """Whether 1 is a feature of what was fitted."""
        return isinstance(self._course.view, WithOne)

    def _theta(self) -> Array:
        check_is_fitted(self)
        course, outputs = self._course, 1 if len(self.classes_) == 2 else len(self.classes_)
        assert course.view is not None  # noqa: S101  # it is fitted
        return np.asarray(course.view.features().T @ course.coefficients(outputs, self.combine))
