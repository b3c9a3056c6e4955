"""Values by strips, for several workers at once, against the whole matrix."""

import warnings

import numpy as np
import pytest

from mercer import kernels
from mercer.compute.codegen.tiles import TILE_ROWS
from mercer.errors import NumericalWarning
from mercer.kernels.evaluation.evaluate import fused_from, matrix
from mercer.kernels.evaluation.strips import (
    MAX_STRIP_ROWS,
    MIN_STRIP_ROWS,
    SHARED_STRIP_NUMBERS,
    WORKER_STRIP_NUMBERS,
    height,
    over_strips,
    over_table,
    workspace,
)
from mercer.kernels.points import Points

RNG = np.random.default_rng(0)
X, Z = RNG.normal(size=(1000, 3)), RNG.normal(size=(70, 3))


def gathered(kernel, memory, X=X):
    """All rows as strips brought them, and who got them in which order."""
    found, taken = np.full((len(X), len(Z)), np.nan), []

    def strip(worker, rows, values):
        found[rows] = values
        taken.append((worker, rows.start, rows.stop))
        values[:] = np.nan  # they are its own

    over_strips(kernel, Points(X), Points(Z), strip, memory)
    return found, taken


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("rows", [64, TILE_ROWS, 300, 2000])
def test_strips_are_the_rows_of_the_matrix(rows, workers, fused):
    kernel = kernels.Gaussian(1.5) + 0.5 * kernels.Laplace(2.0)
    with fused_from(0 if fused else 1 << 60):
        found, taken = gathered(kernel, [np.empty((rows, len(Z))) for _ in range(workers)])
        whole = matrix(kernel, Points(X), Points(Z))
    np.testing.assert_allclose(found, whole, rtol=1e-13)
    starts = list(range(0, len(X), rows))
    assert sorted(taken, key=lambda each: each[1]) == [
        (k % workers, start, min(start + rows, len(X))) for k, start in enumerate(starts)
    ]


def test_a_worker_takes_its_strips_in_order_whoever_is_faster():
    with fused_from(0):
        _, taken = gathered(kernels.Gaussian(1.0), [np.empty((64, len(Z))) for _ in range(2)])
    for worker in range(2):
        own = [start for who, start, _ in taken if who == worker]
        assert own == sorted(own)


def test_infinities_are_told_once_and_handed_on():
    huge = X.copy()
    huge[500] = 1e200
    memory = [np.empty((64, len(Z))) for _ in range(2)]
    with fused_from(0), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found, _ = gathered(kernels.Polynomial(3), memory, huge)
    assert not np.isfinite(found[500]).all()
    assert np.isfinite(np.delete(found, 500, axis=0)).all()
    assert [each.category for each in caught] == [NumericalWarning]


@pytest.mark.parametrize("workers", [1, 3])
def test_a_table_is_dealt_like_a_matrix(workers):
    table, found = RNG.normal(size=(500, 4)), np.empty((500, 4))

    def strip(worker, rows, values):
        assert worker == (rows.start - 100) // 64 % workers
        found[rows.start - 100 : rows.stop - 100] = values

    over_table(table, 100, strip, [np.empty((64, 4)) for _ in range(workers)])
    np.testing.assert_array_equal(found, table)


def test_an_error_in_a_strip_is_raised():
    def strip(worker, rows, values):
        raise KeyError(rows.start)

    for workers in (1, 2):
        with pytest.raises(KeyError):
            over_strips(
                kernels.Gaussian(1.0), Points(X), Points(Z), strip, [np.empty((64, len(Z))) for _ in range(workers)]
            )


@pytest.mark.parametrize("width", [1, 70, 1000, 5000, 10**6])
def test_workers_have_memory_for_a_strip(width):
    rows = height(width, 2)
    assert [each.shape for each in workspace(min(width, 5000), 2)] == [
        (height(min(width, 5000), 2), min(width, 5000))
    ] * 2
    assert MIN_STRIP_ROWS <= rows <= MAX_STRIP_ROWS
    assert rows == MIN_STRIP_ROWS or rows * width <= WORKER_STRIP_NUMBERS
    assert height(width, 1) >= SHARED_STRIP_NUMBERS // width
