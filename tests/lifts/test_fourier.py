"""Random Fourier features: both forms, every source of randomness, and what is said of their error."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

from mercer.errors import DomainError, InputError, KernelError, NumericalWarning
from mercer.kernels import (
    Constant,
    Gaussian,
    Laplace,
    Linear,
    Matern,
    Min,
    Periodic,
    ProductLaplace,
    RationalQuadratic,
    Sinc,
)
from mercer.lifts.components import components_for
from mercer.lifts.fourier import RandomFourier
from mercer.lifts.sampling import SAMPLINGS, Orthogonal, source

X = np.random.default_rng(0).normal(size=(40, 3))
FORMS = ("pairs", "offset")


def gram(features):
    F = features.astype(np.float64)
    return F @ F.T


# -- the features ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_pairs_are_cosines_then_sines(dtype):
    lift = RandomFourier(4 * Gaussian(2.0), 30, random_state=0).fit(X)
    W, c = lift.frequencies_, lift.center_
    assert W.shape == (15, 3)
    assert lift.offsets_ is None
    assert lift.n_components_ == 30
    np.testing.assert_allclose(c, X.mean(axis=0), rtol=1e-12)
    phases = (X.astype(dtype) - c) @ W.T
    wanted = np.sqrt(4 / 15) * np.concatenate([np.cos(phases), np.sin(phases)], axis=1)
    found = lift.transform(X.astype(dtype))
    assert found.dtype == dtype
    np.testing.assert_allclose(found, wanted, atol=1e-14 if dtype == "float64" else 1e-6)


def test_offset_features():
    lift = RandomFourier(4 * Gaussian(2.0), 31, form="offset", random_state=0).fit(X)
    assert lift.frequencies_.shape == (31, 3)
    assert ((lift.offsets_ > 0) & (lift.offsets_ < 2 * np.pi)).all()
    phases = (X - lift.center_) @ lift.frequencies_.T + lift.offsets_
    np.testing.assert_allclose(lift.transform(X), np.sqrt(8 / 31) * np.cos(phases), atol=1e-14)


def test_names_say_what_is_computed():
    names = RandomFourier(n_components=4, random_state=0).fit(X).get_feature_names_out()
    assert names.tolist() == ["cos(w1.(x - c))", "cos(w2.(x - c))", "sin(w1.(x - c))", "sin(w2.(x - c))"]
    names = RandomFourier(n_components=2, form="offset").fit(X).get_feature_names_out()
    assert names.tolist() == ["cos(w1.(x - c) + t1)", "cos(w2.(x - c) + t2)"]
    for lift, rows in ((RandomFourier(n_components=2, center=False), X), (RandomFourier(n_components=2), csr_array(X))):
        assert lift.fit(rows).get_feature_names_out().tolist() == ["cos(w1.x)", "sin(w1.x)"]
    names = RandomFourier(n_components=1, center=False).fit(X).get_feature_names_out()
    assert names.tolist() == ["cos(w1.x + t1)"]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_without_a_center_they_are_the_lectures_waves(dtype):
    rows = (X + 1.0).astype(dtype)
    tolerance = 1e-14 if dtype == "float64" else 1e-6
    lift = RandomFourier(Gaussian(2.0), 30, center=False, random_state=0).fit(rows)
    phases = rows @ lift.frequencies_.T
    wanted = np.sqrt(1 / 15) * np.concatenate([np.cos(phases), np.sin(phases)], axis=1)
    np.testing.assert_allclose(lift.transform(rows), wanted, atol=tolerance)
    assert not lift.center_.any()
    lift = RandomFourier(Gaussian(2.0), 30, form="offset", center=False, random_state=0).fit(rows)
    wanted = np.sqrt(2 / 30) * np.cos(rows @ lift.frequencies_.T + lift.offsets_)
    np.testing.assert_allclose(lift.transform(rows), wanted, atol=tolerance)
    centred = RandomFourier(Gaussian(2.0), 30, form="offset", random_state=0).fit(rows)
    assert np.array_equal(centred.frequencies_, lift.frequencies_)  # the same draws
    np.testing.assert_allclose(centred.center_, rows.astype(float).mean(axis=0), rtol=1e-6)


def test_the_diagonal_of_pairs_is_exact():
    F = RandomFourier(3 * Laplace(), 40, random_state=0).fit_transform(X)
    np.testing.assert_allclose((F * F).sum(axis=1), 3.0, rtol=1e-14)


def test_one_component_is_a_wave_with_an_offset():
    """scikit-learn's checks ask every estimator for one."""
    lift = RandomFourier(Gaussian(), 1, random_state=0).fit(X)
    assert lift.transform(X).shape == (40, 1)
    assert lift.offsets_.shape == (1,)


