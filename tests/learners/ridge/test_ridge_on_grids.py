"""`method="fourier_grid"`: equal to the exact model, with every option, within the error of its waves."""

import warnings

import numpy as np
import pytest

import mercer
from mercer import KernelRidge, KernelRidgeClassifier
from mercer import kernels as k
from mercer.errors import InputError, NumericalWarning
from mercer.learners.ridge import grids
from mercer.lifts import FourierGrid
from mercer.sources import Arrays, Batches

EXACTLY = "gaussian(0.25)", "gaussian(0.4)", "rational_quadratic(shape=6, lengthscale=0.5)"


def rows(seed, d, n=150, outputs=0, weights=False):
    random = np.random.default_rng(seed)
    X = random.uniform(0, 1, (n, d)) * random.uniform(0.5, 2, d)
    y = 3 + np.sin(4 * X[:, :1]) + X.sum(axis=1, keepdims=True) + 0.1 * random.standard_normal((n, max(outputs, 1)))
    s = random.integers(0, 4, n).astype(float) if weights else None
    return X, y if outputs else y[:, 0], s, random.uniform(X.min(axis=0), X.max(axis=0), (40, d))


def both(kernel, X, y, s=None, **given):
    grid = KernelRidge(kernel, method="fourier_grid", **given).fit(X, y, s)
    return grid, KernelRidge(kernel, method="exact", side="dual", **{**given, "alpha": grid.alpha_}).fit(X, y, s)


@pytest.mark.parametrize("seed", range(60))
def test_it_is_the_exact_model(seed):
    """Every option by turns: columns, kernels, outputs, weights, no intercept, one alpha or one per output."""
    random = np.random.default_rng(1000 + seed)
    d, outputs = int(random.integers(1, 3)), int(random.integers(0, 4))
    X, y, s, new = rows(seed, d, outputs=outputs, weights=bool(random.integers(2)))
    alpha = float(10 ** random.uniform(-2, 1))
    alpha = alpha * np.arange(1, outputs + 1) if outputs and random.integers(2) else alpha
    kernel = EXACTLY[int(random.integers(2 if d == 2 else 3))]
    grid, exact = both(kernel, X, y, s, alpha=alpha, fit_intercept=bool(random.integers(2)))
    assert grid.plan_.method == "fourier grid"
    error = 200 * grid.lift_.error_ * len(X) / np.min(alpha)
    mean, deviation = grid.predict(new, return_std=True)
    true, exact_deviation = exact.predict(new, return_std=True)
    np.testing.assert_allclose(mean, true, atol=error + 1e-8)
    np.testing.assert_allclose(deviation, exact_deviation, rtol=error + 1e-6)
    np.testing.assert_allclose(grid.noise_, exact.noise_, rtol=error + 1e-7)
    np.testing.assert_allclose(grid.leverage_, exact.leverage_, atol=error + 1e-8)
    np.testing.assert_allclose(grid.dual_coef_, exact.dual_coef_, atol=(error + 1e-7) / np.min(alpha))
    np.testing.assert_allclose(grid.degrees_of_freedom_, exact.degrees_of_freedom_, rtol=error + 1e-6)
    assert grid.converged_
    assert grid.residual_ < 1e-9


@pytest.mark.parametrize("seed", range(20))
def test_leave_one_out_errors_are_exact(seed):
    X, y, s, _ = rows(seed, 1 + seed % 2, outputs=2 * (seed % 3 == 0), weights=seed % 4 == 1)
    alphas = np.geomspace(1e-2, 10, 7)
    grid = KernelRidge("gaussian(0.3)", alpha=alphas, method="fourier_grid").fit(X, y, s)
    exact = KernelRidge("gaussian(0.3)", alpha=alphas, method="exact", side="dual").fit(X, y, s)
    if np.ndim(y) == 2 and len(alphas) == y.shape[1]:
        pytest.skip("one alpha per output")
    np.testing.assert_allclose(grid.loo_.errors, exact.loo_.errors, rtol=1e-4)
    np.testing.assert_allclose(grid.alpha_, exact.alpha_)


