"""The certificate of distances: the true maximum of small tables, or a quantile that holds as often as said."""

import math

import mpmath
import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import pdist
from scipy.stats import binom

from mercer.errors import InputError, KernelError
from mercer.kernels import Gaussian, Laplace, Linear, Matern
from mercer.lifts import audit, distance_audit
from mercer.lifts.base import Lift
from mercer.lifts.distance_audit import audited_distances, feature_distances
from mercer.lifts.fourier import RandomFourier

X = np.random.default_rng(0).normal(size=(60, 3))


class Stretched(Lift):
    """The identity, the first column times a factor, in the name of the linear kernel: the errors are known."""

    exact = False
    kernel = Linear()

    def __init__(self, factor=0.5):
        self.factor = factor

    def learn(self, X):
        self.fitted_ = True

    def n_features(self):
        return self.n_features_in_

    def features(self, X):
        return X * X.dtype.type(1) * np.array([self.factor, *[1.0] * (X.shape[1] - 1)])

    def feature_names(self, inputs):
        return inputs


def errors(lift, distance, rows):
    """Of all pairs of different rows, from the definition."""
    F = lift.transform(rows)
    i, j = np.triu_indices(len(rows), 1)
    return np.abs(np.linalg.norm(F[i] - F[j], axis=1) / distance(np.linalg.norm(rows[i] - rows[j], axis=1)) - 1)


def gaussian_distance(r):
    return np.sqrt(-2 * np.expm1(-(r**2) / 2))


@pytest.mark.parametrize("form", ["pairs", "offset"])
@pytest.mark.parametrize("size", [1, 40, 1 << 22])
def test_small_tables_get_the_true_maximum(form, size, monkeypatch):
    """Whatever the blocks."""
    monkeypatch.setattr(audit, "BLOCK_NUMBERS", size)
    monkeypatch.setattr(distance_audit, "BLOCK_NUMBERS", size)
    lift = RandomFourier(Gaussian(), 50, form=form, random_state=0).fit(X)
    found = lift.certificate(X, error="distance")
    assert found.bound == pytest.approx(errors(lift, gaussian_distance, X).max(), rel=1e-9)
    assert (found.kind, found.probability) == ("maximum", 1.0)
    assert str(found) == (
        f"No distance |phi(x) - phi(z)| is off by more than {found.bound:.2g} times the kernel distance: all 1770 "
        "pairs of the 60 rows were computed."
    )


def test_a_lift_that_loses_a_column_loses_the_distances_along_it():
    """By hand: 3, 4, 5; without the first column 0, 4, 4: off by 1, 0 and 1/5."""
    rows = np.array([[0.0, 0.0], [3.0, 0.0], [3.0, 4.0]])
    for factor, wanted in ((0.0, 1.0), (1.0, 0.0), (0.5, 0.5), (3.0, 2.0)):
        lift = Stretched(factor).fit(rows)
        assert audited_distances(lift, Linear(), rows, 0.01).bound == pytest.approx(wanted, abs=1e-12)
        assert audited_distances(lift, Linear(), rows[[0, 2]], 0.01).bound == pytest.approx(
            abs(math.hypot(3 * factor, 4) / 5 - 1), abs=1e-12
        )


def test_equal_rows_have_no_error():
    rows = np.vstack([X[:5], X[:5]])
    lift = RandomFourier(Gaussian(), 50, random_state=0).fit(rows)
    assert lift.certificate(rows, error="distance").bound == pytest.approx(
        errors(lift, gaussian_distance, X[:5]).max(), rel=1e-9
    )
    assert lift.certificate(rows[[0, 5]], error="distance").bound == 0


def test_near_points_are_judged_by_their_differences():
    """At a gap of 2^-20 products of features have lost all digits of the distance but five."""
    base = np.array([1.0, -0.5, 0.25])
    rows = np.vstack([base, base + 2.0**-20])
    lift = RandomFourier(Gaussian(), 300, form="offset", center=False, random_state=0).fit(rows)
    with mpmath.workdps(40):
        phases = [
            [mpmath.fdot(w.tolist(), row.tolist()) + t for w, t in zip(lift.frequencies_, lift.offsets_, strict=True)]
            for row in rows
        ]
        square = sum((mpmath.cos(a) - mpmath.cos(b)) ** 2 for a, b in zip(*phases, strict=True)) / 150
        wanted = abs(mpmath.sqrt(square / (-2 * mpmath.expm1(-3 * mpmath.mpf(2) ** -41))) - 1)
    F = lift.transform(rows)
    assert feature_distances(F, F)[0, 1] == pytest.approx(float(mpmath.sqrt(square)), rel=1e-8)
    assert lift.certificate(rows, error="distance").bound == pytest.approx(float(wanted), abs=1e-3)


