"""Attributes and parameters that scikit-learn's SVMs have: the same shapes, signs and numbers."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import exceptions
from sklearn.datasets import load_iris
from sklearn.feature_selection import RFE
from sklearn.svm import SVC, SVR, OneClassSVM

import mercer
from mercer import KernelOneClassSVM, KernelPCA, KernelSVC, KernelSVR
from mercer.errors import InputError, KernelError, NumericalWarning
from mercer.kernels import Gaussian, Linear
from mercer.lifts import Nystrom, Polynomial

X, y = load_iris(return_X_y=True)
TWO = X[:100], y[:100]


@pytest.mark.parametrize("rows", [slice(0, 100), slice(0, 150)], ids=["two", "three"])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_linear_classifiers_have_scikit_learns_numbers(rows, container):
    given = container(X[rows])
    ours = KernelSVC("linear", decision_function_shape="ovo", tol=1e-8).fit(given, y[rows])
    theirs = SVC(kernel="linear", decision_function_shape="ovo", tol=1e-8).fit(X[rows], y[rows])
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_allclose(np.atleast_1d(ours.intercept_), theirs.intercept_, atol=1e-4)
    np.testing.assert_allclose(ours.decision_function(given), theirs.decision_function(X[rows]), atol=1e-3)
    np.testing.assert_array_equal(ours.n_support_, theirs.n_support_)
    assert sp.issparse(ours.support_vectors_) == sp.issparse(given)
    vectors = ours.support_vectors_.toarray() if sp.issparse(given) else ours.support_vectors_
    np.testing.assert_array_equal(vectors, X[rows][ours.support_])
    assert ours.n_iter_.shape == theirs.n_iter_.shape
    with pytest.raises(ValueError, match="read-only"):
        ours.coef_[0, 0] = 0.0


@pytest.mark.parametrize(
    ("ours", "theirs"), [(KernelSVR("linear"), SVR(kernel="linear")), (KernelOneClassSVM(), OneClassSVM())]
)
def test_shapes_of_one_function(ours, theirs):
    ours.fit(*TWO)
    theirs.fit(*TWO)
    assert ours.n_support_.shape == theirs.n_support_.shape
    assert ours.n_support_[0] == len(ours.support_) == len(ours.support_vectors_)
    assert type(ours.n_iter_) is int
    assert hasattr(ours, "coef_") == hasattr(theirs, "coef_")


def test_weights_of_the_features_of_a_function():
    """How many columns a function gives is known once it was called: sum_j a_j y_j phi(x_j), in NumPy."""
    rows, labels = X[:100, :2], np.where(y[:100] == 1, 1, -1)

    def moved(Z):
        return np.column_stack([Z, Z[:, 0] * Z[:, 1]])

    model = KernelSVC(Linear().after(moved), C=2.0).fit(rows, labels)
    w = model.dual_coef_ @ moved(rows[model.support_])
    np.testing.assert_allclose(model.coef_, w[None], rtol=1e-12)
    np.testing.assert_allclose(model.margin_, 1 / np.linalg.norm(w), rtol=1e-9)
    named = KernelSVC("linear.after(tanh)", C=2.0).fit(rows, labels)
    np.testing.assert_allclose(named.coef_[0], named.dual_coef_ @ np.tanh(rows[named.support_]), rtol=1e-12)
    assert not hasattr(KernelSVC(Gaussian(1.0).after(moved)).fit(rows, labels), "coef_")


def test_weights_of_finite_lifts():
    model = KernelSVC("polynomial(2)", decision_function_shape="ovo").fit(X, y)
    features = mercer.lift(model.kernel_, 4).transform(X)
    np.testing.assert_allclose(features @ model.coef_.T + model.intercept_, model.decision_function(X), atol=1e-8)
    lifted = KernelSVC(Polynomial(2)).fit(*TWO)
    values = lifted.lift_.transform(TWO[0]) @ lifted.coef_[0] + lifted.intercept_
    np.testing.assert_allclose(values, lifted.decision_function(TWO[0]), atol=1e-8)
    few = KernelSVC("linear", method="landmarks", n_landmarks=4, tol=0.1).fit(*TWO)
    np.testing.assert_allclose(TWO[0] @ few.coef_[0] + few.intercept_, few.decision_function(TWO[0]), atol=1e-8)
    assert not hasattr(few, "support_vectors_")
    assert not hasattr(KernelSVC("rbf").fit(*TWO), "coef_")
    assert not hasattr(KernelSVC("linear"), "coef_")


def test_features_are_eliminated_as_with_scikit_learn():
    ours, theirs = (RFE(m, n_features_to_select=2).fit(X, y) for m in (KernelSVC("linear"), SVC(kernel="linear")))
    np.testing.assert_array_equal(ours.ranking_, theirs.ranking_)


def test_a_precomputed_kernel_has_no_vectors():
    model = KernelSVC("precomputed").fit(TWO[0] @ TWO[0].T, TWO[1])
    assert model.support_vectors_.shape == (0, 0)
    np.testing.assert_array_equal(model.n_support_, KernelSVC("linear").fit(*TWO).n_support_)
    assert not hasattr(model, "coef_")


def test_no_support_has_no_vectors():
    model = KernelSVR("linear").fit(*TWO[:1], np.zeros(100))
    assert model.support_vectors_.shape == (0, 4)
    np.testing.assert_array_equal(model.coef_, np.zeros((1, 4)))


def test_the_support_of_pairs_is_counted_by_class():
    model = KernelSVC("linear", decision_function_shape="ovo").fit(X, y)
    np.testing.assert_array_equal(model.n_support_, np.bincount(y[model.support_]))
    np.testing.assert_allclose(X @ model.coef_.T + model.intercept_, model.decision_function(X), atol=1e-8)


def test_models_come_back_from_files_with_them(tmp_path):
    model = KernelSVC("linear").fit(X, y)
    mercer.save(model, tmp_path / "model.mercer")
    again = mercer.load(tmp_path / "model.mercer")
    for name in ("n_support_", "support_vectors_", "coef_", "n_iter_"):
        np.testing.assert_array_equal(getattr(again, name), getattr(model, name))


def test_ties_are_broken_by_the_decision_function():
    rng = np.random.default_rng(0)
    rows, chance = (
        rng.normal(size=(300, 2)),
        rng.integers(3, size=300),
    )  # classes that beat each other
    plain, broken = (KernelSVC(Gaussian(0.5), break_ties=given).fit(rows, chance) for given in (False, True))
    np.testing.assert_array_equal(broken.predict(rows), broken.decision_function(rows).argmax(axis=1))
    assert (plain.predict(rows) != broken.predict(rows)).any()
    with pytest.raises(InputError, match="break_ties must be False"):
        broken.set_params(decision_function_shape="ovo").predict(rows)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"decision_function_shape": "all"}, '"ovo" or "ovr"'),
        ({"break_ties": 1}, "True or False for break_ties"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, message):
    with pytest.raises(InputError, match=message):
        KernelSVC(**settings).fit(X, y)


def test_regression_without_errors():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(100, 2))
    target = 100 * np.sin(3 * rows[:, 0])
    ours = KernelSVR(Gaussian(1.0), C=np.inf, epsilon=0.5).fit(rows, target)
    theirs = SVR(gamma=0.5, C=1e8, epsilon=0.5, tol=1e-6).fit(rows, target)
    assert np.abs(ours.predict(rows) - target).max() <= 0.5 + 1e-6
    np.testing.assert_allclose(ours.predict(rows), theirs.predict(rows), atol=1e-2)
    assert ours.converged_
    assert ours.n_iter_ > 0
    flat = KernelSVR("rbf", C=np.inf, epsilon=1.0).fit(rows, target / 1000)
    assert len(flat.support_) == 0
    with pytest.raises(InputError, match=r"within epsilon = 0\.5 of all y, for C = inf"):
        KernelSVR("linear", C=np.inf, epsilon=0.5).fit(rows, target)
    with pytest.raises(InputError, match="within epsilon"):
        KernelSVR("rbf", C=np.inf).fit([[0.0], [0.0], [1.0]], [0.0, 1.0, 0.5])


def test_the_warning_of_scikit_learn_is_met():
    rng = np.random.default_rng(0)
    rows, target = rng.normal(size=(60, 2)), rng.normal(size=60)
    slow = [
        KernelSVC("gaussian(1)", C=1e6, max_iter=2),
        mercer.KernelKMeans(5, max_iter=1, random_state=0),
        mercer.KernelLogisticRegression(max_iter=1),
        mercer.KernelRidge(
            "gaussian(1)", alpha=1e-9, solver=mercer.solvers.ConjugateGradient(max_iter=1, preconditioner_rank=1)
        ),
    ]
    for model in slow:
        with pytest.warns(exceptions.ConvergenceWarning) as said:
            model.fit(rows, target if isinstance(model, mercer.KernelRidge) else target > 0)
        assert {one.category for one in said} == {mercer.ConvergenceWarning}
    assert issubclass(mercer.ConvergenceWarning, NumericalWarning)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", category=exceptions.ConvergenceWarning)
        KernelSVC("gaussian(1)").fit(rows, target > 0)


@pytest.mark.parametrize(
    ("build", "remedy"),
    [
        (lambda: KernelPCA(5).fit(X), r"Write KernelPCA\(n_components=5\)"),
        (lambda: KernelSVC(3).fit(X, y), r"Write KernelSVC\(C=3\)"),
        (lambda: KernelOneClassSVM(0.1).fit(X), r"Write KernelOneClassSVM\(nu=0.1\)"),
        (lambda: mercer.KernelRidge(2.0).fit(X, y), r"Write KernelRidge\(alpha=2.0\)"),
        (lambda: Nystrom(20).fit(X), r"Write Nystrom\(n_components=20\)"),
    ],
)
def test_a_number_in_the_place_of_the_kernel(build, remedy):
    with pytest.raises(KernelError, match=remedy):
        build()


def test_a_sparse_precomputed_matrix_is_refused_in_words():
    with pytest.raises(InputError, match=r"got a sparse csr_array. Use K.toarray\(\)"):
        KernelSVC("precomputed").fit(sp.csr_array(np.eye(4)), [0, 1, 0, 1])


# -- the margin -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("C", [0.1, 1.0, np.inf])
def test_the_margin_is_that_of_scikit_learns_weights(C):
    ours = KernelSVC("linear", C=C, tol=1e-10).fit(*TWO)
    theirs = SVC(kernel="linear", C=1e9 if np.isinf(C) else C, tol=1e-10).fit(*TWO)
    assert type(ours.margin_) is float
    assert ours.margin_ == pytest.approx(1 / np.linalg.norm(theirs.coef_), rel=1e-5)
    assert ours.margin_ == pytest.approx(1 / np.linalg.norm(ours.coef_), rel=1e-12)


def test_a_hard_margin_is_the_distance_of_the_nearest_row():
    """Two points of each class at distance 2 from a line through (1, 1) with normal (3, 4) / 5."""
    normal, along = np.array([0.6, 0.8]), np.array([-0.8, 0.6])
    rows = np.array([1.0, 1.0]) + np.array([2 * s * normal + t * along for s in (-1, 1) for t in (0.0, 3.0)])
    for kernel in ("linear", "1 + linear"):
        model = KernelSVC(kernel, C=np.inf).fit(rows, [0, 0, 1, 1])
        assert model.margin_ == pytest.approx(2.0, rel=1e-10)
    perceptron = mercer.KernelPerceptron("1 + linear", max_iter=10_000).fit(rows, [0, 0, 1, 1])
    best = KernelSVC("1 + linear", C=np.inf).fit(rows, [0, 0, 1, 1])
    assert 0 < perceptron.margin_ <= best.margin_ + 1e-12


@pytest.mark.parametrize("C", [1.0, np.inf])
@pytest.mark.parametrize("kernel", ["gaussian(1)", "polynomial(2)"])
def test_the_margin_of_any_kernel(kernel, C):
    """a'Ka by hand; with a hard margin f + b is 1 at the nearest row."""
    model = KernelSVC(kernel, C=C).fit(*TWO)
    a, K = model.dual_coef_, mercer.parse(kernel)(model.support_vectors_)
    assert model.margin_ == pytest.approx(1 / np.sqrt(a @ K @ a), rel=1e-10)
    if np.isinf(C):
        nearest = np.abs(model.decision_function(TWO[0])).min() * model.margin_
        assert nearest == pytest.approx(model.margin_, rel=1e-3)
    matrix = KernelSVC("precomputed", C=C).fit(mercer.parse(kernel)(TWO[0]), TWO[1])
    assert matrix.margin_ == pytest.approx(model.margin_, rel=1e-6)


