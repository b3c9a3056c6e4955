"""That the kernel of features is found in closed form: its text by hand, its values by NumPy."""

import math
from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest

import mercer
from mercer import kernels as k
from mercer.errors import KernelError
from mercer.kernels.algebra.feature_map import FeatureMap
from mercer.kernels.formulas import Surd
from mercer.kernels.formulas.closed_form import closed_form
from mercer.kernels.formulas.difference import difference, value_at
from mercer.kernels.formulas.expression import read_kernel
from mercer.kernels.formulas.of_kernel import meant, polynomial_of
from mercer.kernels.formulas.reading.arithmetic import MAX_QUOTIENTS

KNOWN = [
    (["x1", "x2"], 2, "linear"),
    (["x1", "x3"], 3, "linear.on([0, 2])"),
    (["x1 + x2", "x1 - x2"], 2, "2.0*linear"),
    (["x1", "x2 + x3"], 3, "linear.after([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]])"),  # answer C of exercise 20
    (["x1", "x2", "x1^2", "sqrt(2)*x1*x2", "x2^2"], 2, "linear + linear**2"),  # exercise 19
    (["1", "sqrt(2)*x1", "sqrt(2)*x2", "x1^2", "sqrt(2)*x1*x2", "x2^2"], 2, "polynomial(degree=2, offset=1.0)"),
    (["x^3", "sqrt(6)*x^2", "sqrt(12)*x", "sqrt(8)"], 1, "polynomial(degree=3, offset=2.0)"),
    (["1", "x", "x^2"], 1, "1.0 + linear + linear**2"),
    (["1", "x1", "x2", "x3", "x1 x2", "x1 x3", "x2 x3", "x1 x2 x3"], 3, "subsets"),
    (["x1", "x2", "x1 x2"], 2, "subsets(include_bias=0)"),
    (["x1 x2", "x1 x3", "x2 x3"], 3, "subsets(min_order=2, max_order=2)"),
    (["x1", "x2", "x1^2 + x2^2"], 2, "parabolic"),
    (["2", "x1", "x2", "|x|^2"], 2, "4.0 + parabolic"),
    (["x1", "x1^2", "x2", "x2^2"], 2, "powers(degree=2)"),
    (["1", "x1", "x2", "x1^2", "x1 x2", "x2^2"], 2, "monomials(degree=2, include_bias=1)"),
    (["x1^2", "x1 x2", "x2^2"], 2, "monomials(degree=2, include_bias=0, min_degree=2)"),
    (["2 x1", "x2"], 2, "4.0*linear.on([0]) + linear.on([1])"),
    (["1", "x1", "x2", "x2^2", "x1 x2", "x1 x2^2"], 2, "(1 + linear.on(0))*(1 + linear.on(1) + linear.on(1)**2)"),
    (["x1", "x2", "x1^2 + 2*x2^2"], 2, "linear.after(['x1', 'x2', 'x1^2 + 2 x2^2'])"),
    (["exp(x1)", "1"], 2, "linear.after(['exp(x1)', '1'])"),
    (["3"], 2, "9.0"),
    (["x1^64"] * 2, 1, "2.0*linear**64"),
    (["2^600 x1", "2^600"], 1, "linear.after(['2^600 x1', '2^600'])"),
]  # fmt: skip


@pytest.mark.parametrize(("texts", "d", "text"), KNOWN, ids=[case[2] for case in KNOWN])
def test_closed_forms(texts, d, text):
    found = closed_form(FeatureMap.read(texts), d)
    assert found == mercer.parse(text)
    assert mercer.parse(str(found)) == found
    assert mercer.prove(found, d=d, time_limit=2).status == "proven"


VALUES = [
    (["x1", "x2", "x1^2", "sqrt(2)*x1*x2", "x2^2"], lambda x, y: [x, y, x**2, np.sqrt(2) * x * y, y**2]),
    (["1", "x1", "x2", "x1*x2"], lambda x, y: [1 + 0 * x, x, y, x * y]),
    (["x1", "x2", "|x|^2"], lambda x, y: [x, y, x**2 + y**2]),
    (["x1", "x2", "x1^2 + 2*x2^2"], lambda x, y: [x, y, x**2 + 2 * y**2]),
    (["(x1 - x2)^2", "x1 + x2", "x1 - x2"], lambda x, y: [(x - y) ** 2, x + y, x - y]),
    (["x1 - 3 x2"], lambda x, y: [x - 3 * y]),
    (["1", "x1", "x2", "x2^2", "x1 x2", "x1 x2^2"], lambda x, y: [1 + 0 * x, x, y, y**2, x * y, x * y**2]),
    (["exp(x1)", "min(x1, x2)", "cos(x2)/2"], lambda x, y: [np.exp(x), np.minimum(x, y), np.cos(y) / 2]),
    (["8*2^x1"], lambda x, y: [8 * 2**x]),
]


@pytest.mark.parametrize(("texts", "phi"), VALUES, ids=[", ".join(case[0]) for case in VALUES])
def test_values_are_those_of_the_features(texts, phi):
    X = np.random.default_rng(0).normal(size=(7, 2))
    features = np.column_stack(phi(*X.T))
    kernel = closed_form(FeatureMap.read(texts), 2)
    np.testing.assert_allclose(kernel(X), features @ features.T, rtol=1e-12, atol=1e-12)
    assert mercer.parse(str(kernel)) == kernel


def test_numbers_that_floats_mean():
    for value in (Fraction(1, 3), Fraction(7, 10), Fraction(-22, 7), Fraction(12345, 1)):
        assert meant(float(value)) == Surd.of(value)
    assert meant(math.sqrt(2)) == Surd.root(Fraction(2))
    assert meant(-math.sqrt(1.5)) == -Surd.root(Fraction(3, 2))
    assert float(meant(math.pi)) == math.pi
    assert meant(1e300).fraction == 10**300