def test_more_rows_get_a_quantile():
    """At a delta by which it fails once in a million samples."""
    rows = np.random.default_rng(1).normal(size=(2100, 2))
    lift = RandomFourier(Gaussian(), 60, random_state=0).fit(rows)
    assert lift.certificate(rows[:2000], error="distance").kind == "maximum"
    found = lift.certificate(rows, delta=1e-6, error="distance")
    assert (found.kind, found.probability) == ("quantile", 1 - 1e-6)
    exact = gaussian_distance(pdist(rows))
    share = np.mean(np.abs(pdist(lift.transform(rows)) / exact - 1) > found.bound)
    assert 0 < share <= math.log(1e6) / 100_000
    assert "at most a share of 0.00014 has a distance" in str(found)


def test_the_quantile_fails_no_more_often_than_promised():
    """500 audits of 20 pairs at delta = 0.2: no more failures than one test in a million has, and not idle either."""
    lift = RandomFourier(Gaussian(), 20, random_state=1).fit(X)
    true = errors(lift, gaussian_distance, X)
    bounds = [
        audited_distances(lift, Gaussian(), X, 0.2, exhaustive=10, pairs=20, seed=seed).bound for seed in range(500)
    ]
    share = math.log(5) / 20
    failures = sum(np.mean(true > bound * (1 + 1e-9)) > share for bound in bounds)
    assert binom.isf(1 - 1e-6, 500, (1 - share) ** 20 - 0.01) <= failures <= binom.isf(1e-6, 500, 0.2)
    assert set(np.round(bounds, 9)) <= set(np.round(true, 9))


@pytest.mark.parametrize("exhaustive", [10, 1000])
def test_sparse_float32_and_named_tables(exhaustive):
    rows = X * (X > 0)
    options = {"exhaustive": exhaustive, "pairs": 300}
    lift = RandomFourier(Gaussian(), 40, random_state=0).fit(csr_array(rows))
    wanted = audited_distances(lift, lift.kernel_, rows, 0.1, **options).bound
    assert audited_distances(lift, lift.kernel_, csr_array(rows), 0.1, **options).bound == pytest.approx(
        wanted, rel=1e-9
    )
    short = rows.astype(np.float32)
    assert audited_distances(lift, lift.kernel_, short, 0.1, **options).bound == pytest.approx(wanted, rel=1e-3)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    named = RandomFourier(Gaussian().on(["c", "a"]), 40, random_state=0).fit(frame)
    plain = RandomFourier(Gaussian().on([2, 0]), 40, random_state=0).fit(X)
    found = [
        audited_distances(one, one.kernel_, table, 0.1, **options).bound for one, table in ((named, frame), (plain, X))
    ]
    assert found[0] == found[1] > 0


def test_smooth_kernels_are_computed_and_rough_ones_refused():
    lift = RandomFourier(Matern(1.5), 100, random_state=0).fit(X)

    def distance(r):
        return np.sqrt(2 - 2 * (1 + math.sqrt(3) * r) * np.exp(-math.sqrt(3) * r))

    assert lift.certificate(X, error="distance").bound == pytest.approx(errors(lift, distance, X).max(), rel=1e-9)
    with pytest.raises(KernelError, match=r"RandomFourier needs a smooth kernel.*for laplace.*there is none"):
        RandomFourier(Laplace(), 100).fit(X).certificate(X, error="distance")


def test_what_is_asked_is_checked():
    lift = RandomFourier(Gaussian(), 10).fit(X)
    with pytest.raises(InputError, match=r"RandomFourier needs error 'kernel' or 'distance'; got 'angle'"):
        lift.certificate(X, error="angle")
    with pytest.raises(InputError, match=r"delta between zero and 1; got 2"):
        lift.certificate(X, delta=2, error="distance")
