"""What must hold between the fields of a lift, and of what it is made of."""

from __future__ import annotations

from typing import Any

from mercer.lifts.monomial_index import Family
from mercer.lifts.parts import Chosen, Joined, Lifted, Moved, Multiplied, Polynomials
from mercer.lifts.tensor_sketch import TensorSketch
from mercer.models.invariants import MOST_COLUMNS, points, shapes, within

NUMBERED = 62
"""A family of monomials has at least 2^min(columns, degree) members, and no more than 2^62 can be numbered."""


def family(one: Family) -> str:
    """Monomials that can be numbered."""
    if not (1 <= one.width < MOST_COLUMNS and 1 <= one.degree < MOST_COLUMNS and 0 <= one.lowest <= one.degree):
        return f"got degrees {one.lowest} to {one.degree} of {one.width} columns"
    few = min(one.width, one.degree) <= NUMBERED and (one.repeated or one.degree <= one.width)
    return "" if few else "there are too many monomials"


def rising(one: Any) -> str:
    """Powers that can be numbered."""
    few = 1 <= one.width < MOST_COLUMNS and 1 <= one.degree < MOST_COLUMNS
    return "" if few else f"got {one.degree} powers of {one.width} columns"


def expansion(one: Any) -> str:
    """Monomials of columns that exist, and coefficients for each of them."""
    factors = one.factors
    if factors.ndim != 2 or not within(factors, -1, one.width) or not 1 <= one.width < MOST_COLUMNS:
        return f"monomials name columns that are not among {one.width}"
    if factors.shape[1] == 0 or ((factors[:, :-1] < 0) & (factors[:, 1:] >= 0)).any():
        return "monomials have a gap between their columns"
    shape = one.coefficients.shape
    return "" if shape[1] == len(factors) else f"got coefficients of shape {shape} for {len(factors)} monomials"


def tensor_sketch(one: Any) -> str:
    """Places that exist, and a sign each."""
    if one.places.ndim != 2 or one.places.shape[1] == 0 or one.width < 1:
        return f"got places of shape {one.places.shape}"
    room = one.places.shape[1] * one.width
    if not within(one.places, 0, room):
        return f"places lie beyond {room}"
    return shapes((one.signs, one.places.shape), (one.shift, (room,)))


def axis(one: Any) -> str:
    """A direction."""
    return shapes((one.tail, (None,)))


def sketch(one: Any) -> str:
    """Parts of as many columns as the direction has, with as many features as were counted."""
    if not hasattr(one, "_division"):
        return ""
    tail, counts = one._division.axis.tail, one.counts_
    if len(tail) != one.n_features_in_ or min(counts, default=-1) < 0 or one.n_components_ != sum(counts):
        return f"got {one.n_components_} features of {len(tail)} columns"
    for degree, part in one.parts_.items():
        columns = len(part.places) if isinstance(part, TensorSketch) else part.width
        if not 0 < degree < len(counts) or columns != len(tail):
            return f"a part of degree {degree} has {columns} columns"
    return ""


def nystrom(one: Any) -> str:
    """A square factor, of as many rows as there are landmarks."""
    if not hasattr(one, "factor_"):
        return ""
    if one._precomputed:
        return _nystrom_of_matrix(one)
    if one.kernel_ is None or one.landmarks_ is None:
        return "there are no landmarks"
    p = one.landmarks_.shape[0]
    if one.landmarks_.shape[1:] != (one.n_features_in_,) or one.n_components_ != p or p == 0:
        return f"got landmarks of shape {one.landmarks_.shape} for {one.n_features_in_} columns"
    return shapes((one.factor_, (p, p))) or points(one.landmark_points(None))


def _nystrom_of_matrix(one: Any) -> str:
    """Positions of landmarks among the rows that were fitted, and a square factor."""
    places, p = one.landmark_indices_, one.n_components_
    if places is None or p == 0 or places.shape != (p,) or places.min() < 0 or places.max() >= one.n_features_in_:
        return f"got landmarks that are no {p} rows of {one.n_features_in_}"
    return shapes((one.factor_, (p, p)))


def fourier(one: Any) -> str:
    """Frequencies of as many numbers as there are columns."""
    if not hasattr(one, "frequencies_"):
        return ""
    m, d = len(one.frequencies_), one.n_features_in_
    if one.n_components_ != (2 * m if one.offsets_ is None else m):
        return f"got {one.n_components_} components for {m} frequencies"
    offsets = [] if one.offsets_ is None else [(one.offsets_, (m,))]
    return shapes((one.frequencies_, (None, d)), (one.center_, (d,)), *offsets)


def radial_basis(one: Any) -> str:
    """Centers of as many numbers as there are columns."""
    return shapes((one.centers_, (None, one.n_features_in_))) if hasattr(one, "centers_") else ""


def expanded(one: Any) -> str:
    """An expansion of as many columns as were fitted."""
    if not hasattr(one, "expansion_") or one.expansion_.width == one.n_features_in_:
        return ""
    return f"got an expansion of {one.expansion_.width} columns for {one.n_features_in_}"


def composed(one: Any) -> str:
    """Parts of as many columns as the whole: they are not asked again."""
    parts = [getattr(one, name, None) for name in ("first_", "second_", "lift_")]
    wrong = [part for part in parts if part is not None and getattr(part, "n_features_in_", None) != one.n_features_in_]
    return f"got a part of other than {one.n_features_in_} columns" if wrong else ""


def counts(one: Any) -> str:
    """Known rows of as many columns as were fitted."""
    if not hasattr(one, "_known") or one._known.shape[1] == one.n_features_in_:
        return ""
    return f"got rows of {one._known.shape[1]} columns for {one.n_features_in_}"


def exact(one: Any) -> str:
    """Parts of columns that exist, whatever they stand behind."""
    return _part(one._part, one.n_features_in_) if hasattr(one, "_part") else ""


def _part(part: Any, columns: int | None) -> str:
    """What is wrong with a part that sees so many columns."""
    if isinstance(part, Polynomials):
        wrong = part.expansion.width != columns
        return f"got polynomials of {part.expansion.width} columns for {columns}" if wrong else ""
    if isinstance(part, Lifted):
        wrong = getattr(part.lift, "n_features_in_", columns) != columns
        return f"got a lift of other than {columns} columns" if wrong else ""
    below: list[tuple[Any, int | None]] = [(inner, columns) for inner in _inside(part)]
    if isinstance(part, Chosen):
        below = [(part.inside, len(part.columns))]
    if isinstance(part, Moved):
        below = [(part.inside, part.kernel.inner_width(columns))]
    return next((told for inner, width in below if (told := _part(inner, width))), "")


def _inside(part: Any) -> tuple[Any, ...]:
    if isinstance(part, Joined):
        return part.parts
    return (part.first, part.second) if isinstance(part, Multiplied) else (part.inside,)
