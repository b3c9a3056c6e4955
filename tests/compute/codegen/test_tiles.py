"""Tiles: whatever their size, and whoever computes them, the result is the same."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from mercer.compute.codegen import tiles
from mercer.kernels import Gaussian, Laplace, Linear, Matern, Min
from mercer.kernels.evaluation import dispatch
from mercer.kernels.evaluation.evaluate import fused_from
from mercer.kernels.points import points_from

SIZES = (1, 2, 255, 256, 257, 511, 513)


def squared(X, Z):
    return cdist(X, Z, "sqeuclidean")


KERNELS = {
    "by products": (Gaussian(2.0), lambda X, Z: np.exp(-squared(X, Z) / 8)),
    "repaired": (Laplace(2.0), lambda X, Z: np.exp(-np.sqrt(squared(X, Z)) / 2)),
    "by coordinates": (Min(), lambda X, Z: np.minimum(X[:, None, :], Z[None, :, :]).sum(axis=2)),
    "both": (
        Gaussian(2.0) * Linear() + 0.5 * Min(),
        lambda X, Z: (
            np.exp(-squared(X, Z) / 8) * (X @ Z.T) + 0.5 * np.minimum(X[:, None, :], Z[None, :, :]).sum(axis=2)
        ),
    ),
}
"""Kernels of each way to come by statistics, and what they are."""


def table(n, d, seed=0):
    return np.random.default_rng(seed).uniform(0.0, 2.0, size=(n, d))


def passes(kernel, X, Z=None):
    left = points_from(X)
    found = dispatch.bound(kernel, left, left if Z is None else points_from(Z))
    assert found is not None
    return found


def close(found, wanted, tolerance=1e-12):
    """To a part of the largest sum of sizes: what rounding in a sum is relative to."""
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance * max(1.0, float(np.abs(wanted).max())))


# -- edges -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [1, 3, 4, 5, 17])
@pytest.mark.parametrize("name", ["by products", "repaired", "by coordinates"])
def test_ragged_edges_of_two_sides(name, d):
    kernel, wanted = KERNELS[name]
    for n in SIZES:
        for m in SIZES if n in (1, 257) else (1, 257, 513):
            X, Z = table(n, d), table(m, d, seed=1)
            found, K, V = passes(kernel, X, Z), wanted(X, Z), table(m, 3, seed=2) - 1
            assert not found.symmetric
            close(found.matrix(np.dtype(np.float64), 2)[0], K)
            close(found.times(V[:, :1], 2), K @ V[:, :1])
            close(found.times(V, 2), K @ V)


@pytest.mark.slow
@pytest.mark.parametrize("d", [1, 5, 17])
@pytest.mark.parametrize("name", KERNELS)
def test_ragged_edges_of_one_side(name, d):
    """Half of the tiles give the same as all of them, for one column and for many."""
    kernel, wanted = KERNELS[name]
    for n in SIZES:
        X = table(n, d)
        found, K, V = passes(kernel, X), wanted(X, X), table(n, 3, seed=2) - 1
        assert found.symmetric
        matrix = found.matrix(np.dtype(np.float64), 2)[0]
        assert np.array_equal(matrix, matrix.T)
        close(matrix, K)
        close(found.times(V[:, :1], 2), K @ V[:, :1])
        close(found.times(V, 2), K @ V)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_dense_matrix_is_exactly_symmetric_with_the_exact_diagonal(name, dtype):
    kernel, _ = KERNELS[name]
    X = table(300, 17).astype(dtype)
    with fused_from(0):
        K = kernel(X)
    assert K.dtype == dtype
    assert np.array_equal(K, K.T)
    assert np.array_equal(np.diag(K), kernel.diagonal(X))


# -- the size of tiles -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sizes",
    [
        {"TILE_ROWS": 32},
        {"TILE_ROWS": 100, "MAX_TILE_BYTES": 1 << 17},
        {"MAX_TILE_BYTES": 1 << 16},
        {"MAX_PANEL_BYTES": 1 << 10},
        {"MAX_SUMS_BYTES": 1 << 10},
        {"MAX_CALL_PAIRS": 1 << 10},
    ],
)
@pytest.mark.parametrize("name", KERNELS)
def test_results_do_not_depend_on_the_size_of_tiles(name, sizes, monkeypatch):
    kernel, wanted = KERNELS[name]
    X, Z, V = table(517, 16), table(301, 16, seed=1), table(517, 2, seed=2) - 1
    for constant, value in sizes.items():
        monkeypatch.setattr(tiles, constant, value)
    for right in (None, Z):
        found, K = passes(kernel, X, right), wanted(X, X if right is None else right)
        close(found.matrix(np.dtype(np.float64), 2)[0], K)
        for columns in (1, 2):
            close(found.times(V[: K.shape[1], :columns], 2), K @ V[: K.shape[1], :columns])


def test_a_tile_is_narrow_where_there_are_many_coordinates(monkeypatch):
    """Otherwise the test above would not have changed anything."""
    panels = [passes(kernel, table(3, d)).panel for kernel in (Min(), Gaussian()) for d in (2, 200, 9000)]
    assert panels == [512, 160, 32] * 2  # whole blocks, and at least one
    before = passes(Gaussian(), table(3, 27)).columns
    monkeypatch.setattr(tiles, "MAX_TILE_BYTES", 1 << 16)
    assert passes(Gaussian(), table(3, 27)).columns < before


# -- rows, alone and together ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("d", [3, 16])
def test_a_row_alone_is_the_row_in_a_batch(name, d):
    kernel, _ = KERNELS[name]
    X, Z = table(600, d), table(280, d, seed=1)
    with fused_from(0):
        together, square = kernel(X, Z), kernel(X)
        for row in (0, 255, 256, 599):
            np.testing.assert_allclose(kernel(X[[row]], Z), together[[row]], rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(kernel(X[[row]], X), square[[row]], rtol=1e-12, atol=1e-12)


# -- threads -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_same_threads_give_the_same_bits_and_others_the_same_numbers(name, dtype, monkeypatch):
    monkeypatch.setattr(tiles, "MIN_PAIRS_PER_THREAD", 1)  # few are worth a thread here
    kernel, _ = KERNELS[name]
    X, Z = table(1100, 16).astype(dtype), table(700, 16, seed=1).astype(dtype)
    V = table(1100, 3, seed=2).astype(dtype) - 1
    for right in (None, Z):
        answers = {}
        for workers in (1, 2):
            found = passes(kernel, X, right)
            asked = [
                lambda found=found, workers=workers: found.matrix(np.dtype(dtype), workers)[0],
                lambda found=found, workers=workers: found.times(V[: found.shape[1], :1], workers),
                lambda found=found, workers=workers: found.times(V[: found.shape[1]], workers),
            ]
            answers[workers] = [ask() for ask in asked]
            for again in range(3):
                for first, ask in zip(answers[workers], asked, strict=True):
                    assert np.array_equal(first, ask()), (workers, again)
        for one, two in zip(answers[1], answers[2], strict=True):
            close(one, two, 1e-13)
        assert np.array_equal(answers[1][0], answers[2][0])  # values do not depend on the threads at all


def test_work_is_dealt_like_cards():
    assert tiles.dealt(range(0, 1000, 256), 2) == [[0, 512], [256, 768]]
    assert tiles.dealt(range(0, 1000, 256), 9) == [[0], [256], [512], [768]]
    assert tiles.dealt(range(0, 1, 256), 4) == [[0]]


def test_mirror_takes_the_lower_triangle():
    A = np.arange(49.0).reshape(7, 7)
    wanted = np.tril(A) + np.tril(A, -1).T
    tiles.mirror(A, step=3)
    assert np.array_equal(A, wanted)


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("columns", [1, 3])
def test_progress_counts_every_pair(symmetric, columns):
    X = table(1500, 6)
    told = []
    found = passes(Gaussian(), X, None if symmetric else X[:700])
    found.times(np.ones((found.shape[1], columns)), 2, told.append)
    pairs = found.shape[0] * found.shape[1]
    assert told[-1].done == told[-1].total
    assert told[-1].total < 0.7 * pairs if symmetric else told[-1].total == pairs


# -- near pairs --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.002, 0.5, 0.9])
@pytest.mark.parametrize(("d", "swept"), [(10, True), (20, False)])
def test_near_pairs_are_computed_from_differences(d, swept, share):
    """Few of a row, one by one, and many at once: as accurate as if all were."""
    rng = np.random.default_rng(0)
    X, Z = rng.standard_normal((2, 517, d))
    near = rng.random(517) < share
    Z[near] = X[0] + 1e-3 * rng.standard_normal((517, d))[near]
    X[::3] = X[0]
    X, Z = X.astype(np.float32), Z.astype(np.float32)
    found = passes(Matern(1.5, d**0.5), X, Z)
    (method,) = found.methods.values()
    assert (found.precision, method.kind, method.repaired, method.swept) == ("float32", "product", True, swept)
    r = np.sqrt(3) * cdist(X.astype(float), Z.astype(float)) / d**0.5
    np.testing.assert_allclose(found.matrix(np.dtype(np.float32), 2)[0], (1 + r) * np.exp(-r), rtol=2e-6)
