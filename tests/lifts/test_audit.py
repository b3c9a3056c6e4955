"""The certificate by audit: the true maximum of small tables, or a bound on the mean that holds as often as said."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from mercer.errors import InputError
from mercer.kernels import Gaussian, Laplace, Linear, ProductLaplace
from mercer.lifts import audit
from mercer.lifts.audit import audited, empirical_bernstein
from mercer.lifts.base import Lift
from mercer.lifts.fourier import RandomFourier


class Shrunk(Lift):
    """The identity times a factor, in the name of the linear kernel: the errors are known."""

    exact = False
    takes_sparse = True
    kernel = Linear()

    def __init__(self, factor=0.5):
        self.factor = factor

    def learn(self, X):
        self.fitted_ = True

    def n_features(self):
        return self.n_features_in_

    def features(self, X):
        return X * X.dtype.type(self.factor)

    def feature_names(self, inputs):
        return inputs


def table(n, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def errors(lift, kernel, X):
    F = lift.transform(X)
    return np.abs(F @ F.T - kernel(X))


def test_small_tables_get_the_true_maximum():
    X = table(100)
    lift = Shrunk(0.5).fit(X)
    found = audited(lift, Linear(), X, 0.01, 1.0)
    assert found.bound == pytest.approx(0.75 * np.abs(X @ X.T).max(), rel=1e-12)
    assert (found.kind, found.probability) == ("maximum", 1.0)
    assert str(found).startswith(f"No value is off by more than {found.bound:.2g}: all 5050 pairs of the 100 rows")


@pytest.mark.parametrize("size", [1, 40, 1000])
def test_blocks_do_not_change_the_maximum(size, monkeypatch):
    """The largest error may lie in any block: here it belongs to the last row, with itself or with the first."""
    monkeypatch.setattr(audit, "BLOCK_NUMBERS", size)
    for last in ([9.0, 0.0, 0.0], [-9.0, 0.0, 0.0]):
        X = np.vstack([[9.5, 0.0, 0.0], table(40), last])
        lift = Shrunk(0.5).fit(X)
        assert audited(lift, Linear(), X, 0.01, 1.0).bound == pytest.approx(errors(lift, Linear(), X).max(), rel=1e-12)


def test_the_two_ways_part_at_two_thousand_rows():
    X = table(2001, 1)
    lift = Shrunk().fit(X)
    assert audited(lift, Linear(), X[:2000], 0.01, 20.0).kind == "maximum"
    found = audited(lift, Linear(), X, 0.05, 20.0)
    assert (found.kind, found.probability) == ("mean", 0.95)
    few = [audited(lift, Linear(), X, 0.05, 20.0, pairs=100) for _ in range(2)]
    assert few[0] == few[1]  # its own fixed seed
    mean = 0.75 * np.abs(X @ X.T)[np.triu_indices(2001, 1)].mean()
    assert mean <= found.bound <= 1.1 * mean


def test_the_sentence_says_what_was_bounded():
    X = table(50)
    found = audited(Shrunk().fit(X), Linear(), X, 0.05, 20.0, exhaustive=10, pairs=500)
    largest = errors(Shrunk().fit(X), Linear(), X)[np.triu_indices(50, 1)].max()
    assert str(found).startswith(
        f"Over all 1225 pairs of different rows the mean of |phi(x).phi(z) - k(x, z)| is at most {found.bound:.2g}, "
        "with probability 0.95; among 500 sampled pairs the largest was"
    )
    assert float(str(found).removesuffix(".").split()[-1]) <= 1.01 * largest


def test_the_bound_on_the_mean_fails_no_more_often_than_promised():
    """500 audits of random Fourier features, few pairs each; the bound is not idle either: it stays within twice."""
    X = table(60)
    lift = RandomFourier(Gaussian(), 20, random_state=1).fit(X)
    mean = errors(lift, Gaussian(), X)[np.triu_indices(60, 1)].mean()
    bounds = np.array(
        [audited(lift, Gaussian(), X, 0.2, 2.0, exhaustive=10, pairs=200, seed=seed).bound for seed in range(500)]
    )
    assert np.mean(bounds < mean) <= 0.2
    assert np.median(bounds) <= 2 * mean


def test_skewed_errors_are_bounded_too():
    """One pair in a hundred is off by 1: the variance is small in most samples, and the last term makes up for it."""
    rng = np.random.default_rng(0)
    samples = (rng.random((4000, 150)) < 0.01).astype(float)
    bounds = np.array([empirical_bernstein(sample, 0.1, 1.0) for sample in samples])
    assert np.mean(bounds < 0.01) <= 0.1


def test_maurer_and_pontil_by_hand():
    values = np.array([0.1, 0.4, 0.4, 0.9])
    variance = sum((a - b) ** 2 for a in values for b in values) / (2 * 4 * 3)  # their definition: over ordered pairs
    wanted = values.mean() + math.sqrt(2 * variance * math.log(20) / 4) + 7 * 3.0 * math.log(20) / (3 * 3)
    assert empirical_bernstein(values, 0.1, 3.0) == pytest.approx(wanted, rel=1e-13)


def test_sampled_pairs_are_of_different_rows_and_all_are_reached():
    """Three rows, one pair of which is off: its share is a third. A row with itself would count twice as much."""
    X = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    found = audited(Shrunk(0.0).fit(X), Linear(), X, 0.5, 1.0, exhaustive=1, pairs=20_000)
    assert found.bound == pytest.approx(1 / 3, abs=0.02)


@pytest.mark.parametrize("exhaustive", [10, 1000])
def test_sparse_float32_and_named_tables(exhaustive):
    X = table(60, 4) * (table(60, 4, seed=1) > 0)
    options = {"exhaustive": exhaustive, "pairs": 300}
    lift = RandomFourier(Laplace(), 40, random_state=0).fit(csr_array(X))
    wanted = audited(lift, lift.kernel_, X, 0.1, 2.0, **options).bound
    assert audited(lift, lift.kernel_, csr_array(X), 0.1, 2.0, **options).bound == pytest.approx(wanted, rel=1e-9)
    assert audited(lift, lift.kernel_, X.astype(np.float32), 0.1, 2.0, **options).bound == pytest.approx(
        wanted, rel=1e-4
    )
    frame = pd.DataFrame(X, columns=list("abcd"))
    named = RandomFourier(Laplace(), 40, random_state=0).fit(frame)
    kernel = Laplace().on(["a", "b", "c", "d"])
    assert audited(named, kernel, frame, 0.1, 2.0, **options).bound == pytest.approx(
        audited(named, Laplace(), frame, 0.1, 2.0, **options).bound, rel=1e-12
    )


def test_kernels_that_need_all_coordinates_of_sparse_rows():
    X = table(40, 4) * (table(40, 4, seed=1) > 0)
    lift = RandomFourier(ProductLaplace(), 40, random_state=0).fit(X)
    found = audited(lift, ProductLaplace(), csr_array(X), 0.1, 2.0)
    assert found.bound == pytest.approx(audited(lift, ProductLaplace(), X, 0.1, 2.0).bound, rel=1e-12)


def test_sparse_features():
    X = csr_array(table(30) * (table(30, seed=1) > 0))
    found = audited(Shrunk().fit(X), Linear(), X, 0.1, 10.0)
    assert found.bound == pytest.approx(0.75 * (X @ X.T).toarray().max(), rel=1e-12)


@pytest.mark.parametrize("exhaustive", [10, 1000])
def test_features_that_are_no_numbers_may_be_off_by_anything(exhaustive):
    X = table(60)
    found = audited(Shrunk(np.nan).fit(X), Linear(), X, 0.1, 10.0, exhaustive=exhaustive, pairs=300)
    assert found.bound == np.inf
    assert "nan" not in str(found)


def test_delta_is_checked():
    X = table(5)
    for delta in (0.0, 1.0, "no"):
        with pytest.raises(InputError, match="needs delta between zero and 1"):
            audited(Shrunk().fit(X), Linear(), X, delta, 1.0)
