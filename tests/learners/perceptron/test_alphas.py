"""The lectures' alphas, row by row: against the algorithm as lecture 001 writes it."""

import numpy as np
import pytest

import mercer
from mercer import KernelPerceptron, Perceptron
from mercer.lifts import Polynomial

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
SIGNS = np.where(X[:, 0] ** 2 + 2 * X[:, 1] ** 2 + 0.4 * RNG.normal(size=60) < 1.5, -1, 1)
Y = np.where(SIGNS == 1, "outside", "inside")
K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / 2)


def lecture(K, y, T):
    """Initialise alpha to 0; T times for each i: on y_i sum_j alpha_j y_j K(x_j, x_i) <= 0, alpha_i += 1."""
    alpha, every = np.zeros(len(y)), []
    for _ in range(T):
        for i in range(len(y)):
            if y[i] * sum(alpha[j] * y[j] * K[j, i] for j in np.flatnonzero(alpha)) <= 0:
                alpha[i] += 1
            every.append(alpha.copy())
    return alpha, np.mean(every, axis=0)


@pytest.mark.parametrize("T", [1, 2, 3, 7])
def test_the_alphas_after_so_many_passes(T):
    model = KernelPerceptron("gaussian(1)", max_iter=T).fit(X, Y)
    alpha, _ = lecture(K, SIGNS, T)
    np.testing.assert_array_equal(model.alpha_, alpha)
    np.testing.assert_array_equal(model.mistakes_, alpha)
    assert model.mistakes_.dtype == np.intp
    assert model.mistakes_.sum() == model.history_.sum()


def test_averaged_alphas_are_means_on_the_way():
    model = KernelPerceptron("gaussian(1)", max_iter=3, combine="averaged").fit(X, Y)
    alpha, mean = lecture(K, SIGNS, 3)
    passes = len(model.history_)
    assert passes == 3
    np.testing.assert_allclose(model.alpha_, mean, rtol=1e-12)
    np.testing.assert_array_equal(model.mistakes_, alpha)
    np.testing.assert_allclose(model.decision_function(X), (mean * SIGNS) @ K, rtol=1e-9, atol=1e-12)


def test_theta_is_the_sum_of_alpha_y_phi():
    phi = mercer.lift("polynomial(degree=2)", 2).transform(X)
    kernel = KernelPerceptron("polynomial(degree=2)", max_iter=5).fit(X, Y)
    lifted = Perceptron(Polynomial(2), fit_intercept=False, max_iter=5).fit(X, Y)
    for model in (kernel, lifted):
        np.testing.assert_allclose(model.coef_, (model.alpha_ * SIGNS) @ phi, rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(kernel.alpha_, lifted.alpha_)


def test_rows_of_a_stream_are_counted_from_the_first_on():
    whole = KernelPerceptron("gaussian(1)", max_iter=1).fit(X, Y)
    stream = KernelPerceptron("gaussian(1)")
    for start in (0, 20, 40):
        stream.partial_fit(X[start : start + 20], Y[start : start + 20], classes=["inside", "outside"])
    np.testing.assert_array_equal(stream.alpha_, whole.alpha_)
    assert len(stream.mistakes_) == 60


def test_mistakes_of_three_classes_are_counted():
    labels = np.digitize(X[:, 0], [-0.5, 0.5])
    model = KernelPerceptron("gaussian(1)", max_iter=2).fit(X, labels)
    moved = np.zeros((60, 3))
    moved[model.support_] = model.dual_coef_
    own = moved[np.arange(60), labels]
    np.testing.assert_array_equal(model.mistakes_, own)  # each mistake adds 1 to its own class
    with pytest.raises(AttributeError, match="alpha_: with more than two classes a mistake moves two functions"):
        _ = model.alpha_


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"combine": "voted"}, "alpha_: a vote is not one function; dual_coef_ has"),
        ({"budget": 5}, "alpha_: on a budget coefficients are no counts"),
        ({"budget": 5, "strategy": "projectron"}, "alpha_: on a budget coefficients are no counts"),
    ],
)
def test_what_has_no_alphas_says_why(settings, words):
    model = KernelPerceptron("gaussian(1)", **settings).fit(X, Y)
    with pytest.raises(AttributeError, match=words):
        _ = model.alpha_
    if "budget" in settings:
        with pytest.raises(AttributeError, match="mistakes_: a budget keeps no record of rows; history_ has"):
            _ = model.mistakes_
    assert not hasattr(KernelPerceptron(), "alpha_")


def test_rows_that_were_no_mistakes_have_zero():
    model = KernelPerceptron("linear").fit([[1.0], [2.0], [-1.0], [-2.0]], [1, 1, 0, 0])
    assert model.alpha_.tolist() == [1.0, 0.0, 0.0, 0.0]
    assert model.support_.tolist() == [0]


def test_alphas_come_back_from_a_file(tmp_path):
    model = KernelPerceptron("gaussian(1)", max_iter=3).fit(X, Y)
    mercer.save(model, tmp_path / "model.mercer")
    again = mercer.load(tmp_path / "model.mercer")
    np.testing.assert_array_equal(again.alpha_, model.alpha_)
    np.testing.assert_array_equal(again.mistakes_, model.mistakes_)
