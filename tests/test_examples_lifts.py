"""What the examples about lifts conclude."""

import math
import runpy
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

from mercer.geometry import Ball, Ellipse, preimage

pytestmark = pytest.mark.slow

EXERCISE = runpy.run_path(str(Path(__file__).parent.parent / "examples" / "exercise_17.py"))


@pytest.mark.parametrize(
    ("shape", "letters"), [("a turned ellipse", "E"), ("a circle", "CE"), ("a flat ellipse", "DE")]
)
def test_exercise_17_is_answered(shape, letters):
    answers = EXERCISE["answers"](shape)
    assert "".join(letter for letter, (separable, _) in answers.items() if separable) == letters
    for letter, (separable, errors) in answers.items():
        assert (errors == 0) is separable, letter


def test_the_separating_lift_finds_the_ellipse():
    true = EXERCISE["SHAPES"]["a turned ellipse"]
    found = EXERCISE["found_by"](EXERCISE["CANDIDATES"]["E"], *EXERCISE["labelled"](true))
    assert isinstance(found, Ellipse)
    assert found.inside
    np.testing.assert_allclose(found.center, true.center, atol=0.1)
    np.testing.assert_allclose(found.axes, true.axes, rtol=0.05)
    assert found.angle == pytest.approx(true.angle, abs=0.05)


def test_c_has_circles_and_d_has_flat_ellipses():
    """The lecture's solution calls both circles; those of D are sqrt(2) times as wide as high, whatever the weights."""
    C, D = (clone(EXERCISE["CANDIDATES"][letter]).fit(np.zeros((1, 2))) for letter in "CD")
    for seed in range(20):
        *weights, intercept = np.random.default_rng(seed).uniform(0.1, 3, size=4) * [1, -1, -1, 1]
        circle, flat = preimage(C, weights, intercept), preimage(D, weights, intercept)
        assert isinstance(circle, Ball)
        assert isinstance(flat, Ellipse)
        assert flat.axes[0] / flat.axes[1] == pytest.approx(math.sqrt(2), rel=1e-14)
        assert flat.angle == 0


def test_the_example_prints_its_answer(capsys):
    EXERCISE["main"]()
    shown = capsys.readouterr().out
    assert "E  [x1, x2, x1^2, x1 x2, x2^2]         yes       0" in shown
    assert "true:  inside the ellipse of center (x1, x2) = (0.4, -0.3), semi-axes 2, 1 and angle 0.523599" in shown
    assert shown.endswith("sqrt(2) times as wide as high.\n")
