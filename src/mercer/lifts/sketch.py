"""Random features for polynomial kernels on wide or sparse data."""

from __future__ import annotations

import math
import numbers
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from mercer import kernels as k
from mercer.compute.runtime.memory import Budget
from mercer.errors import InputError, KernelError, NumericalWarning, caller_level, message, speaks
from mercer.kernels import Kernel
from mercer.lifts.algebra import constant
from mercer.lifts.audit import audited
from mercer.lifts.base import Lift
from mercer.lifts.certificate import Certificate
from mercer.lifts.coerce import check_numbers, stated
from mercer.lifts.expansion import Expansion
from mercer.lifts.polynomial import Polynomial
from mercer.lifts.randomness import generator
from mercer.lifts.splitting import SAMPLE_ROWS, Division, divide
from mercer.lifts.tensor_sketch import TensorSketch

Array = NDArray[Any]

MAX_DEGREE = 1000
"""The highest degree: binomial coefficients beyond it leave the range of floats."""
DEFAULT_COMPONENTS = 100
"""Features where no number is given."""
BLOCK_NUMBERS = 1 << 19
"""Numbers that a block of rows may hold on the way to its features: about the second-level cache."""
METHODS = ("split", "tensor")


@dataclass(frozen=True)
class PowerOfDot:
    """scale (offset + <x, z>)^degree."""

    scale: float
    degree: int
    offset: float


