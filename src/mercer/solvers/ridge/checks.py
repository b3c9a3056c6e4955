"""What solvers check: their input, since LAPACK checks little, and the residual of what comes out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mercer.backends.context import current
from mercer.backends.squares import Square, check_sums
from mercer.errors import InputError, message
from mercer.operators import Operator
from mercer.operators.base import read
from mercer.operators.dense import TILE_NUMBERS, tiles
from mercer.solvers.ridge.base import Matrix, System

if TYPE_CHECKING:
    from mercer.operators.at_backend import AtBackend

Stored: TypeAlias = "NDArray[np.float64] | AtBackend"

MIN_ROWS_AT_BACKEND = 1000
"""Rows from which on a stored matrix goes to the backend at hand: before, LAPACK is done before it is there."""
MAX_RESIDUAL = 1e-3
"""A relative residual above this is no solution, whatever a direct solver says."""

SAFE_SQUARES = 1e-250, 1e250
"""Sums of squares between which none has left the range of floats."""


def ready(system: System) -> tuple[Stored, System]:
    """A, which may be overwritten, and the system with it and with sides of float64; an error where they do not fit."""
    A = stored(system.matrix)
    return A, replace(sides(A.shape, system), matrix=A)


def stored(matrix: Matrix) -> Stored:
    """A as `overwritable` gives it; at the backend at hand where large matrices live there."""
    if isinstance(matrix, Operator) and (square := matrix.at_backend()) is not None:
        return _at_backend(square)
    A = overwritable(matrix)
    if len(A) < MIN_ROWS_AT_BACKEND or not current().holds_squares:
        return A
    square = current().square(A, np.diagonal(A))
    return A if square is None else _at_backend(square)


def _at_backend(square: Square) -> AtBackend:
    from mercer.operators.at_backend import AtBackend  # most matrices are in this process

    return AtBackend(square)


def sides(shape: tuple[int, ...], system: System) -> System:
    """The system with sides of float64; an error where they do not fit a matrix of this shape."""
    b, alphas = _of_float64(system.targets), _of_float64(system.alphas)
    if len(shape) != 2 or shape[0] != shape[1]:
        raise InputError(message("a square matrix", f"got one of shape {shape}", "Check the shape."))
    if alphas.ndim != 1 or not alphas.size or b.shape != (shape[0], len(alphas)):
        needs = f"targets of shape ({shape[0]}, outputs), and one alpha an output"
        got = f"got targets of shape {b.shape} and alphas of shape {alphas.shape}"
        raise InputError(message(needs, got, "Write b[:, None] for a single output."))
    if not np.isfinite(b).all():
        raise InputError(message("finite targets", "there is NaN or infinity", "Drop those rows, or fill them."))
    if not (np.isfinite(alphas) & (alphas >= 0)).all():
        raise InputError(message("alphas that are finite and at least 0", f"got {alphas}", "Use 0 for none."))
    return replace(system, targets=b, alphas=alphas)


def _of_float64(given: Any) -> NDArray[np.float64]:
    is_ready = type(given) is np.ndarray and given.dtype == np.float64
    return given if is_ready else np.asarray(read(given), dtype=np.float64)


def overwritable(matrix: Matrix) -> NDArray[np.float64]:
    """A, row after row, in memory that LAPACK may write to; a copy where it is not so, as of read-only arrays.

    LAPACK's wrappers copy whatever has another order or dtype, and write to read-only memory.
    """
    A = _of_float64(matrix.to_dense() if isinstance(matrix, Operator) else matrix)
    if A.ndim != 2 or A.shape[0] != A.shape[1] or not A.size:
        got = f"got one of shape {A.shape}"
        raise InputError(message("a square matrix that is not empty", got, "Check the shape."))
    return np.asarray(np.require(A.T if A.flags.f_contiguous else A, np.float64, ["C", "A", "W"]))  # A' is A


def row_sums(A: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sums of |A| along the rows, whose largest is the 1-norm; an error where they are not finite."""
    with np.errstate(over="ignore"):
        parts = [slice(None)] if A.size <= TILE_NUMBERS else tiles(len(A), len(A))
        sums = np.concatenate([np.abs(A[part]).sum(axis=1) for part in parts])
    return check_sums(sums)


def relative_residual(system: System, products: NDArray[Any], x: NDArray[Any]) -> float:
    """The largest |b_t - A x_t - alpha_t x_t| / |b_t| over the outputs, from the products A x; 0 where b is."""
    left, squared = system.targets - products - system.alphas * x, _squares(system.targets)
    if squared.min(initial=SAFE_SQUARES[1]) > SAFE_SQUARES[0] and squared.max(initial=0.0) < SAFE_SQUARES[1]:
        return float(np.sqrt((_squares(left) / squared).max(initial=0.0)))
    largest = np.abs(system.targets).max(axis=0, initial=0.0)
    units = np.where(largest > 0, largest, 1.0)  # squares of tiny and of huge numbers leave the range of floats
    left = np.linalg.norm(left / units, axis=0)
    sizes = np.linalg.norm(system.targets / units, axis=0)
    ratios = np.divide(left, sizes, out=np.where(left > 0, np.inf, 0.0), where=sizes > 0)
    return float(ratios.max(initial=0.0))


def _squares(columns: NDArray[Any]) -> NDArray[Any]:
    """The sum of squares of each column."""
    return np.asarray(np.einsum("ij,ij->j", columns, columns))


def solves(residual: float, reason: list[str]) -> bool:
    """Whether a direct solution deserves the name; where it does not, the reason is told."""
    if residual <= MAX_RESIDUAL:
        return True
    reason.append(f"The solution leaves a residual of {residual:.1e}: A + alpha I is singular to rounding.")
    return False
