"""What a test returns: a record that can be read, and not be changed."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from mercer.hypothesis_tests import Comparison, hsic, mmd
from mercer.kernels import Gaussian

X = np.random.default_rng(0).normal(size=(130, 2))


def test_the_text_says_what_was_found_and_how():
    found = mmd(X[:60], X[60:] + 1.0, "gaussian(1)", permutations=99, random_state=0)
    first, second = str(found).splitlines()
    assert first.startswith("mmd of 60 and 70 rows: statistic 0.")
    assert first.endswith("p-value 0.01 (99 permutations)")
    assert second == "  gaussian(lengthscale=1.0): all pairs"
    assert repr(found).startswith("Comparison('mmd', statistic=0.")
    assert repr(found).endswith("p_value=0.01, null='permutation', method='exact')")


def test_the_text_of_other_ways():
    spectral = mmd(X[:60], X[60:], "gaussian(1)", null="spectral", method="features", n_landmarks=7, permutations=1500)
    assert "(spectral null, 1,500 draws)" in str(spectral)
    assert str(spectral).endswith("8 random Fourier features")
    blocks = mmd(X[:65], X[65:], "gaussian(1)", method="blocks")
    assert "(normal null)" in str(blocks)
    assert str(blocks).endswith("8 blocks")
    both = hsic(X[:, :1], X[:, 1:], "gaussian(1)", "linear", permutations=9)
    assert str(both).startswith("hsic of 130 pairs of rows: statistic ")
    assert str(both).endswith("gaussian(lengthscale=1.0) and linear: all pairs")


def test_it_cannot_be_changed():
    found = mmd(X[:60], X[60:], permutations=9)
    with pytest.raises(FrozenInstanceError):
        found.p_value = 0.0
    with pytest.raises(ValueError, match="read-only"):
        found.null_sample[0] = 1.0
    assert isinstance(found, Comparison)


def test_its_numbers_are_plain():
    found = mmd(X[:60], X[60:], "gaussian(1)", permutations=9)
    assert type(found.statistic) is float
    assert type(found.p_value) is float
    assert (found.permutations, len(found.null_sample), found.sizes) == (9, 9, (60, 70))
    assert found.spread == pytest.approx(np.std(found.null_sample))
    assert found.kernel == Gaussian(1.0)


def test_two_kernels_are_no_kernel():
    with pytest.raises(AttributeError, match="hsic has two"):
        hsic(X[:, :1], X[:, 1:], permutations=9).kernel  # noqa: B018
