"""Features, centred and weighted: in their own memory, block by block."""

import tracemalloc
from dataclasses import dataclass

import numpy as np
import pytest

from mercer.learners.data import views
from mercer.learners.ridge.features import CenteredFeatures
from mercer.operators import Centering


@dataclass
class Table:
    """A view whose features are a table."""

    values: np.ndarray
    exact_features: bool = False

    def features(self):
        return self.values


@pytest.mark.parametrize("block", [1, 700, 1 << 22])
@pytest.mark.parametrize("intercept", [False, True])
def test_features_are_centred_and_weighted_however_they_are_cut(block, intercept, monkeypatch):
    monkeypatch.setattr(views, "BLOCK", block)
    rng = np.random.default_rng(0)
    Z, weights = rng.normal(size=(101, 7)) + 5, rng.uniform(0.5, 2, 101)
    Z[:, 3] = 2.0
    centering = Centering.of(101, weights, intercept)
    found = CenteredFeatures.of(Table(Z.copy()), centering)
    means = np.average(Z, axis=0, weights=weights) * intercept
    wanted = (Z - means) * np.sqrt(weights)[:, None]
    kept = np.arange(7) != 3 if intercept else np.ones(7, dtype=bool)  # a constant is what the intercept is
    np.testing.assert_array_equal(found.kept, kept)
    np.testing.assert_allclose(found.values, wanted[:, kept], rtol=0, atol=1e-13)
    np.testing.assert_allclose(found.sizes, np.sqrt(weights @ Z**2)[kept], rtol=1e-13)
    norms = CenteredFeatures.of(Table(Z.copy(), exact_features=True), centering).sizes
    np.testing.assert_allclose(norms, np.linalg.norm(wanted, axis=0)[kept], rtol=1e-13)


@pytest.mark.parametrize("constant", [False, True])
def test_no_second_table_is_made(monkeypatch, constant):
    """One in NumPy's norm took as much memory again, and seconds in which no Ctrl-C was heard; so did constants."""
    monkeypatch.setattr(views, "BLOCK", 1 << 14)
    Z = np.random.default_rng(0).normal(size=(20_000, 50))
    Z[:, 7] = 1.0 if constant else Z[:, 7]
    tracemalloc.start()
    try:
        found = CenteredFeatures.of(Table(Z), Centering.of(len(Z), None, True))
        assert tracemalloc.get_traced_memory()[1] < 0.2 * Z.nbytes
    finally:
        tracemalloc.stop()
    assert np.shares_memory(found.values, Z)
    assert found.values.shape == (20_000, 50 - constant)
    assert found.values.flags.c_contiguous
