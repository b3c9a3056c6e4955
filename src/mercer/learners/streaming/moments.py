"""Sums over rows that come in pieces: all that least squares needs to know of them, and the normal equations of that.

With r = raw(x) - c for a fixed c near the mean, and y likewise, S = sum_i s_i [r, y, 1]_i [r, y, 1]_i' holds all of it,
and the Schur complement of its last entry is what centring leaves. Raw functions become features afterwards: T'ST.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mercer.backends.base import Accumulator
from mercer.backends.context import current
from mercer.backends.passes import Operations, Pass
from mercer.compute.codegen.tiles import mirror
from mercer.compute.runtime.run import IDLE, Run, State, telling
from mercer.learners.data.views import EPS
from mercer.learners.streaming.basis import Basis
from mercer.learners.streaming.stream import Piece
from mercer.planner.batches import squaring
from mercer.solvers import Eigen
from mercer.solvers.ridge.spectrum import Spectrum

Array = NDArray[np.float64]
BLOCK_NUMBERS = 1 << 22
"""Numbers in a block of raw functions, about: 32 MB."""
CALL_OPERATIONS = 1 << 34
"""Operations of one call of BLAS, about: a fifth of a second, in which nothing can be interrupted."""
THIN = 64
"""Rows of a block, at least, about: thinner products are slow."""
MAX_MEAN_ROWS = 4096
"""Rows whose mean is c, at most."""
MEAN_TABLE_NUMBERS = 1 << 20
"""Numbers in a table of their raw functions: 8 MB."""


def blocks(count: int, width: int) -> Iterator[slice]:
    """Slices of equal lengths that cover so many rows, for products of `width`^2 operations per row."""
    step = max(THIN, min(BLOCK_NUMBERS // width, CALL_OPERATIONS // width**2))
    parts = max(1, round(count / step))  # none is left that is thin
    return (slice(count * i // parts, count * (i + 1) // parts) for i in range(parts))


def applied(basis: Basis, rows: Array) -> Array:
    """rows T, some rows at once; the rows themselves where T is I."""
    if basis.plain:
        return rows
    parts = [basis.to_features(rows[part]) for part in blocks(len(rows), basis.width)]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


@dataclass(frozen=True, eq=False)
class Squares(Pass):
    """sum_i [r, t]_i [r, t]_i' on and below the diagonal, for values r less a shift and thin columns t.

    shift : (p,)
    others : how many columns t there are; they are given with the weights in
    """

    reads: ClassVar[tuple[str, ...]] = ("roots", "others")

    shift: Array
    others: int

    def sums(self, width: int) -> Mapping[str, tuple[int, ...]]:
        return {"sums": (width + self.others, width + self.others)}

    def add(self, values: Any, rows: Mapping[str, Any], sums: dict[str, Any], ops: Operations) -> None:
        S, t, p = sums["sums"], rows["others"], values.shape[1]
        values -= self.shift
        if "roots" in rows:  # of weights that are not all 1
            values *= rows["roots"][:, None]
        ops.add_squares(S[:p, :p], values)
        S[p:, :p] += (values.T @ t).T  # half of the time of t.T @ values: BLAS copies less
        S[p:, p:] += t.T @ t


class Moments:
    """S, of the rows that were added so far. Cost: n p^2 operations, and p^2 numbers for each lane.

    basis : whose raw functions are summed
    centred : whether c is the mean of the first rows; else it is zero
    rows : how many rows there are in it
    """

    def __init__(self, basis: Basis, outputs: int, centred: bool) -> None:
        self.basis, self.outputs, self.centred, self.rows = basis, outputs, centred, 0
        self.shift = np.zeros(basis.width + outputs)
        self._sums: Accumulator | None = None

    def add(self, piece: Piece, run: Run = IDLE) -> None:
        """The rows of a piece."""
        if self._sums is None:
            if self.centred:
                self._shift_to(piece)
            self._sums = self._begun()
        roots = np.sqrt(piece.weights)
        others = np.column_stack([piece.targets - self.shift[self.basis.width :], np.ones(len(roots))])
        others *= roots[:, None]
        rows = {"others": others} | ({"roots": roots} if (roots != 1.0).any() else {})
        self.basis.add_to(self._sums, piece.points, rows, telling(run, self.rows, len(roots)))
        self.rows += len(roots)

    def _begun(self, state: State | None = None) -> Accumulator:
        p = self.basis.width
        return current().accumulate(Squares(self.shift[:p], self.outputs + 1), p, squaring(p), state)

    def _shift_to(self, piece: Piece) -> None:
        """Take the mean of some rows as c."""
        few = piece.rows(slice(max(THIN, min(MAX_MEAN_ROWS, MEAN_TABLE_NUMBERS // self.basis.width))))
        shares = few.weights / few.weights.sum()
        self.shift = np.concatenate([shares @ self.basis.raw(few.points), shares @ few.targets])

    def given_away(self) -> Array:
        """S, symmetric; nothing is left here."""
        sums, self._sums = self._sums or self._begun(), None
        S = sums.joined()["sums"]
        mirror(S)
        return S

    # -- states to go on from -------------------------------------------------------------------------------------

    def state(self) -> State:
        """All that is known of the rows so far."""
        sums = {} if self._sums is None else self._sums.state()
        return {"shift": self.shift, "rows": np.array(self.rows), **sums}

    def restore(self, state: State) -> None:
        """Go on from a state of the same plan."""
        self.shift = np.array(state["shift"], dtype=np.float64)
        self.rows = int(state["rows"])
        self._sums = self._begun(state) if self.rows else None


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
    center : the mean of the functions that were summed, in two parts: most of it, and the rest
    sizes : (p,), the lengths of their columns, to which the rounding of sums is relative
    turned : (p, k), T V: from functions that were summed to features along the eigenvectors
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
    center: tuple[Array, Array]
    sizes: Array
    turned: Array

    @classmethod
    def of(cls, moments: Moments, intercept: bool) -> Normal:
        """From sums, which are used up."""
        p, basis, S = moments.basis.width, moments.basis, moments.given_away()
        total, sums, sizes = float(S[-1, -1]), S[-1, :-1].copy(), np.sqrt(np.diagonal(S)[:p])
        if intercept:
            _take_off(S, sums, total)
        else:
            sums[:] = 0.0
        center = moments.shift[:p], sums[:p] / total
        base, more = applied(basis, np.stack(center))
        means = base + more
        inner, right = _whitened(basis, S[:p, :p]), applied(basis, S[p:-1, :p]).T.copy()
        kept = np.ones(p, dtype=bool)
        if intercept and basis.plain:  # elsewhere rounding hides which features vanish
            kept = kept_features(np.diagonal(inner), means, moments.rows, total)
        right[~kept] = 0.0
        squares = np.maximum(np.diagonal(S)[p:-1], 0.0)
        del S  # LAPACK needs the room
        spectrum = spectrum_of(inner, kept)
        return cls(
            rows=moments.rows,
            total=total,
            intercept=intercept,
            spectrum=spectrum,
            kept=kept,
            right=right,
            means=means,
            rest=(base - means) + more,
            level=moments.shift[p:] + sums[p:] / total,
            squares=squares,
            center=center,
            sizes=sizes,
            turned=_turned(basis, spectrum.vectors),
        )

    @cached_property
    def noise(self) -> Array:
        """(k,), how far eigenvalues may be off: entries of S are by eps e_i e_j, so v'T'STv is by eps |e * Tv|^2."""
        off = EPS * np.einsum("i,ij,ij->j", self.sizes**2, self.turned, self.turned)
        return np.asarray(np.maximum(self.spectrum.floor, off))

    @cached_property
    def aims(self) -> Array:
        """(k, outputs): the right side along the eigenvectors."""
        return np.asarray(self.spectrum.vectors.T @ self.right)


def _take_off(S: Array, sums: Array, total: float) -> None:
    """S - m m' / N in place, row by row."""
    for part in blocks(len(sums), len(sums)):
        S[part, :-1] -= sums[part, None] * (sums / total)


