"""Sums over pieces against the same sums over all rows at once."""

from itertools import pairwise

import numpy as np
import pytest
from streamed_requests import asked, basis_of, draw

from mercer.kernels.points import Points
from mercer.learners.streaming.basis import FeatureBasis
from mercer.learners.streaming.moments import BLOCK_NUMBERS, CALL_OPERATIONS, THIN, Moments, Normal, applied, blocks
from mercer.lifts import Nystrom, Polynomial, RandomFourier

LIFTS = [Polynomial(2), RandomFourier("gaussian(2)", 20, random_state=0), Nystrom("gaussian(2)", 25, random_state=0)]


def summed(lift, X, Y, s, intercept, batch=70, early=False):
    basis = basis_of(lift.fit(X), X)
    basis = FeatureBasis(basis) if early else basis
    moments = Moments(basis, Y.shape[1], intercept)
    for piece in asked(basis, X, Y, s).stream.pieces(batch):
        moments.add(piece)
    return moments


def features(lift, X, s, intercept):
    """Z, and the mean that was taken off."""
    Phi = np.asarray(lift.transform(X))
    means = s @ Phi / s.sum() if intercept else np.zeros(Phi.shape[1])
    return np.sqrt(s)[:, None] * (Phi - means), means


@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("lift", LIFTS, ids=lambda lift: type(lift).__name__)
def test_the_normal_equations_are_those_of_all_rows(lift, intercept, early):
    X, Y = draw(300)
    s = np.random.default_rng(1).uniform(0.5, 3.0, 300)
    normal = Normal.of(summed(lift, X, Y, s, intercept, early=early), intercept)
    Z, means = features(lift, X, s, intercept)
    level = s @ Y / s.sum() * intercept
    right = np.sqrt(s)[:, None] * (Y - level)
    assert normal.rows == 300
    assert normal.total == pytest.approx(s.sum(), rel=1e-14)
    assert normal.means + normal.rest == pytest.approx(means, rel=1e-9, abs=1e-11)
    assert normal.level == pytest.approx(level, rel=1e-13)
    assert normal.squares == pytest.approx((right**2).sum(axis=0), rel=1e-12)
    assert normal.right == pytest.approx(Z.T @ right * normal.kept[:, None], rel=1e-8, abs=1e-8)
    again = normal.spectrum.multiply(np.eye(Z.shape[1]))
    assert again == pytest.approx(Z.T @ Z, rel=1e-8, abs=1e-8)


def test_a_feature_that_an_intercept_takes_whole_is_left_out():
    X, Y = draw(50)
    normal = Normal.of(summed(Polynomial(2), X, Y, np.ones(50), True), True)
    constant = np.flatnonzero(~normal.kept)
    assert np.asarray(Polynomial(2).fit_transform(X))[:, constant].std(axis=0) == pytest.approx([0.0])
    assert len(normal.spectrum.values) == len(normal.kept) - 1
    assert not normal.spectrum.vectors[constant].any()
    assert not normal.right[constant].any()


def test_features_that_are_all_constant_leave_one_unknown():
    X, Y = np.ones((20, 2)), draw(20)[1]
    normal = Normal.of(summed(Polynomial(1), X, Y, np.ones(20), True), True)
    assert normal.kept.sum() == 1


def test_a_mean_of_a_million_spreads_costs_no_digits():
    X, Y = draw(500, d=2)
    lift = Polynomial(1)
    near = Normal.of(summed(lift, X, Y, np.ones(500), True), True)
    far = Normal.of(summed(lift, np.round(X * 2**20) / 2**20 + 2.0**20, Y + 1e6, np.ones(500), True), True)
    assert far.spectrum.values == pytest.approx(near.spectrum.values, rel=1e-5)  # X was rounded to 1e-6
    exact = np.linalg.eigvalsh(np.cov(np.round(X * 2**20).T / 2**20, bias=True) * 500)
    assert far.spectrum.values == pytest.approx(exact, rel=1e-12)
    assert far.squares == pytest.approx(near.squares, rel=1e-9)


def test_a_state_goes_on_to_the_same_bits():
    X, Y = draw(300)
    basis = basis_of(LIFTS[2].fit(X), X)
    pieces = list(asked(basis, X, Y, np.random.default_rng(1).uniform(0.5, 3.0, 300)).stream.pieces(70))
    whole, states = Moments(basis, 2, True), []
    for piece in pieces:
        whole.add(piece)
        states.append({name: value.copy() for name, value in whole.state().items()})
    for done, state in enumerate(states, 1):
        again = Moments(basis, 2, True)
        again.restore(state)
        for piece in pieces[done:]:
            again.add(piece)
        assert again.rows == 300
        found, wanted = again.state(), whole.state()
        assert found.keys() == wanted.keys() >= {"shift", "rows", "sums 0"}
        assert all(np.array_equal(found[name], wanted[name]) for name in wanted)
        assert np.array_equal(again.shift, whole.shift)


@pytest.mark.parametrize("count", [1, 63, 4194, 100_000])
@pytest.mark.parametrize("width", [1, 1002, 5000, 20_000])
def test_blocks_are_small_and_none_is_thin(width, count):
    parts = list(blocks(count, width))
    sizes = [part.stop - part.start for part in parts]
    step = max(THIN, min(BLOCK_NUMBERS // width, CALL_OPERATIONS // width**2))
    assert parts[0].start == 0
    assert parts[-1].stop == count
    assert all(a.stop == b.start for a, b in pairwise(parts))
    assert max(sizes) <= 1.5 * step + 1
    assert min(sizes) >= min(count, step // 2)


def test_whitening_goes_through_all_blocks(monkeypatch):
    X, _ = draw(100)
    basis = basis_of(LIFTS[2].fit(X), X)
    raw = basis.raw(Points(X))
    monkeypatch.setattr("mercer.learners.streaming.moments.BLOCK_NUMBERS", 1)
    monkeypatch.setattr("mercer.learners.streaming.moments.THIN", 7)
    assert applied(basis, raw) == pytest.approx(np.asarray(LIFTS[2].transform(X)), abs=1e-10)
