"""Rows of a kernel matrix that are kept: always the true ones, whatever was asked before."""

import numpy as np
import pytest

from mercer.kernels import Gaussian
from mercer.operators import Dense, Gram
from mercer.solvers.svm.kernel_cache import Buffer, KernelCache


@pytest.mark.parametrize("kept", [12, 24, 60])
def test_rows_are_the_true_ones_whatever_was_asked_before(kept):
    rng = np.random.default_rng(0)
    A = rng.normal(size=(60, 5))
    K = A @ A.T
    pool = KernelCache(Dense(K), kept * 60, 3)
    for _ in range(200):
        rows = rng.permutation(60)[: rng.integers(1, 4)]
        np.testing.assert_array_equal(pool.values[pool.fetch(rows)], K[rows])
    assert pool.values.shape == (kept, 60)
    assert (pool.computed == 60) == (kept == 60)


def test_shrinking_keeps_what_is_known_of_the_rows_that_stay():
    rng = np.random.default_rng(1)
    K = Gram(Gaussian(1.0), rng.normal(size=(50, 3)))
    pool = KernelCache(K, 50 * 50, 10)
    pool.fetch(np.arange(0, 50, 5))
    pool.fetch(np.arange(7, 15))
    rows = np.array([0, 3, 7, 8, 10, 20, 33, 45])
    small = K.part(rows)
    before = pool.computed
    pool.shrink(rows, small)
    known = np.array([0, 2, 3, 4, 5, 7])  # 0, 7, 8, 10, 20 and 45 were asked
    np.testing.assert_array_equal(pool.values[pool.fetch(known)], K.to_dense()[np.ix_(rows[known], rows)])
    assert pool.computed == before
    everything = np.arange(len(rows))
    np.testing.assert_allclose(pool.values[pool.fetch(everything)], small.to_dense(), rtol=1e-14)
    assert pool.computed == before + 2


def test_another_matrix_starts_anew():
    K = np.diag(np.arange(1.0, 9.0))
    pool = KernelCache(Dense(K), 64, 2)
    pool.fetch(np.array([1, 2]))
    pool.take(Dense(2 * K))
    np.testing.assert_array_equal(pool.values[pool.fetch(np.array([1, 2]))], 2 * K[[1, 2]])


def test_memory_is_lent_again_and_grows_when_more_is_asked_for():
    memory, K = Buffer(), np.diag(np.arange(1.0, 9.0))
    first = KernelCache(Dense(K), 64, 2, memory)
    first.fetch(np.arange(8))
    second = KernelCache(Dense(2 * K), 64, 2, memory)
    assert np.shares_memory(first.values, second.values)
    np.testing.assert_array_equal(second.values[second.fetch(np.array([3, 1]))], 2 * K[[3, 1]])
    assert memory.take(10, np.dtype(np.float32)).dtype == np.float32
    assert len(memory.take(1000, np.dtype(np.float32))) == 1000


def test_where_no_slots_side_by_side_are_free_all_begins_anew():
    """Row 1 stands in the second of four slots, so that three more find no room beside each other."""
    K = np.diag(np.arange(1.0, 9.0)) + 1.0
    pool = KernelCache(Dense(K), 0, 1)
    for row in range(4):
        pool.fetch(np.array([row]))
    assert pool.values.shape == (4, 8)
    rows = np.array([1, 5, 6, 7])
    np.testing.assert_array_equal(pool.values[pool.fetch(rows)], K[rows])
    assert pool.computed == 8
    np.testing.assert_array_equal(np.flatnonzero(pool.known), rows)