class Sketch(Lift):
    """Random features of c (offset + <x, z>)^p for wide or sparse tables: E phi(x).phi(z) = k(x, z).

    "tensor" is TensorSketch of (sqrt(offset), x). "split" splits off the direction in which the data is longest, lifts
    low degrees of the rest exactly where there is room, and sketches the others, each with the share of the features
    that makes the variance least (see `mercer.lifts.splitting`). It is unbiased too
    (benchmarks/lifts.py measures the gain). It has little to gain where rows are nearly orthogonal and the offset is
    small.

    Cost, with p the degree: transform takes p^2 d + p D log D a dense row and p^2 s + p D log D a sparse row of s
    stored numbers ("tensor": p d, p s) in blocks of rows; fit some 50,000 d once, and 5 p^2 d bytes are kept.

    Parameters
    ----------
    kernel : Kernel or str, default="polynomial"
        Polynomial(degree, offset), Linear(), or a number times one of them, or the text of these. (offset + gamma <x,
        z>)^p of other libraries is gamma^p Polynomial(p, offset / gamma).
    n_components : int or None, default=None
        D, at least 1; None for 100.
    method : {"split", "tensor"}, default="split"
        How features are drawn, as above.
    random_state : int, Generator or None, default=None
        The source of the draws.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel.
    n_components_ : int
        How many features there are: D, or fewer, where fewer are exact.
    counts_ : array of shape (p + 1,)
        How many of them belong to each degree of the rest ("tensor": all to p).
    direction_ : array
        The unit vector that is split off, the coordinate of the constant first.
    parts_ : tuple
        For each degree above 0 that has features, its monomials (`Expansion`) or what was drawn (`TensorSketch`).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Polynomial
    >>> X = np.random.default_rng(0).random((50, 300)) / 10
    >>> phi = Sketch(Polynomial(3), n_components=500, random_state=0).fit(X)
    >>> phi.counts_
    (1, 300, 190, 9)
    >>> features, K = phi.transform(X), Polynomial(3)(X)
    >>> bool(np.linalg.norm(features @ features.T - K) < 0.01 * np.linalg.norm(K))
    True

    References
    ----------
    Pham and Pagh, Fast and scalable polynomial kernels via explicit feature maps, KDD 2013.
    Wacker, Kanagawa, Filippone, Improved random features for dot product kernels, JMLR 25 (2024): features by degree,
    each with its optimal share.
    """

    exact = False
    takes_sparse = True

    def __init__(
        self,
        kernel: Kernel | str = "polynomial",
        n_components: int | None = None,
        *,
        method: str = "split",
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.method = method
        self.random_state = random_state

    def _read(self, X: ArrayLike, reset: bool) -> Any:
        if reset:
            check_numbers(self.kernel)
        return super()._read(X, reset)

    def learn(self, X: Any) -> None:
        kernel = stated(self.kernel)
        self._power = _power_of(kernel)
        total = _components(self.n_components)
        if self._power.degree > MAX_DEGREE:
            got = f"got degree {self._power.degree:,}"
            raise InputError(message(f"a degree of at most {MAX_DEGREE:,}", got, "Use Nystrom(kernel)."))
        if self.method not in METHODS:
            needs = f"method to be one of {', '.join(map(repr, METHODS))}"
            raise InputError(message(needs, f"got {self.method!r}", "Leave it out if in doubt."))
        rng = generator(self.random_state)
        self._division = self._divided(X, total, rng)
        self._afford(X)
        self.kernel_, self.counts_, self.n_components_ = kernel, self._division.counts, sum(self._division.counts)
        self.direction_ = np.concatenate([[self._division.axis.head], self._division.axis.tail])
        self.parts_ = {degree: self._part(degree, rng) for degree, count in enumerate(self.counts_) if degree and count}

    _saved: ClassVar[Mapping[str, Any]] = {
        "kernel_": Kernel,
        "_power": PowerOfDot,
        "_division": Division,
        "counts_": tuple[int, ...],
        "n_components_": int,
        "direction_": NDArray[np.float64],
        "parts_": dict[int, Expansion | TensorSketch],
    }

    def _inconsistency(self) -> str:
        tail, counts = self._division.axis.tail, self.counts_
        if len(tail) != self.n_features_in_ or min(counts, default=-1) < 0 or self.n_components_ != sum(counts):
            return f"got {self.n_components_} features of {len(tail)} columns"
        for degree, part in self.parts_.items():
            columns = len(part.places) if isinstance(part, TensorSketch) else part.width
            if not 0 < degree < len(counts) or columns != len(tail):
                return f"a part of degree {degree} has {columns} columns"
        return ""

    def _divided(self, X: Any, total: int, rng: np.random.Generator) -> Division:
        power = self._power
        if self.method == "tensor":
            return Division.whole(X.shape[1], power.offset, power.degree, total)
        n = X.shape[0]
        rows = X[np.sort(rng.choice(n, SAMPLE_ROWS, replace=False))] if n > SAMPLE_ROWS else X
        return divide(rows, power.offset, power.degree, total)

    def _afford(self, X: Any) -> None:
        """Refuse what does not fit the memory before it is drawn: places and signs, monomials, a row on its way."""
        exact, counts = self._division.exact, self._division.counts
        widest = max((degree * count for degree, count in enumerate(counts) if degree > exact), default=0)
        drawn = 5 * X.shape[1] * self._power.degree**2 * (widest > 0)
        needed = drawn + 32 * widest + 8 * sum((1 + max(exact, 0)) * count for count in counts)
        purpose, remedy = f"a sketch of {sum(counts):,} features", "Use a smaller n_components."
        Budget.of(None).require(needed, purpose, remedy)

    def _part(self, degree: int, rng: np.random.Generator) -> Expansion | TensorSketch:
        axis, count = self._division.axis, self.counts_[degree]
        if degree <= self._division.exact:
            return _monomials(len(axis.tail), degree)
        if self._division.exact < 0:
            return TensorSketch.draw_with_constant(degree, count, len(axis.tail), rng)
        return TensorSketch.draw(degree, count, len(axis.tail), rng).moved(-axis.tail)

    def n_features(self) -> int:
        return self.n_components_

    def feature_names(self, inputs: list[str]) -> list[str]:
        return [f"sketch{i}" for i in range(1, self.n_components_ + 1)]

    def features(self, X: Any) -> Array:
        out = np.empty((X.shape[0], self.n_components_), X.dtype)
        step = max(1, BLOCK_NUMBERS // self._held(X))
        finite = True
        with np.errstate(over="ignore", invalid="ignore"):
            for start in range(0, len(out), step):
                block = out[start : start + step]
                self._fill(X[start : start + step], block)
                finite = finite and bool(np.isfinite(block).all())
        if not finite:
            got = f"some do not fit {X.dtype}"
            remedy = "Divide the data by its largest entry, or convert it to float64."
            warnings.warn(message("finite features", got, remedy), NumericalWarning, stacklevel=caller_level())
        return out

    def _held(self, X: Any) -> int:
        """Numbers that a row needs: its own, its features, and those on the way of a sketch."""
        own = int(np.diff(X.indptr).max(initial=0)) if hasattr(X, "indptr") else X.shape[1]
        widest = max(degree * (4 * count + 3 * own) for degree, count in enumerate(self.counts_))
        return max(1, widest, X.shape[1] if self._division.exact > 0 else 0)

    def _fill(self, X: Any, out: Array) -> None:
        """The features of a few rows, degree by degree."""
        axis, scale, power = self._division.axis, self._power.scale, self._power.degree
        along = axis.along(X)
        pull = axis.pull(along)
        rest = axis.rest(X, pull) if self._division.exact > 0 else X
        at = self.counts_[0]  # one where something is split, else none
        out[:, :at] = (X.dtype.type(math.sqrt(scale)) * along**power)[:, None]
        for degree, part in self.parts_.items():
            found = part.evaluate(rest) if isinstance(part, Expansion) else part.features(X, pull).T
            weight = X.dtype.type(math.sqrt(scale * math.comb(power, degree))) * along ** (power - degree)
            np.multiply(found, weight[:, None], out=out[:, at : at + found.shape[1]])
            at += found.shape[1]

    @property
    def _degree(self) -> int:
        return self._power.degree

    @speaks
    def certificate(self, X: ArrayLike, delta: float = 0.01) -> Certificate:
        """How far phi(x).phi(z) is from k(x, z) on the pairs of rows of X: measured, on a sample where X is large.

        Where there was room for all monomials, nothing was sketched, and only rounding is left.

        delta : the probability with which the bound may fail, where it is estimated
        """
        check_is_fitted(self)
        if self._division.exact == self._power.degree:
            return super().certificate(X, delta)
        rows = self._read(X, reset=False)
        largest = self._longest(rows) + float(self.kernel_.diagonal(rows).max())
        return audited(self, self.kernel_, X, delta, largest)


def _power_of(kernel: Any) -> PowerOfDot:
    if isinstance(kernel, k.Linear):
        return PowerOfDot(1.0, 1, 0.0)
    if isinstance(kernel, k.Polynomial):
        return PowerOfDot(1.0, kernel.degree, kernel.offset)
    if isinstance(kernel, k.Product):
        constants = [part.variance for part in kernel.parts if isinstance(part, k.Constant)]
        others = [part for part in kernel.parts if not isinstance(part, k.Constant)]
        if len(others) == 1 and isinstance(others[0], k.Linear | k.Polynomial):
            return replace(_power_of(others[0]), scale=math.prod(constants))
    needs = "Polynomial(degree, offset), Linear(), or a number times one of them, since it sketches powers of <x, z>"
    raise KernelError(message(needs, f"got {kernel}", "Use Nystrom(kernel), which takes every kernel."))


def _components(number: Any) -> int:
    if number is None:
        return DEFAULT_COMPONENTS
    if isinstance(number, bool) or not isinstance(number, numbers.Integral) or number < 1:
        needs = "n_components to be an integer of at least 1, or None"
        raise InputError(message(needs, f"got {number!r}", "Use 1000, say: the error falls as 1/sqrt(D)."))
    return int(number)


def _monomials(columns: int, degree: int) -> Expansion:
    """<r, r'>^degree exactly."""
    return Polynomial(degree, offset=0.0)._expansion(columns) if degree else constant(columns, 1.0)