def test_left_out_rows_are_those_that_fits_without_them_miss():
    X, y, _, _ = rows(0, 1, n=40)
    found = KernelRidge("gaussian(0.3)", alpha=[0.1, 1.0], method="fourier_grid").fit(X, y).loo_
    for alpha, error in zip(found.alphas, found.errors[:, 0], strict=True):
        left = [
            y[i]
            - KernelRidge("gaussian(0.3)", alpha=alpha)
            .fit(np.delete(X, i, 0), np.delete(y, i))
            .predict(X[i : i + 1])[0]
            for i in range(len(X))
        ]
        assert error == pytest.approx(np.mean(np.square(left)), rel=1e-5)


def test_auto_finds_what_the_exact_path_finds():
    X, y, _, new = rows(3, 2, n=400)
    grid = KernelRidge("gaussian(0.3)", method="fourier_grid").fit(X, y)
    exact = KernelRidge("gaussian(0.3)", method="exact").fit(X, y)
    assert 0.5 < grid.alpha_ / exact.alpha_ < 2  # candidates differ by the rounding of the largest eigenvalue
    np.testing.assert_allclose(grid.predict(new), exact.predict(new), atol=2e-2)


def test_lengthscales_are_compared_on_one_reading():
    X, y, _, _ = rows(4, 1, n=200)
    grid = KernelRidge("gaussian", lengthscale="loo", method="fourier_grid").fit(X, y)
    exact = KernelRidge("gaussian", lengthscale="loo", method="exact").fit(X, y)
    assert grid.kernel_ == exact.kernel_


@pytest.mark.parametrize("d", [1, 2, 3])
def test_many_frequencies_take_steps(d, monkeypatch):
    monkeypatch.setattr(grids, "FEW", ((11, 1e-4),))
    monkeypatch.setattr(grids, "MANY", 20_000)
    from mercer.planner.ridge import fourier_grid

    monkeypatch.setattr(fourier_grid, "MAX_DENSE", 11)
    X, y, s, new = rows(5, d, n=300, outputs=2, weights=True)
    grid, exact = both("matern(nu=2.5, lengthscale=0.5)", X, y, s, alpha=0.5)
    assert grid.outcome_.iterations > 0
    assert grid.converged_
    np.testing.assert_allclose(grid.predict(new), exact.predict(new), atol=5e-3 if d == 3 else 1e-3)
    _, found = grid.predict(new, return_std=True)
    _, true = exact.predict(new, return_std=True)
    assert (found >= true * (1 - 2e-2)).all()  # a bound, up to the estimate of the noise
    assert np.median(found / true) < 1.5
    with pytest.raises(AttributeError, match="solved by steps"):
        _ = grid.leverage_
    with pytest.raises(InputError, match="solved by steps"):
        grid.predict(new, return_cov=True)
    assert grid.certificate_.rms.max() < 1e-2


def test_alpha_by_likelihood_where_there_is_no_path(monkeypatch):
    random = np.random.default_rng(0)
    X = random.uniform(0, 1, (1500, 2))
    kernel = k.Matern(0.5, 0.5)
    y = np.linalg.cholesky(kernel(X) + 0.05 * np.eye(len(X))) @ random.standard_normal(len(X))
    model = KernelRidge(kernel, method="fourier_grid").fit(X, y)
    assert model.outcome_.iterations > 0
    assert 0.5 < model.alpha_ / 0.05 < 2
    assert "likelihood" in model.plan_.gives_up


def test_rows_beyond_the_box_are_predicted_by_the_kernel_itself():
    X, y, _, _ = rows(6, 2)
    grid, exact = both("gaussian(0.3)", X, y, alpha=0.1)
    far = np.array([[0.2, 0.0], [0.0, 1.0], [50.0, 50.0]]) + X.max(axis=0)
    mean, deviation = grid.predict(far, return_std=True)
    true, least = exact.predict(far, return_std=True)
    np.testing.assert_allclose(mean, true, atol=1e-4)
    assert (deviation >= least * (1 - 1e-5)).all()


