"""Weights of a sum of kernels, learned by the exact leave-one-out error: multiple kernel learning for least squares."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import lapack
from scipy.optimize import minimize

from mercer.compute.budget import Budget
from mercer.compute.threads import one_thread_blas
from mercer.errors import InputError, KernelError, NumericalWarning, sentence
from mercer.kernels import Kernel
from mercer.kernels.text import parse
from mercer.operators import Centering
from mercer.solvers import Eigen
from mercer.solvers.spectrum import Spectrum
from mercer.tuning.path import LOWEST, default_alphas
from mercer.tuning.reading import Rows, read, targets_of
from mercer.tuning.sides import DualSide

Array = NDArray[np.float64]

SMALL = 512
"""Below so many rows BLAS has one thread: dealing the work out would take longer than doing it."""
SINGLES = 3
"""Descents start from equal weights, and from so many of the kernels that are the best ones alone."""
NEAR = 0.1
"""A weight times the largest eigenvalue is NEAR (e^z - 1): linear in z for small ones, so that 0 can be reached, and
logarithmic for large ones. At NEAR alpha is 10 times that eigenvalue, where a kernel begins to matter."""
LEVEL = 1.01
"""A descent starts from the largest penalty within this factor of the least error: that may stand on a plain."""
FLAT, STILL = 1e-6, 1e-10
"""A slope of log(error), and a relative change of it, that count as none."""
NEARLY = 1e-4
"""A slope that counts as none where rounding ended a descent."""
ROOM = 0.1
"""What rounding may take from the eigenvalues of A + alpha I, relative to alpha: limits of the weights see to it."""
LOST = 1e-6
"""A negative eigenvalue of this part of the largest shows that digits were lost."""


@dataclass(frozen=True, eq=False)
class Combination:
    """A sum of kernels that `combine` found, with its penalty.

    kernel : the sum of weights[m] * kernels[m] over the weights above zero; one kernel alone stands for itself
    alpha : the penalty that belongs to it: mercer.KernelRidge(kernel, alpha=alpha) is the model
    kernels : the given kernels, with their open numbers found
    weights : one a kernel, at least 0, of sum 1
    shares : the part of each kernel in what the model predicts, of sum 1: that of |f_m|^2, where f = sum_m f_m at the
        rows of X, and f_m belongs to weights[m] * kernels[m]. Weights compare only kernels of the same size
    error : the mean squared leave-one-out error, one number an output where y has several columns
    relative : the same as a part of the variance of y, the mean over the outputs that vary: what was minimised. Without
        an intercept the mean square of y stands for its variance
    history : the relative error at the start of the best descent, and after each of its steps
    converged : whether the descent ended where no step leads further down
    reason : why it ended, in one sentence
    steps : how many it took
    """

    kernel: Kernel
    alpha: float
    kernels: tuple[Kernel, ...]
    weights: Array
    shares: Array
    error: float | Array
    relative: float
    history: Array
    converged: bool
    reason: str
    steps: int

    def __str__(self) -> str:
        rows = zip(self.weights, self.shares, self.kernels, strict=True)
        lines = [f"{weight:>10.4g} {share:>7.4f}  {kernel}" for weight, share, kernel in rows]
        found = f"alpha {self.alpha:.4g}, leave-one-out error {self.relative:.4g} of the variance. {self.reason}"
        return "\n".join([f"{'weight':>10} {'share':>7}  kernel", *lines, found])


def combine(
    kernels: Any,
    X: ArrayLike,
    y: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    fit_intercept: bool = True,
    steps: int = 100,
) -> Combination:
    """The weights, at least 0, with which a sum of kernels has the least leave-one-out error in kernel ridge.

    Minimises sum_i s_i e_i^2 / N over the weights w of sum_m w_m k_m and over alpha, where e_i = y_i less its
    prediction by the model that was fitted without (one copy of) row i, in closed form (see `mercer.tuning.sides`).
    Several outputs: the sum of their errors, each divided by the variance of its output. There are several minima:
    descents (L-BFGS-B) start from equal weights and from the best kernels alone, each with its best penalty, and the
    result is never worse than the best kernel alone. Weights that do not help become exactly 0. The least of many
    errors is too hopeful, the more so the more kernels and the fewer rows there are: judge the result by other rows.

    Cost for M kernels: about 9 n^3 operations a kernel, and 4 n^3 + 4 M n^2 a step of up to five descents; (M + 5) n^2
    numbers.

    Parameters
    ----------
    kernels : a list of kernels or their texts; numbers that are open ("median") are found from X
    X : table of n rows, at least two of them of a weight above 0
    y : n numbers, or n rows of one column an output; they must vary
    sample_weight : n numbers of at least 0: row i counts so many times; None for once each
    fit_intercept : whether the model has an intercept without penalty
    steps : the most steps of a descent, at least 1

    Examples
    --------
    >>> import mercer
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian
    >>> from mercer.tuning.combine import combine
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(40, 3))
    >>> found = combine([Gaussian(1.0).on(j) for j in range(3)], X, np.sin(3 * X[:, 0]) + X[:, 1] ** 2)
    >>> found.shares.round(2), mercer.prove(found.kernel).status
    (array([0.84, 0.16, 0.  ]), 'proven')

    References
    ----------
    Cawley, Talbot, Preventing over-fitting during model selection via Bayesian regularisation of the hyper-parameters,
    Journal of Machine Learning Research 8 (2007), for slopes of the leave-one-out error. Rakotomamonjy, Bach, Canu,
    Grandvalet, SimpleMKL, Journal of Machine Learning Research 9 (2008).
    """
    given = _kernels(kernels)
    _check_steps(steps)
    sources, weights = _sources(given, X, sample_weight)
    aim = _aim(weights, targets_of("combine", y, len(weights)), fit_intercept)
    with one_thread_blas() if len(aim.rows) < SMALL else nullcontext():
        members, matrices = _members(aim, sources)
        error = _Error(aim, tuple(member for member in members if member.size > 0), matrices)
        return _combination(members, error, _best(error, int(steps)), several=np.ndim(y) == 2)


# -- what comes in ----------------------------------------------------------------------------------------------------


def _kernels(given: Any) -> list[Kernel]:
    """The kernels of a list of kernels and texts."""
    needs, remedy = "a list of kernels or their texts", "Write combine([Gaussian('median'), 'linear'], X, y)."
    if isinstance(given, str | Kernel) or not hasattr(given, "__iter__"):
        raise KernelError(sentence("combine", needs, f"{given!r} came", remedy))
    found = [parse(item) if isinstance(item, str) else item for item in given]
    wrong = [item for item in found if not isinstance(item, Kernel)]
    if wrong or not found:
        came = f"{wrong[0]!r} is in it" if wrong else "an empty one came"
        raise KernelError(sentence("combine", needs, came, remedy))
    return found


def _check_steps(steps: Any) -> None:
    if isinstance(steps, bool) or not isinstance(steps, numbers.Integral) or steps < 1:
        raise InputError(sentence("combine", "a whole number of steps, at least 1", f"{steps!r} came", "Use 100."))


def _sources(kernels: list[Kernel], X: Any, sample_weight: Any) -> tuple[list[Rows], Array]:
    """The rows as each kernel sees them, and how often each row counts."""
    seen = [read("combine", kernel, X, sample_weight) for kernel in kernels]
    return [source for source, _ in seen if isinstance(source, Rows)], seen[0][1]  # all are: no kernel is a matrix


@dataclass(frozen=True, eq=False)
class _Aim:
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


def _aim(weights: Array, Y: Array, fit_intercept: bool) -> _Aim:
    """The targets of the rows that count, centred, weighted and scaled."""
    rows = np.flatnonzero(weights)
    if len(rows) < 2:
        came, remedy = "one row of a weight above 0 came", "Without it nothing is left: give more rows."
        raise InputError(sentence("combine", "at least two rows", came, remedy))
    centering, kept = Centering(weights[rows], bool(fit_intercept)), Y[rows]
    peaks = np.abs(kept).max(axis=0)
    varies = (kept != kept[0]).any(axis=0) if centering.intercept else peaks > 0
    if not varies.any():
        came = "it is constant" if centering.intercept else "it is zero"
        raise InputError(sentence("combine", "a y that varies", came, "There is nothing to choose kernels by."))
    scaled = centering.rows(kept[:, varies] / peaks[varies])  # squares of large numbers would overflow
    roots = np.sqrt(np.square(scaled).sum(axis=0) / centering.total)
    spreads = np.zeros(len(peaks))
    spreads[varies] = roots * peaks[varies]
    return _Aim(rows, centering, scaled / roots, spreads)


# -- each kernel alone ------------------------------------------------------------------------------------------------


class _Member(NamedTuple):
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


def _members(aim: _Aim, sources: Sequence[Rows]) -> tuple[list[_Member], Array]:
    """Every kernel alone, and A / size of those that are not constant."""
    n, count = len(aim.rows), len(sources)
    purpose, remedy = f"{count} matrices of {n} x {n} numbers", "Give fewer rows or kernels."
    Budget.of(None).require("combine", 8 * (count + 5) * n**2, purpose, remedy)
    matrices, members, used = np.empty((count, n, n)), [], 0
    for source in sources:
        members.append(_member(aim, source, matrices[used], count))
        used += members[-1].size > 0
    if not used:
        came, remedy = "all are constant on X", "Check the columns that they look at."
        raise InputError(sentence("combine", "a kernel that varies on X", came, remedy))
    return members, matrices[:used]


def _member(aim: _Aim, source: Rows, slot: Array, count: int) -> _Member:
    """One of several kernels alone; A / size is left in the slot."""
    K, kernel, unit = source.matrix(aim.rows), source.kernel, source.unit
    noise = 10 * len(K) * unit * float((aim.centering.weights * np.abs(np.diagonal(K))).max())
    constant = np.ptp(K) <= 8 * np.finfo(np.float64).eps * max(K.max(), -K.min())
    pull = aim.centering.matrix(K).pull
    slot[:] = K
    spectrum, alphas, errors = aim.path(K, pull)
    negative, size = max(0.0, -float(spectrum.values[0])), float(spectrum.values[-1])
    _refuse_indefinite(kernel, negative, size, max(noise, 10 * spectrum.floor))
    if not constant and max(noise, negative / LOST) > size:
        _warn_of_rounding(kernel)
    if np.trace(slot) - pull <= noise:  # the pull of nothing is 1
        return _Member(kernel)
    slot /= size
    reach = min(1 / LOWEST, ROOM * size / (count * negative)) if negative else 1 / LOWEST
    return _alone(_Member(kernel, size, pull / size, reach), alphas, errors)


def _alone(member: _Member, alphas: Array, errors: Array) -> _Member:
    """The member with its best weights, from the errors at rising penalties."""
    weights = np.minimum(member.size / alphas, member.reach)
    errors = np.where(alphas * member.reach > 0.999 * member.size, errors, np.inf)
    best, start = int(errors.argmin()), int(np.flatnonzero(errors <= LEVEL * errors.min())[-1])
    return member._replace(best=float(weights[best]), start=float(weights[start]), error=float(errors[best]))


def _refuse_indefinite(kernel: Kernel, negative: float, size: float, noise: float) -> None:
    if negative > noise:
        came = f"the matrix of {kernel} has eigenvalues from {-negative:.3g} to {size:.3g}"
        remedy = "mercer.prove says whether it is a kernel, and where."
        raise InputError(sentence("combine", "positive semi-definite kernels", came, remedy))


def _warn_of_rounding(kernel: Kernel) -> None:
    warnings.warn(
        f"combine finds that {kernel} is nearly constant on X: its differences are lost in the rounding of its values, "
        "and its weight is held down or set to 0. Shift the columns to mean zero, or choose another lengthscale.",
        NumericalWarning,
        stacklevel=5,
    )


# -- the error of a sum -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Error:
    """The leave-one-out error of sum_m w_m A_m with alpha = 1, and its slopes.

    With G = P (A + I)^-1 P, c = G b and q_i = 1 - m_i + m_i G_ii the error is |c / q|^2 / N. As dG = -G A_m G dw_m, it
    has the slopes 2 <A_m, G T G - G r c'> / N with r_i = c_i / q_i^2 and T = diag(m_i c_i^2 / q_i^3).

    matrices : A_m / size, (M, n, n)
    """

    aim: _Aim
    members: tuple[_Member, ...]
    matrices: Array

    @cached_property
    def pulls(self) -> Array:
        """tau of each matrix."""
        return np.array([member.pull for member in self.members])

    @cached_property
    def limits(self) -> Array:
        """The largest weights."""
        return np.array([member.reach for member in self.members])

    def sum(self, weights: Array) -> Array:
        """sum_m w_m A_m."""
        n = len(self.aim.targets)
        return np.asarray(weights @ self.matrices.reshape(-1, n * n)).reshape(n, n)

    def __call__(self, weights: Array) -> tuple[Array, Array]:
        """The error of each output, and the slopes of their mean. Cost: 4 n^3 + 4 M n^2 operations, 4 n^2 numbers."""
        copies, total = self.aim.centering.weights, self.aim.centering.total
        G = self._inverse(weights)
        c, taken = G @ self.aim.targets, 1 / np.maximum(1.0, copies)
        below = (1 - taken + taken * np.diagonal(G))[:, None]
        left = c / below
        squares = np.square(left)
        inner = (G * (taken * squares.sum(axis=1) / below[:, 0])) @ G
        inner -= (G @ (left / below)) @ c.T
        slopes = self.matrices.reshape(len(weights), -1) @ inner.ravel()
        return squares.sum(axis=0) / total, 2 / (total * c.shape[1]) * slopes

    def parts(self, weights: Array) -> Array:
        """|f_m|^2 of each kernel's part of the fitted function, over rows and outputs, copies counted."""
        c = self._inverse(weights) @ self.aim.targets
        return np.array([np.square(w * (A @ c)).sum() for w, A in zip(weights, self.matrices, strict=True)])

    def _inverse(self, weights: Array) -> Array:
        """G; every A_m is positive semi-definite to rounding, and limits keep that below one."""
        A, u = self.sum(weights), self.aim.centering.direction
        A.flat[:: len(A) + 1] += 1.0
        factor, _ = lapack.dpotrf(A.T, lower=1, clean=0, overwrite_a=1)
        inverse, _ = lapack.dpotri(factor, lower=1, overwrite_c=1)
        G = inverse.T  # rows first again: what is known stands above the diagonal
        along = u / (1 + weights @ self.pulls)
        for i in range(len(G)):
            G[i, i:] -= u[i] * along[i:]
            G[i:, i] = G[i, i:]
        return np.asarray(G)


