"""Structured point sets against what is known of them: shells of lattices, edges of polytopes, nearest points."""

from collections import Counter
from math import comb

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist

from mercer.kernels.proof import configurations as sets


def theta(coordinates, most, takes):
    """How many integer points have each squared length up to `most`, of those whose sum is taken.

    Counted coordinate by coordinate, without making a single point.
    """
    table = Counter({(0, 0): 1})
    for _ in range(coordinates):
        grown = Counter()
        for (total, square), count in table.items():
            reach = int(np.sqrt(most - square))
            for x in range(-reach, reach + 1):
                grown[total + x, square + x * x] += count
        table = grown
    shells = Counter()
    for (total, square), count in table.items():
        shells[square] += count * takes(total)
    return {square: count for square, count in shells.items() if count}


SHELLS = {
    "Z": lambda d, most: theta(d, int(most), lambda total: True),
    "A": lambda d, most: {n // 2: c for n, c in theta(d + 1, int(2 * most), lambda total: total == 0).items()},
    "D": lambda d, most: {n // 2: c for n, c in theta(d, int(2 * most), lambda total: total % 2 == 0).items()},
}


def test_shells_are_counted_as_in_the_books():
    """Conway and Sloane, Sphere Packings, Lattices and Groups, chapter 4: the first shells."""
    assert SHELLS["Z"](3, 4) == {0: 1, 1: 6, 2: 12, 3: 8, 4: 6}
    assert SHELLS["A"](2, 4) == {0: 1, 1: 6, 3: 6, 4: 6}
    assert SHELLS["D"](4, 4) == {0: 1, 1: 24, 2: 24, 3: 96, 4: 24}


@pytest.mark.parametrize("d", [2, 3, 4, 5])
def test_lattices_are_whole_within_their_limit(d):
    found = sets._lattices(d)
    assert [name for name, *_ in found] == [f"Z^{d}", f"A_{d}", f"D_{d}"][: 2 + (d >= 4)]
    for name, points, limit, _ in found:
        assert points.shape[1] == d
        lengths = np.round(np.sum(points**2, axis=1), 6)
        inside = lengths[lengths <= limit**2 + 1e-9]
        assert dict(Counter(inside.tolist())) == SHELLS[name[0]](d, limit**2 + 1e-9)
        assert limit >= 2 / np.sqrt(2)


@pytest.mark.parametrize("d", [2, 3, 4, 5])
def test_holes_are_as_deep_as_they_should_be(d):
    """How many lattice points are nearest to each centre, and how near they are."""
    due = {
        ("Z", "vertex"): (1, 0.0),
        ("Z", "hole"): (2**d, d / 4),
        ("Z", "edge"): (2, 1 / 4),
        ("A", "vertex"): (1, 0.0),
        ("A", "hole"): (d + 1, d / (2 * (d + 1))),
        ("A", "edge"): (2, 1 / 4),
        ("D", "vertex"): (1, 0.0),
        ("D", "hole"): (2 * d, 1 / 2),
        ("D", "deep hole"): (2 ** (d - 1), d / 8),
    }
    if d == 4:  # where half of the holes' own depth is a half as well
        assert due["D", "deep hole"] == due["D", "hole"]
    for name, points, _, centres in sets._lattices(d):
        for where, centre in centres:
            squares = np.sum((points - centre) ** 2, axis=1)
            count, least = due[name[0], where]
            assert np.count_nonzero(np.isclose(squares, squares.min())) == count
            assert squares.min() == pytest.approx(least, abs=1e-12)


BALLS = {
    "Z^2 around a vertex": [5, 9, 13, 21, 25, 29],
    "Z^2 around a hole": [4, 12, 16, 24],
    "Z^2 around a edge": [6, 8, 12, 16, 22, 26, 30],
    "A_2 around a vertex": [7, 13, 19],
    "A_2 around a hole": [3, 6, 12, 18, 21, 27],
}


def test_balls_of_the_plane():
    """Shells of x^2 + y^2 and of x^2 + xy + y^2, added up by hand; those that add less than 15 % are passed over."""
    found = [each.name.split(" points of ") for each in sets.lattice_balls(2, 30)]
    for name, counts in BALLS.items():
        assert [int(count) for count, of in found if of == name] == counts


@pytest.mark.parametrize(("d", "most"), [(2, 30), (3, 60), (4, 60), (5, 100)])
def test_balls_hold_what_they_say_and_every_pair_is_a_unit_apart_or_more(d, most):
    for each in sets.lattice_balls(d, most):
        assert len(each.points) == int(each.name.split()[0]) <= most
        assert pdist(each.points).min() == pytest.approx(1.0)
    assert not list(sets.lattice_balls(1, 60))
    assert not list(sets.lattice_balls(6, 60))


@pytest.mark.parametrize("d", [1, 2, 3, 4, 7])
def test_polytopes(d):
    vertices = sets.simplex(d)
    np.testing.assert_allclose(pdist(vertices), 1.0)
    np.testing.assert_allclose(vertices.sum(axis=0), 0.0, atol=1e-12)
    assert vertices.shape == (d + 1, d)
    cross = sets.cross_polytope(d)
    assert Counter(np.round(pdist(cross, "sqeuclidean")).tolist()) == +Counter({2.0: 2 * d * (d - 1), 4.0: d})
    cube = sets.cube(d)
    assert Counter(np.round(pdist(cube, "sqeuclidean")).tolist()) == {
        float(k): 2 ** (d - 1) * comb(d, k) for k in range(1, d + 1)
    }
    np.testing.assert_array_equal(sets.with_centre(cube), np.vstack([cube, np.zeros(d)]))


@pytest.mark.parametrize("d", [1, 2, 3, 5, 6])
def test_polytopes_of_fewer_dimensions_come_too(d):
    found = {each.name: each.points for each in sets.polytopes(d)}
    dimensions = sorted({2, 3, 4, d} & set(range(2, d + 1)))
    cubes = sum(2 for m in dimensions if m in (3, 4, 5))
    assert len(found) == 5 * len(dimensions) + cubes
    for name, points in found.items():
        m = int(name[0])
        assert points.shape[1] == d
        assert not points[:, m:].any()
        assert np.linalg.matrix_rank(points) == m


def test_points_and_lines():
    assert [each.points.tolist() for each in sets.single_points(1)] == [[[0]], [[1]], [[-1]]]
    points = np.vstack([each.points for each in sets.single_points(2)])
    assert points.tolist() == [[0, 0], [1, 0], [-1, 0], [1, 1], [-1, -1]]
    found = {each.name: each.points for each in sets.lines(2)}
    assert found["opposite points"].tolist() == [[-1, 0], [1, 0]]
    assert found["collinear pair 0.25"].tolist() == [[0.25, 0], [1, 0]]
    assert found["4 on a line"][:, 0].tolist() == [-1.5, -0.5, 0.5, 1.5]
    assert found["3 on a line from 0"][:, 0].tolist() == [0, 1, 2]
    assert found["3 geometric by 4"][:, 0].tolist() == [1, 0.25, 0.0625]
    assert len(found) == 1 + 4 + 12 + 6
    assert [len(points) for name, points in found.items() if name.endswith("on a line")] == [3, 4, 5, 6, 8, 12]
    assert [len(points) for name, points in found.items() if name.endswith("from 0")] == [3, 4, 5, 6, 8, 12]


def test_random_sets_are_the_same_on_every_run():
    first, second = (list(sets.random_sets(3, 7, 5)) for _ in range(2))
    assert [len(each.points) for each in first] == [4, 8, 12, 16, 24, 4, 8]
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one.points, other.points)
    assert not np.array_equal(first[0].points, first[5].points)


def test_as_many_points_as_are_allowed():
    for most in (5, 8, 12):
        assert max(len(each.points) for each in sets.structured(2, most)) == most


@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_all_sets_together(d):
    found = sets.structured(d, 40)
    counts = [len(each.points) for each in found]
    assert counts == sorted(counts)
    assert max(counts) <= 40
    planes = [each for each in found if "A_2" in each.name]
    due = [] if d == 1 else [each for each in sets.lattice_balls(2, 40 if d == 2 else 30) if "A_2" in each.name]
    assert sorted(each.name for each in planes) == sorted(each.name for each in due)
    assert all(not each.points[:, 2:].any() for each in planes)
    assert cdist(found[0].points, np.zeros((1, d))).item() == 0.0
