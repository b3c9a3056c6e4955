"""Latitude and longitude: points on a sphere, in kernels, in proofs and in proposals."""

import numpy as np
import pandas as pd
import pytest

import mercer
from mercer import kernel_for, prove
from mercer.kernels import Gaussian, Geodesic, Laplace, Matern

PLACES = np.array([[48.2, 16.4], [52.5, 13.4], [-33.9, 151.2], [90.0, 0.0], [90.0, 77.0], [0.0, 180.0], [0.0, -180.0]])


def chords(places, radius=1.0):
    """Straight distances, by the haversine formula."""
    north, east = np.radians(places).T
    half = np.sin((north[:, None] - north) / 2) ** 2
    half = half + np.cos(north)[:, None] * np.cos(north) * np.sin((east[:, None] - east) / 2) ** 2
    return 2 * radius * np.sqrt(half)


@pytest.mark.parametrize("radius", [1.0, 6371.0088])
@pytest.mark.parametrize("shape", [Gaussian, Laplace, Matern])
def test_kernels_on_a_sphere_see_straight_distances(shape, radius):
    inner = shape(lengthscale=0.3 * radius)
    kernel = inner.on_sphere(radius)
    wanted = np.array([[inner([[0.0]], [[d]]).item() for d in row] for row in chords(PLACES, radius)])
    np.testing.assert_allclose(kernel(PLACES), wanted, rtol=1e-9)
    assert prove(kernel, 2).status == "proven"
    assert mercer.parse(str(kernel)) == kernel
    np.testing.assert_allclose(kernel(PLACES[3:4], PLACES[4:5]), 1.0)  # the pole has all longitudes
    np.testing.assert_allclose(kernel(PLACES[5:6], PLACES[6:7]), 1.0)  # the date line is one


def test_a_radius_is_positive():
    for radius in (0.0, -1.0, np.nan, "earth"):
        with pytest.raises(mercer.errors.KernelError, match="radius"):
            Gaussian().on_sphere(radius)


@pytest.mark.parametrize("power", [0.3, 1.0])
@pytest.mark.parametrize("lengthscale", [0.1, 1.0, 10.0])
def test_powers_up_to_one_are_kernels(power, lengthscale):
    kernel = Geodesic(power, lengthscale)
    draw = np.random.default_rng(0)
    for d in (2, 3, 5):
        X = draw.normal(size=(60, d))
        angles = np.arccos(np.clip((X @ X.T) / np.outer(*[np.linalg.norm(X, axis=1)] * 2), -1, 1))
        np.fill_diagonal(angles, 0.0)
        np.testing.assert_allclose(kernel(X), np.exp(-((angles / lengthscale) ** power)), rtol=1e-6)
        assert np.linalg.eigvalsh(kernel(X)).min() > -1e-12
        assert prove(kernel, d).status == "proven"
    assert prove(kernel.on_sphere(), 2).status == "proven"
    assert kernel.divisible


def test_the_geodesic_gaussian_is_refuted_with_a_witness():
    for kernel, d in ((Geodesic(power=2.0), 3), (Geodesic(power=2.0).on_sphere(), 2)):
        proof = prove(kernel, d)
        assert proof.status == "refuted"
        points, weights = np.array(proof.witness.points, float), np.array(proof.witness.weights, float)
        assert weights @ kernel(points) @ weights < 0
        assert "Gneiting" in str(proof)


def test_columns_that_are_places():
    draw = np.random.default_rng(0)
    table = pd.DataFrame({
        "price": draw.normal(size=50),
        "pickup_latitude": 40 + draw.random(50),
        "pickup_longitude": -74 + draw.random(50),
        "dropoffLat": 40 + draw.random(50),
        "dropoffLng": -74 + draw.random(50),
        "latency": draw.random(50),
        "long": draw.random(50) * 1000,
    })  # fmt: skip
    proposal = kernel_for(table, "price")
    taken = {choice.name: choice.taken_for for choice in proposal.columns}
    assert [taken[name] for name in table] == [
        "target", "latitude", "longitude", "latitude", "longitude", "number", "number"
    ]  # fmt: skip
    kernel = proposal.kernel
    assert mercer.parse(str(kernel)) == kernel
    assert prove(kernel).status == "proven"
    assert "on the sphere with 'pickup_longitude'" in str(proposal)
    alone = proposal.without("dropoffLng").kernel
    assert "dropoffLng" not in str(alone)
    assert alone(table).shape == (50, 50)


def test_places_count_as_two_numbers():
    """In a small region the kernel is that of two numbers, with degrees of longitude as long as they are there."""
    draw = np.random.default_rng(1)
    lat, lon = 60 + 0.01 * draw.random(80), 10 + 0.02 * draw.random(80)  # at 60 degrees half as long
    proposal = kernel_for(pd.DataFrame({"lat": lat, "lon": lon}))
    plain = np.column_stack([lat, lon / 2])
    by = np.sqrt(plain.var(axis=0).sum() / 2)
    wanted = Gaussian(proposal.lengthscale * by)(plain)
    np.testing.assert_allclose(proposal.kernel(pd.DataFrame({"lat": lat, "lon": lon})), wanted, atol=2e-3)


def test_columns_that_are_not():
    for names, lat in ((("lat", "lon"), 400.0), (("lat", "depth"), 40.0), (("flat", "salon"), 40.0)):
        table = pd.DataFrame({names[0]: lat + np.arange(30.0) / 7, names[1]: np.arange(30.0) ** 1.5})
        assert {choice.taken_for for choice in kernel_for(table).columns} == {"number"}


@pytest.mark.parametrize(
    ("text", "kernel"),
    [
        ("exp(-geodesic(x, z))", Geodesic()),
        ("exp(-2 geodesic(x, z))", Geodesic(lengthscale=0.5)),
        ("exp(-arccos(x.z/(|x||z|)))", Geodesic()),
        ("exp(-acos(<x,z>/(|x| |z|))/3)", Geodesic(lengthscale=3.0)),
        ("exp(-geodesic(x, z)^2)", Geodesic(power=2.0)),
        ("geodesic(power=0.5)", Geodesic(power=0.5)),
    ],
)
def test_formulas_of_the_geodesic_distance(text, kernel):
    assert mercer.parse(text) == kernel
    assert prove(text, 3).status == ("refuted" if kernel.power > 1 else "proven")
