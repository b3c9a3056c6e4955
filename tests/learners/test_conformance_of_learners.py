"""The learners are estimators to the letter of scikit-learn, alone and in pipelines, searches and frames."""

import pickle

import numpy as np
import pytest
import sklearn
from dense_models import draw, predict
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import BaggingRegressor
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import RFE
from sklearn.kernel_ridge import KernelRidge as Reference
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, KFold, ParameterGrid, cross_val_predict, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_checks

from mercer import (
    KernelKMeans,
    KernelLogisticRegression,
    KernelOneClassSVM,
    KernelPCA,
    KernelPerceptron,
    KernelRidge,
    KernelRidgeClassifier,
    KernelSVC,
    KernelSVR,
    Perceptron,
    SpectralClustering,
)
from mercer.errors import InputError, KernelError
from mercer.kernels import Gaussian, Laplace, Linear, Matern
from mercer.lifts import Polynomial as PolynomialLift
from mercer.solvers import Cholesky

LEARNERS = [
    KernelRidge(),
    KernelRidgeClassifier(),
    KernelRidge(alpha=1.0),
    KernelRidge("linear"),
    KernelRidge(PolynomialLift(2), alpha=0.5),
    KernelRidgeClassifier("linear", alpha=1.0, class_weight="balanced"),
    KernelPerceptron(),
    KernelPerceptron(combine="voted", shuffle=True, random_state=0),
    KernelPerceptron(budget=50),
    Perceptron(),
    Perceptron(PolynomialLift(2), combine="averaged"),
    KernelSVC(tol=1e-12),  # rows of weight 2 are two rows, to seven digits
    KernelSVC("linear", C=0.5, break_ties=True, class_weight="balanced", tol=1e-10),
    KernelSVR(tol=1e-12),
    KernelOneClassSVM(tol=1e-12),
    KernelLogisticRegression(),
    KernelLogisticRegression(PolynomialLift(2), alpha=0.5),
    KernelLogisticRegression("linear", class_weight="balanced"),
]
CONFORMING = [
    KernelRidge(),
    KernelRidge(PolynomialLift(2), alpha=0.5),
    KernelRidgeClassifier(),
    KernelRidgeClassifier("linear", alpha=1.0, class_weight="balanced"),
    KernelPerceptron(),
    KernelPerceptron(budget=50),
    Perceptron(),
    Perceptron(PolynomialLift(2), combine="averaged"),
    KernelSVC(tol=1e-12),  # rows of weight 2 are two rows, to seven digits
    KernelSVC("linear", C=0.5, break_ties=True, class_weight="balanced", tol=1e-10),
    KernelSVR(tol=1e-12),
    KernelOneClassSVM(tol=1e-12),
    KernelLogisticRegression(),
    KernelLogisticRegression(PolynomialLift(2), alpha=0.5),
    KernelKMeans(),
    KernelKMeans(2, kernel="gaussian('median')", method="landmarks", n_landmarks=30),
    KernelPCA(),
    KernelPCA("gaussian(1)", n_components=2, n_landmarks=5, random_state=0),
    SpectralClustering(),
    SpectralClustering(2, kernel="gaussian(1)"),
]
"""One or two settings of each class, which reach different methods, for all that scikit-learn asks of an estimator."""
FURTHER = [
    "check_dataframe_column_names_consistency",
    "check_n_features_in_after_fitting",
    "check_inplace_ensure_writeable",
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_readonly_memmap_input",
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
]
"""What scikit-learn asks of its own estimators, beyond `check_estimator`, or what deserves a line of its own here.
`check_param_validation` is for those that declare their constraints to it; learners word their own errors."""


@pytest.mark.parametrize("learner", CONFORMING, ids=repr)
def test_check_estimator(learner):
    """Nothing is excused: what does not apply is skipped, and by scikit-learn itself."""
    results = estimator_checks.check_estimator(clone(learner), on_skip=None)
    assert {result["status"] for result in results} <= {"passed", "skipped"}
    assert sum(result["status"] == "skipped" for result in results) <= 1  # the array API, without its switch
    assert not any(result["expected_to_fail"] for result in results)


