"""The canonical form of a quadratic polynomial: its center, its axes, and what is left of it there.

What counts as zero is decided in the units of the scalers before the lift, where there are some, and how large a shape
is in the units of the data. Both use only what rounding of the weights leaves certain.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import cholesky

from mercer.geometry.accurate import Matrix, Vector, singular_values
from mercer.geometry.quadratic import EPSILON, Quadratic
from mercer.geometry.terms import Terms

ZERO = 1e-14
"""What is below this part of the largest is zero: a degree; an eigenvalue or a slope below d times this part."""


_FARTHEST = 2.0**99


@dataclass(frozen=True, eq=False)
class Canonical:
    """q(x) = sum_i values_i t_i^2 + slope t_(r+1) + constant, with t = directions (x - center).

    values : (r,), not zero
    directions : (d, d), orthonormal rows, those of the values first
    slope : from zero on; where it is not zero, the constant is
    doubt : how far the sizes are in doubt, relative to themselves
    smallest : where the constant is zero within rounding, how large a shape would look the same, in scaled units
    blur : how far the boundary is in doubt because the center, a rounded number, is far away, relative to the reach
    """

    center: Vector
    values: Vector
    directions: Matrix
    slope: float
    constant: float
    doubt: float = 0.0
    smallest: float = 0.0
    blur: float = 0.0


def reach(terms: Terms) -> float:
    """Where terms of different degrees are compared: where the first outgrows the constant, at least at one unit."""
    higher = (terms.degrees > 0) & (terms.coefficients != 0)
    with np.errstate(over="ignore"):  # a coefficient of next to nothing is never the first
        ratios = abs(terms.constant) / np.abs(terms.coefficients[higher])
    first = np.min(ratios ** (1 / terms.degrees[higher]), initial=_FARTHEST)
    return max(1.0, float(first))


def canonical(terms: Terms) -> Canonical:
    """The canonical form of a polynomial of the second degree. Cost: O(d^3)."""
    scaled = terms.normalised().quadratic()
    spectrum = _decided(scaled, reach(terms))
    point, local = _centered(scaled, spectrum)
    sloping = _slopes(scaled, spectrum, max(reach(terms), np.abs(point).max()), local)
    doubt = scaled.doubt(point) + _neglected(spectrum, local, reach(terms))
    certain = sloping or abs(local.constant) > doubt
    rounded = Quadratic(local.matrix, local.linear * sloping, local.constant * certain)
    found = _measured(rounded.per(terms.unit), terms.origin + terms.unit * point, np.sign(spectrum.values))
    far = np.abs((found.center - terms.origin) / terms.unit).max()
    found = replace(found, blur=EPSILON * float(far) / reach(terms))
    if sloping:
        return found
    if not certain:
        return replace(found, smallest=math.sqrt(doubt / np.abs(spectrum.values).min()))
    return replace(found, doubt=found.doubt + doubt / abs(local.constant))


@dataclass(frozen=True, eq=False)
class _Spectrum:
    """The nonzero eigenvalues with their vectors, one per column; a basis of the rest; the largest eigenvalue."""

    values: Vector
    vectors: Matrix
    rest: Matrix
    dropped: float

    def solve(self, right: Vector) -> Vector:
        return np.asarray(self.vectors @ ((self.vectors.T @ right) / self.values))


def _decided(quadratic: Quadratic, length: float) -> _Spectrum:
    """The eigenvalues, those that are zero within rounding put aside."""
    values, vectors = _eigen(quadratic.matrix)
    least = ZERO * len(values) * max(np.abs(values).max(), np.abs(quadratic.linear).max() / length)
    kept = np.abs(values) > min(least, np.abs(values).max() / 2)  # one is kept at least: the degree is the second
    return _Spectrum(values[kept], vectors[:, kept], vectors[:, ~kept], np.abs(values[~kept]).max(initial=0.0))


def _centered(quadratic: Quadratic, spectrum: _Spectrum) -> tuple[Vector, Quadratic]:
    """The stationary point, and the polynomial about it; refined with exact residuals."""
    point = -spectrum.solve(quadratic.linear) / 2
    for _ in range(4):
        local = quadratic.about(point)
        moved = point - spectrum.solve(local.linear) / 2
        if np.array_equal(moved, point):
            break
        point = moved
    return point, quadratic.about(point)


def _slopes(quadratic: Quadratic, spectrum: _Spectrum, length: float, local: Quadratic) -> bool:
    """Whether a linear part is left, along the directions in which nothing is squared."""
    left = np.abs(spectrum.rest.T @ local.linear).max(initial=0.0)
    sizes = max(np.abs(quadratic.linear).max(), length * np.abs(spectrum.values).max())
    return bool(left > ZERO * len(local.linear) * sizes)


def _neglected(spectrum: _Spectrum, local: Quadratic, length: float) -> float:
    """What the squares and slopes that count as zero add up to within the reach; four times that, to be safe."""
    slopes = float(np.abs(spectrum.rest.T @ local.linear).sum())
    return 4 * length * (slopes + length * spectrum.dropped)


def _measured(local: Quadratic, start: Vector, signs: Vector) -> Canonical:
    """The canonical form about a point near the center, in the units of the data; these do not change the signs."""
    spectrum, doubt = _spectrum(local.matrix, signs)
    step = -spectrum.solve(local.linear) / 2
    constant = local.constant + float(local.linear @ step) / 2
    slopes = spectrum.rest.T @ local.linear
    slope = float(np.linalg.norm(slopes))
    rest = spectrum.rest
    if slope > 0:
        rest = _led(rest, slopes)
        step = step - rest[:, 0] * (constant / slope)  # to the vertex
        constant = 0.0
    directions = np.column_stack([spectrum.vectors, rest]).T
    return Canonical(start + step, spectrum.values, directions, slope, constant, doubt)


def _spectrum(matrix: Matrix, signs: Vector) -> tuple[_Spectrum, float]:
    """As many eigenvalues as there are signs, the largest, and how far they are in doubt, relative to themselves."""
    rank, width = len(signs), len(matrix)
    if rank == width and abs(signs.sum()) == width:
        values, vectors, spread = _graded(matrix, signs[0])
        return _Spectrum(values, vectors, vectors[:, width:], 0.0), width * EPSILON * spread
    values, vectors = _eigen(matrix)
    order = np.argsort(-np.abs(values), kind="stable")
    kept, rest = order[:rank], order[rank:]
    found = _Spectrum(values[kept], vectors[:, kept], vectors[:, rest], 0.0)
    return found, width * EPSILON * _spread(found.values)


def _eigen(matrix: Matrix) -> tuple[Vector, Matrix]:
    if _is_diagonal(matrix):  # so for every ball, in any dimension
        return np.diagonal(matrix).copy(), np.eye(len(matrix))
    values, vectors = np.linalg.eigh(matrix)
    return values, vectors


def _graded(matrix: Matrix, sign: float) -> tuple[Vector, Matrix, float]:
    """The eigenvalues of a definite matrix, each to its own digits, and the condition that decides how many.

    Columns of very different units make a matrix D B D with diagonal D, and only the condition of B matters to the
    small eigenvalues. `eigh` would lose them; Jacobi's rotations of Cholesky's factor do not.
    """
    values, vectors = _eigen(matrix)
    units = np.sqrt(np.abs(np.diagonal(matrix)))
    spread = _spread(_eigen(matrix / np.outer(units, units))[0])
    if not _is_diagonal(matrix) and _spread(values) > 10 * spread:
        sizes, vectors = singular_values(cholesky(sign * matrix))
        values = sign * sizes**2
    return values, vectors, spread


def _is_diagonal(matrix: Matrix) -> bool:
    return bool(np.count_nonzero(matrix) == np.count_nonzero(np.diagonal(matrix)))


def _spread(values: Vector) -> float:
    least = float(np.abs(values).min())
    return float(np.abs(values).max()) / least if least > 0 else np.inf


def _led(basis: Matrix, slopes: Vector) -> Matrix:
    """An orthonormal basis of the same space whose first vector points along basis @ slopes."""
    turn, _ = np.linalg.qr(slopes[:, None], mode="complete")
    led = basis @ turn
    led[:, 0] *= np.sign(turn[:, 0] @ slopes)
    return np.asarray(led)
