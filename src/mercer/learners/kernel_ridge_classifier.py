"""Classification by kernel ridge regression on labels of -1 and +1."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from mercer.errors import InputError, sentence
from mercer.kernels import Kernel
from mercer.learners.assembly import Problem
from mercer.learners.kernel_ridge import DEFAULT
from mercer.learners.least_squares import LeastSquares
from mercer.learners.reading import array_of, class_weights_of, weights_of
from mercer.learners.sourced import SourceStream, classification_stream
from mercer.lifts.base import Lift
from mercer.solvers import Solver
from mercer.sources import Source


class KernelRidgeClassifier(ClassifierMixin, LeastSquares):  # type: ignore[misc]  # scikit-learn has no types
    """Least squares on labels: kernel ridge regression of +1 for a class and -1 for the others, and the largest wins.

    Two classes take one regression, more classes take one each; all share one decomposition. Where alpha or the
    lengthscale is chosen, it is by the labels that leave-one-out gets wrong, weighted, and among equals by the squared
    error. For costs, parameters and attributes see `KernelRidge`; further ones are

    Parameters
    ----------
    kernel, alpha, lengthscale, fit_intercept, solver, memory_limit, time_limit, checkpoint, on_interrupt, verbose,
        random_state : as in `KernelRidge`; an array of alphas holds candidates
    class_weight : how much rows of each class weigh, as a dict or "balanced" (n / (classes * rows of the class),
        copies counted); None for one. A class of weight 0 is left out

    Attributes
    ----------
    classes_ : the labels, sorted

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
        kernel: Kernel | Lift | str = DEFAULT,
        *,
        alpha: float | ArrayLike | str = "auto",
        lengthscale: float | str = "median",
        fit_intercept: bool = True,
        class_weight: dict[Any, float] | str | None = None,
        solver: Solver | str = "auto",
        memory_limit: int | str | None = None,
        time_limit: float | None = None,
        checkpoint: str | PathLike[str] | None = None,
        on_interrupt: str = "raise",
        verbose: bool | str = "auto",
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.alpha = alpha
        self.lengthscale = lengthscale
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.solver = solver
        self.memory_limit = memory_limit
        self.time_limit = time_limit
        self.checkpoint = checkpoint
        self.on_interrupt = on_interrupt
        self.verbose = verbose
        self.random_state = random_state

    def _problem(self, X: Any, y: Any, sample_weight: Any) -> Problem:
        who, labels = type(self).__name__, self._labels(X, y)
        counts = weights_of(who, sample_weight, len(labels))
        weights = counts
        if self.class_weight is not None:  # classes weigh; how many copies there are of each row stays as it is
            counts = np.ones(len(labels)) if counts is None else counts
            weights = class_weights_of(who, self.class_weight, labels, counts)
        self.classes_ = _known(who, labels if weights is None else labels[weights > 0])
        count = len(self.classes_)
        classes = np.minimum(np.searchsorted(self.classes_, labels), count - 1)
        counted = None if self.class_weight is None else counts
        return Problem(X, _coded(classes, count), weights, flat=False, labels=classes, counts=counted)

    @property
    def alpha_(self) -> float:
        """The penalty, one for all classes."""
        check_is_fitted(self)
        return float(self._alphas[0])

    def _labels(self, X: Any, y: Any) -> NDArray[Any]:
        who = type(self).__name__
        if y is None:
            raise ValueError(f"This {who} estimator requires y to be passed, but the target y is None.")
        array_of(who, "y", y)  # complains of what is missing, or not of equal length
        labels = column_or_1d(y, warn=True)
        check_consistent_length(X, labels)
        if labels.dtype.kind == "O" and not all(isinstance(label, str) for label in labels):
            at = next(i for i, label in enumerate(labels) if not isinstance(label, str))
            came = f"row {at} holds {labels[at]!r} (Unknown label type)"  # words that scikit-learn's checks look for
            remedy = "Drop rows without a label, and use y.astype(str), say."
            raise InputError(sentence(who, "labels that are all text, or all whole numbers", came, remedy))
        if labels.dtype.kind == "f":
            assert_all_finite(labels, input_name="y", estimator_name=who)
        check_classification_targets(labels)
        return np.asarray(labels)

    def decision_function(self, X: ArrayLike) -> NDArray[Any]:
        """The regression's value: for two classes one a row, positive for the second; else one a row and class."""
        values, _ = self._predict(X)
        return values[:, 0] if values.shape[1] == 1 else values

    def _streamed_rows(self, source: Source) -> SourceStream:
        stream = classification_stream(type(self).__name__, source, self.class_weight)
        assert stream.labels is not None  # noqa: S101  # they were looked through
        self.classes_ = stream.labels.classes
        return stream

    def _answers(self, values: NDArray[Any]) -> NDArray[Any]:
        found = (values[:, 0] > 0).astype(np.intp) if values.shape[1] == 1 else values.argmax(axis=1)
        return np.asarray(self.classes_[found])

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row; X may be a path to Parquet, a memory map or a source, which are read in pieces."""
        source = self._source_of(X)
        if source is not None:
            return np.concatenate(list(self.predict_batches(source)))
        return self._answers(self._predict(X)[0])


def _known(who: str, labels: NDArray[Any]) -> NDArray[Any]:
    """The classes, sorted: two or more."""
    found = np.unique(labels)
    if len(found) < 2:
        came = f"there is one class, {found.tolist()[0]!r}"
        raise InputError(sentence(who, "two classes or more", came, "Check y, or how the rows were selected."))
    return found


def _coded(classes: NDArray[np.intp], count: int) -> NDArray[np.float64]:
    """+1 for a class and -1 for the others: one column for two classes, else one a class."""
    if count == 2:
        return np.where(classes == 1, 1.0, -1.0)[:, None]
    return np.where(classes[:, None] == np.arange(count), 1.0, -1.0)
