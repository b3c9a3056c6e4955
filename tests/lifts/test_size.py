"""The number of features of an exact lift, before it is built: compared with the lift that is built."""

import math

import numpy as np
import pytest
from sklearn.decomposition import PCA

from mercer import kernels as k
from mercer.errors import BudgetError
from mercer.kernels.lift_builder import NotFiniteError
from mercer.kernels.points import Points
from mercer.lifts import Polynomial, algebra, n_features, part_builder
from mercer.lifts.n_features import most_features
from mercer.lifts.part_builder import PartBuilder

LEAVES = [
    k.Constant(2.0), k.Constant(0.0), k.Linear(), k.Polynomial(1), k.Polynomial(2, 0.7), k.Polynomial(3, 0.0),
    k.Monomials(2), k.Monomials(3, False), k.Monomials(3, True, 2), k.Powers(3), k.Parabolic(), k.Subsets(),
    k.Subsets(max_order=2), k.Subsets(1, 2),
    k.Subsets(max_order=0), k.Subsets(min_order=4), k.Trigonometric(2, 3.0), k.Cosine(),
]  # fmt: skip


def built(kernel, d):
    """The number of features, from the features themselves."""
    return len(PartBuilder(Points(np.ones((1, d)))).of(kernel))


def ones(rows):
    return np.ones(len(rows))


def grown(kernel, d, rng):
    """A kernel of d columns, composed by a rule drawn at random."""
    rule = rng.integers(9)
    if rule == 0:
        return kernel + tree(d, rng, 1)
    if rule == 1:
        return kernel * tree(d, rng, 1)
    if rule == 2:
        return k.Power(kernel, int(rng.integers(1, 4)))
    if rule == 3:
        width = int(rng.integers(1, 4))
        return tree(width, rng, 1).on(rng.integers(0, d, width).tolist())
    if rule == 4:
        return kernel.scaled(rng.uniform(0.5, 2.0, d))
    if rule == 5:
        rows = int(rng.integers(1, 4))
        return tree(rows, rng, 1).after(rng.normal(size=(rows, d)) * (rng.random((rows, d)) < 0.5))
    if rule == 6:
        return kernel.normalized()
    return kernel.weighted(ones) if rule == 7 else 0.5 * kernel


def tree(d, rng, depth):
    kernel = LEAVES[rng.integers(len(LEAVES))]
    for _ in range(depth):
        kernel = grown(kernel, d, rng)
    return kernel


def assert_bounded(seeds, depth):
    checked = 0
    for seed in seeds:
        rng = np.random.default_rng(seed)
        d = int(rng.integers(1, 4))
        kernel = tree(d, rng, depth)
        bound = most_features(kernel, d)
        if bound > 5_000:  # the features themselves would take long
            continue
        assert built(kernel, d) <= bound, kernel
        checked += 1
    return checked


@pytest.mark.parametrize("d", [1, 2, 3, 5])
@pytest.mark.parametrize("kernel", LEAVES, ids=str)
def test_a_leaf_is_counted_exactly(kernel, d):
    assert most_features(kernel, d) == built(kernel, d)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_composite_has_no_more(depth):
    assert assert_bounded(range(100), depth) >= 60


def test_features_that_are_left_as_they_are(monkeypatch):
    """Above DENSEST mixed monomials nothing is made independent, and above WIDEST maps are not multiplied out."""
    monkeypatch.setattr(algebra, "MAX_MIXED_MONOMIALS", 4)
    assert assert_bounded(range(60), 2) >= 40
    dense = k.Linear().after(np.vander([1.0, 2.0, 3.0]))
    assert most_features(dense * dense, 3) == built(dense * dense, 3) == 9
    monkeypatch.setattr(algebra, "MAX_MIXED_MONOMIALS", 2)
    together = k.Linear() + k.Linear() + dense
    assert most_features(together, 3) == built(together, 3) == 9
    assert most_features(k.Parabolic() ** 4, 2) >= built(k.Parabolic() ** 4, 2) > math.comb(4 + 3, 4)
    monkeypatch.setattr(part_builder, "MAX_MAPPED_NUMBERS", 8)
    assert assert_bounded(range(60), 2) >= 40
    square = k.Polynomial(2).after(np.vander([1.0, 2.0, 3.0]))
    assert most_features(square * square, 3) == built(square * square, 3) == 100


