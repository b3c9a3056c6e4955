"""The kernels that finite lifts induce, against explicit sums in exact or 60-digit arithmetic."""

from fractions import Fraction
from itertools import combinations, product
from math import prod

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mercer
from mercer.compute.codegen.tiles import Fused
from mercer.errors import KernelError
from mercer.kernels import Gaussian, Linear, Monomials, Parabolic, Polynomial, Powers, Subsets, Trigonometric
from mercer.kernels.evaluation import dispatch
from mercer.kernels.evaluation.evaluate import fused_from
from mercer.kernels.points import points_from

mp = mpmath.MPContext()
mp.dps = 60

X = np.random.default_rng(3).normal(size=(6, 4))
Z = np.random.default_rng(4).normal(size=(5, 4))


def products(x, z):
    """The numbers x_k z_k, exactly."""
    return [Fraction(a) * Fraction(b) for a, b in zip(x.tolist(), z.tolist(), strict=True)]


def monomials(t, degree, lowest):
    """One term for each exponent vector."""
    exponents = (a for a in product(range(degree + 1), repeat=len(t)) if lowest <= sum(a) <= degree)
    return sum((prod(b**p for b, p in zip(t, a, strict=True)) for a in exponents), Fraction(0))


def subsets(t, lowest, highest):
    """One term for each subset."""
    return sum((prod(s) for m in range(lowest, highest + 1) for s in combinations(t, m)), Fraction(0))


def powers(t, degree):
    return sum((b**p for b in t for p in range(1, degree + 1)), Fraction(0))


def squared(x):
    return sum(Fraction(a) ** 2 for a in x.tolist())


EXACT = {
    "monomials 1": (Monomials(1), lambda x, z: monomials(products(x, z), 1, 0)),
    "monomials 3": (Monomials(3), lambda x, z: monomials(products(x, z), 3, 0)),
    "monomials 5, no bias": (Monomials(5, include_bias=False), lambda x, z: monomials(products(x, z), 5, 1)),
    "powers 1": (Powers(1), lambda x, z: powers(products(x, z), 1)),
    "powers 3": (Powers(), lambda x, z: powers(products(x, z), 3)),
    "powers 9": (Powers(9), lambda x, z: powers(products(x, z), 9)),
    "parabolic": (Parabolic(), lambda x, z: sum(products(x, z)) + squared(x) * squared(z)),
    "subsets": (Subsets(), lambda x, z: subsets(products(x, z), 0, 4)),
    "subsets from 1": (Subsets(min_order=1), lambda x, z: subsets(products(x, z), 1, 4)),
    "subsets from 3": (Subsets(min_order=3), lambda x, z: subsets(products(x, z), 3, 4)),
    "subsets without the empty one": (Subsets(include_bias=False), lambda x, z: subsets(products(x, z), 1, 4)),
    "subsets 1 to 2 without the empty one": (Subsets(0, 2, False), lambda x, z: subsets(products(x, z), 1, 2)),
    "subsets of 2 without the empty one": (Subsets(2, 2, False), lambda x, z: subsets(products(x, z), 2, 2)),
    "subsets to 2": (Subsets(max_order=2), lambda x, z: subsets(products(x, z), 0, 2)),
    "subsets 1 to 3": (Subsets(1, 3), lambda x, z: subsets(products(x, z), 1, 3)),
    "subsets of 2": (Subsets(2, 2), lambda x, z: subsets(products(x, z), 2, 2)),
    "subsets of none": (Subsets(0, 0), lambda x, z: Fraction(1)),
    "subsets to 9": (Subsets(max_order=9), lambda x, z: subsets(products(x, z), 0, 4)),
    "subsets 2 to 9": (Subsets(2, 9), lambda x, z: subsets(products(x, z), 2, 4)),
    "subsets from 5": (Subsets(min_order=5), lambda x, z: Fraction(0)),
    "subsets 5 to 7": (Subsets(5, 7), lambda x, z: Fraction(0)),
}


def worst(kernel, truth, X, Z):
    """The largest error of a matrix and its diagonal, as a part of sqrt(k(x, x) k(z, z))."""
    here, there = ([truth(row, row) for row in side] for side in (X, Z))
    K, D = kernel(X, Z), kernel.diagonal(X)
    parts = [
        abs(Fraction(K[i, j]) - truth(x, z)) / scale(here[i], there[j])
        for i, x in enumerate(X)
        for j, z in enumerate(Z)
    ]
    return max(parts + [abs(Fraction(D[i]) - here[i]) / scale(here[i], here[i]) for i in range(len(X))])


def scale(a, b):
    return Fraction(float(a) ** 0.5) * Fraction(float(b) ** 0.5) or Fraction(1)


