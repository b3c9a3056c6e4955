"""The parts of Bochner's test and of a spectral witness, each against a closed form or mpmath."""

import math

import mpmath
import numpy as np
import pytest
from scipy.special import gamma

from mercer.kernels import Gaussian, Radial
from mercer.kernels.domain import REALS
from mercer.kernels.proof import bochner, spectral
from mercer.kernels.proof.examiner import weighed
from mercer.kernels.proof.record import SpectralWitness, Witness
from mercer.kernels.proof.subject import KernelSubject

EDGES = np.array([0.0, 0.5, 0.75, 2.0])


@pytest.mark.parametrize("power", [0, 1, 2, 5, 31])
def test_a_rule_is_exact_for_polynomials(power):
    """Gauss's rule of 16 nodes integrates x^k exactly up to k = 31, on each panel and on all."""
    panels = np.column_stack([EDGES[:-1], EDGES[1:]])
    exact = (panels[:, 1] ** (power + 1) - panels[:, 0] ** (power + 1)) / (power + 1)
    np.testing.assert_allclose(bochner._panel_sums(lambda x: x**power, panels), exact, rtol=1e-13)
    nodes, weighted = bochner._rule(lambda x: x**power, EDGES)
    assert weighted.sum() == pytest.approx(2.0 ** (power + 1) / (power + 1), rel=1e-13)
    assert nodes.shape == weighted.shape == (3 * 16,)
    assert ((nodes > 0.0) & (nodes < 2.0)).all()


def test_panels_are_split():
    np.testing.assert_array_equal(bochner._halve(EDGES), [0.0, 0.25, 0.5, 0.625, 0.75, 1.375, 2.0])
    np.testing.assert_allclose(bochner._cap(EDGES, 0.5), [0.0, 0.5, 0.75, 0.75 + 1.25 / 3, 0.75 + 2.5 / 3, 2.0])
    np.testing.assert_array_equal(bochner._cap(EDGES, 2.0), EDGES)


def test_a_tail_of_nothing_is_cut_and_no_other():
    edges = np.linspace(0.0, 4.0, 5)
    found = bochner._without_tail(lambda x: np.where(x < 2.5, 1.0, 0.0), edges, 2.5)
    np.testing.assert_array_equal(found, edges[:4])
    np.testing.assert_array_equal(bochner._without_tail(np.ones_like, edges, 4.0), edges)
    np.testing.assert_array_equal(bochner._without_tail(np.zeros_like, edges, 0.0), edges[:2])


def test_panels_shrink_around_a_kink_and_nowhere_else():
    found = bochner._resolve(lambda x: np.abs(x - 0.3), np.linspace(0.0, 1.0, 5))
    widths = np.diff(found)
    assert found[0] == 0.0
    assert found[-1] == 1.0
    assert np.abs(found - 0.3).min() < 1e-6
    assert widths[found[:-1] >= 0.5].tolist() == [0.25, 0.25]
    assert bochner._rule(lambda x: np.abs(x - 0.3), found)[1].sum() == pytest.approx(0.045 + 0.245, abs=1e-14)


