"""The parabolic lift: balls become halfspaces."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_estimator

from mercer import kernels
from mercer.errors import NumericalWarning
from mercer.lifts.parabolic import Parabolic


def table(n, d, dtype="float64", seed=0):
    return np.random.default_rng(seed).normal(size=(n, d)).astype(dtype)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("d", [1, 2, 30])
def test_the_columns_and_their_sum_of_squares(d, dtype):
    X = table(7, d, dtype)
    found = Parabolic().fit(X).transform(X)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found[:, :d], X)
    wanted = (X.astype("float64") ** 2).sum(axis=1)
    np.testing.assert_allclose(found[:, d], wanted, rtol=8 * np.finfo(dtype).eps)


def test_the_expansion_says_the_same():
    X = table(5, 3)
    lift = Parabolic().fit(X)
    np.testing.assert_allclose(lift.expansion_.evaluate(X), lift.transform(X), rtol=1e-15)
    assert lift.expansion_.factors.tolist() == [[0, -1], [1, -1], [2, -1], [0, 0], [1, 1], [2, 2]]
    np.testing.assert_array_equal(lift.expansion_.coefficients.toarray()[3], [0, 0, 0, 1, 1, 1])


def test_the_kernel():
    X, Z = table(6, 3), table(5, 3, seed=1)
    lift = Parabolic().fit(X)
    assert lift.kernel == kernels.Parabolic()
    wanted = X @ Z.T + np.outer((X**2).sum(axis=1), (Z**2).sum(axis=1))
    np.testing.assert_allclose(lift.transform(X) @ lift.transform(Z).T, wanted, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(lift.kernel(X, Z), wanted, rtol=1e-13, atol=1e-13)


def test_a_ball_is_a_halfspace():
    """|x - c| <= r exactly where <(2c, -1), phi(x)> >= |c|^2 - r^2."""
    X, center, radius = table(500, 2), np.array([0.3, -0.2]), 0.9
    inside = np.linalg.norm(X - center, axis=1) <= radius
    features = Parabolic().fit_transform(X)
    found = features @ np.append(2 * center, -1) >= center @ center - radius**2
    assert 0 < inside.sum() < 500
    np.testing.assert_array_equal(found, inside)


def test_names():
    assert Parabolic().fit(table(2, 2)).get_feature_names_out().tolist() == ["x1", "x2", "x1^2 + x2^2"]


def test_overflow_is_said():
    with pytest.warns(NumericalWarning, match="Parabolic overflows float64 on this data"):
        found = Parabolic().fit_transform([[1e200, 1.0]])
    np.testing.assert_array_equal(found, [[1e200, 1.0, np.inf]])


@pytest.mark.filterwarnings("ignore:.*check_array_api_input")
def test_the_contract():
    check_estimator(Parabolic())