@pytest.mark.parametrize("name", EXACT)
def test_the_explicit_sum(name):
    kernel, truth = EXACT[name]
    assert worst(kernel, truth, X, Z) < 1e-15 * 20


@pytest.mark.parametrize("size", [1e-9, 1e-3, 1e4, 1e30])
@pytest.mark.parametrize("name", ["monomials 5, no bias", "powers 3", "parabolic", "subsets from 1", "subsets of 2"])
def test_no_size_of_the_data_costs_digits(name, size):
    """For tiny data prod (1 + t) - 1 would cancel, and so would the power sums of elementary polynomials."""
    kernel, truth = EXACT[name]
    assert worst(kernel, truth, size * X[:3], size * Z[:3]) < 1e-15 * 20


def test_a_dominant_column_does_not_cancel():
    """e_2 = (p_1^2 - p_2) / 2, Newton's identity, would leave no digit here."""
    x = np.array([[1e9, 1e-3, 2e-3, 3e-3]])
    wanted = subsets(products(x[0], x[0]), 2, 2)
    assert abs(Fraction(Subsets(2, 2)(x)[0, 0]) / wanted - 1) < 1e-15
    wanted = subsets(products(x[0], x[0]), 3, 4)
    assert abs(Fraction(Subsets(3, None)(x)[0, 0]) / wanted - 1) < 1e-15


def test_many_columns():
    """Against the generating functions prod 1 / (1 - t s) and prod (1 + t s), multiplied out exactly."""
    wide = np.random.default_rng(5).normal(size=(2, 60))
    t = products(wide[0], wide[1])
    complete, elementary = [Fraction(1)] + [Fraction(0)] * 4, [Fraction(1)] + [Fraction(0)] * 4
    for b in t:
        for m in range(1, 5):
            complete[m] += b * complete[m - 1]
        for m in range(4, 0, -1):
            elementary[m] += b * elementary[m - 1]
    for kernel, wanted in ((Monomials(4), sum(complete)), (Subsets(1, 4), sum(elementary[1:]))):
        size = np.prod(np.sqrt(kernel.diagonal(wide)))
        assert abs(float(wanted) - kernel(wide)[0, 1]) < 1e-14 * size


@given(st.integers(1, 4), st.integers(0, 5), st.integers(0, 5), st.integers(1, 5))
def test_property_orders_add_up(seed, low, more, d):
    data = np.random.default_rng(seed).normal(size=(4, d))
    parts = sum(Subsets(m, m)(data) for m in range(low, low + more + 1))
    np.testing.assert_allclose(Subsets(low, low + more)(data), parts, atol=1e-12)
    np.testing.assert_allclose(Subsets(low)(data), sum(Subsets(m, m)(data) for m in range(low, d + 1)), atol=1e-12)


def waves(x, z, order, period):
    turn = 2 * mp.pi / (mp.mpf(period) if period else 2 * mp.pi)
    gaps = [turn * (mp.mpf(a) - mp.mpf(b)) for a, b in zip(x.tolist(), z.tolist(), strict=True)]
    return sum(mp.cos(j * gap) for gap in gaps for j in range(1, order + 1))


@pytest.mark.parametrize("size", [1e-8, 1.0, 1e3, 1e6, 1e15])
@pytest.mark.parametrize(("order", "period"), [(1, None), (7, None), (1, 12.0), (3, 0.7), (40, 365.25)])
def test_waves(order, period, size):
    """However many periods lie between two points; None is the default, which stands for 2 pi itself."""
    kernel = Trigonometric(order) if period is None else Trigonometric(order, period)
    K = kernel(size * X, size * Z)
    wanted = [[waves(x, z, order, period) for z in size * Z] for x in size * X]
    errors = [float(abs(mp.mpf(K[i, j]) - wanted[i][j])) for i in range(len(X)) for j in range(len(Z))]
    assert max(errors) < 3e-16 * order**2 * X.shape[1]
    np.testing.assert_array_equal(kernel.diagonal(size * X), 4.0 * order)


def test_waves_against_dirichlet():
    """1 + 2 sum cos(j t) = sin((n + 1/2) t) / sin(t / 2)."""
    t = np.linspace(0.1, 6.0, 50)
    wanted = np.sin(5.5 * t) / np.sin(t / 2)
    np.testing.assert_allclose(1 + 2 * Trigonometric(5)(t[:, None], [[0.0]])[:, 0], wanted, atol=1e-13)


def is_fused(kernel, rows):
    points = points_from(rows)
    return isinstance(dispatch.bound(kernel, points, points), Fused)


