"""Kernels as waves on a grid: the bound holds, weights are not negative, and what has none says so."""

import numpy as np
import pytest
from scipy.integrate import quad

from mercer import kernels as k
from mercer.kernels.waves import FrequencyGrid

RANDOM = np.random.default_rng(0)
CASES = [
    (k.Gaussian(0.3), 1, 40),
    (k.Gaussian(0.4), 3, 8),
    (k.Matern(1.5, 0.2), 2, 30),
    (k.Matern(0.7, 0.3), 1, 80),
    (k.Laplace(0.2), 2, 30),
    (k.RationalQuadratic(4.0, 0.2), 2, 20),
    (k.RationalQuadratic(1.5, 0.2), 1, 60),
    (k.Wendland(3, 1, 0.5), 2, 30),
    (k.Wendland(1, 0, 0.5), 1, 90),
    (k.Wendland(3, 2, 0.7), 3, 8),
    (2 * k.Gaussian(0.3) + k.Laplace(0.3), 2, 25),
    (k.Gaussian(0.4) * k.Matern(1.5, 0.5), 2, 25),
    (k.Gaussian(0.6) ** 3, 1, 40),
    (k.Gaussian().scaled([0.3, 0.5]), 2, 20),
    (k.Matern(1.5, 0.3).on([1]) + k.Gaussian(0.2).on([0]), 2, 30),
    (k.Matern(2.5, 0.3).on([2]) * k.Gaussian(0.3).scaled([1, 2]).on([1, 0]), 3, 9),
    (k.Gaussian(0.4) + 0.5, 1, 20),
]


def of_waves(grid, weights, differences):
    """sum_j p_j cos(w_j . t)."""
    found = weights.values.astype(complex)
    axes = grid.axes()
    for axis in reversed(range(len(axes))):
        found = (
            np.tensordot(found, np.exp(1j * np.outer(axes[axis], differences[:, axis])), axes=(axis, 0))
            if (axis == len(axes) - 1)
            else np.einsum("...jn,jn->...n", found, np.exp(1j * np.outer(axes[axis], differences[:, axis])))
        )
    return found.real


@pytest.mark.parametrize(("kernel", "d", "order"), CASES, ids=[str(case[0]) for case in CASES])
def test_the_bound_holds_and_is_not_idle(kernel, d, order):
    grid = FrequencyGrid((2.6,) * d, (order,) * d, (1.0,) * d)
    weights = kernel.waves(grid)
    X = np.vstack([RANDOM.uniform(0, 1, (30, d)), np.zeros(d), np.ones(d)])
    differences = (X[:, None] - X).reshape(-1, d)
    off = np.abs(of_waves(grid, weights, differences) - kernel(X).ravel()).max()
    bound = weights.aliasing + weights.dropped
    assert (weights.values >= 0).all()
    assert off <= bound + 1e-9 * weights.total
    assert bound <= 60 * off + 1e-6


@pytest.mark.parametrize(
    ("kernel", "d"),
    [
        (k.Linear(), 1),
        (k.Periodic(), 1),
        (k.RationalQuadratic(0.4), 1),
        (k.RationalQuadratic(1.0), 2),
        (k.Gaussian() + k.Linear(), 1),
        (k.Gaussian() * k.Polynomial(), 1),
        (k.Gaussian().on(["a"]), 1),
        (k.Gaussian().on([0, 0]), 1),
        (k.Gaussian().scaled([1, 2]), 3),
        (k.Wendland(1, 0), 2),
        (k.Matern(1.5) ** 0.5, 1),
    ],
    ids=str,
)
def test_what_has_no_waves_says_so(kernel, d):
    assert kernel.waves(FrequencyGrid((3.0,) * d, (5,) * d, (1.0,) * d)) is None


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("kernel", [k.Gaussian(0.7), k.Matern(0.8, 1.3), k.RationalQuadratic(3.0, 0.6), k.Laplace(0.5)])
def test_a_density_has_the_mass_of_its_law(kernel, d):
    sphere = {1: 2.0, 2: 2 * np.pi, 3: 4 * np.pi}[d]
    found = quad(lambda w: sphere * w ** (d - 1) * kernel.density(np.array([w]), d)[0], 0, np.inf, limit=300)[0]
    assert found == pytest.approx(1.0, rel=1e-6)