# -- the kernel --------------------------------------------------------------------------------------------------------

KERNELS = {
    "gaussian": Gaussian(1.5),
    "laplace": Laplace(2.0),
    "sinc": Sinc(0.7),
    "product laplace": ProductLaplace(3.0),
    "sum": 2 * Gaussian() + RationalQuadratic() + 0.5,
    "product of sums": (Gaussian() + Laplace(3.0)) * (Matern() + Periodic(3.0)),
    "moved": Matern(2.5).scaled([1.0, 2.0, 0.5]) * Gaussian().on([0, 2]),
}


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", KERNELS)
def test_every_source_is_unbiased(name, form, sampling):
    """The mean over 30 draws is within 6 of its own standard errors, and of the kernel."""
    kernel, rows = KERNELS[name], X[:12]
    K = kernel(rows)
    estimates = np.array(
        [
            gram(RandomFourier(kernel, 64, form=form, sampling=sampling, random_state=s).fit_transform(rows))
            for s in range(30)
        ]
    )
    error = estimates.std(axis=0, ddof=1) / np.sqrt(len(estimates))
    assert (np.abs(estimates.mean(axis=0) - K) <= 6 * error + 1e-12).all()
    assert np.median(error) < 0.05 * K[0, 0]  # so that this is no empty statement


def test_pairs_have_the_smaller_variance():
    """At as many features: v / (D / 2) against (v + 1/2) / D, where v = (1 - q^2)^2 / 2 vanishes for near points."""
    points, draws = np.array([[0.0], [0.5]]), 100_000
    q = float(Gaussian()(points)[0, 1])
    variance = (1 - q**2) ** 2 / 2
    for form, waves, wanted in (("pairs", 2, 2 * variance), ("offset", 1, variance + 0.5)):
        F = RandomFourier(Gaussian(), draws, form=form, sampling="iid", random_state=0).fit_transform(points)
        each = (F[0] * F[1]).reshape(waves, -1).sum(axis=0) * (draws / waves)  # what a frequency says of k
        assert waves * each.var() == pytest.approx(wanted, rel=0.03)
    assert 2 * variance < 0.2 * (variance + 0.5)


@pytest.mark.parametrize("d", [10, 90])
def test_half_the_error_of_scikit_learn_at_most(d):
    """Orthogonal pairs against RBFSampler with as many features, at the median lengthscale."""
    rows = np.random.default_rng(1).normal(size=(500, d))
    kernel = Gaussian("median").resolve(rows)
    K, above = kernel(rows), np.triu_indices(500, 1)

    def error(make):
        return np.sqrt(np.mean([(gram(make(seed).fit_transform(rows)) - K)[above] ** 2 for seed in range(3)]))

    ours = error(lambda seed: RandomFourier("gaussian('median')", 1000, random_state=seed))
    theirs = error(lambda seed: RBFSampler(gamma=0.5 / kernel.lengthscale**2, n_components=1000, random_state=seed))
    assert ours <= 0.5 * theirs


def test_the_induced_kernel_is_that_of_the_features():
    lift = RandomFourier(Gaussian(), 50, random_state=0).fit(X)
    np.testing.assert_allclose(lift.induced(X), gram(lift.transform(X)), rtol=1e-12, atol=1e-14)


def test_a_constant_kernel():
    np.testing.assert_allclose(gram(RandomFourier(Constant(3.0), 10).fit_transform(X)), 3.0, rtol=1e-14)


# -- sources -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("count", "q"), [(5, 5), (12, 5), (3, 5), (4, 1), (1, 2)])
def test_orthogonal_rows(count, q):
    rows = Orthogonal(count, q, np.random.default_rng(0)).normals(q)
    assert rows.shape == (count, q)
    for start in range(0, count, q) if q > 1 else ():
        block = rows[start : start + q]
        products = block @ block.T
        assert np.abs(products - np.diag(np.diag(products))).max() < 1e-12 * np.diag(products).max()


