"""The sets of points: who belongs, what contains what, and how points are led in."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.preprocessing import MinMaxScaler

import mercer
from mercer.errors import KernelError
from mercer.kernels import Min
from mercer.kernels.domain import (
    DOMAINS,
    INTEGERS,
    NATURALS,
    NONNEGATIVE,
    REALS,
    SPHERE,
    Both,
    domain_named,
    meet,
)

points = arrays(np.float64, (5, 3), elements=st.floats(-1e6, 1e6))


@pytest.mark.parametrize("domain", DOMAINS.values(), ids=str)
@given(points=points)
def test_property_placed_points_belong_and_stay(domain, points):
    placed = domain.place(points)
    assert placed.shape == points.shape
    assert not domain.misfits(placed).any()
    np.testing.assert_allclose(domain.place(placed), placed, rtol=1e-15, atol=1e-15)


@given(points=points)
def test_property_a_point_of_a_smaller_domain_is_one_of_the_larger(points):
    for small in DOMAINS.values():
        placed = small.place(points)
        for large in DOMAINS.values():
            if small.within(large):
                assert not large.misfits(placed).any()


def test_who_contains_whom():
    inclusions = {(a.name, b.name) for a in DOMAINS.values() for b in DOMAINS.values() if a.within(b)}
    assert inclusions == {(name, name) for name in DOMAINS} | {
        ("nonnegative", "reals"),
        ("integers", "reals"),
        ("sphere", "reals"),
        ("naturals", "reals"),
        ("naturals", "integers"),
        ("naturals", "nonnegative"),
    }


def test_misfits_point_at_entries():
    table = np.array([[1.0, -2.0], [0.5, 3.0]])
    assert NONNEGATIVE.misfits(table).tolist() == [[False, True], [False, False]]
    assert INTEGERS.misfits(table).tolist() == [[False, False], [True, False]]
    assert NATURALS.misfits(table).tolist() == [[False, True], [True, False]]
    assert not REALS.misfits(table).any()
    assert SPHERE.misfits(np.array([[0.6, 0.8], [0.6, 0.6]])).tolist() == [[False, False], [True, True]]


def test_meeting_of_domains():
    assert meet(REALS, SPHERE) is SPHERE
    assert meet(NATURALS, INTEGERS) is NATURALS
    both = meet(INTEGERS, NONNEGATIVE)
    assert isinstance(both, Both)
    assert both.within(INTEGERS)
    assert both.within(NONNEGATIVE)
    assert both.within(REALS)
    assert NATURALS.within(both)
    assert not INTEGERS.within(both)
    assert both.misfits(np.array([[-1.0, 0.5, 2.0]])).tolist() == [[True, True, False]]
    assert both.by_coordinate
    assert not meet(NONNEGATIVE, SPHERE).by_coordinate


def test_names():
    assert domain_named("Non-Negative") is NONNEGATIVE
    assert domain_named(SPHERE) is SPHERE
    assert repr(REALS) == "<domain reals>"
    assert str(NATURALS) == "the non-negative integers"
    with pytest.raises(KernelError, match="no domain 'complex'"):
        domain_named("complex")


def test_maps_that_print_alike_have_domains_of_their_own():
    """One scaler leads 0.5 to a number of at least zero, the other to one below: only 5.5 is in both domains."""
    first, second = MinMaxScaler().fit([[0.0], [1.0]]), MinMaxScaler().fit([[5.0], [6.0]])
    for one, other in ((first, second), (second, first)):
        proof = mercer.prove(Min().after(one) + Min().after(other))
        assert proof.status == "proven"
        assert proof.domain.misfits(np.array([[0.5], [5.5]])).tolist() == [[True], [False]]
    assert Min().after(first).domain != Min().after(second).domain
    assert mercer.prove(Min().after(first), domain=Min().after(second).domain).status != "proven"


def test_equal_maps_have_one_domain():
    scaler, matrix = MinMaxScaler().fit([[0.0], [1.0]]), [[1.0, -1.0]]
    one = Min().after(scaler)
    for kernel in (one, Min().after(matrix), Min().on([1]).after(np.negative), Min().scaled([2.0]).after(scaler)):
        assert copy.copy(kernel).domain == kernel.domain
        assert hash(copy.copy(kernel).domain) == hash(kernel.domain)
        assert meet(kernel.domain, copy.copy(kernel).domain) == kernel.domain
    assert Min().after(matrix).domain == Min().after(np.array(matrix)).domain
    assert Min().after(matrix).domain != Min().after([[1.0, -2.0]]).domain
    both = pickle.loads(pickle.dumps(one * one.normalized()))  # noqa: S301 - our own bytes
    assert not isinstance(both.domain, Both)
    assert both.domain == both.parts[0].domain == both.parts[1].domain
