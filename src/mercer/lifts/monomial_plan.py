"""Plans of products: a list of monomials as runs, for loops that multiply many neighbours by one number.

A monomial is its first column times a shorter one, its rest. In a sorted list neighbours have the same first column and
neighbouring rests, so that the list falls into a few *runs*: so many values from one place on, times one number, go to
another place. A plan is data, so that one piece of compiled code serves all lists.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.lifts.monomial_index import Family, Whole

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Plan:
    """Runs through a buffer that starts with 1 and the columns, and goes on with rests of two columns, three, ...

    inner : one table of runs a degree, from the buffer into the buffer; a row is target, source, length, multiplier
    outer : runs from the buffer into the result
    size, count : the numbers of values in the buffer and in the result
    """

    inner: tuple[Whole, ...]
    outer: Whole
    size: int
    count: int

    @cached_property
    def joined(self) -> Whole:
        """The inner runs of all degrees."""
        return np.concatenate([np.empty((0, 4), dtype=np.int64), *self.inner])

    @cached_property
    def direct(self) -> bool:
        """Whether the result starts with the whole buffer, by the first run, and may be the buffer itself."""
        return np.array_equal(self.outer[:1], [[0, 0, self.size, 0]])


def of_family(family: Family) -> Plan:
    """The plan of a whole family: about a run for each column and degree, and no search."""
    inside = max(family.degree - 1, 1)  # the degrees up to this one are in the buffer
    starts = [0, *accumulate(family.number(q, family.width) for q in range(inside + 1))]
    inner = tuple(_of_degree(family, q, starts[q], starts[q - 1]) for q in range(2, inside + 1))
    first, size = starts[min(family.lowest, inside + 1)], starts[-1]
    outer = [np.array([[0, first, size - first, 0]], dtype=np.int64)] if size > first else []
    if family.degree > inside:
        outer.append(_of_degree(family, family.degree, size - first, starts[inside]))
    return Plan(inner, np.concatenate(outer), size, family.count)


def _of_degree(family: Family, degree: int, target: int, source: int) -> Whole:
    runs = [(target + t, source + s, length, c + 1) for c, (t, s, length) in enumerate(family.runs(degree)) if length]
    return np.array(runs, dtype=np.int64).reshape(-1, 4)


def of_factors(factors: NDArray[np.intp], width: int) -> Plan:
    """The plan of any list of monomials; time O(M p log M).

    factors : (M, p) columns, of which there are `width`; -1, behind the others, names none
    """
    degrees = (factors >= 0).sum(axis=1)
    needed, order = _rests(factors, degrees)
    source = np.where(degrees > 0, factors[:, 0] + 1, 0)  # those of one column are copied, which is times 1
    multiplier = np.zeros(len(factors), dtype=np.int64)
    start, size, inner = 1, 1 + width, []
    for q in range(2, max(needed, default=0) + 1):
        own = degrees == q
        many = int(own.sum())
        places = start + order[q]
        source[own], multiplier[own] = places[:many], factors[own, 0] + 1
        inner.append(_grouped(size, places[many:], needed[q][:, 0] + 1))
        start, size = size, size + len(needed[q])
    return Plan(tuple(inner), _grouped(0, source, multiplier), size, len(factors))


def _rests(factors: NDArray[np.intp], degrees: Array) -> tuple[dict[int, Array], dict[int, Array]]:
    """For each degree, the rests of this degree that longer monomials need, and an order.

    It names, among the rests one degree below, those of the monomials of this degree, then those of its rests.
    """
    highest = int(degrees.max(initial=0))
    needed, order = {highest: np.empty((0, max(highest, 1)), dtype=np.intp)}, {}
    for q in range(highest, 2, -1):
        asked = np.concatenate([factors[degrees == q, 1:q], needed[q][:, 1:]])
        needed[q - 1], inverse = np.unique(asked, axis=0, return_inverse=True)
        order[q] = inverse.reshape(-1)
    if highest >= 2:  # a rest of one column stands where the column stands
        order[2] = np.concatenate([factors[degrees == 2, 1], needed[2][:, 1]])
    return needed, order


def _grouped(start: int, source: Array, multiplier: Array) -> Whole:
    """Runs that fill neighbouring places from `start` on, where source and multiplier go on."""
    if len(source) == 0:
        return np.empty((0, 4), dtype=np.int64)
    breaks = np.flatnonzero((np.diff(source) != 1) | (np.diff(multiplier) != 0)) + 1
    first = np.concatenate([[0], breaks])
    lengths = np.diff(np.append(first, len(source)))
    return np.stack([start + first, source[first], lengths, multiplier[first]], axis=1).astype(np.int64)
