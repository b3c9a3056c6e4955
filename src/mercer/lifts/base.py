"""The lift: a feature map phi(x) that knows its kernel, as a scikit-learn transformer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from mercer.compute.runtime.memory import MAX_UNASKED_BYTES, Budget
from mercer.compute.runtime.threads import few_threads
from mercer.errors import InputError, explains_parameters, message, speaks
from mercer.kernels import Kernel
from mercer.lifts.certificate import Certificate, bounded
from mercer.lifts.html import ShownEstimator
from mercer.lifts.in_kind import AnswersInKind
from mercer.lifts.inputs import checked_table, plain, refuse_unreadable
from mercer.lifts.parameter_names import ParameterNames

BLOCK_NUMBERS = 1 << 22
"""Numbers in the features of a block of rows, about, where not all features are needed at once."""


class Lift(AnswersInKind, ShownEstimator, ParameterNames, TransformerMixin, BaseEstimator, ABC):  # type: ignore[misc]  # scikit-learn has no types
    """A feature map phi(x): fit learns what it must from the data, transform gives a row of features for each row.

    A subclass stores its parameters in `__init__`, as scikit-learn's estimators do, and answers `learn`, `n_features`,
    `features` and `feature_names`, and `kernel` where that is no parameter. Columns without names are called
    x1, x2, ... as mathematics does, not x0.

    Examples
    --------
    >>> from mercer.lifts import Parabolic
    >>> phi = Parabolic().fit([[1.0, 2.0]])
    >>> phi.transform([[3.0, 4.0]])
    array([[ 3.,  4., 25.]])
    >>> print(phi.kernel)
    parabolic
    """

    exact: ClassVar[bool] = True
    """Whether phi(x).phi(z) is k(x, z) to rounding, rather than an approximation."""
    takes_sparse: ClassVar[bool] = False
    """Whether sparse tables are taken."""

    kernel: Any
    """The kernel that phi(x).phi(z) is, or approximates; of lifts that learn from data once they are fitted."""

    _saved: ClassVar[Mapping[str, Any]] = {"n_features_in_": int}
    """The attributes that `learn` sets, with their types: what a model file holds. A class adds its own."""
    _saved_if_set: ClassVar[Mapping[str, Any]] = {"feature_names_in_": NDArray[np.object_]}
    """Those that it may set."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__init__" in vars(cls):
            cls.__init__ = explains_parameters(cls.__init__, beside_kernel=True)  # type: ignore[method-assign]

    # -- what a lift answers ------------------------------------------------------------------------------------

    @abstractmethod
    def learn(self, X: Any) -> None:
        """Learn from the rows of a fit, after checking the parameters.

        `fit` calls it; `n_features_in_` is set, and so is `feature_names_in_` where the columns have names.

        Parameters
        ----------
        X : array or sparse array of shape (n, d)
            Validated rows, float32 or float64; sparse only where `takes_sparse` is true.
        """

    @abstractmethod
    def n_features(self) -> int:
        """How many features the fitted lift gives.

        Returns
        -------
        int
        """

    @abstractmethod
    def features(self, X: Any) -> Any:
        """The features of rows that were validated already; `transform` validates them.

        Parameters
        ----------
        X : array or sparse array of shape (n, d)
            Validated rows, float32 or float64.

        Returns
        -------
        array or sparse array of shape (n, n_features())
            In the dtype of X.
        """

    @abstractmethod
    def feature_names(self, inputs: list[str]) -> list[str]:
        """The names of the features, from the names of the columns.

        Parameters
        ----------
        inputs : list of str
            One name per column of X.

        Returns
        -------
        list of str
            One name per feature.
        """

    def _inconsistency(self) -> str:
        """What is wrong between the attributes of a fitted lift that comes from a file; "" where nothing is."""
        return ""

    # -- scikit-learn's contract --------------------------------------------------------------------------------

    @speaks
    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Learn what the lift needs from the rows of a table; y is ignored.

        Parameters
        ----------
        X : array, sparse array or DataFrame of shape (n, d)
            The rows.
        y : object, default=None
            Ignored.

        Returns
        -------
        Self
        """
        rows = self._read(X, reset=True)
        with few_threads(*rows.shape):
            self.learn(rows)
        return self

    @speaks
    def transform(self, X: ArrayLike) -> Any:
        """The features of each row: n rows, one column per feature.

        Parameters
        ----------
        X : array, sparse array or DataFrame of shape (n, d)
            The rows.

        Returns
        -------
        array or sparse array of shape (n, features)
            In the dtype of X, float32 or float64.
        """
        return self._plain_features(X)

    @speaks
    def fit_transform(self, X: ArrayLike, y: Any = None) -> Any:
        """The same as `fit(X).transform(X)`; the rows are read once.

        Parameters
        ----------
        X : array, sparse array or DataFrame of shape (n, d)
            The rows.
        y : object, default=None
            Ignored.

        Returns
        -------
        array or sparse array of shape (n, features)
            In the dtype of X, float32 or float64.
        """
        if type(self).fit is not Lift.fit or type(self).transform is not Lift.transform:  # a class has its own
            return self.fit(X, y).transform(X)
        rows = self._read(X, reset=True)
        self.learn(rows)
        self._afford(rows)
        return self.features(rows)

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[np.object_]:
        """The names of the features.

        Parameters
        ----------
        input_features : sequence of str or None, default=None
            The names of the columns, where the table had none.

        Returns
        -------
        array of str
        """
        check_is_fitted(self)
        return np.asarray(self.feature_names(self._inputs(input_features)), dtype=object)

    @property
    def n_features_out_(self) -> int:
        """How many features the fitted lift gives.

        >>> import mercer
        >>> mercer.lift("(1 + linear)**3", 10).n_features_out_
        286
        """
        check_is_fitted(self)
        return self.n_features()

    @property
    def _n_features_out(self) -> int:  # scikit-learn's name
        return self.n_features()

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.takes_sparse
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def _of_things(self) -> bool:
        """Whether strings, graphs or categories are read, which a lift that is made of others cannot."""
        return False

    def _read(self, X: ArrayLike, reset: bool) -> Any:
        if self._of_things:
            needs, got = "parts that read tables of numbers", "one reads strings, graphs or categories"
            remedy = "Lift the composed kernel instead: Counts(k1 + k2), Counts(2 * k), or Nystrom(k1 * k2)."
            raise InputError(message(needs, got, remedy))
        if type(X) is not np.ndarray or X.dtype.kind not in "fiub":
            X = plain("X", X)
            refuse_unreadable("X", X)
        return checked_table(self, X, reset, sparse="csr" if self.takes_sparse else False)

    def _plain_features(self, X: ArrayLike) -> Any:
        """What `transform` gives, before scikit-learn puts it into a frame where `set_output` asks for one."""
        check_is_fitted(self)
        rows = self._read(X, reset=False)
        self._afford(rows)
        with few_threads(rows.shape[0], self.n_features()):
            return self.features(rows)

    def _afford(self, rows: Any) -> None:
        """Ask the memory budget for the result, before it is computed."""
        size = rows.shape[0] * self.n_features() * rows.dtype.itemsize
        if size > MAX_UNASKED_BYTES:
            purpose = f"{rows.shape[0]} rows of {self.n_features()} features"
            Budget.of(None).require(
                size, purpose, "Lift fewer rows at once, or use the kernel.", subject=type(self).__name__
            )

    def _inputs(self, given: ArrayLike | None) -> list[str]:
        known = getattr(self, "feature_names_in_", None)
        width = self.n_features_in_
        if given is None:
            return list(known) if known is not None else [f"x{j}" for j in range(1, width + 1)]
        names = [str(name) for name in np.asarray(given, dtype=object)]
        if known is not None and names != list(known):
            raise ValueError("input_features is not equal to feature_names_in_")
        if len(names) != width:
            raise ValueError(
                f"input_features should have length equal to number of features ({width}), got {len(names)}"
            )
        return names

    # -- the kernel ---------------------------------------------------------------------------------------------

    @property
    def induced(self) -> Kernel:
        """The kernel <phi(x), phi(z)>, computed from the features; for exact lifts the same function as `kernel`."""
        from mercer.kernels import Linear  # few ask

        return Linear().after(Features(self))

    @speaks
    def certificate(self, X: ArrayLike, delta: float = 0.01) -> Certificate:
        """How far phi(x).phi(z) may be from k(x, z) on the pairs of rows of X; for an exact lift, by rounding only.

        Parameters
        ----------
        X : array or table of shape (n, d)
            The rows whose pairs are bounded.
        delta : float, default=0.01
            The probability with which the bound may fail, where it is estimated.

        Returns
        -------
        Certificate
        """
        check_is_fitted(self)
        rows = self._read(X, reset=False)
        units = (self.n_features() + 2 * self._degree + 16) * float(np.finfo(rows.dtype).eps)
        bound = bounded(units * self._longest(rows))
        text = (
            f"The lift is exact: rounding of its {self.n_features()} features moves no value by more than {bound:.2g}."
        )
        return Certificate(bound, 1.0, "exact", text)

    @property
    def _degree(self) -> int:
        """The highest degree of the features, where they are polynomials: they are rounded at every product."""
        return int(getattr(getattr(self, "expansion_", None), "degree", 0))

    def _longest(self, rows: Any) -> float:
        """The largest |phi(x)|^2 of checked rows, a block at a time; NaN where a feature is."""
        from mercer.lifts.composition import longest  # composed lifts need this class first

        lengths, start, step = [0.0], 0, max(1, BLOCK_NUMBERS // max(1, self.n_features()))
        while start < rows.shape[0]:
            block = rows[start : start + step]
            self._afford(block)
            features = self.features(block)
            lengths.append(longest(features))
            start += step
            step = max(
                1, min(2 * step, BLOCK_NUMBERS * block.shape[0] // max(1, features.size))
            )  # sparse ones store less
        return float(np.max(lengths))

    # -- composition: what sums and products of features do to the kernel ----------------------------------------

    __array_ufunc__ = None  # so that a NumPy number times a lift asks the lift

    def __add__(self, other: object) -> Lift:
        """The features of both lifts side by side: the sum of their kernels."""
        from mercer.lifts import operations  # they are lifts: they need this class first

        return operations.add(self, other)

    def __mul__(self, other: object) -> Lift:
        """All products of features of two lifts, the product of their kernels; or all features times a number."""
        from mercer.lifts import operations  # they are lifts: they need this class first

        return operations.multiply(self, other)

    def __rmul__(self, other: object) -> Lift:
        return self * other


class Features:
    """The map of a fitted lift, for `k.after`: rows in, features out, without the names of columns."""

    def __init__(self, lift: Lift) -> None:
        check_is_fitted(lift)
        self.lift = lift
        self.__name__ = type(lift).__name__

    def transform(self, rows: NDArray[Any]) -> NDArray[Any]:
        """The features of each row."""
        features = self.lift.features(np.ascontiguousarray(rows))
        return np.asarray(features.toarray() if hasattr(features, "toarray") else features)
