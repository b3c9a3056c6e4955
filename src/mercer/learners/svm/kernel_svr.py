"""Kernel support vector regression."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils.validation import column_or_1d

from mercer.errors import speaks
from mercer.kernels import Kernel
from mercer.kernels.function import PythonFunction
from mercer.learners.data.kernel_parameters import DEFAULT_KERNEL
from mercer.learners.data.rows import rows_that_count
from mercer.learners.data.validation import targets_of, weights_of
from mercer.learners.parameters import non_negative_float, positive_float
from mercer.learners.run.fit_run import Watched
from mercer.learners.svm.base import BaseSVM
from mercer.learners.svm.hard_tube import HardTube
from mercer.learners.svm.problem import SVMProblem
from mercer.learners.svm.settings import SVMSettings
from mercer.learners.svm.subproblem import SoftMargin
from mercer.lifts.base import Lift
from mercer.solvers.svm.box_qp import BoxQP

Array = NDArray[np.float64]


class KernelSVR(RegressorMixin, BaseSVM[SVMProblem]):  # type: ignore[misc]  # scikit-learn has no types
    """Regression in a tube: f minimises |f|^2 / 2 + sum_i C_i max(0, |y_i - f(x_i) - b| - epsilon).

    Residuals up to epsilon are free, and their rows are no support. For costs, parameters and attributes see
    `KernelSVC`; those that differ are

    Parameters
    ----------
    C : the penalty of what residuals exceed epsilon by, positive. np.inf for no residual beyond epsilon: an error
        says so where no function does that
    epsilon : the half width of the tube, at least 0, in units of y

    Attributes
    ----------
    dual_coef_ : (support,), negative where y lies below the tube
    intercept_ : b

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelSVR
    >>> X = np.linspace(0, 3, 40)[:, None]
    >>> y = np.exp(1.5 * X[:, 0] - 1)
    >>> model = KernelSVR(C=1000, epsilon=0.1).fit(X, y)
    >>> bool(np.abs(model.predict(X) - y).max() < 0.101), len(model.support_) < 20
    (True, True)

    References
    ----------
    Drucker, Burges, Kaufman, Smola and Vapnik, Support vector regression machines, NIPS 1996.
    """

    def __init__(
        self,
        kernel: Kernel | Lift | PythonFunction | str = DEFAULT_KERNEL,
        *,
        C: float = 1.0,  # its name everywhere
        epsilon: float = 0.1,
        lengthscale: float | str = "median",
        tol: float = 1e-3,
        max_iter: int | None = None,
        method: str = "auto",
        n_landmarks: int | None = None,
        polish: bool = False,
        warm_start: bool = False,
        memory_limit: int | str | None = None,
        time_limit: float | None = None,
        on_interrupt: str = "raise",
        verbose: bool | str = False,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.epsilon = epsilon
        self.lengthscale = lengthscale
        self.tol = tol
        self.max_iter = max_iter
        self.method = method
        self.n_landmarks = n_landmarks
        self.polish = polish
        self.warm_start = warm_start
        self.memory_limit = memory_limit
        self.time_limit = time_limit
        self.on_interrupt = on_interrupt
        self.verbose = verbose
        self.random_state = random_state

    @speaks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the SVM; `sample_weight` says how often each row counts, and rows of weight 0 are left out."""
        self._fit(X, y, sample_weight)
        self._warn_if_not_converged()
        return self

    def _problem(self, X: Any, y: Any, sample_weight: Any, run: Watched | None) -> SVMProblem:
        C = positive_float("C", self.C, "Use 1.0, or np.inf for no residual beyond epsilon.", infinite=True)
        epsilon = non_negative_float("epsilon", self.epsilon, "Use 0.1, the default.")
        settings, rows = SVMSettings.of(self), self._read(X, reset=True)
        targets = targets_of(self, X, y)
        targets = targets if targets.ndim == 1 else column_or_1d(targets, warn=True)
        weights = weights_of(sample_weight, len(targets))
        kept, own = rows_that_count(weights, len(targets))
        sizes = np.full(len(own), np.inf) if np.isinf(C) else C * own
        y = np.ascontiguousarray(targets[kept])
        qp, every = BoxQP(-y, -sizes, sizes, kink=epsilon), np.arange(len(kept))
        subproblem = HardTube(every, qp) if np.isinf(C) else SoftMargin(every, qp)
        return SVMProblem(settings, rows, self._viewed(X, rows, kept, weights, y[:, None]), kept, [subproblem])

    @speaks
    def predict(self, X: Any) -> NDArray[Any]:
        """f(x) + b of each row."""
        return self._values(X)[:, 0]
