"""Separation against SciPy's linear programme, fractions and closed forms."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import linprog

from mercer.solvers.separation.exact_points import exact_points
from mercer.solvers.separation.integers import IntegerRows, independent, solved
from mercer.solvers.separation.separate import Meeting, Plane, separate


def programme(F, positive):
    """Whether some w and b have y (w . f + b) >= 1 everywhere."""
    y = np.where(positive, 1.0, -1.0)
    rows = -y[:, None] * np.column_stack([F, np.ones(len(F))])
    return linprog(np.zeros(rows.shape[1]), A_ub=rows, b_ub=-np.ones(len(F)), bounds=(None, None)).status == 0


def verify(F, positive, found):
    """The claim of an answer, in fractions."""
    rows = [[Fraction(number) for number in row] for row in F.tolist()]
    if isinstance(found, Plane):
        *normal, intercept = found.exact
        for row, side in zip(rows, positive, strict=True):
            value = sum(a * b for a, b in zip(normal, row, strict=True)) + intercept
            assert value > 0 if side else value < 0
    else:
        assert isinstance(found, Meeting)
        assert found.residual == 0
        pairs = list(zip(found.rows, found.weights, strict=True))
        assert min(found.weights) > 0
        assert len(pairs) <= F.shape[1] + 2
        points = [
            [sum(w * rows[i][k] for i, w in pairs if positive[i] == side) for k in range(F.shape[1])] for side in (0, 1)
        ]
        assert points[0] == points[1]
        assert [sum(w for i, w in pairs if positive[i] == side) for side in (0, 1)] == [1, 1]


def labels(random, F, kind):
    normal = random.normal(size=F.shape[1])
    values = F @ normal - np.median(F @ normal) - 1e-3
    if kind == "mixed":
        return random.random(len(F)) < 0.5
    return values + (kind == "noisy") * random.normal(scale=0.3, size=len(F)) > 0


@pytest.mark.parametrize("kind", ["planted", "noisy", "mixed"])
def test_answers_are_those_of_the_linear_programme(kind):
    random, answers = np.random.default_rng(len(kind)), set()
    for case in range(80):
        n, d = int(random.integers(3, 40)), (1, 2, 3, 6)[case % 4]
        F = random.normal(size=(n, d)) if case % 3 else random.integers(-3, 4, size=(n, d)).astype(float)
        positive = labels(random, F, kind)
        if positive.any() and not positive.all():
            found = separate(F, positive)
            verify(F, positive, found)
            assert isinstance(found, Plane) == programme(F, positive)
            answers.add(type(found))
    assert answers == ({Plane} if kind == "planted" else {Plane, Meeting})


@pytest.mark.parametrize("offset", [0.0, 1e4])
@pytest.mark.parametrize("gap", [1e-2, 1e-5, 1e-8, 1e-12, -1e-12, -1e-8])
def test_gaps_on_a_line_are_decided_in_the_last_digit(gap, offset):
    random = np.random.default_rng(0)
    low, high = offset + 5 - gap / 2, offset + 5 + gap / 2
    x = np.concatenate(
        [[low, high], random.uniform(offset, min(low, high), 49), random.uniform(max(low, high), offset + 10, 49)]
    )
    positive = np.repeat([False, True, False, True], [1, 1, 49, 49])
    found = separate(x[:, None], positive)
    verify(x[:, None], positive, found)
    assert isinstance(found, Plane) == (high > low)
    if high > low:
        assert found.margin == (high - low) / 2
        assert found.normal.tolist() == [1.0]
        assert found.intercept == pytest.approx(-(low + high) / 2, rel=1e-15)


def test_hulls_that_touch_in_a_point_meet():
    F = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.0], [0.5, 3.0]])
    positive = np.array([False, False, True, True])
    found = separate(F, positive)
    verify(F, positive, found)
    moved = F + np.array([[0, 0], [0, 0], [0, 5e-324], [0, 0]])
    assert isinstance(separate(moved, positive), Plane)
    verify(moved, positive, separate(moved, positive))


def test_neighbouring_floats_are_told_apart_by_longer_numbers():
    x = np.array([[1.0], [np.nextafter(1.0, 2.0)]])
    found = separate(x, np.array([False, True]))
    verify(x, [False, True], found)
    assert found.exact[-1] / found.exact[0] == -(1 + Fraction(2) ** -53)


def test_equal_points_of_both_sets_are_the_answer():
    F = np.random.default_rng(1).normal(size=(50, 70))
    F[40], F[3, 5], F[40, 5] = F[3], 0.0, -0.0
    positive = np.arange(50) >= 25
    found = separate(F, positive)
    assert (found.rows, found.weights) == ((40, 3), (1, 1))


def test_the_plane_has_the_widest_margin():
    random = np.random.default_rng(3)
    F = random.normal(size=(60, 3))
    positive = F @ [1.0, 2.0, -1.0] > 0.4
    found = separate(F, positive)
    values = np.where(positive, 1, -1) * (F @ found.normal + found.intercept)
    assert values.min() == pytest.approx(found.margin, rel=1e-12)
    near = np.flatnonzero(values < found.margin * (1 + 1e-9))
    assert set(found.rows) <= set(near.tolist())
    y, weights = np.where(positive, 1, -1), np.array([float(w) for w in found.weights])
    difference = (y[list(found.rows)] * weights) @ F[list(found.rows)]  # KKT: the normal is made of the nearest rows
    np.testing.assert_allclose(difference / np.linalg.norm(difference), found.normal, atol=1e-12)


@pytest.mark.parametrize(("n", "d"), [(400, 40), (250, 100), (100, 300)])
def test_many_features(n, d):
    random = np.random.default_rng(d)
    F = random.normal(size=(n, d))
    positive = F @ random.normal(size=d) > 0
    found = separate(F, positive)
    assert isinstance(found, Plane)
    verify(F, positive, found)
    values = np.where(positive, 1, -1) * (F @ found.normal + found.intercept)
    assert values.min() == pytest.approx(found.margin, rel=1e-9)


def test_hulls_of_too_many_rows_meet_to_a_residual():
    random = np.random.default_rng(5)
    F, positive = random.normal(size=(400, 80)), np.arange(400) % 2 == 0
    found = separate(F, positive)
    assert isinstance(found, Meeting)
    assert not programme(F, positive)
    assert 0 < found.residual < 1e-12
    weights = np.array([float(w) for w in found.weights])
    difference = (np.where(positive[list(found.rows)], 1, -1) * weights) @ F[list(found.rows)]
    assert np.abs(difference).max() < 1e-13


@pytest.mark.parametrize("size", [1e-300, 1e-150, 1e150, 1e300])
def test_no_size_of_the_features_matters(size):
    F = np.array([[0.0, 1.0], [1.0, 0.0], [0.4, 0.4], [3.0, -3.0]])
    for positive in ([True, True, False, False], [True, True, True, False]):
        found = separate(size * F, np.array(positive))
        verify(size * F, positive, found)
        assert isinstance(found, Plane) == programme(F, np.array(positive))


def test_exact_points_mend_a_bad_start():
    random = np.random.default_rng(7)
    F = random.normal(size=(30, 3))
    positive = F[:, 0] > 0.1
    best = separate(F, positive)
    start = np.array([np.flatnonzero(positive)[0], np.flatnonzero(~positive)[-1]])
    found = exact_points(F, positive, np.concatenate([start, [start[0]], start]))
    assert dict(zip(found.rows, found.weights, strict=True)) == dict(zip(best.rows, best.weights, strict=True))
    assert found.low < found.high


def test_systems_of_integers_are_solved_exactly():
    random = np.random.default_rng(9)
    D = np.array([[int(v) for v in row] for row in random.integers(-(10**9), 10**9, size=(6, 8))], dtype=object)
    right = np.array([int(v) for v in random.integers(-100, 100, size=6)], dtype=object)
    numerators, denominator = solved(D @ D.T, right)
    assert all(
        sum(a * x for a, x in zip(row, numerators, strict=True)) == denominator * r
        for row, r in zip(D @ D.T, right, strict=True)
    )
    dependent = np.vstack([D[:2], (D[0] + D[1])[None, :], D[2:3]])
    assert independent(dependent @ dependent.T) == [0, 1, 3]
    assert solved(dependent @ dependent.T, right[:4]) is None


def test_rows_as_integers_are_the_floats():
    table = np.array([[0.1, -3.0, 0.0, 5e-324], [1e300, 2.0**-1000, 1 / 3, -7e-5]])
    rows = IntegerRows(table)
    for k, row in enumerate(table.tolist()):
        assert [number * rows.unit for number in rows[k]] == [Fraction(number) for number in row]
    assert all(a <= b for a, b in pairwise(sorted(rows[1])))
