"""Predictions at any times: new times are rows that nobody observed, in a piece that is swept once more."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mercer.compute.consistency import shapes
from mercer.compute.runtime import threads
from mercer.solvers.state_space.beside import Beside
from mercer.solvers.state_space.series import Series
from mercer.solvers.state_space.sweeps import Room, States, swept

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Smoother:
    """A series that was fitted at some alphas.

    alphas : (alphas,)
    before, after : the states at the ends of pieces
    beside : the coefficients of the functions of time
    """

    series: Series
    alphas: Array
    before: States
    after: States
    beside: Beside

    def _inconsistency(self) -> str:
        pieces, series, alphas = len(self.series.pieces), self.series, self.alphas.shape[:1]
        means = (pieces, sum(series.steps.sizes), series.columns.shape[1], *alphas)
        states = [(each.means, means) for each in (self.before, self.after)]
        return shapes(
            (self.alphas, (None,)),
            *states,
            (self.beside.values, (series.features, series.outputs, *alphas)),
            (self.beside.roots, (series.features, series.features, *alphas)),
        )

    def at(self, times: Array, functions: Array) -> tuple[Array, Array]:
        """f at new times, (times, outputs, alphas), and its variance in units of k, (times, alphas).

        Cost: the pieces in which new times lie are swept once more.

        functions : (times, features), those of the series at new times
        """
        step, pieces = self.series.piece, self.series.pieces
        order = np.argsort(times, kind="stable") if (np.diff(times) < 0).any() else np.arange(len(times))
        lasts = self.series.times[step - 1 :: step][: len(pieces) - 1]
        where = np.searchsorted(lasts, times[order], side="left")
        ends = np.searchsorted(where, np.arange(len(pieces) + 1))
        parts = [
            (piece, order[first : min(first + step, ends[piece + 1])])
            for piece in pieces
            for first in range(ends[piece], ends[piece + 1], step)
        ]
        count, alphas = self.series.outputs, len(self.alphas)
        values, shares = np.empty((len(times), count, alphas)), np.empty((len(times), alphas))
        workers = max(1, min(threads.available(), len(parts)))
        size = sum(self.series.steps.sizes)
        rooms = [Room.of(2 * step, size, self.series.columns.shape[1], alphas) for _ in range(workers)]

        def work(worker: int, part: tuple[int, NDArray[np.intp]], stop: threads.Stop) -> None:
            piece, asked = part
            values[asked], shares[asked] = self._in_piece(piece, times[asked], functions[asked], rooms[worker])
            stop.step(worker, len(asked))

        threads.run(work, [parts[worker::workers] for worker in range(workers)], len(times))
        return values, shares

    def _in_piece(self, piece: int, new: Array, functions: Array, room: Room) -> tuple[Array, Array]:
        """The same for ascending times of one piece."""
        series, rows = self.series, self.series.rows(piece)
        known, n = series.times[rows], rows.stop - rows.start
        above = np.searchsorted(known, new, side="right")
        strange = known[np.maximum(above - 1, 0)] != new  # what was observed stands for itself
        there = above - 1 + np.cumsum(strange)
        old = np.ones(n + int(strange.sum()), dtype=bool)
        old[there[strange]] = False
        times, weights = np.empty(len(old)), np.zeros(len(old))
        columns = np.zeros((len(old), series.columns.shape[1]))
        times[old], times[~old] = known, new[strange]
        weights[old], columns[old] = series.weights[rows], series.columns[rows]
        first = series.before(piece) if piece else times[0]
        gaps = np.diff(np.concatenate([[first], times, [max(series.after(piece), times[-1])]]))
        before, after = self.before.at(piece), self.after.at(piece)
        found = swept(series, series.steps.of(gaps), weights, columns, self.alphas, before, after, room, fitted=True)
        if found.fitted is None or found.spread is None:
            raise AssertionError("a piece was swept without what it fits")
        fitted, spread = found.fitted[there], np.maximum(found.spread[there], 0.0)
        beside = functions[:, :, None] - fitted[:, series.outputs :]
        values = fitted[:, : series.outputs] + np.einsum("ipj,ptj->itj", beside, self.beside.values)
        return values, spread + np.square(np.einsum("pqj,iqj->ipj", self.beside.roots, beside)).sum(axis=1)
