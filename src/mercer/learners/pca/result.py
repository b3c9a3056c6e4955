"""The result: principal components, what scores rows by them, and how accurate both are."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike, NDArray

from mercer.errors import NumericalWarning, caller_level, speaker
from mercer.learners.data.views import EPS
from mercer.learners.streaming.predictor import ByBasis, ByDuals, ByFeatures
from mercer.lifts.base import Lift
from mercer.operators.precomputed import eps

Array = NDArray[np.float64]
MIN_RELATIVE_EIGENVALUE = 1e-12
"""Eigenvalues up to this part of the largest are rounding: twice what the values of kernels are known to."""
CENTRING_ROUNDINGS = 8.0
"""By how many units of rounding of its largest entry each entry of a matrix may be off once it is centred: its means
are sums of many terms."""


@dataclass(frozen=True, eq=False)
class PCAResult:
    """The components of a centred kernel matrix.

    values : (k,), its largest eigenvalues, falling
    total : its trace; with landmarks at least that, by no more than they lose
    residuals : (k,), |A v - value v|, relative to the largest value, for the matrix A that was decomposed
    predictor : gives the scores of rows
    rows : how many rows were looked at
    converged, reason : whether `tol` was reached and all rows were seen, and a sentence about it
    lift : whose features have components; None where the matrix itself does
    vectors : (n, k), the eigenvectors; None where there is no matrix
    scores : (n, k), those of the training rows, as the predictor would give them; None where they are not known yet
    """

    values: Array
    total: float
    residuals: Array
    predictor: ByBasis | ByDuals | ByFeatures
    rows: int
    converged: bool
    reason: str
    lift: Lift | None = None
    vectors: Array | None = None
    scores: Array | None = None


def floor_of(count: int, top: float, largest: float, dtype: DTypeLike = np.float64) -> float:
    """Eigenvalues up to this are rounding.

    count : rows of the matrix
    top : its largest eigenvalue
    largest : the largest number on its diagonal before it was centred
    dtype : what its entries were rounded to
    """
    least = max(MIN_RELATIVE_EIGENVALUE, count * EPS, 2 * eps(dtype)) * top
    return max(least, count * CENTRING_ROUNDINGS * EPS * largest)


def leading_part(values: Array, floors: Array | float, most: int | None) -> int:
    """How many of the falling values are asked for and more than rounding: none, where all rows are equal."""
    above = np.append(values > floors, False)
    found = int(np.argmin(above))
    return found if most is None else min(found, most)


def warn_equal() -> None:
    """Say that there are no components."""
    text = "has no components: the kernel gives all rows the same values, to rounding"
    remedy = "Check the columns, or use a shorter lengthscale."
    warnings.warn(f"{speaker()} {text}. {remedy}", NumericalWarning, stacklevel=caller_level())
