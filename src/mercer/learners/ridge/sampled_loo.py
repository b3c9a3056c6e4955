"""Penalties judged by some of the rows: exact leave-one-out errors of a sample, from sums over all rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mercer.compute.runtime.run import Run
from mercer.kernels.points import Points
from mercer.learners.streaming.basis import Basis
from mercer.learners.streaming.moments import THIN, Normal, applied
from mercer.learners.streaming.stream import Piece, Stream
from mercer.operators import Centering
from mercer.planner.ridge.streaming import JUDGED_AT_ONCE
from mercer.solvers.ridge.spectrum import Spectrum
from mercer.tuning.fold import Fold, PrimalFold
from mercer.tuning.path import Path
from mercer.tuning.ridges import Ridges
from mercer.tuning.side import Rows, Side

Array = NDArray[np.float64]
FEW = 16
"""Outputs up to which the cost of a part of the sample is negligible."""


@dataclass(frozen=True, eq=False)
class SampledSide(Side):
    """Some rows of a primal problem, of which the spectrum and the right side come from all rows.

    table : T, (rows, k): centred features along the eigenvectors, each row times D_i
    centering : the weights and copies of these rows
    targets : D (y - level), of these rows
    summed : V'Z'Dy of all rows
    total : the weight of all rows
    noise : (k,), how far each eigenvalue may be off
    """

    spectrum: Spectrum
    table: Array
    centering: Centering
    targets: Array
    summed: Array
    total: float
    noise: Array

    @property
    def aims(self) -> Array:
        return self.summed

    def _direction(self, rows: Rows) -> Array:
        """u, of all rows."""
        return np.asarray(self.centering.roots[rows] / np.sqrt(self.total) * self.centering.intercept)

    def _rows(self, rows: Rows) -> Array:
        return self.table[rows]

    def _terms(self, rows: Rows, ridges: Ridges, fits: Array) -> tuple[Array, Array]:
        T, taken = self.table[rows], self._taken(rows)
        fitted = (T @ fits).reshape(*T.shape[:1], len(ridges.alphas), -1)
        squares = T * T
        below = 1.0 - taken * (self._direction(rows)[:, None] ** 2 + squares @ ridges.inverses)
        doubt = np.maximum(self._unit, squares @ (self.noise[:, None] * ridges.inverses**2))
        return self.targets[rows, None, :] - fitted, np.where(below > doubt, below, 0.0)

    def slack(self, alpha: float) -> Array:
        return np.asarray(1.0 - self.centering.weights * self.leverage(alpha))

    def leverage(self, alpha: float) -> Array:
        fitted = self._sum_of_squares(self.spectrum.inverses(np.array([alpha]))[:, 0])
        return np.asarray((fitted + self._direction(slice(None)) ** 2) / self.centering.weights)

    def _fold(self, rows: NDArray[np.intp], ridges: Ridges) -> Fold:
        table = np.column_stack([self.table[rows], self._direction(rows)])
        return PrimalFold(ridges, table, self.aims, self.targets[rows], float(self.noise.max()), self._unit)


def drawn(stream: Stream, count: int, most: int, random: np.random.Generator) -> Piece:
    """Some of the first `count` rows, drawn uniformly: all of them where there are not more than `most`."""
    positions = np.arange(count) if count <= most else np.sort(random.choice(count, most, replace=False))
    return stream.sample(positions.astype(np.intp))


def sampled_path(normal: Normal, basis: Basis, sample: Piece, alphas: Array, coded: bool, run: Run) -> Path:
    """The leave-one-out errors of the rows of a sample, for each penalty. Cost: 2 p^2 operations per row and block.

    Where the run stops, the rows that were judged by then are enough.
    """
    labels = labels_of(sample.targets) if coded else None
    outputs = sample.targets.shape[1]
    step = max(THIN, JUDGED_AT_ONCE // basis.width // max(1, outputs // FEW))  # nothing stops inside of a part
    parts = [slice(start, start + step) for start in range(0, len(sample.weights), step)]
    found, weights = [], []
    for done, part in enumerate(parts):
        side = sampled_side(normal, basis, sample, part)
        found.append(side.path(alphas, None if labels is None else labels[part]))
        weights.append(side.centering.total)
        if run.over((done + 1) / len(parts)):
            break
    shares = np.array(weights) / np.sum(weights)
    errors = np.tensordot(shares, np.stack([path.errors for path in found]), axes=1)
    if labels is None:
        return Path(found[0].alphas, errors)
    return Path(found[0].alphas, errors, shares @ np.stack([np.asarray(path.wrong) for path in found]))


def sampled_side(normal: Normal, basis: Basis, sample: Piece, part: slice) -> SampledSide:
    """The side of some rows of a sample, in the basis that was summed."""
    centering = Centering(sample.weights[part], normal.intercept, sample.copies[part])
    rows = basis.raw(sample.points.rows(part))
    rows -= normal.center[0]
    rows -= normal.center[1]
    rows *= centering.roots[:, None]
    table = np.asarray(rows @ normal.turned)
    targets = (sample.targets[part] - normal.level) * centering.roots[:, None]
    return SampledSide(normal.spectrum, table, centering, targets, normal.aims, normal.total, normal.noise)


def centred(normal: Normal, basis: Basis, points: Points) -> Array:
    """The features of some rows, less their mean over all rows."""
    return (applied(basis, basis.raw(points)) - normal.means) - normal.rest


def labels_of(targets: Array) -> NDArray[np.intp]:
    """The classes that coded targets stand for."""
    return np.asarray(targets[:, 0] > 0 if targets.shape[1] == 1 else targets.argmax(axis=1), dtype=np.intp)
