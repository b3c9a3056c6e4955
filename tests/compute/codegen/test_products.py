"""Vector code for inner products and squared distances: every width, every start, every row, every processor."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from mercer.compute.codegen import products
from mercer.compute.codegen.kept import njit
from mercer.compute.codegen.sides import packed
from mercer.compute.codegen.sweeps import BLOCK_BYTES, ROWS

SWEEPS = {
    "inner products": (products.inner_products, lambda X, Z: X @ Z.T),
    "squared distances": (products.squared_distances, lambda X, Z: cdist(X, Z, "sqeuclidean")),
}


def compiled(sweep):
    @njit(nogil=True)
    def run(left, i, last, blocks, start, stop, out):
        sweep(left, i, last, blocks, start, stop, out)

    return run


RUNS = {name: compiled(sweep) for name, (sweep, _) in SWEEPS.items()}


@pytest.mark.parametrize("name", SWEEPS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("d", [0, 1, 3, 8, 29])
def test_all_columns_of_some_rows(name, dtype, d):
    """Every number is written, also of the last block, and where the first column stands inside of a block."""
    rng = np.random.default_rng(d)
    m = 197
    X, Z = (rng.integers(-8, 9, size=(rows, d)).astype(dtype) for rows in (7, m))
    blocks, wanted = packed(Z, 0), SWEEPS[name][1](X, Z) if d else np.zeros((7, m))
    for start, stop in ((0, m), (0, 1), (1, 2), (63, 65), (100, 101), (64, 128), (m - 1, m)):
        for i, last in ((0, 6), (3, 6), (5, 6), (6, 6), (1, 2)):
            out = np.full((ROWS, m + 2 * blocks.shape[2]), np.nan, dtype)
            RUNS[name](X, i, last, blocks, start, stop, out)
            begin = start % blocks.shape[2]
            rows = np.minimum(np.arange(i, i + ROWS), last)
            assert np.array_equal(out[:, begin : begin + stop - start], wanted[rows, start:stop])


@pytest.mark.parametrize("name", SWEEPS)
def test_nothing_is_written_beyond_the_block_of_the_last_column(name):
    X, Z = np.ones((4, 3)), np.ones((64, 3))
    out = np.full((ROWS, 96), np.nan)
    RUNS[name](X, 0, 3, packed(Z, 0), 0, 33, out)
    assert np.isnan(out[:, 64:]).all()


@pytest.mark.parametrize("name", SWEEPS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_pair_has_the_same_bits_wherever_it_stands(name, dtype):
    rng = np.random.default_rng(0)
    row, column = rng.standard_normal((2, 1, 37)).astype(dtype)
    X, Z = np.repeat(row, 4, axis=0), np.repeat(column, 200, axis=0)
    out = np.empty((ROWS, 256), dtype)
    RUNS[name](X, 0, 3, packed(Z, 0), 0, 200, out)
    assert len(np.unique(out[:, :200])) == 1


@pytest.mark.parametrize("features", ["+avx512f,+avx,+sse2", "+avx2,+avx,+fma,+sse2", "+sse2", "+neon", ""])
def test_registers_divide_blocks(features):
    """And the sums of all rows leave room in the registers of each kind of processor."""
    size, count = products._registers(features)
    assert BLOCK_BYTES % (size * count) == 0
    assert ROWS * count + count + 1 <= (16 if "sse2" in features and "avx512f" not in features else 32)


def test_the_digest_tells_what_would_be_pasted_in():
    def other(value):
        return value + 2

    def same(value):
        return value + 2

    assert products._meaning(other.__code__) == products._meaning(same.__code__)
    same_but_for_a_number = compile("def same(value):\n    return value + 3", "", "exec").co_consts[0]
    assert products._meaning(same_but_for_a_number) != products._meaning(same.__code__)
