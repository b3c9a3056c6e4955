"""The search for witnesses: what it must find, what it must not, and that what it finds is simple."""

from __future__ import annotations

from collections.abc import Callable

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from mercer.kernels.proof import configurations, descent, search
from mercer.kernels.proof import examiner as examining

Array = NDArray[np.float64]
Function = Callable[[Array], Array]


def radial(phi: Function) -> Function:
    return lambda points: phi(cdist(points, points))


def dot(function: Function) -> Function:
    return lambda points: function(points @ points.T)


def minimum(points: Array) -> Array:
    return np.asarray(np.minimum(points[:, None], points[None]).sum(axis=-1), dtype=np.float64)


def same(points: Array) -> Array:
    return points


def on_sphere(points: Array) -> Array:
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def triangle(r: Array) -> Array:
    return np.maximum(1.0 - r, 0.0)


def sinc(r: Array) -> Array:
    return np.sinc(r / np.pi)


def periodic(r: Array) -> Array:
    return np.exp(-2.0 * np.sin(np.pi * r) ** 2)


BROKEN = {
    "min": (minimum, (1, 2, 3), 1),
    "minus dot": (dot(lambda t: -t), (1, 3), 1),
    "dot minus one": (dot(lambda t: t - 1.0), (1, 3), 1),
    "tanh(t - 1)": (dot(lambda t: np.tanh(t - 1.0)), (1, 2, 3), 1),
    "tanh(t)": (dot(np.tanh), (1, 2, 3), 2),
    "tanh(t/2 + 1)": (dot(lambda t: np.tanh(0.5 * t + 1.0)), (1, 2, 3), 2),
    "tanh(2 t + 3)": (dot(lambda t: np.tanh(2.0 * t + 3.0)), (1, 2, 3), 3),
    "log(1 + t)": (dot(np.log1p), (1, 2), 2),
    "(9 + t)^1.5": (dot(lambda t: (9.0 + t) ** 1.5), (1, 2), 6),
    "distance": (radial(same), (1, 2), 2),
    "epanechnikov": (radial(lambda r: np.maximum(1.0 - r**2, 0.0)), (1, 2, 3), 3),
    "boxcar": (radial(lambda r: np.where(r < 1.0, 1.0, 0.0)), (1, 2), 3),
    "exp(-r^3)": (radial(lambda r: np.exp(-(r**3))), (1,), 3),
    "exp(-r^4)": (radial(lambda r: np.exp(-(r**4))), (1,), 3),
    "exp(-r^2.05)": (radial(lambda r: np.exp(-(r**2.05))), (1,), 5),
    "cosine": (radial(np.cos), (2, 3), 3),
    "periodic": (radial(periodic), (2, 3), 4),
    "triangle": (radial(triangle), (2, 3), 20),
    "sinc": (radial(sinc), (4, 5), 10),
}
KERNELS = [
    ("gaussian", radial(lambda r: np.exp(-(r**2))), same, 2),
    ("laplace", radial(lambda r: np.exp(-r)), same, 3),
    ("matern 3/2", radial(lambda r: (1.0 + r) * np.exp(-r)), same, 1),
    ("matern 5/2", radial(lambda r: (1.0 + r + r**2 / 3.0) * np.exp(-r)), same, 5),
    ("polynomial", dot(lambda t: (1.0 + t) ** 3), same, 2),
    ("exponential", dot(np.exp), same, 3),
    ("min on the non-negative reals", minimum, np.abs, 2),
    ("min on the non-negative integers", minimum, lambda x: np.abs(np.rint(x)), 1),
    ("sinc", radial(sinc), same, 3),
    ("triangle", radial(triangle), same, 1),
    ("triangle squared", radial(lambda r: triangle(r) ** 2), same, 3),
    ("cube of the cosine on the sphere", dot(lambda t: t**3), on_sphere, 3),
]


def check_witness(found: search.Search, gram: Function) -> None:
    """Recompute the form and ask for more than rounding."""
    assert found.points is not None
    assert found.weights is not None
    matrix = gram(found.points)
    assert found.value == pytest.approx(found.weights @ matrix @ found.weights, rel=1e-9)
    size = np.abs(found.weights)
    assert found.value < -1e-9 * (size @ np.abs(matrix) @ size)
    assert np.max(size) == 1.0
    assert np.all(found.weights != 0.0)


@pytest.mark.parametrize(("name", "d"), [(name, d) for name, (_, ds, _) in BROKEN.items() for d in ds])
def test_a_function_that_is_no_kernel_is_refuted(name: str, d: int) -> None:
    gram, _, most = BROKEN[name]
    found = search.find_witness(gram, same, d)
    check_witness(found, gram)
    assert found.points is not None
    assert found.points.shape[1] == d
    assert len(found.points) <= most


@pytest.mark.parametrize(("gram", "place", "d"), [case[1:] for case in KERNELS], ids=[c[0] for c in KERNELS])
def test_a_kernel_is_not_refuted(gram: Function, place: Function, d: int) -> None:
    found = search.find_witness(gram, place, d)
    assert found.points is None
    assert found.weights is None
    assert found.value == 0.0
    assert found.trials > 500


