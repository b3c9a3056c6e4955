"""Exact leave-one-out errors of all rows for a path of penalties, from waves on a grid of frequencies.

With B = (Z'Z + alpha I)^-1 = V diag(g) V' the leverage of a row is the function of x

    h(x) = 1 / N + sum_k g_k (v_k . (phi(x) - mean))^2,

a sum of squares of trigonometric polynomials, and so one itself, of twice the orders: its values on a lattice of
(4 m + 1)^d points determine it. One non-uniform transform then gives it at all rows, and another the predictions. So
is the variance of f(x) + b, which is the noise times h(x).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from mercer.compute.runtime.run import Run
from mercer.compute.runtime.threads import available
from mercer.kernels.points import Points
from mercer.learners.ridge.sampled_loo import labels_of
from mercer.learners.streaming.grid import GridBasis
from mercer.learners.streaming.moments import Normal
from mercer.learners.streaming.stream import Piece, Stream
from mercer.lifts.wave_grid import WaveGrid
from mercer.solvers.ridge.spectrum import Spectrum
from mercer.tuning.path import Path
from mercer.tuning.side import mistaken, quotients

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]
LATTICE_NUMBERS = 1 << 22
"""Numbers of eigenvectors on a lattice that are held at once: 32 MB."""
PIECE_NUMBERS = 1 << 23
"""Numbers for the rows of a piece, predictions and leverages of a whole path: 64 MB."""
DOUBT = 1e-9
"""1 - h below which a row is fitted whatever its y, to the digits of the transforms."""


@dataclass(frozen=True, eq=False)
class Leverages:
    """Leverages as functions of x, for several penalties.

    boxes : (penalties, *box), their coefficients, in a box of twice the orders
    """

    basis: GridBasis
    boxes: Complex

    @classmethod
    def of(
        cls, basis: GridBasis, means: Array, spectrum: Spectrum, total: float, intercept: bool, alphas: Array
    ) -> Leverages:
        """Cost: a transform of the lattice for each eigenvector, and as many numbers for each penalty.

        means : of the features
        """
        grid, inverses = basis.grid, spectrum.inverses(alphas)
        lattice = tuple(fft.next_fast_len(4 * order + 1, real=True) for order in grid.orders)
        size = int(np.prod(lattice))
        found = np.zeros((len(alphas), size))
        step = max(1, LATTICE_NUMBERS // size)
        for start in range(0, len(inverses), step):
            V = spectrum.vectors[:, start : start + step]
            values = _on_lattice(grid, V, means @ V, lattice).reshape(V.shape[1], size)
            np.square(values, out=values)
            found += inverses[start : start + step].T @ values
        found += 1 / total if intercept else 0.0
        return cls(basis, _coefficients(grid, found.reshape(-1, *lattice)))

    def at(self, points: Points) -> Array:
        """(penalties, rows)."""
        return self.basis.of_boxes(points, self.boxes)


def left_out_path(normal: Normal, basis: GridBasis, rows: Stream, alphas: Array, coded: bool, run: Run) -> Path:
    """The path of leave-one-out errors of all rows; where the run stops, those that were judged by then are enough.

    Cost: for each penalty one transform of all rows for every two functions, its leverage and each output.
    """
    grid, outputs = basis.grid, rows.outputs
    known = Leverages.of(basis, normal.means, normal.spectrum, normal.total, normal.intercept, alphas)
    inverses = normal.spectrum.inverses(alphas)
    W = np.einsum("pk,ka,kt->pat", normal.spectrum.vectors, inverses, normal.aims, optimize=True)
    boxes = _widened(grid, grid.coefficients(W.reshape(len(W), -1)), known.boxes.shape[1:])
    boxes = np.concatenate([known.boxes, boxes])
    levels = normal.level - np.einsum("p,pat->at", normal.means + normal.rest, W)
    sure = alphas > normal.noise.max(initial=0.0)
    errors, wrong, total = np.zeros((len(alphas), outputs)), np.zeros(len(alphas)), 0.0
    for piece in rows.pieces(max(1 << 12, PIECE_NUMBERS // len(boxes))):
        found = basis.of_boxes(piece.points, boxes)
        leverages, fits = found[: len(alphas)], found[len(alphas) :].reshape(len(alphas), outputs, -1)
        left = _left_out(piece, leverages, fits + levels[:, :, None])
        with np.errstate(over="ignore"):
            errors += np.einsum("i,iat->at", piece.weights, left**2)
        total += float(piece.weights.sum())
        if coded:
            wrong += piece.weights @ mistaken(labels_of(piece.targets), left)
        if run.over(piece.stop / rows.count):
            break
    errors[~sure] = np.inf
    if not sure.any():
        errors[-1] = 0.0  # the largest is the best that can be told
    return Path(alphas, errors / total, np.where(sure, wrong / total, np.inf) if coded else None)


def _left_out(piece: Piece, leverages: Array, fits: Array) -> Array:
    """(rows, penalties, outputs): y_i less its prediction without one copy of row i."""
    taken = piece.weights / np.maximum(1.0, piece.copies)
    below = 1.0 - leverages * taken
    above = piece.targets.T - fits
    return quotients(above.transpose(2, 0, 1), np.where(below > DOUBT, below, 0.0).T[:, :, None])


# -- between boxes and lattices ---------------------------------------------------------------------------------------


def _on_lattice(grid: WaveGrid, V: Array, shifts: Array, lattice: tuple[int, ...]) -> Array:
    """(k, *lattice): V'phi(x) - shifts, at equal distances over a period."""
    boxes = grid.coefficients(V)
    boxes.reshape(len(boxes), -1)[:, boxes[0].size // 2] -= shifts
    half = boxes[..., grid.orders[-1] :]
    spread = np.zeros((len(boxes), *lattice[:-1], lattice[-1] // 2 + 1), complex)
    rows = np.ix_(np.arange(len(boxes)), *_places(grid.orders, lattice)[:-1], np.arange(half.shape[-1]))
    spread[rows] = half
    axes = tuple(range(1, 1 + len(lattice)))
    return np.asarray(fft.irfftn(spread, lattice, axes=axes, norm="forward", workers=available()))


def _coefficients(grid: WaveGrid, values: Array) -> Complex:
    """(k, *box) of twice the orders, from values on the lattice."""
    lattice, doubled = values.shape[1:], [2 * order for order in grid.orders]
    axes = tuple(range(1, values.ndim))
    found = fft.fftn(values, axes=axes, norm="forward", workers=available())
    return np.ascontiguousarray(found[np.ix_(np.arange(len(values)), *_places(doubled, lattice))])


def _places(orders: list[int] | tuple[int, ...], lattice: tuple[int, ...]) -> list[NDArray[np.intp]]:
    """Where -order .. order stand in transforms of these lengths."""
    return [np.arange(-order, order + 1) % n for order, n in zip(orders, lattice, strict=True)]


def _widened(grid: WaveGrid, boxes: Complex, shape: tuple[int, ...]) -> Complex:
    """Boxes of the orders, in larger ones."""
    found = np.zeros((len(boxes), *shape), complex)
    inside = [slice(order, 3 * order + 1) for order in grid.orders]
    found[(slice(None), *inside)] = boxes
    return found
