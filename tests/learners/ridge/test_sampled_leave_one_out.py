"""Leave-one-out errors of some rows against those of the same rows among all."""

from contextlib import contextmanager

import numpy as np
import pytest
from streamed_requests import asked, basis_of, draw

from mercer.compute.runtime.run import IDLE, Run, Stopped
from mercer.learners.ridge.sampled_loo import drawn, labels_of, sampled_path, sampled_side
from mercer.learners.streaming.moments import Moments, Normal
from mercer.lifts import RandomFourier
from mercer.operators import Centering
from mercer.solvers import Eigen
from mercer.tuning.sides import PrimalSide

ALPHAS = np.geomspace(1e-4, 1e2, 5)
LIFT = RandomFourier("gaussian(2)", 20, random_state=0)


def both(intercept, coded=False, n=200):
    """The normal equations, the basis, the stream, and the side of all rows."""
    X, Y = draw(n)
    Y = np.sign(Y - np.median(Y, axis=0)) if coded else Y
    random = np.random.default_rng(1)
    s, copies = random.uniform(0.3, 3.0, n), random.uniform(0.3, 3.0, n)
    basis = basis_of(LIFT.fit(X), X)
    stream = asked(basis, X, Y, s, copies).stream
    moments = Moments(basis, 2, intercept)
    for piece in stream.pieces(64):
        moments.add(piece)
    centering = Centering.of(n, s, intercept, copies)
    Z = centering.rows(np.asarray(LIFT.transform(X)))
    side = PrimalSide(Eigen().decompose(Z.T @ Z), Z, centering, centering.rows(Y))
    return Normal.of(moments, intercept), basis, stream, side


@pytest.mark.parametrize("intercept", [False, True])
def test_a_sample_has_the_errors_that_its_rows_have(intercept):
    normal, basis, stream, side = both(intercept)
    positions = np.array([0, 3, 50, 199])
    part = sampled_side(normal, basis, stream.sample(positions), slice(0, 4))
    assert part.left_out(ALPHAS) == pytest.approx(side.left_out(ALPHAS)[:, positions], rel=1e-9)
    assert part.leverage(0.1) == pytest.approx(side.leverage(0.1)[positions], rel=1e-9)
    assert part.slack(0.1) == pytest.approx(side.slack(0.1)[positions], rel=1e-9)


def test_a_fold_of_a_sample_is_that_fold_of_all_rows():
    normal, basis, stream, side = both(True)
    folds = np.arange(200) // 10
    part = sampled_side(normal, basis, stream.sample(np.arange(30)), slice(0, 30))
    whole = side.left_out_folds(ALPHAS, folds)[:, :30]
    assert part.left_out_folds(ALPHAS, folds[:30]) == pytest.approx(whole, rel=1e-8)


@pytest.mark.parametrize("coded", [False, True])
def test_a_sample_of_all_rows_has_the_path_of_all_rows(coded, monkeypatch):
    monkeypatch.setattr("mercer.learners.streaming.moments.BLOCK_NUMBERS", 64 * 20)  # several blocks of unequal weight
    normal, basis, stream, side = both(True, coded)
    sample = drawn(stream, stream.count, 1000, np.random.default_rng(0))
    found = sampled_path(normal, basis, sample, ALPHAS, coded, IDLE)
    expected = side.path(ALPHAS, labels_of(sample.targets) if coded else None)
    assert found.errors == pytest.approx(expected.errors, rel=1e-9)
    assert (found.wrong is None) == (expected.wrong is None)
    if coded:
        assert found.wrong == pytest.approx(expected.wrong, rel=1e-12)


def test_eigenvalues_that_are_noise_have_no_left_out_prediction():
    normal, basis, stream, _ = both(False)
    part = sampled_side(normal, basis, stream.sample(np.arange(5)), slice(0, 5))
    doubtful = type(part)(*[getattr(part, name) for name in part.__dataclass_fields__ if name != "noise"], part.noise)
    object.__setattr__(doubtful, "noise", np.full_like(part.noise, 1e6))
    assert np.isfinite(part.left_out(1e-3)).all()
    assert np.isinf(doubtful.left_out(1e-3)).all()


def test_a_draw_is_sorted_without_twins_and_the_same_for_a_seed():
    stream = both(True)[2]
    first, again = (drawn(stream, 150, 40, np.random.default_rng(3)) for _ in range(2))
    assert np.array_equal(first.points.values, again.points.values)
    places = [int(np.flatnonzero((stream.points.values == row).all(axis=1)).item()) for row in first.points.values]
    assert places == sorted(set(places))
    assert len(places) == 40
    assert max(places) < 150


def test_labels_are_read_from_their_codes():
    assert labels_of(np.array([[1.0], [-1.0]])).tolist() == [1, 0]
    assert labels_of(np.array([[-1.0, 1.0, -1.0], [1.0, -1.0, -1.0]])).tolist() == [1, 0]


class Over(Run):
    """Stops wherever that is allowed."""

    usable = False

    @contextmanager
    def stoppable(self):
        self.usable = True
        yield
        self.usable = False

    def tell(self, done):
        if self.usable:
            raise Stopped("the time is over")


def test_rows_that_were_judged_in_time_are_enough(monkeypatch):
    monkeypatch.setattr("mercer.learners.ridge.sampled_loo.JUDGED_AT_ONCE", 20 * 64)
    normal, basis, stream, _ = both(True)
    sample = drawn(stream, stream.count, 1000, np.random.default_rng(0))
    first = sampled_path(normal, basis, sample.rows(slice(64)), ALPHAS, False, IDLE)
    found = sampled_path(normal, basis, sample, ALPHAS, False, Over())
    assert np.array_equal(found.errors, first.errors)
