"""The one-class SVM: where data is, and where it is not."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import OutlierMixin
from sklearn.utils.validation import check_is_fitted

from mercer.errors import InputError, message, speaks
from mercer.kernels import Kernel
from mercer.kernels.function import PythonFunction
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

ON_MARGIN = 1e-10
"""The part of the offset by which a row at the margin may miss it."""


class KernelOneClassSVM(OutlierMixin, BaseSVM[SVMProblem]):  # type: ignore[misc]  # scikit-learn has no types
    """The region that holds most rows: f minimises |f|^2 / 2 - nu n offset + sum_i s_i max(0, offset - f(x_i)).

    Rows with f(x) < offset are outliers: at most the part nu of all, and at least that part is support. For costs,
    parameters and attributes see `KernelSVC`; those that differ are

    Parameters
    ----------
    nu : the part of the rows that may be outliers, above 0 and up to 1

    Attributes
    ----------
    dual_coef_ : (support,), from 0 to the weight of a row, which add up to nu times all weights
    offset_, intercept_ : what f is compared with, and its negative

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
        self.on_interrupt = on_interrupt
        self.verbose = verbose
        self.random_state = random_state

    @speaks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the SVM; `sample_weight` says how often each row counts, and y is ignored."""
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
        view = self._viewed(X, rows, kept, weights, np.ones((len(kept), 1)))
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
        return ON_MARGIN * abs(float(self._model.biases[0]))

    @speaks
    def score_samples(self, X: Any) -> NDArray[Any]:
        """f(x) of each row: how much data is near."""
        values = self._values(X)[:, 0]
        return np.asarray(values - values.dtype.type(self._model.biases[0]))

    @speaks
    def decision_function(self, X: Any) -> NDArray[Any]:
        """f(x) - offset of each row: negative outside of the region."""
        scores = self.score_samples(X)
        return np.asarray(scores - scores.dtype.type(self.offset_))

    @speaks
    def predict(self, X: Any) -> NDArray[np.intp]:
        """1 for rows inside of the region, and -1 for outliers."""
        return np.where(self.decision_function(X) >= 0, 1, -1)
