"""Monomials of sparse rows: the same bits as those of dense rows, at the price of what is stored."""

import tracemalloc
from math import comb

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix

from mercer.compute.codegen import jit_cache
from mercer.lifts import monomial_loops, monomial_plan, sparse_monomial_loops
from mercer.lifts.monomial_index import Family


@pytest.fixture(params=["numpy", "compiled"])
def way(request, monkeypatch):
    """Both ways to compute, whatever the size."""
    monkeypatch.setattr(sparse_monomial_loops, "MIN_COMPILED_NUMBERS", 0 if request.param == "compiled" else 1 << 62)
    return request.param


def table(n, d, dtype="float64", density=0.5, seed=0):
    rng = np.random.default_rng(seed)
    return csr_array(rng.normal(size=(n, d)) * (rng.uniform(size=(n, d)) < density)).astype(dtype)


def by_degree(family):
    """Weights that can be told for any number of columns: one for each degree."""

    def weights(width):
        degrees = range(family.lowest, family.degree + 1)
        return np.concatenate([np.full(family.number(q, width), np.sqrt(2.0 + q)) for q in degrees])

    return weights


@pytest.mark.parametrize("repeated", [True, False])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_sparse_rows_have_the_features_of_dense_rows(way, dtype, repeated):
    for d, degree in [(1, 1), (1, 3), (2, 1), (3, 2), (6, 3), (7, 5)]:
        X = table(11, d, dtype)
        for lowest in {0, 1, degree}:
            family = Family(d, degree, lowest, repeated)
            if family.count == 0:
                continue
            for weights in (None, by_degree(family)) if dtype == "float64" else (by_degree(family),):
                found = sparse_monomial_loops.expand(X, family, weights)
                wanted = monomial_loops.evaluate(X.toarray(), monomial_plan.of_family(family), weights and weights(d))
                assert found.dtype == dtype
                found.check_format(full_check=True)
                assert found.nnz == sparse_monomial_loops.stored(X, family)
                np.testing.assert_array_equal(found.toarray(), wanted)
                assert csr_array((found.data, found.indices, found.indptr), shape=found.shape).has_canonical_format


@pytest.mark.parametrize("repeated", [True, False])
def test_loops_as_written(repeated, loops_as_written, monkeypatch):
    monkeypatch.setattr(sparse_monomial_loops, "MIN_COMPILED_NUMBERS", 0)
    X = table(6, 5)
    for family in (Family(5, 1, 0, repeated), Family(5, 3, 1, repeated)):
        for weights in (None, by_degree(family)):
            wanted = monomial_loops.evaluate(X.toarray(), monomial_plan.of_family(family), weights and weights(5))
            np.testing.assert_array_equal(sparse_monomial_loops.expand(X, family, weights).toarray(), wanted)


@pytest.mark.parametrize("kind", [csr_array, csr_matrix])
def test_the_kind_of_table_is_kept(way, kind):
    found = sparse_monomial_loops.expand(kind(table(4, 3)), Family(3, 2))
    assert type(found) is kind


def test_unsorted_and_repeated_entries(way):
    X = csr_array((np.array([2.0, 3.0, 4.0, 1.0]), np.array([2, 0, 2, 1]), np.array([0, 3, 4])), shape=(2, 3))
    before = X.indices.copy()
    found = sparse_monomial_loops.expand(X, Family(3, 2, 1))
    np.testing.assert_array_equal(found.toarray(), [[3, 0, 6, 9, 0, 18, 0, 0, 36], [0, 1, 0, 0, 0, 0, 1, 0, 0]])
    np.testing.assert_array_equal(X.indices, before)


def test_rows_without_entries(way):
    X = csr_array((3, 4))
    np.testing.assert_array_equal(sparse_monomial_loops.expand(X, Family(4, 3)).toarray()[:, 0], [1, 1, 1])
    assert sparse_monomial_loops.expand(X, Family(4, 3)).nnz == 3
    assert sparse_monomial_loops.expand(X, Family(4, 3, 1)).nnz == 0
    assert sparse_monomial_loops.expand(csr_array((0, 4)), Family(4, 3)).shape == (0, 35)


def test_places_beyond_32_bits(way):
    """The place of x_i x_j with i <= j by counting: 1 + d, then d - i' for each earlier first column i'."""
    d, i, j = 100_000, 70_000, 99_998
    X = csr_array((np.array([2.0, 3.0]), np.array([i, j]), np.array([0, 2])), shape=(1, d))
    found = sparse_monomial_loops.expand(X, Family(d, 2))
    assert found.shape == (1, comb(d + 2, 2))
    assert found.indices.dtype == found.indptr.dtype == np.int64
    before = 1 + d + sum(d - k for k in range(i))
    squared = 1 + d + sum(d - k for k in range(j))
    assert found.indices.tolist() == [0, 1 + i, 1 + j, before, before + j - i, squared]
    assert found.data.tolist() == [1, 2, 3, 4, 6, 9]


def test_nothing_has_the_size_of_all_features(way):
    """30,000 columns have 450 million products, of which some hundreds are stored."""
    X = table(5, 30_000, density=2e-4)
    family = Family(30_000, 2)
    sparse_monomial_loops.expand(X, family, by_degree(family))  # a first call compiles, which takes memory of its own
    tracemalloc.start()
    try:
        found = sparse_monomial_loops.expand(X, family, by_degree(family))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found.shape == (5, 450_045_001)
    assert found.nnz == sum(comb(n + 2, 2) for n in np.diff(X.indptr).tolist())
    assert peak < 40e6


def test_results_do_not_depend_on_the_size_of_pieces(way, monkeypatch):
    X, family = table(40, 9), Family(9, 3)
    wanted = sparse_monomial_loops.expand(X, family)
    for piece in (1, 100):
        monkeypatch.setattr(sparse_monomial_loops, "PIECE_NUMBERS", piece)
        for workers in (1, 2, 5):
            found = sparse_monomial_loops.expand(X, family, None, workers)
            assert (found != wanted).nnz == 0
            assert found.nnz == wanted.nnz


def test_without_numba_many_values_are_computed_all_the_same(no_compiled_loops, monkeypatch):
    monkeypatch.setattr(sparse_monomial_loops, "MIN_COMPILED_NUMBERS", 0)
    monkeypatch.setattr(jit_cache, "numba_works", lambda: False)
    X, family = table(9, 5), Family(5, 3)
    np.testing.assert_array_equal(
        sparse_monomial_loops.expand(X, family).toarray(),
        monomial_loops.evaluate(X.toarray(), monomial_plan.of_family(family)),
    )


def test_a_promise_of_more_numbers_than_there_are_is_exact():
    """`stored` is asked before anything is computed, so it may not overflow."""
    X = csr_array(np.ones((2, 300)))
    assert sparse_monomial_loops.stored(X, Family(300, 300, repeated=False)) == 2 * 2**300
