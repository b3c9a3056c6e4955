"""What a pass with weights finds, against all rows at once."""

import numpy as np
import pytest
from streamed_requests import asked, basis_of, draw

from mercer.compute.runtime.run import IDLE
from mercer.learners.ridge.residual_pass import Trial, check
from mercer.learners.ridge.sampled_loo import drawn
from mercer.learners.streaming.moments import Moments, Normal
from mercer.lifts import Nystrom, RandomFourier
from mercer.planner.ridge.streaming import TRIED

LIFTS = [RandomFourier("gaussian(2)", 20, random_state=0), Nystrom("gaussian(1.5)", 25, random_state=0)]


def known(lift, X, Y, s, intercept):
    """The stream, the basis, the normal equations, and rows to try predictions on."""
    basis = basis_of(lift.fit(X), X)
    stream = asked(basis, X, Y, s).stream
    moments = Moments(basis, Y.shape[1], intercept)
    for piece in stream.pieces(64):
        moments.add(piece)
    normal = Normal.of(moments, intercept)
    return stream, basis, normal, Trial.of(normal, basis, drawn(stream, stream.count, TRIED, np.random.default_rng(0)))


@pytest.mark.parametrize("offset", [0.0, 1e3])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("lift", LIFTS, ids=lambda lift: type(lift).__name__)
def test_residuals_and_gradients_are_those_of_all_rows(lift, intercept, offset):
    X, Y = draw(200)
    Y = Y + offset
    random = np.random.default_rng(1)
    s, w = random.uniform(0.5, 3.0, 200), random.normal(size=(basis_of(lift.fit(X), X).width, 2))
    stream, basis, normal, trial = known(lift, X, Y, s, intercept)
    found = check(stream, basis, normal, trial, w, 70, IDLE)
    Z = np.asarray(lift.transform(X))
    Z = Z - (s @ Z / s.sum() if intercept else 0.0)
    targets = Y - (s @ Y / s.sum() if intercept else 0.0)
    left = targets - Z @ w
    assert found.residuals == pytest.approx(s[:, None] * left, rel=1e-8, abs=1e-8)
    assert found.gradient == pytest.approx(Z.T @ (s[:, None] * left), rel=1e-8, abs=1e-6)
    assert found.squares == pytest.approx((s[:, None] * left**2).sum(axis=0), rel=1e-9)
    assert found.products == pytest.approx((s[:, None] * left * targets).sum(axis=0), rel=1e-9)


def test_a_trial_holds_centred_features_of_rows_and_of_new_ones():
    X, Y = draw(2000)
    _, _, normal, trial = known(LIFTS[0], X, Y, np.ones(2000), True)
    assert len(trial.rows) == TRIED
    assert np.abs(trial.rows.mean(axis=0)).max() < 0.2
    assert np.isfinite(trial.new).all()
    assert trial.sizes == pytest.approx(normal.sizes, rel=0.3)
    assert (trial.longest >= trial.sizes * (1 - 1e-12)).all()
    w = np.random.default_rng(0).normal(size=(20, 2))
    assert [table.shape for table in trial.predict(w, w)] == [(TRIED, 2), (len(trial.new), 2)]
