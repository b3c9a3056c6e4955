"""Every lengthscale of a tree times a number."""

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from strategies import any_trees

import mercer
from mercer.errors import KernelError
from mercer.kernels import (
    Constant,
    Cosine,
    Dot,
    Epanechnikov,
    Gaussian,
    Laplace,
    Linear,
    Matern,
    Normalized,
    Periodic,
    Polynomial,
    ProductLaplace,
    RationalQuadratic,
    Wendland,
)

X = np.random.default_rng(0).normal(size=(9, 2))


def first(rows):
    return rows[:, 0]


def turned(rows):
    return rows[:, ::-1]


def lengthscales(kernel):
    """All lengthscales of a tree, by walking through the fields."""
    own = [getattr(kernel, item.name) for item in fields(kernel) if item.name == "lengthscale"]
    return own + [length for child in kernel.children for length in lengthscales(child)]


COMPOSED = [
    lambda k: k,
    lambda k: k + Linear(),
    lambda k: Polynomial(2) * k * k,
    lambda k: 0.5 * k,
    lambda k: k**3,
    lambda k: mercer.exp(k),
    lambda k: k.on([1]),
    lambda k: k.scaled([1.0, 10.0]),
    lambda k: k.after([[1.0, 2.0], [0.0, 3.0]]),
    lambda k: k.after(turned),
    lambda k: k.weighted(first),
    lambda k: Normalized(k + Constant(1.0)),
    lambda k: (((0.5 * k + 1.0) ** 2).on([0]) * k.after(turned)).scaled([3.0, 0.1]) + k.weighted(first),
]


@pytest.mark.parametrize("rule", COMPOSED, ids=lambda rule: str(rule(Gaussian(1.0))))
@pytest.mark.parametrize("leaf", [Gaussian, Laplace, ProductLaplace], ids=lambda leaf: leaf.__name__)
def test_through_every_rule(rule, leaf):
    assert rule(leaf(2.0)).stretched(3.0) == rule(leaf(6.0))
    assert rule(leaf("median")).stretched(3.0) == rule(leaf("median"))
    assert rule(leaf(2.0)).has_lengthscale
    assert rule(leaf("median")).has_lengthscale


@pytest.mark.parametrize(
    "leaf", [Gaussian(0.7), Laplace(0.7), Matern(1.5, 0.7), RationalQuadratic(2.0, 0.7), Epanechnikov(3.0), Wendland()]
)
def test_a_radial_kernel_sees_smaller_points(leaf):
    np.testing.assert_allclose(leaf.stretched(4.0)(X), leaf(X / 4.0), rtol=1e-13)


@pytest.mark.parametrize("rule", COMPOSED, ids=lambda rule: str(rule(Linear())))
def test_kernels_without_a_length_come_back(rule):
    for leaf in (Constant(2.0), Cosine(), Linear()):
        assert rule(leaf).stretched(3.0) == rule(leaf)
        assert not rule(leaf).has_lengthscale


@given(any_trees)
def test_property_all_lengths_and_nothing_else(kernel):
    stretched = kernel.stretched(2.0)
    assert lengthscales(stretched) == [length if length == "median" else 2 * length for length in lengthscales(kernel)]
    assert stretched.stretched(0.5) == kernel
    assert kernel.stretched(1.0) == kernel
    assert kernel.has_lengthscale == bool(lengthscales(kernel))


def test_a_fractional_power():
    assert (Gaussian(2.0) ** 2.5).stretched(2.0) == Gaussian(4.0) ** 2.5


def test_numbers_and_open_ones_side_by_side():
    kernel = Gaussian("median") + Matern(2.5, 3.0) * Periodic(lengthscale=0.5, period=7.0) + Linear()
    assert (
        kernel.stretched(2.0)
        == Gaussian("median") + Matern(2.5, 6.0) * Periodic(lengthscale=1.0, period=7.0) + Linear()
    )
    assert kernel.resolve(X, stretch=2.0).stretched(0.5).parts[0] == kernel.resolve(X).parts[0]


def test_a_kernel_of_your_own():
    class Mine(Dot):
        lengthscale: float = 1.0
        weight: float = 3.0

        def profile(self, t):
            return self.weight * t / self.lengthscale**2

    assert (Mine(2.0) + Linear()).stretched(2.0) == Mine(4.0) + Linear()
    assert Mine(2.0).on([0]).has_lengthscale


@pytest.mark.parametrize("factor", [0.0, -2.0, np.nan, np.inf, "3", None, True])
def test_factors_that_are_refused(factor):
    for kernel in (Gaussian(1.0), Linear(), Gaussian("median") + Linear()):
        with pytest.raises(KernelError, match=r"needs .*factor.*"):
            kernel.stretched(factor)


def test_a_length_beyond_all_floats_is_refused():
    with pytest.raises(KernelError, match="Gaussian needs a finite number for lengthscale; got inf"):
        (Gaussian(1e300) + Linear()).stretched(1e10)
