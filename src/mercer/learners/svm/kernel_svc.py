"""Kernel support vector classification."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from mercer.backends.base import Backend
from mercer.compute.runtime.memory import Budget
from mercer.errors import InputError, message, speaks
from mercer.kernels import Kernel
from mercer.kernels.base import PythonFunction
from mercer.learners.data.kernel_parameters import DEFAULT_KERNEL
from mercer.learners.data.labels import classes_of, decided, labels_of
from mercer.learners.data.rows import rows_that_count
from mercer.learners.data.validation import class_weights_of, shown, weights_of
from mercer.learners.parameters import boolean, positive_float
from mercer.learners.run.fit_run import Watched
from mercer.learners.svm.attributes import squared_lengths
from mercer.learners.svm.base import BaseSVM
from mercer.learners.svm.methods import ExactMethod, Method
from mercer.learners.svm.model import SVMResult
from mercer.learners.svm.multiclass import PAIRS, REST, confidences, solve_on_one_matrix, subproblems_of, votes
from mercer.learners.svm.problem import SVCProblem
from mercer.learners.svm.settings import SVMSettings
from mercer.lifts.base import Lift
from mercer.planner.svm import SVMPlan, coefficients
from mercer.solvers.svm.box_qp import BoxQP, QPResult

Array = NDArray[np.float64]
MAX_UNCHECKED_PAIRS = 1000
"""Pairs of classes above which their memory is looked at before the plan does."""


class KernelSVC(ClassifierMixin, BaseSVM[SVCProblem]):  # type: ignore[misc]  # scikit-learn has no types
    """Support vector classification: the widest margin between classes.

    f minimises `|f|^2 / 2 + sum_i C_i max(0, 1 - y_i (f(x_i) + b))`, and its sign decides. `f(x) = sum_j a_j k(x, x_j)`
    over the support vectors: rows inside the margin, or on the wrong side. With more than two classes there is one
    function for each pair, and they vote; scikit-learn's `OneVsRestClassifier(KernelSVC())` has one for each class.

    The exact solver moves pairs of coefficients, with the whole kernel matrix up to 650 rows, with rows of it as they
    are needed up to 5,000, and inside of working sets beyond; rows are computed by the fused pass and kept as far as
    memory allows. Cost: n values of the kernel for each coefficient that ever moves, about n^2 / 3, and up to n^2
    numbers of 4 bytes, or less. Three and more classes of up to 2,500 rows a pair share each value of the kernel, of
    which about n^2 / 2 are computed then. Where that is too much, the kernel is approximated by landmarks.
    `plan(X, y)` says which beforehand; `duality_gap_` bounds the distance of the objective from its optimum.

    Probabilities are those of scikit-learn's `CalibratedClassifierCV(KernelSVC(), ensemble=False)`.

    Parameters
    ----------
    kernel : Kernel, str, callable, Lift or "precomputed", default="matern(nu=2.5, lengthscale='median')"
        A kernel, its text, a Python function, a lift (its kernel, by its features where that is cheaper), or
        "precomputed": X is then the matrix of all pairs of training rows, and new rows are given as their similarities
        with these. A lengthscale that a text leaves out ("rbf", "2*matern(nu=1.5) + linear") is open, as if it were
        "median".
    C : float, default=1.0
        The penalty of errors, positive; rows have C_i = C * class weight * sample weight. np.inf for a hard margin: an
        error is raised where no function separates the rows.
    lengthscale : float or "median", default="median"
        The value of open lengthscales; "median" takes the median distance of the rows.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        The result of `decision_function` for three or more classes, as in scikit-learn's SVC: "ovr", one column per
        class, made of the votes of pairs, or "ovo", one per pair in the order (0, 1), (0, 2), ..., (1, 2), ...,
        positive for the first class of the pair. The model and its predictions are the same.
    break_ties : bool, default=False
        Whether `predict` decides equal votes by `decision_function`, which needs "ovr" there; otherwise the first class
        wins.
    class_weight : dict, "balanced" or None, default=None
        The weight of each class; "balanced" is n / (classes * rows of the class). None for one.
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
    classes_ : array of shape (classes,)
        The labels, sorted.
    support_ : array of int
        Positions of the support vectors, sorted.
    support_vectors_ : array or table
        The support vectors.
    n_support_ : array of int
        How many there are of each class.
    dual_coef_ : array of shape (support,) or (support, pairs)
        y_j alpha_j; with more than two classes for pairs in the order (0, 1), (0, 2), ..., (1, 2), ...; f of a pair is
        positive for its first class.
    intercept_ : float or array of shape (pairs,)
        b.
    coef_ : array of shape (functions, features)
        The weights, where the kernel is linear, or has another finite lift.
    margin_ : float or array of shape (pairs,)
        `1 / |f|`, half of the width between f + b = -1 and f + b = 1.
    converged_ : bool
        Whether all functions are optimal to `tol`.
    n_iter_ : int or array
        Steps, one number per function.
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
    >>> from mercer import KernelSVC
    >>> angle = np.linspace(0, 6, 50)
    >>> ring = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> X, y = np.vstack([ring, 3 * ring]), np.repeat(["inner", "outer"], 50)
    >>> model = KernelSVC("gaussian(1)", C=10).fit(X, y)
    >>> model.predict([[0.5, 0.0], [0.0, -2.8]])
    array(['inner', 'outer'], dtype='<U5')
    >>> model.converged_, round(model.relative_gap_, 2)
    (True, 0.03)

    References
    ----------
    Cortes and Vapnik, Support-vector networks, Machine Learning 20 (1995). Chang and Lin, LIBSVM: a library for support
    vector machines, ACM TIST 2 (2011).
    """

    def __init__(
        self,
        kernel: Kernel | Lift | PythonFunction | str = DEFAULT_KERNEL,
        *,
        C: float = 1.0,  # its name everywhere
        lengthscale: float | str = "median",
        decision_function_shape: str = REST,
        break_ties: bool = False,
        class_weight: dict[Any, float] | str | None = None,
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
        self.lengthscale = lengthscale
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.class_weight = class_weight
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

    # -- fitting --------------------------------------------------------------------------------------------------

    @speaks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the SVM.

        Parameters
        ----------
        X : array, sparse array or table of shape (n, d)
            The rows.
        y : array of shape (n,)
            The labels.
        sample_weight : array of shape (n,) or None, default=None
            The weight of each row in the penalty; rows of weight 0 are left out. None for one.

        Returns
        -------
        Self
        """
        self._fit(X, y, sample_weight)
        self._warn_if_not_converged()
        return self

    def _problem(self, X: Any, y: Any, sample_weight: Any, run: Watched | None) -> SVCProblem:
        C = self._checked_penalty()
        settings, rows = SVMSettings.of(self), self._read(X, reset=True)
        labels = labels_of(X, y)
        copies = weights_of(sample_weight, len(labels))
        weights = copies
        if self.class_weight is not None:
            counts = np.ones(len(labels)) if copies is None else copies
            weights = class_weights_of(self.class_weight, labels, counts)
        kept, own = rows_that_count(weights, len(labels))
        classes = classes_of(labels[kept])
        codes = np.searchsorted(classes, labels[kept])
        pairs = len(classes) * (len(classes) - 1) // 2
        if pairs > MAX_UNCHECKED_PAIRS:  # before they are made, which takes long
            needed, purpose = coefficients(len(kept), pairs), f"coefficients of {pairs:,} pairs of classes"
            Budget.of(self.memory_limit).require(needed, purpose, "Use scikit-learn's OneVsRestClassifier.")
        view = self._viewed(X, rows, kept, copies)
        subproblems = subproblems_of(codes, classes, C, own, view)
        return SVCProblem(settings, rows, view, kept, subproblems, classes, codes)

    def _checked_penalty(self) -> float:
        """C; an error where it, or a parameter of several classes, is not valid."""
        C = positive_float("C", self.C, "Use 1.0, or np.inf for a hard margin.", infinite=True)
        if not (isinstance(self.decision_function_shape, str) and self.decision_function_shape in (PAIRS, REST)):
            needs, got = 'decision_function_shape that is "ovo" or "ovr"', f"got {shown(self.decision_function_shape)}"
            raise InputError(message(needs, got, 'Use "ovr", the default.'))
        boolean("break_ties", self.break_ties, "Use False, the default.")
        return C

    def _solve_all(
        self, problem: SVCProblem, plan: SVMPlan, method: Method, starts: Sequence[Array | None], run: Watched
    ) -> list[tuple[BoxQP, QPResult]]:
        if plan.details.whole and isinstance(method, ExactMethod) and np.isfinite(self.C):
            return solve_on_one_matrix(method, problem, starts, run)
        return super()._solve_all(problem, plan, method, starts, run)

    _saved: ClassVar[Mapping[str, Any]] = {"classes_": NDArray[Any], "_support_codes": NDArray[np.intp]}

    def _store(self, problem: SVCProblem, plan: SVMPlan, result: SVMResult) -> None:
        super()._store(problem, plan, result)
        self.classes_, self._support_codes = problem.classes, problem.codes[result.model.support]

    # -- predicting -----------------------------------------------------------------------------------------------

    @property
    def _sign(self) -> float:
        """Pairs of three or more classes are positive for the first one, as in LIBSVM; here for the second."""
        return -1.0 if len(self.classes_) > 2 else 1.0

    @property
    def n_support_(self) -> NDArray[np.int32]:
        """How many rows of each class the support has."""
        check_is_fitted(self)
        if not hasattr(self, "_support_codes"):
            raise AttributeError("n_support_: the file of the model is older than this attribute; fit it again")
        return np.bincount(self._support_codes, minlength=len(self.classes_)).astype(np.int32)

    @property
    def margin_(self) -> Any:
        """`1 / |f|`: the distance, on the features, of the boundary from f + b = 1; of three or more classes per pair.

        It is half of the width between the margins, as `min_i y_i (f(x_i) + b) / |f|` of a perceptron is half of its
        own: with C=np.inf both are one number, to `tol`. Infinite where f is zero. Cost: pairs of the support.
        """
        check_is_fitted(self)
        with np.errstate(divide="ignore"):
            found = 1 / np.sqrt(squared_lengths(self._model))
        return float(found[0]) if len(found) == 1 else found

    @property
    def n_iter_(self) -> NDArray[np.int32]:
        """Steps of each function, at least 1: pairs of coefficients that were moved, or single ones on features."""
        check_is_fitted(self)
        return np.array([max(1, found.steps) for found in self.outcomes_], np.int32)

    @speaks
    def decision_function(self, X: Any) -> NDArray[Any]:
        """The values of the functions, or the votes of classes.

        Votes of a class have its margin added, scaled to values between -1/3 and 1/3, as in scikit-learn.

        Parameters
        ----------
        X : array, sparse array or table of shape (m, d)
            The rows.

        Returns
        -------
        array of shape (m,), (m, classes) or (m, pairs)
            For two classes f + b, positive for the second; else as `decision_function_shape` says.
        """
        values = self._values(X)
        if values.shape[1] == 1:
            return values[:, 0]
        if self.decision_function_shape == PAIRS:
            return np.asarray(-values)
        return confidences(values, len(self.classes_)).astype(values.dtype, copy=False)

    @speaks
    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each row: that of most votes; of equal votes the first, as in LIBSVM.

        Parameters
        ----------
        X : array, sparse array or table of shape (m, d)
            The rows.

        Returns
        -------
        array of shape (m,)
        """
        check_is_fitted(self)
        if self.break_ties and self.decision_function_shape == PAIRS:
            raise InputError(f'{type(self).__name__}: break_ties must be False with decision_function_shape="ovo".')
        values = self._values(X)
        counts = confidences if self.break_ties else votes
        found = decided(counts(values, len(self.classes_)) if values.shape[1] > 1 else values)
        return np.asarray(self.classes_[found])
