"""The answers to whether features separate two classes: a plane, a point of both hulls, or neither shown."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NoReturn

from mercer.errors import InputError, message
from mercer.geometry.accurate import Vector
from mercer.geometry.base import place
from mercer.html import Markup, Shown, element, table
from mercer.lifts.expansion import sum_text
from mercer.lifts.parts import bracketed

MAX_WRITTEN_FEATURES = 12
"""Features up to which a plane is written as an inequality."""
MAX_WRITTEN_ROWS = 12
"""Rows of a class up to which a point of its hull is written as their sum."""


class Separation(Shown, ABC):
    """Whether a plane in the space of the features has one class on its one side, and the other on the other.

    It is one of `Separated`, which is true, `HullsMeet`, which is false, and `Unresolved`, which is neither.

    Examples
    --------
    >>> import mercer
    >>> answer = mercer.separable("linear", [[0.0], [1.0], [3.0]], ["a", "a", "b"])
    >>> isinstance(answer, mercer.geometry.Separation), bool(answer), answer.answer
    (True, True, 'yes')
    """

    classes: tuple[Any, Any]
    """Both labels, sorted."""
    names: tuple[str, ...]
    """The features."""

    @property
    @abstractmethod
    def answer(self) -> str:
        """The word: "yes", "no" or "not resolved"."""

    @abstractmethod
    def __bool__(self) -> bool:
        """Whether the classes are separable."""

    def _html_pieces(self) -> Iterable[Markup]:
        yield element("p", str(self))


@dataclass(frozen=True, eq=False)
class Separated(Separation):
    """A plane with every row on its side: coef . phi(x) + intercept is positive for the second class only.

    Parameters
    ----------
    classes : tuple
        Both labels, sorted.
    names : tuple of str
        The features.
    coef : array of shape (features,)
        The normal of the plane, of length 1.
    intercept : float
        What is added: coef . phi(x) + intercept is the signed distance from the plane.
    margin : float
        The distance of the nearest row from the plane, which is the widest possible to rounding; nan for weights of a
        kernel without finite lift.
    counts : tuple of int
        How many rows each class has.
    holds : bool
        Whether these floats separate the rows; else no floats do, and only `exact` does.
    exact : tuple of Fraction
        A normal and an intercept for which the sides of all rows were verified, with values 1 and -1 at the nearest
        rows, where that is known.

    Examples
    --------
    >>> import mercer
    >>> answer = mercer.separable("powers(degree=2)", [[-2.0], [-1.0], [1.0], [2.0]], ["out", "in", "in", "out"])
    >>> print(answer)
    separable: x1^2 - 2.5 > 0 at all 2 rows of 'out', and < 0 at all 2 rows of 'in'; the margin is 1.5
    >>> answer.coef, answer.intercept
    (array([0., 1.]), -2.5)
    """

    classes: tuple[Any, Any]
    names: tuple[str, ...]
    coef: Vector
    intercept: float
    margin: float
    counts: tuple[int, int]
    holds: bool
    exact: tuple[Fraction, ...]

    @property
    def answer(self) -> str:
        return "yes"

    def __bool__(self) -> bool:
        return True

    @property
    def inequality(self) -> str:
        """The side of the second class."""
        used = [k for k, number in enumerate(self.coef.tolist()) if abs(number) > 1e-14]
        if len(used) > MAX_WRITTEN_FEATURES:
            return f"w . phi(x) + b > 0 ({len(self.names)} weights w, b = {self.intercept:.6g})"
        words = [*(bracketed(self.names[k]) for k in used), "1"]
        numbers = [float(f"{number:.6g}") for number in (*self.coef[used].tolist(), self.intercept)]
        if numbers[-1] == 0:
            words, numbers = words[:-1], numbers[:-1]
        return f"{sum_text(words, numbers)} > 0"

    def __str__(self) -> str:
        first, second = map(_rows_of, self.counts, self.classes)
        sides = f"at {second}, and < 0 at {first}"
        width = "" if self.margin != self.margin else f"; the margin is {self.margin:.6g}"
        note = "" if self.holds else " (these numbers are rounded, and too short: `exact` has those that separate)"
        return f"separable: {self.inequality} {sides}{width}{note}"


@dataclass(frozen=True, eq=False)
class HullsMeet(Separation):
    """A point of the convex hulls of both classes: no plane has them on different sides.

    Parameters
    ----------
    classes : tuple
        Both labels, sorted.
    names : tuple of str
        The features.
    weights : dict
        For each class its rows that make the point, and their weights, positive fractions that add up to 1.
    point : array of shape (features,)
        The point, in the space of the features.
    residual : float
        0 where the weights are exact; else how far the points of both hulls are apart, in units of the width of all.

    Examples
    --------
    >>> import mercer
    >>> answer = mercer.separable("linear", [[0.0], [1.0], [3.0]], ["a", "b", "a"])
    >>> print(answer)
    not separable: both hulls hold the point x1 = 1
      a: 2/3 row 0 + 1/3 row 2
      b: row 1
    >>> answer.weights["a"]
    {0: Fraction(2, 3), 2: Fraction(1, 3)}
    """

    classes: tuple[Any, Any]
    names: tuple[str, ...]
    weights: Mapping[Any, Mapping[int, Fraction]]
    point: Vector
    residual: float

    @property
    def answer(self) -> str:
        return "no"

    def __bool__(self) -> bool:
        return False

    @property
    def _head(self) -> str:
        point = place(self.names, self.point, float(abs(self.point).max(initial=0.0)))
        if all(len(rows) == 1 for rows in self.weights.values()):
            (one,), (other,) = self.weights.values()
            a, b = self.classes
            return f"not separable: row {one} of {a!r} and row {other} of {b!r} have equal features, {point}"
        if self.residual:
            return f"not separable: both hulls hold the point {point}, to {self.residual:.1e} of the width of the rows"
        return f"not separable: both hulls hold the point {point}"

    def __str__(self) -> str:
        if all(len(rows) == 1 for rows in self.weights.values()):
            return self._head
        return "\n".join([self._head, *(f"  {label}: {_sum(rows)}" for label, rows in self.weights.items())])

    def _html_pieces(self) -> Iterable[Markup]:
        yield element("p", self._head)
        rows = [
            (str(label), str(row), _short(weight))
            for label in self.weights
            for row, weight in self.weights[label].items()
        ]
        yield table(rows, ("class", "row", "weight"))


@dataclass(frozen=True, eq=False)
class Unresolved(Separation):
    """Neither a plane nor a point of both hulls was shown: rounding hides which it is.

    Parameters
    ----------
    classes : tuple
        Both labels, sorted.
    names : tuple of str
        The features.
    why : str
        What hides it, with numbers.

    Examples
    --------
    >>> from mercer.geometry import Unresolved
    >>> print(Unresolved(("a", "b"), ("x1",), "the hulls are 1e-13 of the width apart"))
    not resolved: the hulls are 1e-13 of the width apart
    """

    classes: tuple[Any, Any]
    names: tuple[str, ...]
    why: str

    @property
    def answer(self) -> str:
        return "not resolved"

    def __bool__(self) -> NoReturn:
        raise InputError(message("an answer for its truth", self.why, "Look at .answer first.", subject="A separation"))

    def __str__(self) -> str:
        return f"not resolved: {self.why}"


def _rows_of(count: int, label: Any) -> str:
    return f"all {count:,} rows of {label!r}" if count > 1 else f"the one row of {label!r}"


def _sum(rows: Mapping[int, Fraction]) -> str:
    terms = [f"row {row}" if weight == 1 else f"{_short(weight)} row {row}" for row, weight in rows.items()]
    left = len(terms) - MAX_WRITTEN_ROWS
    return " + ".join(terms[:MAX_WRITTEN_ROWS]) + (f" + {left} more" if left > 0 else "")


def _short(weight: Fraction) -> str:
    return str(weight) if weight.denominator < 100 else f"{float(weight):.6g}"
