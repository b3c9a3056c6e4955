"""Every lift is an estimator and a transformer to the letter of scikit-learn, alone and in pipelines and searches."""

import numpy as np
import pytest
import sklearn
from every_lift import FEW_COLUMNS, INSTANCES, text_of
from sklearn.base import clone
from sklearn.datasets import make_circles, make_moons
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import GridSearchCV, KFold, ParameterGrid, cross_val_score
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_checks

from mercer.kernels import Gaussian, Laplace
from mercer.lifts.nystrom import Nystrom
from mercer.lifts.parabolic import Parabolic
from mercer.lifts.polynomial import Polynomial
from mercer.lifts.powers import Powers
from mercer.lifts.trigonometric import Trigonometric

ANY_DATA = {text_of(instances[0]): instances[0] for cls, instances in INSTANCES.items() if cls not in FEW_COLUMNS}
"""One lift of each class, none of which asks for a number of columns or rows."""

OF_TRANSFORMERS = [
    "check_transformer_get_feature_names_out",
    "check_transformer_get_feature_names_out_pandas",
    "check_get_feature_names_out_error",
    "check_transformer_preserve_dtypes",
    "check_transformers_unfitted",
    "check_set_output_transform",
    "check_set_output_transform_pandas",
    "check_set_output_transform_polars",
    "check_global_output_transform_pandas",
    "check_global_set_output_transform_polars",
    "check_dataframe_column_names_consistency",
    "check_estimators_partial_fit_n_features",
    "check_n_features_in_after_fitting",
    "check_inplace_ensure_writeable",
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_readonly_memmap_input",
    "check_transformer_n_iter",
]
"""What scikit-learn asks of its own transformers, beyond `check_estimator`. `check_param_validation` is for those that
declare their constraints to it; lifts word their own errors."""


@pytest.mark.parametrize("lift", ANY_DATA.values(), ids=ANY_DATA)
def test_check_estimator(lift):
    """Checks that are not for transformers are skipped."""
    estimator_checks.check_estimator(clone(lift), on_skip=None)


@pytest.mark.filterwarnings(
    "ignore:X has feature names", "ignore:X does not have valid feature names"
)  # both are mixed
@pytest.mark.parametrize("name", OF_TRANSFORMERS)
@pytest.mark.parametrize("lift", ANY_DATA.values(), ids=ANY_DATA)
def test_checks_that_scikit_learn_keeps_for_itself(lift, name):
    check = getattr(estimator_checks, name, None)
    if check is None:
        pytest.skip(f"scikit-learn {sklearn.__version__} has no {name}")
    check(type(lift).__name__, clone(lift))


# -- pipelines and searches ----------------------------------------------------------------------------------------

X, SIDE = make_moons(120, noise=0.2, random_state=0)
FOLDS = KFold(3, shuffle=True, random_state=0)


def searched(pipeline, grid):
    """A search over a grid, and the scores that plain loops give for the same settings."""
    search = GridSearchCV(pipeline, grid, cv=FOLDS, error_score="raise").fit(X, SIDE)
    plain = [
        cross_val_score(clone(pipeline).set_params(**some), X, SIDE, cv=FOLDS).mean() for some in ParameterGrid(grid)
    ]
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], plain, rtol=1e-12)
    return search


def test_a_search_over_the_parts_of_a_composition():
    pipeline = Pipeline([("lift", Polynomial() + 0.5 * Trigonometric()), ("model", RidgeClassifier(0.01))])
    search = searched(pipeline, {"lift__first__degree": [1, 4], "lift__second__lift__order": [1, 2]})
    assert len(set(search.cv_results_["mean_test_score"])) > 1
    best = search.best_estimator_["lift"]
    assert best.first_.expansion_.degree == search.best_params_["lift__first__degree"]
    assert pipeline["lift"].first.degree == 2


def test_a_search_over_kernels():
    pipeline = Pipeline([("lift", Nystrom(n_components=30, random_state=0)), ("model", RidgeClassifier(0.01))])
    search = searched(pipeline, {"lift__kernel": [Gaussian(0.01), Gaussian(1.0), Laplace(1.0), "matern(nu=1.5)"]})
    assert len(set(search.cv_results_["mean_test_score"])) > 1
    kernel = search.best_params_["lift__kernel"]
    assert str(search.best_estimator_["lift"].kernel_) == str(kernel)


def test_a_search_over_the_numbers_of_a_kernel():
    lift = Nystrom(Gaussian(1.0), n_components=30, random_state=0)
    pipeline = Pipeline([("lift", lift), ("model", RidgeClassifier(0.01))])
    search = searched(pipeline, {"lift__kernel__lengthscale": [0.01, 0.3, 3.0]})
    assert len(set(search.cv_results_["mean_test_score"])) > 1
    assert search.best_estimator_["lift"].kernel_ == Gaussian(search.best_params_["lift__kernel__lengthscale"])
    assert lift.kernel == Gaussian(1.0)


def test_a_search_over_lifts():
    pipeline = Pipeline([("scale", StandardScaler()), ("lift", Polynomial()), ("model", RidgeClassifier(0.01))])
    choices = [Parabolic(), Powers(3), Polynomial(3) + Trigonometric(), Parabolic() * Powers(2), 2 * Nystrom()]
    search = searched(pipeline, {"lift": choices})
    assert search.best_score_ > cross_val_score(RidgeClassifier(), X, SIDE, cv=FOLDS).mean() + 0.03


def test_circles_become_separable_on_the_paraboloid():
    points, ring = make_circles(200, noise=0.05, factor=0.4, random_state=0)
    assert LogisticRegression().fit(points, ring).score(points, ring) < 0.7
    assert make_pipeline(Parabolic(), LogisticRegression()).fit(points, ring).score(points, ring) == 1.0


def test_a_union_of_scikit_learn_gives_the_features_of_the_sum():
    union = FeatureUnion([("a", Polynomial()), ("b", Trigonometric())]).fit(X)
    np.testing.assert_array_equal(union.transform(X), (Polynomial() + Trigonometric()).fit(X).transform(X))


def test_ridge_on_features_is_kernel_ridge():
    """The same predictions from the primal on phi and from the dual on k: the mission in one line."""
    target = np.sin(3 * X[:, 0]) + X[:, 1] ** 2
    for lift in (Polynomial(3), Powers(3) + Parabolic(), Polynomial(2) * Trigonometric(), -0.7 * Polynomial(2)):
        primal = make_pipeline(lift, Ridge(alpha=0.1, fit_intercept=False, solver="svd")).fit(X, target)
        kernel = primal[0].kernel
        dual = np.linalg.solve(kernel(X) + 0.1 * np.eye(len(X)), target)
        np.testing.assert_allclose(primal.predict(X), kernel(X) @ dual, rtol=1e-8, atol=1e-8)
