"""The sparse features of kernels that count: parts of strings and of graphs, labels of columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from mercer.compute.codegen.sparse import canonical, is_sparse
from mercer.errors import KernelError, message
from mercer.kernels import Constant, Kernel, Match, Normalized, On, Ordinal, Product, Sum
from mercer.kernels.evaluation.evaluate import check_domain, leaves
from mercer.kernels.objects.counted import Counted
from mercer.kernels.points import Points
from mercer.lifts.base import Lift
from mercer.lifts.coerce import stated
from mercer.lifts.composition import longest
from mercer.lifts.structured import noted


class Counts(Lift):
    """phi(x) of a kernel of strings, graphs or categories that counts parts, one column per part that the data has.

    Then phi(x).phi(z) is k(x, z) for all objects of the data, and for new ones as far as the data has their parts: one
    that nothing learnt from has is not counted, which changes no product with what was learnt from. A linear model on
    these features is the same as one with the kernel. Sums, multiples, normalised forms and choices of columns of such
    kernels have features, too.

    Cost: that of counting; `transform` counts the data again, beside what is new. Memory for what is there: rows are
    sparse.

    Parameters
    ----------
    kernel : Kernel or str
        A kernel that counts, or its text; open numbers are found in fit.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel, with its numbers.
    n_components_ : int
        How many parts there are.

    Examples
    --------
    >>> from mercer.kernels import Spectrum
    >>> from mercer.lifts import Counts
    >>> lift = Counts(Spectrum(2)).fit(["banana", "bandana"])
    >>> lift.transform(["ananas"]).toarray()
    array([[2., 0., 0., 2., 0.]])
    """

    exact: ClassVar[bool] = True

    def __init__(self, kernel: Kernel | str) -> None:
        self.kernel = kernel

    @property
    def _of_things(self) -> bool:
        return True

    def _read(self, X: ArrayLike, reset: bool) -> Any:
        return noted(self, X, stated(self.kernel, subject="Counts"), reset)

    def learn(self, X: Points) -> None:
        self.kernel_ = stated(self.kernel, subject="Counts").resolve_points(X)
        for leaf, seen in leaves(self.kernel_, X):
            check_domain(leaf, seen)
        rows, _ = features_of(self.kernel_, X, X)
        self._known = X
        self.n_components_ = len(_occurring(rows))

    _saved: ClassVar[Mapping[str, Any]] = {"kernel_": Kernel, "_known": Points, "n_components_": int}

    def _inconsistency(self) -> str:
        columns = self._known.shape[1]
        return "" if columns == self.n_features_in_ else f"got rows of {columns} columns for {self.n_features_in_}"

    def n_features(self) -> int:
        return int(self.n_components_)

    def features(self, X: Points) -> Any:
        known, rows = features_of(self.kernel_, self._known, X)
        return rows[:, _occurring(known)]

    def _afford(self, rows: Any) -> None:
        """Sparse rows take what is there, which nobody knows before."""

    def _longest(self, rows: Points) -> float:
        return longest(self.features(rows))  # at once: each block would count the data again

    def feature_names(self, inputs: list[str]) -> list[str]:
        return [f"part{i}" for i in range(1, self.n_features() + 1)]


def _occurring(rows: Any) -> NDArray[np.intp]:
    return np.flatnonzero(np.bincount(rows.indices, minlength=rows.shape[1]))


def features_of(kernel: Kernel, left: Points, right: Points) -> tuple[Any, Any]:
    """The features of both sides over the same columns, as sparse rows; an error where the kernel does not count."""
    if isinstance(kernel, Counted | Match | Ordinal):
        return tuple(_sparse(points.values) for points in kernel.features(left, right))
    if isinstance(kernel, On):
        return features_of(kernel.kernel, kernel.inner_points(left), kernel.inner_points(right))
    if isinstance(kernel, Sum):
        sides = zip(*(features_of(part, left, right) for part in kernel.parts), strict=True)
        return tuple(canonical(sp.hstack(side).tocsr()) for side in sides)
    if isinstance(kernel, Normalized):
        return tuple(_unit(rows) for rows in features_of(kernel.kernel, left, right))
    if isinstance(kernel, Product):
        return _multiple(kernel, left, right)
    remedy = "Use Nystrom(kernel), which takes any."
    raise KernelError(message("a kernel that counts parts", f"got {kernel}", remedy, subject="Counts"))


def _multiple(kernel: Product, left: Points, right: Points) -> tuple[Any, Any]:
    numbers = [part for part in kernel.parts if isinstance(part, Constant)]
    others = [part for part in kernel.parts if not isinstance(part, Constant)]
    if len(others) != 1:
        remedy = "Use Nystrom(kernel), which takes any."
        raise KernelError(message("at most one kernel in a product", f"got {kernel}", remedy, subject="Counts"))
    factor = float(np.sqrt(np.prod([number.variance for number in numbers])))
    here, there = features_of(others[0], left, right)
    return here * factor, there * factor


def _sparse(values: Any) -> Any:
    return values if is_sparse(values) else canonical(sp.csr_array(values))


def _unit(rows: Any) -> Any:
    """Each row divided by its length; a row of zeros stays one."""
    lengths = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
    return canonical(sp.diags_array(np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)) @ rows)