@pytest.mark.parametrize(
    ("kernel", "d"),
    [
        (k.Linear() ** 2, 4),
        (k.Polynomial(2) * k.Polynomial(3), 3),
        (k.Polynomial(2).on([0, 1]) ** 3, 50),
        (k.Polynomial(2) + k.Polynomial(3) + 4.0, 3),
        (k.Linear() + k.Trigonometric(2) * k.Linear(), 3),
        (k.Polynomial(2).after(np.eye(3)[[2, 0]]) + k.Linear().normalized(), 3),
        (k.Linear().after(np.ones((1, 12))) ** 3, 12),
        (k.Power(k.Linear().on([0, 0, 0]), 1), 1),
        (k.Subsets() * k.Linear().scaled([1.0, 2.0]), 2),
        ((k.Linear() + k.Constant(0.0).normalized()) ** 2, 2),
    ],
    ids=str,
)
def test_bounds_that_are_met(kernel, d):
    """C(d + degree, degree) or fewer, and not the plain product."""
    assert built(kernel, d) <= most_features(kernel, d) <= 1.7 * built(kernel, d)


@pytest.mark.parametrize(
    "kernel",
    [
        k.Gaussian(1.0),
        k.Gaussian("median"),
        k.Linear() + k.Gaussian(1.0),
        k.Linear() * k.Laplace(1.0),
        (k.Linear() + k.Matern(1.5)) ** 2,
        k.exp(k.Linear()),
        k.ArcCosine(1).on([0, 1]),
        k.Gaussian(1.0).scaled([1.0, 2.0, 3.0]).normalized(),
        k.Min().weighted(ones),
        k.Constant(2.0) ** 0.5,
    ],
    ids=str,
)
def test_none_where_no_lift_is_finite(kernel):
    assert most_features(kernel, 3) is None
    with pytest.raises(NotFiniteError):
        PartBuilder(Points(np.ones((1, 3)))).of(kernel)


def test_what_only_data_could_say():
    rows = np.random.default_rng(0).normal(size=(9, 3))
    lift = Polynomial(2).fit(rows)
    for mapping, wanted in ((lift, 10), (PCA(2).fit(rows), 2)):
        kernel = k.Linear().after(mapping)
        assert most_features(kernel, 3) == wanted == len(PartBuilder(Points(rows)).of(kernel))
    assert most_features(lift.induced, 3) == 10
    assert most_features(k.Linear().after(ones), 3) is None
    assert most_features(k.Linear().after(Polynomial(2)), 3) is None  # not fitted


def test_enormous_lifts_are_counted_and_not_built():
    d = 10_000
    assert most_features(k.Polynomial(10), d) == math.comb(d + 10, 10)
    assert most_features(k.Linear() ** 10, d) == math.comb(d + 9, 10)
    assert most_features(k.Subsets(), d) == 2**d
    assert most_features(k.Subsets(max_order=d // 2 - 1), d) == (2**d - math.comb(d, d // 2)) // 2
    assert most_features((k.Polynomial(5) + k.Subsets()) * k.Polynomial(5), d) > 2**d
    assert most_features(k.Polynomial(5).scaled(np.ones(d)) * k.Parabolic() ** 2, d) > 10**20
    assert most_features(k.Linear() ** 1_000_000_000, d) is None
    with pytest.raises(BudgetError):
        built(k.Polynomial(10), d)


def test_subsets_of_a_million_columns_are_counted_at_once():
    d = 10**6
    assert most_features(k.Subsets(), d) == 1 << d
    assert most_features(k.Subsets(min_order=2), d) == (1 << d) - 1 - d
    assert most_features(k.Subsets(max_order=d - 1), d) == (1 << d) - 1
    assert most_features(k.Subsets(max_order=2), d) == 1 + d + d * (d - 1) // 2
    assert most_features(k.Subsets(min_order=d - 1), d) == 1 + d
    assert most_features(k.Subsets(max_order=d // 2), d) == 1 << d  # a bound: half a million numbers to add
    assert most_features(k.Subsets() + k.Linear(), d) == (1 << d) + d


@pytest.mark.parametrize("highest", [10_000, 2])
def test_subsets_of_any_orders(highest, monkeypatch):
    monkeypatch.setattr(n_features, "MAX_COUNTED_POWER", highest)
    for d in range(1, 8):
        for first in range(d + 2):
            for last in range(first, d + 2):
                wanted = sum(math.comb(d, q) for q in range(first, last + 1))
                found = most_features(k.Subsets(min_order=first, max_order=last), d)
                assert found == wanted or (highest == 2 and wanted <= found == 2**d)