# -- descents ---------------------------------------------------------------------------------------------------------


class _Descent(NamedTuple):
    """Where a descent ended, and how it went."""

    weights: Array
    history: list[float]
    converged: bool
    reason: str


def _best(error: _Error, steps: int) -> _Descent:
    """The best of several descents that left a kernel, or one from the best kernel alone where that is better."""
    single = int(np.argmin([member.error for member in error.members]))
    least, alone = error.members[single].error, error.members[single].best * np.eye(len(error.members))[single]
    found = [_descend(error, start, steps) for start in _starts(error)]
    some = [run for run in found if run.weights.any() and run.history[-1] <= least]
    best = min(some, key=lambda run: run.history[-1]) if some else _descend(error, alone, steps)
    if best.weights.any():
        return best
    return _Descent(alone, [least], True, "No kernel helps: a model without any has less error.")


def _starts(error: _Error) -> list[Array]:
    """Kernels of equal weights after each has got a mean diagonal of one, and the best kernels alone."""
    members = error.members
    singles = np.argsort([member.error for member in members], kind="stable")[:SINGLES]
    alone = [members[i].start * np.eye(len(members))[i] for i in singles]
    if len(members) == 1:
        return alone
    equal = 1 / np.trace(error.matrices, axis1=1, axis2=2)
    _, alphas, errors = error.aim.path(error.sum(equal), float(equal @ error.pulls))
    level = alphas[errors <= LEVEL * errors.min()].max()
    return [np.minimum(equal / level, error.limits), *alone]