@pytest.mark.parametrize("name", FURTHER)
@pytest.mark.parametrize("learner", LEARNERS[:3], ids=repr)
def test_checks_that_scikit_learn_keeps_for_itself(learner, name):
    check = getattr(estimator_checks, name, None)
    if check is None:
        pytest.skip(f"scikit-learn {sklearn.__version__} has no {name}")
    check(type(learner).__name__, clone(learner))


@pytest.mark.parametrize("name", ["check_classifiers_one_label_sample_weights", "check_class_weight_classifiers"])
@pytest.mark.parametrize("settings", [{}, {"kernel": "linear", "alpha": 1.0}], ids=str)
def test_checks_of_classifiers(settings, name):
    getattr(estimator_checks, name)("KernelRidgeClassifier", KernelRidgeClassifier(**settings))


# -- parameters -----------------------------------------------------------------------------------------------------

X, Y = draw(30, 3, outputs=2)
y = Y[:, 0]
SIDE = np.where(y > 3, "up", "down")
NEW = np.random.default_rng(9).normal(size=(11, 3))
FOLDS = KFold(3, shuffle=True, random_state=0)


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_clones_are_equal_and_not_fitted(learner):
    target = SIDE if is_classifier(learner) else y
    fitted = clone(learner).fit(X, target)
    copy = clone(fitted)
    assert repr(copy) == repr(learner)
    with pytest.raises(NotFittedError):
        copy.predict(X)
    for name, value in learner.get_params(deep=False).items():
        assert repr(copy.get_params(deep=False)[name]) == repr(value)
    assert_array_equal(copy.fit(X, target).predict(NEW), fitted.predict(NEW))
    assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict(NEW), fitted.predict(NEW))  # noqa: S301


def test_fitting_changes_no_parameter():
    kernel, alphas = Matern(2.5, "median"), np.array([0.1, 1.0, 10.0])
    model = KernelRidge(kernel, alpha=alphas, lengthscale="loo").fit(X, y)
    assert model.kernel is kernel
    assert kernel.lengthscale == "median"
    assert model.alpha is alphas
    assert model.kernel_.lengthscale > 0


def test_a_learner_prints_what_was_set():
    assert repr(KernelRidge()) == "KernelRidge()"
    assert repr(KernelRidge(Gaussian(2.0), alpha=0.1)) == "KernelRidge(alpha=0.1, kernel=Gaussian(lengthscale=2.0))"
    assert repr(KernelRidgeClassifier("linear", solver=Cholesky())) == (
        "KernelRidgeClassifier(kernel='linear', solver=Cholesky())"
    )


@pytest.mark.parametrize("kernel", [Gaussian(2.0), "gaussian(lengthscale=2.0)"], ids=["kernel", "text"])
def test_numbers_inside_the_kernel_are_parameters(kernel):
    model = KernelRidge(kernel, alpha=0.1, fit_intercept=False).fit(X, y)
    assert model.set_params(kernel__lengthscale=0.5, alpha=0.3) is model
    assert model.fit(X, y).kernel_ == Gaussian(0.5)
    wanted = Reference(alpha=0.3, kernel="rbf", gamma=2.0).fit(X, y)
    assert_allclose(model.predict(NEW), wanted.predict(NEW), rtol=1e-8)
    assert str(kernel) == "gaussian(lengthscale=2.0)"  # it is not the one that was changed
    model.set_params(kernel=Laplace(1.0), kernel__lengthscale=4.0)
    assert model.kernel == Laplace(4.0)
    assert model.get_params()["kernel__lengthscale"] == 4.0
    with pytest.raises(KernelError, match=r"Laplace has no parameter 'length': write lengthscale=4.0"):
        model.set_params(kernel__length=4.0)


