"""mercer.check: exact answers by hand, points that differ by plain arithmetic, and honest ignorance."""

import math

import numpy as np
import pytest

import mercer
from mercer.errors import InputError, KernelError, ParseError
from mercer.kernels import Gaussian, Linear, Polynomial
from mercer.lifts import Concatenation, Monomials, Nystrom, Parabolic, RandomFourier, Subsets, Trigonometric
from mercer.lifts import Polynomial as PolynomialLift

EX_19 = ["x1", "x2", "x1^2", "sqrt(2)*x1*x2", "x2^2"]
EX_20 = "x1 x1' + x2 x2' + x3 x3' + x2 x3' + x3 x2'"


def called(value):
    """The name of a case: a function has no text of its own."""
    return "function" if callable(value) and hasattr(value, "__name__") else str(value)


def phi_19(x):
    return [x[0], x[1], x[0] ** 2, math.sqrt(2) * x[0] * x[1], x[1] ** 2]


@pytest.mark.parametrize(
    ("kernel", "equal"),
    [
        ("linear", False),
        ("linear + linear**2", True),
        ("linear**2", False),
        ("2*linear**2", False),
        ("x.x'", False),
        ("x.z + (x.z)^2", True),
        (Linear() + Linear() ** 2, True),
        ("x1 z1 + x2 z2 + x1^2 z1^2 + 2 x1 x2 z1 z2 + x2^2 z2^2", True),
        ("x1 z1 + x2 z2 + x1^2 z1^2 + 1.9 x1 x2 z1 z2 + x2^2 z2^2", False),
    ],
    ids=str,
)
def test_exercise_19(kernel, equal):
    answer = mercer.check(phi=EX_19, kernel=kernel)
    assert answer.status == ("equal" if equal else "different")
    assert bool(answer) is answer.equal is equal
    assert answer.d == 2
    assert str(answer).startswith(f"{answer.status}: ")
    if not equal:
        ours = sum(a * b for a, b in zip(phi_19(answer.x), phi_19(answer.z), strict=True))
        assert answer.values[0] == pytest.approx(ours, rel=1e-14)
        assert answer.values[1] != pytest.approx(ours, rel=1e-3)
        assert max(map(abs, answer.x + answer.z)) <= 3


@pytest.mark.parametrize(
    ("phi", "equal"),
    [
        (["x1", "x2", "x3"], False),
        (["x1 + x2 + x3"], False),
        (["x1", "x2 + x3"], True),
        (["x1 + x3", "x1 + x2"], False),
    ],
)
def test_exercise_20(phi, equal):
    answer = mercer.check(phi=phi, kernel=EX_20)
    assert answer.equal is equal
    if not equal:
        x, z = answer.x, answer.z
        kernel = x[0] * z[0] + x[1] * z[1] + x[2] * z[2] + x[1] * z[2] + x[2] * z[1]
        assert answer.values[1] == kernel != answer.values[0]


@pytest.mark.parametrize(
    ("phi", "kernel", "d"),
    [
        (PolynomialLift(2), "(1 + x.z)^2", None),
        (PolynomialLift(5, 0.37), "(0.37 + x.z)^5", 3),
        (Subsets(), "prod(1 + x_k z_k)", 3),
        (Parabolic(), "x.z + |x|^2 |z|^2", 4),
        (mercer.lift("linear + linear**2", 2), Linear() + Linear() ** 2, None),
        (Concatenation(Parabolic(), Monomials(1)), "1 + 2 x.z + |x|^2|z|^2", 2),
        (mercer.lift(EX_19, 2), "x.z + (x.z)^2", None),
        (mercer.lifts.Formulas(["x1/sqrt(3)"]), Linear() * (1 / 3), None),
        (["x1/sqrt(10)", "x2/sqrt(10)"], "0.1*linear", None),
        ("[1, sqrt(2) x, x^2]", Polynomial(2), None),
        (["1"], "1", 2),
    ],
    ids=str,
)
def test_equal_ones(phi, kernel, d):
    answer = mercer.check(phi=phi, kernel=kernel, d=d)
    assert answer.equal, answer


