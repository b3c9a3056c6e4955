"""Input validation of paths: kernels with rows or matrices, targets, weights and penalties."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.compute.overflow import all_finite
from mercer.errors import InputError, KernelError, message
from mercer.kernels import Kernel
from mercer.kernels.evaluation.evaluate import read as rows_of
from mercer.kernels.function import kernel_from
from mercer.kernels.median import weights_from
from mercer.kernels.points import DOUBLE, Points
from mercer.kernels.text import parse
from mercer.operators import Gram
from mercer.operators.precomputed import check_precomputed, eps, read_square

Array = NDArray[np.float64]
Positions = NDArray[np.intp]

PRECOMPUTED = "precomputed"
ENTRY_ROUNDING = 5e-13
"""How far an entry of a kernel matrix may be off by rounding, relative to sqrt(k(x, x) k(z, z))."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows that are seen through a kernel; its open numbers are found."""

    kernel: Kernel
    points: Points

    @property
    def unit(self) -> float:
        """How far an entry of the matrix may be off."""
        return ENTRY_ROUNDING

    def matrix(self, rows: Positions) -> Array:
        """The kernel matrix of some rows, to be overwritten."""
        some = replace(self.points.rows(rows), dtype=DOUBLE)
        K = np.asarray(Gram.of(self.kernel, some).to_dense(), dtype=np.float64)
        with np.errstate(all="ignore"):
            finite = all_finite(K)
        if not finite:
            got, remedy = f"{self.kernel} overflows on this data", "Scale the data down, or normalize the kernel."
            raise InputError(message("finite values of the kernel", got, remedy))
        return K


@dataclass(frozen=True, eq=False)
class Similarities:
    """Rows of which only the kernel matrix is known."""

    given: NDArray[Any]

    @property
    def unit(self) -> float:
        """How far an entry of the matrix may be off."""
        return eps(self.given.dtype)

    def matrix(self, rows: Positions) -> Array:
        """The kernel matrix of some rows, to be overwritten."""
        whole = len(rows) == len(self.given)
        return check_precomputed(self.given if whole else self.given[np.ix_(rows, rows)])


def read(kernel: Any, X: Any, sample_weight: Any) -> tuple[Rows | Similarities, Array]:
    """The rows, and how often each counts."""
    if isinstance(kernel, str) and kernel == PRECOMPUTED:
        given = read_square(X)
        return Similarities(given), weights_from(sample_weight, len(given))
    kernel = kernel_of(kernel)
    kernel.check(X)
    points = rows_of(kernel, X)
    weights = weights_from(sample_weight, points.values.shape[0])
    return Rows(kernel.resolve_points(points, weights), points), weights


def kernel_of(given: Any) -> Kernel:
    """A kernel, from one or its text."""
    if isinstance(given, str):
        return parse(given, open=True)
    given = kernel_from(given)
    if not isinstance(given, Kernel):
        remedy = "Write Gaussian(), or \"gaussian('median')\"."
        raise KernelError(message("a kernel, its text, or 'precomputed'", f"got {given!r}", remedy))
    return given


def targets_of(y: ArrayLike, count: int) -> Array:
    """(n, outputs): y as finite numbers."""
    given = np.asarray(y)
    if given.dtype.kind not in "fiub":
        got, remedy = f"got y of dtype {given.dtype}", "Convert y; code classes by +1 and -1."
        raise InputError(message("targets that are numbers", got, remedy))
    if given.ndim not in (1, 2) or len(given) != count or given.size == 0:
        needs, got = f"one target per row, {count} in all", f"got y of shape {given.shape}"
        raise InputError(message(needs, got, "Give n numbers, or n rows of one column per output."))
    Y = given.astype(np.float64).reshape(count, -1)
    bad = np.argwhere(~np.isfinite(Y))
    if len(bad):
        got = f"y holds {Y[tuple(bad[0])]} in row {bad[0, 0]}"
        raise InputError(message("finite targets", got, "Impute or drop such rows."))
    return Y


def alphas_of(given: ArrayLike) -> Array:
    """(m,): penalties that are finite and at least zero, at least one of them."""
    needs, remedy = "penalties that are finite numbers of at least 0", "Use None for the default ones."
    values = np.asarray(given)
    if values.dtype.kind not in "fiu" or values.ndim > 1 or values.size == 0:
        got = f"got alphas of shape {values.shape} and dtype {values.dtype}"
        raise InputError(message(needs, got, remedy))
    alphas = values.astype(np.float64).ravel()
    bad = alphas[~(np.isfinite(alphas) & (alphas >= 0))]
    if bad.size:
        raise InputError(message(needs, f"got {bad[0]:g}", remedy))
    return alphas