def test_margins_of_pairs():
    model = KernelSVC("linear").fit(X, y)
    assert model.margin_.shape == (3,)
    np.testing.assert_allclose(model.margin_, 1 / np.linalg.norm(model.coef_, axis=1), rtol=1e-12)


@pytest.mark.parametrize(
    "model",
    [
        KernelSVC(Polynomial(2)),
        KernelSVC("gaussian(1)", method="landmarks", n_landmarks=20, random_state=0),
        KernelSVC(Nystrom("gaussian(1)", 20, random_state=0)),
        KernelSVC("polynomial(2)", method="landmarks", n_landmarks=15, random_state=0),
        KernelSVC("gaussian(1)", method="landmarks", n_landmarks=20, polish=True, random_state=0),
    ],
    ids=["lift", "landmarks", "lift of landmarks", "landmarks of a finite lift", "polished"],
)
def test_the_margin_on_features(model):
    """The slope of f on them: values of random combinations of landmarks, or of features, decide nothing."""
    model.fit(*TWO)
    predictor = model._model.predictor
    if hasattr(predictor, "basis"):
        Z = predictor.basis.features(model._read(TWO[0], reset=False))
    elif hasattr(predictor, "means"):
        Z = model.lift_.transform(TWO[0])
    else:
        a, K = model.dual_coef_, Gaussian(1.0)(model.support_vectors_)
        assert model.margin_ == pytest.approx(1 / np.sqrt(a @ K @ a), rel=1e-10)
        return
    w = np.linalg.lstsq(Z, model.decision_function(TWO[0]) - model.intercept_, rcond=1e-12)[0]
    assert model.margin_ == pytest.approx(1 / np.linalg.norm(w), rel=1e-5)


def test_a_function_that_is_zero_has_an_infinite_margin():
    model = KernelSVC("precomputed").fit(np.zeros((4, 4)), [0, 0, 1, 1])
    assert model.margin_ == np.inf
    assert not hasattr(KernelSVC(), "margin_")
