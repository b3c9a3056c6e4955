"""Columns whose numbers are too large or too small for their squares: left out with the reason, and no crash."""

import numpy as np
import pandas as pd
import pytest

from mercer.kernels.tables import kernel_for


@pytest.mark.parametrize("size", [1e200, 1e307, 1e-200], ids=["large", "largest", "small"])
@pytest.mark.parametrize("missing", [False, True])
def test_numbers_without_squares_are_left_out(size, missing):
    far = size * np.arange(1.0, 11.0)
    far[3] = np.nan if missing else far[3]
    proposal = kernel_for(pd.DataFrame({"far": far, "near": np.arange(10.0)}))
    first, second = proposal.columns
    assert (first.place, second.place) == ("left out", "numbers")
    assert "cannot hold the squares" in first.why
    assert proposal.kernel.needed == {"near"}


@pytest.mark.parametrize("value", [1e200, 1e-200, 0.0])
def test_a_constant_is_one_whatever_its_size(value):
    proposal = kernel_for(pd.DataFrame({"same": np.full(10, value), "near": np.arange(10.0)}))
    assert proposal.columns[0].taken_for == "constant"


def test_numbers_that_have_squares_stay():
    proposal = kernel_for(pd.DataFrame({"far": 1e150 * np.arange(1.0, 11.0), "tiny": 1e-150 * np.arange(1.0, 11.0)}))
    assert [choice.place for choice in proposal.columns] == ["numbers", "numbers"]
