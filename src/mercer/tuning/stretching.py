"""One lengthscale a column, found by the likelihood of the targets: columns that do not matter are stretched away."""

from __future__ import annotations

import numbers
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize

from mercer.compute.runtime.memory import Budget
from mercer.compute.runtime.threads import one_thread_blas
from mercer.errors import InputError, message, speaks
from mercer.kernels import Kernel
from mercer.lifts.randomness import generator
from mercer.tuning.evidence import Evidence, Slopes
from mercer.tuning.lengths import Lengths, columned, lengths_of, replaced
from mercer.tuning.reading import ENTRY_ROUNDING, Rows, read, targets_of

Array = NDArray[np.float64]

MIN_THREADED_ROWS = 1_500
"""Below so many rows BLAS has one thread: dealing the work out would take longer than doing it."""
MIN_FACTOR = 1e-2
"""A lengthscale is multiplied by this much at least."""
MAX_FACTOR = 1e4
"""A lengthscale is multiplied by this much at most: a column that is as wide as that has no say."""
START_ALPHA = 1e-2
"""The penalty to start with, in units of the mean of k(x, x). From large ones, columns are given up too early."""
ALPHAS = 10.0 ** np.arange(-4.0, 2.0)
"""Penalties of which the best stands for the kernel that was given."""
MIN_ALPHA = 1e-8
"""The least penalty that a search may reach, in the same units."""
MAX_ALPHA = 1e4
"""The largest one."""
DIFFERENCE_STEP = 1e-5
"""Of a logarithm of a length, for slopes by differences."""
SLOPE_TOLERANCE = 1e-4
"""A slope that counts as none."""
CHANGE_TOLERANCE = 1e-7
"""A relative change of the value that counts as none."""
REASONS = {0: "No step leads further up.", 1: "It stopped after {} steps: the likelihood still grows."}
MATRICES_PER_STEP = 8
"""Of rows x rows numbers, that a step holds at once."""
MAX_SHOWN_LENGTHS = 20
"""Lengths that are printed: the shortest stretches."""


@dataclass(frozen=True, eq=False)
class Stretch:
    """A kernel whose lengthscales `stretch` found.

    Parameters
    ----------
    kernel : Kernel
        The tree with the lengthscales that were found.
    alpha : float
        Its penalty: mercer.KernelRidge(kernel, alpha=alpha) is the model; leave-one-out on all rows may find a better
        one.
    names : tuple of str
        What each lengthscale belongs to: a column, or a kernel of several.
    lengthscales : array of shape (m,)
        In the order of the tree, to four digits: more would not be significant.
    stretches : array of shape (m,)
        The factor of each; a column with a large one hardly matters.
    gain : float
        The gain in log-likelihood per row, against the kernel that was given.
    history : array
        -log p(y) per row less a constant, at the start and after each step.
    converged : bool
        Whether the search converged.
    reason : str
        Why it ended.
    n_iter : int
        How many steps it took.
    rows : int
        How many of the rows were used.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.tuning import stretch
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> found = stretch("gaussian('median')", X, X[:, 1] ** 3)
    >>> found.names[found.stretches.argmin()], found.rows, found.gain > 1
    ('column 1', 100, True)
    """

    kernel: Kernel
    alpha: float
    names: tuple[str, ...]
    lengthscales: Array
    stretches: Array
    gain: float
    history: Array
    converged: bool
    reason: str
    n_iter: int
    rows: int

    def __str__(self) -> str:
        order = np.argsort(self.stretches, kind="stable")
        lines = [
            f"{self.stretches[i]:>9.3g} {self.lengthscales[i]:>12.4g}  {self.names[i]}"
            for i in order[:MAX_SHOWN_LENGTHS]
        ]
        if len(order) > MAX_SHOWN_LENGTHS:
            lines.append(f"{'...':>9} {'':>12}  and {len(order) - MAX_SHOWN_LENGTHS} more, which matter less")
        found = (
            f"alpha {self.alpha:.3g}, {self.gain:.3g} more log-likelihood a row, from {self.rows:,} rows. {self.reason}"
        )
        return "\n".join([f"{'stretch':>9} {'lengthscale':>12}  of", *lines, found])


