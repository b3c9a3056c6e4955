"""The Gaussian kernel of labels against counting, and against a Gaussian of zeros and ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mercer
from mercer.kernels import Gaussian
from mercer.kernels.categories.hamming import Hamming
from mercer.kernels.evaluation.evaluate import fused_from

tables = st.integers(1, 3).flatmap(
    lambda width: st.lists(st.lists(st.sampled_from("abc"), min_size=width, max_size=width), min_size=1, max_size=9)
)


def one_hot(table):
    columns = zip(*table, strict=True)
    return np.column_stack([[label == each for label in column] for column in columns for each in "abc"]).astype(float)


@given(tables, st.floats(0.3, 5.0))
def test_property_it_counts_the_columns_that_differ(table, length):
    wanted = [[np.exp(-sum(a != b for a, b in zip(x, z, strict=True)) / length**2) for z in table] for x in table]
    np.testing.assert_allclose(Hamming(length)(table), wanted, rtol=1e-13)
    with fused_from(0):
        np.testing.assert_allclose(Hamming(length)(table), wanted, rtol=1e-12)


@given(tables)
def test_property_the_median_is_that_of_zeros_and_ones(table):
    if len({tuple(row) for row in table}) > 1:
        found = Hamming("median").resolve(table)
        assert found.lengthscale == pytest.approx(Gaussian("median").resolve(one_hot(table)).lengthscale, rel=1e-14)


def test_missing_entries_and_rarity_are_those_of_the_features():
    table = ["a", "a", "b", None]
    phi = np.array([[1, 0], [1, 0], [0, 1], [2 / 3, 1 / 3]]) * np.sqrt([1 / 3, 2 / 3])
    squares = ((phi[:, None] - phi) ** 2).sum(axis=2)
    kernel = Hamming(0.7, "rarity", "marginalised").resolve(table)
    np.testing.assert_allclose(kernel(table), np.exp(-squares / (2 * 0.49)), rtol=1e-13)


def test_it_is_proven_printed_and_read():
    for kernel in (Hamming(2.0), Hamming("median", "rarity"), Hamming(missing="marginalised").resolve(["a", None])):
        assert mercer.prove(kernel).status == "proven"
        assert mercer.parse(str(kernel), {"hamming": Hamming}) == kernel
        assert "exp" in kernel.latex()
    assert Hamming(2.0).stretched(1.5) == Hamming(3.0)
    assert mercer.prove(Hamming(2.0) ** 0.5).status == "proven"


def test_with_numbers_it_is_the_gaussian_of_all_columns():
    rows = [[1.0, "a"], [2.5, "b"], [-0.5, "a"]]
    together = np.array([[1.0, 1, 0], [2.5, 0, 1], [-0.5, 1, 0]])
    kernel = Gaussian(1.7).on(0) * Hamming(1.7).on(1)
    np.testing.assert_allclose(kernel(rows), Gaussian(1.7)(together), rtol=1e-14)


def test_what_is_shown_of_rarity_is_what_is_computed():
    """A difference counts the mean of both weights, w being 1 - the share of the label."""
    table = [["a", "u"], ["a", "v"], ["b", "v"], ["c", "v"]]
    kernel = Hamming(0.7, "rarity").resolve(table)
    w = {"a": 1 / 2, "b": 3 / 4, "c": 3 / 4, "u": 3 / 4, "v": 1 / 4}
    counts = [[sum((w[a] + w[b]) / 2 * (a != b) for a, b in zip(x, z, strict=True)) for z in table] for x in table]
    np.testing.assert_allclose(kernel(table), np.exp(-np.array(counts) / 0.49), rtol=1e-13)
    differ = r"{x}_k \ne {z}_k"
    rare = rf"\sum_k \frac{{w({{x}}_k) + w({{z}}_k)}}{{2}} [{differ}]"
    assert Hamming(1.0, "rarity").latex() == rf"\exp\left( -{rare} \right)"
    assert Hamming(1.0).latex() == rf"\exp\left( -\#\{{k : {differ}\}} \right)"
