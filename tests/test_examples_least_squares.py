"""What the examples about least squares conclude, against least squares by NumPy alone."""

import math
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
POLYNOMIALS = runpy.run_path(str(ROOT / "examples" / "least_squares.py"))
AAPL = runpy.run_path(str(ROOT / "examples" / "aapl.py"))
SCRIPTS = {"least_squares.py": POLYNOMIALS, "aapl.py": AAPL}


def ridge(features, y, alpha, at):
    """Least squares with rows sqrt(alpha) I below the features, and a free column of ones; predictions elsewhere."""
    n, p = features.shape
    upper = np.column_stack([np.ones(n), features])
    lower = np.column_stack([np.zeros(p), math.sqrt(alpha) * np.eye(p)])
    weights = np.linalg.lstsq(np.vstack([upper, lower]), np.concatenate([y, np.zeros(p)]), rcond=None)[0]
    return weights[0] + at @ weights[1:]


def kernel_ridge(K, y, alpha, across):
    """The dual with a multiplier for the condition that the coefficients sum to zero: the intercept."""
    n = len(y)
    bordered = np.block([[K + alpha * np.eye(n), np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
    found = np.linalg.solve(bordered, np.append(y, 0.0))
    return across @ found[:n] + found[n]


def left_out(fit, rows, y):
    """The error on each row of a model that was fitted again without it."""
    others = ~np.eye(len(y), dtype=bool)
    return np.array([y[i] - fit(rows, others[i], i) for i in range(len(y))])


# -- exp(1.5 x - 1) + noise ----------------------------------------------------------------------------------------


def powers(x, order):
    """The polynomial lift, weighted for (1 + x z)^order, without the constant, which the intercept makes idle."""
    return np.column_stack([math.sqrt(math.comb(order, k)) * x**k for k in range(1, order + 1)])


def without_row(order, alpha):
    def fit(X, others, i):
        features = powers(X[:, 0], order)
        return ridge(features[others], y[others], alpha, features[i])

    y = POLYNOMIALS["points"]()[1]
    return fit


@pytest.mark.parametrize("order", POLYNOMIALS["ORDERS"])
def test_both_sides_are_the_least_squares_fit(order):
    X, y = POLYNOMIALS["points"]()
    grid, alpha = POLYNOMIALS["GRID"], POLYNOMIALS["ALPHA"]
    expected = ridge(powers(X[:, 0], order), y, alpha, powers(grid[:, 0], order))
    primal = POLYNOMIALS["primal"](order, alpha, X, y)
    dual, predicted = POLYNOMIALS["dual"](order, alpha, X, y)
    assert (primal.plan_.details.side, dual.plan_.details.side) == ("primal", "dual")
    np.testing.assert_allclose(primal.predict(grid), expected, rtol=0, atol=1e-10)
    np.testing.assert_allclose(predicted, expected, rtol=0, atol=1e-7)  # what the example prints: 3e-9 for order 6


def test_the_points_are_the_lectures():
    X, y = POLYNOMIALS["points"]()
    assert X.shape == (100, 1)
    assert np.abs(X).max() <= 2
    noise = y - np.exp(1.5 * X[:, 0] - 1)
    assert np.mean(noise**2) == pytest.approx(0.64, rel=4 * math.sqrt(2 / 100))  # four standard deviations
    assert abs(noise.mean()) < 4 * 0.8 / 10


@pytest.mark.parametrize("order", [1, 6])
def test_errors_of_a_polynomial(order):
    X, y = POLYNOMIALS["points"]()
    found = POLYNOMIALS["errors"](POLYNOMIALS["primal"](order, 0.01, X, y), X, y)
    again = left_out(without_row(order, 0.01), X, y)
    assert found.left_out == pytest.approx(np.sqrt(np.mean(again**2)), rel=1e-9)
    features, grid = powers(X[:, 0], order), POLYNOMIALS["GRID"][:, 0]
    assert found.fitted == pytest.approx(np.sqrt(np.mean((y - ridge(features, y, 0.01, features)) ** 2)), rel=1e-9)
    truth = np.exp(1.5 * grid - 1) - ridge(features, y, 0.01, powers(grid, order))
    assert found.truth == pytest.approx(np.sqrt(np.mean(truth**2)), rel=1e-9)


def test_the_penalty_is_that_of_least_leave_one_out_error():
    X, y = POLYNOMIALS["points"]()
    model = POLYNOMIALS["primal"](4, "auto", X, y)
    errors = [np.mean(left_out(without_row(4, alpha), X, y) ** 2) for alpha in model.loo_.alphas]
    assert model.alpha_ == model.loo_.alphas[np.argmin(errors)]
    np.testing.assert_allclose(np.ravel(model.loo_.errors), errors, rtol=1e-8)


def test_gradient_descent_comes_to_the_solution():
    X, y = POLYNOMIALS["points"]()
    model, path = POLYNOMIALS["descended"](X, y)
    x, grid = X[:, 0], POLYNOMIALS["GRID"][:, 0]
    across = (1 + np.outer(grid, x)) ** 2
    expected = kernel_ridge((1 + np.outer(x, x)) ** 2, y, 1.0, across)
    assert model.converged_
    np.testing.assert_allclose(model.predict(across), expected, rtol=0, atol=1e-11)
    distances = [distance for _, distance in path]
    assert distances[0] > 1 > 1e-6 > distances[3] > 1e-10 > distances[4]  # after 1, 30 and 100 steps


# -- the stock prices ----------------------------------------------------------------------------------------------


def test_the_prices_are_those_of_the_lecture():
    days, close = AAPL["prices"]()
    assert len(days) == len(close) == 87
    assert (str(days[0]), close[0], str(days[-1]), close[-1]) == ("2019-07-01", 201.55, "2019-10-31", 248.76)
    assert days == sorted(set(days))
    assert all(day.weekday() < 5 for day in days)


def test_the_prices_are_four_times_those_after_the_split():
    parquet = pytest.importorskip("pyarrow.parquet")
    file = ROOT / ".." / "shared" / "data" / "aapl_daily.parquet"
    if not file.exists():
        pytest.skip("the folder of real data is not here")
    table = parquet.read_table(file).to_pydict()
    adjusted = dict(zip(table["date"], table["close"], strict=True))
    days, close = AAPL["prices"]()
    np.testing.assert_allclose(close, [4 * adjusted[day] for day in days], rtol=0, atol=1e-5)
    assert [day for day in adjusted if days[0] <= day <= days[-1]] == days


def waves(order):
    def features(t):
        angles = np.pi * np.outer(t, np.arange(1, order + 1))  # the period is 2
        return np.column_stack([np.sin(angles), np.cos(angles)])

    return features


def bumps(t):
    return np.exp(-((t[:, None] - np.arange(7) / 6) ** 2) / (2 * 0.1**2))


def gaussian(lengthscale):
    return lambda r: np.exp(-(r**2) / (2 * lengthscale**2))


def matern(half, lengthscale):
    def profile(r):
        t = math.sqrt(2 * half) * r / lengthscale
        return (1 + t + (t**2 / 3 if half == 2.5 else 0)) * np.exp(-t)

    return profile


FEATURES = {"waves, order 2": waves(2), "waves, order 4": waves(4), "7 bumps": bumps}
PROFILES = {"Gaussian, lengthscale 0.2099": gaussian(0.2099), "Gaussian, lengthscale 0.1050": gaussian(0.105)}


@pytest.fixture(scope="module")
def fitted():
    days, close = AAPL["prices"]()
    X = AAPL["time_of"](days)
    return X[:, 0], close, AAPL["fitted"](X, close)


def by_hand(name, model):
    """The same prediction from times and prices, as a function of both and of other times."""
    if name in FEATURES:
        return lambda t, y, at: ridge(FEATURES[name](t), y, 0.0, FEATURES[name](at))
    if name in PROFILES:
        profile, alpha = PROFILES[name], 0.01
    else:
        lengthscale, alpha = float(model.kernel_.lengthscale), model.alpha_
        nu = {"Matern 3/2, both chosen": 1.5, "no argument": 2.5}
        profile = matern(nu[name], lengthscale) if name in nu else gaussian(lengthscale)
    return lambda t, y, at: kernel_ridge(profile(np.abs(t[:, None] - t)), y, alpha, profile(np.abs(at[:, None] - t)))


@pytest.mark.parametrize("name", AAPL["MODELS"])
def test_models_of_prices(fitted, name):
    t, close, models = fitted
    predict, grid = by_hand(name, models[name]), np.linspace(0, 1, 50)
    found = models[name].predict(grid[:, None])
    np.testing.assert_allclose(found, predict(t, close, grid), rtol=1e-8)
    again = left_out(lambda t, others, i: predict(t[others], close[others], t[i : i + 1])[0], t, close)
    rounding = 20 * np.finfo(float).eps * models[name].condition_ * close.max()
    np.testing.assert_allclose(AAPL["left_out"](models[name], t[:, None], close), again, rtol=0, atol=rounding)


def test_both_chosen_are_the_best_of_the_grid(fitted):
    """Seven lengthscales from a sixteenth of the median distance on, and penalties of every size."""
    t, close, models = fitted
    model, distances = models["Gaussian, both chosen"], np.abs(t[:, None] - t)
    median = np.median(distances[np.triu_indices(len(t), 1)])
    best = np.mean(AAPL["left_out"](model, t[:, None], close) ** 2)
    assert min(abs(math.log2(float(model.kernel_.lengthscale) / median) - k) for k in range(-4, 3)) < 1e-12
    for factor in 2.0 ** np.arange(-4, 3):
        for alpha in 10.0 ** np.arange(-6, 1, 2):
            error = leave_one_out(gaussian(factor * median)(distances), close, alpha)
            assert best <= 1.01 * error, (factor, alpha)  # the chosen one stands on a grid of its own


def leave_one_out(K, y, alpha):
    """The error by the hat matrix H, which is the same fit of every unit vector: (y - H y) / (1 - H_ii)."""
    H = kernel_ridge_many(K, np.eye(len(y)), alpha)
    return np.mean(((y - H @ y) / (1 - np.diag(H))) ** 2)


def kernel_ridge_many(K, Y, alpha):
    center = np.eye(len(K)) - 1 / len(K)
    centred = center @ K @ center
    return Y.mean(axis=0) + centred @ np.linalg.solve(centred + alpha * np.eye(len(K)), center @ Y)


# -- the scripts ---------------------------------------------------------------------------------------------------


def test_the_polynomials_are_reported(capsys):
    POLYNOMIALS["main"]()
    shown = capsys.readouterr().out
    assert (
        "order  on the points  left out  against g  primal - dual\n    1          1.229     1.263      1.017" in shown
    )
    assert "direct, 3 features, Cholesky" in shown
    assert "The residual fell to the tolerance of 1.0e-10" in shown


def test_the_prices_are_reported(capsys):
    AAPL["main"]()
    shown = capsys.readouterr().out
    assert "87 days from 2019-07-01 (201.55) to 2019-10-31 (248.76)." in shown
    assert "waves, order 4                       9.0         3.29      3.62\n" in shown
    assert "Gaussian, lengthscale 0.2099         8.0         3.32      3.61\n" in shown


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_picture_without_matplotlib(script, monkeypatch, tmp_path, capsys):
    for module in ("matplotlib", "matplotlib.figure"):
        monkeypatch.setitem(sys.modules, module, None)
    message = r'--picture needs matplotlib; it is not installed\. Install it with: pip install "mercer\[examples\]"\.'
    with pytest.raises(SystemExit, match=message):
        SCRIPTS[script]["main"](["--picture", str(tmp_path / "picture.png")])
    assert capsys.readouterr().out  # the report comes all the same
    assert not (tmp_path / "picture.png").exists()


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_picture(script, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    file = tmp_path / "picture.png"
    SCRIPTS[script]["main"](["--picture", str(file)])
    assert file.read_bytes().startswith(b"\x89PNG\r\n")
    assert f"The picture is in {file}." in capsys.readouterr().out
