"""One more pass over the rows with a model: what it leaves over, and the gradient, from the rows themselves.

Sums lose digits where raw functions are nearly dependent; Z'D(y - f) from the rows does not, and shows how many.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mercer.backends.context import current
from mercer.backends.passes import Column, Operations, Pass
from mercer.compute.runtime.run import Run, telling
from mercer.learners.data.views import mixed
from mercer.learners.ridge.sampled_loo import centred
from mercer.learners.streaming.basis import Basis
from mercer.learners.streaming.moments import Normal, applied
from mercer.learners.streaming.stream import Piece, Stream
from mercer.planner.batches import layout
from mercer.planner.ridge.streaming import TRIED

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Trial:
    """Rows on which predictions are tried, and what they say of raw functions.

    rows : (r, p), the centred features of some rows
    new : (m, p), of new ones like them
    shift : (p,), the mean of raw functions, about; zero where there is no intercept
    sizes : (p,), the lengths of columns of raw functions less that, over all rows, about
    longest : (p,), the lengths of columns of raw functions, over all rows, about
    """

    rows: Array
    new: Array
    shift: Array
    sizes: Array
    longest: Array

    @classmethod
    def of(cls, normal: Normal, basis: Basis, sample: Piece) -> Trial:
        """From some rows of a sample, and lines through pairs of them."""
        chosen = np.unique(np.linspace(0, len(sample.weights) - 1, TRIED).astype(np.intp))
        points = sample.points.rows(chosen)
        raw = basis.raw(points)
        shift = raw.mean(axis=0) if normal.intercept else np.zeros(basis.width)
        lengths = [np.sqrt(normal.total * np.square(raw - center).mean(axis=0)) for center in (shift, 0.0)]
        new = centred(normal, basis, mixed(points))
        return cls(centred(normal, basis, points), new, shift, *lengths)

    def predict(self, w: Array, right: Array) -> tuple[Array, Array]:
        """What weights of features predict, less the level."""
        return self.rows @ w, self.new @ w


@dataclass(frozen=True, eq=False)
class Checked:
    """What a pass with weights w found.

    gradient : (p, outputs), Z'D(y - f) - alpha w
    products : (outputs,), sum_i s_i (y_i - level) (y_i - f_i)
    squares : (outputs,), sum_i s_i (y_i - f_i)^2
    residuals : (n, outputs), s_i (y_i - f_i), where all rows are in memory; None otherwise
    """

    gradient: Array
    products: Array
    squares: Array
    residuals: Array | None


def check(stream: Stream, basis: Basis, normal: Normal, trial: Trial, w: Array, batch: int, run: Run) -> Checked:
    """One pass. Cost: raw functions, and 4 n p operations per output; the gradient is still without -alpha w."""
    W = basis.to_raw(w)
    above = (applied(basis, trial.shift[None]) - normal.means) - normal.rest  # of the shift over the mean, in features
    base = (above @ w)[0] + normal.level
    totals = _Totals(stream)
    sums = current().accumulate(Left(W, base, trial.shift), basis.width, layout())
    with run.stage("check", stream.count):
        for piece in stream.pieces(batch):
            rows = {"targets": piece.targets, "weights": piece.weights}
            watch = telling(run, totals.rows, piece.stop - piece.start)
            totals.add(piece, basis.add_to(sums, piece.points, rows, watch)["left"], normal.level)
            run.tell(totals.rows)
    gradient = applied(basis, sums.joined()["gradient"].T).T + above.T * totals.sums
    return Checked(gradient, totals.products, totals.squares, totals.residuals)


@dataclass(frozen=True, eq=False)
class Left(Pass):
    """What (raw(x) - shift) W + base leaves of the targets, and its products with raw(x) - shift."""

    reads: ClassVar[tuple[str, ...]] = ("targets", "weights")

    W: Array
    base: Array
    shift: Array

    def sums(self, width: int) -> Mapping[str, tuple[int, ...]]:
        return {"gradient": self.W.shape}

    def columns(self, width: int) -> Mapping[str, Column]:
        return {"left": Column(self.base.shape)}

    def add(self, values: Any, rows: Mapping[str, Any], sums: dict[str, Any], ops: Operations) -> None:
        values -= self.shift
        left = rows["targets"] - (values @ self.W + self.base)
        rows["left"][...] = left
        sums["gradient"] += values.T @ (rows["weights"][:, None] * left)


class _Totals:
    """Sums over the rows so far that need no values at landmarks."""

    def __init__(self, stream: Stream) -> None:
        self.rows, shape = 0, (stream.outputs,)
        self.sums, self.products, self.squares = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        self.residuals = np.empty((stream.count, *shape)) if stream.stored else None

    def add(self, piece: Piece, left: Array, level: Array) -> None:
        """Some rows, and what is left of their targets."""
        weighted = piece.weights[:, None] * left
        if self.residuals is not None:
            self.residuals[self.rows : self.rows + len(left)] = weighted
        self.sums += weighted.sum(axis=0)
        self.products += (weighted * (piece.targets - level)).sum(axis=0)
        self.squares += (weighted * left).sum(axis=0)
        self.rows += len(left)