def _whitened(basis: Basis, G: Array) -> Array:
    """T'GT for a symmetric G."""
    return applied(basis, np.ascontiguousarray(applied(basis, G).T))


def kept_features(squares: Array, means: Array, rows: int, total: float) -> NDArray[np.bool_]:
    """Which features are more than rounding when their mean is taken off; one at least, for there to be a system."""
    squares = np.maximum(squares, 0.0)
    kept = np.sqrt(squares) > rows * EPS * np.sqrt(squares + total * means**2)
    if not kept.any():
        kept[:1] = True
    return np.asarray(kept)


def spectrum_of(inner: Array, kept: NDArray[np.bool_]) -> Spectrum:
    """With eigenvectors of all features, zero at those that vanish; the matrix is used up."""
    mirror(inner)
    if kept.all():
        return Eigen().decompose(inner)
    found = Eigen().decompose(inner[np.ix_(kept, kept)])
    vectors = np.zeros((len(kept), len(found.values)))
    vectors[kept] = found.vectors
    return Spectrum(found.values, vectors)


def _turned(basis: Basis, vectors: Array) -> Array:
    """T V, some columns at once."""
    if basis.plain:
        return vectors
    return np.hstack([basis.to_raw(vectors[:, part]) for part in blocks(vectors.shape[1], len(vectors))])