def test_each_orthogonal_row_is_standard_normal():
    rows = np.array([Orthogonal(3, 3, np.random.default_rng(seed)).normals(3) for seed in range(3000)])
    for row in range(3):
        np.testing.assert_allclose(rows[:, row].mean(axis=0), 0, atol=0.08)
        np.testing.assert_allclose(np.cov(rows[:, row].T), np.eye(3), atol=0.12)
        assert np.mean((rows[:, row] ** 4).mean(axis=0)) == pytest.approx(3.0, rel=0.1)


def test_the_parts_of_a_sum_get_their_shares():
    """Orthogonal and quasi-random sources give each part its share; in whole runs, so that blocks stay together."""
    kernel = 3 * Gaussian(1e-6) + Gaussian(1e6)  # frequencies tell the part
    for sampling, tolerance in (("orthogonal", 0.5), ("qmc", 0.5)):
        w = RandomFourier(kernel, 2 * 128, sampling=sampling, random_state=0).fit(X).frequencies_
        assert np.sum(np.abs(w).max(axis=1) > 1) == pytest.approx(96, abs=tolerance)
    w = RandomFourier(kernel, 2 * 101, random_state=0).fit(X).frequencies_
    large = np.abs(w).max(axis=1) > 1
    assert large.sum() in (75, 76)
    assert large[: large.sum()].all()


def test_choices_after_the_first_do_not_depend_on_it():
    numbers = source("orthogonal", 1000, 2, np.random.default_rng(0))
    first, second = numbers.choices(), numbers.choices()
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.1
    for u in (first, second):
        np.testing.assert_allclose(np.sort(u), (np.arange(1000) + 0.5) / 1000, atol=0.0006)


def test_quasi_random_points_are_even_and_have_tails():
    numbers = source("qmc", 100, 4, np.random.default_rng(0))
    u = numbers.uniforms(3)
    assert u.shape == (100, 3)
    assert ((u > 0) & (u < 1)).all()
    assert np.abs(np.sort(u[:, 0]) - np.arange(100) / 100).max() < 0.05
    assert numbers.normals(1).shape == (100, 1)


def test_halton_serves_where_sobol_ends(monkeypatch):
    monkeypatch.setattr("mercer.lifts.sampling.MAX_SOBOL_COLUMNS", 2)
    F = RandomFourier(Gaussian(2.0), 400, sampling="qmc", random_state=0).fit_transform(X)
    assert np.abs(gram(F) - Gaussian(2.0)(X)).mean() < 0.02


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_the_same_seed_gives_the_same_bits(sampling):
    def features(seed):
        return RandomFourier(Laplace() + 1, 20, sampling=sampling, random_state=seed).fit_transform(X)

    assert np.array_equal(features(3), features(3))
    assert not np.allclose(features(3), features(4))
    assert np.array_equal(features(np.random.RandomState(3)), features(3))


# -- data --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_data_far_from_zero_gives_the_same_kernel(form):
    """A million lengthscales off, where float64 keeps ten digits of the differences."""
    lift = RandomFourier(Gaussian(), 60, form=form, random_state=0)
    near = gram(lift.fit_transform(X))
    far = gram(lift.fit_transform(X + 1e6))
    assert np.abs(near - far).max() < 1e-8


def test_float32_far_from_zero():
    rows = (np.rint(16 * X) / 16 + 1e6).astype(np.float32)
    lift = RandomFourier(Gaussian(), 60, random_state=0)
    wanted = gram(lift.fit_transform(rows.astype(np.float64) - 1e6))
    found = lift.fit_transform(rows)
    assert found.dtype == np.float32
    assert np.abs(gram(found) - wanted).max() < 1e-5