@speaks
def stretch(
    kernel: Any,
    X: ArrayLike,
    y: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    fit_intercept: bool = True,
    rows: int = 1_000,
    max_iter: int = 60,
    random_state: Any = None,
) -> Stretch:
    """Lengthscales, one per column, under which the targets are likeliest (automatic relevance determination).

    A kernel that treats all columns alike drowns the few that matter in the many that do not. Here each column is
    divided by a length of its own: k(x / lengths, z / lengths). A tree that already has lengthscales of its own (of
    columns, by `k.scaled`; of parts, by `k.on`) keeps its form, and all of them are found. Maximises the likelihood of
    y under a Gaussian process with that kernel, a noise of alpha and an intercept without prior, by L-BFGS-B over the
    logarithms; slopes by the matrix are exact, those of the matrix by each length are differences. The result is never
    less likely than what was given. There may be several maxima, and the likeliest lengths need not predict best: judge
    them by other rows, above all where columns are many and rows few.

    Cost for m rows, at most `rows`: m^3 + 4 m^2 d operations per step, and eight matrices of m x m numbers. Lengths
    that do not belong to the columns of one radial kernel take an evaluation of the kernel each.

    Parameters
    ----------
    kernel : Kernel or str
        With lengthscales; those that are open ("median") are found from X first.
    X : array or table of shape (n, d)
        The rows.
    y : array of shape (n,) or (n, outputs)
        The targets; they must vary. Code classes by +1 and -1.
    sample_weight : array of shape (n,) or None, default=None
        At least 0: row i has the noise alpha / s_i, and 0 leaves it out; None for ones.
    fit_intercept : bool, default=True
        Whether the model has an intercept.
    rows : int, default=1000
        How many rows are used, at most: of more, so many are drawn.
    max_iter : int, default=60
        The most steps, at least 1.
    random_state : int, Generator or None, default=None
        The source of the draw.

    Returns
    -------
    Stretch

    Examples
    --------
    >>> import mercer
    >>> import numpy as np
    >>> from mercer.tuning import stretch
    >>> X = np.random.default_rng(0).normal(size=(200, 6))
    >>> y = np.sin(2 * X[:, 0]) + X[:, 3]                    # two of six columns
    >>> found = stretch("gaussian('median')", X, y)
    >>> found.stretches.round(1) < 10
    array([ True, False, False,  True, False, False])
    >>> mercer.prove(found.kernel).status
    'proven'

    References
    ----------
    Neal, Bayesian Learning for Neural Networks, Springer (1996), for automatic relevance determination. Patterson,
    Thompson, Recovery of inter-block information when block sizes are unequal, Biometrika 58 (1971), for the restricted
    likelihood. Rasmussen, Williams, Gaussian Processes for Machine Learning, MIT Press (2006), section 5.4.1.
    """
    _check_count("rows", rows, 2)
    _check_count("max_iter", max_iter, 1)
    source, weights = read(kernel, X, sample_weight)
    if not isinstance(source, Rows):
        got, remedy = "a matrix has no columns", "Give the rows and a kernel."
        raise InputError(message("rows that a kernel looks at", got, remedy))
    chosen = _drawn(np.flatnonzero(weights), rows, random_state)
    Y = targets_of(y, len(weights))[chosen]
    purpose, remedy = f"matrices of {len(chosen):,} x {len(chosen):,} numbers", "Ask for fewer rows."
    Budget.of(None).require(8 * MATRICES_PER_STEP * len(chosen) ** 2, purpose, remedy)
    some = replace(source, points=source.points.rows(chosen))
    evidence = Evidence(_scaled(Y, fit_intercept), weights[chosen], bool(fit_intercept))
    with one_thread_blas() if len(chosen) < MIN_THREADED_ROWS else nullcontext():
        return _Search.of(some, evidence).found(int(max_iter))


# -- what comes in ----------------------------------------------------------------------------------------------------


