"""scikit-learn's own tests: all pass with Mercer's classes, but those for whose failure there is a reason."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "benchmarks" / "scikit_learn"
sys.path.append(str(FOLDER))

import contracts  # noqa: E402
import run  # noqa: E402

pytestmark = pytest.mark.slow

PAGE = (ROOT / "docs" / "how_to" / "from_scikit_learn.md").read_text()


# Which tests of a file run here, as pytest's -k takes it, and how many of them pass at least; the script runs all.
PASSING = {
    ("kernels", "sklearn.metrics.tests.test_pairwise"): ("kernel or similarity", 22),
    ("learners", "sklearn.tests.test_kernel_ridge"): ("", 10),
    ("learners", "sklearn.decomposition.tests.test_kernel_pca"): ("", 31),
    ("learners", "sklearn.linear_model.tests.test_perceptron"): ("", 4),
    ("learners", "sklearn.cluster.tests.test_spectral"): ("", 7),
    ("lifts", "sklearn.tests.test_kernel_approximation"): ("not chi2 and (not sketch or csr_array)", 13),
    ("lifts", "sklearn.preprocessing.tests.test_polynomial"): ("", 200),
    ("processes", "sklearn.gaussian_process.tests.test_gpr"): ("", 58),
    ("svm", "sklearn.svm.tests.test_svm"): ("", 44),
    ("svm", "sklearn.svm.tests.test_sparse"): ("csr_array and svc", 16),
}


def test_some_of_every_file_is_run():
    assert set(PASSING) == {(area, module) for area in run.areas() for module in run.files_of(area)}


@pytest.mark.parametrize(("area", "module"), PASSING)
def test_of(area, module):
    only, least = PASSING[area, module]
    ran, broken = run.run(area, module, only)
    assert not broken
    assert [f"{one.test}: {one.error[-300:]}" for one in ran if one.outcome == run.FAILED and one.reason is None] == []
    assert sum(one.counts and one.outcome == run.PASSED for one in ran) >= least


@pytest.mark.parametrize("reason", sorted(contracts.reasons()))
def test_reasons_stand_in_the_docs(reason):
    assert reason in PAGE[PAGE.index("## Where Mercer's contract differs") :]


def test_only_the_error_that_is_told_is_excused():
    assert contracts.reason_of("test_svm", "test_gamma_scale", "no attribute '_gamma'") == contracts.PRIVATE
    assert contracts.reason_of("test_svm", "test_gamma_scale", "1 != 2") is None
    assert contracts.reason_of("test_svm", "test_weight", "1 != 2") is None
    assert contracts.reason_of("test_sparse", "test_svc[a-sigmoid-b]", "K is indefinite") == contracts.SIGMOID
    assert contracts.reason_of("test_sparse", "test_svc[a-rbf-b]", "K is indefinite") is None
