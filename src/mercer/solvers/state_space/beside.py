"""Coefficients of functions of time that are found beside a process: an intercept, a trend, waves of given periods.

With G the functions at the rows, M = K + alpha / w and S = G'M^-1 G + penalties, the coefficients are beta = S^-1
G'M^-1 y, and the inverse of the whole matrix is M^-1 - M^-1 G S^-1 G'M^-1 (Woodbury).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mercer.compute.codegen.compiled import compiled
from mercer.solvers.state_space.sweeps import Forth, Piece

Array = NDArray[np.float64]
EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Beside:
    """The coefficients, for several alphas.

    values : (features, outputs, alphas)
    roots : (features, features, alphas), R with R'R = S^-1
    logs : (alphas,), log det S
    """

    values: Array
    roots: Array
    logs: Array

    @classmethod
    def of(cls, found: Forth, outputs: int, penalties: Array) -> Beside:
        """From the sums of the way forth."""
        count, _, alphas = found.products.shape
        values, roots, logs = np.zeros((count, outputs, alphas)), np.zeros((count, count, alphas)), np.zeros(alphas)
        for j in range(alphas if count else 0):
            S = found.products[:, outputs:, j] + np.diag(penalties)
            S = (S + S.T) / 2
            scale = np.sqrt(np.maximum(np.diagonal(S), np.finfo(np.float64).tiny))
            spectrum, vectors = np.linalg.eigh(S / scale / scale[:, None])
            kept = spectrum > count * EPS * spectrum[-1]
            inverse = np.divide(1.0, spectrum, out=np.zeros_like(spectrum), where=kept)
            roots[:, :, j] = np.sqrt(inverse)[:, None] * vectors.T / scale
            values[:, :, j] = roots[:, :, j].T @ (roots[:, :, j] @ found.products[:, :outputs, j])
            logs[j] = np.log(spectrum[kept]).sum() + 2 * np.log(scale).sum()
        return cls(values, roots, logs)

    def solutions(self, found: Piece, outputs: int) -> tuple[Array, Array]:
        """(rows, outputs, alphas): the whole inverse times y, at the rows of a piece; (rows, alphas): its diagonal."""
        solved, inverse = np.empty((len(found.inverse), outputs, self.values.shape[2])), np.empty_like(found.inverse)
        combine(found.solved, found.inverse, self.values, self.roots, solved, inverse)
        return solved, inverse


@compiled()
def combine(solved: Array, inverse: Array, values: Array, roots: Array, out: Array, diagonal: Array) -> None:
    """Take off what the features explain; a diagonal that is nothing but rounding becomes 0."""
    outputs, features = out.shape[1], len(roots)
    part = np.empty(out.shape[2])
    for i in range(len(out)):
        diagonal[i] = inverse[i]
        out[i] = solved[i, :outputs]
        for p in range(features):
            part[:] = 0.0
            for q in range(features):
                for j in range(len(part)):
                    part[j] += roots[p, q, j] * solved[i, outputs + q, j]
            for j in range(len(part)):
                diagonal[i, j] -= part[j] * part[j]
            for t in range(outputs):
                for j in range(len(part)):
                    out[i, t, j] -= values[p, t, j] * solved[i, outputs + p, j]
        for j in range(len(part)):
            diagonal[i, j] = diagonal[i, j] if diagonal[i, j] > 1e-13 * inverse[i, j] else 0.0
