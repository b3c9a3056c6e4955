"""The likelihood of classes against differences, SciPy's divergence, and what balance means."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import rel_entr

from mercer.solvers.logistic.likelihood import Likelihood, log_probabilities
from mercer.solvers.svm.box_qp import BoxQP


def draw(classes, seed=0, n=30, spread=2.0):
    rng = np.random.default_rng(seed)
    labels = np.r_[np.arange(classes), rng.integers(classes, size=n - classes)].astype(np.intp)
    likelihood = Likelihood(labels, classes, rng.uniform(0.5, 3.0, n))
    return likelihood, rng.normal(scale=spread, size=(n, likelihood.outputs))


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_residuals_and_curvature_are_the_derivatives_of_the_loss(classes):
    likelihood, scores = draw(classes)
    change = np.random.default_rng(1).normal(size=scores.shape)
    step = 1e-5

    def at(sign):
        return log_probabilities(scores + sign * step * change)

    slope = (likelihood.loss(at(1)) - likelihood.loss(at(-1))) / (2 * step)
    logs = log_probabilities(scores)
    assert -(likelihood.residuals(logs) * change).sum() == pytest.approx(slope, rel=1e-7)
    bend = (likelihood.residuals(at(-1)) - likelihood.residuals(at(1))) / (2 * step)
    curve = likelihood.curvature(logs)
    np.testing.assert_allclose(curve.times(change), bend, rtol=1e-6, atol=1e-8)
    for k in range(likelihood.outputs):
        unit = np.zeros_like(scores)
        unit[:, k] = 1.0
        np.testing.assert_allclose(curve.diagonal[:, k], curve.times(unit)[:, k], rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(curve.sums, curve.diagonal.sum(axis=0))


@pytest.mark.parametrize("classes", [2, 4])
def test_probabilities_losses_and_errors_by_their_definition(classes):
    likelihood, scores = draw(classes)
    full = np.column_stack([np.zeros(len(scores)), scores[:, 0]]) if classes == 2 else scores
    p = np.exp(full) / np.exp(full).sum(axis=1, keepdims=True)
    logs = log_probabilities(scores)
    np.testing.assert_allclose(np.exp(logs), p, rtol=1e-13)
    own = p[np.arange(len(p)), likelihood.classes]
    assert likelihood.loss(logs) == pytest.approx(-(likelihood.weights * np.log(own)).sum(), rel=1e-13)
    errors = likelihood.weights[:, None] * (np.eye(classes)[likelihood.classes] - p)
    np.testing.assert_allclose(likelihood.errors(p), errors[:, -likelihood.outputs :], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(likelihood.residuals(logs), errors[:, -likelihood.outputs :], rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize("classes", [2, 3])
def test_intercepts_make_every_class_as_likely_as_it_is_frequent(classes):
    likelihood, scores = draw(classes)
    logs = log_probabilities(np.zeros_like(scores) + likelihood.intercepts())
    np.testing.assert_allclose(np.exp(logs[0]), likelihood.sums / likelihood.total, rtol=1e-13)
    np.testing.assert_allclose(likelihood.residuals(logs).sum(axis=0), 0.0, atol=1e-12)
    assert likelihood.outputs == 1 or likelihood.intercepts().sum() == pytest.approx(0.0, abs=1e-13)


@given(
    st.sampled_from([2, 3, 5]), st.integers(0, 10**6), st.sampled_from([0.1, 2.0, 30.0]), st.sampled_from([0.0, 8.0])
)
def test_property_balanced_probabilities_are_some_and_balanced(classes, seed, spread, shift):
    """Also where almost all weight stands at one class, which is not frequent."""
    likelihood, scores = draw(classes, seed, spread=spread)
    scores[:, -1] += shift
    logs = log_probabilities(scores)
    q = likelihood.balanced(logs)
    assert q.min() >= 0.0
    np.testing.assert_allclose(q.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(likelihood.weights @ q, likelihood.sums, rtol=1e-9)
    far = likelihood.weights @ rel_entr(q, np.exp(logs)).sum(axis=1)
    if np.isfinite(far):
        assert likelihood.divergence(q, logs) == pytest.approx(far, rel=1e-7, abs=1e-9)


def test_balance_that_is_there_is_kept():
    """Of two rows with an even chance each, one of either class."""
    likelihood = Likelihood(np.array([0, 1], np.intp), 2, np.ones(2))
    logs = log_probabilities(np.array([[0.7], [-0.7]]))
    np.testing.assert_allclose(likelihood.balanced(logs), np.exp(logs), rtol=1e-14)
    assert likelihood.divergence(np.exp(logs), logs) == pytest.approx(0.0, abs=1e-15)
    assert likelihood.divergence(np.array([[1.0, 0.0], [0.5, 0.5]]), np.log([[0.25, 0.75], [0.5, 0.5]])) == np.log(4.0)


# -- boxes ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lower", "upper", "total", "given", "wanted"),
    [
        ([0, 0], [1, 1], 1.0, [0, 0], [0.5, 0.5]),
        ([0, 0], [1, 1], 1.0, [1, 1], [0.5, 0.5]),
        ([0, 0], [1, 3], 4.0, [0, 0], [1, 3]),
        ([0, 0], [0, 0], 1.0, [0, 0], [0, 0]),  # no room is no trouble
        ([0, 0], [1, 1], 2.0, [5, 1], [1, 1]),
        ([-np.inf, 0], [np.inf, 1], 3.0, [0, 0], [2.25, 0.75]),
        ([-1, -1], [1, 1], -1.0, [1, 0], [-1 / 3, -2 / 3]),
        ([-1, -1], [1, 1], 0.0, [0.25, -0.25], [0.25, -0.25]),
    ],
)
def test_coefficients_are_brought_into_the_box_and_to_the_total(lower, upper, total, given, wanted):
    """What is missing is dealt out in proportion to the room, of which nobody has more than is missing."""
    box = BoxQP(np.zeros(2), np.array(lower, float), np.array(upper, float), total=total)
    np.testing.assert_allclose(box.feasible(np.array(given, float)), wanted, atol=1e-15)


def test_slopes_and_the_bias_of_a_box():
    box = BoxQP(np.zeros(5), -np.ones(5), np.ones(5), kink=0.25)
    b, g = np.array([-1.0, -0.5, 0.0, 0.5, 1.0]), np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    assert box.rises(b, g).tolist() == [0.75, 1.75, 3.25, 4.25, np.inf]
    assert box.falls(b, g).tolist() == [-np.inf, 1.75, 2.75, 4.25, 5.25]
    assert box.violation(b, g) == 5.25 - 0.75
    assert box.bias(b, g) == -(1.75 + 4.25) / 2  # those between the ends, and not at the kink
    ends = np.array([-1.0, -1.0, 0.0, 1.0, 1.0])
    assert box.bias(ends, g) == -(5.25 + 0.75) / 2
    smooth = BoxQP(np.zeros(5), -np.ones(5), np.ones(5))
    assert smooth.bias(ends, g) == -3.0
    assert smooth.violation(np.zeros(5), np.zeros(5)) == 0.0
    stuck = BoxQP(np.zeros(1), np.zeros(1), np.ones(1))
    assert stuck.bias(np.ones(1), np.array([7.0])) == -7.0
    assert BoxQP(np.ones(2), -np.ones(2), np.ones(2), 0.5).objective(np.array([1.0, -0.5]), np.array([3.0, 2.0])) == 2.0
