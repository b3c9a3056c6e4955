"""Rows, parts and products of operators, chosen by number: what the exact solver of margins asks for."""

import numpy as np
import pytest
import scipy.sparse as sp

from mercer.kernels import Gaussian, Laplace, Linear, Polynomial, ProductLaplace
from mercer.kernels.evaluation.evaluate import fused_from
from mercer.operators import Dense, Gram, LowRank

ROWS = np.array([7, 0, 31, 8, 199])
KERNELS = [Gaussian(1.5), Linear(), Polynomial(2), Laplace(2.0), ProductLaplace(2.0), Gaussian(1.0) + 2 * Linear()]


def table(n=200, d=5):
    return np.random.default_rng(0).normal(size=(n, d))


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("pairs", [0, 1 << 40], ids=["fused", "plain"])
def test_rows_of_a_kernel_matrix_are_its_rows(kernel, sparse, pairs):
    X = table()
    if sparse and isinstance(kernel, ProductLaplace):
        pytest.skip("it needs all coordinates")
    if sparse:
        X = sp.csr_array(np.where(np.abs(X) > 1, X, 0.0))
    with fused_from(pairs):
        K = Gram(kernel, X)
        out = np.empty((len(ROWS), 200))
        K.fill(ROWS, out)
        np.testing.assert_allclose(out, K.to_dense()[ROWS], rtol=1e-12, atol=1e-12)
        narrow = np.empty((len(ROWS), 200), np.float32)
        K.narrowed().rough().fill(ROWS, narrow)
        np.testing.assert_allclose(narrow, out, rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize("make", [lambda X: Gram(Gaussian(1.0), X), LowRank, lambda X: Dense(X @ X.T)])
def test_parts_and_products_with_few_columns_are_those_of_the_whole(make):
    K = make(table())
    whole = K.to_dense()
    np.testing.assert_allclose(K.part(ROWS).to_dense(), whole[np.ix_(ROWS, ROWS)], rtol=1e-12, atol=1e-12)
    values = np.arange(1.0, 6.0)
    np.testing.assert_allclose(K.combine(ROWS, values), whole[:, ROWS] @ values, rtol=1e-12, atol=1e-12)
    both = np.column_stack([values, -values])
    np.testing.assert_allclose(K.combine(ROWS, both), whole[:, ROWS] @ both, rtol=1e-12, atol=1e-12)
    here = np.array([3, 150, 7])
    for rows, columns in ((here, ROWS), (ROWS, ROWS), (np.arange(200), np.arange(5))):
        found = K.combine(columns, values, rows)
        np.testing.assert_allclose(found, whole[np.ix_(rows, columns)] @ values, rtol=1e-12, atol=1e-12)
    assert K.narrowed().dtype == np.float32
    out = np.empty((len(ROWS), 200))
    K.fill(ROWS, out)
    np.testing.assert_allclose(out, whole[ROWS], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("count", [1, 5, 256, 257, 700])
def test_any_number_of_rows_by_any_number_of_threads(count):
    X = table(900, 40)
    rows = np.random.default_rng(1).permutation(900)[:count]
    whole = Gaussian(4.0)(X)
    with fused_from(0):
        for threads in (1, 2, 3):
            out = np.full((count, 900), np.nan)
            Gram(Gaussian(4.0), X, threads=threads).fill(rows, out)
            np.testing.assert_allclose(out, whole[rows], rtol=1e-12, atol=1e-12)


def test_all_that_is_made_of_a_matrix_works_with_its_threads(monkeypatch):
    K, seen = Gram(Gaussian(1.0), table(), threads=3), []
    assert {each.threads for each in (K.part(ROWS), K.narrowed(), K.rough(), K.narrowed().rough())} == {3}
    two = Gram(Gaussian(1.0), table(), table(50), threads=3)
    assert {each.threads for each in (two.T, two.narrowed(), two.rough())} == {3}
    multiply = Gram._multiply
    monkeypatch.setattr(Gram, "_multiply", lambda self, V: seen.append(self.threads) or multiply(self, V))
    K.combine(ROWS, np.ones(5))
    K.combine(ROWS, np.ones(5), ROWS)
    assert seen == [3, 3]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_parts_of_a_prepared_matrix_are_those_of_the_whole(kernel, sparse):
    X = table()
    if sparse and isinstance(kernel, ProductLaplace):
        pytest.skip("it needs all coordinates")
    if sparse:
        X = sp.csr_array(np.where(np.abs(X) > 1, X, 0.0))
    with fused_from(0):
        K = Gram(kernel, X)
        whole, scale = K.to_dense(), K.diagonal().max()
        K.prepare()
        K.narrowed().rough().prepare()
        some, values = np.arange(5, 90, 2), np.arange(1.0, 6.0)
        part, out = K.part(some), np.empty((len(some), len(some)))
        assert part.evaluator._program is K.evaluator._program  # it is that of the whole
        part.fill(np.arange(len(some)), out)
        np.testing.assert_allclose(out, whole[np.ix_(some, some)], rtol=1e-12, atol=1e-12 * scale)
        np.testing.assert_allclose(part @ np.ones(len(some)), out.sum(axis=1), rtol=1e-12, atol=1e-10 * scale)
        narrow = np.empty(out.shape, np.float32)
        part.narrowed().rough().fill(np.arange(len(some)), narrow)
        np.testing.assert_allclose(narrow, out, rtol=2e-6, atol=2e-6 * scale)
        inner, here = part.part(ROWS % len(some)), np.empty((len(ROWS), len(ROWS)))
        inner.fill(np.arange(len(ROWS)), here)
        np.testing.assert_allclose(
            here, out[np.ix_(ROWS % len(some), ROWS % len(some))], rtol=1e-12, atol=1e-12 * scale
        )
        for rows in (None, some, ROWS):
            found = K.combine(ROWS, values, rows)
            expected = whole[:, ROWS] @ values
            np.testing.assert_allclose(found, expected if rows is None else expected[rows], atol=1e-10 * scale)
