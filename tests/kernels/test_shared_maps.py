"""Two maps in one tree: what one of them made of the points is not taken for the other's."""

import numpy as np
import pytest

from mercer.kernels import ArcCosine, Gaussian, Laplace, Linear, Matern
from mercer.kernels.domain import INTEGERS, NATURALS, NONNEGATIVE, REALS, Preimage

X = np.random.default_rng(0).normal(size=(7, 3))
FIRST, SECOND = np.array([1.0, 2.0, 5.0]), np.array([4.0, 0.5, 1.0])
TURN = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, -1.0]])
PAIRS = {
    "scaled": (Gaussian().scaled(FIRST), X / FIRST, Gaussian().scaled(SECOND), X / SECOND),
    "on": (Gaussian().on([0]), X[:, [0]], Gaussian().on([2, 1]), X[:, [2, 1]]),
    "after a matrix": (Gaussian().after(TURN), X @ TURN.T, Gaussian().after(3 * TURN), 3 * X @ TURN.T),
    "after a function": (Gaussian().after(np.tanh), np.tanh(X), Gaussian().after(np.square), np.square(X)),
    "scaled and on": (Gaussian().scaled(FIRST), X / FIRST, Gaussian().on([1]), X[:, [1]]),
}


def gaussian(rows):
    return np.exp(-((rows[:, None] - rows[None]) ** 2).sum(axis=2) / 2)


@pytest.mark.parametrize("name", PAIRS)
def test_maps_of_one_kind_are_told_apart(name):
    one, rows, other, moved = PAIRS[name]
    np.testing.assert_allclose((one + other)(X), gaussian(rows) + gaussian(moved), rtol=1e-12)
    np.testing.assert_allclose((one * other)(X), gaussian(rows) * gaussian(moved), rtol=1e-12)
    np.testing.assert_allclose((one * one + other)(X), gaussian(rows) ** 2 + gaussian(moved), rtol=1e-12)


@pytest.mark.parametrize("name", [name for name in PAIRS if "function" not in name])
def test_keys_of_maps_are_equal_where_maps_are(name):
    one, _, other, _ = PAIRS[name]
    assert one.map_key is not None
    assert one.map_key != other.map_key
    assert one.with_children((Matern(),)).map_key == one.map_key


def test_what_is_of_the_distance_alone():
    assert (Gaussian() + Laplace()).radial
    assert (Gaussian() * Matern()).radial
    assert not (Gaussian() + Linear()).radial
    assert not (Linear() * Gaussian()).radial


def test_points_that_a_map_leads_out_of_a_domain():
    before = Preimage("first", "x1 - x2", lambda values: values[:, :1] - values[:, 1:2], NONNEGATIVE)
    rows = np.array([[3.0, 1.0], [1.0, 3.0], [2.0, 2.0]])
    np.testing.assert_array_equal(before.misfits(rows), [[False, False], [True, True], [False, False]])
    np.testing.assert_array_equal(before.place(rows), rows)
    assert before.phrase.startswith("the points x with x1 - x2 in ")


def test_formulas_of_the_arc_cosine_kernels():
    assert ArcCosine(0).latex() == r"1 - \frac{\theta}{\pi}, \quad \theta = \angle(x, z)"
    ramp = ArcCosine(1).latex("a", "b")
    assert r"\lVert a \rVert \lVert b \rVert" in ramp
    assert r"\sin\theta + (\pi - \theta) \cos\theta" in ramp


@pytest.mark.parametrize(
    ("domain", "matrix", "image"),
    [
        (REALS, [[1.0, 2.0]], REALS),
        (INTEGERS, [[1.0, -2.0]], INTEGERS),
        (INTEGERS, [[0.5, 1.0]], REALS),
        (NATURALS, [[1.0, 2.0]], NATURALS),
        (NATURALS, [[1.0, -2.0]], INTEGERS),
        (NATURALS, [[0.5, 0.0]], NONNEGATIVE),
        (NATURALS, [[0.5, -1.0]], REALS),
        (NONNEGATIVE, [[1.0, 2.0]], NONNEGATIVE),
        (NONNEGATIVE, [[1.0, -2.0]], REALS),
    ],
)
def test_where_a_matrix_leads(domain, matrix, image):
    """Integers stay whole under a whole matrix, numbers from 0 on stay so under one without minus."""
    kernel = Gaussian().after(np.array(matrix))
    assert kernel.image(domain) is image
    assert (kernel.map_label, kernel.width) == ("A x", 2)


def test_where_a_function_leads():
    """A function with a name keeps what it keeps; of another one nothing is known."""
    kernel = Gaussian().after(np.tanh)
    assert (kernel.image(NATURALS), kernel.image(REALS)) == (NONNEGATIVE, REALS)
    assert (kernel.map_label, kernel.width) == ("tanh(x)", None)
    assert Gaussian().after(lambda X: X + 1).image(NATURALS) is REALS
