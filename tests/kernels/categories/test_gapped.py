"""The Gaussian kernel of numbers some of which are missing, against a Gaussian of imputed columns."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mercer
from mercer.errors import InputError, KernelError
from mercer.kernels import Gaussian
from mercer.kernels.categories.gapped import Gapped

entries = st.one_of(st.none(), st.floats(-1e3, 1e3), st.integers(-5, 5))
columns = st.lists(st.lists(entries, min_size=2, max_size=2), min_size=1, max_size=8)


def imputed(table):
    """Standardised columns with the mean for missing entries, and beside each a column that says which these are."""
    parts = []
    for column in zip(*table, strict=True):
        known = np.array([float(x) for x in column if x is not None])
        mean = math.fsum(known) / len(known) if len(known) else 0.0
        deviation = math.sqrt(math.fsum((known - mean) ** 2) / len(known)) if len(known) else 0.0
        parts.append([0.0 if x is None else (x - mean) / (deviation or 1.0) for x in column])
        parts.append([float(x is None) for x in column])
    return np.array(parts).T


@given(columns, st.floats(0.5, 4.0))
def test_property_it_is_the_gaussian_of_imputed_columns(table, length):
    kernel = Gapped(length).resolve(table)
    np.testing.assert_allclose(kernel(table), Gaussian(length)(imputed(table)), rtol=1e-9, atol=1e-12)
    assert mercer.parse(str(kernel), {"gapped": Gapped}) == kernel
    assert Gapped(length).resolve(table[::-1]) == kernel


def test_the_median_is_that_of_imputed_columns():
    table = [[1.0, None], [2.0, 5], [None, 6], [7.0, 5]]
    found = Gapped("median").resolve(table)
    assert found.lengthscale == pytest.approx(Gaussian("median").resolve(imputed(table)).lengthscale, rel=1e-14)
    assert mercer.prove(found).status == mercer.prove(Gapped("median")).status == "proven"


@pytest.mark.parametrize("column", [["a", "b"], [1.0, math.inf], [True, False], ["1", "nan"], ["-NaN"]])
def test_what_is_no_finite_number_is_refused(column):
    with pytest.raises(InputError, match=r"^Gapped needs finite numbers, or missing entries; column 0 holds"):
        Gapped().resolve(column)


@pytest.mark.parametrize("moments", [3, [1.0, 2.0], [[1.0, 0.0]], [[1.0, math.nan]], [["a", 1.0]]])
def test_wrong_moments_are_refused(moments):
    with pytest.raises(KernelError, match=r"^Gapped needs"):
        Gapped(1.0, moments)


def test_other_columns_are_refused():
    with pytest.raises(InputError, match="needs the 1 columns whose means are known; got 2"):
        Gapped(1.0, [[0.0, 1.0]])([[1.0, 2.0]])
