"""Waves on a grid of frequencies as a lift: the error that is promised, how many there are, and what is refused."""

import numpy as np
import pytest

from mercer import kernels as k
from mercer.errors import InputError
from mercer.lifts import FourierGrid
from mercer.lifts.wave_grid import wave_grid

RANDOM = np.random.default_rng(0)


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("epsilon", [1e-2, 1e-4])
@pytest.mark.parametrize("kernel", ["gaussian(0.4)", "matern(nu=2.5, lengthscale=0.5)", "3*gaussian(0.5)*laplace(2)"])
def test_no_value_in_the_box_is_off_by_more_than_is_promised(kernel, epsilon, d):
    X = RANDOM.uniform(-1, 2, (60, d))
    lift = FourierGrid(kernel, epsilon, n_components=3000).fit(X)
    new = RANDOM.uniform(X.min(axis=0), X.max(axis=0), (60, d))
    left, right = lift.transform(np.vstack([X, new])), lift.kernel_(np.vstack([X, new]))
    off = np.abs(left @ left.T - right).max()
    assert off <= lift.certificate(new).bound
    assert lift.error_ <= epsilon * lift.mass_ or lift.n_features() >= 2999


def test_columns_are_scaled_and_named():
    import pandas as pd

    X = pd.DataFrame(RANDOM.uniform(0, 1, (50, 2)) * [1, 100], columns=["a", "b"])
    lift = FourierGrid(k.Gaussian().on(["b"]).scaled([1, 1]) if False else k.Gaussian().scaled([0.4, 40.0]), 1e-6).fit(
        X
    )
    Z = lift.transform(X)
    assert np.abs(Z @ Z.T - lift.kernel_(X.to_numpy())).max() <= lift.error_ + 1e-12
    named = FourierGrid(k.Gaussian(30.0).on(["b"]), 1e-6).fit(X)
    Z = named.transform(X)
    assert np.abs(Z @ Z.T - k.Gaussian(30.0)(X[["b"]].to_numpy())).max() <= named.error_ + 1e-12
    assert named.n_features() < 40  # nothing along the column at which the kernel does not look


def test_rows_beyond_the_box_have_no_certificate():
    lift = FourierGrid("gaussian(0.3)").fit([[0.0], [1.0]])
    found = lift.certificate([[0.5], [1.2]])
    assert np.isinf(found.bound)
    assert "1 row of 2 beyond the box" in found.sentence


def test_the_least_weights_are_dropped_first():
    grid = wave_grid(k.Matern(1.5, 0.2), np.zeros(2), np.ones(2), 1e-9, 501)
    assert grid.count == 501
    more = wave_grid(k.Matern(1.5, 0.2), np.zeros(2), np.ones(2), 1e-9, 1501)
    assert more.error < grid.error
    assert grid.weights[1:].min() >= np.sort(more.weights[1:])[-250] * (1 - 1e-12)


def test_rows_that_are_all_the_same():
    Z = FourierGrid("gaussian(0.3)").fit_transform(np.ones((4, 2)))
    assert np.abs(Z @ Z.T - 1).max() < 1e-5


@pytest.mark.parametrize(
    ("given", "columns", "told"),
    [
        ({}, 4, "FourierGrid needs at most 3 columns; got 4"),
        ({"kernel": "linear"}, 1, "FourierGrid needs a kernel with a density of frequencies; linear"),
        ({"kernel": "periodic"}, 1, "FourierGrid needs a kernel with a density of frequencies; periodic"),
        ({"kernel": "laplace(0.001)"}, 3, "FourierGrid needs a grid of at most 1,048,576 features"),
        ({"epsilon": 0}, 1, "FourierGrid needs epsilon between 0 and 1; got 0"),
        ({"n_components": 0}, 1, "FourierGrid needs n_components to be a positive integer, or None; got 0"),
    ],
)
def test_what_cannot_be_is_refused(given, columns, told):
    with pytest.raises(InputError) as caught:
        FourierGrid(**given).fit(RANDOM.uniform(0, 1, (20, columns)))
    assert str(caught.value).startswith(told)
