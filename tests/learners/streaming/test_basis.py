"""Raw functions and the features that are made of them."""

import numpy as np
import pytest
from streamed_requests import basis_of, draw

from mercer.kernels.points import SINGLE, Points
from mercer.learners.streaming.basis import MAX_STRETCH_OF_WEIGHTS, FeatureBasis, steady
from mercer.lifts import Nystrom, Polynomial

X, _ = draw(80)
LIFTS = [Polynomial(2), Nystrom("gaussian(1.5)", 20, random_state=0)]


@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("lift", LIFTS, ids=lambda lift: type(lift).__name__)
def test_features_and_weights_are_those_of_the_lift(lift, early):
    basis = basis_of(lift.fit(X), X)
    basis = FeatureBasis(basis) if early else basis
    Phi, W = np.asarray(lift.transform(X)), np.random.default_rng(0).normal(size=(basis.width, 3))
    assert basis.features(Points(X)) == pytest.approx(Phi, abs=1e-10)
    assert basis.to_features(basis.raw(Points(X))) == pytest.approx(Phi, abs=1e-10)
    assert basis.times(Points(X), basis.to_raw(W)) == pytest.approx(Phi @ W, abs=1e-8)
    assert basis.plain == np.array_equal(basis.to_raw(W), W)


def test_float32_rows_have_raw_functions_of_float64():
    basis = basis_of(LIFTS[1].fit(X), X)
    single = Points(X.astype(np.float32).astype(np.float64), None, SINGLE)
    raw = basis.raw(single)
    assert raw.dtype == np.float64
    assert np.array_equal(raw, basis.raw(Points(single.values)))


def test_whitening_stretches_the_more_the_smoother_the_kernel_is():
    near, far = (basis_of(Nystrom(f"gaussian({size})", 20, random_state=0).fit(X), X) for size in (0.3, 3.0))
    assert basis_of(Polynomial(2).fit(X), X).stretch == FeatureBasis(far).stretch == 1.0
    assert 1.0 < near.stretch < far.stretch
    condition = np.linalg.cond(far.upper) ** 2
    assert condition / 1e3 < far.stretch <= condition * (1 + 1e-9)


@pytest.mark.filterwarnings("ignore::mercer.errors.NumericalWarning")
def test_a_basis_that_would_lose_predictions_becomes_its_features():
    calm, wild = (basis_of(Nystrom(f"gaussian({size})", 20, random_state=0).fit(X), X) for size in (1.0, 100.0))
    assert calm.stretch < MAX_STRETCH_OF_WEIGHTS < wild.stretch
    assert steady(calm) is calm
    assert steady(wild).plain
    assert np.array_equal(steady(wild).raw(Points(X)), wild.features(Points(X)))
