"""Classification by kernel ridge regression on labels of -1 and +1."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from mercer.backends.base import Backend
from mercer.errors import speaks
from mercer.kernels import Kernel
from mercer.kernels.base import PythonFunction
from mercer.learners.data.kernel_parameters import DEFAULT_KERNEL
from mercer.learners.data.labels import classes_of, coded, decided, labels_of
from mercer.learners.data.validation import class_weights_of, weights_of
from mercer.learners.ridge.least_squares import LeastSquares
from mercer.learners.ridge.problem import Targets
from mercer.learners.streaming.source_stream import SourceStream, classification_stream
from mercer.lifts.base import Lift
from mercer.solvers import Solver
from mercer.sources import Source


class KernelRidgeClassifier(ClassifierMixin, LeastSquares):  # type: ignore[misc]  # scikit-learn has no types
    """Kernel ridge classification: regression of +1 for a class and -1 for the others, and the largest value wins.

    Two classes take one regression, more classes take one each; all share one decomposition. Where alpha or the
    lengthscale is chosen, it is by the number of wrong leave-one-out labels, weighted, and among equals by the squared
    error. Cost and further attributes are those of `KernelRidge`.

    Parameters
    ----------
    kernel : Kernel, str, callable, Lift or "precomputed", default="matern(nu=2.5, lengthscale='median')"
        A kernel, its text, a Python function, a lift (its kernel, by its features where that is cheaper), or
        "precomputed": X is then the matrix of all pairs of training rows, and new rows are given as their similarities
        with these. A lengthscale that a text leaves out ("rbf", "2*matern(nu=1.5) + linear") is open, as if it were
        "median".
    alpha : float, array or "auto", default="auto"
        As in `KernelRidge`; an array holds candidates.
    lengthscale : float, "median" or "loo", default="median"
        As in `KernelRidge`.
    fit_intercept : bool, default=True
        Whether there is a constant b without penalty.
    class_weight : dict, "balanced" or None, default=None
        The weight of each class; "balanced" is n / (classes * rows of the class). None for one. A class of weight 0 is
        left out.
    solver : "auto" or Solver, default="auto"
        A solver of `mercer.solvers`: Cholesky(), Eigen(), ConjugateGradient() or GradientDescent().
    side : {"auto", "dual", "primal"}, default="auto"
        "dual" solves for one coefficient per row, also of a linear kernel or a lift; "primal" for one weight per
        feature, where the kernel has a finite lift. Both are exact. "auto" takes the cheaper one.
    method : {"auto", "exact", "landmarks", "fourier_grid"}, default="auto"
        "exact" uses the kernel itself, or the features of a given lift, also where that takes long; it is refused where
        it does not fit the memory. "landmarks" approximates the kernel. "fourier_grid" takes waves on a grid of
        frequencies, for stationary kernels of up to three columns, with a proven error (see `FourierGrid`). "auto" is
        exact where that is quick enough.
    n_landmarks : int or None, default=None
        How many landmarks where they are taken, not used by "exact"; None for the most within memory and time, up to
        half of the rows.
    memory_limit : int, str or None, default=None
        Bytes, or a text such as "4 GB", that the fit may hold beyond the data; None for 80 % of the free memory.
    time_limit : float or None, default=None
        Seconds. A fit that cannot keep to it stops with the model so far; None plans for about a minute.
    backend : str or Backend, default="auto"
        What computes: "cpu", "cuda" (or "cuda:1"), a graphics card, or a member of `mercer.backends`. "auto" takes the
        card where there is one and it is clearly faster.
    checkpoint : str, Path or None, default=None
        A file from which a fit that was cut off goes on.
    on_interrupt : {"raise", "keep"}, default="raise"
        With "keep", Ctrl-C ends the fit with the model so far.
    verbose : bool or "auto", default=False
        True shows a bar on a terminal, lines elsewhere; "auto" a bar on a terminal, for fits of more than two seconds.
    random_state : int, Generator or None, default=None
        The source of landmarks, and of samples of rows.

    Attributes
    ----------
    classes_ : array of shape (classes,)
        The labels, sorted.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelRidgeClassifier
    >>> angle = np.linspace(0, 6, 50)
    >>> ring = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> X, y = np.vstack([ring, 3 * ring]), np.repeat(["inner", "outer"], 50)
    >>> KernelRidgeClassifier().fit(X, y).predict([[0.5, 0.0], [0.0, -2.8]])
    array(['inner', 'outer'], dtype='<U5')

    References
    ----------
    Rifkin, Yeo and Poggio, Regularized least-squares classification (2003).
    """

    def __init__(
        self,
        kernel: Kernel | Lift | PythonFunction | str = DEFAULT_KERNEL,
        *,
        alpha: float | ArrayLike | str = "auto",
        lengthscale: float | str = "median",
        fit_intercept: bool = True,
        class_weight: dict[Any, float] | str | None = None,
        solver: Solver | str = "auto",
        side: str = "auto",
        method: str = "auto",
        n_landmarks: int | None = None,
        memory_limit: int | str | None = None,
        time_limit: float | None = None,
        backend: Backend | str = "auto",
        checkpoint: str | PathLike[str] | None = None,
        on_interrupt: str = "raise",
        verbose: bool | str = False,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.alpha = alpha
        self.lengthscale = lengthscale
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.solver = solver
        self.side = side
        self.method = method
        self.n_landmarks = n_landmarks
        self.memory_limit = memory_limit
        self.time_limit = time_limit
        self.backend = backend
        self.checkpoint = checkpoint
        self.on_interrupt = on_interrupt
        self.verbose = verbose
        self.random_state = random_state

    _saved: ClassVar[Mapping[str, Any]] = {"classes_": NDArray[Any]}

    def _targets(self, X: Any, y: Any, sample_weight: Any) -> Targets:
        labels = labels_of(X, y)
        counts = weights_of(sample_weight, len(labels))
        weights = counts
        if self.class_weight is not None:  # classes weigh; how many copies there are of each row stays as it is
            counts = np.ones(len(labels)) if counts is None else counts
            weights = class_weights_of(self.class_weight, labels, counts)
        self.classes_ = classes_of(labels if weights is None else labels[weights > 0])
        count = len(self.classes_)
        classes = np.minimum(np.searchsorted(self.classes_, labels), count - 1)
        counted = None if self.class_weight is None else counts
        return Targets(coded(classes, count), False, weights, classes, counted)

    @property
    def alpha_(self) -> float:
        """The penalty, one for all classes."""
        return float(self._found().fit.alphas[0])

    @speaks
    def decision_function(self, X: ArrayLike) -> NDArray[Any]:
        """The regression's values.

        Parameters
        ----------
        X : array, sparse array or table of shape (m, d)
            The rows.

        Returns
        -------
        array of shape (m,) or (m, classes)
            For two classes one value per row, positive for the second class.
        """
        check_is_fitted(self)
        values, _ = self._predict(X)
        return values[:, 0] if values.shape[1] == 1 else values

    def _streamed_rows(self, source: Source) -> SourceStream:
        stream, labels = classification_stream(source, self.class_weight)
        self.classes_ = labels.classes
        return stream

    def _answers(self, values: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(self.classes_[decided(values)])

    @speaks
    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each row.

        Parameters
        ----------
        X : array, sparse array, table, path or Source
            The rows. A path to Parquet (a file or a folder), a memory map or a source of `mercer.sources` is read in
            pieces where it does not fit the memory.

        Returns
        -------
        array of shape (m,)
        """
        source = self._source_of(X)
        if source is not None:
            return np.concatenate(list(self._batches(source)))
        return self._answers(self._predict(X)[0])
