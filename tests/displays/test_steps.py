"""The steps of perceptrons and of gradient descents."""

import numpy as np
import pytest
from planes import CIRCLES, SIDES, Slope, blobs, corners, offsets
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import KernelPerceptron, KernelRidge, Perceptron
from mercer.displays import DescentDisplay, StepsDisplay
from mercer.errors import InputError, NumericalWarning
from mercer.solvers import GradientDescent

figures = pytest.importorskip("matplotlib.figure")


def walked(K, signs, most=100):
    """The perceptron of the lectures: the coefficients after each mistake, and who was misclassified."""
    alpha, seen, rows = np.zeros(len(signs)), [], []
    for _ in range(most):
        before = len(rows)
        for i, sign in enumerate(signs):
            if sign * (K[i] @ alpha) <= 0:
                alpha = alpha + sign * np.eye(len(signs))[i]
                seen.append(alpha)
                rows.append(i)
        if len(rows) == before:
            return np.array(seen), rows
    return np.array(seen), rows


# -- perceptrons ------------------------------------------------------------------------------------------------------


def test_boundaries_are_those_of_the_sequential_algorithm():
    X, y = blobs(seed=3, count=40)
    X = X - np.array([1.5, 0.0])  # a line through the middle has to be found
    model = Perceptron(max_iter=100).fit(X, y)
    drawn = StepsDisplay.from_estimator(model, X, y, grid=30)
    seen, rows = walked(X @ X.T + 1, np.where(y == "right", 1.0, -1.0))
    assert drawn.misclassified.tolist() == rows
    assert drawn.mistakes[-1] == len(rows)
    for mark, contours in zip(drawn.mistakes, drawn.boundaries_, strict=True):
        theta = seen[mark - 1] @ np.column_stack([X, np.ones(40)])
        if contours is not None:
            points = corners(contours, 0)
            np.testing.assert_allclose(np.column_stack([points, np.ones(len(points))]) @ theta, 0, atol=1e-8)
    np.testing.assert_allclose(theta, np.append(model.coef_, model.intercept_), rtol=1e-9)


def test_the_last_boundary_of_a_kernel_perceptron_is_that_of_the_model():
    model = KernelPerceptron("gaussian(1)", max_iter=50).fit(CIRCLES, SIDES)
    drawn = StepsDisplay.from_estimator(model, CIRCLES, SIDES, grid=60)
    places = np.array([(x, y) for y in drawn.up for x in drawn.across])
    np.testing.assert_allclose(drawn.scores[-1].ravel(), model.decision_function(places), atol=1e-9)
    K = np.exp(-((CIRCLES[:, None] - CIRCLES) ** 2).sum(axis=2) / 2)
    assert drawn.misclassified.tolist() == walked(K, np.where(SIDES == "outer", 1.0, -1.0))[1]


def test_mistaken_rows_are_ringed_once_and_counted():
    model = KernelPerceptron("gaussian(1)", max_iter=50, shuffle=True, random_state=0).fit(CIRCLES, SIDES)
    drawn = StepsDisplay.from_estimator(model, CIRCLES, SIDES, grid=20)
    np.testing.assert_array_equal(offsets(drawn.misclassified_), CIRCLES[model.support_])
    often = np.abs(model.dual_coef_)
    sizes = drawn.misclassified_.get_sizes()
    assert (np.sign(np.subtract.outer(often, often)) == np.sign(np.subtract.outer(sizes, sizes))).all()


def test_many_mistakes_are_drawn_as_twelve():
    X, y = blobs(seed=1, count=80)
    noisy = np.where(np.random.default_rng(0).random(80) < 0.2, y[::-1], y)
    model = Perceptron(max_iter=5).fit(X, noisy)
    drawn = StepsDisplay.from_estimator(model, X, noisy, grid=10)
    assert model.history_.sum() > 12
    assert len(drawn.boundaries_) == len(drawn.mistakes) == 12
    assert (drawn.mistakes[0], drawn.mistakes[-1]) == (1, model.history_.sum())


def test_one_mistake(tmp_path):
    drawn = StepsDisplay.from_estimator(
        Perceptron().fit([[1.0, 0], [-1, 0]], [1, 0]), [[1.0, 0], [-1, 0]], [1, 0], grid=5
    )
    drawn.figure_.savefig(tmp_path / "one.png")
    assert len(drawn.boundaries_) == drawn.mistakes[-1]


def test_a_pipeline_is_drawn_in_the_columns_that_came_in():
    X, y = blobs()
    model = make_pipeline(StandardScaler(), KernelPerceptron("gaussian(1)")).fit(X, y)
    drawn = StepsDisplay.from_estimator(model, X, y, grid=12)
    places = np.array([(one, two) for two in drawn.up for one in drawn.across])
    np.testing.assert_allclose(drawn.scores[-1].ravel(), model.decision_function(places), atol=1e-9)


def test_frames():
    frames = pytest.importorskip("pandas")
    X, y = blobs()
    table = frames.DataFrame(X, columns=["width", "height"])
    drawn = StepsDisplay.from_estimator(Perceptron().fit(table, y), table, y, grid=5)
    assert (drawn.ax_.get_xlabel(), drawn.ax_.get_ylabel()) == ("width", "height")


