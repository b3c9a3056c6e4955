"""Conjugate gradients for many right sides in lockstep, from fast products to a residual that is true."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from mercer.compute.runtime.run import State
from mercer.errors import InputError, message

Array = NDArray[np.float64]
Product = Callable[[Array], Array]
EPS = float(np.finfo(np.float64).eps)
ARRAYS = ("x", "residual", "direction", "best", "slopes", "sizes", "energies", "tops", "lows", "marks", "counts")
"""What a state consists of."""


class Mark(IntEnum):
    """Where a column is: on its way, at its goal as the recursion says, without a way on, solved, or given up."""

    MOVING = 0
    ARRIVED = 1
    STUCK = 2
    SOLVED = 3
    GIVEN_UP = 4


@dataclass(frozen=True, eq=False)
class Columns:
    """What is to be solved: (A + alpha_t I) x_t = b_t, each to a residual of at most goal_t.

    fast : products with A that may be off by more than rounding
    exact : those that count
    precondition : M^-1 r for columns r, and their alphas
    """

    targets: Array
    alphas: Array
    goals: Array
    fast: Product
    exact: Product
    precondition: Callable[[Array, Array], Array]


class Lockstep:
    """A step is one product for all columns that are not yet at their goal; each has its own step lengths.

    The recursion of conjugate gradients updates residuals, and these drift from the true ones, with fast products most
    of all. So columns that have arrived, or are stuck, wait for the others; then the true residuals are computed for
    all of them, and those above their goal start again from there. Where a start did not halve the true residual, exact
    products take the place of the fast ones, and where these did not either, the column is given up.

    x, residual, direction, best : (n, outputs); best is the best of the places whose true residual was computed
    slopes : r'M^-1 r of each column
    sizes : the true residual of the best
    energies : x'(A + alpha I) x / 2 - b'x of the best, which the method makes small: its residuals may rise on the way
    tops, lows : the largest and the smallest p'(A + alpha I) p / p'p so far
    counts : steps, starts, and whether products are exact by now
    """

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        self.x, self.best = np.zeros_like(columns.targets), np.zeros_like(columns.targets)
        self.residual = columns.targets.copy()
        self.direction = np.zeros_like(columns.targets)
        self.slopes, self.tops = np.zeros(len(columns.alphas)), np.zeros(len(columns.alphas))
        self.lows = np.full(len(columns.alphas), np.inf)
        self.sizes = np.linalg.norm(columns.targets, axis=0)
        self.energies = np.zeros(len(columns.alphas))
        self.marks = np.where(self.sizes <= columns.goals, Mark.SOLVED, Mark.MOVING)
        self.counts = np.zeros(3, dtype=np.int64)
        self._start(np.flatnonzero(self.marks == Mark.MOVING))

    @property
    def steps(self) -> int:
        """How many steps were taken."""
        return int(self.counts[0])

    @property
    def over(self) -> bool:
        """Whether nothing is left to do."""
        return bool((self.marks >= Mark.SOLVED).all())

    @property
    def singular(self) -> bool:
        """Whether there was a direction in which A + alpha I cannot be told from zero, or is below it."""
        return bool((self.lows <= EPS * self.tops).any())

    @property
    def moving(self) -> NDArray[np.intp]:
        """The columns on their way."""
        return np.flatnonzero(self.marks == Mark.MOVING)

    def state(self) -> State:
        """Copies of everything that changes."""
        return {name: getattr(self, name).copy() for name in ARRAYS}

    def restore(self, state: State) -> None:
        """Go back to a state."""
        for name in ARRAYS:
            setattr(self, name, np.array(state[name], dtype=getattr(self, name).dtype, order="C"))

    def step(self) -> None:
        """One step of all columns on their way; where there are none, one look at the true residuals."""
        if self.moving.size:
            self._advance(self.moving)
        else:
            self.look()

    def _advance(self, c: NDArray[np.intp]) -> None:
        p = _columns(self.direction, c)
        q = self._product(p) + self.columns.alphas[c] * p
        curved, long = np.einsum("ij,ij->j", p, q), np.einsum("ij,ij->j", p, p)
        quotients = np.divide(curved, long, out=np.zeros_like(long), where=long > 0)
        self.tops[c], self.lows[c] = np.maximum(self.tops[c], quotients), np.minimum(self.lows[c], quotients)
        stuck = ~(quotients > EPS * self.tops[c])
        self.marks[c[stuck]] = Mark.STUCK
        self.counts[0] += 1
        on = np.flatnonzero(~stuck)
        self._move(c[on], _columns(p, on), _columns(q, on), self.slopes[c[on]] / curved[on])

    def _move(self, c: NDArray[np.intp], p: Array, q: Array, lengths: Array) -> None:
        place = slice(None) if c.size == self.x.shape[1] else c
        self.x[:, place] += lengths * p
        self.residual[:, place] -= lengths * q
        arrived = np.linalg.norm(self.residual[:, place], axis=0) <= self.columns.goals[c]
        self.marks[c[arrived]] = Mark.ARRIVED
        on = np.flatnonzero(~arrived)
        self._turn(c[on], _columns(p, on))

    def _turn(self, c: NDArray[np.intp], p: Array) -> None:
        """The next directions: M^-1 r, made conjugate to the ones before."""
        if c.size == 0:
            return
        r = _columns(self.residual, c)
        z = self.columns.precondition(r, self.columns.alphas[c])
        slopes = np.einsum("ij,ij->j", r, z)
        before = self.slopes[c]
        share = np.divide(slopes, before, out=np.zeros_like(slopes), where=before > 0)
        self.direction[:, c] = z + share * p
        self.slopes[c] = slopes
        self.marks[c[~(slopes > 0)]] = Mark.STUCK

    def _start(self, c: NDArray[np.intp]) -> None:
        """Forget the directions so far."""
        self.marks[c] = Mark.MOVING
        self.slopes[c] = 0.0
        self._turn(c, np.zeros((len(self.x), c.size)))

    def _product(self, p: Array) -> Array:
        product = np.asarray((self.columns.exact if self.counts[2] else self.columns.fast)(p), dtype=np.float64)
        if not np.isfinite(product).all():
            got = "a product with it holds infinities or NaN"
            raise InputError(
                message("a matrix of finite numbers", got, "Check the data and the kernel.", subject="A system")
            )
        return product

    def look(self) -> None:
        """The true residuals of all columns that are not over: those above their goal start again, or are given up."""
        c = np.flatnonzero(self.marks < Mark.SOLVED)
        found = left = self._true(c, self.x[:, c])
        worse, halved = ~self._better(c, found), np.linalg.norm(found, axis=0) <= self.sizes[c] / 2
        if worse.any():  # before anything is changed
            left = found.copy()
            left[:, worse] = self._true(c[worse], self.best[:, c[worse]])
        self._keep(c, found)
        self.residual[:, c] = left
        self._judge(c, halved)

    def finish(self) -> None:
        """The true residuals of all columns that are not over, once more, and no start."""
        c = np.flatnonzero(self.marks < Mark.SOLVED)
        self._keep(c, self._true(c, self.x[:, c]))

    def _keep(self, c: NDArray[np.intp], left: Array) -> None:
        """Go to the best place of each column so far, from the true residuals of where it is."""
        better = self._better(c, left)
        new, old = c[better], c[~better]
        self.best[:, new], self.x[:, old] = self.x[:, new], self.best[:, old]
        self.sizes[new], self.energies[new] = np.linalg.norm(left[:, better], axis=0), self._energies(c, left)[better]
        self.marks[c[self.sizes[c] <= self.columns.goals[c]]] = Mark.SOLVED

    def _better(self, c: NDArray[np.intp], left: Array) -> NDArray[np.bool_]:
        """Whether a place is better than the best: without a ridge, energies may fall for ever."""
        lower = (self._energies(c, left) < self.energies[c]) & (self.columns.alphas[c] > 0)
        return np.asarray(lower | (np.linalg.norm(left, axis=0) < self.sizes[c]))

    def _energies(self, c: NDArray[np.intp], left: Array) -> Array:
        return np.asarray(-np.einsum("ij,ij->j", self.x[:, c], self.columns.targets[:, c] + left) / 2)

    def _judge(self, c: NDArray[np.intp], halved: NDArray[np.bool_]) -> None:
        """Start again where that helped; or with exact products; or give up."""
        self.counts[1] += 1
        in_vain = c[(self.marks[c] < Mark.SOLVED) & ~halved]
        if self.counts[2] or self.columns.fast is self.columns.exact:
            self.marks[in_vain] = Mark.GIVEN_UP
        elif in_vain.size:
            self.counts[2] = 1
        self._start(c[self.marks[c] < Mark.SOLVED])

    def _true(self, c: NDArray[np.intp], x: Array) -> Array:
        """b - (A + alpha I) x, by exact products."""
        if c.size == 0:
            return np.zeros_like(x)
        products = np.asarray(self.columns.exact(x), dtype=np.float64)
        return np.asarray(self.columns.targets[:, c] - products - self.columns.alphas[c] * x)


def _columns(V: Array, c: NDArray[np.intp]) -> Array:
    """Some columns, in their order; where they are all, V itself, which is not copied."""
    return V if c.size == V.shape[1] else V[:, c]
