"""A symmetric matrix by its tridiagonal form, torn into blocks: every alpha for a fraction of an eigendecomposition.

A = Q T Q' with a tridiagonal T. A tear between two of its rows adds the size of the number beside the diagonal there,
|beta|, to both their diagonals, so that T falls into blocks S_j diag(l_j) S_j' (Cuppen 1981), and

    A = W diag(l) W' - W B B' W'        with W = Q diag(S_1, S_2, ...).

Column k of B is sqrt(|beta_k|) times the last row of S_k and, with the other sign than beta_k, the first of S_k+1. With
D = (diag(l) + alpha)^-1 and C = I - B'DB, which is tridiagonal and positive definite as A + alpha is,

    (A + alpha I)^-1 = W (D + D B C^-1 B' D) W',

whose diagonal is a sum of positive terms. Divide and conquer would join the blocks to eigenvectors here: that takes
longer than all of a path.

Cuppen, A divide and conquer method for the symmetric tridiagonal eigenproblem, Numerische Mathematik 36 (1981).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigvalsh_tridiagonal

from mercer.operators.dense import tiles

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Torn:
    """A as above; like a `Spectrum`, for alphas that are not tiny.

    diagonal, beside : T
    values : l, the eigenvalues of the blocks
    vectors : W, one column per value
    ends : the least, the second largest and the largest eigenvalue of A
    blocks : the rows of T in each block
    edges : (rows, 2) for each: what its rows are in B, of the tear before it, and of the one behind
    """

    diagonal: Array
    beside: Array
    values: Array
    vectors: Array
    ends: tuple[float, float, float]
    blocks: list[slice]
    edges: list[Array]

    @property
    def floor(self) -> float:
        """What cannot be told from zero, as of a `Spectrum`."""
        exact = np.finfo(np.float64)
        return float(max(len(self.values) * exact.eps * max(map(abs, self.ends)), exact.tiny))

    @property
    def eigenvalues(self) -> Array:
        """Those of A, in rising order. Cost: some 30 n^2 operations."""
        return np.asarray(eigvalsh_tridiagonal(self.diagonal, self.beside, lapack_driver="sterf"))

    def inverses(self, alphas: NDArray[Any]) -> Array:
        """(n, alphas): D."""
        return np.asarray(1.0 / (self.values[:, None] + np.asarray(alphas, dtype=np.float64)))

    # -- as a decomposition ---------------------------------------------------------------------------------------

    def solve(self, targets: NDArray[Any], alphas: NDArray[Any]) -> Array:
        """(A + alpha_t I)^-1 b_t for each column b_t."""
        aims, found = self.vectors.T @ targets, np.empty(targets.shape)
        for alpha in np.unique(alphas):
            own = np.flatnonzero(alphas == alpha)
            found[:, own] = self.vectors @ Tears.of(self, np.array([alpha])).fits(aims[:, own])
        return found

    def roughly(self, targets: NDArray[Any], alphas: NDArray[Any]) -> Array:
        """The same."""
        return self.solve(targets, alphas)

    def serves(self, alphas: NDArray[Any]) -> bool:
        """For all alphas that are not tiny, for which it was made."""
        return True

    def multiply(self, x: NDArray[Any]) -> Array:
        """A x."""
        turned = self.vectors.T @ x
        products, over = self.values[:, None] * turned, self._across(turned)
        for k, (block, edge) in enumerate(zip(self.blocks, self.edges, strict=True)):
            products[block] -= edge @ over[k : k + 2]
        return np.asarray(self.vectors @ products)

    def inverse_diagonal(self, alpha: float) -> Array:
        """The diagonal of (A + alpha I)^-1. Cost: 2 n^2 operations, and a tile."""
        n, tears = len(self.values), Tears.of(self, np.array([alpha]))
        return np.concatenate([tears.diagonal(self.vectors[part])[:, 0] for part in tiles(n, n)])

    def log_determinant(self, alpha: float) -> float:
        """log det(A + alpha I)."""
        pivots = Tears.of(self, np.array([alpha])).pivots
        return float(np.log(self.values + alpha).sum() + np.log(pivots).sum())

    def condition(self, alphas: NDArray[Any]) -> float:
        """The condition number of A + alpha I for the smallest of the alphas."""
        least = float(np.min(alphas))
        return (self.ends[2] + least) / (max(self.ends[0], 0.0) + least)

    def truncated(self, alphas: NDArray[Any]) -> bool:
        """Whether some direction gets no part of a solution: of alphas that it serves none."""
        return False

    def clipped(self, alphas: NDArray[Any]) -> bool:
        """Whether negative eigenvalues change solutions: where there are any, it serves no alphas."""
        return False

    def _across(self, turned: Array) -> Array:
        """(blocks + 1, columns): B' of columns, between two rows of zeros."""
        over = np.zeros((len(self.blocks) + 1, turned.shape[1]))
        for k, (block, edge) in enumerate(zip(self.blocks, self.edges, strict=True)):
            over[k : k + 2] += edge.T @ turned[block]
        return over


