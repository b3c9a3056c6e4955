"""What lifts that are composed of lifts share: their parts, the names, and what is known of their error."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from mercer.errors import InputError, message, speaking, speaks
from mercer.kernels import Kernel
from mercer.lifts.audit import audited
from mercer.lifts.base import Lift
from mercer.lifts.certificate import Certificate, Kind, bounded

KINDS: tuple[Kind, ...] = ("exact", "maximum", "mean")
"""From the strongest statement to the weakest: a bound of one kind is one of every kind behind it."""

BLOCK_NUMBERS = 1 << 22
"""Numbers of sparse rows that are made dense at once."""


class Pair(Lift):
    """A lift made of two; clones of both are fitted to the same rows, as `first_` and `second_`."""

    def __init__(self, first: Lift, second: Lift) -> None:
        self.first = first
        self.second = second

    @property
    def exact(self) -> bool:  # type: ignore[override]  # a constant of other lifts, here it is that of the parts
        """Whether both parts are exact."""
        return self.first.exact and self.second.exact

    @property
    def takes_sparse(self) -> bool:  # type: ignore[override]
        """Whether both parts take sparse tables."""
        return all(getattr(part, "takes_sparse", False) for part in (self.first, self.second))

    @property
    def _of_things(self) -> bool:
        return any(isinstance(part, Lift) and part._of_things for part in (self.first, self.second))

    def learn(self, X: Any) -> None:
        self.first_ = fitted_part(self, "first", X)
        self.second_ = fitted_part(self, "second", X)

    _saved: ClassVar[Mapping[str, Any]] = {"first_": Lift, "second_": Lift}

    def _inconsistency(self) -> str:
        return other_columns(self, self.first_, self.second_)

    def _afford(self, rows: Any) -> None:
        if issparse(rows):  # then the features may be so, and only the parts know how many numbers they store
            self.first_._afford(rows)
            self.second_._afford(rows)
        else:
            super()._afford(rows)

    @property
    def _kernels(self) -> tuple[Kernel, Kernel]:
        return kernel_of_part(self, "first"), kernel_of_part(self, "second")

    @abstractmethod
    def _combined(self, bounds: list[float], lengths: list[float]) -> tuple[float, float]:
        """The bound on all errors from those of the parts, and the largest |phi(x)|^2 from theirs."""

    @speaks
    def certificate(self, X: ArrayLike, delta: float = 0.01) -> Certificate:
        """How far phi(x).phi(z) may be from k(x, z) on the pairs of rows of X.

        It follows from what the parts certify for all pairs. Where one of them knows only its mean error, that is
        little, since the errors of both may meet in the same pairs: then all pairs, or a sample, are computed.

        delta : the probability with which the bound may fail; it is shared by the parts that are not exact
        """
        check_is_fitted(self)
        rows, parts = self._read(X, reset=False), (self.first_, self.second_)
        share = delta / max(1, sum(not part.exact for part in parts))
        known = [part.certificate(X, share) for part in parts]
        bound, length = self._combined([one.bound for one in known], [part._longest(rows) for part in parts])
        if any(one.kind == "mean" for one in known):
            return audited(self, self.kernel, X, delta, length + largest(self.kernel, X))
        return composed(known, bound + rounding(self.n_features(), rows.dtype, length + bound))


def fitted_part(whole: Lift, name: str, X: Any) -> Lift:
    """A clone of a part, fitted to the checked rows of the whole; it gets their names, but checks nothing again."""
    part = getattr(whole, name)
    if not isinstance(part, Lift):
        got = f"{name} is {part!r}"
        raise InputError(
            message("lifts as parts", got, "Give a lift, such as Polynomial(2).", subject=type(whole).__name__)
        )
    fresh: Lift = clone(part)
    fresh.n_features_in_ = whole.n_features_in_
    if hasattr(whole, "feature_names_in_"):
        fresh.feature_names_in_ = whole.feature_names_in_
    with speaking(type(fresh).__name__):
        fresh.learn(X)
    return fresh


def other_columns(whole: Lift, *parts: Lift) -> str:
    """What is wrong where a part was fitted to other columns than the whole, since parts check no rows again."""
    wrong = any(getattr(part, "n_features_in_", None) != whole.n_features_in_ for part in parts)
    return f"got a part of other than {whole.n_features_in_} columns" if wrong else ""


def kernel_of(lift: Lift) -> Kernel:
    """The kernel of a lift: what fit has found where the parameter may leave something open, else what is stated."""
    found = getattr(lift, "kernel_", None)
    kernel = lift.kernel if found is None else found
    if not isinstance(kernel, Kernel):
        check_is_fitted(lift)
        raise InputError(
            message("a kernel", f"got {kernel!r}", "Set lift.kernel_ in fit.", subject=type(lift).__name__)
        )
    return kernel


def kernel_of_part(whole: Lift, name: str) -> Kernel:
    """The kernel of a part: of the fitted one where there is one."""
    return kernel_of(getattr(whole, f"{name}_", None) or getattr(whole, name))


def unique(names: list[str]) -> list[str]:
    """The same names, where one that stands again is numbered: x1, x1 #2, x1 #3."""
    found, taken, count = [], set(names), Counter[str]()
    for name in names:
        count[name] += 1
        fresh = name
        while count[name] > 1 and fresh in taken:
            fresh = f"{name} #{count[name]}"
            count[name] += fresh in taken
        taken.add(fresh)
        found.append(fresh)
    return found


def longest(features: Any) -> float:
    """The largest |phi(x)|^2 of some rows."""
    with np.errstate(all="ignore"):  # infinities are reported where they arise
        if issparse(features):
            return float(np.max(features.multiply(features).sum(axis=1)))
        squares: NDArray[np.float64] = np.einsum("ij,ij->i", features, features, dtype=np.float64)
        return float(squares.max())


def largest(kernel: Kernel, X: Any) -> float:
    """The largest k(x, x) of some rows, which no |k(x, z)| exceeds; a few sparse rows at a time are made dense."""
    if not issparse(X):
        return float(np.max(kernel.diagonal(X)))
    step, rows = max(1, BLOCK_NUMBERS // X.shape[1]), X.tocsr()
    blocks = (rows[start : start + step].toarray() for start in range(0, X.shape[0], step))
    return float(np.max([np.max(kernel.diagonal(block)) for block in blocks]))


def rounding(count: int, dtype: Any, length: float) -> float:
    """How far rounding moves the inner product of two rows of so many features, and k: both are at most `length`."""
    return (count + 16) * float(np.finfo(dtype).eps) * length


def composed(known: list[Certificate], bound: float) -> Certificate:
    """A certificate that rests on others: of their weakest kind, and failing where any of them fails."""
    kind = max((one.kind for one in known), key=KINDS.index)
    probability, bound = max(0.0, 1.0 - sum(1.0 - one.probability for one in known)), bounded(bound)
    return Certificate(bound, probability, kind, _sentence(bound, probability, kind))


def _sentence(bound: float, probability: float, kind: Kind) -> str:
    surely = f", with probability {probability:.6g}" if probability < 1 else ""
    if kind == "exact":
        return f"All parts are exact: rounding moves no value by more than {bound:.2g}."
    if kind == "maximum":
        return f"No value is off by more than {bound:.2g}{surely}, by the certificates of the parts."
    return f"The values are off by {bound:.2g} on average at most{surely}, by the certificates of the parts."
