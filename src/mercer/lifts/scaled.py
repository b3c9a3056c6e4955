"""The features of a lift times a number: its kernel times the square of it."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from mercer.errors import InputError, message, speaks
from mercer.kernels import Kernel
from mercer.lifts.algebra import scaled
from mercer.lifts.base import Lift
from mercer.lifts.certificate import Certificate
from mercer.lifts.composition import composed, fitted_part, kernel_of_part, other_columns, rounding, unique
from mercer.lifts.expansion import Expansion
from mercer.lifts.parts import bracketed

MIN_FACTOR = 1e-150
"""The least factor, and one over the largest: float64 must hold its square."""
MIN_FACTOR_FLOAT32 = 1e-18
"""The same where rows are float32."""


class Scaled(Lift):
    """Every feature times a number, written c * lift.

    phi(x) = c phi1(x), so k = c^2 k1. To get the kernel c k1, scale by sqrt(c). Cost: that of the lift, and a copy.

    Parameters
    ----------
    lift : Lift
        A clone of it is fitted.
    factor : float, default=1.0
        c, not zero, from 1e-150 to 1e150 in size; it may be negative.

    Attributes
    ----------
    lift_ : Lift
        The fitted clone.
    expansion_ : Expansion
        Monomials and coefficients, where the lift has them.

    Examples
    --------
    >>> from mercer.lifts.exact import Exact
    >>> phi = (3 * Exact("linear")).fit([[1.0, 2.0]])
    >>> phi.transform([[1.0, 2.0]])
    array([[3., 6.]])
    >>> print(phi.kernel)
    9.0*linear
    """

    def __init__(self, lift: Lift, factor: float = 1.0) -> None:
        self.lift = lift
        self.factor = factor

    @property
    def exact(self) -> bool:  # type: ignore[override]  # a constant of other lifts, here it is that of the part
        """Whether the lift is exact."""
        return self.lift.exact

    @property
    def takes_sparse(self) -> bool:  # type: ignore[override]
        """Whether the lift takes sparse tables."""
        return bool(getattr(self.lift, "takes_sparse", False))

    @property
    def kernel(self) -> Kernel:
        """The kernel of the lift, times the square of the factor."""
        return float(self.factor) ** 2 * kernel_of_part(self, "lift")

    @property
    def expansion_(self) -> Expansion:
        """Monomials and coefficients; AttributeError where the lift has none."""
        return scaled(self.lift_.expansion_, float(self.factor))

    @property
    def _of_things(self) -> bool:
        return isinstance(self.lift, Lift) and self.lift._of_things

    def learn(self, X: Any) -> None:
        if not _is_factor(self.factor):
            got = f"got {self.factor!r}"
            raise InputError(message("a factor other than zero, from 1e-150 to 1e150 in size", got, "Use 0.5, say."))
        self.lift_ = fitted_part(self, "lift", X)

    _saved: ClassVar[Mapping[str, Any]] = {"lift_": Lift}

    def _inconsistency(self) -> str:
        return other_columns(self, self.lift_)

    def n_features(self) -> int:
        return self.lift_.n_features()

    def _afford(self, rows: Any) -> None:
        self.lift_._afford(rows)

    def features(self, X: Any) -> Any:
        if X.dtype == np.float32 and not MIN_FACTOR_FLOAT32 <= abs(float(self.factor)) <= 1 / MIN_FACTOR_FLOAT32:
            got = f"got rows of float32, which holds no square of {float(self.factor):g},"
            raise InputError(message("rows of float64", got, "Use X.astype(float)."))
        return self.lift_.features(X) * X.dtype.type(self.factor)

    def feature_names(self, inputs: list[str]) -> list[str]:
        return unique([f"{float(self.factor):.6g} * {bracketed(name)}" for name in self.lift_.feature_names(inputs)])

    @speaks
    def certificate(self, X: ArrayLike, delta: float = 0.01) -> Certificate:
        """How far phi(x).phi(z) may be from k(x, z): what the lift certifies, times the square of the factor.

        delta : the probability with which the bound may fail, where it is estimated
        """
        check_is_fitted(self)
        rows, known, square = self._read(X, reset=False), self.lift_.certificate(X, delta), float(self.factor) ** 2
        bound, length = square * known.bound, square * self.lift_._longest(rows)
        return composed([known], bound + rounding(self.n_features(), rows.dtype, length + bound))


def _is_factor(thing: Any) -> bool:
    """Whether something is a number whose square is one, too: neither zero nor infinite."""
    if isinstance(thing, bool) or not isinstance(thing, numbers.Real):
        return False
    size: Any = abs(thing) if isinstance(thing, numbers.Rational) else abs(float(thing))  # integers may fit no float
    return bool(MIN_FACTOR <= size <= 1 / MIN_FACTOR)
