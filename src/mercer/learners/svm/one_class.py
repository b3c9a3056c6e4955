"""The one-class SVM: where data is, and where it is not."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import OutlierMixin
from sklearn.utils.validation import check_is_fitted

from mercer.backends.base import Backend
from mercer.errors import InputError, message, speaks
from mercer.kernels import Kernel
from mercer.kernels.base import PythonFunction
from mercer.learners.data.kernel_parameters import DEFAULT_KERNEL
from mercer.learners.data.rows import n_rows, rows_that_count
from mercer.learners.data.validation import shown, weights_of
from mercer.learners.parameters import is_number
from mercer.learners.run.fit_run import Watched
from mercer.learners.svm.base import BaseSVM
from mercer.learners.svm.problem import SVMProblem
from mercer.learners.svm.settings import SVMSettings
from mercer.learners.svm.subproblem import SoftMargin
from mercer.lifts.base import Lift
from mercer.solvers.svm.box_qp import BoxQP

RELATIVE_MARGIN_SLACK = 1e-10
"""The part of the offset by which a row at the margin may miss it."""


class KernelOneClassSVM(OutlierMixin, BaseSVM[SVMProblem]):  # type: ignore[misc]  # scikit-learn has no types
    """The one-class SVM: the region that holds most rows.

    f minimises `|f|^2 / 2 - nu n offset + sum_i s_i max(0, offset - f(x_i))`. Rows with f(x) < offset are outliers: at
    most the part nu of all, and at least that part are support vectors. Cost as for `KernelSVC`.

    Parameters
    ----------
    kernel : Kernel, str, callable, Lift or "precomputed", default="matern(nu=2.5, lengthscale='median')"
        A kernel, its text, a Python function, a lift (its kernel, by its features where that is cheaper), or
        "precomputed": X is then the matrix of all pairs of training rows, and new rows are given as their similarities
        with these. A lengthscale that a text leaves out ("rbf", "2*matern(nu=1.5) + linear") is open, as if it were
        "median".
    nu : float, default=0.5
        The part of the rows that may be outliers, above 0 and up to 1.
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
        From 0 to the weight of a row; they add up to nu times all weights.
    offset_, intercept_ : float
        The threshold of f, and its negative.
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
    >>> from mercer import KernelOneClassSVM
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = KernelOneClassSVM(nu=0.1).fit(X)
    >>> model.predict([[0.0, 0.0], [5.0, 5.0]])
    array([ 1, -1])
    >>> bool(np.mean(model.decision_function(X) < -1e-3) <= 0.1)
    True

    References
    ----------
    Scholkopf, Platt, Shawe-Taylor, Smola and Williamson, Estimating the support of a high-dimensional distribution,
    Neural Computation 13 (2001).
    """

    def __init__(
        self,
        kernel: Kernel | Lift | PythonFunction | str = DEFAULT_KERNEL,
        *,
        nu: float = 0.5,
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
        self.nu = nu
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
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the SVM.

        Parameters
        ----------
        X : array, sparse array or table of shape (n, d)
            The rows.
        y : object, default=None
            Ignored.
        sample_weight : array of shape (n,) or None, default=None
            How often each row counts; None for once.

        Returns
        -------
        Self
        """
        self._fit(X, None, sample_weight)
        self._warn_if_not_converged()
        return self

    def _problem(self, X: Any, y: Any, sample_weight: Any, run: Watched | None) -> SVMProblem:
        if not (is_number(self.nu) and 0 < self.nu <= 1):
            needs = "a number above 0 and up to 1 for nu"
            raise InputError(message(needs, f"got {shown(self.nu)}", "Use 0.5, the default."))
        settings, rows = SVMSettings.of(self), self._read(X, reset=True)
        weights = weights_of(sample_weight, n_rows(rows))
        kept, own = rows_that_count(weights, n_rows(rows))
        zeros = np.zeros(len(kept))
        qp = BoxQP(zeros, zeros, own, total=float(self.nu) * float(own.sum()))
        view = self._viewed(X, rows, kept, weights)
        return SVMProblem(settings, rows, view, kept, [SoftMargin(np.arange(len(kept)), qp)])

    @property
    def offset_(self) -> float:
        """What f is compared with; so much lower than at the margin that rounding puts no row of it outside."""
        check_is_fitted(self)
        return -float(self._model.biases[0]) - self._slack

    @property
    def intercept_(self) -> float:
        """What is added to f."""
        return -self.offset_

    @property
    def _slack(self) -> float:
        return RELATIVE_MARGIN_SLACK * abs(float(self._model.biases[0]))

    @speaks
    def score_samples(self, X: Any) -> NDArray[Any]:
        """f(x) of each row: large where many training rows are near.

        Parameters
        ----------
        X : array, sparse array or table of shape (m, d)
            The rows.

        Returns
        -------
        array of shape (m,)
        """
        values = self._values(X)[:, 0]
        return np.asarray(values - values.dtype.type(self._model.biases[0]))

    @speaks
    def decision_function(self, X: Any) -> NDArray[Any]:
        """f(x) - offset of each row: negative outside the region.

        Parameters
        ----------
        X : array, sparse array or table of shape (m, d)
            The rows.

        Returns
        -------
        array of shape (m,)
        """
        scores = self.score_samples(X)
        return np.asarray(scores - scores.dtype.type(self.offset_))

    @speaks
    def predict(self, X: Any) -> NDArray[np.intp]:
        """Predict 1 for rows inside the region, and -1 for outliers.

        Parameters
        ----------
        X : array, sparse array or table of shape (m, d)
            The rows.

        Returns
        -------
        array of int of shape (m,)
        """
        return np.where(self.decision_function(X) >= 0, 1, -1)
