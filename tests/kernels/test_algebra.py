"""Composition against plain arithmetic: each rule, and mixed rules three deep."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import LEAVES, bounded, composed, leaves, squared_length, table, trees

import mercer
from mercer.errors import InputError, KernelError
from mercer.kernels import (
    Constant,
    Cosine,
    Gaussian,
    Laplace,
    Linear,
    Matern,
    Polynomial,
    Power,
    Product,
    Radial,
    RationalQuadratic,
    Sigmoid,
    Sinc,
    Sum,
)

X, Z = table(6), table(5, seed=1)


def by_hand(kernel, X, Z):
    """A second evaluator: plain arithmetic over the tree, one leaf matrix at a time."""
    name = type(kernel).__name__
    parts = [by_hand(child, *moved(kernel, X, Z)) for child in kernel.children]
    if not parts:
        return kernel(X, Z)
    if name == "Sum":
        return np.sum(parts, axis=0)
    if name == "Product":
        return np.prod(parts, axis=0)
    if name == "Power":
        return np.power(parts[0], kernel.exponent)
    if name == "Exp":
        return np.exp(parts[0])
    if name == "Weighted":
        return np.diag(kernel.function(X)) @ parts[0] @ np.diag(kernel.function(Z))
    if name == "Normalized":
        inner = kernel.kernel
        left = np.array([by_hand(inner, x[None], x[None])[0, 0] for x in X])
        right = np.array([by_hand(inner, z[None], z[None])[0, 0] for z in Z])
        scale = np.sqrt(np.outer(left, right))
        return np.divide(parts[0], scale, out=np.zeros_like(scale), where=scale > 0)
    return parts[0]


def moved(kernel, X, Z):
    """The data as the children of a node see it."""
    name = type(kernel).__name__
    if name == "Scaled":
        return X / kernel.lengthscales, Z / kernel.lengthscales
    if name == "On":
        return X[:, list(kernel.columns)], Z[:, list(kernel.columns)]
    if name == "After":
        return (
            (X @ kernel.matrix.T, Z @ kernel.matrix.T) if kernel.matrix is not None else (kernel.map(X), kernel.map(Z))
        )
    return X, Z


def assert_agrees(kernel, tolerance=1e-10):
    with np.errstate(all="ignore"):
        wanted = by_hand(kernel, X, Z)
        size = np.abs(wanted).max()
    if not 1e-200 < size < 1e200:
        return
    np.testing.assert_allclose(kernel(X, Z), wanted, rtol=tolerance, atol=tolerance * size)


@given(trees)
def test_property_any_tree_is_plain_arithmetic(kernel):
    assert_agrees(kernel)


@given(bounded, st.floats(0, 2))
def test_property_exponentials_are_plain_arithmetic(kernel, number):
    assert_agrees(mercer.exp(kernel))
    assert_agrees(mercer.exp(number * kernel + 1) * kernel)


@given(leaves, leaves, leaves, leaves)
def test_property_mixed_products_and_sums(k1, k2, k3, k4):
    A, B, C, D = (kernel(X, Z) for kernel in (k1, k2, k3, k4))
    size = max(np.abs(matrix).max() for matrix in (A, B, C, D)) ** 2 * 4 + 1e-300
    np.testing.assert_allclose((k1 * (k2 + k3))(X, Z), A * (B + C), rtol=1e-12, atol=1e-12 * size)
    np.testing.assert_allclose(((k1 + k2) * (k3 + k4))(X, Z), (A + B) * (C + D), rtol=1e-12, atol=1e-12 * size)
    np.testing.assert_allclose((k1 + k2 * k3)(X, Z), A + B * C, rtol=1e-12, atol=1e-12 * size)


@given(composed(composed(composed(leaves))))
def test_property_three_levels_deep(kernel):
    assert_agrees(kernel)


def test_sums_and_products_flatten_only_their_own_kind():
    a, b, c = Gaussian(), Linear(), Laplace()
    assert (a + b) + c == a + (b + c) == Sum((a, b, c))
    assert (a * b) * c == a * (b * c) == Product((a, b, c))
    assert (a * (b + c)).parts == (a, Sum((b, c)))
    assert (a + b * c).parts == (a, Product((b, c)))
    assert a * (b + c) != a * b + c


def test_numbers_stand_for_constants():
    assert 2 + Linear() == Constant(2.0) + Linear()
    assert Linear() * 0.5 == 0.5 * Linear() == Product((Constant(0.5), Linear()))
    assert np.float64(2) * Linear() == 2 * Linear()
    assert Gaussian() ** 1 == Gaussian()
    assert Gaussian() ** 2.0 == Gaussian() ** 2


def test_division_by_a_number():
    X = np.array([[1.0, 2.0], [0.5, -1.0]])
    np.testing.assert_allclose((Gaussian() / 4)(X), Gaussian()(X) / 4, rtol=1e-15)


def test_weighted_is_the_lectures_second_rule():
    k = Constant(1.0).weighted(lambda X: np.exp(X[:, 0]))
    np.testing.assert_allclose(k([[1.0]], [[2.0]]), [[math.exp(3.0)]])


def test_after_accepts_a_transformer():
    from sklearn.preprocessing import PolynomialFeatures

    lift = PolynomialFeatures(degree=2).fit(X)
    np.testing.assert_allclose(Linear().after(lift)(X, Z), lift.transform(X) @ lift.transform(Z).T, rtol=1e-13)


def test_kernels_on_different_columns():
    k = Gaussian(2.0).on(0) * Polynomial(2).on([1]) + Linear().on([1, 0])
    a, b = Gaussian(2.0)(X[:, :1], Z[:, :1]), Polynomial(2)(X[:, 1:], Z[:, 1:])
    np.testing.assert_allclose(k(X, Z), a * b + X @ Z.T, rtol=1e-13)


@pytest.mark.parametrize(
    ("kernel", "root"),
    [(Gaussian(1.0), Gaussian(math.sqrt(2))), (Laplace(1.0), Laplace(2.0)), (2.0 * Gaussian(3.0), None)],
)
def test_fractional_powers_of_divisible_kernels(kernel, root):
    np.testing.assert_allclose((kernel**0.5)(X, Z), np.sqrt(kernel(X, Z)), rtol=1e-13)
    if root is not None:
        np.testing.assert_allclose((kernel**0.5)(X, Z), root(X, Z), rtol=1e-13)


@given(st.one_of(*(LEAVES[name] for name in ("gaussian", "laplace", "matern", "rational_quadratic", "periodic"))))
def test_property_fractional_powers_stay_positive_semidefinite(kernel):
    values = np.linalg.eigvalsh((kernel**0.3)(table(30, seed=3)))
    assert values[0] > -1e-12


class Plain(Radial):
    lengthscale: float = 1.0
    other: float = 2.0

    def profile(self, u):
        return np.exp(-u)


def test_plain_fields_of_your_own_kernels_are_checked_too():
    assert Plain("median").resolve([[0.0], [3.0]]).lengthscale == 3.0
    with pytest.raises(KernelError, match="a positive lengthscale"):
        Plain(-1.0)
    with pytest.raises(KernelError, match="finite number for other"):
        Plain(1.0, math.nan)


def test_the_dimension_can_be_asked():
    assert Gaussian().max_dimension is None
    assert (Sinc() * Gaussian()).max_dimension == 3
    assert Sinc().on([0, 1]).max_dimension is None
    assert Sigmoid().max_dimension == 0


REFUSALS = {
    "a difference": (lambda: Gaussian() - Linear(), "difference"),
    "a number less": (lambda: Gaussian() - 1, "difference"),
    "less than a number": (lambda: 1 - Gaussian(), "difference"),
    "a negation": (lambda: -Gaussian(), "difference"),
    "a negative scale": (lambda: -2 * Gaussian(), "negative"),
    "a negative term": (lambda: Gaussian() + -1.0, "negative"),
    "a fractional power": (lambda: (9 + Linear()) ** 1.5, "whole exponent"),
    "a fractional power of a cosine": (lambda: Cosine() ** 0.5, "infinitely divisible"),
    "a fractional degree": (lambda: Polynomial(degree=1.5, offset=9), "Taylor"),
    "a zeroth power": (lambda: Gaussian() ** 0, "positive"),
    "a division by zero": (lambda: Gaussian() / 0, "positive"),
    "a quotient": (lambda: Gaussian() / Linear(), "quotient"),
    "a negative power": (lambda: Gaussian() ** -1, "positive"),
    "a kernel as power": (lambda: Gaussian() ** Gaussian(), "exponent"),
    "NaN": (lambda: math.nan * Gaussian(), "finite"),
    "infinity": (lambda: math.inf * Gaussian(), "finite"),
    "a number beyond all floats": (lambda: Constant(10**400), "finite"),
    "a NaN lengthscale": (lambda: Gaussian(math.nan), "finite"),
    "a zero lengthscale": (lambda: Gaussian(0.0), "positive"),
    "a text lengthscale": (lambda: Gaussian("mean"), "median"),
    "a negative offset": (lambda: Polynomial(2, offset=-1.0), "at least zero"),
    "a text in a sum": (lambda: Gaussian() + "linear", "kernel or a number"),
    "a bool in a product": (lambda: True * Gaussian(), "kernel or a number"),
    "nu of zero": (lambda: Matern(nu=0), "positive"),
    "a shape of zero": (lambda: RationalQuadratic(shape=0), "positive"),
    "no columns": (lambda: Gaussian().on([]), "position or name"),
    "columns of floats": (lambda: Gaussian().on([0.5]), "position or name"),
    "scales of zero": (lambda: Gaussian().scaled([1.0, 0.0]), "positive"),
    "scales as a number": (lambda: Gaussian().scaled(2.0), "one lengthscale per column"),
    "a class": (lambda: Linear() * Gaussian, r"got <class.*Write Gaussian\(\)"),
    "a text": (lambda: Linear() + "gaussian", r"Write mercer\.parse\('gaussian'\)"),
    "exp of numbers": (
        lambda: mercer.exp(np.ones((3, 2))),
        r"got an array of shape \(3, 2\)\. Of numbers it is np\.exp",
    ),
    "a weight that is no function": (lambda: Gaussian().weighted(3), "function"),
    "a map that is no map": (lambda: Gaussian().after([1.0, 2.0]), "matrix"),
    "a matrix of NaN": (lambda: Gaussian().after([[math.nan]]), "matrix"),
    "a matrix of texts": (lambda: Gaussian().after([["a", "b"]]), "After needs a matrix of finite numbers"),
    "rows of different lengths": (lambda: Gaussian().after([[1.0, 2.0], [3.0]]), "After needs a matrix of finite"),
    "scales of different lengths": (lambda: Gaussian().scaled([[1.0, 2.0], [3.0]]), "one lengthscale per column"),
    "scales that are texts": (lambda: Gaussian().scaled(["a"]), "a number for lengthscales"),
    "a kernel as a map": (lambda: Linear().after(Gaussian()), r"a function of rows.*Gaussian.*Compose kernels with"),
    "a kernel as a weight": (lambda: Linear().weighted(Gaussian()), r"a function of rows.*Compose kernels with"),
    "a class of kernels as a map": (lambda: Linear().after(Gaussian), "Compose kernels with"),
    "one part": (lambda: Sum((Gaussian(),)), "two or more"),
    "a part that is no kernel": (lambda: Product((Gaussian(), 3)), "kernels as parts"),
    "a base that is no kernel": (lambda: Power(3, 2), "a kernel inside"),
    "exp of a text": (lambda: mercer.exp("linear"), "kernel or a number"),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_refused_at_construction_with_the_reason(case):
    build, reason = REFUSALS[case]
    with pytest.raises(KernelError, match=reason):
        build()


WRONG_DATA = {
    "weights of the wrong shape": (Gaussian().weighted(lambda X: X), "one number per row"),
    "a map that loses rows": (Gaussian().after(lambda X: X[:2]), "one row per row"),
    "a map to infinity": (Gaussian().after(lambda X: X * np.inf), "real, finite numbers from lambda"),
    "a matrix of another width": (Gaussian().after([[1.0, 0.0, 0.0]]), "3 columns"),
    "a column that is not there": (Gaussian().on([5]), "column 5"),
    "a name without names": (Gaussian().on(["age"]), "no column names"),
    "too few lengthscales": (Gaussian().scaled([1.0]), "data of 1 column;"),
    "a normalized non-kernel": (mercer.parse("sigmoid(offset=-9)").normalized(), r"k\(x, x\) >= 0"),
}


@pytest.mark.parametrize("case", WRONG_DATA)
def test_refused_data_for_wrappers(case):
    kernel, reason = WRONG_DATA[case]
    with pytest.raises(InputError, match=reason):
        kernel(X)


def test_weights_may_come_as_a_column():
    np.testing.assert_allclose(
        Linear().weighted(lambda X: squared_length(X)[:, None])(X), Linear().weighted(squared_length)(X)
    )


def test_normalized_is_zero_where_the_kernel_is():
    K = Linear().normalized()([[0.0, 0.0], [3.0, 4.0]])
    np.testing.assert_array_equal(K, [[0.0, 0.0], [0.0, 1.0]])


@pytest.mark.parametrize(("columns", "fits", "fails"), [([-1], 1, 0), ([-3, 0], 3, 2), ([2], 3, 2), ([0], 1, 0)])
def test_chosen_columns_count_from_both_ends(columns, fits, fails):
    """As many columns as a position needs, and one fewer: what the inner kernel sees, and 0 where that is nothing."""
    kernel = Gaussian().on(columns)
    assert (kernel.inner_width(fits), kernel.inner_width(fits + 1), kernel.inner_width(None)) == (len(columns),) * 3
    assert kernel.inner_width(fails) == 0
