"""Rows on a grid of frequencies: sums over them that hold all that least squares needs, and functions of such waves.

For waves exp(i j.t) all inner products of features are sums v_k = sum_i s_i exp(i k.t_i) over differences and sums of
frequencies: the M x M matrix of M features is made of some 2^d M numbers, and these come from one pass of non-uniform
Fourier transforms. So do the sums with the targets. What a piece of rows adds is two small arrays.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from mercer.backends.base import Accumulator, Layout, RowValues
from mercer.backends.context import CORES
from mercer.backends.passes import Operations, Pass
from mercer.compute import nonuniform
from mercer.compute.consistency import shapes
from mercer.compute.runtime.run import IDLE, Run, State, telling
from mercer.compute.runtime.threads import available
from mercer.errors import NumericalWarning, caller_level, number_of, speaker
from mercer.kernels.points import Points
from mercer.learners.data.views import KernelView, LiftView
from mercer.learners.streaming.basis import Basis
from mercer.learners.streaming.predictor import ByDuals, Predictor
from mercer.learners.streaming.stream import Piece
from mercer.lifts.fourier_grid import FourierGrid
from mercer.lifts.wave_grid import WaveGrid

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]
STRIP_ROWS, STRIP_NUMBERS = 1 << 16, 1 << 21
"""Rows of a transform, at least; more for larger grids, whose own transform is the same for few rows and for many."""
TOGETHER = 8
"""Functions that are evaluated in one call."""


@dataclass(frozen=True, eq=False)
class GridSums(Pass):
    """sum_i s_i exp(i k.t_i) and sum_i s_i y_i exp(i k.t_i), for k up to twice the orders of a grid.

    center, turns : (d,), t = (x - center) turns
    doubled : (d,), twice the orders
    outputs : how many targets a row has
    """

    reads: ClassVar[tuple[str, ...]] = ("weights", "targets")

    center: Array
    turns: Array
    doubled: NDArray[np.int64]
    outputs: int

    @property
    def shape(self) -> tuple[int, ...]:
        """How many k there are in each column."""
        return tuple((2 * self.doubled + 1).tolist())

    def sums(self, width: int) -> Mapping[str, tuple[int, ...]]:
        return {"waves": (2, 1 + self.outputs, *self.shape), "squares": (1 + self.outputs,)}

    def add(self, values: Any, rows: Mapping[str, Any], sums: dict[str, Any], ops: Operations) -> None:
        columns = rows["weights"] * np.vstack([np.ones(len(values)), rows["targets"].T])
        pairs = columns[0::2].astype(complex)
        pairs[: len(columns[1::2])] += 1j * columns[1::2]
        found = nonuniform.sums((values - self.center) * self.turns, pairs, self.shape)
        flipped = np.flip(found, axis=tuple(range(1, found.ndim))).conj()  # F_-k of real numbers
        split = np.empty((len(columns), *self.shape), complex)
        split[0::2] = 0.5 * (found + flipped)
        split[1::2] = (-0.5j * (found - flipped))[: len(columns[1::2])]
        sums["waves"][0] += split.real
        sums["waves"][1] += split.imag
        sums["squares"][0] += columns[0].sum()
        sums["squares"][1:] += np.einsum("ki,ik->k", columns[1:], rows["targets"])


class GridMoments:
    """The sums of the rows that were added so far: v, sums with the targets, and sums of squares.

    Memory: 2^d M numbers for each output and lane.

    centred : whether targets are measured from the mean of the first rows; else from zero
    rows : how many rows there are in it
    """

    def __init__(self, grid: WaveGrid, outputs: int, centred: bool) -> None:
        self.grid, self.outputs, self.centred, self.rows = grid, outputs, centred, 0
        self.shift = np.zeros(outputs)
        self._sums: Accumulator | None = None

    def add(self, piece: Piece, run: Run = IDLE) -> None:
        """The rows of a piece."""
        if self._sums is None:
            if self.centred:
                self.shift = piece.weights @ piece.targets / piece.weights.sum()
            self._sums = self._begun()
        columns = {"weights": piece.weights, "targets": piece.targets - self.shift}
        values = RowValues(table=np.asarray(piece.points.values, dtype=np.float64))
        self._sums.add(values, columns, telling(run, self.rows, len(piece.weights)))
        self.rows += len(piece.weights)

    def _begun(self, state: State | None = None) -> Accumulator:
        grid = self.grid
        doubled = 2 * np.array(grid.orders, dtype=np.int64)
        work = GridSums(grid.center, 2 * np.pi / grid.periods, doubled, self.outputs)
        return CORES.accumulate(work, len(grid.periods), layout(grid), state)

    def joined(self) -> tuple[Complex, Array]:
        """(1 + outputs, *box): the sums of waves, plain and with the targets less the shift; sums of squares."""
        found = (self._sums or self._begun()).joined()
        return found["waves"][0] + 1j * found["waves"][1], found["squares"]

    def state(self) -> State:
        """All that is known of the rows so far."""
        sums = {} if self._sums is None else self._sums.state()
        return {"shift": self.shift, "rows": np.array(self.rows), **sums}

    def restore(self, state: State) -> None:
        """Go on from a state of the same plan."""
        self.shift = np.array(state["shift"], dtype=np.float64)
        self.rows = int(state["rows"])
        self._sums = self._begun(state) if self.rows else None


def layout(grid: WaveGrid) -> Layout:
    """A lane for each thread, with as many rows at once as are worth a transform of the grid."""
    box = int(np.prod([4 * order + 1 for order in grid.orders]))
    return Layout(available(), rows=min(STRIP_NUMBERS, max(STRIP_ROWS, box)))


@dataclass(frozen=True, eq=False)
class GridBasis(Basis):
    """The features of a grid, whose combinations are evaluated by transforms, without a table of them."""

    lift: FourierGrid

    @cached_property
    def grid(self) -> WaveGrid:
        """The waves."""
        return self.lift.grid

    @property
    def width(self) -> int:
        return self.lift.n_features()

    def raw(self, points: Points, out: Array | None = None) -> Array:
        return self.grid.features(np.asarray(points.values, dtype=np.float64))

    def times(self, points: Points, W: Array, run: Run = IDLE) -> Array:
        return self.of_boxes(points, self.grid.coefficients(W)).T

    def of_boxes(self, points: Points, boxes: Complex) -> Array:
        """(k, rows): real functions of rows, from their coefficients of exp(i j.t), (k, *box); j and -j conjugate."""
        angles = self.grid.angles(np.asarray(points.values, dtype=np.float64))
        found = np.empty((len(boxes), len(angles)))
        for start in range(0, len(boxes), 2 * TOGETHER):
            part = boxes[start : start + 2 * TOGETHER]
            pairs = part[0::2].copy()
            pairs[: len(part[1::2])] += 1j * part[1::2]  # one transform for two real functions
            both = nonuniform.values(angles, pairs)
            found[start : start + len(part) : 2] = both.real
            found[start + 1 : start + len(part) : 2] = both.imag[: len(part[1::2])]
        return found


@dataclass(frozen=True, eq=False)
class ByGrid(Predictor):
    """phi(x).weights + offset by transforms, in the box of the fit.

    far : from dual coefficients and the kernel itself, for rows beyond it, where waves repeat; None where they are not
        known, and such rows are reported
    """

    basis: GridBasis
    weights: Array
    offset: Array
    far: ByDuals | None

    @classmethod
    def of(cls, fit: BasisNumbers, view: LiftView | None, kept: NDArray[np.intp]) -> ByGrid:
        """Of a fit on a grid, and all of its rows where they are in memory."""
        basis, far = cast(GridBasis, fit.basis), None
        if view is not None and fit.duals is not None:
            far = ByDuals(KernelView(view.points.rows(kept), view.kernel), fit.duals, fit.intercepts)
        return cls(basis, fit.raw, fit.intercepts, far)

    def _inconsistency(self) -> str:
        return shapes((self.weights, (self.basis.width, None)), (self.offset, self.weights.shape[1:]))

    def values(self, rows: Points) -> Array:
        found = self.basis.times(rows, self.weights) + self.offset
        outside = ~self.basis.grid.inside(np.asarray(rows.values, dtype=np.float64))
        if outside.any() and self.far is not None:
            found[outside] = self.far.values(rows.rows(np.flatnonzero(outside)))
        elif outside.any():
            told = f"{number_of(int(outside.sum()), 'row')} beyond the box of the fit, where waves repeat"
            remedy = "Fit rows that reach so far, or keep them in memory."
            warnings.warn(f"{speaker()}: {told}. {remedy}", NumericalWarning, stacklevel=caller_level())
        return found


class BasisNumbers(Protocol):
    """What a fit of a basis found."""

    @property
    def basis(self) -> Basis: ...
    @property
    def raw(self) -> Array: ...
    @property
    def intercepts(self) -> Array: ...
    @property
    def duals(self) -> Array | None: ...


# -- matrices of sums -------------------------------------------------------------------------------------------------


def at_frequencies(grid: WaveGrid, box: Complex) -> tuple[Complex, Complex]:
    """From sums in a box of the orders or more, (..., *box): at zero, and at the frequencies of the grid."""
    middle = np.array(box.shape[-len(grid.orders) :]) // 2
    zero = box[(..., *middle)]
    return zero, box[(..., *(grid.frequencies + middle).T)]


def feature_sums(grid: WaveGrid, box: Complex) -> Array:
    """(..., M): sum_i c_i phi(x_i), from sums of c_i exp(i k.t_i) in a box of the orders or more."""
    zero, found = at_frequencies(grid, box)
    return np.concatenate([zero.real[..., None], found.real, found.imag], axis=-1) * grid.scales


def feature_squares(grid: WaveGrid, box: Complex) -> Array:
    """(M, M): sum_i s_i phi(x_i) phi(x_i)', from v.

    2 cos a cos b = cos(a - b) + cos(a + b), 2 sin a sin b = cos(a - b) - cos(a + b), 2 cos a sin b = sin(a + b) -
    sin(a - b): entries are sums at differences and at sums of frequencies.
    """
    j, h = grid.frequencies, len(grid.frequencies)
    strides = np.array([int(np.prod(box.shape[axis + 1 :])) for axis in range(box.ndim)], dtype=np.int64)
    flat, places = box.ravel(), j @ strides
    middle = len(flat) // 2
    found = np.empty((1 + 2 * h, 1 + 2 * h))
    apart = flat[middle + places[:, None] - places]
    above = flat[middle + places[:, None] + places]
    cosines, sines = slice(1, 1 + h), slice(1 + h, 1 + 2 * h)
    found[cosines, cosines] = 0.5 * (apart.real + above.real)
    found[sines, sines] = 0.5 * (apart.real - above.real)
    found[cosines, sines] = 0.5 * (above.imag - apart.imag)
    found[sines, cosines] = found[cosines, sines].T
    zero, first = at_frequencies(grid, box)
    found[0, 0] = zero.real
    found[0, 1:] = found[1:, 0] = np.concatenate([first.real, first.imag])
    found *= grid.scales
    found *= grid.scales[:, None]
    return found
