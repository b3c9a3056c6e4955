"""What is measured of rows before their statistics are computed by products."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mercer.compute.codegen.pair_statistics import extremes


@pytest.mark.parametrize("columns", [1, 2, 5, 64, 127, 128, 300])
@pytest.mark.parametrize("rows", [1, 2, 25, 26, 129, 1000])
@pytest.mark.parametrize("order", ["C", "F", "every other row"])
def test_extremes_are_those_of_columns(rows, columns, order):
    values = np.random.default_rng(rows).normal(size=(2 * rows, columns))
    values = values[::2] if order == "every other row" else np.array(values[:rows], order=order)
    largest, smallest = extremes(values)
    assert_array_equal(largest, values.max(axis=0))
    assert_array_equal(smallest, values.min(axis=0))


def test_extremes_keep_what_is_no_number():
    values = np.zeros((40, 3))
    values[17, 1], values[39, 2] = np.nan, np.inf
    largest, smallest = extremes(values)
    assert_array_equal(largest, [0.0, np.nan, np.inf])
    assert_array_equal(smallest, [0.0, np.nan, 0.0])
