"""What is said of a solution, where the truth is known."""

from dataclasses import replace

import numpy as np
import pytest
from streamed_requests import asked, basis_of, draw

from mercer.compute.runtime.run import IDLE
from mercer.learners.ridge.refinement import Solution, Summed, as_if_checked, residual_of, roundings_of, step_of
from mercer.learners.ridge.residual_pass import Trial, check
from mercer.learners.ridge.sampled_loo import drawn
from mercer.learners.streaming.moments import Moments, Normal
from mercer.lifts import Polynomial, RandomFourier
from mercer.planner.ridge.streaming import TRIED
from mercer.solvers.ridge.perturbation import mean_size

ALPHAS = np.array([0.1, 3.0])


def posed(lift=None):
    X, Y = draw(300)
    basis = basis_of((lift or RandomFourier("gaussian(2)", 20, random_state=0)).fit(X), X)
    request = asked(basis, X, Y, alpha=list(ALPHAS))
    moments = Moments(basis, 2, True)
    for piece in request.stream.pieces(100):
        moments.add(piece)
    normal = Normal.of(moments, True)
    sample = drawn(request.stream, 300, TRIED, np.random.default_rng(0))
    return Summed(request.problem, request.stream, basis, 100, basis, normal, Trial.of(normal, basis, sample), "")


def checked(problem, w):
    found = check(problem.rows, problem.basis, problem.normal, problem.trial, w, problem.batch, IDLE)
    return Solution(ALPHAS, w, checked=replace(found, gradient=found.gradient - ALPHAS * w))


def test_a_step_leads_from_anywhere_to_the_solution():
    problem = posed()
    exact = problem.normal.spectrum.solve(problem.normal.right, ALPHAS)
    away = checked(problem, exact + np.random.default_rng(0).normal(size=exact.shape))
    assert away.w + step_of(problem, away) == pytest.approx(exact, rel=1e-9, abs=1e-9)
    assert residual_of(problem, away) > 1e-3
    assert residual_of(problem, checked(problem, exact)) < 1e-12
    assert not step_of(problem, Solution(ALPHAS, exact)).any()


def test_an_error_of_the_solution_is_in_the_roundings():
    problem = posed()
    exact = problem.normal.spectrum.solve(problem.normal.right, ALPHAS)
    error = 1e-4 * np.random.default_rng(0).normal(size=exact.shape)
    true = np.max(
        [mean_size(table) for table in problem.trial.predict(error, error)] / problem.predicted(exact), axis=0
    )
    told = roundings_of(problem, checked(problem, exact + error))
    assert (true <= told).all()
    assert (told <= 100 * true).all()


def test_what_a_check_will_find_is_known_from_the_sums():
    problem = posed()
    w = problem.normal.spectrum.solve(problem.normal.right, ALPHAS)
    guess, found = as_if_checked(problem, Solution(ALPHAS, w)), checked(problem, w)
    assert guess.checked.squares == pytest.approx(found.checked.squares, rel=1e-9)
    assert guess.checked.products == pytest.approx(found.checked.products, rel=1e-9)
    assert roundings_of(problem, guess) == pytest.approx(roundings_of(problem, found), rel=0.9)


def test_a_singular_system_admits_everything():
    problem = posed(Polynomial(1))
    zero = replace(problem.normal.spectrum, values=np.zeros_like(problem.normal.spectrum.values))
    flat = replace(problem, normal=replace(problem.normal, spectrum=zero))
    assert np.isinf(roundings_of(flat, Solution(np.zeros(2), np.zeros_like(problem.normal.right)))).all()
