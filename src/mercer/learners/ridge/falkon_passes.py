"""Passes over all rows for Falkon: sums of products with the values of a kernel at landmarks, piece by piece.

With s the weights, K the values k(x_i, l_j), h their weighted means (0 without an intercept), and v = R^-1 p,

    Z'Z p = R^-T (K'c - h sum(c)),    c = s (K v - h.v),

so that the centring of features costs nothing, and a piece of K serves K v and K'c. What has been added up is offered
after each piece, and another run goes on from there to the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mercer.backends.base import Accumulator, RowValues
from mercer.backends.context import current
from mercer.backends.passes import Column, Operations, Pass
from mercer.compute.runtime.run import Run, State
from mercer.learners.ridge.whitening import Whitening
from mercer.learners.streaming.basis import LandmarkBasis
from mercer.learners.streaming.stream import Piece, Stream
from mercer.planner.batches import layout

Array = NDArray[np.float64]
Sums = dict[str, Any]
Begin = Callable[[Piece, Sums], dict[str, Array]]
"""begin(piece, sums): adds to sums what needs no values of the kernel; the columns of the rows that a pass gets."""
KEY = "iterations"
"""Of the stage, and of the state that is offered."""
FIRST, PRODUCT, GRADIENT = range(3)
"""What a pass adds up."""
MAX_BOUND_NUMBERS = 1 << 22
"""Numbers of the data up to which all pieces stay bound to the landmarks, which takes a copy of them (32 MiB)."""
HELD, SQUARES = 4, 2
"""What rows and the tables of them take on a card, in units of their numbers; and squares of the landmarks that are
made meanwhile."""
SUM, LANE = "sum ", "lane "
"""How the names of sums begin in a state: of all rows, and of the rows of a lane."""
SUMMARY = ("total", "level", "means", "near", "right", "squares", "scale")
"""What is known from the first pass on."""


@dataclass(frozen=True, eq=False)
class Summary:
    """What the first pass found.

    total : the sum of all weights
    level : (outputs,), the weighted means of y; 0 where there is no intercept
    means : (M,), h; likewise
    near : (M,), the weight of the rows that are nearest to each landmark
    right : (M, outputs), Z'b
    squares : (outputs,), b'b
    scale : (outputs,), the root of the mean square of y
    """

    total: Array
    level: Array
    means: Array
    near: Array
    right: Array
    squares: Array
    scale: Array


@dataclass(frozen=True, eq=False)
class Residuals:
    """What the rows say of weights w.

    gradient : (M, outputs), Z'(b - Z w) - alpha w
    rest : (outputs,), the weighted mean of what is left of y: rounding of the means
    products : (outputs,), b'(b - Z w)
    sizes : (outputs,), the root of the mean square of predictions
    rows : (n, outputs), D (b - Z w), where all rows are in memory; else None
    """

    gradient: Array
    rest: Array
    products: Array
    sizes: Array
    rows: Array | None


@dataclass(frozen=True, eq=False)
class First(Pass):
    """What all other passes need: K's, K'Dy, and the weight of the rows that are nearest to each landmark.

    corner : (M,), k(l, l) of each landmark
    """

    reads: ClassVar[tuple[str, ...]] = ("weights", "targets")
    by_products: ClassVar[bool] = True

    corner: Array
    outputs: int

    def sums(self, width: int) -> Mapping[str, tuple[int, ...]]:
        return {"raw": (width,), "near": (width,), "right": (width, self.outputs)}

    def add(self, values: Any, rows: Mapping[str, Any], sums: dict[str, Any], ops: Operations) -> None:
        s = rows["weights"]
        sums["raw"] += values.T @ s
        sums["right"] += values.T @ (s[:, None] * rows["targets"])
        near = ops.largest(values, self.corner / 2)  # |phi(x) - phi(l)|^2 = k(l, l) - 2 k(x, l) + what no l changes
        ops.add_at(sums["near"], near, s)


@dataclass(frozen=True, eq=False)
class Product(Pass):
    """K'c and the sum of c, for c = s (K v - shift).

    v : (M, outputs)
    shift : (outputs,)
    """

    reads: ClassVar[tuple[str, ...]] = ("weights",)
    by_products: ClassVar[bool] = True

    v: Array
    shift: Array

    def sums(self, width: int) -> Mapping[str, tuple[int, ...]]:
        return {"u": self.v.shape, "c": self.shift.shape}

    def add(self, values: Any, rows: Mapping[str, Any], sums: dict[str, Any], ops: Operations) -> None:
        c = rows["weights"][:, None] * (values @ self.v - self.shift)
        sums["u"] += values.T @ c
        sums["c"] += c.sum(axis=0)


@dataclass(frozen=True, eq=False)
class Rest(Pass):
    """e = s (y - level - (K v - shift)), K'e, and sums of e, of (y - level) e and of squares of predictions.

    v : (M, outputs)
    shift, level : (outputs,)
    """

    reads: ClassVar[tuple[str, ...]] = ("weights", "targets")
    by_products: ClassVar[bool] = True

    v: Array
    shift: Array
    level: Array

    def sums(self, width: int) -> Mapping[str, tuple[int, ...]]:
        shape = self.shift.shape
        return {"u": self.v.shape, "c": shape, "products": shape, "sizes": shape}

    def columns(self, width: int) -> Mapping[str, Column]:
        return {"left": Column(self.shift.shape)}

    def add(self, values: Any, rows: Mapping[str, Any], sums: dict[str, Any], ops: Operations) -> None:
        y, found = rows["targets"] - self.level, values @ self.v - self.shift
        e = rows["weights"][:, None] * (y - found)
        rows["left"][...] = e
        sums["u"] += values.T @ e
        sums["c"] += e.sum(axis=0)
        sums["products"] += (y * e).sum(axis=0)
        sums["sizes"] += ((found + self.level) ** 2).sum(axis=0)


class Sweeps:
    """The passes of one fit.

    rows : all rows, in pieces of a batch each
    whitening : R of the landmarks
    others : what else belongs to a state that is offered
    """

    def __init__(
        self, rows: Stream, basis: LandmarkBasis, whitening: Whitening, intercept: bool, batch: int, run: Run
    ) -> None:
        self.rows, self.basis, self.whitening, self.intercept, self.batch = rows, basis, whitening, intercept, batch
        self.run = run
        self.saved: dict[str, Any] = dict(run.saved(KEY) or {})
        self.others: Callable[[], State] = dict
        self.passes, self.expected, self.told = 0.0, 1.0, 0.0
        self._latest: Accumulator | None = None
        self._bound: dict[tuple[int, int], RowValues] = {}

    @property
    def resumed(self) -> bool:
        """Whether an earlier run was cut off after its first pass, and this one has not taken its place yet."""
        return bool(self.saved) and int(self.saved["kind"]) != FIRST

    # -- the three passes -----------------------------------------------------------------------------------------

    def first(self) -> Summary:
        """The means, Z'b, and which landmarks are near; or what an earlier run knows of them."""
        if self.resumed:
            return Summary(*(np.array(self.saved[name], order="C") for name in SUMMARY))
        own = {"total": np.zeros(()), **{name: np.zeros(self.rows.outputs) for name in ("level", "squares", "origin")}}
        return self._summary(self._sweep(FIRST, First(self.whitening.corner, self.rows.outputs), own, self._begun))

    def _begun(self, piece: Piece, sums: Sums) -> dict[str, Array]:
        """Sums of y less the mean of the first piece: where a mean is large against the spread, this saves digits."""
        s = piece.weights
        if piece.start == 0 and self.intercept:
            sums["origin"][...] = s @ piece.targets / s.sum()
        y = piece.targets - sums["origin"]
        sums["total"] += s.sum()
        sums["level"] += s @ y
        sums["squares"] += s @ y**2
        return {"weights": s, "targets": y}

    def _summary(self, sums: Sums) -> Summary:
        total, on = sums["total"], float(self.intercept)
        off, means = on * sums["level"] / total, on * sums["raw"] / total
        right = sums["right"] - on * sums["raw"][:, None] * off
        squares, level = sums["squares"] - on * total * off**2, sums["origin"] + off
        scale = np.sqrt(np.maximum(squares, 0.0) / total + level**2)
        found = self.whitening.to_features(right)
        return Summary(total, level, means, sums["near"], found, np.maximum(squares, 0.0), scale)

    def product(self, summary: Summary, p: Array) -> Array:
        """Z'Z p."""
        v = self.whitening.to_raw(p)
        work = Product(v, summary.means @ v)
        sums = self._sweep(PRODUCT, work, {}, lambda piece, _: {"weights": piece.weights})
        return self.whitening.to_features(sums["u"] - summary.means[:, None] * sums["c"])

    def residuals(self, summary: Summary, w: Array, alphas: Array) -> Residuals:
        """What is left of y at each row, and the gradient, with the digits that Z'b - Z'Z w would lose."""
        v, stream = self.whitening.to_raw(w), self.rows
        left = np.zeros((stream.count if stream.stored else 0, w.shape[1]))

        def begin(piece: Piece, own: Sums) -> dict[str, Array]:
            rows = {"weights": piece.weights, "targets": piece.targets}
            return rows | ({"left": own["rows"][piece.start : piece.stop]} if stream.stored else {})

        sums = self._sweep(GRADIENT, Rest(v, summary.means @ v, summary.level), {"rows": left}, begin)
        gradient = self.whitening.to_features(sums["u"] - summary.means[:, None] * sums["c"]) - alphas * w
        rest = sums["c"] / summary.total * self.intercept
        sizes = np.sqrt(sums["sizes"] / stream.count)
        return Residuals(gradient, rest, sums["products"], sizes, self._balanced(sums["rows"], rest))

    def _balanced(self, rows: Array, rest: Array) -> Array | None:
        """D (b - Z w) of all rows without their mean, which is rounding; None where they are not in memory."""
        stream = self.rows
        if not stream.stored:
            return None
        for piece in stream.pieces(self.batch):
            rows[piece.start : piece.stop] -= piece.weights[:, None] * rest
        return rows

    # -- piece by piece -------------------------------------------------------------------------------------------

    def _sweep(self, kind: int, work: Pass, own: Sums, begin: Begin) -> Sums:
        """Add up over all rows, from where an earlier run was cut off.

        own : sums that need no values of the kernel, and what is left of all rows
        """
        start, done, stream, state = 0, self.passes, self.rows, None
        if self.saved and int(self.saved["kind"]) == kind:
            start = int(self.saved["position"])
            own = {name: np.array(self.saved[SUM + name], order="C") for name in own}
            state = {name.removeprefix(LANE): self.saved[name] for name in self.saved if name.startswith(LANE)}
            self.saved = {}
        width = self.basis.width
        sums = self._latest = current().accumulate(work, width, layout(), state, after=self._latest)
        for piece in stream.pieces(self.batch, start):
            sums.add(self._values(piece), begin(piece, own), self.run.watch)
            self._offer(kind, piece.stop, own, sums)
            self.passes = done + piece.stop / stream.count
            self.told = max(self.told, min(1.0, self.passes / self.expected))  # more may be expected than before
            self.run.tell(self.told)
        self.passes = done + 1.0
        return own | sums.joined()

    def _values(self, piece: Piece) -> RowValues:
        """The values at landmarks; what was measured of rows in memory serves all passes, where these may stay."""
        if not self._stay:
            return self.basis.at_backend(piece.points)
        found = self._bound.get((piece.start, piece.stop))
        if found is None:
            found = self._bound[piece.start, piece.stop] = self.basis.at_backend(piece.points)
        return found

    @cached_property
    def _stay(self) -> bool:
        """Whether pieces stay bound: few rows, or those for which a card has room, beside R and its preconditioner."""
        numbers = self.rows.count * self.rows.columns
        if not self.rows.stored or numbers <= MAX_BOUND_NUMBERS or not current().holds_tables:
            return self.rows.stored and numbers <= MAX_BOUND_NUMBERS
        return current().budget().allows(8 * (HELD * numbers + SQUARES * self.basis.width**2))

    def _offer(self, kind: int, position: int, own: Sums, sums: Accumulator) -> None:
        def state() -> State:
            added = {SUM + name: value for name, value in own.items()}
            added |= {LANE + name: value for name, value in sums.state().items()}
            return {"kind": np.array(kind), "position": np.array(position), **self.others(), **added}

        self.run.offer(KEY, state)