def _descend(error: _Error, weights: Array, steps: int) -> _Descent:
    """L-BFGS-B on the logarithm of the error, over z with weights = NEAR (e^z - 1)."""
    history: list[float] = []

    def value(z: Array) -> tuple[float, Array]:
        here = NEAR * np.expm1(z)
        errors, slopes = error(here)
        mean = max(float(errors.mean()), np.finfo(np.float64).tiny)
        if not history:
            history.append(mean)
        return float(np.log(mean)), (here + NEAR) * slopes / mean

    def note(intermediate_result: Any) -> None:
        history.append(float(np.exp(intermediate_result.fun)))

    tops, start = np.log1p(error.limits / NEAR), np.log1p(weights / NEAR)
    options = {"maxiter": steps, "ftol": STILL, "gtol": FLAT}
    bounds = [(0.0, top) for top in tops]
    end = minimize(value, start, jac=True, method="L-BFGS-B", bounds=bounds, callback=note, options=options)
    slope = float(np.abs(np.clip(end.x - end.jac, 0.0, tops) - end.x).max())
    return _Descent(np.minimum(NEAR * np.expm1(end.x), error.limits), history, *_verdict(end.status, slope, steps))


def _verdict(status: int, slope: float, steps: int) -> tuple[bool, str]:
    """Whether a descent has arrived, and why it ended."""
    if status == 0 or slope < NEARLY:
        return True, "No step leads further down."
    if status == 1:
        return False, f"It stopped after {steps} step{'s' * (steps != 1)}: the error still falls."
    return False, "Rounding hides which step leads down."


