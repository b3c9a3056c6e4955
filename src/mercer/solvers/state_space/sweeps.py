"""Two sweeps over a series, forth and back, a piece at a time: all that least squares asks of (K + alpha / w)^-1.

Forth, each row is expected from those before it (Kalman); back, each is told what those after it say (de Jong). Of the
way forth the state at the beginning of each piece is kept, and the piece is swept again on the way back, so that memory
grows as the number of pieces times that of alphas.

Kalman, A new approach to linear filtering and prediction problems, Journal of Basic Engineering 82 (1960); de Jong,
Smoothing and interpolation with the state-space model, JASA 84 (1989); Bierman, Factorization Methods for Discrete
Sequential Estimation (1977); Hartikainen and Sarkka, Kalman filtering and smoothing solutions to temporal Gaussian
process regression models, MLSP 2010.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from mercer.compute.codegen.compiled import compiled
from mercer.compute.consistency import shapes
from mercer.solvers.state_space.series import Series
from mercer.solvers.state_space.text import loops

Array = NDArray[np.float64]
Tell = Callable[[int], object]
"""Told after each piece how many rows it had; an error that it raises ends the sweep."""


@dataclass(frozen=True, eq=False)
class States:
    """The states at the ends of pieces, for several alphas.

    diagonal : (pieces, components, alphas), d of a covariance (on the way forth) or of information (back) L diag(d) L'
    below : (pieces, pairs, alphas), L below its diagonal, row by row
    means : (pieces, components, columns, alphas)
    """

    diagonal: Array
    below: Array
    means: Array

    def _inconsistency(self) -> str:
        pieces, count = self.diagonal.shape[0], self.diagonal.shape[1]
        alphas = self.diagonal.shape[-1]
        pairs = count * (count - 1) // 2
        return shapes(
            (self.diagonal, (pieces, count, alphas)),
            (self.below, (pieces, pairs, alphas)),
            (self.means, (pieces, count, None, alphas)),
        )

    @classmethod
    def empty(cls, series: Series, alphas: int) -> States:
        """Room for those of a series."""
        pieces, count = len(series.pieces), sum(series.steps.sizes)
        shape = (pieces, count, series.columns.shape[1], alphas)
        return cls(
            np.zeros((pieces, count, alphas)), np.zeros((pieces, count * (count - 1) // 2, alphas)), np.zeros(shape)
        )

    def keep(self, piece: int, state: States) -> None:
        """Copy the only state of another record to a place."""
        for item in fields(self):
            getattr(self, item.name)[piece] = getattr(state, item.name)[0]

    def at(self, piece: int) -> States:
        """A copy of one state, to be moved."""
        return States(self.diagonal[[piece]], self.below[[piece]], self.means[[piece]])

    @property
    def parts(self) -> tuple[Array, Array, Array]:
        """The arrays of the only state, as loops take them."""
        return self.diagonal[0], self.below[0], self.means[0]


@dataclass(frozen=True, eq=False)
class Piece:
    """What the sweeps find in a piece, for several alphas; the last dimension is that of these.

    expected : (rows, columns, alphas), of each row from those before it
    gain : (rows, alphas), the inverse of the variance of what was expected; 0 where nothing was observed
    solved : (rows, columns, alphas), (K + alpha / w)^-1 of the columns
    inverse : (rows, alphas), the diagonal of (K + alpha / w)^-1
    fitted, spread : (rows, columns, alphas) and (rows, alphas), f, and its variance in units of k; None if not wanted
    """

    expected: Array
    gain: Array
    solved: Array
    inverse: Array
    fitted: Array | None
    spread: Array | None


@dataclass(frozen=True, eq=False)
class Room:
    """Memory for a piece, used again for each.

    ahead, rest : as in `text`
    """

    ahead: Array
    gain: Array
    rest: Array
    expected: Array
    solved: Array
    inverse: Array
    fitted: Array
    spread: Array

    @classmethod
    def of(cls, rows: int, count: int, columns: int, alphas: int) -> Room:
        """For so many rows, components, columns and alphas."""
        many, one = (rows, columns, alphas), (rows, alphas)
        shapes = (rows, count, alphas), one, one, many, many, one, many, one
        return cls(*map(np.empty, shapes))


@dataclass(frozen=True, eq=False)
class Forth:
    """What the way forth leaves: the states before each piece, and sums over all rows.

    products : (features, columns, alphas), G' (K + alpha / w)^-1 of the columns, for the features G
    logs : (alphas,), log det (K + alpha / w)
    """

    states: States
    products: Array
    logs: Array


def start(series: Series, alphas: int) -> States:
    """The state before the first row."""
    found = States.empty(series, alphas).at(0)
    diagonal, below = series.steps.start()
    found.diagonal[0] = diagonal[:, None]
    found.below[0] = below[:, None]
    return found


def nothing(series: Series, alphas: int) -> States:
    """What is known from after the last row."""
    return States.empty(series, alphas).at(0)


def forth(series: Series, alphas: Array, tell: Tell = int, determinants: bool = True) -> Forth:
    """From the first row to the last; `logs` are zeros where determinants are not wanted."""
    state, kept = start(series, len(alphas)), States.empty(series, len(alphas))
    forward, count = loops(series.steps.sizes).forward, sum(series.steps.sizes)
    room = Room.of(series.rows(0).stop, count, series.columns.shape[1], len(alphas))
    products, logs = np.zeros((series.features, series.columns.shape[1], len(alphas))), np.zeros(len(alphas))
    for piece in series.pieces:
        kept.keep(piece, state)
        rows = series.rows(piece)
        steps, n = series.steps.of(series.gaps(piece)), rows.stop - rows.start
        columns, expected, gain = series.columns[rows], room.expected[:n], room.gain[:n]
        forward(
            steps, series.weights[rows], columns, alphas, *state.parts, room.ahead[:n], gain, room.rest[:n], expected
        )
        part = np.zeros_like(products)
        add_products(columns, expected, gain, series.outputs, part)
        products += part
        if determinants:
            logs -= np.log(gain).sum(axis=0)
        tell(n)
    return Forth(kept, products, logs)


def back(
    series: Series,
    alphas: Array,
    states: States,
    visit: Callable[[slice, Piece], object],
    fitted: bool = False,
    tell: Tell = int,
) -> States:
    """From the last row to the first, with the states of the way forth; gives those after each piece.

    visit : takes the rows of a piece, and what was found there, which is overwritten afterwards
    fitted : whether f and its variance are found
    """
    state, kept = nothing(series, len(alphas)), States.empty(series, len(alphas))
    room = Room.of(series.rows(0).stop, sum(series.steps.sizes), series.columns.shape[1], len(alphas))
    for piece in reversed(series.pieces):
        kept.keep(piece, state)
        rows = series.rows(piece)
        steps = series.steps.of(series.gaps(piece))
        weights, columns = series.weights[rows], series.columns[rows]
        visit(rows, swept(series, steps, weights, columns, alphas, states.at(piece), state, room, fitted))
        tell(rows.stop - rows.start)
    return kept


def swept(
    series: Series,
    steps: Array,
    weights: Array,
    columns: Array,
    alphas: Array,
    before: States,
    after: States,
    room: Room,
    fitted: bool,
) -> Piece:
    """Some rows, forth and back, from what is known before and after them; both states are moved.

    steps : of the gaps before each row, and before the one after them
    weights : 0 for rows that are not observed
    """
    made, n = loops(series.steps.sizes), len(weights)
    ahead, gain, rest, expected = room.ahead[:n], room.gain[:n], room.rest[:n], room.expected[:n]
    solved, inverse, shown, spread = room.solved[:n], room.inverse[:n], room.fitted[:n], room.spread[:n]
    made.forward(steps, weights, columns, alphas, *before.parts, ahead, gain, rest, expected)
    given = (steps[1:], columns, *after.parts, ahead, gain, rest, expected, solved, inverse)
    if not fitted:
        made.backward(*given)
        return Piece(expected, gain, solved, inverse, None, None)
    made.smooth(*given, shown, spread)
    return Piece(expected, gain, solved, inverse, shown, spread)


@compiled()
def add_products(columns: Array, expected: Array, gain: Array, outputs: int, out: Array) -> None:
    """Add the products of what was not expected of features with that of all columns."""
    for i in range(len(columns)):
        for p in range(out.shape[0]):
            for c in range(out.shape[1]):
                for j in range(gain.shape[1]):
                    left = columns[i, outputs + p] - expected[i, outputs + p, j]
                    out[p, c, j] += left * gain[i, j] * (columns[i, c] - expected[i, c, j])
