"""Packing and covering numbers, against all subsets of few rows, and volumes from the exact formula."""

import math
from itertools import combinations

import mpmath
import numpy as np
import pytest

from mercer.errors import InputError, KernelError
from mercer.geometry import packing_bounds, packing_number


def distances(X):
    return np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))


def true_packing(D, r):
    """The largest number of rows that are farther than r from each other, by trying all."""
    far = r < D
    return max(
        size
        for size in range(1, len(D) + 1)
        for rows in combinations(range(len(D)), size)
        if all(far[i, j] for i, j in combinations(rows, 2))
    )


def true_covering(D, r):
    """The smallest number of balls around rows that hold all rows, by trying all."""
    near = r >= D
    return next(
        size
        for size in range(1, len(D) + 1)
        if any(near[list(rows)].any(axis=0).all() for rows in combinations(range(len(D)), size))
    )


def one_by_one(X, r):
    taken = []
    for row in X:
        if all(math.dist(row, other) > r for other in taken):
            taken.append(row)
    return len(taken)


@pytest.mark.parametrize("seed", range(12))
def test_it_is_between_the_covering_and_the_packing_number(seed):
    rng = np.random.default_rng(seed)
    X, r = rng.uniform(size=(10, int(rng.integers(1, 4)))), float(rng.uniform(0.1, 0.6))
    D, found = distances(X), packing_number(X, r)
    assert packing_number(X, 2 * r) <= true_covering(D, r) <= found <= true_packing(D, r) <= packing_number(X, r / 2)
    assert found == one_by_one(X, r)


def test_scales_do_not_matter():
    X = np.random.default_rng(0).uniform(size=(50, 3))
    numbers = {packing_number(X * 2.0**power, 0.3 * 2.0**power) for power in (-900, 0, 900)}
    assert len(numbers) == 1
    assert packing_number([[0.0], [0.0]], 1e-300) == 1
    assert packing_number([[-1e308], [1e308]], 1.0) == 2


@pytest.mark.parametrize("d", [1, 2, 3, 10, 151])
@pytest.mark.parametrize("size", [0.7, 3.0])
def test_bounds_are_quotients_of_volumes(d, size):
    r = mpmath.mpf("0.25")

    def volume(radius):
        return mpmath.pi ** (mpmath.mpf(d) / 2) * radius**d / mpmath.gamma(mpmath.mpf(d) / 2 + 1)

    lower, upper = packing_bounds(d, 0.25, size=size)
    exact = max(1, mpmath.mpf(size) ** d / volume(r)), (size + r) ** d / volume(r / 2)
    assert abs(lower / exact[0] - 1) < 1e-13 * d
    assert abs(upper / exact[1] - 1) < 1e-13 * d
    lower, upper = packing_bounds(d, 0.25, shape="ball", size=size)
    assert abs(lower / (volume(mpmath.mpf(size)) / volume(r)) - 1) < 1e-13 * d
    assert abs(upper / (volume(size + r / 2) / volume(r / 2)) - 1) < 1e-13 * d


@pytest.mark.parametrize("d", [1, 2, 3])
def test_dense_rows_are_between_the_bounds(d):
    X = np.random.default_rng(d).uniform(size=(8000, d))
    lower, upper = packing_bounds(d, 0.25)
    assert lower <= packing_number(X, 0.25) <= upper


def test_what_no_float_holds_is_infinite():
    assert packing_bounds(5000, 0.01) == (math.inf, math.inf)
    assert packing_bounds(3, 10.0, shape="ball")[0] == 1.0


def test_bad_questions_are_refused():
    with pytest.raises(KernelError, match="packing_number needs a positive r; got 0"):
        packing_number([[1.0]], 0)
    with pytest.raises(InputError, match="packing_number needs"):
        packing_number([["a"]], 1.0)
    with pytest.raises(KernelError, match="one of 'cube', 'ball' for shape"):
        packing_bounds(2, 0.1, shape="torus")
    with pytest.raises(KernelError, match="packing_bounds needs an integer of at least 1 for d"):
        packing_bounds(0, 0.1)