def test_perceptrons_that_cannot_be_drawn():
    X, y = blobs()
    cases = [
        (Perceptron().fit(X, np.arange(60) % 3), r"two classes; got 3"),
        (
            KernelPerceptron("gaussian(1)", budget=5).fit(X, y),
            r"remembers its mistakes; it had a budget, and forgot them",
        ),
        (Perceptron(), r"Perceptron has none\. Fit the model first"),
        (Slope(), r"StepsDisplay needs a perceptron; got Slope\. Use Perceptron"),
    ]
    for model, message in cases:
        with pytest.raises(InputError, match=message):
            StepsDisplay.from_estimator(model, X, y, grid=5)
    fitted = Perceptron().fit(X, y)
    with pytest.raises(InputError, match=r"rows of two columns"):
        StepsDisplay.from_estimator(fitted, np.ones((3, 3)), y)
    last = StepsDisplay.from_estimator(fitted, X, y, grid=5)
    last.misclassified = [60]
    with pytest.raises(InputError, match=r"needs the rows of the fit; got 60 rows"):
        last.plot()
    last.misclassified, last.scores = [], last.scores[:0]
    with pytest.raises(InputError, match=r"the scores of one step or more; got 0 for"):
        last.plot()


# -- gradient descent -------------------------------------------------------------------------------------------------


X = np.random.default_rng(0).uniform(0, 6, size=(40, 1))
Y = np.sin(X[:, 0])
K = np.exp(-((X - X.T) ** 2) / 2)


@pytest.fixture(scope="module")
def descended():
    solver = GradientDescent(step=0.025, max_iter=25)
    with pytest.warns(NumericalWarning, match="use a larger max_iter"):
        return KernelRidge("gaussian(1)", alpha=0.5, fit_intercept=False, solver=solver).fit(X, Y)


def path():
    """a <- a - step * 2 (K a + alpha a - y), from zero."""
    found = [np.zeros(40)]
    for _ in range(25):
        found.append(found[-1] - 0.025 * 2 * (K @ found[-1] + 0.5 * found[-1] - Y))
    return np.array(found)


def test_the_path_of_two_coefficients(descended):
    drawn = DescentDisplay.from_estimator(descended, pair=(3, 7))
    np.testing.assert_allclose(drawn.path_[0].get_xdata(), path()[:, 3], atol=1e-12)
    np.testing.assert_allclose(drawn.path_[0].get_ydata(), path()[:, 7], atol=1e-12)
    np.testing.assert_allclose(offsets(drawn.ends_), path()[[0, -1]][:, [3, 7]], atol=1e-12)
    assert (drawn.path_ax_.get_xlabel(), drawn.path_ax_.get_ylabel()) == ("coefficient 3", "coefficient 7")


def test_the_loss_of_each_step(descended):
    a = path()
    losses = np.square(Y - a @ K).sum(axis=1) + 0.5 * np.einsum("ti,ij,tj->t", a, K, a)
    drawn = DescentDisplay.from_estimator(descended)
    found = drawn.loss_.get_ydata()
    np.testing.assert_allclose(found, losses, rtol=1e-9)
    assert drawn.loss_.get_xdata().tolist() == list(range(26))


def test_the_coefficients_that_moved_the_most(descended):
    drawn = DescentDisplay.from_estimator(descended)
    moved = np.abs(np.diff(path(), axis=0)).sum(axis=0)
    assert set(drawn.shown_) == set(np.argsort(-moved)[:30])
    assert len(drawn.path_) == 30
    np.testing.assert_allclose(drawn.path_[4].get_ydata(), path()[:, drawn.shown_[4]], atol=1e-12)
    assert drawn.path_ax_.get_ylabel() == "30 of 40 coefficients"


def test_one_axes_gets_the_loss(descended):
    ax = figures.Figure().add_subplot()
    drawn = DescentDisplay.from_estimator(descended, ax=ax)
    assert drawn.ax_ is ax
    assert drawn.path_ax_ is drawn.shown_ is None
    assert len(ax.lines) == 1


def test_many_steps_have_a_scale_of_logarithms():
    drawn = DescentDisplay(np.linspace(9, 1, 100), np.zeros((100, 2))).plot()
    assert drawn.ax_.get_xscale() == drawn.path_ax_.get_xscale() == "symlog"


@pytest.mark.parametrize("kept", [True, False])
def test_descents_that_cannot_be_drawn(kept, descended):
    model = KernelRidge("gaussian(1)", alpha=0.5)
    if not kept:
        model.set_params(solver=GradientDescent(keep=False))
    with pytest.raises(
        InputError, match=r"needs the coefficients of every step; KernelRidge has none\. Use KernelRidge"
    ):
        DescentDisplay.from_estimator(model.fit(X, Y))
    with pytest.raises(InputError, match=r"an output from 0 to 0; got 1"):
        DescentDisplay.from_estimator(descended, output=1)
    with pytest.raises(InputError, match=r"a pair of coefficients from 0 to 39; got \(0, 40\)"):
        DescentDisplay.from_estimator(descended, pair=(0, 40))
    with pytest.raises(InputError, match=r"KernelRidge has none\. Fit the model first"):
        DescentDisplay.from_estimator(KernelRidge())


@pytest.mark.parametrize(
    ("losses", "coefficients", "message"),
    [
        ([1.0], [[1.0], [2.0]], r"a loss and coefficients for each step; got \(1,\) and \(2, 1\)"),
        ([], np.zeros((0, 1)), r"a loss and coefficients for each step"),
        ([np.nan], [[1.0]], r"finite numbers; got NaN or infinity"),
    ],
    ids=["shapes", "none", "NaN"],
)
def test_numbers_that_cannot_be_drawn(losses, coefficients, message):
    with pytest.raises(InputError, match=message):
        DescentDisplay(losses, coefficients).plot()