@dataclass(frozen=True, eq=False)
class Tears:
    """What joins the blocks again, for m alphas.

    inverses : (n, m), D
    pivots, below : of C = L diag(pivots) L', (tears, m), and what stands below the diagonal of L, (tears - 1, m)
    """

    torn: Torn
    inverses: Array
    pivots: Array
    below: Array

    @classmethod
    def of(cls, torn: Torn, alphas: NDArray[Any]) -> Tears:
        """For alphas that are served."""
        D, count = torn.inverses(alphas), len(torn.blocks) - 1
        C, beside = np.ones((count, D.shape[1])), np.empty((max(count - 1, 0), D.shape[1]))
        for k, (block, edge) in enumerate(zip(torn.blocks, torn.edges, strict=True)):
            before, behind = edge.T
            if k > 0:
                C[k - 1] -= before**2 @ D[block]
            if k < count:
                C[k] -= behind**2 @ D[block]
            if 0 < k < count:
                beside[k - 1] = -(before * behind) @ D[block]
        for k in range(count - 1):
            reach = beside[k] / C[k]
            C[k + 1] -= reach * beside[k]
            beside[k] = reach
        return cls(torn, D, C, beside)

    def fits(self, aims: Array) -> Array:
        """(n, m * outputs): (D + D B C^-1 B' D) times a right side (n, outputs), for each alpha."""
        torn, m, outputs = self.torn, self.inverses.shape[1], aims.shape[1]
        found = (self.inverses[:, :, None] * aims[:, None, :]).reshape(len(aims), -1)
        over = torn._across(found)
        inside = over[1:-1].reshape(len(self.pivots), m, outputs)
        for k in range(len(inside) - 1):
            inside[k + 1] -= self.below[k][:, None] * inside[k]
        inside /= self.pivots[:, :, None]
        for k in range(len(inside) - 2, -1, -1):
            inside[k] -= self.below[k][:, None] * inside[k + 1]
        over[[0, -1]] = 0.0
        for k, (block, edge) in enumerate(zip(torn.blocks, torn.edges, strict=True)):
            part = found[block].reshape(len(edge), m, outputs)
            part += self.inverses[block][:, :, None] * (edge @ over[k : k + 2]).reshape(part.shape)
        return found

    def diagonal(self, rows: Array) -> Array:
        """(rows, m): t'(D + D B C^-1 B' D) t for rows t of W."""
        torn, m = self.torn, self.inverses.shape[1]
        found = (rows * rows) @ self.inverses
        over, last = np.zeros((len(rows), m)), len(torn.blocks) - 1
        for k, block in enumerate(torn.blocks):
            both = rows[:, block] @ self._spread[k]
            if k > 0:  # the tear before this block is complete
                over += both[:, :m]
                found += over * over
            if k < last:
                behind = both[:, m:]
                if k > 0:
                    behind -= self._reach[k - 1] * over
                over = behind
        return np.asarray(found)

    @cached_property
    def _spread(self) -> list[Array]:
        """(rows of the block, 2 m) for each: D B, in units of the roots of the pivots."""
        units = 1.0 / np.sqrt(self.pivots)
        around = np.vstack([np.zeros((1, units.shape[1])), units, np.zeros((1, units.shape[1]))])
        return [
            (edge[:, :, None] * (self.inverses[block][:, None, :] * around[k : k + 2])).reshape(len(edge), -1)
            for k, (block, edge) in enumerate(zip(self.torn.blocks, self.torn.edges, strict=True))
        ]

    @cached_property
    def _reach(self) -> Array:
        """What stands below the diagonal of L, in the same units."""
        roots = np.sqrt(self.pivots)
        return np.asarray(self.below * roots[:-1] / roots[1:])
