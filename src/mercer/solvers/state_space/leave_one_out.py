"""Leave-one-out errors of a whole path of alphas, exact, from one way forth and one back.

Row i of a time has the share s = w_i / w of its weight, and of its copies the part m = min(1, 1 / w_i) is left out.
With u = G y and d = diag(G) for the whole inverse G, its error is
(y_i - y + alpha u / w) / (1 - m s (1 - alpha d / w)), which is u / d where it stands alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mercer.compute.codegen.compiled import compiled
from mercer.compute.runtime import threads
from mercer.solvers.state_space.beside import Beside
from mercer.solvers.state_space.series import Series
from mercer.solvers.state_space.sweeps import Piece, back, forth

Array = NDArray[np.float64]
PIECE = 1 << 14
"""Rows times alphas of a piece: a worker's numbers of it stay in its cache."""
WIDTH = 8
"""Alphas that make up whole vectors: a worker has a multiple of them."""


@dataclass(frozen=True, eq=False)
class Members:
    """The rows of each time of a series.

    starts : (times + 1,), where the rows of each time begin
    weights, copies : (rows,), of each row; what it counts, and how many copies it stands for
    apart : (rows, outputs), y less that of the time, which is the weighted mean
    """

    starts: NDArray[np.intp]
    weights: Array
    copies: Array
    apart: Array


def errors(series: Series, members: Members, alphas: Array, watch: threads.Watch | None = None) -> Array:
    """(alphas, outputs): the sum of w_i e_i^2 over all rows; inf where a row has no prediction.

    Cost: some 100 operations for each row and alpha, and of memory the states before pieces.
    """
    found = np.zeros((len(alphas), series.outputs))

    def work(worker: int, part: slice, stop: threads.Stop) -> None:
        found[part] = _part(series, members, alphas[part], worker, stop)

    parts = shared(len(alphas), threads.available())
    threads.run(work, [[part] for part in parts], 2 * series.count * len(parts), watch)
    return found


def shared(count: int, workers: int) -> list[slice]:
    """Alphas for each worker, whole vectors but for the last."""
    step = -(-count // workers)
    step = -(-step // WIDTH) * WIDTH
    return [slice(first, min(first + step, count)) for first in range(0, count, step)]


class Left(Exception):  # noqa: N818  # it is no error
    """A worker leaves: another failed, or the fit is to end."""


def _part(series: Series, members: Members, alphas: Array, worker: int, stop: threads.Stop) -> Array:
    series = replace(series, piece=max(64, PIECE // len(alphas)))

    def tell(rows: int) -> None:
        if not stop.step(worker, rows):
            raise Left

    total = np.zeros((series.outputs, len(alphas)))
    try:
        ahead = forth(series, alphas, tell, determinants=False)
        beside = Beside.of(ahead, series.outputs, series.penalties)

        def visit(rows: slice, piece: Piece) -> None:
            nonlocal total
            solved, inverse = beside.solutions(piece, series.outputs)
            part = np.zeros_like(total)
            starts = members.starts[rows.start : rows.stop + 1]
            given = members.weights, members.copies, members.apart
            add_squares(solved, inverse, series.weights[rows], alphas, starts, *given, part)
            total += part

        back(series, alphas, ahead.states, visit, tell=tell)
    except Left:
        pass
    return total.T


@compiled()
def add_squares(
    solved: Array,
    inverse: Array,
    whole: Array,
    alphas: Array,
    starts: NDArray[np.intp],
    weights: Array,
    copies: Array,
    apart: Array,
    out: Array,
) -> None:
    """Add w_i e_i^2 of the rows of some times."""
    for i in range(len(whole)):
        for row in range(starts[i], starts[i + 1]):
            share = weights[row] / whole[i]
            taken = share / max(1.0, copies[row])
            for t in range(out.shape[0]):
                if taken == 1.0:
                    for j in range(len(alphas)):
                        error = solved[i, t, j] / inverse[i, j] if inverse[i, j] > 0.0 else np.inf
                        out[t, j] += weights[row] * error * error
                else:
                    for j in range(len(alphas)):
                        left = alphas[j] / whole[i]
                        above = apart[row, t] + left * solved[i, t, j]
                        error = above / (1.0 - taken * (1.0 - left * inverse[i, j]))
                        out[t, j] += weights[row] * error * error