KERNELS = [
    k.Linear(), k.Polynomial(3, 0.5), k.Parabolic(), k.Powers(3), k.Monomials(2), k.Monomials(3, False, 2), k.Subsets(),
    k.Subsets(1, 2), k.Subsets(include_bias=False), 2 * k.Linear() + 1, k.Linear() * k.Parabolic(), k.Linear() ** 3,
    k.Linear().on([0, 2]), k.Linear().after([[1, 2, 0], [0.5, 0, 1]]) ** 2, k.Linear().scaled([1, 2, 4]),
    k.Polynomial(2).after(["x1 x2", "x3 - 1"]), k.Linear().weighted("x1^2"),
]  # fmt: skip


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_polynomials_of_kernels_have_their_values(kernel):
    X = np.random.default_rng(1).integers(-3, 4, size=(4, 3))
    found, values = polynomial_of(kernel, 3), kernel(X.astype(float))
    for i, j in product(range(4), repeat=2):
        at = {(0, c): int(X[i, c]) for c in range(3)} | {(1, c): int(X[j, c]) for c in range(3)}
        assert float(value_at(found, at)) == pytest.approx(values[i, j], rel=1e-13, abs=1e-12)


@pytest.mark.parametrize("kernel", [k.Gaussian(), k.Trigonometric(1), k.Cosine(), k.Linear().after(np.exp)], ids=str)
def test_other_kernels_are_no_polynomials(kernel):
    assert polynomial_of(kernel, 2) is None


DIFFER = [
    ("x.z", lambda x, z: x @ z, "(x.z)^2", lambda x, z: (x @ z) ** 2, 2),
    ("x1 z2", lambda x, z: x[0] * z[1], "x2 z1", lambda x, z: x[1] * z[0], 2),
    ("x z - 1", lambda x, z: x[0] * z[0] - 1, "x z", lambda x, z: x[0] * z[0], 1),
    ("x1 x2 z3", lambda x, z: x[0] * x[1] * z[2], "0", lambda x, z: 0, 3),
    ("(xz-1) (xz-2) (xz-4) xz", lambda x, z: (t := x[0] * z[0]) * (t - 1) * (t - 2) * (t - 4), "0", lambda x, z: 0, 1),
]


@pytest.mark.parametrize(("first", "f", "second", "g", "d"), DIFFER, ids=[case[0] for case in DIFFER])
def test_polynomials_differ_where_it_is_said(first, f, second, g, d):
    found = difference(read_kernel(first).polynomial(d), read_kernel(second).polynomial(d), d)
    x, z = np.array(found.x), np.array(found.z)
    assert f(x, z) != g(x, z)
    assert [float(value) for value in found.values] == [f(x, z), g(x, z)]
    assert difference(read_kernel(first).polynomial(d), read_kernel(first).polynomial(d), d) is None


def test_maps_by_formulas():
    kernel = k.Gaussian(1.0).after(["x1", "x1 x2"])
    X = np.random.default_rng(2).normal(size=(5, 2))
    mapped = np.column_stack([X[:, 0], X[:, 0] * X[:, 1]])
    np.testing.assert_allclose(kernel(X), k.Gaussian(1.0)(mapped), rtol=1e-14)
    assert kernel == mercer.parse(str(kernel)) == k.Gaussian(1.0).after(("x1", "x1*x2"))
    assert kernel != k.Gaussian(1.0).after(["x1", "x2"])
    assert r"{x}_{1} \, {x}_{2}" in kernel.latex()
    names = mercer.lift("polynomial(degree=2).after(['x1 + x2'])", 2).get_feature_names_out().tolist()
    assert names == ["1", "sqrt(2) x1 + sqrt(2) x2", "x1^2 + 2 x1 x2 + x2^2"]
    assert mercer.lift("linear.after(['log1p(x1)', 'x2'])", 2).get_feature_names_out().tolist() == ["log1p(x1)", "x2"]


def test_50_digits_go_through_formulas():
    from mercer.kernels.precision.mpmath_arrays import precisely

    found = FeatureMap.read(["exp(x1)/3"]).transform(precisely(np.array([[1.0]])))
    with mpmath.workdps(45):
        assert abs(mpmath.mpf(str(found[0, 0].value)) - mpmath.e / 3) < mpmath.mpf(10) ** -40


@pytest.mark.parametrize(
    "text",
    ["x1" + "/x1" * 1300, "(x1+1)" + "/(x1+1)" * 400, "x1" + "^x1" * 900, "x1x2" * 40, "(" * 100, "x1" + " " * 70_000],
)
def test_formulas_that_cost_time_are_refused(text):
    with pytest.raises(KernelError):
        FeatureMap.read([text])


def test_formulas_that_are_long_are_read():
    many = MAX_QUOTIENTS - 1
    quotient = FeatureMap.read(["x1" + "/x1" * many])
    assert quotient.transform(np.array([[2.0]]))[0, 0] == 2.0 ** (1 - many)
    sums = FeatureMap.read(["x1" + "*x1" * 1000 + " - x1" * 1000])
    assert sums.transform(np.array([[1.0]]))[0, 0] == -999
    assert hash(sums) == hash(FeatureMap.read(sums.texts))


def test_a_text_of_a_kernel_holds_few_letters_of_formulas():
    with pytest.raises(KernelError, match="letters of formulas"):
        mercer.parse(f"linear.after(['{'x1 + ' * 1000}x1'])")
