"""Waves: compiled and plain give cosines and sines to the last digits, at every size of phase, tile and table."""

import mpmath
import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

from mercer.compute.codegen import jit_cache
from mercer.errors import NumericalWarning
from mercer.lifts import fourier_loops
from mercer.lifts.fourier_loops import Tiles, Waves

ULP = float(np.finfo(np.float64).eps)
TYPES = ("float64", "float32")
WAYS = ("plain", "compiled")


@pytest.fixture(params=WAYS)
def way(request, monkeypatch):
    if request.param == "compiled":
        pytest.importorskip("numba")
    monkeypatch.setattr(fourier_loops, "MIN_COMPILED_NUMBERS", 0 if request.param == "compiled" else 1 << 60)
    return request.param


def table(n, d, dtype="float64", scale=1.0, seed=0):
    return (scale * np.random.default_rng(seed).normal(size=(n, d))).astype(dtype)


def oracle(frequencies, center, scale, offsets, X):
    """NumPy in extended precision, from the exact values of the arguments."""
    X, W, c = (np.asarray(part, dtype=np.longdouble) for part in (X, frequencies, center))
    phases = (X - c) @ W.T
    if offsets is not None:
        return scale * np.cos(phases + np.asarray(offsets, dtype=np.longdouble))
    return scale * np.concatenate([np.cos(phases), np.sin(phases)], axis=1)


# In float64 the products of d terms are rounded, as a part of |w| |x|; long phases of float32 rows are float64 up to
# their last turn.
@pytest.mark.parametrize("offsets", [False, True], ids=["pairs", "offset"])
@pytest.mark.parametrize(
    ("dtype", "scale", "precision", "tolerance"),
    [
        ("float64", 1.0, "float64", 30 * ULP),
        ("float64", 100.0, "float64", 3000 * ULP),
        ("float32", 0.4, "float32", 1e-6),
        ("float32", 100.0, "mixed", 3e-7),
    ],
)
def test_every_precision_against_extended_precision(dtype, scale, precision, tolerance, offsets, way):
    X, W = table(70, 6, dtype), table(33, 6, seed=1, scale=scale)
    c, t = X.mean(axis=0, dtype=np.float64), np.linspace(0, 2 * np.pi, 33) if offsets else None
    found = Waves(W, c, 1.0, t).of(X)
    assert found.dtype == dtype
    assert Tiles(Waves(W, c, 1.0, t), X).precision == precision
    assert np.abs(found - oracle(W, c, 1.0, t, X)).max() <= tolerance


@pytest.mark.parametrize("d", [1, 90])
def test_the_longest_phases_of_float32_products(d, way):
    X, W = table(200, d, "float32"), table(100, d, seed=1)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    W *= 15.99 / np.linalg.norm(W, axis=1, keepdims=True)
    lift = Waves(W, np.zeros(d), 1.0)
    assert Tiles(lift, X).precision == "float32"
    assert np.abs(lift.of(X) - oracle(W, np.zeros(d), 1.0, None, X)).max() <= 3e-6
    assert Tiles(lift, np.float32(1.01) * X).precision == "mixed"


def test_waves_of_a_rounded_phase_are_right_to_four_units_of_one(way):
    """One column and w = 1: the phase is exact, and only the cosine and the sine are rounded."""
    phases = np.concatenate([np.linspace(-8, 8, 1001), np.geomspace(1e-8, 9.9e5, 1000), np.pi / 2 * np.arange(-50, 51)])
    found = Waves(np.ones((1, 1)), np.zeros(1), 1.0).of(phases[:, None])
    with mpmath.workdps(40):
        wanted = [[float(f(mpmath.mpf(u))) for f in (mpmath.cos, mpmath.sin)] for u in phases.tolist()]
    assert np.abs(found - wanted).max() <= 2 * ULP


