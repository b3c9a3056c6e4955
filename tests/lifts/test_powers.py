"""The powers of every column."""

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix
from sklearn.utils.estimator_checks import check_estimator

from mercer import kernels
from mercer.errors import KernelError, NumericalWarning
from mercer.lifts.powers import Powers


def table(n, d, dtype="float64", seed=0):
    return np.random.default_rng(seed).normal(size=(n, d)).astype(dtype)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("degree", [1, 2, 5])
def test_all_first_powers_then_all_squares(degree, dtype):
    X = table(6, 3, dtype)
    found = Powers(degree).fit(X).transform(X)
    assert found.dtype == dtype
    wanted = np.concatenate([X.astype("float64") ** q for q in range(1, degree + 1)], axis=1)
    np.testing.assert_allclose(found, wanted, rtol=degree * np.finfo(dtype).eps)


@pytest.mark.parametrize("degree", [1, 2, 4])
def test_the_kernel(degree):
    X, Z = table(6, 3), table(5, 3, seed=1)
    lift = Powers(degree).fit(X)
    assert lift.kernel == kernels.Powers(degree)
    products = X[:, None, :] * Z[None, :, :]
    wanted = sum((products**b).sum(axis=2) for b in range(1, degree + 1))
    np.testing.assert_allclose(lift.transform(X) @ lift.transform(Z).T, wanted, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(lift.kernel(X, Z), wanted, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("kind", [csr_array, csr_matrix])
def test_sparse_in_sparse_out(kind):
    X = table(8, 5) * (table(8, 5, seed=1) > 0)
    found = Powers(3).fit(kind(X)).transform(kind(X))
    assert type(found) is kind
    assert found.has_sorted_indices
    assert found.nnz == 3 * np.count_nonzero(X)
    np.testing.assert_array_equal(found.toarray(), Powers(3).fit(X).transform(X))


def test_unsorted_and_repeated_entries():
    X = csr_array((np.array([2.0, 3.0, 4.0]), np.array([1, 0, 1]), np.array([0, 3])), shape=(1, 2))
    np.testing.assert_array_equal(Powers(2).fit(X).transform(X).toarray(), [[3, 6, 9, 36]])


def test_names_and_factors():
    lift = Powers(3).fit(table(2, 2))
    assert lift.get_feature_names_out().tolist() == ["x1", "x2", "x1^2", "x2^2", "x1^3", "x2^3"]
    assert lift.expansion_.factors.tolist() == [
        [0, -1, -1], [1, -1, -1], [0, 0, -1], [1, 1, -1], [0, 0, 0], [1, 1, 1]
    ]  # fmt: skip


def test_overflow_is_said():
    with pytest.warns(NumericalWarning, match="Powers overflows float32 on this data"):
        Powers(3).fit_transform(np.array([[1e20]], "float32"))


@pytest.mark.parametrize("degree", [0, 1.5, "3", None])
def test_degrees_that_are_none(degree):
    with pytest.raises(KernelError, match=r"Powers needs .*(number|integer).* for degree"):
        Powers(degree).fit(table(2, 2))


@pytest.mark.filterwarnings("ignore:.*check_array_api_input")
def test_the_contract():
    check_estimator(Powers())
