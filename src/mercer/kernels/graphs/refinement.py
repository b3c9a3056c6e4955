"""Weisfeiler and Lehman's colours: nodes get one colour where the trees of walks from them are labelled alike.

A round replaces the colour of each node by a number that stands for its colour and the multiset of its neighbours'
colours. All graphs are coloured together, and numbers stand for what they stand for exactly: nothing is hashed.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mercer.kernels.graphs.counting import Whole, ranked
from mercer.kernels.graphs.joined import Joined, ends_of


def colours(graphs: Joined, rounds: int, edge_labels: bool) -> Iterator[Whole]:
    """The colours of all nodes before the first round, and after each.

    Cost: a round sorts the arcs once, and then half as many numbers, a quarter, and so on.
    """
    found = ranked(graphs.labels)
    yield found
    degrees = np.diff(graphs.begins)
    for _ in range(rounds):
        near = found[graphs.arcs.targets]
        if edge_labels:
            near = ranked(graphs.arcs.kinds, near)
        lists = folded(_sorted(graphs.arcs.sources, near), degrees)
        found = ranked(found, degrees, lists)
        yield found


def _sorted(sources: Whole, near: Whole) -> Whole:
    """The numbers of each node's neighbours in order; nodes stay where they are."""
    size = np.int64(near.max(initial=0) + 1)
    keys = sources * size + near
    keys.sort()
    return np.asarray(keys - sources * size)


def folded(values: Whole, lengths: Whole) -> Whole:
    """One number for each list: among lists of one length, equal numbers stand for equal lists.

    Neighbours in a list are ranked in pairs, then pairs of pairs, until one number is left: so a list of a million
    numbers takes twenty steps. What has no partner, at the same place in all lists of a length, is paired with 0.

    values : the lists, one after the other
    lengths : of each list
    """
    found = np.zeros(len(lengths), np.int64)
    alive = np.flatnonzero(lengths)
    lengths = lengths[alive]
    while len(alive):
        starts = ends_of(lengths)[:-1]
        single = lengths == 1
        found[alive[single]] = values[starts[single]]
        alive, starts, lengths = alive[~single], starts[~single], lengths[~single]
        values, lengths = _paired(values, starts, lengths), (lengths + 1) // 2
    return found


def _paired(values: Whole, starts: Whole, lengths: Whole) -> Whole:
    """The rank of each pair of neighbours in lists, from the left."""
    halves = (lengths + 1) // 2
    order = np.arange(halves.sum()) - np.repeat(ends_of(halves)[:-1], halves)
    first = np.repeat(starts, halves) + 2 * order
    paired = first + 1 < np.repeat(starts + lengths, halves)
    second = np.zeros(len(first), np.int64)
    second[paired] = values[first[paired] + 1]
    return ranked(values[first], second)
