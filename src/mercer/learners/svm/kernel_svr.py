"""Kernel support vector regression."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils.validation import column_or_1d

from mercer.backends.base import Backend
from mercer.errors import speaks
from mercer.kernels import Kernel
from mercer.kernels.base import PythonFunction
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
    """Support vector regression: residuals up to epsilon are free.

    f minimises `|f|^2 / 2 + sum_i C_i max(0, |y_i - f(x_i) - b| - epsilon)`. Rows inside the tube are not support
    vectors. Cost as for `KernelSVC`.

    Parameters
    ----------
    kernel : Kernel, str, callable, Lift or "precomputed", default="matern(nu=2.5, lengthscale='median')"
        A kernel, its text, a Python function, a lift (its kernel, by its features where that is cheaper), or
        "precomputed": X is then the matrix of all pairs of training rows, and new rows are given as their similarities
        with these. A lengthscale that a text leaves out ("rbf", "2*matern(nu=1.5) + linear") is open, as if it were
        "median".
    C : float, default=1.0
        The penalty of residuals beyond epsilon, positive. np.inf for no residual beyond epsilon: an error is raised
        where no function does that.
    epsilon : float, default=0.1
        The half width of the tube, at least 0, in units of y.
    lengthscale : float or "median", default="median"
        The value of open lengthscales; "median" takes the median distance of the rows.
    tol : float, default=0.001
        The largest KKT violation, in units of f, as in scikit-learn; 1e-10, say, for coefficients to rounding. On
        features a relative duality gap of tol is enough, too.
    max_iter : int or None, default=None
        The most steps, or passes over features; None for 10 million steps or more (up to 650 rows for 800 per row, and
        400,000), or 1,000 passes.
    method : {"auto", "exact", "landmarks"}, default="auto"
        "exact" uses the kernel itself, "landmarks" approximates it (or uses the features of a given lift). "auto" is
        "exact" where that fits and takes less than half an hour; above 100,000 rows it is always "landmarks", where the
        kernel allows it.
    n_landmarks : int or None, default=None
        How many landmarks; None for the least of 2,000, half of the rows, and what fits the memory.
    polish : bool, default=False
        Whether the solution on landmarks is made exact on the margin, by the kernel itself; the model has support
        vectors then.
    warm_start : bool, default=False
        Whether a fit on the same rows starts from the last coefficients, as for a path of C.
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
        The source of landmarks and working sets.

    Attributes
    ----------
    support_ : array of int
        Positions of the support vectors, sorted.
    support_vectors_ : array or table
        The support vectors.
    n_support_ : array of int
        How many there are.
    dual_coef_ : array of shape (support,)
        Negative where y lies below the tube.
    intercept_ : float
        b.
    coef_ : array of shape (functions, features)
        The weights, where the kernel is linear, or has another finite lift.
    converged_ : bool
        Whether all functions are optimal to `tol`.
    n_iter_ : int or array
        Steps.
    duality_gap_, relative_gap_ : float
        An upper bound of the distance of the objective from its optimum, and the bound relative to the objective.
    outcomes_ : list
        The solver's report on each function.
    kernel_ : Kernel or None
        The kernel with its numbers; None where there is none.
    lift_ : Lift or None
        The fitted lift; None where there is none.
    plan_ : Plan
        The method, and its predicted time and memory.

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
        backend: Backend | str = "auto",
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
        self.backend = backend
        self.on_interrupt = on_interrupt
        self.verbose = verbose
        self.random_state = random_state

    @speaks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the SVM.

        Parameters
        ----------
        X : array, sparse array or table of shape (n, d)
            The rows.
        y : array of shape (n,)
            The targets.
        sample_weight : array of shape (n,) or None, default=None
            The weight of each row in the penalty; rows of weight 0 are left out. None for one.

        Returns
        -------
        Self
        """
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
        """Predict f(x) + b of each row.

        Parameters
        ----------
        X : array, sparse array or table of shape (m, d)
            The rows.

        Returns
        -------
        array of shape (m,)
        """
        return self._values(X)[:, 0]
