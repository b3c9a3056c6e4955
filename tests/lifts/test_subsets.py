"""The products of the columns of every subset."""

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.preprocessing import PolynomialFeatures
from sklearn.utils.estimator_checks import check_estimator

import mercer
from mercer import kernels
from mercer.compute.runtime.memory import Budget
from mercer.errors import BudgetError, InputError, KernelError
from mercer.lifts.subsets import Subsets


def table(n, d, dtype="float64", seed=0):
    return np.random.default_rng(seed).normal(size=(n, d)).astype(dtype)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("order", [None, 1, 2, 5])
def test_every_subset_once(order, dtype):
    X = table(4, 5, dtype)
    found = Subsets(order).fit(X).transform(X)
    assert found.dtype == dtype
    subsets = [list(s) for size in range((order or 5) + 1) for s in combinations(range(5), size)]
    wanted = np.stack([X[:, s].astype("float64").prod(axis=1) for s in subsets], axis=1)
    np.testing.assert_allclose(found, wanted, rtol=5 * np.finfo(dtype).eps)


@pytest.mark.parametrize("order", [None, 1, 3])
def test_the_kernel(order):
    X, Z = table(6, 4), table(5, 4, seed=1)
    lift = Subsets(order).fit(X)
    assert lift.kernel == kernels.Subsets(max_order=order)
    products = X[:, None, :] * Z[None, :, :]
    wanted = sum(
        products[:, :, list(s)].prod(axis=2) for size in range((order or 4) + 1) for s in combinations(range(4), size)
    )
    np.testing.assert_allclose(lift.transform(X) @ lift.transform(Z).T, wanted, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(lift.kernel(X, Z), wanted, rtol=1e-12, atol=1e-13)


def test_all_subsets_have_the_product_kernel():
    X = table(3, 12)
    features = Subsets().fit_transform(X)
    assert features.shape == (3, 4096)
    np.testing.assert_allclose(features @ features.T, np.prod(1 + X[:, None] * X[None], axis=2), rtol=1e-12)


def test_sparse_in_sparse_out():
    X = table(8, 6) * (table(8, 6, seed=1) > 0)
    found = Subsets(3).fit(csr_array(X)).transform(csr_array(X))
    np.testing.assert_array_equal(found.toarray(), Subsets(3).fit(X).transform(X))
    assert found.nnz == sum(math.comb(n, k) for n in np.count_nonzero(X, axis=1).tolist() for k in range(4))


def test_names():
    names = ["1", "x1", "x2", "x3", "x1 x2", "x1 x3", "x2 x3", "x1 x2 x3"]
    assert Subsets().fit(table(2, 3)).get_feature_names_out().tolist() == names


# -- what is refused ---------------------------------------------------------------------------------------------------


def test_more_features_than_memory_are_counted_and_refused(monkeypatch):
    monkeypatch.setattr(Budget, "of_machine", classmethod(lambda cls, fraction=0.8: cls(1 << 30)))
    with pytest.raises(
        BudgetError, match=r"Subsets needs 48.0 GiB for a row of 1073741824 features; 1.0 GiB may be used"
    ):
        Subsets().fit(table(2, 30))
    assert Subsets(3).fit(table(2, 30)).transform(table(2, 30)).shape == (2, 4526)


@pytest.mark.parametrize(("d", "power"), [(60, 18), (1000, 301), (20_000, 6020)])
def test_numbers_of_features_that_cannot_be_written(d, power):
    message = (
        rf"Subsets needs .* for a row of about 10\^{power} features; .* Give a max_order, or use the lift's kernel"
    )
    with pytest.raises(BudgetError, match=message):
        Subsets().fit(np.zeros((1, d)))


def test_orders_above_the_number_of_columns():
    X = table(2, 3)
    np.testing.assert_array_equal(Subsets(4).fit_transform(X), Subsets().fit_transform(X))
    with pytest.raises(InputError, match="min_order = 4, and the largest subset has 3 of n_features = 3"):
        Subsets(min_order=4).fit(X)


@pytest.mark.parametrize("orders", [(None, 1), (2, 2), (3, 2), (9, 1)], ids=str)
def test_low_orders_may_be_left_out(orders):
    X = table(4, 3)
    lift = Subsets(*orders).fit(X)
    known = PolynomialFeatures((orders[1], orders[0] or 3), interaction_only=True, include_bias=False).fit(X)
    np.testing.assert_allclose(lift.transform(X), known.transform(X), rtol=1e-14)
    np.testing.assert_array_equal(lift.powers_, known.powers_)
    np.testing.assert_allclose(lift.transform(X) @ lift.transform(X).T, lift.kernel(X), rtol=1e-12)


@pytest.mark.parametrize("order", [0, -1, 1.5, "2"])
def test_orders_that_are_none(order):
    with pytest.raises(KernelError, match=r"Subsets needs .*(number|integer).* for max_order"):
        Subsets(order).fit(table(2, 3))


@pytest.mark.filterwarnings("ignore:.*check_array_api_input")
@pytest.mark.parametrize("lift", [Subsets(), Subsets(2)], ids=str)
def test_the_contract(lift):
    check_estimator(lift)


def test_all_subsets_but_the_empty_one():
    X = table(5, 4)
    lift = Subsets(include_bias=False).fit(X)
    assert lift.get_feature_names_out().tolist() == Subsets().fit(X).get_feature_names_out().tolist()[1:]
    assert lift.n_features() == 2**4 - 1
    np.testing.assert_array_equal(lift.transform(X), Subsets().fit_transform(X)[:, 1:])
    wanted = np.prod(1 + X[:, None] * X[None], axis=2) - 1
    np.testing.assert_allclose(lift.kernel(X), wanted, rtol=1e-12, atol=1e-13)
    assert str(lift.kernel) == "subsets(include_bias=0)"
    assert mercer.parse(str(lift.kernel)) == lift.kernel == kernels.Subsets(include_bias=False)
    exact = mercer.lift("subsets(include_bias=0)", 4)
    np.testing.assert_allclose(exact.transform(X) @ exact.transform(X).T, wanted, rtol=1e-12, atol=1e-13)
    proof = mercer.prove(lift.kernel)
    assert (proof.status, proof.max_dimension) == ("proven", None)
    assert Subsets(min_order=2, include_bias=False).fit(X).n_features() == 6 + 4 + 1


def test_small_values_lose_no_digits_without_the_empty_subset():
    x, z = np.full((1, 3), 1e-9), np.full((1, 3), 2e-9)
    terms = sum(math.comb(3, m) * Fraction(1e-9) ** m * Fraction(2e-9) ** m for m in (1, 2, 3))
    assert abs(Fraction(kernels.Subsets(include_bias=False)(x, z)[0, 0]) / terms - 1) < 1e-15


def test_no_subset_at_all_is_refused():
    with pytest.raises(KernelError, match="some subset; got max_order=0 with include_bias=False"):
        kernels.Subsets(max_order=0, include_bias=False)
    with pytest.raises(KernelError, match="True or False for include_bias"):
        Subsets(include_bias="no").fit(table(2, 2))
