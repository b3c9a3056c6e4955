"""Kernels alone: the matrix of each on the rows, and the error that it has by itself."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mercer.compute.runtime.memory import Budget
from mercer.errors import InputError, NumericalWarning, caller_level, message
from mercer.kernels import Kernel
from mercer.operators import Centering
from mercer.solvers import Eigen
from mercer.solvers.ridge.spectrum import Spectrum
from mercer.tuning.path import MIN_ALPHA, default_alphas
from mercer.tuning.reading import Rows
from mercer.tuning.sides import DualSide

Array = NDArray[np.float64]

PLATEAU_FACTOR = 1.01
"""A descent starts from the largest penalty within this factor of the least error: that may stand on a plain."""
MAX_ROUNDING_SHARE = 0.1
"""What rounding may take from the eigenvalues of A + alpha I, relative to alpha: limits of the weights see to it."""
MAX_NEGATIVE_SHARE = 1e-6
"""A negative eigenvalue of this part of the largest shows that digits were lost."""


@dataclass(frozen=True, eq=False)
class Aim:
    """What is to be predicted.

    rows : the positions of the rows that count
    centering : their weights, and whether there is an intercept
    targets : P D y of the outputs that vary, each divided by its spread, (n, outputs)
    spreads : the root of the variance of each output; 0 where it does not vary
    """

    rows: NDArray[np.intp]
    centering: Centering
    targets: Array
    spreads: Array

    def path(self, A: Array, pull: float) -> tuple[Spectrum, Array, Array]:
        """The spectrum of A, which is used up, penalties, and at each the error: the mean over the outputs."""
        spectrum = Eigen().decompose(A)
        alphas = default_alphas(spectrum.values[-1])
        side = DualSide(spectrum, self.centering, pull, self.targets)
        return spectrum, alphas, side.errors(alphas).mean(axis=1)


def aim_of(weights: Array, Y: Array, fit_intercept: bool) -> Aim:
    """The targets of the rows that count, centred, weighted and scaled."""
    rows = np.flatnonzero(weights)
    if len(rows) < 2:
        got, remedy = "got one row of a weight above 0", "Without it nothing is left: give more rows."
        raise InputError(message("at least two rows", got, remedy))
    centering, kept = Centering(weights[rows], bool(fit_intercept)), Y[rows]
    peaks = np.abs(kept).max(axis=0)
    varies = (kept != kept[0]).any(axis=0) if centering.intercept else peaks > 0
    if not varies.any():
        got = "it is constant" if centering.intercept else "it is zero"
        raise InputError(message("a y that varies", got, "There is nothing to choose kernels by."))
    scaled = centering.rows(kept[:, varies] / peaks[varies])  # squares of large numbers would overflow
    roots = np.sqrt(np.square(scaled).sum(axis=0) / centering.total)
    spreads = np.zeros(len(peaks))
    spreads[varies] = roots * peaks[varies]
    return Aim(rows, centering, scaled / roots, spreads)


class Member(NamedTuple):
    """A kernel on the rows, with its matrix A = P D K D P + tau u u'.

    kernel : with its open numbers found
    size : the largest eigenvalue of A; 0 for a kernel that is constant on the rows
    pull : tau / size
    reach : the largest weight, in units of 1 / size
    best, start : the weights that have the least error, and about the least, in these units
    error : the least
    """

    kernel: Kernel
    size: float = 0.0
    pull: float = 0.0
    reach: float = 0.0
    best: float = 0.0
    start: float = 0.0
    error: float = np.inf


def members_of(aim: Aim, sources: Sequence[Rows]) -> tuple[list[Member], Array]:
    """Every kernel alone, and A / size of those that are not constant."""
    n, count = len(aim.rows), len(sources)
    purpose, remedy = f"{count} matrices of {n} x {n} numbers", "Give fewer rows or kernels."
    Budget.of(None).require(8 * (count + 5) * n**2, purpose, remedy)
    matrices, members, used = np.empty((count, n, n)), [], 0
    for source in sources:
        members.append(_member(aim, source, matrices[used], count))
        used += members[-1].size > 0
    if not used:
        got, remedy = "all are constant on X", "Check the columns that they look at."
        raise InputError(message("a kernel that varies on X", got, remedy))
    return members, matrices[:used]


def _member(aim: Aim, source: Rows, slot: Array, count: int) -> Member:
    """One of several kernels alone; A / size is left in the slot."""
    K, kernel, unit = source.matrix(aim.rows), source.kernel, source.unit
    noise = 10 * len(K) * unit * float((aim.centering.weights * np.abs(np.diagonal(K))).max())
    constant = np.ptp(K) <= 8 * np.finfo(np.float64).eps * max(K.max(), -K.min())
    pull = aim.centering.matrix(K).pull
    slot[:] = K
    spectrum, alphas, errors = aim.path(K, pull)
    negative, size = max(0.0, -float(spectrum.values[0])), float(spectrum.values[-1])
    _refuse_indefinite(kernel, negative, size, max(noise, 10 * spectrum.floor))
    if not constant and max(noise, negative / MAX_NEGATIVE_SHARE) > size:
        _warn_of_rounding(kernel)
    if np.trace(slot) - pull <= noise:  # the pull of nothing is 1
        return Member(kernel)
    slot /= size
    reach = min(1 / MIN_ALPHA, MAX_ROUNDING_SHARE * size / (count * negative)) if negative else 1 / MIN_ALPHA
    return _alone(Member(kernel, size, pull / size, reach), alphas, errors)


def _alone(member: Member, alphas: Array, errors: Array) -> Member:
    """The member with its best weights, from the errors at rising penalties."""
    weights = np.minimum(member.size / alphas, member.reach)
    errors = np.where(alphas * member.reach > 0.999 * member.size, errors, np.inf)
    best, start = int(errors.argmin()), int(np.flatnonzero(errors <= PLATEAU_FACTOR * errors.min())[-1])
    return member._replace(best=float(weights[best]), start=float(weights[start]), error=float(errors[best]))


def _refuse_indefinite(kernel: Kernel, negative: float, size: float, noise: float) -> None:
    if negative > noise:
        got = f"the matrix of {kernel} has eigenvalues from {-negative:.3g} to {size:.3g}"
        remedy = "mercer.prove says whether it is a kernel, and where."
        raise InputError(message("positive semi-definite kernels", got, remedy))


def _warn_of_rounding(kernel: Kernel) -> None:
    warnings.warn(
        f"combine finds that {kernel} is nearly constant on X: its differences are lost in the rounding of its values, "
        "and its weight is held down or set to 0. Shift the columns to mean zero, or choose another lengthscale.",
        NumericalWarning,
        stacklevel=caller_level(),
    )
