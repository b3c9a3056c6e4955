"""The polynomial lift and the plain monomials: features whose inner product is the kernel."""

import math
import tracemalloc
from fractions import Fraction
from itertools import combinations

import numpy as np
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csc_array, csr_array, csr_matrix
from sklearn.base import clone
from sklearn.preprocessing import PolynomialFeatures
from sklearn.utils.estimator_checks import check_estimator

from mercer import kernels, parse
from mercer.errors import BudgetError, InputError, KernelError, NumericalWarning
from mercer.lifts import monomial_loops as loops
from mercer.lifts import sparse_monomial_loops as sparse_loops
from mercer.lifts.monomials import Monomials
from mercer.lifts.parabolic import Parabolic
from mercer.lifts.polynomial import Polynomial

LIFTS = [
    Polynomial(),
    Polynomial(3, 0.0),
    Polynomial(3, 0.7),
    Polynomial(2, interaction_only=True),
    Polynomial(4, 0.3, interaction_only=True),
    Monomials(),
    Monomials(3, include_bias=False),
]

numbers = st.floats(-4, 4, allow_subnormal=False).map(lambda x: round(x, 3))
rows = st.integers(1, 4).flatmap(lambda d: st.tuples(*[st.lists(numbers, min_size=d, max_size=d)] * 2))


def table(n, d, dtype="float64", seed=0):
    return np.random.default_rng(seed).normal(size=(n, d)).astype(dtype)


def sparse(n, d, density):
    return csr_array(table(n, d) * (np.random.default_rng(1).uniform(size=(n, d)) < density))


def exact(values):
    return [Fraction(float(value)) for value in values]


def elementary(products, order):
    """The elementary symmetric polynomial: the sum over all subsets of so many."""
    return sum((math.prod(chosen) for chosen in combinations(products, order)), start=Fraction(0))


# -- the kernel --------------------------------------------------------------------------------------------------------


@given(rows, st.integers(1, 6), st.sampled_from([0.0, 0.25, 1.0, 2.3]), st.booleans())
def test_the_inner_product_is_the_kernel_in_exact_arithmetic(pair, degree, offset, distinct):
    """Each feature is off by degree + 2 roundings, and so is the inner product, by twice that of the sum of sizes."""
    x, z = (exact(side) for side in pair)
    products = [a * b for a, b in zip(x, z, strict=True)]
    if distinct and not offset and degree > len(x):
        return
    lift = Polynomial(degree, offset, interaction_only=distinct).fit([pair[0]])
    left, right = (exact(row) for row in lift.transform([pair[0], pair[1]]))
    c = Fraction(offset)
    if distinct:
        wanted = sum(math.perm(degree, s) * c ** (degree - s) * elementary(products, s) for s in range(degree + 1))
    else:
        wanted = (c + sum(products)) ** degree
    sizes = (c + sum(map(abs, products))) ** degree
    found = sum(a * b for a, b in zip(left, right, strict=True))
    assert abs(found - wanted) <= 2 * (degree + 2) * Fraction(2) ** -53 * sizes


@pytest.mark.parametrize("lift", LIFTS, ids=str)
def test_the_kernel_that_it_names(lift):
    X, Z = table(9, 5), table(7, 5, seed=1)
    left, right = clone(lift).fit(X).transform(X), clone(lift).fit(X).transform(Z)
    sizes = np.abs(left) @ np.abs(right).T
    assert (np.abs(left @ right.T - lift.kernel(X, Z)) <= 1e-14 * sizes).all()


def test_the_kernels():
    assert Polynomial(3, 0.5).kernel == kernels.Polynomial(3, 0.5)
    assert Monomials(3, False).kernel == kernels.Monomials(3, False)
    few = 2.0 * kernels.Subsets(1, 1) + 2.0 * kernels.Subsets(2, 2)
    assert Polynomial(2, 1.0, interaction_only=True).kernel == kernels.Constant(1.0) + few
    assert Polynomial(3, 0.0, interaction_only=True).kernel == 6.0 * kernels.Subsets(3, 3)


