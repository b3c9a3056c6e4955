"""Sums over rows that come in pieces: all that least squares needs to know of them, and the normal equations of that.

With r = raw(x) - c for a fixed c near the mean, and y likewise, S = sum_i s_i [r, y, 1]_i [r, y, 1]_i' holds all of it,
and the Schur complement of its last entry is what centring leaves. Raw functions become features afterwards: T'ST.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas

from mercer.compute.fused import mirror
from mercer.compute.run import Run, State
from mercer.learners.basis import Basis
from mercer.learners.stream import Piece
from mercer.learners.views import EPS
from mercer.solvers import Eigen
from mercer.solvers.spectrum import Spectrum

Array = NDArray[np.float64]
BLOCK = 1 << 22
"""Numbers in a block of raw functions, at most: 32 MB."""
WORK = 1 << 34
"""Operations of one call of BLAS, about: a fifth of a second, in which nothing can be interrupted."""
THIN = 64
"""Rows of a block, at least: thinner products are slow."""


def blocks(count: int, width: int) -> Iterator[slice]:
    """Slices that cover so many rows, for products of `width`^2 operations a row."""
    step = max(THIN, min(BLOCK // width, WORK // width**2))
    return (slice(start, min(start + step, count)) for start in range(0, count, step))


def applied(basis: Basis, rows: Array) -> Array:
    """rows T, some rows at once."""
    parts = [basis.to_features(rows[part]) for part in blocks(len(rows), basis.width)]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


class Moments:
    """S, of the rows that were added so far. Cost: n p^2 operations, and p^2 numbers.

    basis : whose raw functions are summed
    centred : whether c is the mean of the first rows; else it is zero
    rows : how many rows there are in it
    """

    def __init__(self, basis: Basis, outputs: int, centred: bool) -> None:
        self.basis, self.outputs, self.centred, self.rows = basis, outputs, centred, 0
        width = basis.width + outputs
        self.shift = np.zeros(width)
        self.sums = np.zeros((width + 1, width + 1), order="F")  # the upper triangle of S
        self._buffer = np.empty((0, width + 1))

    def add(self, piece: Piece, run: Run) -> None:
        """The rows of a piece, block by block."""
        for part in blocks(piece.stop - piece.start, len(self.sums)):
            self._add(self.basis.raw(piece.points.rows(part)), piece.targets[part], piece.weights[part])
            run.tell(self.rows)

    def _add(self, raw: Array, targets: Array, weights: Array) -> None:
        p, count = raw.shape[1], len(raw)
        if self.rows == 0 and self.centred:
            shares = weights / weights.sum()
            self.shift = np.concatenate([shares @ raw, shares @ targets])
        block = self._block(count)
        np.subtract(raw, self.shift[:p], out=block[:, :p])
        np.subtract(targets, self.shift[p:], out=block[:, p:-1])
        block[:, -1] = 1.0
        if (weights != 1.0).any():
            block *= np.sqrt(weights)[:, None]
        self.sums = blas.dsyrk(1.0, block.T, beta=1.0, c=self.sums, overwrite_c=1)
        self.rows += count

    def _block(self, count: int) -> Array:
        if len(self._buffer) < count:
            self._buffer = np.empty((count, len(self.sums)))
        return self._buffer[:count]

    # -- states to go on from -------------------------------------------------------------------------------------

    def state(self) -> State:
        """All that is known of the rows so far."""
        return {"sums": self.sums, "shift": self.shift, "rows": np.array(self.rows)}

    def restore(self, state: State) -> None:
        """Go on from a state."""
        self.sums = np.array(state["sums"], dtype=np.float64, order="F")
        self.shift = np.array(state["shift"], dtype=np.float64)
        self.rows = int(state["rows"])


@dataclass(frozen=True, eq=False)
class Normal:
    """Z'Z and Z'y of features Z = D (Phi - mean), decomposed; nothing is taken off where there is no intercept.

    rows, total : how many rows were summed, and the sum of their weights
    intercept : whether there is one
    spectrum : of Z'Z, without features that vanish: a constant one is what the intercept is
    kept : (p,), the other features; eigenvectors are zero at those that vanish
    right : (p, outputs), Z'D(y - level)
    means : (p,), of the features
    rest : (p,), what is left of the mean when it is rounded
    level : (outputs,), the mean of y; zero where there is no intercept
    squares : (outputs,), sum_i s_i (y_i - level)^2
    sizes : (p,), the lengths of the columns that were summed, to which the rounding of sums is relative
    noise : how far each eigenvalue may be off
    """

    rows: int
    total: float
    intercept: bool
    spectrum: Spectrum
    kept: NDArray[np.bool_]
    right: Array
    means: Array
    rest: Array
    level: Array
    squares: Array
    sizes: Array
    noise: Array

    @classmethod
    def of(cls, moments: Moments, intercept: bool) -> Normal:
        """From sums, which are used up."""
        p, basis, S = moments.basis.width, moments.basis, moments.sums.T
        mirror(S)
        total, sums, shift = float(S[-1, -1]), S[-1, :-1].copy(), moments.shift
        sizes = np.sqrt(np.diagonal(S)[:p])
        if intercept:
            _take_off(S, sums, total)
        inner, means, rest = _whitened(basis, S[:p, :p]), np.zeros(p), np.zeros(p)
        right, squares = applied(basis, S[p:-1, :p]).T.copy(), np.diagonal(S)[p:-1].copy()
        level = shift[p:] + sums[p:] / total if intercept else np.zeros(len(squares))
        if intercept:
            base, more = applied(basis, np.stack([shift[:p], sums[:p] / total]))
            means = base + more
            rest = (base - means) + more
        kept = _kept(np.diagonal(inner), means, moments.rows, total, intercept)
        right[~kept] = 0.0
        spectrum = _spectrum(inner, kept)
        noise = _noise(basis, spectrum, sizes)
        return cls(
            moments.rows, total, intercept, spectrum, kept, right, means, rest, level, squares, sizes, noise
        )  # fmt: skip


def _take_off(S: Array, sums: Array, total: float) -> None:
    """S - m m' / N in place, row by row."""
    for part in blocks(len(sums), len(sums)):
        S[part, :-1] -= sums[part, None] * (sums / total)


