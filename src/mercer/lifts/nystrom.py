"""Landmarks: the part of a kernel that can be read from its values at a few points."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from mercer.compute.codegen.sparse import is_sparse
from mercer.compute.consistency import shapes, within
from mercer.compute.runtime.threads import few_threads
from mercer.errors import (
    InputError,
    KernelError,
    NumericalWarning,
    caller_level,
    message,
    speaker,
    speaking,
    speaks,
)
from mercer.kernels import Kernel
from mercer.kernels.base import PythonFunction
from mercer.kernels.evaluation.evaluate import check_dimension, check_domain, leaves, matrix, points_of_kernel
from mercer.kernels.objects.store import Store
from mercer.kernels.points import DOUBLE, Points, alike, points_from
from mercer.lifts.base import Lift
from mercer.lifts.certificate import Certificate, bounded
from mercer.lifts.coerce import stated
from mercer.lifts.landmarks import Choice, check_table, factor_of, given, matrix_way, number, square, way
from mercer.lifts.pivoting import Array, strips, tolerance, weights, whitened
from mercer.lifts.randomness import generator
from mercer.lifts.structured import noted


class Nystrom(Lift):
    """Whitened kernel values at landmarks l_1 .. l_k: phi(x) = R^-T k(L, x), where k(L, L) = R'R.

    Then phi(x).phi(z) = k(x, L) k(L, L)^-1 k(L, z): the kernel projected on what the landmarks span. It is exact at
    the landmarks, and below k in the sense that the difference is a kernel, too. R comes from a pivoted Cholesky
    factorisation that ends where rounding begins, so no jitter is added: a smooth kernel may get fewer features than
    were asked for. All is computed in float64, whatever the data is.

    `transform` takes O(n k d + n k^2) time, and memory for the result and a block. `fit` takes O(k^3) more than its
    choice of landmarks: "pivoted" draws from all rows as long as n k is at most 2^25 numbers (256 MiB), which it
    then holds: they are the features, so that `fit` takes about as long as `transform`, and `fit_transform` no
    longer than `fit`. From larger data it draws from a uniform sample of 2^25 / k rows, but not less than 4 k.
    Outliers are why samples are not smaller: what a sample has not seen, no landmark represents.

    Parameters
    ----------
    kernel : Kernel, str or "precomputed", default="gaussian('median')"
        A kernel, or its text; open numbers ("median", or left out of a text) are found in fit. For "precomputed" `fit`
        takes the matrix of all pairs of training rows, and `transform` the similarities of rows with all of these;
        landmarks are "pivoted" or "uniform", and without k(x, x) of new rows there are no `residual` and `certificate`.
    n_components : int or None, default=None
        k, at most the number of rows; None for 100, or as many as there are rows or as rounding permits.
    landmarks : {"pivoted", "uniform", "kmeans"} or table, default="pivoted"
        "pivoted" (by randomly pivoted Cholesky), "uniform" (rows at random), "kmeans" (the means of clusters of at most
        20 k rows; for dense tables), or a table of landmarks, no two of them equal.
    random_state : int, Generator or None, default=None
        The source of the draws.

    Attributes
    ----------
    kernel_ : Kernel or None
        The kernel, with its numbers; None for "precomputed".
    landmarks_ : array of shape (k, d) or None
        The landmarks, in the order of their pivots; None for "precomputed".
    landmark_indices_ : array of shape (k,) or None
        Which rows of the data they are; None for "kmeans" and for a table.
    factor_ : array of shape (k, k) or None
        R, upper triangular; None where a fit drew the landmarks on a graphics card, on which it stayed, until it is
        needed.
    n_components_ : int
        k.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.lifts.nystrom import Nystrom
    >>> X = np.random.default_rng(0).uniform(size=(1000, 2))
    >>> lift = Nystrom("gaussian(0.5)", 30, random_state=0)
    >>> lift.fit_transform(X).shape
    (1000, 30)
    >>> bool(lift.certificate(X).bound < 1e-3)
    True
    >>> lift.residual([[0.5, 0.5], [5.0, 5.0]]).round(3)
    array([0., 1.])

    References
    ----------
    Williams and Seeger, Using the Nystrom method to speed up kernel machines, NIPS 2000.
    Chen, Epperly, Tropp, Webber, Randomly pivoted Cholesky, Comm. Pure Appl. Math. 78 (2025).
    Epperly, Tropp, Webber, Embrace rejection: kernel matrix approximation by accelerated randomly pivoted Cholesky,
    arXiv 2410.03969 (2024).
    """

    exact: ClassVar[bool] = False

    kernel_: Any  # a Kernel; None where the matrix itself was given, as for the next two
    landmarks_: Any
    landmark_indices_: Any
    factor_: Any

    def __init__(
        self,
        kernel: Kernel | PythonFunction | str = "gaussian('median')",
        n_components: int | None = None,
        *,
        landmarks: ArrayLike | str = "pivoted",
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.landmarks = landmarks
        self.random_state = random_state

    @property
    def takes_sparse(self) -> bool:  # type: ignore[override]  # a constant of other lifts, here it is the kernel's
        """Whether the kernel takes sparse tables, and the landmarks are no means."""
        return (
            not self._precomputed and self._way != "kmeans" and not _dense_only(stated(self.kernel, subject="Nystrom"))
        )

    # -- fit ------------------------------------------------------------------------------------------------------

    @speaks
    def fit_transform(self, X: ArrayLike, y: Any = None) -> Any:
        """The features of the rows that are learnt from; y is ignored.

        The same as `fit(X).transform(X)` to rounding, in about half of the time where all rows can be drawn.
        """
        rows = self._read(X, reset=True)
        with few_threads(*rows.shape):
            features = self._found(rows)
            if features is None:
                self._afford(rows)
                return self.features(rows)
        return features.astype(rows.dtype, copy=False)

    def learn(self, X: Any) -> None:
        self._found(X)

    def _found(self, X: Any) -> Array | None:
        """Learn the kernel and the landmarks; the features of all rows, where they are found on the way."""
        if self._precomputed:
            return self._found_in_matrix(X)
        points = self._points(X)
        self._resolve(points)
        choice = self._choice(points)
        self._keep(choice.points, choice.indices, choice.upper)
        return choice.features

    _saved: ClassVar[Mapping[str, Any]] = {
        "kernel_": Kernel | None,
        "landmarks_": NDArray[Any] | csr_array | None,
        "_stores": tuple[Store | None, ...],
        "landmark_indices_": NDArray[np.intp] | None,
        "factor_": Array | None,
        "n_components_": int,
    }

    def _inconsistency(self) -> str:
        if self._precomputed:
            return self._inconsistency_of_matrix()
        if self.kernel_ is None or self.landmarks_ is None:
            return "there are no landmarks"
        p = self.landmarks_.shape[0]
        if self.landmarks_.shape[1:] != (self.n_features_in_,) or self.n_components_ != p or p == 0:
            return f"got landmarks of shape {self.landmarks_.shape} for {self.n_features_in_} columns"
        kept = [] if self.factor_ is None else [(self.factor_, (p, p))]
        return shapes(*kept) or self.landmark_points(None)._inconsistency()

    def _inconsistency_of_matrix(self) -> str:
        """Positions of landmarks among the rows that were fitted, and a square factor."""
        places, p = self.landmark_indices_, self.n_components_
        if places is None or p == 0 or places.shape != (p,) or not within(places, 0, self.n_features_in_):
            return f"got landmarks that are no {p} rows of {self.n_features_in_}"
        return "there is no factor" if self.factor_ is None else shapes((self.factor_, (p, p)))

    def _found_in_matrix(self, K: NDArray[Any]) -> Array | None:
        chosen, asked = matrix_way(self.landmarks), number(self.n_components, len(K))
        found = chosen(square(K), asked, generator(self.random_state))
        self._report(len(found.upper), asked)
        self.kernel_ = self.landmarks_ = None
        self._stores: tuple[Any, ...] = ()
        self.landmark_indices_, self.factor_, self.n_components_ = found.pivots, found.upper, len(found.upper)
        return found.features

    def _resolve(self, points: Points) -> None:
        """The kernel with its numbers, for points that it takes."""
        self.kernel_ = stated(self.kernel, subject="Nystrom").resolve_points(points)
        _check(self.kernel_, points)

    def _keep(self, landmarks: Points, indices: NDArray[np.intp] | None, upper: Array | None) -> None:
        self.landmarks_ = landmarks.values
        self._stores = landmarks.stores
        self.landmark_indices_ = indices
        self.factor_ = upper
        self.n_components_ = landmarks.values.shape[0]

    def triangle(self) -> Array:
        """R, which is computed now where the fit left it on a graphics card.

        Returns
        -------
        array of shape (k, k)
        """
        if self.factor_ is None:
            self.factor_ = factor_of(self.kernel_, self.landmark_points(None))
        upper: Array = self.factor_
        return upper

    @property
    def _precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    @property
    def _of_things(self) -> bool:
        return not self._precomputed and bool(stated(self.kernel, subject="Nystrom").kinds)

    def _read(self, X: ArrayLike, reset: bool) -> Any:
        if self._precomputed:
            if is_sparse(X):
                needs, got = "a dense matrix for kernel='precomputed'", f"got a sparse {type(X).__name__}"
                raise InputError(message(needs, got, "Use K.toarray()."))
            return super()._read(X, reset)
        kernel = stated(self.kernel, subject="Nystrom")
        return noted(self, X, kernel, reset) if kernel.kinds else super()._read(X, reset)

    def _points(self, X: Any) -> Points:
        """Checked rows as points, with the names of their columns, to be computed with in float64."""
        if isinstance(X, Points):
            return X
        names = getattr(self, "feature_names_in_", None)
        return replace(points_from(X), names=None if names is None else tuple(names), dtype=DOUBLE)

    def _choice(self, points: Points) -> Choice:
        if isinstance(self.landmarks, str):
            chosen, asked = way(self.landmarks), number(self.n_components, points.values.shape[0])
            choice = chosen(self.kernel_, points, asked, generator(self.random_state))
        else:
            with speaking(f"{speaker()} (landmarks)"):
                table = replace(points_of_kernel(self.landmarks, self.kernel_), dtype=DOUBLE)
            check_table(table, self.n_components, points)
            table = replace(table, names=points.names)
            _check(self.kernel_, table)
            choice, asked = given(self.kernel_, table), table.values.shape[0]
        self._report(len(choice.upper), asked)
        return choice

    def _report(self, kept: int, asked: int) -> None:
        """Say that there are fewer landmarks than were asked for; pivots may end early where no number was given."""
        if kept == 0:
            got = "k(x, x) is 0 at all landmarks"
            raise InputError(message("a kernel that is not zero on the data", got, "Check the kernel."))
        if kept < asked and not (self.n_components is None and self._way == "pivoted"):
            warnings.warn(
                f"Nystrom keeps {kept} of {asked} landmarks: at the others these leave less than "
                f"{tolerance(asked):.0e} of k(x, x), which is rounding, so they would add nothing. "
                f"Ask for {kept}, or, where the kernel is smooth, shorten its lengthscale.",
                NumericalWarning,
                stacklevel=caller_level(),
            )

    @property
    def _way(self) -> str:
        return self.landmarks if isinstance(self.landmarks, str) else "given"

    # -- features -------------------------------------------------------------------------------------------------

    def n_features(self) -> int:
        return int(self.n_components_)

    def feature_names(self, inputs: list[str]) -> list[str]:
        return [f"nystrom{i}" for i in range(1, self.n_features() + 1)]

    def features(self, X: Any) -> NDArray[Any]:
        out = np.empty((X.shape[0], self.n_features()), X.dtype)
        for strip, values in self._strips_of_matrix(X) if self._precomputed else self._strips(self._new_points(X)):
            out[strip] = values
            del values  # before the next block is made
        return out

    def _new_points(self, X: Any) -> Points:
        """Checked rows as points in the domain of the kernel."""
        points = self._points(X)
        for leaf, seen in leaves(self.kernel_, points):
            check_domain(leaf, seen)
        return points

    def landmark_points(self, names: tuple[str, ...] | None) -> Points:
        """The landmarks as points, with the objects that they stand for, under the names of columns.

        Parameters
        ----------
        names : tuple of str or None
            The names of the columns.

        Returns
        -------
        Points
        """
        return Points(self.landmarks_, names, DOUBLE, stores=self._stores)

    def _strips(self, points: Points) -> Iterator[tuple[slice, Array]]:
        """The features of points, block by block, in float64."""
        (points, landmarks), upper = alike(points, self.landmark_points(points.names)), self.triangle()
        for strip in strips(points.values.shape[0], self.n_features()):
            yield strip, whitened(upper, matrix(self.kernel_, points.rows(strip), landmarks))

    def _strips_of_matrix(self, K: NDArray[Any]) -> Iterator[tuple[slice, Array]]:
        """The same from similarities with all training rows, of which those with the landmarks count."""
        for strip in strips(len(K), self.n_features()):
            yield (
                strip,
                whitened(self.triangle(), np.ascontiguousarray(K[strip][:, self.landmark_indices_], np.float64)),
            )

    # -- what is known of the error -------------------------------------------------------------------------------

    @speaks
    def residual(self, X: ArrayLike) -> NDArray[Any]:
        """k(x, x) less the squared length of phi(x), for each row: how far a point is from what the lift can represent.

        It is 0 at the landmarks, k(x, x) where the lift knows nothing, and never negative: rounding below 0 counts as
        0. Time as for `transform`; memory for a block.

        Parameters
        ----------
        X : array or table of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n,)
        """
        check_is_fitted(self)
        self._refuse_matrix()
        rows = self._read(X, reset=False)
        points = self._new_points(rows)
        left = _diagonal(self.kernel_, points)
        with np.errstate(all="ignore"):  # infinities are reported where they arise
            for strip, values in self._strips(points):
                left[strip] -= np.einsum("ij,ij->i", values, values)
        return np.maximum(left, 0.0).astype(rows.dtype)

    @speaks
    def certificate(self, X: ArrayLike, delta: float = 0.01) -> Certificate:
        """The largest residual: no pair of rows of X has a larger error, since what is left of k is a kernel.

        `|k(x, z) - phi(x).phi(z)| <= sqrt(r(x) r(z))` for `r(x) = k(x, x) - |phi(x)|^2`. To the largest r is added what
        rounding may do. Values of the kernel are known to 5e-13, and x is read from those at the landmarks with the
        weights w = k(L, L)^-1 k(L, x), which are large far outside of them: twice 5e-13 times the largest
        `(sqrt(k(x, x)) + |S w|)^2`, where S holds the sqrt(k(l, l)); and (k + 16) eps max k(x, x), for eps of the dtype
        of X, for the products of features. Time twice that of `transform`; memory for a block.

        All this needs a kernel. Where none is proven (`mercer.prove`), the bound is infinite: nothing is claimed, and
        the sentence says what would hold if it is one.

        delta : is not needed: the bound is computed
        """
        check_is_fitted(self)
        self._refuse_matrix()
        rows = self._read(X, reset=False)
        sizes, left, amplified = self._known(self._new_points(rows))
        with np.errstate(all="ignore"):
            lost = tolerance(self.n_features()) * float(((np.sqrt(np.abs(sizes)) + amplified) ** 2).max())
            lost += (self.n_features() + 16) * float(np.finfo(rows.dtype).eps * np.abs(sizes).max())
        _refuse_negative(self.kernel_, left, lost)
        bound = bounded(float(np.maximum(left, 0.0).max()) + lost)
        if not _proven(self.kernel_, rows.shape[1]):
            text = (
                f"No bound: {self.kernel_} is not proven to be a kernel of {rows.shape[1]} "
                f"column{'s' * (rows.shape[1] != 1)}. If it is one, no value is off by more than {bound:.2g} on the "
                "pairs of these rows; mercer.prove may say more."
            )
            return Certificate(math.inf, 1.0, "maximum", text)
        text = (
            f"No value of the kernel is off by more than {bound:.2g} on the pairs of these rows, of which {lost:.2g} "
            "may be rounding: k(x, x) - |phi(x)|^2 is nowhere larger, and what is left of a kernel is one."
        )
        return Certificate(bound, 1.0, "maximum", text)

    def _refuse_matrix(self) -> None:
        if self._precomputed:
            needs, given = "k(x, x) of rows for what is left of it", "the kernel is precomputed"
            raise InputError(message(needs, given, "Give the kernel itself."))

    # -- scikit-learn's contract ----------------------------------------------------------------------------------

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._precomputed
        return tags

    def _known(self, points: Points) -> tuple[Array, Array, Array]:
        """Of each point k(x, x), what the features leave of it, and the length of the weights of the landmarks."""
        sizes = _diagonal(self.kernel_, points)
        left, lengths = sizes.copy(), np.empty_like(sizes)
        upper = self.triangle()
        roots = np.linalg.norm(upper, axis=0)  # sqrt(k(l, l))
        with np.errstate(all="ignore"):  # infinities are reported where they arise
            for strip, values in self._strips(points):
                left[strip] -= np.einsum("ij,ij->i", values, values)
                lengths[strip] = np.linalg.norm(weights(upper, values) * roots, axis=1)
        return sizes, left, lengths


def nystrom_of(kernel: Kernel, points: Points, count: int, random: np.random.Generator) -> Nystrom:
    """The lift of a kernel with its numbers for points that were read already, with at most so many pivoted landmarks.

    Fewer where rounding ends, since this number is a default. `landmark_indices_` are positions among these points.
    """
    points = replace(points, dtype=DOUBLE)
    _check(kernel, points)
    found, choice = _begun(kernel, points, count), way("pivoted")(kernel, points, count, random)
    found._keep(choice.points, choice.indices, choice.upper)
    return found


def nystrom_at(kernel: Kernel, points: Points, count: int, draw: Callable[[Points], NDArray[np.intp]]) -> Nystrom:
    """The same of pivots that are drawn at a backend, where their factor stays."""
    points = replace(points, dtype=DOUBLE)
    _check(kernel, points)
    pivots = draw(points)
    found = _begun(kernel, points, count)
    found._keep(points.rows(pivots), pivots, None)
    return found


def _begun(kernel: Kernel, points: Points, count: int) -> Nystrom:
    """With its kernel, and no landmarks yet."""
    found = Nystrom(kernel, count)
    found.n_features_in_ = points.values.shape[1]
    if points.names is not None:
        found.feature_names_in_ = np.asarray(points.names, dtype=object)
    found.kernel_ = kernel
    return found


def _dense_only(kernel: Kernel) -> bool:
    return kernel.dense_only or any(map(_dense_only, kernel.children))


def _proven(kernel: Kernel, columns: int) -> bool:
    """Whether rules and facts show that it is a kernel of so many columns."""
    most = kernel.max_dimension
    return most is None or most >= columns


def _check(kernel: Kernel, points: Points) -> None:
    """Refuse points on which this is not a kernel, or does not fit into float64."""
    for leaf, seen in leaves(kernel, points):
        check_domain(leaf, seen)
        check_dimension(leaf, seen)
    sizes = _diagonal(kernel, points)
    if not np.isfinite(sizes).all():
        row = int(np.argmin(np.isfinite(sizes)))
        got = f"k(x, x) is {sizes[row]} in row {row}"
        raise InputError(message(f"finite values of {kernel}", got, "Scale the data down."))


def _diagonal(kernel: Kernel, points: Points) -> Array:
    with np.errstate(all="ignore"):
        return np.asarray(kernel.evaluate_diagonal(points), dtype=np.float64)


def _refuse_negative(kernel: Kernel, left: Array, lost: float) -> None:
    """Refuse to certify what is no kernel: the bound is that of Cauchy and Schwarz, and needs one."""
    row = int(np.argmin(left))
    if left[row] < -lost:
        got = f"k(x, x) - |phi(x)|^2 is {left[row]:.3g} in row {row}"
        remedy = f"{kernel} is none on this data: mercer.prove may say why."
        raise KernelError(message("a positive semi-definite kernel for a certificate", got, remedy))
