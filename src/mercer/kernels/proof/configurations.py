"""Structured point sets in R^d, from simple to complex, in which to look for a broken kernel.

A function that random points do not refute is often refuted by a few points in a symmetric position:
equally spaced points on a line, a cross-polytope, a piece of a lattice. Every set here has unit scale
(a nearest distance or a radius of 1), is centred at 0 unless its name says otherwise, and is the same
on every run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Enumerating a box of lattice points grows as 5^d or faster, so balls stop at this dimension.
MAX_LATTICE_DIMENSION = 5


@dataclass(frozen=True, eq=False)
class Configuration:
    """A named set of points, one per row."""

    name: str
    points: Array


def single_points(d: int) -> Iterator[Configuration]:
    """Yield the one-point sets: the origin, e_1, -e_1, all ones and all minus ones."""
    first = np.eye(d)[:1]
    yield Configuration("origin", np.zeros((1, d)))
    yield Configuration("point", first)
    yield Configuration("negative point", -first)
    if d > 1:
        yield Configuration("diagonal point", np.ones((1, d)))
        yield Configuration("negative diagonal point", -np.ones((1, d)))


def lines(d: int) -> Iterator[Configuration]:
    """Yield points on the first axis: pairs, equal spacing (centred, or from 0), geometric spacing."""
    yield Configuration("opposite points", _on_axis([-1.0, 1.0], d))
    for ratio in (0.0, 0.25, 0.5, 0.8):
        yield Configuration(f"collinear pair {ratio:g}", _on_axis([ratio, 1.0], d))
    for k in (3, 4, 5, 6, 8, 12):
        steps = np.arange(k, dtype=np.float64)
        yield Configuration(f"{k} on a line", _on_axis(steps - steps.mean(), d))
        yield Configuration(f"{k} on a line from 0", _on_axis(steps, d))
    for k in (3, 4, 5):
        for base in (2.0, 4.0):
            yield Configuration(f"{k} geometric by {base:g}", _on_axis([base**-i for i in range(k)], d))


def simplex(d: int) -> Array:
    """Return the d + 1 vertices of the regular simplex of edge 1 centred at 0."""
    return _flatten(np.eye(d + 1) / np.sqrt(2.0))


def cross_polytope(d: int) -> Array:
    """Return the 2 d points +-e_i."""
    return np.vstack([np.eye(d), -np.eye(d)])


def cube(d: int) -> Array:
    """Return the 2^d vertices of the cube of edge 1 centred at 0."""
    return np.array(list(product((-0.5, 0.5), repeat=d)))


def polytopes(d: int) -> Iterator[Configuration]:
    """Yield simplices, cross-polytopes and cubes of dimension 2 to d, each with and without its centre."""
    for m in sorted({2, 3, 4, d}):
        if not 2 <= m <= d:
            continue
        shapes = [("simplex", simplex(m)), ("cross-polytope", cross_polytope(m))]
        if m in (3, 4, 5):
            shapes.append(("cube", cube(m)))
        for name, points in shapes:
            yield Configuration(f"{m}-dimensional {name}", _embed(points, d))
            yield Configuration(f"{m}-dimensional {name} and centre", _embed(with_centre(points), d))
        both = np.vstack([cross_polytope(m), 2.0 * cross_polytope(m)])
        yield Configuration(f"{m}-dimensional cross-polytopes of radius 1 and 2", _embed(both, d))


def with_centre(points: Array) -> Array:
    """Return the points and the origin."""
    return np.vstack([points, np.zeros((1, points.shape[1]))])


def lattice_balls(d: int, most: int) -> Iterator[Configuration]:
    """Yield the balls of at most `most` points in Z^d, A_d and D_d, around a vertex and around holes."""
    if not 2 <= d <= MAX_LATTICE_DIMENSION:
        return
    for name, points, limit, centres in _lattices(d):
        for where, centre in centres:
            around = points - centre
            norms = np.round(np.sum(around**2, axis=1), 9)
            kept = 2
            for radius in np.unique(norms[norms <= limit**2 + 1e-9]):
                inside = norms <= radius
                if inside.sum() > most:
                    break
                if inside.sum() > 1.15 * kept:  # shells that add next to nothing are passed over
                    kept = int(inside.sum())
                    yield Configuration(f"{kept} points of {name} around a {where}", around[inside])


@lru_cache(maxsize=16)
def _lattices(d: int) -> list[tuple[str, Array, float, list[tuple[str, Array]]]]:
    """Return lattices with nearest distance 1: points, radius within which none is missing, ball centres."""
    reach = {2: 12, 3: 5, 4: 3, 5: 2}[d]
    integer = _box(d, reach)
    half = np.full(d, 0.5)
    edge = np.eye(d)[0] / 2.0
    vertex = ("vertex", np.zeros(d))
    found = [(f"Z^{d}", integer, float(reach), [vertex, ("hole", half), ("edge", edge)])]
    inner = reach / np.sqrt(2.0)
    root = _flatten(_zero_sum(d, reach)) / np.sqrt(2.0)
    roots = root[np.isclose(np.sum(root**2, axis=1), 1.0)]
    hole = _simplex_centre(roots, d)
    found.append((f"A_{d}", root, inner, [vertex, ("hole", hole), ("edge", roots[0] / 2.0)]))
    if d >= 4:
        even = integer[np.sum(integer, axis=1) % 2 == 0] / np.sqrt(2.0)
        first = np.eye(d)[0] / np.sqrt(2.0)
        found.append((f"D_{d}", even, inner, [vertex, ("hole", first), ("deep hole", half / np.sqrt(2.0))]))
    return found


def _simplex_centre(roots: Array, d: int) -> Array:
    """Return the centre of a lattice simplex at the origin: the mean of 0 and d roots 60 degrees apart."""
    chosen = [roots[0]]
    for root in roots:
        if len(chosen) < d and np.allclose([root @ other for other in chosen], 0.5):
            chosen.append(root)
    return np.asarray(np.sum(chosen, axis=0) / (len(chosen) + 1), dtype=np.float64)


def random_sets(d: int, count: int, seed: int) -> Iterator[Configuration]:
    """Yield `count` seeded Gaussian sets, of 4, 8, 12, 16 and 24 points in turn."""
    rng = np.random.default_rng(seed)
    for i in range(count):
        n = (4, 8, 12, 16, 24)[i % 5]
        yield Configuration(f"{n} random points", rng.normal(size=(n, d)))


def structured(d: int, most: int = 60) -> list[Configuration]:
    """Return every structured set of at most `most` points, fewest points first."""
    sets = [*single_points(d), *lines(d), *polytopes(d), *lattice_balls(d, most)]
    if d > 2:
        sets += [Configuration(c.name, _embed(c.points, d)) for c in lattice_balls(2, 30)]
    return sorted((c for c in sets if len(c.points) <= most), key=lambda c: len(c.points))


def _box(d: int, reach: int) -> Array:
    """Return the integer points with coordinates from -reach to reach + 1 (so that holes are central)."""
    return np.array(list(product(range(-reach, reach + 2), repeat=d)), dtype=np.float64)


def _zero_sum(d: int, reach: int) -> Array:
    """Return the points of Z^(d+1) whose coordinates sum to 0: the lattice A_d in its usual form."""
    free = _box(d, reach)
    return np.column_stack([free, -free.sum(axis=1)])


def _flatten(points: Array) -> Array:
    """Express points on a hyperplane normal to (1, ..., 1) in coordinates of that plane, centred."""
    m = points.shape[1]
    basis = np.zeros((m - 1, m))
    for i in range(1, m):
        basis[i - 1, :i] = 1.0
        basis[i - 1, i] = -i
        basis[i - 1] /= np.sqrt(i * (i + 1.0))
    return np.asarray(points @ basis.T, dtype=np.float64)


def _on_axis(values: list[float] | Array, d: int) -> Array:
    """Put values on the first axis of R^d."""
    return _embed(np.asarray(values, dtype=np.float64)[:, None], d)


def _embed(points: Array, d: int) -> Array:
    """Append zero coordinates up to dimension d."""
    return np.pad(points, ((0, 0), (0, d - points.shape[1])))