def test_the_induced_kernel():
    X = table(6, 3)
    lift = Polynomial(3, 0.5).fit(X)
    np.testing.assert_allclose(lift.induced(X), lift.kernel(X), rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(lift.certificate(X).bound, 0, atol=1e-9)


def test_interactions_of_more_columns_than_there_are():
    """Order 5 of three columns: the terms of orders 0 to 3 are left."""
    X = table(8, 3)
    lift = Polynomial(5, 0.4, interaction_only=True).fit(X)
    found = lift.transform(X)
    assert found.shape == (8, 8)
    np.testing.assert_allclose(found @ found.T, lift.kernel(X), rtol=1e-12, atol=1e-12)


# -- scikit-learn's features -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("degree", [1, 2, 3, 5])
def test_the_same_monomials_in_the_same_order_as_scikit_learns(degree, bias):
    for d in (1, 2, 6):
        X = table(5, d)
        found = Monomials(degree, bias).fit(X).transform(X)
        wanted = PolynomialFeatures(degree, include_bias=bias).fit(X).transform(X)
        np.testing.assert_allclose(found, wanted, rtol=degree * 2.3e-16, atol=0)


def test_interactions_in_the_same_order_as_scikit_learns():
    X = table(5, 6)
    lift = Polynomial(3, interaction_only=True).fit(X)
    wanted = PolynomialFeatures(3, interaction_only=True).fit_transform(X)
    np.testing.assert_allclose(lift.transform(X) / lift.expansion_.weights, wanted, rtol=1e-15)


def test_the_number_of_features():
    X = np.zeros((1, 30))
    assert Polynomial(3).fit(X).transform(X).shape == (1, math.comb(33, 3))
    assert Polynomial(3, 0.0).fit(X).transform(X).shape == (1, math.comb(32, 3))
    assert Polynomial(3, interaction_only=True).fit(X).transform(X).shape == (1, 1 + 30 + 435 + 4060)


def test_weights_of_the_second_degree():
    """(c + x1 z1 + x2 z2)^2, multiplied out by hand."""
    lift = Polynomial(2, 0.5).fit([[1.0, 1.0]])
    wanted = [0.5, 1.0, 1.0, 1.0, math.sqrt(2), 1.0]
    np.testing.assert_array_equal(lift.transform([[1.0, 1.0]]), [wanted])


# -- accuracy and size -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("lift", LIFTS, ids=str)
def test_features_are_off_by_roundings_only(lift, dtype):
    """feature^2 against weight^2 prod x^2, which are rational."""
    X = table(3, 3, dtype)
    found = clone(lift).fit(X)
    degree, unit = lift.degree, Fraction(float(np.finfo(dtype).eps)) / 2
    features = found.transform(X)
    assert features.dtype == dtype
    for row, values in zip(X, features, strict=True):
        for factors, value in zip(found.expansion_.factors, values, strict=True):
            columns = [c for c in factors.tolist() if c >= 0]
            wanted = math.prod(Fraction(float(row[c])) ** 2 for c in columns)
            if isinstance(lift, Polynomial):
                left = degree - len(columns)
                ways = math.factorial(degree) // math.factorial(left)
                ways = Fraction(ways, math.prod(math.factorial(columns.count(c)) for c in range(3)))
                wanted *= ways * Fraction(lift.offset) ** left
            assert abs(Fraction(float(value)) ** 2 - wanted) <= 2 * (degree + 2) * unit * wanted


@pytest.mark.parametrize("degree", [20, 25])
def test_high_degrees(degree):
    """Weights of 25! and more, and few features."""
    X = table(4, 2) / 2
    lift = Polynomial(degree).fit(X)
    features = lift.transform(X)
    assert features.shape == (4, math.comb(degree + 2, 2))
    np.testing.assert_allclose(features @ features.T, (1 + X @ X.T) ** degree, rtol=1e-12)


def test_an_offset_whose_power_fits_no_float():
    lift = Polynomial(3, 1e200).fit([[1.0]])
    np.testing.assert_allclose(lift.transform([[1.0]]), [[1e300, math.sqrt(3) * 1e200, math.sqrt(3) * 1e100, 1.0]])


@pytest.mark.parametrize("lift", LIFTS, ids=str)
def test_compiled_loops_give_the_same_bits(lift, monkeypatch):
    X = table(40, 5)
    found = clone(lift).fit(X)
    by_numpy = found.transform(X)
    monkeypatch.setattr(loops, "MIN_COMPILED_VALUES", 0)
    np.testing.assert_array_equal(found.transform(X), by_numpy)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("lift", [Polynomial(3), Monomials(3)], ids=str)
def test_overflow_is_said(lift, dtype):
    largest = float(np.finfo(dtype).max)
    fits, overflows = np.array([[largest**0.333]], dtype), np.array([[2 * largest**0.334]], dtype)
    assert np.isfinite(clone(lift).fit_transform(fits)).all()
    with pytest.warns(NumericalWarning, match=f"{type(lift).__name__} overflows {dtype} on this data"):
        assert np.isinf(clone(lift).fit_transform(overflows)).any()
    with pytest.warns(NumericalWarning, match="Scale the data down, or lower the degree"):
        clone(lift).fit_transform(csr_array(overflows))


# -- sparse rows -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("dtype", "way"), [("float64", "numpy"), ("float32", "numpy"), ("float64", "compiled")])
@pytest.mark.parametrize("lift", LIFTS, ids=str)
def test_sparse_in_sparse_out(lift, dtype, way, monkeypatch):
    monkeypatch.setattr(sparse_loops, "MIN_COMPILED_NUMBERS", 0 if way == "compiled" else 1 << 62)
    X = sparse(30, 7, 0.4).astype(dtype)
    found = clone(lift).fit(X).transform(X)
    wanted = clone(lift).fit(X.toarray()).transform(X.toarray())
    assert isinstance(found, csr_array)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found.toarray(), wanted)