@pytest.mark.parametrize("d", range(1, 11))
def test_means_of_plane_waves(d):
    t = np.concatenate([np.linspace(0.0, 8.0, 81), [20.0, 57.0, 300.0]])
    exact = [float(mpmath.hyp0f1(mpmath.mpf(d) / 2, -(mpmath.mpf(x) ** 2) / 4)) for x in t.tolist()]
    np.testing.assert_allclose(bochner._omega(d, t), exact, rtol=0, atol=3e-13)
    near = t[t < 0.5 * d + 1.0]
    np.testing.assert_allclose(bochner._omega_series(d, near), exact[: len(near)], rtol=0, atol=1e-13)


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 8])
def test_the_transform_of_a_gaussian_is_one(d):
    """With a window the variances add: 1 / s^2 = 1 + 1 / R^2, and the transform is that of exp(-r^2 / (2 s^2))."""
    window, frequencies = 3.0, np.array([0.3, 1.0, 2.5])
    integrand = bochner._windowed(lambda r: np.exp(-(r**2) / 2), d, window)
    edges = bochner._edges(integrand, window)
    found = bochner._transform(bochner._rule(integrand, bochner._cap(edges, 0.2)), d, frequencies)
    s = 1 / math.sqrt(1 + 1 / window**2)
    exact = 2 ** (d / 2 - 1) * gamma(d / 2) * s**d * np.exp(-((s * frequencies) ** 2) / 2)
    np.testing.assert_allclose(found, exact, rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize("scale", [0.5, 2.0])
@pytest.mark.parametrize("d", [1, 2, 3, 5, 40])
def test_the_same_with_fifty_digits(d, scale):
    """As a part of the integral of |k|; beyond ten dimensions a subspace of ten is looked at."""
    subject, window, frequency = KernelSubject.of(Gaussian(scale)), 3.0 * scale, 0.8 / scale
    s = 1 / math.sqrt(1 / scale**2 + 1 / window**2)
    found = spectral._quadrature(subject, frequency, window, d)
    assert found == pytest.approx(math.exp(-((s * frequency) ** 2) / 2), rel=1e-9)


def test_frequencies_are_as_many_as_can_be_afforded():
    """In steps of 0.4 over the window or a third of what is integrated, from half a step on, up to 60 a scale."""
    for reach, window, scale in [
        (9.0, 1.0, 1.0),
        (1.5, 3.0, 1.0),
        (90.0, 10.0, 10.0),
        (9000.0, 1000.0, 1.0),
        (9.0, 1.0, 50.0),
    ]:
        found = bochner._frequencies(reach, window, scale)
        step = 0.4 / min(window, reach / 3)
        np.testing.assert_allclose(found, step * (np.arange(len(found)) + 0.5))
        nodes = reach * found[-1] / np.pi * 16
        assert len(found) == 8 or nodes * len(found) <= 800_000
        assert len(found) == 8 or found[-1] <= 60.0 / scale
        assert len(found) == 8 or (nodes * len(found) > 0.98 * 800_000) or found[-1] + step > 60.0 / scale


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_a_form_is_clear_only_beyond_its_noise(unit):
    """The noise of each entry is a part of the largest, which may have next to no weight: n^2 entries of it count."""
    weights = np.array([1e-8, 1.0, 1.0, 1.0])

    def clear(v):
        return weighed(np.zeros((4, 1)), unit * np.diag([1.0, -v, -v, -v]), weights, -1.0).clear

    assert not clear(2.5e-13)  # 3 v is below 1e-13 times 9
    assert clear(3.5e-13)
    balanced = np.array([[1.0, 1.0 + 1e-9], [1.0 + 1e-9, 1.0]])
    assert not weighed(np.zeros((2, 1)), balanced, np.array([1.0, -1.0]), -1.0).clear  # 2e-9 of a total of 4
    balanced = np.array([[1.0, 1.0 + 3e-9], [1.0 + 3e-9, 1.0]])
    assert weighed(np.zeros((2, 1)), balanced, np.array([1.0, -1.0]), -1.0).clear


def test_weights_are_scaled_to_the_largest():
    found = weighed(np.zeros((2, 1)), np.array([[1.0, 3.0], [3.0, 2.0]]), np.array([2.0, -4.0]), -0.5)
    assert found.weights.tolist() == [-0.5, 1.0]
    assert found.value == 0.25 - 3.0 + 2.0
    assert (found.ratio, found.clear) == (-0.5, True)


def test_a_spectral_witness_says_which_window_it_looked_through():
    assert "windowed by exp(-r^2 / (2 3^2))" in str(SpectralWitness(1.5, -0.25, 3.0, 50))
    assert "windowed" not in str(SpectralWitness(1.5, -0.25, math.inf, 50))


@pytest.mark.parametrize(("count", "words"), [(1, "Witness: 1 point<"), (2, "Witness: 2 points<")])
def test_a_card_counts_points(count, words):
    assert words in "".join(map(str, Witness(np.zeros((count, 1)), np.ones(count), -0.5, 50)._html_pieces()))


def test_the_dimension_that_was_tested_is_named():
    class Bump(Radial):
        def profile(self, u):
            return np.exp(-u * u)

    class Cauchy(Radial):
        def profile(self, u):
            return 1 / (1 + u)

    def words(kernel, d):
        return " ".join(spectral.suspect(KernelSubject.of(kernel), d, REALS).words)

    assert words(Bump(), 12) == words(Bump(), 10) + ", and a kernel on R^12 would be one on R^10"
    assert "the Fourier transform on R^10 is negative near" in words(Bump(), 10)
    assert "Bochner test on R^10 found no negative frequency" in words(Cauchy(), 12)