@pytest.mark.parametrize("dtype", TYPES)
def test_huge_phases_are_right(dtype, way):
    """As the tails of a Cauchy law have them: beyond what the polynomials reduce."""
    X = np.array([[1.0], [-2.5], [1e3]], dtype=dtype)
    W = np.array([[1.0], [1e4], [1.1e6], [12345678.9], [1e12], [1e200]])
    t = np.array([0.5] * 6)
    phases = X.astype(float) @ W.T  # rounded, as NumPy and BLAS do it: one term
    tolerance = 2 * ULP if dtype == "float64" else 3e-7
    pairs = Waves(W, np.zeros(1), 1.0).of(X)
    assert np.abs(pairs - np.concatenate([np.cos(phases), np.sin(phases)], axis=1)).max() <= tolerance
    assert np.abs(Waves(W, np.zeros(1), 1.0, t).of(X) - np.cos(phases + t)).max() <= tolerance


@pytest.mark.parametrize("dtype", TYPES)
def test_rows_far_from_zero_keep_their_phases(dtype, way):
    """A million off: float32 rows lie on a grid of 1/16 there, and their differences from the origin are exact."""
    X = (1e6 + np.rint(16 * table(50, 3)) / 16).astype(dtype)
    W, c = table(20, 3, seed=1), np.full(3, 1e6)
    found = Waves(W, c, 1.0).of(X)
    near = X.astype(np.float64) - 1e6
    assert np.abs(found - oracle(W, np.zeros(3), 1.0, None, near)).max() <= (1e-14 if dtype == "float64" else 1e-6)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("offsets", [False, True], ids=["pairs", "offset"])
def test_sparse_rows_give_the_same(dtype, offsets, way):
    X = random_array((90, 40), density=0.1, random_state=0, format="csr").astype(dtype)
    W, c = table(25, 40, seed=1), np.linspace(-1, 1, 40)
    t = np.linspace(0, 6, 25) if offsets else None
    found = Waves(W, c, 0.5, t).of(csr_array(X))
    assert type(found) is np.ndarray
    assert found.dtype == dtype
    tolerance = 1e-13 if dtype == "float64" else 1e-6
    assert np.abs(found - Waves(W, c, 0.5, t).of(X.toarray())).max() <= tolerance


@pytest.mark.parametrize("m", [1, 7, 8, 9, 1023, 1025, 2050])
def test_ragged_edges(m, way, monkeypatch):
    monkeypatch.setattr(fourier_loops, "TILE_BYTES", 1 << 14)
    X, W = table(37, 2), table(m, 2, seed=1)
    for t in (None, np.arange(float(m))):
        found = Waves(W, np.zeros(2), 2.0, t).of(X)
        assert np.abs(found - oracle(W, np.zeros(2), 2.0, t, X)).max() <= 1e-12


def test_the_same_bits_for_any_number_of_threads_and_on_every_run():
    pytest.importorskip("numba")
    X, W = table(3_000, 5), table(200, 5, seed=1)
    lift = Waves(W, np.zeros(5), 1.0)
    first = lift.of(X, workers=1)
    assert first.size >= fourier_loops.MIN_COMPILED_NUMBERS
    for workers in (1, 2, 3, None):
        assert np.array_equal(lift.of(X, workers=workers), first)


def test_without_numba_the_answer_is_the_same(monkeypatch):
    X, W = table(3_000, 5), table(200, 5, seed=1)
    compiled = Waves(W, np.zeros(5), 1.0).of(X)
    monkeypatch.setattr(jit_cache, "numba_works", lambda: False)
    assert np.abs(Waves(W, np.zeros(5), 1.0).of(X) - compiled).max() <= 4 * ULP


def test_a_watch_sees_all_of_it_and_may_stop_it():
    X, W = table(3_000, 5), table(200, 5, seed=1)
    seen = []
    Waves(W, np.zeros(5), 1.0).of(X, watch=seen.append)
    assert seen[-1].done == seen[-1].total == 3_000 * 400

    def stop(progress):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Waves(W, np.zeros(5), 1.0).of(X, watch=stop)


def test_phases_that_overflow_are_said(way):
    with pytest.warns(NumericalWarning, match=r"2 phases w.x overflow.*Scale the data down"):
        found = Waves(np.array([[1e300], [1.0]]), np.zeros(1), 1.0).of(np.array([[1e300], [-1e300], [2.0]]))
    assert np.isnan(found[:2, [0, 2]]).all()
    assert np.isfinite(found[:, [1, 3]]).all()


def test_no_rows_at_all(way):
    assert Waves(np.ones((3, 2)), np.zeros(2), 1.0).of(np.empty((0, 2))).shape == (0, 6)