def _check_count(name: str, value: Any, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < least:
        raise InputError(message(f"an integer of at least {least} for {name}", f"got {value!r}", "Leave it out."))


def _drawn(counting: NDArray[np.intp], count: int, random_state: Any) -> NDArray[np.intp]:
    if len(counting) < 2:
        got = f"got {len(counting)} of a weight above 0"
        raise InputError(message("at least two rows", got, "Give more rows."))
    if len(counting) <= count:
        return counting
    return np.sort(generator(random_state).choice(counting, count, replace=False))


def _scaled(Y: Array, intercept: bool) -> Array:
    """The outputs that vary, each of mean square one."""
    peaks = np.abs(Y).max(axis=0)
    Y = Y[:, peaks > 0] / peaks[peaks > 0]  # squares of large numbers would overflow
    if intercept:
        Y = Y - Y.mean(axis=0)
    spreads = np.sqrt(np.square(Y).mean(axis=0))
    varies = spreads > 8 * np.finfo(np.float64).eps
    if not varies.any():
        got = "the rows that were looked at have one value"
        raise InputError(message("a y that varies", got, "There is nothing to choose lengths by."))
    return np.asarray(Y[:, varies] / spreads[varies])


# -- the search -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Search:
    """Downhill on -log p(y), over the logarithms of stretches and of alpha.

    source : the rows that are looked at, through the kernel that is there to begin with
    groups : its lengthscales
    size : the mean of k(x, x), the unit of alpha
    """

    source: Rows
    evidence: Evidence
    groups: tuple[Lengths, ...]
    size: float

    @classmethod
    def of(cls, source: Rows, evidence: Evidence) -> _Search:
        kernel = columned(source.kernel, source.points)
        groups = tuple(lengths_of(kernel, source.points))
        if not groups:
            got, remedy = f"{source.kernel} has none", "Use Gaussian() or Matern(), say."
            raise InputError(message("a kernel with lengthscales", got, remedy))
        size = float(kernel.evaluate_diagonal(source.points).mean())
        return cls(replace(source, kernel=kernel), evidence, groups, size if size > 0 else 1.0)

    @cached_property
    def lengths(self) -> Array:
        """Those to begin with."""
        return np.array([value for group in self.groups for value in group.values])

    def found(self, max_iter: int) -> Stretch:
        """The search from the lengths that are there."""
        K = self._matrix(np.zeros(len(self.lengths)))
        given = [self._known(K.copy(), self.size * alpha).value for alpha in ALPHAS]
        history = [min(given)]
        least = max(MIN_ALPHA, 100 * len(K) * ENTRY_ROUNDING)
        bounds = [(np.log(MIN_FACTOR), np.log(MAX_FACTOR))] * len(self.lengths) + [(np.log(least), np.log(MAX_ALPHA))]

        def note(intermediate_result: Any) -> None:
            history.append(float(intermediate_result.fun))

        start = np.append(np.zeros(len(self.lengths)), np.log(START_ALPHA))
        options = {"maxiter": max_iter, "ftol": CHANGE_TOLERANCE, "gtol": SLOPE_TOLERANCE}
        end = minimize(self._slopes, start, jac=True, method="L-BFGS-B", bounds=bounds, callback=note, options=options)
        if end.fun < history[0]:
            reason = REASONS.get(end.status, "Rounding hides which step leads up.").format(max_iter)
            return self._told(end.x, history, end.status == 0, reason)
        stay = np.append(np.zeros(len(self.lengths)), np.log(ALPHAS[int(np.argmin(given))]))
        return self._told(stay, history[:1], True, "No lengths were likelier than those that were given.")

    def _told(self, logs: Array, history: list[float], converged: bool, reason: str) -> Stretch:
        lengths = np.array([float(f"{length:.4g}") for length in np.exp(logs[:-1]) * self.lengths])
        return Stretch(
            kernel=replaced(self.source.kernel, lengths),
            alpha=float(self.size * np.exp(logs[-1])),
            names=tuple(name for group in self.groups for name in group.names),
            lengthscales=lengths,
            stretches=lengths / self.lengths,
            gain=history[0] - history[-1],
            history=np.array(history),
            converged=converged,
            reason=reason,
            n_iter=len(history) - 1,
            rows=self.source.points.shape[0],
        )

    def _matrix(self, logs: Array) -> Array:
        kernel, points = replaced(self.source.kernel, np.exp(logs) * self.lengths), self.source.points
        return Rows(kernel, points).matrix(np.arange(points.shape[0]))

    def _slopes(self, logs: Array) -> tuple[float, Array]:
        """The value, and its slopes by all logarithms."""
        K = self._matrix(logs[:-1])
        here = self._known(K.copy(), self.size * float(np.exp(logs[-1])))
        found, first = np.empty(len(logs)), 0
        for group in self.groups:
            these = slice(first, first := first + len(group.values))
            there = logs[:-1].copy()
            there[these] += DIFFERENCE_STEP
            change = (self._matrix(there) - K) / DIFFERENCE_STEP
            found[these] = group.shares(here.by_kernel * change, (np.exp(logs[:-1]) * self.lengths)[these])
        found[-1] = here.by_alpha
        return here.value, found

    def _known(self, K: Array, alpha: float) -> Slopes:
        known = self.evidence(K, alpha)
        if known is None:
            got = f"the matrix of {self.source.kernel} is not, by more than rounding"
            remedy = "mercer.prove says whether it is a kernel, and where."
            raise InputError(message("a positive semi-definite kernel", got, remedy))
        return known
