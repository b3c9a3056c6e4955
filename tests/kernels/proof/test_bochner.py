"""Bochner's test: the sign of radial spectra against theory."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from mercer.kernels.proof.bochner import radial_spectrum_sign

pytestmark = pytest.mark.slow

Array = NDArray[np.float64]


def triangle(r: Array) -> Array:
    return np.maximum(1.0 - r, 0.0)


FUNCTIONS: dict[str, Callable[[Array], Array]] = {
    "sinc": lambda r: np.sinc(r / np.pi),
    "triangle": triangle,
    "triangle squared": lambda r: triangle(r) ** 2,
    "spherical": lambda r: np.where(r < 1.0, 1.0 - 1.5 * r + 0.5 * r**3, 0.0),
    "wendland": lambda r: triangle(r) ** 4 * (4.0 * r + 1.0),
    "epanechnikov": lambda r: np.maximum(1.0 - r**2, 0.0),
    "boxcar": lambda r: np.where(r < 1.0, 1.0, 0.0),
    "exp(-r^3)": lambda r: np.exp(-(r**3)),
    "exp(-r^1.9)": lambda r: np.exp(-(r**1.9)),
    "cosine": np.cos,
    "periodic": lambda r: np.exp(-2.0 * np.sin(np.pi * r) ** 2),
    "1/(1+r^4)": lambda r: 1.0 / (1.0 + r**4),
    "gaussian": lambda r: np.exp(-(r**2) / 2.0),
    "laplace": lambda r: np.exp(-r),
    "matern 3/2": lambda r: (1.0 + np.sqrt(3.0) * r) * np.exp(-np.sqrt(3.0) * r),
    "matern 5/2": lambda r: (1.0 + np.sqrt(5.0) * r + 5.0 * r**2 / 3.0) * np.exp(-np.sqrt(5.0) * r),
    "rational quadratic": lambda r: 1.0 / (1.0 + r**2),
    "slow rational quadratic": lambda r: (1.0 + r**2 / 2.0) ** -0.5,
    "constant": np.ones_like,
    "minus gaussian": lambda r: -np.exp(-(r**2)),
}

NEGATIVE = [
    ("sinc", 4), ("sinc", 5), ("triangle", 2), ("triangle", 3), ("triangle squared", 4),
    ("triangle squared", 5), ("spherical", 4), ("wendland", 5), ("epanechnikov", 1), ("epanechnikov", 2),
    ("epanechnikov", 3), ("boxcar", 1), ("boxcar", 2), ("exp(-r^3)", 1), ("cosine", 2), ("cosine", 3),
    ("periodic", 2), ("periodic", 3), ("1/(1+r^4)", 1), ("1/(1+r^4)", 2), ("minus gaussian", 2),
]  # fmt: skip
KERNELS = [
    ("sinc", 1), ("sinc", 2), ("sinc", 3), ("triangle", 1), ("triangle squared", 1), ("triangle squared", 2),
    ("triangle squared", 3), ("spherical", 3), ("wendland", 1), ("wendland", 2), ("wendland", 3),
    ("cosine", 1), ("periodic", 1), ("exp(-r^1.9)", 2), ("exp(-r^1.9)", 5), ("matern 3/2", 2),
    ("matern 5/2", 1), ("matern 5/2", 5), ("rational quadratic", 1), ("rational quadratic", 3),
    ("slow rational quadratic", 1), ("slow rational quadratic", 4), ("gaussian", 1), ("gaussian", 7),
    ("gaussian", 40), ("laplace", 1), ("laplace", 2), ("laplace", 5), ("constant", 1), ("constant", 3),
]  # fmt: skip


@pytest.mark.parametrize(("name", "d"), NEGATIVE)
def test_a_function_that_is_no_kernel_has_a_negative_spectrum(name: str, d: int) -> None:
    check = radial_spectrum_sign(FUNCTIONS[name], d)
    assert check.negative
    assert check.value < -1e-8 * check.largest
    assert check.frequency > 0.0


@pytest.mark.parametrize(("name", "d"), KERNELS)
def test_a_kernel_raises_no_alarm(name: str, d: int) -> None:
    assert not radial_spectrum_sign(FUNCTIONS[name], d).negative


@pytest.mark.parametrize("scale", [1e-3, 0.2, 70.0])
def test_the_length_unit_scales_the_frequency(scale: float) -> None:
    unit = radial_spectrum_sign(triangle, 3)
    check = radial_spectrum_sign(lambda r: triangle(r / scale), 3, scale)
    assert check.negative
    assert check.frequency * scale == pytest.approx(unit.frequency, rel=1e-9)
    assert check.value / check.largest == pytest.approx(unit.value / unit.largest, rel=1e-6)


@pytest.mark.parametrize("scale", [0.02, 30.0])
@pytest.mark.parametrize("name", ["laplace", "gaussian", "triangle squared"])
def test_a_wrong_scale_raises_no_alarm(name: str, scale: float) -> None:
    assert not radial_spectrum_sign(FUNCTIONS[name], 3, scale).negative


def test_the_value_is_the_transform() -> None:
    # The transform of 1 / (1 + r^4) on the line, per half-line: pi / (2 sqrt 2) e^-a (cos a + sin a) with
    # a = w / sqrt 2: negative for a from 3 pi/4 to 7 pi/4.
    check = radial_spectrum_sign(FUNCTIONS["1/(1+r^4)"], 1)
    a = check.frequency / np.sqrt(2.0)
    exact = np.pi / (2.0 * np.sqrt(2.0)) * np.exp(-a) * (np.cos(a) + np.sin(a))
    assert 3.0 * np.pi / 4.0 < a < 7.0 * np.pi / 4.0
    assert check.value == pytest.approx(exact, rel=0.05)  # the window of 10 or 30 smooths it a little


def test_the_negative_frequency_of_sinc_lies_inside_the_sphere() -> None:
    # In R^4 the spectrum of sin(r)/r is concentrated on |w| <= 1 and negative inside.
    assert radial_spectrum_sign(FUNCTIONS["sinc"], 4).frequency < 1.0


def test_values_that_are_not_numbers_give_no_verdict() -> None:
    check = radial_spectrum_sign(lambda r: np.full_like(r, np.nan), 2)
    assert not check.negative
    assert check.largest == 0.0