@pytest.mark.parametrize("kernel", ["gaussian('median')", "product_laplace(1.0)"])
def test_sparse_tables(kernel):
    rows = X * (X > 0)
    lift = RandomFourier(kernel, 60, random_state=0).fit(csr_array(rows))
    assert not lift.center_.any()
    found = lift.transform(csr_array(rows))
    assert type(found) is np.ndarray
    np.testing.assert_allclose(found, lift.transform(rows), atol=1e-13)
    dense = RandomFourier(kernel, 60, random_state=0).fit(rows)
    np.testing.assert_allclose(dense.transform(csr_array(rows)), dense.transform(rows), atol=1e-13)
    np.testing.assert_allclose(gram(found), gram(dense.transform(rows)), atol=1e-12)


def test_open_numbers_are_found_from_the_data():
    lift = RandomFourier(random_state=0).fit(X)
    assert lift.kernel_ == Gaussian("median").resolve(X)
    assert lift.kernel == "gaussian('median')"
    assert lift.n_components_ == 100
    with pytest.warns(NumericalWarning, match="no two different rows"):
        RandomFourier().fit(X[:1])


def test_columns_by_name():
    frame = pd.DataFrame(X, columns=["age", "height", "weight"])
    lift = RandomFourier("gaussian('median').on(['weight', 'age']) + laplace.on('height')", 200, random_state=0)
    lift.fit(frame)
    assert lift.kernel_ == Gaussian("median").on([2, 0]).resolve(X) + Laplace("median").on([1]).resolve(X)
    assert lift.certificate(frame).bound < 0.6
    named = RandomFourier(Gaussian().on(["b"]).on(["a", "b"]), 20, random_state=0)
    assert named.fit(pd.DataFrame(X, columns=["b", "c", "a"])).kernel_ == Gaussian().on([1]).on([2, 0])


def test_pipelines_and_searches():
    y = np.sin(X).sum(axis=1)
    model = make_pipeline(RandomFourier(Gaussian(), 200, random_state=0), Ridge(1e-3))
    search = GridSearchCV(model, {"randomfourier__kernel__lengthscale": [0.01, 2.0]}, cv=3).fit(X, y)
    assert search.best_params_ == {"randomfourier__kernel__lengthscale": 2.0}
    assert search.best_estimator_[0].kernel_ == Gaussian(2.0)


def test_a_later_change_of_the_parameter_leaves_the_fitted_kernel():
    lift = clone(RandomFourier(Gaussian(), 10)).fit(X)
    lift.set_params(kernel__lengthscale=3.0)
    assert lift.kernel_ == Gaussian(1.0)


@pytest.mark.parametrize("lift", [RandomFourier(), RandomFourier(Gaussian(), 6, form="offset", sampling="qmc")])
def test_check_estimator(lift):
    check_estimator(lift, on_skip=None)


# -- epsilon and certificates ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_epsilon_chooses_the_number_and_independent_draws(form):
    lift = RandomFourier(2 * Gaussian(), epsilon=0.5, delta=0.1, form=form, random_state=0).fit(X)
    assert lift.n_components_ == components_for(2 * Gaussian(), 0.5, 0.1, 40, form)
    found = lift.certificate(X)
    assert found.kind == "maximum"
    assert found.bound <= 0.5
    alike = RandomFourier(2 * Gaussian(), lift.n_components_, form=form, sampling="iid", random_state=0).fit(X)
    assert np.array_equal(alike.frequencies_, lift.frequencies_)


@pytest.mark.parametrize("form", FORMS)
def test_epsilon_for_distances(form):
    lift = RandomFourier(2 * Gaussian(), epsilon=0.4, delta=0.1, error="distance", form=form, random_state=0).fit(X)
    assert lift.n_components_ == components_for(2 * Gaussian(), 0.4, 0.1, 40, form, "distance")
    above = np.triu_indices(40, 1)
    exact = np.sqrt(-4 * np.expm1(-cdist(X, X, "sqeuclidean")[above] / 2))
    F = lift.transform(X)
    assert np.abs(cdist(F, F)[above] / exact - 1).max() <= 0.4
    assert clone(lift).get_params()["error"] == "distance"
    alike = RandomFourier(2 * Gaussian(), lift.n_components_, form=form, sampling="iid", random_state=0).fit(X)
    assert np.array_equal(alike.frequencies_, lift.frequencies_)


def test_the_certificate_is_the_largest_error():
    lift = RandomFourier(Laplace(), 50, random_state=0).fit(X)
    error = np.abs(gram(lift.transform(X)) - Laplace()(X)).max()
    assert lift.certificate(X).bound == pytest.approx(error, rel=1e-9)
    assert not lift.exact


