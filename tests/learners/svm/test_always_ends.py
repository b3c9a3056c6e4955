"""Data on which other machines run for ever: each fit ends, with a model and the truth about it."""

import warnings

import numpy as np
import pytest

from mercer import KernelOneClassSVM, KernelRidge, KernelSVC, KernelSVR
from mercer.errors import NumericalWarning
from mercer.kernels import Gaussian, Linear, Polynomial
from mercer.learners.data.column_scales import wild_columns


def ended(model, X, y=None):
    """The model, whose numbers are finite, and who has converged or said why not."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model.fit(*([X] if y is None else [X, y]))
    words = [str(one.message) for one in told]
    assert all(issubclass(one.category, NumericalWarning) for one in told), words
    assert model.converged_ or any("A violation of" in text for text in words)
    assert np.isfinite(model.dual_coef_).all()
    assert np.isfinite(np.asarray(model.predict(X)).astype(float)).all()
    return model, words


def unscaled(n=200):
    """One feature with huge values among normal ones."""
    random = np.random.default_rng(0)
    X = random.normal(size=(n, 5))
    X[:, 2] *= 1e10
    return X, (X[:, 0] + 0.5 * random.normal(size=n) > 0).astype(int)


@pytest.mark.parametrize("kernel", [Linear(), Gaussian(1.0), Gaussian("median"), Polynomial(3, 1.0)], ids=str)
def test_one_feature_with_huge_values(kernel):
    X, y = unscaled()
    for model, target in (
        (KernelSVC(kernel), y),
        (KernelSVR(kernel), y.astype(float)),
        (KernelOneClassSVM(kernel), None),
    ):
        _, words = ended(model, X, target)
        assert any("the spread of column 2 is more than 10000 times that of most columns" in text for text in words)
        assert any("StandardScaler" in text for text in words)


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(3, 0.0), Polynomial(3, 1.0)], ids=str)
def test_six_rows_at_a_huge_price(kernel):
    X = np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 5.0], [4.0, 3.0], [5.0, 9.0], [6.0, 2.0]])
    ended(KernelSVC(kernel, C=1e10), X, [0, 1, 0, 1, 1, 0])
    ended(KernelSVC(kernel, C=1e10), 1e3 * X, [0, 1, 0, 1, 1, 0])
    ended(KernelSVR(kernel, C=1e10), X, [0.3, 1.0, -2.0, 0.1, 3.0, 1.5])


def test_two_points_far_from_the_origin():
    X = np.array([[1.0, 99999.0], [2.0, 99999.0]])
    model, _ = ended(KernelSVC("linear", C=1e10), X, [0, 1])
    np.testing.assert_array_equal(model.predict(X), [0, 1])
    np.testing.assert_allclose(model.decision_function(X), [-1.0, 1.0], atol=1e-2)
    ended(KernelSVC("linear", C=1e10), 1e5 * X, [0, 1])


@pytest.mark.parametrize("C", [1e-10, 1e10])
def test_prices_beyond_reason(C):
    random = np.random.default_rng(0)
    X, y = random.normal(size=(300, 4)), random.integers(2, size=300)
    ended(KernelSVC("gaussian(1)", C=C), X, y)
    ended(KernelSVC("linear", C=C, max_iter=100_000), X, y)
    ended(KernelSVR("gaussian(1)", C=C), X, y.astype(float))


def test_rows_that_are_all_the_same():
    X, y = np.ones((10, 2)), np.arange(10) % 2
    for kernel in (Linear(), Gaussian(1.0)):
        ended(KernelSVC(kernel), X, y)
        ended(KernelSVR(kernel), X, y.astype(float))
        ended(KernelOneClassSVM(kernel), X)


# -- scales -----------------------------------------------------------------------------------------------------------


def test_wild_columns_are_found_and_others_are_not():
    random = np.random.default_rng(0)
    X = random.normal(size=(50, 6))
    assert len(wild_columns(X)) == 0
    assert len(wild_columns(X * [1, 10, 100, 1000, 1, 1])) == 0
    assert len(wild_columns(np.where(np.arange(6) == 1, 1e12, X))) == 0  # a constant is no scale
    assert wild_columns(X * [1, 1, 1e6, 1, 1e7, 1]).tolist() == [2, 4]
    assert wild_columns(X[:, :2] * [1, 1e6]).tolist() == [1]
    assert len(wild_columns(X[:, :1] * 1e9)) == 0
    assert len(wild_columns(np.ones((5, 3)))) == 0


def test_scales_are_judged_as_the_kernel_sees_them():
    X, y = unscaled()
    lengths = [1.0, 1.0, 1e10, 1.0, 1.0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        KernelSVC(Gaussian(1.0).scaled(lengths)).fit(X, y)
        KernelSVC(Gaussian(1.0).on([0, 1])).fit(X, y)
        KernelSVC(Gaussian(1.0)).fit(X / lengths, y)
        KernelRidge(Gaussian(1.0), alpha=1.0).fit(X, y)


def test_names_of_columns_are_told():
    pandas = pytest.importorskip("pandas")
    X, y = unscaled()
    frame = pandas.DataFrame(X, columns=["a", "b", "income", "d", "e"])
    with pytest.warns(NumericalWarning, match="KernelSVC: the spread of column 'income' is more than 10000 times"):
        KernelSVC("gaussian(1)").fit(frame, y)