@pytest.mark.parametrize("kernel", [Trigonometric(6, 0.5), Powers(8), Powers(30)], ids=str)
def test_single_precision_keeps_the_promise_far_from_zero(kernel):
    """Rounded products lose b units in the b-th power: beyond the eighth the work is done in float64."""
    rows = (np.random.default_rng(0).normal(size=(60, 2)) * (400 if kernel.name == "trigonometric" else 1)).astype(
        np.float32
    )
    with fused_from(0):
        found = kernel(rows)
    wanted = kernel(rows.astype(np.float64))
    size = np.sqrt(np.diagonal(wanted))
    assert found.dtype == np.float32
    assert (np.abs(found - wanted) / np.outer(size, size)).max() < 9.5e-7
    assert is_fused(kernel, rows) == (kernel != Powers(30))
    assert is_fused(kernel, rows.astype(np.float64))


def test_high_monomials_of_single_precision_are_left_to_numpy():
    rows = X.astype(np.float32)
    assert not is_fused(Monomials(9), rows)
    assert is_fused(Monomials(8), rows)
    assert is_fused(Monomials(9), X)


def test_tracing_subsets_computes_nothing():
    """A formula for 10^5 x 10^5 pairs is refused at once, not after a matrix of them."""
    points = points_from(np.zeros((100_000, 3)))
    assert dispatch.bound(Subsets(1, 2), points, points) is None


@pytest.mark.parametrize(
    "kernel",
    [Powers(), Trigonometric(), Trigonometric(4, 3.0), Parabolic(), Monomials(), Monomials(3, False), Subsets(),
     Subsets(1), Subsets(2, 2), Subsets(0, 3), Subsets(7)],
    ids=str,
)  # fmt: skip
def test_they_are_proven_for_every_dimension_and_come_back_from_texts(kernel):
    verdict = mercer.prove(kernel)
    assert verdict.status == "proven"
    assert kernel.max_dimension is None
    assert mercer.parse(str(kernel)) == kernel
    assert hash(mercer.parse(str(kernel))) == hash(kernel)


def test_subsets_of_all_orders_are_what_they_were():
    assert str(Subsets()) == "subsets"
    assert repr(Subsets()) == "Subsets()"
    assert Subsets() == Subsets(0, None) == Subsets(0.0)
    assert Subsets().latex() == r"\prod_k \left(1 + {x}_k {z}_k\right)"
    assert str(Subsets(1, 2)) == "subsets(min_order=1, max_order=2)"
    assert repr(Subsets(max_order=2)) == "Subsets(max_order=2)"
    assert Subsets(max_order=2).get_params() == {"min_order": 0, "max_order": 2, "include_bias": True}


def test_relatives():
    np.testing.assert_allclose(Monomials(1)(X), Polynomial(1)(X), rtol=1e-14)
    np.testing.assert_allclose(Powers(1)(X), Linear()(X), atol=1e-14)
    np.testing.assert_allclose(Subsets(0, 1)(X), (1 + Linear())(X), atol=1e-14)
    one = X[:, :1]
    np.testing.assert_allclose((1 + Powers(4))(one), Monomials(4)(one), rtol=1e-13)
    np.testing.assert_allclose(Parabolic()(one), Powers(2)(one), rtol=1e-13)


def test_compositions_with_them_agree_on_both_ways():
    kernel = Gaussian() * Monomials(2) + 0.5 * Subsets(1, 2) ** 2 + Trigonometric(2).on([0]) * Parabolic()
    by_hand = (
        Gaussian()(X) * Monomials(2)(X) + 0.5 * Subsets(1, 2)(X) ** 2 + Trigonometric(2)(X[:, :1]) * Parabolic()(X)
    )
    np.testing.assert_allclose(kernel(X), by_hand, rtol=1e-13)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Powers(0), "Powers needs an integer from 1 to 10000 for degree; got 0"),
        (lambda: Monomials(1.5), "Monomials needs an integer from 1 to 100 for degree; got 1.5"),
        (lambda: Monomials(2, "yes"), "Monomials needs True or False for include_bias; got 'yes'. Texts write 1 or 0"),
        (lambda: Monomials(2, None), "Monomials needs True or False for include_bias; got None"),
        (lambda: Trigonometric(0), "Trigonometric needs an integer from 1 to 10000 for order; got 0"),
        (lambda: Trigonometric(1, 0.0), "Trigonometric needs a positive period; got 0.0"),
        (lambda: Subsets(-1), "Subsets needs an integer of at least 0 for min_order; got -1"),
        (lambda: Subsets(0, 1.5), "Subsets needs an integer of at least 0 for max_order; got 1.5"),
        (lambda: Subsets(3, 2), "Subsets needs max_order of at least min_order; got 2 with min_order=3. Exchange"),
    ],
)  # fmt: skip
def test_mistakes(build, message):
    with pytest.raises(KernelError, match=message):
        build()