def _whitened(basis: Basis, G: Array) -> Array:
    """T'GT for a symmetric G."""
    half = applied(basis, G)
    return applied(basis, np.ascontiguousarray(half.T))


def _kept(squares: Array, means: Array, rows: int, total: float, intercept: bool) -> NDArray[np.bool_]:
    """Which features are more than rounding when their mean is taken off; one at least, for there to be a system."""
    if not intercept:
        return np.ones(len(squares), dtype=bool)
    norms = np.sqrt(np.maximum(squares, 0.0))
    kept = norms > rows * EPS * np.sqrt(np.maximum(squares, 0.0) + total * means**2)
    if not kept.any():
        kept[:1] = True
    return np.asarray(kept)


def _spectrum(inner: Array, kept: NDArray[np.bool_]) -> Spectrum:
    """With eigenvectors of all features, zero at those that vanish."""
    if kept.all():
        return Eigen().decompose((inner + inner.T) / 2)
    part = inner[np.ix_(kept, kept)]
    found = Eigen().decompose((part + part.T) / 2)
    vectors = np.zeros((len(kept), len(found.values)))
    vectors[kept] = found.vectors
    return Spectrum(found.values, vectors)


def _noise(basis: Basis, spectrum: Spectrum, sizes: Array) -> Array:
    """How far eigenvalues may be off: entries of S are by eps e_i e_j, so v'T'STv is by eps |e * Tv|^2."""
    V: Any = spectrum.vectors
    parts = [np.square(sizes[:, None] * basis.to_raw(V[:, part])).sum(axis=0) for part in blocks(V.shape[1], len(V))]
    return np.maximum(spectrum.floor, EPS * np.concatenate(parts))