def test_numbers_deep_inside_the_kernel_and_inside_lifts():
    model = KernelRidge(Gaussian(2.0) + Linear(), alpha=0.1)
    inner = next(name for name in model.get_params() if name.endswith("__lengthscale"))
    assert str(model.set_params(**{inner: 0.5}).fit(X, y).kernel_) == str(Gaussian(0.5) + Linear())
    lift = KernelRidge(PolynomialLift(2), alpha=1.0).set_params(kernel__degree=3).fit(X, y)
    assert lift.coef_.shape == (20,)


def test_what_kind_of_estimator_it_is():
    assert is_regressor(KernelRidge())
    assert is_classifier(KernelRidgeClassifier())
    tags = KernelRidge().__sklearn_tags__()
    assert tags.input_tags.sparse
    assert not tags.input_tags.pairwise
    assert tags.target_tags.multi_output
    assert KernelRidge("precomputed").__sklearn_tags__().input_tags.pairwise
    assert not hasattr(KernelRidge(), "set_output")  # nothing is transformed


# -- searches and pipelines -----------------------------------------------------------------------------------------


def searched(learner, grid, target):
    """A search over a grid, and the scores that plain loops give for the same settings."""
    search = GridSearchCV(learner, grid, cv=FOLDS, error_score="raise").fit(X, target)
    plain = [
        np.mean(
            [clone(learner).set_params(**some).fit(X[a], target[a]).score(X[b], target[b]) for a, b in FOLDS.split(X)]
        )
        for some in ParameterGrid(grid)
    ]
    assert_allclose(search.cv_results_["mean_test_score"], plain, rtol=1e-12)
    assert len(set(plain)) > 1
    assert search.best_params_ == list(ParameterGrid(grid))[int(np.argmax(plain))]
    return search


def test_a_search_over_lengthscale_and_alpha_agrees_with_scikit_learn():
    lengths, alphas = [0.3, 3.0], [0.01, 0.1, 1.0]
    grid = {"kernel__lengthscale": lengths, "alpha": alphas}
    learner = KernelRidge(Gaussian(1.0), fit_intercept=False)
    search = searched(learner, grid, y)
    there = {"gamma": [0.5 / length**2 for length in lengths], "alpha": alphas}
    wanted = GridSearchCV(Reference(kernel="rbf"), there, cv=FOLDS).fit(X, y)
    assert search.best_params_["alpha"] == wanted.best_params_["alpha"]
    assert_allclose(0.5 / search.best_params_["kernel__lengthscale"] ** 2, wanted.best_params_["gamma"])
    assert_allclose(search.best_score_, wanted.best_score_, rtol=1e-8)
    assert search.best_estimator_.kernel_.lengthscale == search.best_params_["kernel__lengthscale"]
    assert learner.kernel == Gaussian(1.0)


def test_searches_over_kernels_and_settings():
    kernels = [Laplace(1.0), "linear", PolynomialLift(2), "matern(nu=2.5, lengthscale='median')"]
    searched(KernelRidge(), {"kernel": kernels}, y)
    searched(KernelRidgeClassifier(Gaussian(1.0)), {"kernel__lengthscale": [0.01, 1.0], "alpha": ["auto"]}, SIDE)
    searched(KernelRidge(alpha=0.1), {"lengthscale": ["loo", 0.2], "fit_intercept": [True, False]}, y)


def test_pipelines_scale_as_numpy_does():
    rows, new = X * [1.0, 100.0, 1e-3], NEW * [1.0, 100.0, 1e-3]
    pipeline = Pipeline([("scale", StandardScaler()), ("model", KernelRidge(Gaussian(1.0), alpha=0.2))]).fit(rows, y)
    middle, spread = rows.mean(axis=0), rows.std(axis=0)
    inner, outer = (rows - middle) / spread, (new - middle) / spread
    wanted = predict(Gaussian(1.0)(inner), y, 0.2, True, np.ones(30), Gaussian(1.0)(outer, inner))
    assert_allclose(pipeline.predict(new), wanted, rtol=1e-9)
    found, deviation = pipeline.predict(new, return_std=True)
    assert_array_equal(found, pipeline.predict(new))
    assert (deviation > 0).all()
    pipeline.set_params(model__kernel__lengthscale=3.0).fit(rows, y)
    assert pipeline["model"].kernel_ == Gaussian(3.0)
    weights = np.arange(30) % 3
    weighted = pipeline.fit(rows, y, model__sample_weight=weights)["model"]
    assert_allclose(
        weighted.predict(outer), KernelRidge(Gaussian(3.0), alpha=0.2).fit(inner, y, weights).predict(outer), rtol=1e-12
    )


