"""Histories of fits, written or run."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import KernelKMeans, KernelLogisticRegression, KernelPCA, KernelPerceptron, KernelRidge, KernelSVC
from mercer.displays import HistoryDisplay
from mercer.errors import InputError, NumericalWarning
from mercer.solvers import ConjugateGradient, GradientDescent

figures = pytest.importorskip("matplotlib.figure")
RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
Y = X[:, 0] + X[:, 1] ** 2
SIGNS = np.where(Y > 0.5, "above", "below")


def test_mistakes_of_each_pass():
    model = KernelPerceptron("gaussian(1)", max_iter=30).fit(X, SIGNS)
    drawn = HistoryDisplay.from_estimator(model)
    np.testing.assert_array_equal(drawn.lines_[0].get_ydata(), model.history_)
    assert drawn.lines_[0].get_xdata().tolist() == list(range(1, len(model.history_) + 1))
    assert (drawn.ax_.get_xlabel(), drawn.ax_.get_ylabel()) == ("pass", "mistakes")
    assert drawn.legend_ is drawn.best_ is None


def test_inertia_of_each_step():
    model = KernelKMeans(4, kernel="gaussian(1)", random_state=0).fit(X)
    drawn = HistoryDisplay.from_estimator(model)
    assert drawn.lines_[0].get_ydata()[-1] == model.inertia_
    assert (drawn.ax_.get_xlabel(), drawn.ax_.get_ylabel()) == ("step", "inertia")


def test_losses_of_a_descent():
    model = KernelRidge("gaussian(1)", alpha=0.5, fit_intercept=False, solver=GradientDescent(max_iter=2000)).fit(X, Y)
    losses = HistoryDisplay.from_estimator(model).lines_[0].get_ydata()
    K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / 2)
    a = np.linalg.solve(K + 0.5 * np.eye(60), Y)
    least = np.sum((Y - K @ a) ** 2) + 0.5 * a @ K @ a
    assert losses[0] == pytest.approx(np.sum(Y**2))
    assert losses[-1] == pytest.approx(least, rel=1e-6)


def test_held_out_losses_and_the_step_that_was_kept():
    solver = GradientDescent(max_iter=500, validation=0.25, patience=5)
    model = KernelRidge("gaussian(0.3)", alpha=1e-3, solver=solver, random_state=0).fit(X, Y + RNG.normal(size=60))
    drawn = HistoryDisplay.from_estimator(model)
    held = drawn.lines_[1].get_ydata()
    assert drawn.best_.get_xdata()[0] == np.argmin(held)
    shown = [text.get_text() for text in drawn.legend_.get_texts()]
    assert shown == ["loss", "loss of held-out rows", f"kept: {np.argmin(held)}"]


def test_residuals_of_conjugate_gradients_are_those_of_their_steps():
    model = KernelRidge("gaussian(1)", alpha=0.1, solver=ConjugateGradient(preconditioner_rank=0, tol=1e-10))
    drawn = HistoryDisplay.from_runs(model, X, Y, iterations=range(1, 41))
    left = drawn.lines_[0].get_ydata()
    assert drawn.ax_.get_ylabel() == "relative residual"
    stopped = KernelRidge(
        "gaussian(1)", alpha=0.1, solver=ConjugateGradient(preconditioner_rank=0, tol=1e-10, max_iter=5)
    )
    with pytest.warns(NumericalWarning, match="use a larger max_iter"):
        stopped.fit(X, Y)
    assert left[4] == pytest.approx(stopped.residual_, rel=1e-9)
    assert left[-1] < 1e-8 < left[0]
    assert drawn.ax_.get_yscale() == "log"


@pytest.mark.parametrize(
    ("model", "measure"),
    [(KernelSVC("gaussian(1)"), "relative duality gap"), (KernelLogisticRegression("gaussian(1)"), "duality gap")],
    ids=["svc", "logistic"],
)
def test_gaps_fall(model, measure):
    drawn = HistoryDisplay.from_runs(model, X, SIGNS, iterations=(1, 4, 16, 256))
    left = drawn.lines_[0].get_ydata()
    assert left[-1] < left[0]
    assert drawn.ax_.get_ylabel() == measure
    assert drawn.ax_.get_xscale() == "log"
    assert not hasattr(model, "classes_")  # it was copied


def test_a_pipeline_is_run_by_its_last_step():
    model = make_pipeline(StandardScaler(), KernelSVC("gaussian(1)"))
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    alone = HistoryDisplay.from_runs(KernelSVC("gaussian(1)"), scaled, SIGNS, iterations=(2, 8))
    np.testing.assert_allclose(
        HistoryDisplay.from_runs(model, X, SIGNS, iterations=(2, 8)).values, alone.values, rtol=1e-6
    )


def test_seconds():
    model = KernelRidge("gaussian(1)", alpha=0.1, solver=ConjugateGradient(random_state=0))
    drawn = HistoryDisplay.from_runs(model, X, Y, iterations=(1, 2), unit="second")
    assert (drawn.lines_[0].get_xdata() > 0).all()
    assert drawn.ax_.get_xlabel() == "second"


@pytest.mark.parametrize("model", [KernelRidge(alpha=0.1), KernelPCA(n_components=2)], ids=["ridge", "pca"])
def test_models_without_a_history(model):
    message = r"HistoryDisplay needs a model that has written a history; Kernel\w+ has none\. KernelKMeans, perceptrons"
    with pytest.raises(InputError, match=message):
        HistoryDisplay.from_estimator(model.fit(X, Y))


def test_what_cannot_be_run():
    with pytest.raises(InputError, match=r"KernelRidge has none\. Fit the model first\."):
        HistoryDisplay.from_estimator(KernelRidge())
    with pytest.raises(InputError, match=r"a learner or a solver with max_iter; LinearRegression has none"):
        HistoryDisplay.from_runs(LinearRegression(), X, Y)
    with pytest.raises(InputError, match=r"tells how far it is from its end; KernelPerceptron has neither"):
        HistoryDisplay.from_runs(KernelPerceptron(), X, SIGNS, iterations=(1,))
    with pytest.raises(InputError, match=r"positive integers for iterations; got \(0, 1\)"):
        HistoryDisplay.from_runs(KernelSVC(), X, SIGNS, iterations=(0, 1))
    with pytest.raises(InputError, match=r"unit \"step\" or \"second\"; got 'hour'"):
        HistoryDisplay.from_runs(KernelSVC(), X, SIGNS, unit="hour")


@pytest.mark.parametrize(
    ("steps", "values", "message"),
    [
        ([1, 2], [[1.0]], r"a value for each step and line, and a name per line; got \(2,\), \(1, 1\) and 1 names"),
        ([1], [[1.0, 2.0]], r"a value for each step and line, and a name per line"),
        ([], np.zeros((0, 1)), r"a value for each step and line, and a name per line"),
        ([1], [[np.inf]], r"finite numbers; got NaN or infinity"),
    ],
    ids=["shapes", "names", "none", "infinite"],
)
def test_numbers_that_cannot_be_drawn(steps, values, message):
    with pytest.raises(InputError, match=message):
        HistoryDisplay(steps, values).plot()


def test_one_step_and_constant_values(tmp_path):
    HistoryDisplay([1], [[0.0]]).plot().figure_.savefig(tmp_path / "one.png")
    HistoryDisplay([1, 2, 3], [[5.0]] * 3).plot().figure_.savefig(tmp_path / "constant.png")
