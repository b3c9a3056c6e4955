"""Passes over all rows for Falkon: sums of products with the values of a kernel at landmarks, piece by piece.

With s the weights, K the values k(x_i, l_j), h their weighted means (0 without an intercept), and v = R^-1 p,

    Z'Z p = R^-T (K'c - h sum(c)),    c = s (K v - h.v),

so that the centring of features costs nothing, and a piece of K serves K v and K'c. What has been added up is offered
after each piece, and another run goes on from there to the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.compute.runtime import threads
from mercer.compute.runtime.run import Run, State
from mercer.kernels.evaluation.strips import workspace
from mercer.learners.streaming.basis import LandmarkBasis
from mercer.learners.streaming.stream import Piece, Stream

Array = NDArray[np.float64]
Sums = dict[str, Any]
Add = Callable[[slice, Array, Sums], None]
"""add(rows, K, sums): what a worker does with some rows of a piece and their values at landmarks."""
KEY = "iterations"
"""Of the stage, and of the state that is offered."""
FIRST, PRODUCT, GRADIENT = range(3)
"""What a pass adds up."""
WHOLE = ("total", "level", "squares", "origin", "rows")
"""Sums that need no values of the kernel, or that no two workers touch at one place."""
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


class Sweeps:
    """The passes of one fit.

    rows : all rows, in pieces of a batch each
    corner : k(l, l) of each landmark
    others : what else belongs to a state that is offered
    """

    def __init__(
        self, rows: Stream, basis: LandmarkBasis, intercept: bool, batch: int, run: Run, corner: Array
    ) -> None:
        self.rows, self.basis, self.intercept, self.batch = rows, basis, intercept, batch
        self.run, self.corner = run, corner
        self.saved: dict[str, Any] = dict(run.saved(KEY) or {})
        self.others: Callable[[], State] = dict
        self.passes, self.expected, self.told = 0.0, 1.0, 0.0
        self.memory = workspace(basis.width, threads.available())

    @property
    def resumed(self) -> bool:
        """Whether an earlier run was cut off after its first pass, and this one has not taken its place yet."""
        return bool(self.saved) and int(self.saved["kind"]) != FIRST

    # -- the three passes -----------------------------------------------------------------------------------------

    def first(self) -> Summary:
        """The means, Z'b, and which landmarks are near; or what an earlier run knows of them."""
        if self.resumed:
            return Summary(*(np.array(self.saved[name], order="C") for name in SUMMARY))
        M, outputs = self.basis.width, self.rows.outputs
        names = ("level", "squares", "origin")
        zeros: Sums = {"total": np.zeros(()), **{name: np.zeros(outputs) for name in names}}
        zeros |= {"raw": np.zeros(M), "near": np.zeros(M), "right": np.zeros((M, outputs))}
        return self._summary(self._sweep(FIRST, zeros, self._add_first))

    def _add_first(self, piece: Piece, sums: Sums) -> Add:
        """Sums of y less the mean of the first piece: where a mean is large against the spread, this saves digits."""
        s = piece.weights
        if piece.start == 0 and self.intercept:
            sums["origin"][...] = s @ piece.targets / s.sum()
        y = piece.targets - sums["origin"]
        sums["total"] += s.sum()
        sums["level"] += s @ y
        sums["squares"] += s @ y**2

        def add(rows: slice, K: Array, own: Sums) -> None:
            own["raw"] += s[rows] @ K
            own["right"] += K.T @ (s[rows, None] * y[rows])
            K -= self.corner / 2  # |phi(x) - phi(l)|^2 = k(l, l) - 2 k(x, l) + what l does not change
            own["near"] += np.bincount(K.argmax(axis=1), s[rows], K.shape[1])

        return add

    def _summary(self, sums: Sums) -> Summary:
        total, on = sums["total"], float(self.intercept)
        off, means = on * sums["level"] / total, on * sums["raw"] / total
        right = sums["right"] - on * sums["raw"][:, None] * off
        squares, level = sums["squares"] - on * total * off**2, sums["origin"] + off
        scale = np.sqrt(np.maximum(squares, 0.0) / total + level**2)
        return Summary(total, level, means, sums["near"], self._to_features(right), np.maximum(squares, 0.0), scale)

    def product(self, summary: Summary, p: Array) -> Array:
        """Z'Z p."""
        v = self.basis.to_raw(p)
        shift = summary.means @ v

        def begin(piece: Piece, sums: Sums) -> Add:
            def add(rows: slice, K: Array, own: Sums) -> None:
                c = piece.weights[rows, None] * (K @ v - shift)
                own["u"] += K.T @ c
                own["c"] += c.sum(axis=0)

            return add

        sums = self._sweep(PRODUCT, {"u": np.zeros(p.shape), "c": np.zeros(p.shape[1])}, begin)
        return self._to_features(sums["u"] - summary.means[:, None] * sums["c"])

    def residuals(self, summary: Summary, w: Array, alphas: Array) -> Residuals:
        """What is left of y at each row, and the gradient, with the digits that Z'b - Z'Z w would lose."""
        v, stream, level = self.basis.to_raw(w), self.rows, summary.level
        shift = summary.means @ v

        def begin(piece: Piece, sums: Sums) -> Add:
            def add(rows: slice, K: Array, own: Sums) -> None:
                s, y, found = piece.weights[rows, None], piece.targets[rows] - level, K @ v - shift
                e = s * (y - found)
                own["u"] += K.T @ e
                own["c"] += e.sum(axis=0)
                own["products"] += (y * e).sum(axis=0)
                own["sizes"] += np.square(found + level).sum(axis=0)
                if stream.stored:
                    sums["rows"][piece.start + rows.start : piece.start + rows.stop] = e

            return add

        zeros = {name: np.zeros(w.shape[1]) for name in ("c", "products", "sizes")}
        zeros |= {"u": np.zeros(w.shape), "rows": np.zeros((stream.count if stream.stored else 0, w.shape[1]))}
        sums = self._sweep(GRADIENT, zeros, begin)
        gradient = self._to_features(sums["u"] - summary.means[:, None] * sums["c"]) - alphas * w
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

    def _to_features(self, sums: Array) -> Array:
        """R^-T times the columns."""
        return np.ascontiguousarray(self.basis.to_features(np.ascontiguousarray(sums.T)).T)

    # -- piece by piece -------------------------------------------------------------------------------------------

    def _sweep(self, kind: int, sums: Sums, begin: Callable[[Piece, Sums], Add]) -> Sums:
        """Add up over all rows, from where an earlier run was cut off."""
        start, done, stream = 0, self.passes, self.rows
        if self.saved and int(self.saved["kind"]) == kind:
            start = int(self.saved["position"])
            sums = {name: np.array(self.saved[f"sum {name}"], order="C") for name in sums}
            self.saved = {}
        for piece in stream.pieces(self.batch, start):
            self._add(piece, sums, begin)
            self._offer(kind, piece.stop, sums)
            self.passes = done + piece.stop / stream.count
            self.told = max(self.told, min(1.0, self.passes / self.expected))  # more may be expected than before
            self.run.tell(self.told)
        self.passes = done + 1.0
        return sums

    def _add(self, piece: Piece, sums: Sums, begin: Callable[[Piece, Sums], Add]) -> None:
        """The rows of a piece, by all workers: each has sums of its own, which are added up in their order."""
        add, names = begin(piece, sums), [name for name in sums if name not in WHOLE]
        own = [{name: np.zeros_like(sums[name]) for name in names} for _ in self.memory]

        def strip(worker: int, rows: slice, K: Array) -> None:
            add(rows, K, own[worker])

        self.basis.over_strips(piece.points, strip, self.memory, self.run.watch)
        for name in names:
            for each in own:
                sums[name] += each[name]

    def _offer(self, kind: int, position: int, sums: Sums) -> None:
        def state() -> State:
            added = {f"sum {name}": value for name, value in sums.items()}
            return {"kind": np.array(kind), "position": np.array(position), **self.others(), **added}

        self.run.offer(KEY, state)