def test_scores_by_cross_validation():
    scores = cross_val_score(KernelRidge(Gaussian(1.0), alpha=0.2, fit_intercept=False), X, y, cv=FOLDS)
    wanted = cross_val_score(Reference(0.2, kernel="rbf", gamma=0.5), X, y, cv=FOLDS)
    assert_allclose(scores, wanted, rtol=1e-8)
    assert cross_val_score(KernelRidgeClassifier(), X, SIDE, cv=FOLDS).mean() > 0.7


@pytest.mark.parametrize("alpha", [0.2, "auto"])
def test_a_matrix_of_similarities_is_cut_on_both_sides(alpha):
    """Folds of a precomputed matrix take rows and columns: pairwise, as scikit-learn calls it."""
    K, kernel = Gaussian(1.0)(X), Gaussian(1.0)
    found = cross_val_predict(KernelRidge("precomputed", alpha=alpha), K, Y, cv=FOLDS)
    assert_allclose(found, cross_val_predict(KernelRidge(kernel, alpha=alpha), X, Y, cv=FOLDS), rtol=1e-8)
    if alpha != "auto":
        rest = {"kernel": "precomputed", "fit_intercept": False}
        one = cross_val_predict(KernelRidge(alpha=alpha, **rest), K, Y, cv=FOLDS)
        assert_allclose(one, cross_val_predict(Reference(alpha, kernel="precomputed"), K, Y, cv=FOLDS), rtol=1e-8)
    labels = cross_val_predict(KernelRidgeClassifier("precomputed"), K, SIDE, cv=FOLDS)
    assert_array_equal(labels, cross_val_predict(KernelRidgeClassifier(kernel), X, SIDE, cv=FOLDS))


def test_inside_estimators_of_scikit_learn():
    learner = KernelRidge(Gaussian(1.0), alpha=0.2)
    logarithms = TransformedTargetRegressor(learner, func=np.log, inverse_func=np.exp).fit(X, y + 3)
    assert_allclose(logarithms.predict(NEW), np.exp(clone(learner).fit(X, np.log(y + 3)).predict(NEW)), rtol=1e-12)
    bag = BaggingRegressor(learner, n_estimators=3, random_state=0).fit(X, y)
    assert_allclose(bag.predict(NEW), np.mean([m.predict(NEW) for m in bag.estimators_], axis=0), rtol=1e-12)
    sure = CalibratedClassifierCV(KernelRidgeClassifier(), cv=3).fit(X, SIDE).predict_proba(NEW)
    assert_allclose(sure.sum(axis=1), 1.0)
    kept = [
        RFE(model, n_features_to_select=1).fit(X, y).support_ for model in (KernelRidge("linear", alpha=1.0), Ridge())
    ]
    assert_array_equal(*kept)  # by coef_


# -- weights, and who may pass them ---------------------------------------------------------------------------------


def test_scores_take_weights():
    weights = np.arange(30.0) % 4
    model, classifier = KernelRidge().fit(X[:20], y[:20]), KernelRidgeClassifier().fit(X[:20], SIDE[:20])
    rest = np.repeat(np.arange(20, 30), weights[20:].astype(int))
    assert_allclose(model.score(X[20:], y[20:], weights[20:]), model.score(X[rest], y[rest]), rtol=1e-12)
    assert_allclose(
        classifier.score(X[20:], SIDE[20:], weights[20:]), classifier.score(X[rest], SIDE[rest]), rtol=1e-12
    )


