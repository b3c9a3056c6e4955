"""Gradient descent: steps downhill from zero, in dual coefficients or in the weights of features."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from mercer.compute.runtime.memory import Budget
from mercer.compute.runtime.run import Stopped
from mercer.errors import InputError, explained, message, number_of, speaks
from mercer.operators import Operator
from mercer.operators.base import read
from mercer.solvers.eigenvalues.lanczos import MAX_STEPS, Edges, edges
from mercer.solvers.ridge.base import Cost, Solver, System, opening
from mercer.solvers.ridge.checks import relative_residual, sides
from mercer.solvers.ridge.outcome import History, Outcome
from mercer.solvers.ridge.settings import finite, whole

Array = NDArray[np.float64]
DIVERGENCE_FACTOR = 2.0
"""How many times larger than at the start a residual must be to have grown by more than rounding."""


@explained
@dataclass(frozen=True, kw_only=True)
class GradientDescent(Solver):
    """Gradient descent on the sum of squares: x <- x - step * 2 (A x + alpha x - b), from x = 0.

    In the dual, A = Phi Phi' and b = y, this is the descent `w <- w - step * gradient` on the loss `|y - Phi w|^2 +
    alpha |w|^2` for the weights w = Phi' x = sum_i x_i phi_i, written entirely in the x_i: `x_i <- x_i - step * 2
    (w.phi_i - y_i + alpha x_i)`. In the primal, A = Phi' Phi and b = Phi' y, it is the same descent of w itself, and
    passes through the same w. Losses and steps have no half: for `|y - Phi w|^2 / 2` the same step is twice as large.

    Residuals and losses never grow while a step is at most 1 / (largest eigenvalue of A + alpha). Half of that, "auto",
    lets no direction overshoot: stopped early, it shrinks each of them, as a ridge does. With different alphas each
    output has its own step, and the history has the smallest. The largest eigenvalue is from `lanczos.edges`, and the
    condition number in the outcome is a bound by it, (largest eigenvalue + alpha) / alpha; NaN for alpha = 0.

    Cost: a product with A per step, for all outputs together, and at most 20 before the first; 5 n numbers per output,
    and n more per step where they are kept.

    Parameters
    ----------
    step : float or "auto", default="auto"
        Above 0; "auto" for 1 / (2 (largest eigenvalue of A + alpha)).
    max_iter : int, default=1000
        The most steps, at least 0.
    tol : float, default=1e-08
        The relative residual `|b - (A + alpha) x| / |b|` at which to stop, at least 0.
    keep : bool, default=True
        Whether the history holds the coefficients of every step; it is refused if memory does not suffice.
    validation : float, default=0.0
        The share of rows that a learner holds out, from 0 to below 1. If positive, the coefficients are those of the
        step with the least loss on these rows, summed over the outputs.
    patience : int, default=10
        The steps without a new least loss on held-out rows after which to stop, at least 1.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.solvers import GradientDescent, System
    >>> A, b = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([[3.0], [0.0]])
    >>> outcome = GradientDescent().solve(System(A, b, np.array([1.0])))
    >>> outcome.value.round(3).tolist(), outcome.converged, round(outcome.history.step, 3)
    ([[1.125], [-0.375]], True, 0.125)
    >>> outcome.history.coefficients[:3, :, 0].tolist()
    [[0.0, 0.0], [0.75, 0.0], [0.9375, -0.1875]]

    References
    ----------
    Yao, Rosasco and Caponnetto (2007), On early stopping in gradient descent learning.
    """

    step: float | Literal["auto"] = "auto"
    max_iter: int = 1000
    tol: float = 1e-8
    keep: bool = True
    validation: float = 0.0
    patience: int = 10

    needs: ClassVar[Literal["matrix", "products"]] = "products"

    def __post_init__(self) -> None:
        if not (self.step == "auto" if isinstance(self.step, str) else finite(self.step) and self.step > 0):
            _refuse("a positive step, or 'auto'", f"step={self.step!r}", "Use 'auto' if in doubt.")
        if not (whole(self.max_iter) and self.max_iter >= 0):
            _refuse("an integer of at least 0 for max_iter", f"max_iter={self.max_iter!r}", "Use 1000, say.")
        if not (finite(self.tol) and self.tol >= 0):
            _refuse("a tol of at least 0", f"tol={self.tol!r}", "Use 1e-8, say.")
        if not isinstance(self.keep, bool | np.bool_):
            _refuse("True or False for keep", f"keep={self.keep!r}", "Use False to save memory.")
        if not (finite(self.validation) and 0 <= self.validation < 1):
            got = f"validation={self.validation!r}"
            _refuse("a share of rows for validation, from 0 to below 1", got, "Use 0 to hold out none, or 0.1, say.")
        if not (whole(self.patience) and self.patience >= 1):
            _refuse("a patience of one step or more", f"patience={self.patience!r}", "Use 10, say.")

    @speaks
    def solve(self, system: System) -> Outcome:
        A = system.matrix if isinstance(system.matrix, Operator) else read(system.matrix)
        system = replace(sides(A.shape, system), matrix=A)
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is noticed, and told
            _check(system.targets)
            ends = edges(system.matrix)
            sizes = self._sizes(ends, system.alphas)
            diary = _Diary(self, system)
            try:
                self._walk(diary, _descent(system, sizes, len(system.targets) * (ends.top + system.alphas)))
            except Stopped as stopped:
                diary.told = opening(stopped)
            return _outcome(system, ends, sizes, diary)

    def _walk(self, diary: _Diary, places: Iterator[_Place]) -> None:
        run, place = diary.system.run, next(places, None)
        with run.stoppable():
            while place is not None:
                diary.write(place)
                if diary.stop is not None:
                    return
                run.tell(diary.taken / self.max_iter)
                place = next(places, None)

    def _sizes(self, ends: Edges, alphas: Array) -> Array:
        """The step of each output; 1/2 where A + alpha is zero, and no step leads anywhere."""
        if self.step != "auto":
            return np.full(len(alphas), float(self.step))
        tops = ends.top + alphas
        return np.asarray(np.divide(0.5, tops, out=np.full(len(alphas), 0.5), where=tops > 0))

    def cost(self, n: int, outputs: int) -> Cost:
        places = 5 + (self.max_iter + 1 if self.keep else 0)
        operations = 2.0 * n**2 * ((self.max_iter + 1) * outputs + MAX_STEPS)
        return Cost(operations, float(n) ** 2 + n * (float(places) * outputs + MAX_STEPS))


class _Place(NamedTuple):
    """Where the descent is: the coefficients x, the products A x, and the residuals b - (A + alpha) x."""

    x: Array
    products: Array
    residuals: Array


def _descent(system: System, sizes: Array, reach: Array) -> Iterator[_Place]:
    """Every place from zero on; it ends only where a product, `reach` times larger than x at most, may overflow."""
    x = np.zeros(system.targets.shape)
    while np.isfinite(np.abs(x).max(axis=0) * reach).all():
        products = system.matrix @ x
        residuals = system.targets - products - system.alphas * x
        yield _Place(x, products, residuals)
        x = x + 2 * sizes * residuals


class _Diary:
    """What a descent passed through, its best place, why it is to stop (None while it is not), and what stopped it."""

    def __init__(self, solver: GradientDescent, system: System) -> None:
        n, outputs = system.targets.shape
        self.solver, self.system = solver, system
        self.lengths = np.linalg.norm(system.targets, axis=0)
        self.taken, self.best_step = -1, 0
        self.best, self.scores = np.zeros((n, outputs)), np.full(outputs, np.inf)
        self.losses: list[Array] = []
        self.validation: list[Array] = []
        self.coefficients = _room(solver.max_iter + 1 if solver.keep else 0, n, outputs)
        self.residuals = system.targets
        self.stop: Literal["residual", "validation", "steps", "growth"] | None = None
        self.told = ""

    def write(self, place: _Place) -> None:
        """Take down a place, and decide."""
        self.residuals = place.residuals
        self.taken += 1
        self.losses.append(_loss(self.system, place))
        if self.solver.keep:
            self.coefficients[self.taken] = place.x
        ratios = self.ratios()
        self._compare(place.x, self._judge(place.x, ratios))
        self.stop = self._decide(float(ratios.max(initial=0.0)))

    def ratios(self) -> Array:
        """The relative residual of each output, where the descent is now."""
        lengths = np.linalg.norm(self.residuals, axis=0)
        return np.asarray(np.divide(lengths, self.lengths, out=np.zeros_like(lengths), where=self.lengths > 0))

    def _judge(self, x: Array, ratios: Array) -> Array:
        """What is to be least, for each output: the held-out loss of all together, or its own residual."""
        if self.system.validation is None:
            return ratios
        self.validation.append(np.array(self.system.validation(x), dtype=np.float64))
        return np.full(len(ratios), self.validation[-1].sum())

    def _compare(self, x: Array, scores: Array) -> None:
        better = scores < self.scores
        self.best[:, better] = x[:, better]
        self.scores[better] = scores[better]
        if better.any():
            self.best_step = self.taken

    def _decide(self, ratio: float) -> Literal["residual", "validation", "steps", "growth"] | None:
        if not ratio <= DIVERGENCE_FACTOR:
            return "growth"
        if ratio <= self.solver.tol:
            return "residual"
        if self.validation and self.taken - self.best_step >= self.solver.patience:
            return "validation"
        return "steps" if self.taken == self.solver.max_iter else None

    def history(self, sizes: Array) -> History:
        """The record for the outcome."""
        n, outputs = self.best.shape
        if self.solver.keep:  # give back what was not used
            self.coefficients.resize((self.taken + 1, n, outputs), refcheck=False)
        validation = np.reshape(self.validation, (len(self.validation), outputs))
        losses = np.reshape(self.losses, (len(self.losses), outputs))
        return History(losses, self.coefficients, float(sizes.min()), validation)


def _room(places: int, n: int, outputs: int) -> Array:
    """Memory for the coefficients of every step, if there is so much."""
    remedy = "Use keep=False, or a smaller max_iter."
    Budget.of(None).require(8 * places * n * outputs, "the coefficients of every step", remedy)
    return np.empty((places, n, outputs))


def _loss(system: System, place: _Place) -> Array:
    """The loss of each output: the system's own, or the quadratic form that is minimised."""
    if system.loss is not None:
        return np.array(system.loss(place.x, place.products), dtype=np.float64)
    inside = place.products + system.alphas * place.x - 2 * system.targets
    return np.asarray(np.einsum("ij,ij->j", place.x, inside))


def _outcome(system: System, ends: Edges, sizes: Array, diary: _Diary) -> Outcome:
    """The best place, with its residual from a fresh product in float64."""
    fresh = system.matrix @ diary.best if system.product is None else system.product(diary.best)
    residual = relative_residual(system, np.asarray(fresh, dtype=np.float64), diary.best)
    least = float(system.alphas.min())
    condition = (ends.top + least) / least if least > 0 else math.nan
    converged, reason = _verdict(system, ends, sizes, diary, residual)
    return Outcome(diary.best, converged, reason, diary.taken, residual, condition, history=diary.history(sizes))


def _verdict(system: System, ends: Edges, sizes: Array, diary: _Diary, residual: float) -> tuple[bool, str]:
    """Whether the descent did what was asked, and why it stopped."""
    if diary.told and diary.stop is None:
        return False, f"{diary.told}: after {number_of(diary.taken, 'step')} the residual is {residual:.1e}."
    too_large = bool((sizes * (ends.high + system.alphas) > 1).any())
    if diary.stop in ("growth", None) or (diary.stop == "steps" and too_large):
        return False, _growth(system, ends, sizes, diary)
    best, tol = f"the held-out loss was least at step {diary.best_step}", diary.solver.tol
    taken, patience = (number_of(count, "step") for count in (diary.taken, diary.solver.patience))
    if diary.stop == "validation":
        return True, f"Early stopping: {best}, and not lower in the {patience} after it."
    if diary.stop == "residual" and (diary.validation or residual <= tol):
        aside = f"; {best}" if diary.validation else ""
        return True, f"The residual fell to the tolerance of {tol:.1e} at step {diary.taken}{aside}."
    if diary.validation:
        return False, f"After {taken} {best}, and may fall further: use a larger max_iter."
    rates = 2 * np.minimum(sizes * system.alphas, 1 - sizes * (ends.top + system.alphas))
    return False, (
        f"After {taken} the residual is {residual:.1e}, above the tolerance of {tol:.1e}: use a "
        f"larger max_iter{_enough(tol, rates)}, tol or alpha, or Cholesky()."
    )


def _enough(tol: float, rates: Array) -> str:
    """How many steps surely suffice, if each takes at least this share away from the residual in every direction."""
    slowest = float(rates.min())
    if not (0 < slowest < 1 and 0 < tol < 1):
        return ""
    return f" ({math.ceil(math.log(tol) / math.log1p(-slowest))} suffices)"


def _growth(system: System, ends: Edges, sizes: Array, diary: _Diary) -> str:
    """Why residuals grew: they point to where they grow, and what A makes of them tells the eigenvalue."""
    worst = int(diary.ratios().argmax())
    r = diary.residuals[:, worst] / np.abs(diary.residuals[:, worst]).max()
    along = float(r @ (system.matrix @ r) / (r @ r))
    alpha = float(system.alphas[worst])
    if along + alpha < 0:
        return (
            f"The residuals grew, since A + alpha I is not positive definite: A has an eigenvalue of {along:.3g} or "
            f"below, and alpha is {alpha:.3g}."
        )
    safe = 1 / (max(ends.top, along) + alpha)
    return (
        f"A step of {sizes[worst]:.3g} is too large, and does not converge: the largest that is safe is {safe:.3g}, "
        "1 / (largest eigenvalue of A + alpha)."
    )


def _check(targets: Array) -> None:
    """Refuse what has no length: relative to it all residuals are."""
    squares = np.square(targets).sum(axis=0)
    if not (np.isfinite(squares) & ((squares > 0) | ~targets.any(axis=0))).all():
        got = "too large or too small ones"
        _refuse("targets whose squares are numbers of float64", got, "Scale the targets.")


def _refuse(needs: str, got: str, remedy: str) -> NoReturn:
    raise InputError(message(needs, f"got {got}", remedy, subject="GradientDescent"))
