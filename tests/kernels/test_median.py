"""The median heuristic and `resolve`."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist

from mercer.errors import DomainError, NumericalWarning
from mercer.kernels import Dot, ExponentialChiSquared, Gaussian, Laplace, Linear, ProductLaplace, ProductSinc

X = np.random.default_rng(0).normal(size=(50, 3))


@pytest.mark.parametrize(
    ("kernel", "metric"),
    [(Gaussian, "euclidean"), (Laplace, "euclidean"), (ProductSinc, "euclidean"), (ProductLaplace, "cityblock")],
)
def test_the_median_pairwise_distance(kernel, metric):
    assert kernel("median").resolve(X) == kernel(float(np.median(pdist(X, metric))))


def test_chi_squared_distances_have_a_median_of_their_own():
    counts = np.abs(X)
    wanted = [((a - b) ** 2 / (a + b)).sum() for i, a in enumerate(counts) for b in counts[:i]]
    found = ExponentialChiSquared("median").resolve(counts).lengthscale
    assert found == pytest.approx(np.median(wanted), rel=1e-12)


def test_a_kernel_of_your_own_of_any_family_is_resolved():
    class Mine(Dot):
        lengthscale: float = 1.0

        def profile(self, t):
            return t / self.lengthscale**2

    found = (Mine("median") + Linear()).resolve(X)
    assert not found.is_open
    assert found == Mine(float(np.median(pdist(X)))) + Linear()
    with pytest.raises(DomainError, match="non-negative"):
        ExponentialChiSquared("median").resolve(X)


def test_a_closed_kernel_is_given_back():
    kernel = Gaussian(2.0) + Linear()
    assert kernel.resolve(X) is kernel
    assert not kernel.is_open
    assert (Gaussian("median") + Linear()).is_open


def test_each_leaf_sees_its_own_columns():
    frame = pd.DataFrame(X * [1, 10, 100], columns=["a", "b", "c"])
    kernel = Gaussian("median").on(["a"]) * Gaussian("median").on([2]) + Gaussian("median").scaled([1, 10, 100])
    found = kernel.resolve(frame)
    wanted = Gaussian(float(np.median(pdist(frame[["a"]])))).on(["a"]) * Gaussian(
        float(np.median(pdist(frame[["c"]])))
    ).on([2]) + Gaussian(float(np.median(pdist(frame.to_numpy() / [1, 10, 100])))).scaled([1, 10, 100])
    assert found == wanted
    assert Gaussian("median").after(2 * np.eye(3)).resolve(X).kernel == Gaussian("median").resolve(2 * X)


def test_large_data_is_sampled_with_a_fixed_seed():
    big = np.random.default_rng(1).normal(size=(5_000, 2))
    first, second = Gaussian("median").resolve(big), Gaussian("median").resolve(big)
    assert first == second
    assert first.lengthscale == pytest.approx(np.median(pdist(big)), rel=0.03)


def test_duplicates_do_not_make_it_zero():
    rows = np.vstack([np.zeros((30, 2)), [[3.0, 4.0]], [[3.0, 4.0]]])
    assert Gaussian("median").resolve(rows).lengthscale == 5.0


@pytest.mark.parametrize("rows", [np.ones((5, 2)), np.ones((1, 2))])
def test_equal_rows_are_said(rows):
    with pytest.warns(NumericalWarning, match="no two different rows"):
        assert Gaussian("median").resolve(rows).lengthscale == 1.0