def test_sources_give_the_same_model_in_pieces(monkeypatch):
    monkeypatch.setattr("mercer.learners.ridge.problem.fits_memory", lambda *_: False)
    X, y, s, new = rows(7, 2, n=500, weights=True)
    given = {"alpha": 0.1, "method": "fourier_grid"}
    whole = KernelRidge("gaussian(0.3)", **given).fit(X, y, s)
    parts = [(X[i : i + 70], y[i : i + 70], s[i : i + 70]) for i in range(0, 500, 70)]
    model = KernelRidge("gaussian(0.3)", **given).fit(Batches(lambda: iter(parts)))
    assert model.plan_.method == "fourier grid"
    np.testing.assert_allclose(model.predict(new), whole.predict(new), atol=1e-7)
    assert model.predict(Arrays(new)).shape == (40,)


def test_rows_beyond_the_box_of_a_source_are_reported(monkeypatch):
    monkeypatch.setattr("mercer.learners.ridge.problem.fits_memory", lambda *_: False)
    X, y, _, new = rows(8, 1, n=300)
    model = KernelRidge("gaussian(0.3)", alpha=0.1, method="fourier_grid").fit(Arrays(X, y))
    exact = KernelRidge("gaussian(0.3)", alpha=0.1).fit(X, y)
    np.testing.assert_allclose(model.predict(new), exact.predict(new), atol=1e-4)
    with pytest.warns(NumericalWarning, match="beyond the box of the fit"):
        model.predict(X.max(axis=0)[None] + 1)


@pytest.mark.parametrize("steps", [False, True])
def test_models_are_saved(tmp_path, steps):
    X, y, s, new = rows(9, 2, weights=True)
    kernel = "laplace(0.3)" if steps else "gaussian(0.3)"
    model = KernelRidge(kernel, alpha=0.1, method="fourier_grid").fit(X, y, s)
    mercer.save(model, tmp_path / "model.mercer")
    loaded = mercer.load(tmp_path / "model.mercer")
    for a, b in zip(model.predict(new, return_std=True), loaded.predict(new, return_std=True), strict=True):
        assert a.tobytes() == b.tobytes()
    assert loaded.plan_.details.epsilon == model.plan_.details.epsilon


def test_a_lift_that_is_given_is_the_grid():
    X, y, _, new = rows(10, 2)
    model = KernelRidge(FourierGrid("gaussian(0.3)", epsilon=1e-3), alpha=0.1, method="fourier_grid").fit(X, y)
    assert model.lift_.n_features() == FourierGrid("gaussian(0.3)", epsilon=1e-3).fit(X).n_features()
    plain = KernelRidge(FourierGrid("gaussian(0.3)", epsilon=1e-3), alpha=0.1, method="exact").fit(X, y)
    np.testing.assert_allclose(model.predict(new), plain.predict(new), atol=1e-8)


def test_a_lift_that_saw_a_sample_is_made_for_all_rows(monkeypatch):
    monkeypatch.setattr("mercer.learners.ridge.problem.fits_memory", lambda *_: False)
    monkeypatch.setattr("mercer.learners.streaming.source_stream.SAMPLE_ROWS", 20)
    X, y, _, new = rows(16, 2, n=500)
    model = KernelRidge(FourierGrid("gaussian(0.3)", 1e-6), alpha=0.1, method="fourier_grid").fit(Arrays(X, y))
    exact = KernelRidge("gaussian(0.3)", alpha=0.1).fit(X, y)
    assert model.lift_.grid.inside(X).all()
    np.testing.assert_allclose(model.predict(new), exact.predict(new), atol=1e-3)


