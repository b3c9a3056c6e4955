"""Newton's method for logistic regression against finite differences, SciPy's optimisers, and its own certificate."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import approx_fprime, minimize
from scipy.special import logsumexp

from mercer.compute.runtime.run import Run, Stopped
from mercer.solvers.logistic import newton
from mercer.solvers.logistic.likelihood import Likelihood, log_probabilities
from mercer.solvers.logistic.newton import NewtonSettings, minimise
from mercer.solvers.logistic.objective import LogisticObjective
from mercer.solvers.logistic.squares import Spectral

CLASSES = pytest.mark.parametrize("classes", [2, 3, 5])


def draw(n=60, p=4, classes=3, seed=0, alpha=0.7, weighted=True, turned=True):
    """Features of overlapping clouds, centred, with the spectrum of their squares."""
    random = np.random.default_rng(seed)
    y = random.integers(classes, size=n)
    y[:classes] = np.arange(classes)
    weights = random.integers(1, 4, size=n).astype(float) if weighted else np.ones(n)
    Z = random.normal(size=(n, p)) + random.normal(size=(classes, p))[y]
    Z -= weights @ Z / weights.sum()
    values, vectors = np.linalg.eigh(Z.T @ (weights[:, None] * Z))
    if not turned:
        Z, vectors = Z @ vectors, None
    return LogisticObjective(Z, Likelihood(y, classes, weights), alpha, Spectral(values, vectors))


def value(problem, flat):
    """What is minimised, from its definition, in scores of every class."""
    likelihood = problem.likelihood
    unknowns = flat.reshape(-1, likelihood.outputs)
    scores = problem.features @ unknowns[:-1] + unknowns[-1]
    if likelihood.outputs == 1:
        scores = np.column_stack([np.zeros(len(scores)), scores])
    own = scores[np.arange(len(scores)), likelihood.classes]
    return likelihood.weights @ (logsumexp(scores, axis=1) - own) + problem.alpha / 2 * (unknowns[:-1] ** 2).sum()


def least(problem):
    """The least value, by SciPy."""
    size = (problem.features.shape[1] + 1) * problem.likelihood.outputs

    def both(flat):
        place = problem.at(flat.reshape(-1, problem.likelihood.outputs))
        return place.value, place.gradient.ravel()

    return minimize(both, np.zeros(size), jac=True, method="BFGS", options={"gtol": 1e-9, "maxiter": 5000}).fun


# -- the function -------------------------------------------------------------------------------------------------


@CLASSES
def test_values_and_gradients_are_those_of_the_definition(classes):
    problem = draw(classes=classes)
    unknowns = np.random.default_rng(1).normal(size=(5, problem.likelihood.outputs))
    place = problem.at(unknowns)
    assert place.value == pytest.approx(value(problem, unknowns.ravel()), rel=1e-13)
    slopes = approx_fprime(unknowns.ravel(), lambda flat: value(problem, flat), 1e-7)
    np.testing.assert_allclose(place.gradient.ravel(), slopes, rtol=1e-4, atol=1e-4)


@CLASSES
def test_second_derivatives_are_those_of_the_gradient(classes):
    problem = draw(classes=classes)
    random, shape = np.random.default_rng(1), (5, problem.likelihood.outputs)
    unknowns, change = random.normal(size=shape), random.normal(size=shape)
    curve = problem.likelihood.curvature(problem.at(unknowns).logs)
    up, down = (problem.at(unknowns + step * change).gradient for step in (1e-5, -1e-5))
    found = problem.curved(change, problem.scores(change), curve)
    np.testing.assert_allclose(found, (up - down) / 2e-5, rtol=1e-6, atol=1e-6)


def test_the_preconditioner_is_the_inverse_where_all_rows_are_curved_alike():
    problem = draw(classes=2)
    curve = problem.likelihood.curvature(log_probabilities(np.zeros((60, 1))))
    change = np.random.default_rng(1).normal(size=(5, 1))
    bent = problem.curved(change, problem.scores(change), curve)
    np.testing.assert_allclose(problem.preconditioned(bent, curve), change, rtol=1e-10)
    np.testing.assert_allclose(newton.Blocks.of(problem, curve, int).solve(bent), change, rtol=1e-10)


def test_probabilities_keep_their_digits_at_extreme_scores():
    scores = np.array([[800.0], [-800.0], [40.0]])
    likelihood = Likelihood(np.array([1, 1, 1]), 2, np.ones(3))
    logs = log_probabilities(scores)
    assert logs[0].tolist() == [-800.0, 0.0]
    assert likelihood.loss(logs) == pytest.approx(800.0, rel=1e-15)
    np.testing.assert_allclose(likelihood.residuals(logs)[:, 0], [0.0, 1.0, np.exp(-40)], rtol=1e-12, atol=1e-300)
    many = log_probabilities(np.array([[1000.0, 0.0, -1000.0]]))
    assert many.tolist() == [[0.0, -1000.0, -2000.0]]


# -- the minimum ----------------------------------------------------------------------------------------------------


@CLASSES
@pytest.mark.parametrize("turned", [True, False], ids=["vectors", "no vectors"])
@pytest.mark.parametrize("direct", [0, 2000], ids=["conjugate gradients", "stored"])
def test_the_minimum_is_that_of_scipy(classes, turned, direct, monkeypatch):
    monkeypatch.setattr(newton, "MAX_DIRECT_FEATURES", direct)
    problem = draw(classes=classes, turned=turned)
    found = minimise(problem, NewtonSettings(1e-10))
    assert found.converged
    assert found.reason == ""
    assert found.objective == pytest.approx(least(problem), rel=1e-11)
    assert 0 <= found.gap < 1e-9
    np.testing.assert_allclose(problem.alpha * found.weights, problem.features.T @ found.residuals, atol=1e-7)
    np.testing.assert_allclose(found.residuals.sum(axis=0), 0.0, atol=1e-7)
    np.testing.assert_allclose(found.scores, problem.features @ found.weights + found.intercepts, rtol=1e-12)
    if classes == 2 and direct > 0:
        assert found.products == found.steps  # second derivatives that are stored anew solve a step at once


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    classes=st.sampled_from([2, 3, 4]),
    size=st.floats(0.0, 30.0),
    alpha=st.sampled_from([1e-3, 0.3, 20.0]),
)
def test_the_gap_bounds_what_is_missing_everywhere(seed, classes, size, alpha):
    problem = draw(30, 3, classes, seed, alpha)
    random = np.random.default_rng(seed + 1)
    unknowns = size * random.normal(size=(4, problem.likelihood.outputs))
    best = minimise(problem, NewtonSettings(1e-9)).objective
    place = problem.at(unknowns)
    assert problem.gap(place) >= (place.value - best) * (1 - 1e-9) - 1e-9


def test_the_gap_is_tight_near_the_solution():
    problem = draw()
    found = minimise(problem, NewtonSettings(1e-12))
    unknowns = np.vstack([found.weights, found.intercepts])
    near = problem.at(unknowns * (1 + 1e-4))
    missing = near.value - found.objective
    assert missing > 0
    assert missing <= problem.gap(near) < 1e3 * missing


def test_probabilities_of_the_certificate_have_the_frequencies_of_the_classes():
    problem = draw(classes=4)
    likelihood = problem.likelihood
    q = likelihood.balanced(log_probabilities(np.random.default_rng(3).normal(size=(60, 4)) * 5))
    assert (q >= 0).all()
    np.testing.assert_allclose(q.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(likelihood.errors(q).sum(axis=0), 0.0, atol=1e-11)


# -- always ends ----------------------------------------------------------------------------------------------------


@CLASSES
@pytest.mark.parametrize("alpha", [1e-10, 1e-3, 1e8])
def test_separated_classes_end_whatever_the_penalty(classes, alpha):
    random = np.random.default_rng(0)
    y = np.arange(60) % classes
    Z = 10.0 * np.eye(classes)[y] + 0.1 * random.normal(size=(60, classes))
    Z -= Z.mean(axis=0)
    values, vectors = np.linalg.eigh(Z.T @ Z)
    problem = LogisticObjective(Z, Likelihood(y, classes, np.ones(60)), alpha, Spectral(values, vectors))
    found = minimise(problem, NewtonSettings(1e-6, 200))
    assert found.converged
    assert 0 <= found.gap <= found.objective
    assert found.objective <= 60 * np.log(classes) * (1 + 1e-12)
    assert np.isfinite(found.scores).all()
    assert (found.residuals != 0).all()


def test_steps_never_raise_the_value():
    problem = draw(alpha=1e-4, classes=4)
    values = [minimise(problem, NewtonSettings(1e-14, steps)).objective for steps in range(1, 12)]
    assert all(after <= before * (1 + 1e-12) for before, after in pairwise(values))


def test_a_tolerance_below_rounding_ends_with_a_reason():
    found = minimise(draw(), NewtonSettings(1e-30, 1000))
    assert not found.converged
    assert "Rounding lets nothing fall below a gradient of" in found.reason
    assert found.steps < 100
    assert found.slope < 1e-12


def test_features_that_are_not_there_leave_the_frequencies():
    likelihood = Likelihood(np.array([0, 0, 1, 2]), 3, np.array([1.0, 1.0, 1.0, 3.0]))
    found = minimise(LogisticObjective(np.zeros((4, 0)), likelihood, 1.0, Spectral(np.zeros(0))), NewtonSettings())
    assert found.converged
    np.testing.assert_allclose(np.exp(log_probabilities(found.scores))[0], [1 / 3, 1 / 6, 1 / 2], rtol=1e-12)


class Impatient(Run):
    """A run that stops at a given word."""

    def __init__(self, words):
        self.left = words

    def tell(self, done):
        assert 0 <= done <= 1
        self.left -= 1
        if self.left < 0:
            raise Stopped("the time is over")


@pytest.mark.parametrize("words", [0, 1, 7])
def test_a_search_that_is_stopped_has_a_model_and_a_certificate(words):
    problem = draw(n=300, p=20, classes=4, alpha=1e-4)
    found = minimise(problem, NewtonSettings(1e-12), run=Impatient(words))
    assert not found.converged
    assert found.reason.startswith("The time is over, at a gradient of")
    assert found.gap >= found.objective - minimise(problem, NewtonSettings(1e-10)).objective


# -- where it begins ------------------------------------------------------------------------------------------------


def test_a_function_is_imitated_by_its_scores():
    problem = draw()
    unknowns = np.random.default_rng(2).normal(size=(5, 3))
    np.testing.assert_allclose(problem.imitate(problem.scores(unknowns)), unknowns, rtol=1e-9)


def test_a_start_at_the_solution_takes_no_step_and_a_bad_one_is_not_taken():
    problem = draw()
    found = minimise(problem, NewtonSettings(1e-8))
    unknowns = np.vstack([found.weights, found.intercepts])
    assert minimise(problem, NewtonSettings(1e-6), unknowns).steps == 0
    bad = minimise(problem, NewtonSettings(1e-8), 1e6 * unknowns)
    assert bad.steps == found.steps
    np.testing.assert_array_equal(bad.weights, found.weights)
