"""Is this the kernel of these features? Exercises 19 and 20 in one call."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.errors import InputError, message, speaks
from mercer.kernels import Kernel
from mercer.kernels.formulas.difference import Difference, difference
from mercer.kernels.formulas.polynomials import Monomial, Polynomial
from mercer.kernels.formulas.surds import ZERO, Surd
from mercer.lifts.base import Lift
from mercer.lifts.equality import Equality
from mercer.lifts.sides import Features, Side, features_of, kernel_of

MAX_NAME = 30
"""Letters of a kernel that is written out in a sentence."""
MAX_EXACT = 24
"""Letters of a number that is shown as it is."""
POINTS = 20
"""Points of which all pairs are looked at, where formulas cannot be compared."""
ROUNDING = 1e-12
"""Coefficients that differ by less of their size may be equal but for the rounding of floats that they were made of."""
DISTINCT = 1e-9
"""Values that differ by more than this part of their size are different: floats of a function are rounded to 1e-16, and
numbers inside of kernels too."""


@speaks
def check(
    phi: Sequence[str] | str | Lift | Callable[[Any], Any],
    kernel: Kernel | str | Callable[[Any, Any], Any],
    d: int | None = None,
    *,
    names: Mapping[str, Any] | None = None,
) -> Equality:
    """Is k(x, z) the inner product phi(x).phi(z)? Equal, or two points where they differ.

    Where both are polynomials the answer is exact: both are multiplied out, in fractions and roots, and polynomials are
    equal only if all coefficients are. A float inside of a kernel or a lift counts as the simplest number next to it,
    0.1 as 1/10 and 1.4142135623730951 as sqrt(2). Other features and kernels are computed with 50 digits (Python
    functions with 16) at pairs of points: a difference proves that they differ, and where none is found the answer is
    "unknown".

    Parameters
    ----------
    phi : list of str, str, Lift or callable
        Formulas, one for each feature; a lift, fitted or not; or a function of all rows that returns a column for each
        feature.
    kernel : Kernel, str or callable
        A kernel; its text, or a formula of two points such as "x.z + (x.z)^2"; or a function of two points.
    d : int or None, default=None
        The number of columns; None for as many as both sides name, and for 2 where both are of any number.
    names : mapping or None, default=None
        Numbers, vectors and matrices that the text of the kernel uses by name.

    Returns
    -------
    Equality

    Examples
    --------
    >>> import mercer
    >>> phi = ["x1", "x2", "x1^2", "sqrt(2)*x1*x2", "x2^2"]
    >>> print(mercer.check(phi=phi, kernel="linear + linear**2"))
    equal: phi(x).phi(z) and linear + linear**2 are the same polynomial of x and z in R^2
    >>> print(mercer.check(phi=phi, kernel="2 (x.z)^2"))
    different: at x = (1, 0), z = (2, 0) phi(x).phi(z) is 6 and 2 (x.z)^2 is 8; the coefficient of x1 z1 is 1 in the one
    and 0 in the other
    >>> print(mercer.check(phi=["cos(x)", "sin(x)"], kernel="cos(x - z)"))
    unknown: no difference was found at 210 pairs of points in R^1, which is no proof
    """
    right = kernel_of(kernel, names)
    left = features_of(phi, d or right.least_width)
    width = _width(left, right, d)
    first, second = left.polynomial(width), right.polynomial(width)
    if first is not None and second is not None:
        found = difference(first, second, width)
        if found is None or not _rounded(first, second):
            return _of_polynomials(found, right, width)
    return _of_values(left, right, width)


def _width(left: Side, right: Side, d: int | None) -> int:
    width = (max(left.least_width, right.least_width) or 2) if d is None else d
    if isinstance(width, bool) or not isinstance(width, int) or width < 1:
        raise InputError(message("a positive number of columns", f"got {d!r}", "Use 2, say."))
    for side in (left, right):
        side.check_width(width)
    return width


def _rounded(first: Polynomial, second: Polynomial) -> bool:
    """Whether all coefficients agree to the rounding of floats inside of a kernel or a lift."""
    pairs = ((_float(first.get(m, ZERO)), _float(second.get(m, ZERO))) for m in first.keys() | second.keys())
    return all(a == b or abs(a - b) <= ROUNDING * max(abs(a), abs(b)) < math.inf for a, b in pairs)


def _float(number: Surd) -> float:
    """The nearest float; infinity for numbers beyond all of them."""
    try:
        return float(number)
    except OverflowError:
        return math.copysign(math.inf, number.sign)


def _of_polynomials(found: Difference | None, right: Side, d: int) -> Equality:
    if found is None:
        reason = f"phi(x).phi(z) and {_name(right)} are the same polynomial of x and z in R^{d}"
        return Equality("equal", reason, d)
    told = _told(right, found.x, found.z, *map(_exact, found.values))
    term, (ours, theirs) = _term(found.monomial, d), map(_exact, found.coefficients)
    of = f"the coefficient of {term}" if found.monomial else "the constant term"
    reason = f"{told}; {of} is {ours} in the one and {theirs} in the other"
    values = _float(found.values[0]), _float(found.values[1])
    return Equality("different", reason, d, found.x, found.z, values)


def _of_values(left: Features, right: Side, d: int) -> Equality:
    rows = [row for row in points(d) if left.defined(row) and right.defined(row)][:POINTS]
    if len(rows) < 2:
        needs, remedy = "points where both are defined", "Check the formulas, or give the number of columns as d."
        raise InputError(message(needs, "none was found among small numbers", remedy))
    X = np.array(rows)
    ours, theirs = left.values(X), right.values(X)
    size = np.abs(ours) + np.abs(theirs) + left.sizes(X)
    gaps = np.abs(ours - theirs)
    differ = np.argwhere(gaps > DISTINCT * size)
    if not len(differ):
        count = len(X) * (len(X) + 1) // 2
        return Equality("unknown", f"no difference was found at {count} pairs of points in R^{d}, which is no proof", d)
    i, j = min(differ.tolist(), key=lambda pair: (sum(pair), pair))
    x, z = (tuple(X[k].tolist()) for k in (i, j))
    a, b = float(ours[i, j]), float(theirs[i, j])
    return Equality("different", _told(right, x, z, *_apart(a, b)), d, x, z, (a, b))


def points(d: int) -> NDArray[np.float64]:
    """Points to look at: small integers first, then fractions."""
    rng = np.random.default_rng(0)
    whole = rng.integers(-1, 4, size=(8 * POINTS, d))
    first = np.array([np.ones(d), 2 * np.ones(d), np.arange(1, d + 1), np.eye(d)[0], np.arange(d, 0, -1), np.zeros(d)])
    fractions = rng.integers(-24, 40, size=(8 * POINTS, d)) / 8
    mixed = np.concatenate([first, whole[:6], fractions[:POINTS], np.abs(fractions), np.abs(whole)])
    _, places = np.unique(mixed, axis=0, return_index=True)
    return np.asarray(mixed[np.sort(places)], dtype=np.float64)


def _told(right: Side, x: Sequence[float], z: Sequence[float], ours: str, theirs: str) -> str:
    return f"at x = {_point(x)}, z = {_point(z)} phi(x).phi(z) is {ours} and {_name(right)} is {theirs}"


def _name(right: Side) -> str:
    return right.name if len(right.name) <= MAX_NAME else "the kernel"


def _point(x: Sequence[float]) -> str:
    numbers = [f"{value:g}" for value in x]
    return numbers[0] if len(numbers) == 1 else f"({', '.join(numbers)})"


def _exact(number: Surd) -> str:
    text = str(number)
    return text if len(text) <= MAX_EXACT else f"{_float(number):.10g}"


def _apart(a: float, b: float) -> tuple[str, str]:
    """Both numbers with as many digits as tell them apart."""
    digits = next((digits for digits in range(6, 17) if f"{a:.{digits}g}" != f"{b:.{digits}g}"), 17)
    return f"{a:.{digits}g}", f"{b:.{digits}g}"


def _term(monomial: Monomial, d: int) -> str:
    """A monomial of both points as a text."""
    words = [
        f"{'xz'[point]}{column + 1 if d > 1 else ''}{f'^{power}' if power > 1 else ''}"
        for (point, column), power in monomial
    ]
    return " ".join(words) or "1"
