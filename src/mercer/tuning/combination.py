"""Weights of a sum of kernels, learned by the exact leave-one-out error: multiple kernel learning for least squares."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.compute.runtime.threads import one_thread_blas
from mercer.errors import InputError, KernelError, message, speaks
from mercer.kernels import Kernel
from mercer.kernels.function import kernel_from
from mercer.kernels.text import parse
from mercer.tuning.descent import Descent, SumError, best_of
from mercer.tuning.members import Member, aim_of, members_of
from mercer.tuning.reading import Rows, read, targets_of

Array = NDArray[np.float64]

MIN_THREADED_ROWS = 512
"""Below so many rows BLAS has one thread: dealing the work out would take longer than doing it."""


@dataclass(frozen=True, eq=False)
class Combination:
    """A sum of kernels that `combine` found, with its penalty.

    Parameters
    ----------
    kernel : Kernel
        The sum of weights[m] * kernels[m] over the positive weights; one kernel alone stands for itself.
    alpha : float
        Its penalty: mercer.KernelRidge(kernel, alpha=alpha) is the model.
    kernels : tuple of Kernel
        The given kernels, with their open numbers found.
    weights : array of shape (M,)
        One per kernel, at least 0, of sum 1.
    shares : array of shape (M,)
        The part of each kernel in the predictions, of sum 1: that of `|f_m|^2`, where f = sum_m f_m at the rows of X,
        and f_m belongs to weights[m] * kernels[m]. Weights compare only kernels of the same size.
    error : float or array of shape (outputs,)
        The mean squared leave-one-out error, one per output if y is two-dimensional.
    relative : float
        The error as a part of the variance of y, the mean over the outputs that vary: the objective. Without an
        intercept the mean square of y stands for its variance.
    history : array
        The relative error at the start of the best descent, and after each of its steps.
    converged : bool
        Whether the descent ended in a minimum.
    reason : str
        Why it ended, in one sentence.
    n_iter : int
        How many steps it took.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian, Linear
    >>> from mercer.tuning import combine
    >>> X = np.linspace(0, 6, 40)[:, None]
    >>> found = combine([Linear(), Gaussian(1.0)], X, np.sin(X[:, 0]))
    >>> found.weights.round(1), found.converged
    (array([0.1, 0.9]), True)
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
    n_iter: int

    def __str__(self) -> str:
        rows = zip(self.weights, self.shares, self.kernels, strict=True)
        lines = [f"{weight:>10.4g} {share:>7.4f}  {kernel}" for weight, share, kernel in rows]
        found = f"alpha {self.alpha:.4g}, leave-one-out error {self.relative:.4g} of the variance. {self.reason}"
        return "\n".join([f"{'weight':>10} {'share':>7}  kernel", *lines, found])


@speaks
def combine(
    kernels: Any,
    X: ArrayLike,
    y: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    fit_intercept: bool = True,
    max_iter: int = 100,
) -> Combination:
    """The weights, at least 0, with which a sum of kernels has the least leave-one-out error in kernel ridge.

    Minimises sum_i s_i e_i^2 / N over the weights w of sum_m w_m k_m and over alpha, where e_i = y_i less its
    prediction by the model that was fitted without (one copy of) row i, in closed form (see `mercer.tuning.sides`).
    Several outputs: the sum of their errors, each divided by the variance of its output. There are several minima:
    descents (L-BFGS-B) start from equal weights and from the best kernels alone, each with its best penalty, and the
    result is never worse than the best kernel alone. Weights that do not help become exactly 0. The least of many
    errors is too hopeful, the more so the more kernels and the fewer rows there are: judge the result by other rows.

    Cost for M kernels: about 9 n^3 operations per kernel, and 4 n^3 + 4 M n^2 per step of up to five descents; (M + 5)
    n^2 numbers.

    Parameters
    ----------
    kernels : sequence of Kernel or str
        Numbers that are open ("median") are found from X.
    X : array or table of shape (n, d)
        The rows, at least two of them of positive weight.
    y : array of shape (n,) or (n, outputs)
        The targets; they must vary.
    sample_weight : array of shape (n,) or None, default=None
        At least 0: row i counts so many times; None for once each.
    fit_intercept : bool, default=True
        Whether the model has an intercept without penalty.
    max_iter : int, default=100
        The most steps of a descent, at least 1.

    Returns
    -------
    Combination

    Examples
    --------
    >>> import mercer
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian
    >>> from mercer.tuning import combine
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
    _check_max_iter(max_iter)
    sources, weights = _sources(given, X, sample_weight)
    aim = aim_of(weights, targets_of(y, len(weights)), fit_intercept)
    with one_thread_blas() if len(aim.rows) < MIN_THREADED_ROWS else nullcontext():
        members, matrices = members_of(aim, sources)
        error = SumError(aim, tuple(member for member in members if member.size > 0), matrices)
        return _combination(members, error, best_of(error, int(max_iter)), several=np.ndim(y) == 2)


# -- what comes in ----------------------------------------------------------------------------------------------------


def _kernels(given: Any) -> list[Kernel]:
    """The kernels of a list of kernels and texts."""
    needs, remedy = "a list of kernels or their texts", "Write combine([Gaussian('median'), 'linear'], X, y)."
    if isinstance(given, str | Kernel) or not hasattr(given, "__iter__"):
        raise KernelError(message(needs, f"got {given!r}", remedy))
    found = [parse(item, open=True) if isinstance(item, str) else kernel_from(item) for item in given]
    wrong = [item for item in found if not isinstance(item, Kernel)]
    if wrong or not found:
        got = f"{wrong[0]!r} is in it" if wrong else "got an empty one"
        raise KernelError(message(needs, got, remedy))
    return found


def _check_max_iter(given: Any) -> None:
    if isinstance(given, bool) or not isinstance(given, numbers.Integral) or given < 1:
        raise InputError(message("a positive integer for max_iter", f"got {given!r}", "Use 100."))


def _sources(kernels: list[Kernel], X: Any, sample_weight: Any) -> tuple[list[Rows], Array]:
    """The rows as each kernel sees them, and how often each row counts."""
    seen = [read(kernel, X, sample_weight) for kernel in kernels]
    return [source for source, _ in seen if isinstance(source, Rows)], seen[0][1]  # all are: no kernel is a matrix


# -- what goes out ----------------------------------------------------------------------------------------------------


def _combination(members: Sequence[Member], error: SumError, best: Descent, several: bool) -> Combination:
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
        n_iter=len(best.history) - 1,
    )


def _sum(kernels: Sequence[Kernel], weights: Array) -> Kernel:
    """The sum of weighted kernels, without those of weight 0: the sum rule proves it where each is proven."""
    terms = [k if w == 1.0 else float(w) * k for w, k in zip(weights, kernels, strict=True) if w > 0]
    return reduce(add, terms)
