"""Evaluation: against scikit-learn and SciPy where they have the kernel, and the promises about bits and types."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.gaussian_process import kernels as theirs
from sklearn.metrics import pairwise
from strategies import LEAVES, REFUTED, any_leaf, table

import mercer
from mercer import kernels as k
from mercer.kernels.evaluation import plain

X, Z = table(9), table(7, seed=1)

PEERS = {
    "linear": (k.Linear(), pairwise.linear_kernel),
    "polynomial": (k.Polynomial(3, 0.5), lambda X, Z: pairwise.polynomial_kernel(X, Z, 3, gamma=1, coef0=0.5)),
    "gaussian": (k.Gaussian(0.7), lambda X, Z: pairwise.rbf_kernel(X, Z, gamma=1 / (2 * 0.49))),
    "product_laplace": (k.ProductLaplace(0.7), lambda X, Z: pairwise.laplacian_kernel(X, Z, gamma=1 / 0.7)),
    "laplace": (k.Laplace(0.7), theirs.Matern(0.7, nu=0.5)),
    "matern 3/2": (k.Matern(1.5, 0.7), theirs.Matern(0.7, nu=1.5)),
    "matern 5/2": (k.Matern(2.5, 0.7), theirs.Matern(0.7, nu=2.5)),
    "matern 1.2": (k.Matern(1.2, 0.7), theirs.Matern(0.7, nu=1.2)),
    "rational_quadratic": (k.RationalQuadratic(2.5, 0.7), theirs.RationalQuadratic(0.7, 2.5)),
    "cosine": (k.Cosine(), pairwise.cosine_similarity),
    "sigmoid": (k.Sigmoid(0.5, 1.0), lambda X, Z: pairwise.sigmoid_kernel(X, Z, gamma=0.5, coef0=1.0)),
    "exponential_chi_squared": (k.ExponentialChiSquared(2.0), lambda X, Z: pairwise.chi2_kernel(X, Z, gamma=0.5)),
    "chi_squared": (
        k.ChiSquared(),
        # theirs is minus the distance: x + z - 4 x z / (x + z)
        lambda X, Z: (pairwise.additive_chi2_kernel(X, Z) + X.sum(1)[:, None] + Z.sum(1)) / 2,
    ),
}


@pytest.mark.parametrize("name", PEERS)
def test_against_scikit_learn(name):
    kernel, peer = PEERS[name]
    np.testing.assert_allclose(kernel(X, Z), peer(X, Z), rtol=1e-9, atol=1e-12)


def test_periodic_against_scikit_learn_on_a_line():
    peer = theirs.ExpSineSquared(length_scale=0.8, periodicity=1.3)
    np.testing.assert_allclose(k.Periodic(1.3, 0.8)(X[:, :1], Z[:, :1]), peer(X[:, :1], Z[:, :1]), rtol=1e-12)


def one_pair(function):
    """A matrix by a double loop over pairs."""
    return lambda X, Z: np.array([[function(x, z) for z in Z] for x in X])


def angle(x, z):
    return np.arccos(x @ z / np.linalg.norm(x) / np.linalg.norm(z))


LOOPS = {
    "constant": (k.Constant(0.3), lambda x, z: 0.3),
    "exponential": (k.Exponential(1.5), lambda x, z: np.exp(x @ z / 2.25)),
    "sinc": (k.Sinc(0.2), lambda x, z: np.sinc(np.linalg.norm(x - z) / 0.2 / np.pi)),
    "product_sinc": (k.ProductSinc(0.2), lambda x, z: np.prod(np.sinc((x - z) / 0.2 / np.pi))),
    "subsets": (k.Subsets(), lambda x, z: 1 + x[0] * z[0] + x[1] * z[1] + x[0] * x[1] * z[0] * z[1]),
    "subsets 1": (k.Subsets(1), lambda x, z: x[0] * z[0] + x[1] * z[1] + x[0] * x[1] * z[0] * z[1]),
    "monomials": (
        k.Monomials(2),
        lambda x, z: 1 + x @ z + x[0] * x[0] * z[0] * z[0] + x[0] * x[1] * z[0] * z[1] + x[1] * x[1] * z[1] * z[1],
    ),
    "powers": (k.Powers(2), lambda x, z: (x * z).sum() + (x * x * z * z).sum()),
    "trigonometric": (
        k.Trigonometric(2, 0.3),
        lambda x, z: np.cos(2 * np.pi * (x - z) / 0.3).sum() + np.cos(4 * np.pi * (x - z) / 0.3).sum(),
    ),
    "parabolic": (k.Parabolic(), lambda x, z: x @ z + (x @ x) * (z @ z)),
    "min": (k.Min(), lambda x, z: min(x[0], z[0]) + min(x[1], z[1])),
    "periodic": (k.Periodic(0.3, 2.0), lambda x, z: np.exp(-2 * (np.sin(np.pi * (x - z) / 0.3) ** 2).sum() / 4)),
    "arc_cosine 0": (k.ArcCosine(0), lambda x, z: 1 - angle(x, z) / np.pi),
    "geodesic": (k.Geodesic(1.0, 0.5), lambda x, z: np.exp(-2 * angle(x, z))),
    "arc_cosine 1": (
        k.ArcCosine(1),
        lambda x, z: np.linalg.norm(x) * np.linalg.norm(z)
        * (np.sin(angle(x, z)) + (np.pi - angle(x, z)) * np.cos(angle(x, z))) / np.pi,
    ),
    "epanechnikov": (k.Epanechnikov(0.8), lambda x, z: max(0, 1 - ((x - z) ** 2).sum() / 0.64)),
    "triangle": (k.Wendland(1, 0, 0.9), lambda x, z: max(0, 1 - np.linalg.norm(x - z) / 0.9)),
    "wendland 3,1": (
        k.Wendland(3, 1, 0.9),
        lambda x, z: max(0, 1 - np.linalg.norm(x - z) / 0.9) ** 4 * (4 * np.linalg.norm(x - z) / 0.9 + 1),
    ),
    "wendland 3,2": (
        k.Wendland(3, 2, 0.9),
        lambda x, z: (lambda u: max(0, 1 - u) ** 6 * (35 * u * u + 18 * u + 3) / 3)(np.linalg.norm(x - z) / 0.9),
    ),
    "wendland 3,3": (
        k.Wendland(3, 3, 0.9),
        lambda x, z: (lambda u: max(0, 1 - u) ** 8 * (32 * u**3 + 25 * u * u + 8 * u + 1))(np.linalg.norm(x - z) / 0.9),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LOOPS)
def test_against_a_loop_over_pairs(name):
    kernel, function = LOOPS[name]
    np.testing.assert_allclose(kernel(X, Z), one_pair(function)(X, Z), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", [*LEAVES, *REFUTED])
def test_bits_and_types(name):
    kernel = mercer.parse(name)
    K = kernel(X)
    assert np.array_equal(K, K.T)
    assert np.array_equal(K, kernel(X, X))
    assert np.array_equal(K, kernel(X, X.copy()))
    np.testing.assert_allclose(np.diag(K), kernel.diagonal(X), rtol=1e-12)
    narrow = X.astype(np.float32)
    for result in (kernel(narrow), kernel(narrow, narrow[:2]), kernel.diagonal(narrow), kernel.distance(narrow)):
        assert result.dtype == np.float32
    assert kernel(narrow, X).dtype == np.float64


@given(any_leaf, st.integers(1, 5))
def test_property_blocks_do_not_change_the_result(kernel, rows):
    whole = kernel(X, Z)
    original = plain.BLOCK_PAIRS
    try:
        plain.BLOCK_PAIRS = rows * len(Z)
        np.testing.assert_allclose(kernel(X, Z), whole, rtol=1e-13, atol=1e-15)
    finally:
        plain.BLOCK_PAIRS = original


def test_many_blocks_stay_exactly_symmetric():
    data = np.random.default_rng(0).normal(size=(2500, 3))
    K = (k.Linear() + k.Gaussian())(data)
    assert np.array_equal(K, K.T)


@pytest.mark.parametrize("offset", [1e3, 1e6, 1e9])
def test_offsets_cost_nothing(offset):
    far = X + offset
    for kernel in (k.Gaussian(0.5), k.Laplace(0.5), k.Matern(2.5, 0.5), k.RationalQuadratic(1.0, 0.5)):
        np.testing.assert_allclose(kernel(far), kernel(far - offset), rtol=1e-9)


def test_distance_is_never_nan_and_zero_to_itself():
    near = np.vstack([X, X + 1e-9, X])
    for kernel in (k.Gaussian(), k.Linear(), k.Polynomial(5), k.Sigmoid(1, 2), k.Min(), k.ArcCosine()):
        D = kernel.distance(near)
        assert np.isfinite(D).all()
        assert (np.diag(D) == 0).all()
    np.testing.assert_allclose(k.Linear().distance(X, Z), np.linalg.norm(X[:, None] - Z[None], axis=2), atol=1e-7)


def test_angles_of_huge_tiny_and_parallel_vectors():
    data = np.array([[1e200, 1e200], [1e-200, 0.0], [3.0, 3.0], [0.0, 0.0]])
    K = k.Cosine()(data)
    np.testing.assert_allclose(K[0], [1.0, np.sqrt(0.5), 1.0, 0.0], rtol=1e-15)
    np.testing.assert_array_equal(K[3], [0.0, 0.0, 0.0, 0.0])
    assert k.ArcCosine(0)([[1.0, 2.0, 3.0]], [[0.1, 0.2, 0.3]])[0, 0] == pytest.approx(1.0, abs=1e-15)


def test_extreme_distances_have_limits():
    data = np.array([[0.0], [1e-300], [1e300], [-1e300]])
    for kernel in (
        k.Gaussian(),
        k.Laplace(),
        k.Matern(1.5),
        k.Matern(0.7),
        k.RationalQuadratic(),
        k.Sinc(),
        k.Wendland(),
    ):
        K = kernel(data)
        assert np.isfinite(K).all()
        assert K[2, 3] == pytest.approx(0.0, abs=1e-290)
        assert K[0, 1] == 1.0