# -- what goes out ----------------------------------------------------------------------------------------------------


def _combination(members: Sequence[_Member], error: _Error, best: _Descent, several: bool) -> Combination:
    """The record: weights of all kernels with sum 1, and the penalty that belongs to them."""
    sizes = np.array([member.size for member in members])
    raw, parts, spreads = np.zeros(len(sizes)), np.zeros(len(sizes)), error.aim.spreads
    raw[sizes > 0] = best.weights / sizes[sizes > 0]
    parts[sizes > 0] = error.parts(best.weights)
    relative, _ = error(best.weights)
    with np.errstate(over="ignore"):  # targets beyond 1e154 have infinite squares; the relative error is sound
        errors = np.square(spreads)
    errors[spreads > 0] *= relative
    kernels, weights = tuple(member.kernel for member in members), raw / raw.sum()
    return Combination(
        kernel=_sum(kernels, weights),
        alpha=float(1 / raw.sum()),
        kernels=kernels,
        weights=weights,
        shares=parts / max(parts.sum(), np.finfo(np.float64).tiny),
        error=errors if several else float(errors[0]),
        relative=float(relative.mean()),
        history=np.array(best.history),
        converged=best.converged,
        reason=best.reason,
        steps=len(best.history) - 1,
    )


def _sum(kernels: Sequence[Kernel], weights: Array) -> Kernel:
    """The sum of weighted kernels, without those of weight 0: the sum rule proves it where each is proven."""
    terms = [k if w == 1.0 else float(w) * k for w, k in zip(weights, kernels, strict=True) if w > 0]
    return reduce(add, terms)