def test_the_certificate_of_many_rows_bounds_the_mean():
    rows = np.random.default_rng(2).normal(size=(2100, 2))
    lift = RandomFourier(Gaussian(), 40, form="offset", random_state=0).fit(rows)
    found = lift.certificate(rows, delta=0.05)
    K = np.exp(-cdist(rows, rows, "sqeuclidean") / 2)
    mean = np.abs(gram(lift.transform(rows)) - K)[np.triu_indices(2100, 1)].mean()
    assert (found.kind, found.probability) == ("mean", 0.95)
    assert mean <= found.bound <= 1.1 * mean


# -- refusals ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"kernel": Min()}, KernelError, "spectral law is known; min has none. Use Nystrom, which takes any kernel"),
        ({"kernel": "gaussian + linear"}, KernelError, "linear has none"),
        ({"kernel": Gaussian().after(np.abs)}, KernelError, r"after\(abs\) has none"),
        ({"kernel": 3}, KernelError, "a kernel or its text; got 3"),
        ({"kernel": Gaussian().scaled([1.0, 2.0])}, InputError, "scaled needs data of 2 columns; the data has 3"),
        ({"kernel": Gaussian().on(["a"])}, InputError, "a column named 'a'; the data has no column names"),
        ({"n_components": 7}, InputError, r"an even n_components.*; got 7. Use 8, or form='offset'"),
        ({"n_components": 0}, InputError, "positive integer, or None; got 0"),
        ({"n_components": 2.0}, InputError, "positive integer, or None; got 2.0"),
        ({"form": "sines"}, InputError, "form 'pairs' or 'offset'; got 'sines'"),
        ({"sampling": "sobol"}, InputError, "'orthogonal', 'iid', 'qmc'; got 'sobol'"),
        ({"epsilon": 0.1, "sampling": "qmc"}, InputError, "independent draws for epsilon.*sampling='qmc'"),
        ({"epsilon": 0.1, "sampling": "orthogonal"}, InputError, "proven for these; got sampling='orthogonal'"),
        ({"epsilon": 0.1, "n_components": 10}, InputError, "n_components or epsilon, not both"),
        ({"epsilon": -0.1}, InputError, "a positive epsilon; got -0.1"),
        ({"epsilon": 0.1, "delta": 0.0}, InputError, "delta between zero and 1; got 0.0"),
        ({"epsilon": 1.0, "error": "distance"}, InputError, "epsilon between zero and 1; got 1.0"),
        ({"epsilon": 0.1, "error": "angle"}, InputError, "RandomFourier needs error 'kernel' or 'distance'; got 'ang"),
        ({"epsilon": 0.1, "error": "distance", "sampling": "qmc"}, InputError, "independent draws for epsilon"),
        ({"epsilon": 0.1, "error": "distance", "kernel": "laplace(1)"}, KernelError, "RandomFourier needs a smooth ke"),
        ({"epsilon": 0.1, "error": "distance", "kernel": Matern()}, KernelError, "for matern.* no bound is proven"),
        ({"center": "mean"}, InputError, "RandomFourier needs center True or False; got 'mean'"),
        ({"kernel": Gaussian(1e-310)}, InputError, "frequencies that a float can hold"),
    ],
)
def test_what_is_refused(changes, error, message):
    lift = RandomFourier(**changes)
    with np.errstate(all="ignore"), pytest.raises(error, match=message):
        lift.fit(X)


def test_too_many_columns_for_a_kernel():
    with pytest.raises(DomainError, match="Sinc needs at most 3 columns to be a kernel; the data has 4"):
        RandomFourier(Sinc()).fit(np.ones((5, 4)))


def test_more_frequencies_than_memory_are_refused_before_they_are_drawn():
    with pytest.raises(MemoryError, match=r"RandomFourier needs .* frequencies of 3 columns.*larger epsilon"):
        RandomFourier(Gaussian(), epsilon=1e-6).fit(X)


def test_linear_has_no_law_but_says_so_only_when_asked():
    assert Linear().law(3) is None
    assert RandomFourier(Linear()).get_params()["kernel"] == Linear()
