"""The solution at given alphas, one for each output, and what can be said about it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mercer.solvers.state_space.beside import Beside
from mercer.solvers.state_space.series import Series
from mercer.solvers.state_space.smoothing import Smoother
from mercer.solvers.state_space.sweeps import Piece, Tell, back, forth

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Solution:
    """What was found at the times of a series, for its outputs.

    duals : (n, outputs), u = G y for the whole inverse G
    inverse : (n, outputs), the diagonal of G
    shares : (n, outputs), the variance of f in units of k
    coefficients : (features, outputs), of the functions of time
    logs : (outputs,), log det of (K + alpha / w), with the functions of time
    residual : the largest distance of y - alpha u / w from f as it was smoothed, relative to y
    smoother : predicts
    which : (outputs,), the position of the alpha of each output among those of the smoother
    """

    duals: Array
    inverse: Array
    shares: Array
    coefficients: Array
    logs: Array
    residual: float
    smoother: Smoother
    which: NDArray[np.intp]


def solve(series: Series, alphas: Array, tell: Tell = int) -> Solution:
    """Solve for outputs with an alpha each. Cost: some 300 operations for each row and different alpha."""
    different, which = np.unique(alphas, return_inverse=True)
    outputs, each = series.outputs, np.arange(series.outputs)
    ahead = forth(series, different, tell)
    beside = Beside.of(ahead, outputs, series.penalties)
    duals, inverse, shares = (np.empty((series.count, outputs)) for _ in range(3))
    apart, sizes = np.zeros(outputs), np.square(series.columns[:, :outputs]).sum(axis=0)

    def visit(rows: slice, piece: Piece) -> None:
        if piece.fitted is None or piece.spread is None:
            raise AssertionError("a piece was swept without what it fits")
        solved, diagonal = beside.solutions(piece, outputs)
        given = series.columns[rows, outputs:, None] - piece.fitted[:, outputs:]
        fitted = piece.fitted[:, :outputs] + np.einsum("ipj,ptj->itj", given, beside.values)
        shown = np.square(np.einsum("pqj,iqj->ipj", beside.roots, given)).sum(axis=1) + np.maximum(piece.spread, 0.0)
        duals[rows], inverse[rows], shares[rows] = solved[:, each, which], diagonal[:, which], shown[:, which]
        left = series.columns[rows, :outputs] - alphas * duals[rows] / series.weights[rows, None]
        apart[:] += np.square(left - fitted[:, each, which]).sum(axis=0)

    behind = back(series, different, ahead.states, visit, fitted=True, tell=tell)
    residual = np.sqrt(np.divide(apart, sizes, out=np.zeros(outputs), where=sizes > 0)).max(initial=0.0)
    smoother = Smoother(series, different, ahead.states, behind, beside)
    logs = (ahead.logs + beside.logs)[which]
    return Solution(duals, inverse, shares, beside.values[:, each, which], logs, float(residual), smoother, which)
