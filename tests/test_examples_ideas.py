"""What the pictures of the ideas show: functions of a covariance, the way that a plan takes, bounds above errors."""

import runpy
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.slow

pytest.importorskip("matplotlib")
IDEAS = runpy.run_path(str(Path(__file__).parent.parent / "examples" / "ideas.py"))


def test_functions_have_the_kernel_as_their_covariance():
    kernel = IDEAS["KERNELS"]["gaussian(0.3)"]
    values = IDEAS["functions"](kernel, draws=4000)[::40]
    found = values @ values.T / 4000
    np.testing.assert_allclose(found, kernel(IDEAS["GRID"][::40]), atol=0.1)


def test_the_way_that_is_taken_changes_from_exact_to_landmarks():
    found, taken = IDEAS["times"]([1000, 20_000, 2_000_000])
    assert taken == ["direct", "conjugate gradients", "nystrom"]
    assert found["direct"][2] > 1e6 > 100 > found["nystrom"][2]


def test_certificates_are_above_the_errors_and_follow_them():
    found = IDEAS["errors"]([20, 80])
    assert (found[:, 1] >= found[:, 0]).all()
    assert found[1, 1] < 0.01 * found[0, 1]


@pytest.mark.parametrize("name", ["idea_kernel", "idea_certificate"])
def test_pictures_are_written(name, tmp_path):
    IDEAS["PICTURES"][name]().savefig(tmp_path / "picture.png", dpi=40)
    assert (tmp_path / "picture.png").read_bytes()[:4] == b"\x89PNG"