def test_classes():
    X, y, _, new = rows(11, 2)
    model = KernelRidgeClassifier("gaussian(0.3)", method="fourier_grid").fit(X, y > y.mean())
    exact = KernelRidgeClassifier("gaussian(0.3)", method="exact").fit(X, y > y.mean())
    assert (model.predict(new) == exact.predict(new)).mean() > 0.95
    assert model.loo_.wrong.min() == pytest.approx(exact.loo_.wrong.min(), abs=0.01)


def test_the_same_bits_twice():
    X, y, _, new = rows(12, 2)
    first, second = (KernelRidge("gaussian(0.3)", method="fourier_grid").fit(X, y).predict(new) for _ in range(2))
    assert first.tobytes() == second.tobytes()


def test_certificates_hold():
    X, y, _, _ = rows(13, 2)
    grid, exact = both("matern(nu=2.5, lengthscale=0.8)", X, y, alpha=0.1)
    off = np.sqrt(np.mean((grid.predict(X) - exact.predict(X)) ** 2))
    assert 0 < off <= grid.certificate_.rms[0]


@pytest.mark.parametrize(
    ("kernel", "columns", "given", "told"),
    [
        ("gaussian", 4, {}, "there are 4 columns, of at most 3"),
        ("linear", 1, {}, "linear has no density of frequencies"),
        ("laplace(0.0005)", 3, {}, "frequencies leave an error of"),
        ("gaussian(0.001)", 3, {"lengthscale": "loo"}, "frequencies"),
    ],
)
def test_what_has_no_grid_is_refused(kernel, columns, given, told):
    X, y, _, _ = rows(14, columns)
    with pytest.raises(InputError) as caught:
        KernelRidge(kernel, method="fourier_grid", **given).fit(X, y)
    assert 'needs a kernel and rows for method="fourier_grid"' in str(caught.value)
    assert told in str(caught.value)


def test_the_plan_says_what_is_given_up_and_what_is_taken_instead():
    random = np.random.default_rng(0)
    X = random.uniform(0, 1, (200_000, 2))
    smooth = KernelRidge("matern(nu=2.5, lengthscale=0.5)", alpha=1.0).plan(X, X[:, 0])
    assert smooth.method == "fourier grid"
    assert "(certified)" in smooth.gives_up
    many = KernelRidge("matern(nu=2.5, lengthscale=0.5)", alpha=1.0).plan(random.uniform(0, 1, (200_000, 4)), X[:, 0])
    assert many.method != "fourier grid"
    few = KernelRidge("matern(nu=2.5, lengthscale=0.5)", alpha=1.0).plan(X[:300], X[:300, 0])
    assert few.method == "direct"


def test_nothing_is_looked_for_on_few_rows():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        X, y, _, _ = rows(15, 2)
        assert KernelRidge().fit(X, y).kernel_.nu == 2.5


def test_parameters_inside_auto_are_those_of_the_default_kernel():
    assert KernelRidge().set_params(kernel__lengthscale=2.0).kernel == k.Matern(2.5, 2.0)
    X, y, _, new = rows(15, 2)
    same = KernelRidge("matern(nu=2.5, lengthscale='median')").fit(X, y).predict(new)
    assert KernelRidge().fit(X, y).predict(new).tobytes() == same.tobytes()


@pytest.mark.slow
def test_auto_of_many_rows_is_the_likeliest_kernel():
    random = np.random.default_rng(0)
    X = random.uniform(0, 1, (21_000, 1))
    waves = np.sin(np.outer(X[:, 0], 2 * np.pi * np.arange(1, 4))).sum(axis=1)
    model = KernelRidge().fit(X, waves + 0.1 * random.standard_normal(len(X)))
    assert model.kernel_.nu == 2.5
    new = np.linspace(0.01, 0.99, 50)[:, None]
    true = np.sin(np.outer(new[:, 0], 2 * np.pi * np.arange(1, 4))).sum(axis=1)
    assert np.sqrt(np.mean((model.predict(new) - true) ** 2)) < 0.01
