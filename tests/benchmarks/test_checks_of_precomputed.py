"""scikit-learn's checks of estimators whose kernel is precomputed: all pass but those with a reason."""

from pathlib import Path

import pytest
from sklearn.utils.estimator_checks import check_estimator
from threadpoolctl import threadpool_limits

import mercer
from mercer.lifts import Nystrom

pytestmark = pytest.mark.slow

PAGE = (Path(__file__).parents[2] / "docs" / "how_to" / "from_scikit_learn.md").read_text()
CHANGED = "A check takes the mean off a matrix, or rounds it to integers: it is indefinite then, and refused."
COLUMNS = "A check gives two columns where the kernel is precomputed: no matrix of all pairs."
TIES = "Negative ties, and rows without a tie, are refused by `SpectralClustering`."

MEAN = {"check_positive_only_tag_during_fit": CHANGED}
ROUNDED = {**MEAN, "check_estimators_dtypes": CHANGED}
CLUSTERS = {"check_clustering": COLUMNS}
GRAPH = dict.fromkeys(
    [
        "check_estimators_fit_returns_self",
        "check_readonly_memmap_input",
        "check_n_features_in_after_fitting",
        "check_estimator_sparse_tag",
        "check_estimator_sparse_array",
        "check_estimator_sparse_matrix",
    ],
    TIES,
)
EXPECTED = [
    (mercer.KernelRidge("precomputed"), ROUNDED),
    (mercer.KernelRidgeClassifier("precomputed"), ROUNDED),
    (mercer.KernelSVC("precomputed"), ROUNDED),
    (mercer.KernelSVR("precomputed"), ROUNDED),
    (
        mercer.KernelOneClassSVM("precomputed"),
        {**ROUNDED, **dict.fromkeys(["check_outliers_train", "check_outliers_fit_predict"], COLUMNS)},
    ),
    (mercer.KernelLogisticRegression("precomputed"), {**ROUNDED, "check_decision_proba_consistency": COLUMNS}),
    (mercer.KernelPerceptron("precomputed"), MEAN),
    (mercer.KernelPCA("precomputed"), ROUNDED),
    (mercer.KernelKMeans(2, kernel="precomputed"), {**ROUNDED, **CLUSTERS}),
    (mercer.SpectralClustering(2, kernel="precomputed"), {**MEAN, **CLUSTERS, **GRAPH}),
    (Nystrom("precomputed", 5), {}),
]


@pytest.mark.filterwarnings("ignore")  # of checks that expect none, warnings are errors all the same
@pytest.mark.parametrize(("model", "expected"), EXPECTED, ids=lambda item: type(item).__name__)
def test_checks(model, expected):
    with threadpool_limits(1):  # matrices are small: threads of BLAS would wait for each other
        found = check_estimator(model, expected_failed_checks=expected, on_skip=None)
    failed = {one["check_name"] for one in found if one["status"] == "xfail"}
    assert failed == set(expected)  # what passes needs no reason


@pytest.mark.parametrize("reason", [CHANGED, COLUMNS, TIES])
def test_reasons_stand_in_the_docs(reason):
    assert reason in PAGE
