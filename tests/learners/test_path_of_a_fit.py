"""How much of the library a small fit passes through: the files that it enters and the calls that it makes.

A reader of a fit of 300 rows opens these files, and every call costs time that the mathematics does not need.
"""

import sys
from collections import Counter

import numpy as np
import pytest

import mercer
from mercer import KernelRidge
from mercer.kernels import Gaussian

HOME = mercer.__path__[0]
RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(300, 5))
Y = np.sin(X[:, 0]) + 0.1 * RANDOM.normal(size=300)
GIVEN = KernelRidge(Gaussian(2.0), alpha=0.1)


def passed_through(action):
    """The calls of our functions in each of our files; generated code has no file."""
    calls = Counter()

    def note(frame, event, _):
        if event == "call" and frame.f_code.co_filename.startswith(HOME):
            calls[frame.f_code.co_filename] += 1

    action()  # what is loaded and compiled for the first time does not count
    sys.setprofile(note)
    try:
        action()
    finally:
        sys.setprofile(None)
    return calls


def test_the_counter_counts():
    calls = passed_through(lambda: Gaussian(2.0)(X[:3]))
    assert any(name.endswith("radial/gaussian.py") for name in calls)
    assert calls.total() > len(calls) > 5


def test_a_fit_with_kernel_and_alpha_given():
    calls = passed_through(lambda: GIVEN.fit(X, Y))
    assert len(calls) <= 30, sorted(calls)
    assert calls.total() <= 450, calls.most_common()


@pytest.mark.parametrize("model", [KernelRidge(), KernelRidge(Gaussian("median"))], ids=str)
def test_a_fit_that_finds_lengthscale_and_alpha(model):
    calls = passed_through(lambda: model.fit(X, Y))
    assert len(calls) <= 40, sorted(calls)


def test_predictions():
    GIVEN.fit(X, Y)
    calls = passed_through(lambda: GIVEN.predict(X))
    assert len(calls) <= 14, sorted(calls)