@pytest.mark.parametrize(
    ("phi", "kernel"),
    [
        (["cos(x)", "sin(x)"], "cos(x - z)"),
        (["log(x)"], "log(x) log(z)"),
        (Trigonometric(1), "cos(x - z)"),
        (lambda X: X**2, lambda x, z: float(x @ z) ** 2),
    ],
    ids=called,
)
def test_what_agrees_at_points_is_not_called_equal(phi, kernel):
    answer = mercer.check(phi, kernel, d=1)
    assert (answer.status, answer.equal) == ("unknown", False)
    assert "no difference was found at 210 pairs of points in R^1" in str(answer)
    with pytest.raises(InputError, match=r"Look at \.status first"):
        bool(answer)


@pytest.mark.parametrize(
    ("phi", "kernel", "theirs"),
    [
        (["x1", "x2"], Gaussian(1.0), lambda x, z: math.exp(-(math.dist(x, z) ** 2) / 2)),
        (["x"], "min(x, z)", lambda x, z: min(x[0], z[0])),
        (["cos(x)", "sin(x)"], "cos(2 x - 2 z)", lambda x, z: math.cos(2 * x[0] - 2 * z[0])),
        (lambda X: X, lambda x, z: x[0] * z[0] + 1e-3, lambda x, z: x[0] * z[0] + 1e-3),
        (["x1 x2"], lambda x, z: x[0] * z[1], lambda x, z: x[0] * z[1]),
        (["exp(x)"], "exp(x z)", lambda x, z: math.exp(x[0] * z[0])),
    ],
    ids=called,
)
def test_one_point_proves_a_difference(phi, kernel, theirs):
    answer = mercer.check(phi, kernel)
    assert answer.status == "different"
    assert answer.values[1] == pytest.approx(theirs(answer.x, answer.z), rel=1e-13)
    assert abs(answer.values[0] - answer.values[1]) > 1e-6 * abs(answer.values[1])


def test_approximations_differ():
    rows = np.random.default_rng(0).normal(size=(30, 2))
    for lift in (Nystrom("gaussian(1)", n_components=4), RandomFourier("gaussian(1)", 50, random_state=0)):
        assert mercer.check(lift.fit(rows), Gaussian(1.0)).status == "different"


def test_rounded_numbers_are_not_called_different():
    class Own(mercer.lifts.expanded.Expanded):
        def _expansion(self, width):
            return (math.pi * mercer.lifts.Exact("linear")).fit(np.ones((1, width))).expansion_

    assert mercer.check(Own(), f"{math.pi**2!r}*linear", d=2).status == "unknown"
    assert mercer.check(Own(), "9.8696*linear", d=2).status == "different"


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ((3, "linear"), InputError, "check needs features for phi"),
        ((["x1"], 3), KernelError, "check needs a kernel, its text, a formula"),
        ((["x3"], "linear", 2), InputError, "at least 3 columns"),
        ((["x1"], "linear", 0), InputError, "positive number of columns"),
        ((["x1"], "bogus("), ParseError, "bogus"),
        ((["x"], "x1 z1 + x2 z2"), InputError, "1 column"),
        ((PolynomialLift(2).fit(np.ones((1, 3))), "linear", 2), InputError, "d = 3"),
        ((lambda X: X[:2], "linear"), InputError, "a row of features for each row"),
    ],
)
def test_what_cannot_be_compared(arguments, error, words):
    with pytest.raises(error, match=words):
        mercer.check(*arguments)


def test_values_tell_apart():
    answer = mercer.check(["sqrt(2) x1"], "2.0000001*linear")
    assert answer.status == "different"
    assert "20000001/10000000" in str(answer)
    card = answer._repr_html_()
    assert "different" in card
    assert "<script" not in card