@pytest.mark.parametrize("learner", [KernelRidge(alpha=0.2), KernelRidgeClassifier(alpha=0.2)], ids=repr)
def test_weights_are_routed(learner):
    weights, target = np.arange(30.0) % 4, SIDE if is_classifier(learner) else y
    with sklearn.config_context(enable_metadata_routing=True):
        asking = clone(learner).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        search = GridSearchCV(asking, {"alpha": [0.1, 1.0]}, cv=FOLDS).fit(X, target, sample_weight=weights)
        piped = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), asking)
        piped.fit(X, target, sample_weight=weights)
    plain = [
        np.mean(
            [
                clone(learner)
                .set_params(alpha=alpha)
                .fit(X[a], target[a], weights[a])
                .score(X[b], target[b], weights[b])
                for a, b in FOLDS.split(X)
            ]
        )
        for alpha in (0.1, 1.0)
    ]
    assert_allclose(search.cv_results_["mean_test_score"], plain, rtol=1e-12)
    alone = clone(learner).fit(StandardScaler().fit_transform(X), target, weights)
    assert_array_equal(piped[-1].dual_coef_, alone.dual_coef_)


# -- frames ---------------------------------------------------------------------------------------------------------

COLUMNS = {"age": X[:, 0], "name": [f"row {i}" for i in range(30)], "size": X[:, 1]}
FRAMES = pytest.mark.parametrize("library", ["pandas", "polars"])


@FRAMES
def test_kernels_on_named_columns_of_frames(library):
    """Columns at which the kernel does not look may hold anything."""
    frame = pytest.importorskip(library).DataFrame
    kernel = Gaussian(1.0).on(["size"]) + 0.5 * Linear().on(["age"])
    table = frame(COLUMNS)
    model = KernelRidge(kernel, alpha=0.2).fit(table, y)
    plain = KernelRidge(Gaussian(1.0).on([1]) + 0.5 * Linear().on([0]), alpha=0.2).fit(X[:, :2], y)
    assert_allclose(model.predict(table[:7]), plain.predict(X[:7, :2]), rtol=1e-12)
    assert model.feature_names_in_.tolist() == ["age", "name", "size"]
    classifier = KernelRidgeClassifier(kernel).fit(table, SIDE)
    assert_array_equal(
        classifier.predict(table), KernelRidgeClassifier(plain.kernel_).fit(X[:, :2], SIDE).predict(X[:, :2])
    )
    with pytest.raises(InputError, match="needs a column named 'height'"):
        KernelRidge(Gaussian(1.0).on(["height"]), alpha=0.2).fit(frame({"age": X[:, 0]}), y)


@FRAMES
@pytest.mark.parametrize("kernel", ["matern(nu=2.5, lengthscale='median')", PolynomialLift(2)], ids=["dual", "primal"])
def test_frames_of_numbers_are_tables(library, kernel):
    frame = pytest.importorskip(library).DataFrame
    table = frame({name: X[:, i] for i, name in enumerate("abc")})
    targets = frame({"one": Y[:, 0], "other": Y[:, 1]})
    model, plain = KernelRidge(kernel).fit(table, targets), KernelRidge(kernel).fit(X, Y)
    assert_array_equal(model.predict(table), plain.predict(X))
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    wrong = frame({name: X[:, i] for i, name in enumerate("acb")})
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(wrong)
    weights = targets["one"] ** 2
    one, other = (KernelRidge(kernel, alpha=1.0).fit(table, y, s) for s in (weights, np.asarray(weights)))
    assert_array_equal(one.dual_coef_, other.dual_coef_)


@FRAMES
def test_pipelines_of_frames(library):
    frame = pytest.importorskip(library).DataFrame
    table = frame({name: X[:, i] for i, name in enumerate("abc")})
    pipeline = make_pipeline(StandardScaler(), KernelRidge(Gaussian(1.0).on(["a", "c"]), alpha=0.2))
    pipeline.set_output(transform=library).fit(table, y)
    scaled = StandardScaler().fit_transform(X)
    wanted = KernelRidge(Gaussian(1.0), alpha=0.2).fit(scaled[:, [0, 2]], y)
    assert_allclose(pipeline.predict(table), wanted.predict(scaled[:, [0, 2]]), rtol=1e-12)