def test_other_sparse_tables():
    X = table(6, 4)
    wanted = Polynomial().fit_transform(X)
    assert isinstance(Polynomial().fit_transform(csr_matrix(X)), csr_matrix)
    np.testing.assert_array_equal(Polynomial().fit_transform(csc_array(X)).toarray(), wanted)


def test_very_many_features_of_sparse_rows():
    """450 million features: none of their tables is built, and names would need them."""
    X = sparse(50, 30_000, 5e-4)
    tracemalloc.start()
    try:
        lift = Polynomial(2).fit(X)
        found = lift.transform(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found.shape == (50, 450_045_001)
    assert peak < 50e6
    _, columns = np.unique(found.indices, return_inverse=True)  # products of so many columns would need their memory
    few = csr_array((found.data, columns, found.indptr))
    np.testing.assert_allclose((few @ few.T).toarray(), (1 + (X @ X.T).toarray()) ** 2, rtol=1e-13, atol=1e-13)


# -- scikit-learn's contract -------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.*check_array_api_input")
@pytest.mark.parametrize(
    "lift", [Polynomial(), Polynomial(3, 0.0), Polynomial(2, interaction_only=True), Monomials()], ids=str
)
def test_the_contract(lift):
    check_estimator(lift)


def test_names():
    named = pandas.DataFrame({"age": [1.0, 2.0], "size": [3.0, 5.0]})
    lift = Polynomial(2, 3.0).set_output(transform="pandas").fit(named)
    wanted = ["3", "sqrt(6) age", "sqrt(6) size", "age^2", "sqrt(2) age size", "size^2"]
    assert lift.transform(named).columns.tolist() == wanted
    assert Monomials(2, False).fit(table(2, 2)).get_feature_names_out().tolist() == [
        "x1", "x2", "x1^2", "x1 x2", "x2^2"
    ]  # fmt: skip


def test_refitting_forgets_the_last_data():
    lift = Polynomial(2).fit(table(3, 4))
    assert lift.set_params(degree=3).fit(table(3, 2)).transform(table(5, 2)).shape == (5, 10)


# -- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [Polynomial, Monomials])
@pytest.mark.parametrize("degree", [0, -1, 1.5, "2", None, True])
def test_degrees_that_are_none(kind, degree):
    with pytest.raises(KernelError, match=f"{kind.__name__} needs .* for degree; got .*"):
        kind(degree).fit(table(2, 2))


def test_offsets_that_are_none():
    with pytest.raises(KernelError, match=r"Polynomial needs offset of at least zero; got -1.0"):
        Polynomial(2, -1.0).fit(table(2, 2))
    with pytest.raises(KernelError, match="Polynomial needs a finite number for offset"):
        Polynomial(2, math.nan).fit(table(2, 2))


def test_a_kernel_whose_numbers_fit_no_float():
    with pytest.raises(KernelError, match="Constant needs a finite number"):
        Polynomial(3, 1e200, interaction_only=True).kernel  # noqa: B018


def test_choices_that_are_none():
    with pytest.raises(KernelError, match="Polynomial needs True or False for interaction_only; got 'yes'"):
        Polynomial(2, 1.0, interaction_only="yes").fit(table(2, 2))
    with pytest.raises(KernelError, match="Monomials needs True or False for include_bias; got 2"):
        Monomials(2, 2).fit(table(2, 2))


def test_products_of_more_different_columns_than_there_are():
    needs = "Polynomial needs 3 columns for products of 3 different ones; the data has n_features = 2"
    with pytest.raises(InputError, match=needs):
        Polynomial(3, 0.0, interaction_only=True).fit(table(2, 2))


@pytest.mark.parametrize("kind", [Polynomial, Monomials])
def test_too_many_features_are_refused_before_anything_is_built(kind):
    X = np.zeros((1, 2000))
    tracemalloc.start()
    try:
        with pytest.raises(BudgetError, match=rf"{kind.__name__} needs .* for a row of about 10\^26 features"):
            kind(10).fit(X)
        with pytest.raises(BudgetError, match="Lower the degree, or use the lift's kernel"):
            kind(10**6).fit(X)
        with pytest.raises(BudgetError, match=r"features that can be numbered by 64 bits; there are about 10\^26"):
            kind(10).fit(csr_array(X))
        assert tracemalloc.get_traced_memory()[1] < 5e6
    finally:
        tracemalloc.stop()


def test_too_many_stored_numbers_are_refused():
    X = csr_array(np.ones((1, 500)))
    with pytest.raises(BudgetError, match=r"Polynomial needs .* for .* stored numbers of features"):
        Polynomial(6).fit(X).transform(X)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("degree", [(0, 2), (1, 3), (2, 3), [3, 3]], ids=str)
def test_monomials_of_some_degrees_are_scikit_learn_s(degree, bias):
    X = table(5, 3)
    lift = Monomials(degree, bias).fit(X)
    known = PolynomialFeatures(tuple(degree), include_bias=bias).fit(X)
    np.testing.assert_allclose(lift.transform(X), known.transform(X), rtol=1e-14)
    np.testing.assert_array_equal(lift.powers_, known.powers_)
    names = ["x0", "x1", "x2"]
    assert lift.get_feature_names_out(names).tolist() == known.get_feature_names_out().tolist()
    np.testing.assert_allclose(lift.transform(X) @ lift.transform(X).T, lift.kernel(X), rtol=1e-12)
    np.testing.assert_allclose(np.diagonal(lift.kernel(X)), lift.kernel.diagonal(X), rtol=1e-12)
    assert parse(str(lift.kernel)) == lift.kernel


@pytest.mark.parametrize("degree", [2, (2, 3)], ids=str)
def test_sparse_columns_give_sparse_columns(degree):
    X = csc_array(np.round(table(6, 3)))
    found = Monomials(degree).fit_transform(X)
    assert found.format == "csc"
    assert Monomials(degree).fit_transform(csr_array(X)).format == "csr"
    np.testing.assert_array_equal(found.toarray(), Monomials(degree).fit_transform(X.toarray()))


@pytest.mark.parametrize("lift", [Monomials((2, 3)), Polynomial(2)], ids=str)
def test_powers_are_exponents_of_features_that_are_monomials(lift):
    X = table(4, 2)
    features = lift.fit_transform(X)
    products = np.prod(X[:, None, :] ** lift.powers_, axis=2)
    ratios = features / products
    np.testing.assert_allclose(ratios, np.broadcast_to(ratios[0], ratios.shape), rtol=1e-12)
    with pytest.raises(AttributeError, match="sums of several monomials"):
        _ = Parabolic().fit(X).powers_


@pytest.mark.parametrize("degree", [(3, 2), (1, 2, 3), (-1, 2), (0, 0), (1.5, 2)], ids=str)
def test_pairs_of_degrees_that_are_none(degree):
    with pytest.raises(ValueError, match="Monomials needs"):
        Monomials(degree).fit(table(2, 2))
