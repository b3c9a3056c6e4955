"""A witness is believed only after 50 digits, or 16 with a margin."""

import math

import numpy as np
import pytest

import mercer
from mercer.kernels import ArcCosine, Gaussian, Linear, Sigmoid
from mercer.kernels.points import Points
from mercer.kernels.precision.mpmath_arrays import context, precisely
from mercer.kernels.precision.pairs import PrecisePairs
from mercer.kernels.proof.subject import FunctionSubject
from mercer.kernels.proof.verify import check_kernel, check_matrix

X = Points(np.array([[0.0], [1.0], [2.5]]))
c = np.array([1.0, -2.0, 0.5])


def test_the_form_is_computed_exactly():
    check = check_kernel(Linear(), X, c)
    assert check.value == (c @ X.values[:, 0]) ** 2 == 0.5625
    assert check.digits == 50
    assert not check.negative


def test_rounding_alone_refutes_nothing():
    """A form that is zero in truth and negative in float64 is not a witness."""
    rows = np.array([[0.1], [0.2], [0.3]])
    weights = np.array([1.0, -2.0, 1.0])  # almost orthogonal to the rows: 0.1 + 0.3 - 2 * 0.2
    check = check_kernel(Linear(), Points(rows), weights)
    assert check.value >= 0
    near = check_matrix(np.array([[1.0, 1.0 + 1e-15], [1.0 + 1e-15, 1.0]]), np.array([1.0, -1.0]), 16)
    assert near.value < 0
    assert not near.negative


def test_functions_that_insist_on_floats_are_checked_with_sixteen_digits():
    def by_math(rows):
        return np.array([math.cosh(row[0]) for row in rows])

    def of_floats(rows):
        return np.array([float(np.float64(row[0]).round(3)) for row in rows])

    assert check_kernel(Gaussian().weighted(by_math), X, c).digits == 50  # math works through float
    stubborn = Sigmoid().weighted(lambda rows: np.nan_to_num(rows[:, 0].astype(np.float64)) + 0 * np.isnan(rows[:, 0]))
    proof = mercer.prove(stubborn, d=1)
    assert proof.status == "refuted"
    assert proof.witness.digits == 16
    assert check_kernel(Gaussian().weighted(of_floats), X, c).value > 0


def test_a_map_that_gives_floats_is_checked_with_sixteen_digits():
    def floats(rows):
        return np.tanh(rows.astype(np.float64))

    assert check_kernel(Sigmoid().after(np.tanh), X, c).digits == 50
    assert check_kernel(Sigmoid().after(floats), X, c).digits == 16
    assert check_kernel(Sigmoid().after(floats) + Gaussian(), X, c).digits == 16  # sixteen digits in a sum, too
    close = check_kernel(Sigmoid().after(np.tanh), X, c).value
    assert check_kernel(Sigmoid().after(floats), X, c).value == pytest.approx(close, rel=1e-12)


def test_a_matrix_of_floats_has_sixteen_digits():
    class Rounded(mercer.kernels.Dot):
        def profile(self, t):
            return np.tanh(t.astype(np.float64))

    assert check_kernel(Rounded(), X, c).digits == 16


def test_single_precision_inside_a_function_refutes_nothing():
    """A valid kernel with errors of 1e-7 has negative eigenvalues of that size, and is still a valid kernel."""

    def single(x, z):
        return float(np.exp(-np.sum((x - z).astype(np.float32) ** 2) / np.float32(50)))

    found = FunctionSubject(single).matrix(np.linspace(0, 3, 12)[:, None])
    assert np.linalg.eigvalsh(found)[0] < -1e-9
    assert mercer.prove(single, d=1).status == "unknown"


def test_a_kernel_of_your_own_that_insists_on_floats():
    class Stubborn(mercer.kernels.Radial):
        def profile(self, u):
            return np.where(np.isfinite(u), np.maximum(0.0, 1 - u), 0.0)

    proof = mercer.prove(Stubborn(), d=1)
    assert (proof.status, proof.witness.digits) == ("refuted", 16)


def test_angles_have_fifty_digits():
    """Of vectors whose angles are known; the origin has none, and counts as perpendicular."""
    rows = precisely(np.array([[1.0, 0.0], [3.0, 3.0], [0.0, 2.0], [-5.0, 0.0], [0.0, 0.0]]))
    found = PrecisePairs(Points(rows[:1]), Points(rows)).angle()
    mp = context()
    wanted = [mp.mpf(0), mp.pi / 4, mp.pi / 2, mp.pi]
    for value, angle in zip(found[0, :4], wanted, strict=True):
        assert abs(value.value - angle) <= mp.mpf(10) ** -24  # the arccos of a rounded cosine keeps half of the digits
    assert found[0, 4].value == mp.pi / 2  # of no length, so that its weight is zero in every kernel


def test_a_form_of_a_kernel_of_the_angle_is_computed_exactly():
    """Of a quarter and a half turn 1 - a/pi is 1/2 and 0."""
    rows = np.array([[1.0, 0.0], [0.0, 3.0], [-2.0, 0.0]])
    check = check_kernel(ArcCosine(0), Points(rows), np.array([1.0, -2.0, 4.0]))
    assert (check.value, check.digits) == (1 + 4 + 16 - 2 - 8, 50)
