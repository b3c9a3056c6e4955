"""How many features suffice: the bounds against their formulas, and against the truth on hundreds of draws."""

import math

import numpy as np
import pytest

from mercer.errors import InputError, KernelError
from mercer.kernels import (
    Gaussian,
    Laplace,
    Linear,
    Matern,
    Min,
    Periodic,
    RationalQuadratic,
    Sinc,
)
from mercer.lifts.components import components_for
from mercer.lifts.fourier import RandomFourier

POINTS = np.array([[0.0], [0.01], [0.3], [1.0], [5.0]])
DRAWS = 300


def drawn(kernel, D, form="pairs"):
    """The features of the points, for each of many draws: parts of one large one, since its waves are independent."""
    F = RandomFourier(kernel, DRAWS * D, form=form, sampling="iid", random_state=0).fit_transform(POINTS)
    waves = 2 if form == "pairs" else 1
    split = F.reshape(len(POINTS), waves, DRAWS, D // waves).transpose(2, 0, 1, 3)
    return math.sqrt(DRAWS) * split.reshape(DRAWS, len(POINTS), D)


# -- kernel values -----------------------------------------------------------------------------------------------------


def test_the_number_of_the_specification():
    """A million points, 0.1, one in a hundred: about 7,300."""
    pairs = 10**6 * (10**6 - 1) / 2
    m = math.log(2 * pairs / 0.01) * (2 * 0.5 + 2 / 3 * 2 * 0.1) / 0.1**2
    assert components_for(Gaussian(), 0.1, 0.01, 10**6) == 2 * math.ceil(m) == 7308
    assert RandomFourier.components_for("gaussian('median')", 0.1, 0.01, 10**6) == 7308


@pytest.mark.parametrize(
    ("kernel", "variance"),
    [(Laplace(), 1 / 2), (Matern(0.2), 9 / 16), (RationalQuadratic(), 9 / 16), (Sinc(), 9 / 16), (Periodic(), 1.0)],
    ids=str,
)
def test_bernstein_for_both_forms(kernel, variance):
    n, delta, t = 500, 0.05, 0.2
    m = math.log(n * (n - 1) / delta) * (2 * variance + 4 / 3 * t) / t**2
    assert components_for(kernel, t, delta, n) == 2 * math.ceil(m)
    m = math.log(n * (n + 1) / delta) * (2 * variance + 1 + 2 * t) / t**2
    assert components_for(kernel, t, delta, n, form="offset") == math.ceil(m)


@pytest.mark.parametrize("form", ["pairs", "offset"])
@pytest.mark.parametrize("kernel", [Gaussian(), 3 * Laplace(0.5), Gaussian() + Sinc(0.3), Periodic(2.0, 0.1)], ids=str)
def test_the_bound_fails_no_more_often_than_promised(kernel, form):
    """And an eighth of the features fails more often, so that the bound says something."""
    mass, delta = kernel.law(1).mass, 0.1
    D = components_for(kernel, 0.5 * mass, delta, len(POINTS), form)
    K = kernel(POINTS)
    for count, holds in [(D, True), (D // 16 * 2, False)]:
        errors = [np.abs(F @ F.T - K).max() for F in drawn(kernel, count, form)]
        assert (np.mean(np.array(errors) > 0.5 * mass) <= delta) == holds


def test_the_error_is_absolute_so_that_it_scales_with_the_mass():
    assert components_for(4 * Gaussian(), 0.4, 0.01, 100) == components_for(Gaussian(), 0.1, 0.01, 100)
    assert components_for(4 * Gaussian(), 0.1, 0.01, 100) > 12 * components_for(Gaussian(), 0.1, 0.01, 100)
    assert components_for(0.0 * Gaussian(), 0.1, 0.01, 100) == 2
    assert components_for(0.0 * Gaussian(), 0.1, 0.01, 100, form="offset") == 1


def test_lengthscales_columns_and_names_do_not_matter():
    wanted = components_for(Gaussian(), 0.1, 0.01, 100)
    for kernel in (
        Gaussian(7.0),
        Gaussian("median"),
        Gaussian().on(["age", "height"]),
        Gaussian().on([3, -1]),
        Gaussian().scaled([1.0, 2.0]).on(["a", "b"]),
        Gaussian().after(np.ones((2, 5))),
        Laplace().on("a") * Gaussian().on([0, 4]) * Gaussian(),
        "gaussian.on(['a']) * matern(2.5)",
    ):
        assert components_for(kernel, 0.1, 0.01, 100) == wanted


def test_one_point_needs_no_pairs():
    assert components_for(Gaussian(), 0.5, 0.01, 1) == components_for(Gaussian(), 0.5, 0.01, 2)


# -- refusals ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"epsilon": 0.0}, r"components_for needs a positive epsilon; got 0.0"),
        ({"epsilon": "small"}, "a positive epsilon; got 'small'"),
        ({"epsilon": 1.0, "error": "distance"}, "epsilon between zero and 1; got 1.0"),
        ({"delta": 1.0}, "delta between zero and 1; got 1.0"),
        ({"delta": True}, "delta between zero and 1; got True"),
        ({"n": 0}, "an integer n of at least one; got 0"),
        ({"n": 2.5}, "an integer n of at least one; got 2.5"),
        ({"form": "sines"}, "form 'pairs' or 'offset'; got 'sines'"),
        ({"error": "mean"}, "error 'kernel' or 'distance'; got 'mean'"),
        ({"kernel": 3}, "a kernel or its text; got 3"),
    ],
)
def test_what_is_asked_is_checked(changes, message):
    asked = {"kernel": Gaussian(), "epsilon": 0.1, "delta": 0.01, "n": 100} | changes
    with pytest.raises((InputError, KernelError), match=message):
        components_for(**asked)


def test_a_kernel_without_a_law_is_named():
    message = r"components_for needs a stationary kernel whose spectral law is known; min has none. Use Nystrom, which"
    for kernel in (Min(), Gaussian() + 2 * Min(), (Gaussian() * Min().on([1, 2])).normalized()):
        with pytest.raises(KernelError, match=message):
            components_for(kernel, 0.1, 0.01, 100)
    with pytest.raises(KernelError, match=r"linear has none"):
        components_for(Gaussian() + Linear().after([[1.0, 2.0]]), 0.1, 0.01, 100)
    with pytest.raises(KernelError, match=r"\*\*0.5 has none"):
        components_for(1.0 + Gaussian() ** 0.5, 0.1, 0.01, 100)