@pytest.mark.parametrize("place", [same, np.rint])
def test_min_is_refuted_by_the_point_minus_one(place: Function) -> None:
    found = search.find_witness(minimum, place, 1)
    assert found.points is not None
    assert found.points.tolist() == [[-1.0]]
    assert found.value == -1.0


def test_a_witness_is_rounded() -> None:
    found = search.find_witness(radial(lambda r: np.exp(-(r**4))), same, 1)
    assert found.points is not None
    assert found.weights is not None
    assert np.array_equal(found.points, np.round(found.points, 1))
    assert np.array_equal(found.weights, np.round(found.weights, 1))


def test_a_witness_survives_fifty_digits() -> None:
    found = search.find_witness(dot(lambda t: (9.0 + t) ** 1.5), same, 1)
    assert found.points is not None
    assert found.weights is not None
    with mpmath.workdps(50):
        x = [mpmath.mpf(p) for p in found.points[:, 0].tolist()]
        c = [mpmath.mpf(w) for w in found.weights.tolist()]
        form = mpmath.fsum(
            a * b * (9 + p * q) ** mpmath.mpf("1.5")
            for a, p in zip(c, x, strict=True)
            for b, q in zip(c, x, strict=True)
        )
    assert form < 0
    assert float(form) == pytest.approx(found.value, rel=1e-6)


def test_a_witness_stays_in_the_domain() -> None:
    gram = dot(lambda t: np.tanh(3.0 * t))
    found = search.find_witness(gram, on_sphere, 3)
    check_witness(found, gram)
    assert found.points is not None
    assert np.allclose(np.linalg.norm(found.points, axis=1), 1.0, rtol=0.0, atol=1e-15)
    whole = search.find_witness(radial(lambda r: np.exp(-((r / 5.0) ** 4))), np.rint, 1, scale=5.0)
    assert whole.points is not None
    assert np.array_equal(whole.points, np.rint(whole.points))


@pytest.mark.parametrize("scale", [1e-3, 200.0])
def test_the_scale_of_the_function_is_followed(scale: float) -> None:
    gram = radial(lambda r: triangle(r / scale))
    check_witness(search.find_witness(gram, same, 2, scale=scale), gram)


def test_the_frequency_leads_to_lattices_that_are_too_large_otherwise() -> None:
    # The scan stops at a hundred typical lengths; the frequency says to look further out.
    length = 3000.0
    gram = radial(lambda r: triangle(r / length))
    assert search.find_witness(gram, same, 3).points is None
    check_witness(search.find_witness(gram, same, 3, frequency=7.5 / length), gram)


def test_descent_moves_points_to_where_the_form_is_negative(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "_scan", lambda *_: None)
    gram = dot(lambda t: np.tanh(2.0 * t + 3.0))
    check_witness(search.find_witness(gram, same, 2), gram)


def test_the_gradient_of_the_pencil_is_its_derivative() -> None:
    examiner = examining.Examiner(dot(lambda t: (2.0 + t) ** 2.5), same)
    points = 0.5 * np.random.default_rng(0).normal(size=(4, 2))
    _, slope = descent.pencil(examiner, points, 1.0)
    for i, a in np.ndindex(4, 2):
        step = np.zeros((4, 2))
        step[i, a] = 1e-5
        ahead, behind = (descent.pencil(examiner, points + sign * step, 1.0)[0] for sign in (1.0, -1.0))
        assert slope[i, a] == pytest.approx((ahead - behind) / 2e-5, rel=1e-2, abs=1e-5)


def test_sets_without_numbers_are_skipped() -> None:
    found = search.find_witness(lambda points: np.full((len(points), len(points)), np.nan), same, 2)
    assert found.points is None


def test_a_search_repeats_itself() -> None:
    first, second = (search.find_witness(radial(triangle), same, 3) for _ in range(2))
    assert first.points is not None
    assert second.points is not None
    assert np.array_equal(first.points, second.points)
    assert (first.value, first.trials) == (second.value, second.trials)


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 7])
def test_structured_sets_come_simplest_first_and_have_distinct_points(d: int) -> None:
    sets = configurations.structured(d)
    counts = [len(each.points) for each in sets]
    assert counts == sorted(counts)
    assert counts[0] == 1
    for each in sets:
        assert each.points.shape[1] == d
        assert len(np.unique(np.round(each.points, 9), axis=0)) == len(each.points), each.name


@pytest.mark.parametrize("d", [2, 3, 4, 5])
def test_lattice_balls_have_unit_spacing_and_known_shells(d: int) -> None:
    sizes: dict[str, list[int]] = {}
    for each in configurations.lattice_balls(d, 100):
        distances = cdist(each.points, each.points)
        assert distances[distances > 0.0].min() == pytest.approx(1.0), each.name
        lattice = each.name.split()[3]
        if each.name.endswith("vertex"):
            sizes.setdefault(lattice, []).append(len(each.points))
    assert sizes[f"Z^{d}"][0] == 2 * d + 1
    assert sizes[f"A_{d}"][0] == d * (d + 1) + 1
    if d >= 4:
        assert sizes[f"D_{d}"][0] == 2 * d * (d - 1) + 1  # the 24-cell and its centre for d = 4
