# ruff: noqa: RUF001
"""Formulas as on paper, held to the same written as Python, on floats and with 50 digits."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from mercer.errors import DomainError, InputError, KernelError, ParseError
from mercer.kernels.formulas import Surd, read_features, read_kernel
from mercer.kernels.precision.mpmath_arrays import precisely

RANDOM = np.random.default_rng(3)
A, B = RANDOM.normal(size=(5, 3)), RANDOM.normal(size=(4, 3))
A1, B1 = A[:, :1], B[:, :1]

OF_THREE: dict[str, Callable[[Any, Any], float]] = {
    "1 + x.x'": lambda x, z: 1 + x @ z,
    "x.z + 1": lambda x, z: x @ z + 1,
    "<x, z>": lambda x, z: x @ z,
    "(1 + <x, z>)**2": lambda x, z: (1 + x @ z) ** 2,
    "(1 + x.z)^2": lambda x, z: (1 + x @ z) ** 2,
    "x1*z1 + x2*z3 + x3*z2": lambda x, z: x[0] * z[0] + x[1] * z[2] + x[2] * z[1],
    "x1 x1' + x2 x3'": lambda x, z: x[0] * z[0] + x[1] * z[2],
    "x_1 x_1' + x_2x_3'": lambda x, z: x[0] * z[0] + x[1] * z[2],
    "x₁x₁′ + x'_2x₃": lambda x, z: x[0] * z[0] + z[1] * x[2],
    "x·x′": lambda x, z: x @ z,
    "x^T x'": lambda x, z: x @ z,
    "x'z": lambda x, z: x @ z,
    "x@z": lambda x, z: x @ z,
    "x z": lambda x, z: x @ z,
    "dot(x, z) / 3": lambda x, z: x @ z / 3,
    "x_i^T x_j": lambda x, z: x @ z,
    "<x1, x2>": lambda x, z: x @ z,
    "K(x, p) = <p, x>": lambda x, z: x @ z,
    "x'[[2, 1, 0], [0, 1, 0], [1, 0, 1]]z": lambda x, z: x @ np.array([[2, 1, 0], [0, 1, 0], [1, 0, 1]]) @ z,
    "[x1, x2 + x3].[z1, z2 + z3]": lambda x, z: x[0] * z[0] + (x[1] + x[2]) * (z[1] + z[2]),
    "min(x, z)": lambda x, z: np.minimum(x, z).sum(),
    "exp(-|x-z|^2/(2 s^2))": lambda x, z: math.exp(-((x - z) @ (x - z)) / 2),
    "exp(-||x - x'||)": lambda x, z: math.exp(-np.linalg.norm(x - z)),
    "exp(-norm(x - z)/0.5)": lambda x, z: math.exp(-np.linalg.norm(x - z) / 0.5),
    "1/(1 + dist(x, z)^2)": lambda x, z: 1 / (1 + (x - z) @ (x - z)),
    "sin(|x-z|)/|x-z|": lambda x, z: math.sin(np.linalg.norm(x - z)) / np.linalg.norm(x - z),
    "tanh(x.z)": lambda x, z: math.tanh(x @ z),
    "(x.z)^3 - x.z": lambda x, z: (x @ z) ** 3 - x @ z,
    "prod(1 + x_k z_k)": lambda x, z: np.prod(1 + x * z),
    "sum(min(x, z)^2)": lambda x, z: (np.minimum(x, z) ** 2).sum(),
    "exp(-sum_k |x_k - z_k|)": lambda x, z: math.exp(-np.abs(x - z).sum()),
    "x.z/(|x||z|)": lambda x, z: x @ z / np.linalg.norm(x) / np.linalg.norm(z),
    "2^(x.z) - pi": lambda x, z: 2 ** (x @ z) - math.pi,
    "-x1^2 z1^2": lambda x, z: -(x[0] ** 2) * z[0] ** 2,
    "max(x1, z1, 0)": lambda x, z: max(x[0], z[0], 0),
    "log1p(|x|^2 |z|^2)": lambda x, z: math.log1p((x @ x) * (z @ z)),
    "sqrt2 x1z1": lambda x, z: math.sqrt(2) * x[0] * z[0],
    "x.z x.z": lambda x, z: (x @ z) ** 2,
    # the lectures, in their LaTeX
    r"K(x,p) = \exp(-\|x-p\|^2/\sigma^2)": lambda x, z: math.exp(-((x - z) @ (x - z))),
    r"\langle p, x \rangle": lambda x, z: x @ z,
    r"(x \cdot x') + (x \cdot x')^2 + (x \cdot x')^3": lambda x, z: x @ z + (x @ z) ** 2 + (x @ z) ** 3,
    r"x_1x_1^\prime + x_2x_3^\prime + x_3x_2^\prime": lambda x, z: x[0] * z[0] + x[1] * z[2] + x[2] * z[1],
    r"e^{-\frac{1}{2} {||x-x'||}^2}": lambda x, z: math.exp(-((x - z) @ (x - z)) / 2),
    r"\phi(x)^T \phi(z) = \prod_{k=1}^d (1 + x_k z_k)": lambda x, z: np.prod(1 + x * z),
    r"k(\mathbf{x}_i, \mathbf{x}_j) \coloneqq (\langle \mathbf{x}_i, \mathbf{x}_j \rangle + 1)^2": lambda x, z: (
        (x @ z + 1) ** 2
    ),
    r"\exp\left(-\frac{\left||\mathbf{x}-\mathbf{x}_i|\right|^2}{2\sigma^2}\right)": lambda x, z: math.exp(
        -((x - z) @ (x - z)) / 2
    ),
}
OF_ONE: dict[str, Callable[[float, float], float]] = {
    "exp(x + x')": lambda x, z: math.exp(x + z),
    "cos(x - z)": lambda x, z: math.cos(x - z),
    "exp(-(x-z)^2)": lambda x, z: math.exp(-((x - z) ** 2)),
    "exp(x/2) x.z exp(z/2)": lambda x, z: math.exp(x / 2) * x * z * math.exp(z / 2),
    "min(s, t)": lambda x, z: min(x, z),
    "max(x, z)": lambda x, z: max(x, z),
    "sin(x - z)/(x - z)": lambda x, z: math.sin(x - z) / (x - z),
    "x^3 z^3": lambda x, z: (x * z) ** 3,
    "sin^2(x) sin^2(z)": lambda x, z: (math.sin(x) * math.sin(z)) ** 2,
}


@pytest.mark.parametrize("text", OF_THREE)
def test_points_of_three_columns_agree_with_python(text: str) -> None:
    found = read_kernel(text).pairs(A, B)
    np.testing.assert_allclose(found, [[OF_THREE[text](x, z) for z in B] for x in A], rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("text", OF_ONE)
def test_points_of_one_column_agree_with_python(text: str) -> None:
    found = read_kernel(text).pairs(A1, B1)
    np.testing.assert_allclose(found, [[OF_ONE[text](*x, *z) for z in B1] for x in A1], rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("text", [*OF_THREE, *OF_ONE])
def test_values_of_50_digits_round_to_floats_and_texts_read_back(text: str) -> None:
    left, right = (A, B) if text in OF_THREE else (A1, B1)
    read = read_kernel(text)
    exact = read.pairs(precisely(left), precisely(right))
    np.testing.assert_allclose(exact.astype(float), read.pairs(left, right), rtol=1e-13, atol=1e-15)
    assert read_kernel(str(read)).root == read.root
    assert read.latex().count("{") == read.latex().count("}")


def test_features_agree_with_python_and_know_columns() -> None:
    X = np.abs(A[:, :2]) + 0.5
    x, y = X.T
    wanted = {
        "x1": x, "x1^2 + 2*x2^2": x**2 + 2 * y**2, "sqrt(2) x1 x2": math.sqrt(2) * x * y,
        "sqrt(2)*x1*x2": 2**0.5 * x * y,
        "√2x₁x₂": 2**0.5 * x * y, "exp(x1)": np.exp(x), "sin(x1) - cos(x2)": np.sin(x) - np.cos(y), "age": x,
        "|x|^2": x * x + y * y, "log1p(age)*\"body mass\"": np.log1p(x) * y, "abs(x1 - 1)": np.abs(x - 1),
        "3": 3 + 0 * x,
        r"{x_1}^2 - \frac{x_2}{2}": x**2 - y / 2, "sum(x_k^3)": x**3 + y**3, "max(x1, x2)": np.maximum(x, y),
    }  # fmt: skip
    read = read_features(list(wanted), columns=["age", "body mass"])
    for each, text in zip(read, wanted, strict=True):
        np.testing.assert_allclose(each.values(X), wanted[text], rtol=1e-14, err_msg=text)
        assert read_features([str(each)], ["age", "body mass"])[0].root == each.root


def test_a_list_in_the_lectures_latex_is_a_list_of_features() -> None:
    lecture = r"\phi(x) = \big [x_1, \, x_2,\,  {x_1}^2,\,  \sqrt{2}x_1x_2,\,  {x_2}^2 \big ]^ T"
    assert [str(each) for each in read_features(lecture)] == ["x1", "x2", "x1^2", "sqrt(2) x1 x2", "x2^2"]


def test_values_that_are_not_finite_or_columns_that_are_not_there_are_named() -> None:
    (log,) = read_features(["log(x1)"])
    with pytest.raises(DomainError, match=r"finite numbers from log\(x1\)"):
        log.values([[1.0], [-1.0]])
    with pytest.raises(InputError, match="at least 3 columns for x3"):
        read_features(["x3"])[0].values([[1.0, 2.0]])
    with pytest.raises(InputError, match="1 column for sin"):
        read_features(["sin(x)"])[0].values([[1.0, 2.0]])


WRONG = {
    "": "got nothing", "x.z +": "the end", "((x.z": r"'\)' is needed", "x.z^2": r"\(x.z\)\^2", "x'Mz": "names={'M'",
    "exp(-|x-z|^2/2s^2)": "two ways", "exp x": "parenthesis", "1e400 x.z": "ordinary size", "x0 z0": "count from x1",
    "x[0]*z[0]": "counted from 1", "foo(x)": "no 'foo'", "x.z + q(1)": "no value of 'q'", "<x z>": "','",
    "x - x' + z": "one more", "sum(1)": "goes over the columns", "x_k z_k": "belongs into sum", "1 1": "operator",
    "[[1, 2], [3]]": "equal length",
    "x'[[1, 2]]z": "2 columns are needed, and of 1", "__import__('os')": "no", "x.z; 1": "no meaning",
    "min(x)": "two arguments", "sum(prod(x_k))": "inside of another", "x.z = 1": "cannot stand", "x''": "another",
}  # fmt: skip


@pytest.mark.parametrize("text", WRONG)
def test_what_cannot_be_read_is_refused_with_its_place(text: str) -> None:
    with pytest.raises(ParseError, match=WRONG[text]) as refused:
        read_kernel(text)
    assert "\n" in str(refused.value)


def test_limits() -> None:
    for text in (
        "(" * 100 + "x.z",
        "-" * 500 + "x.z",
        "x^" * 200 + "2",
        "1+" * 5000 + "1",
        "x" * 70_000,
        "|" * 300,
        "9" * 50,
    ):
        with pytest.raises(ParseError):
            read_kernel(text)


def test_names_give_numbers_vectors_and_matrices() -> None:
    found = read_kernel("c x'Mz + (w.x)(w.z)", {"M": np.eye(2), "c": 2.5, "w": [1, 2]}).pairs([[1, 2]], [[3, 4]])
    assert found.tolist() == [[2.5 * 11 + 5 * 11]]
    with pytest.raises(KernelError, match="finite numbers for 'c'"):
        read_kernel("c x.z", {"c": math.nan})


def test_free_letters_of_scale_are_one_and_said_or_refused() -> None:
    assert read_kernel("exp(-|x-z|^2/(2 sigma^2))").assumed == ("sigma",)
    assert read_kernel("exp(-|x-z|/s)", {"s": 2.0}).assumed == ()
    with pytest.raises(ParseError, match="no value of 'sigma'"):
        read_kernel("exp(-|x-z|/sigma)", scales=False)


# -- polynomials, exactly --------------------------------------------------------------------------------------------


def test_exercise_19_multiplied_out_exactly() -> None:
    phi = read_features(["x1", "x2", "x1^2", "sqrt(2) x1 x2", "x2^2"])
    products: dict[Any, Surd] = {}
    for each in phi:
        ((monomial, factor),) = each.polynomial(2).items()  # type: ignore[union-attr]
        other = tuple(((1, column), power) for (_, column), power in monomial)
        products[monomial + other] = factor * factor
    assert products == read_kernel("x.x' + (x.x')^2").polynomial(2)


def test_polynomials_have_exact_coefficients() -> None:
    (each,) = read_features(["(x1/3 + sqrt(2) x2)^3 - 0.1"])
    x, y = ((0, 0), 1), ((0, 1), 1)
    found = each.polynomial(2)
    assert found is not None
    assert found[()].fraction == Fraction(-1, 10)
    assert found[(((0, 0), 2), y)] == Surd.root(Fraction(2)) * Surd.of(Fraction(1, 3))
    assert found[(x, ((0, 1), 2))].fraction == 2
    assert found[(((0, 1), 3),)] == Surd.root(Fraction(8))


@pytest.mark.parametrize("text", ["sin(x1)", "x1^0.5", "1/x1", "|x|", "x1^100", "(x1 + x2)^60 (x1 + x2 + x3 + 1)^60"])
def test_what_is_no_polynomial_or_too_long_a_one_has_none(text: str) -> None:
    assert read_features([text])[0].polynomial(3) is None


def test_roots_are_added_multiplied_divided_and_compared_exactly() -> None:
    two, three = Surd.root(Fraction(2)), Surd.root(Fraction(3))
    number = two + three * Surd.of(Fraction(1, 7)) - Surd.of(5)
    assert number * number.inverse == Surd.of(1)
    assert float(number) == pytest.approx(math.sqrt(2) + math.sqrt(3) / 7 - 5, rel=1e-15)
    assert (two * three, two * two) == (Surd.root(Fraction(6)), Surd.of(2))
    near = two - Surd.of(Fraction(math.isqrt(2 * 10**60), 10**30))
    assert near.sign == 1
    assert (number - number).sign == 0
    assert Surd.root(Fraction(50)) == Surd.of(5) * two


# -- anything -------------------------------------------------------------------------------------------------------

PIECES = [
    "x", "z", "x'", "x1", "z_2", "x_k", "'", "^", "**", "T", "+", "-", "*", "/", ".", "|", "||", "(", ")", "[", "]",
    ",", "<", ">", "1", "0.5", "2e3", "exp(", "sin(", "sqrt", "min(", "sum(", "prod_k", "{", "}", "\\frac", "_",
    "sigma", "M", "e", "pi", " ", "√", "′", '"a"', "=", "x0", "\\", "%", "é", "norm(", "²",
]  # fmt: skip


def test_random_texts_are_read_or_refused() -> None:
    random = np.random.default_rng(11)
    read = 0
    for _ in range(8000):
        text = "".join(random.choice(PIECES, size=random.integers(1, 14)))
        for points in (1, 2):
            try:
                found = read_features(text) if points == 1 else (read_kernel(text),)
            except ParseError:
                continue
            read += 1
            for each in found:
                again = (read_features([str(each)]) if points == 1 else (read_kernel(str(each)),))[0]
                assert again.root == each.root, text
    assert read > 300


def test_norms_have_an_index():
    X, Z = np.random.default_rng(3).normal(size=(2, 5, 3))
    gaps = X[:, None] - Z
    for text, values in {
        "|x - z|_1": np.abs(gaps).sum(axis=-1),
        "||x - 2 z||_1^2": np.abs(X[:, None] - 2 * Z).sum(axis=-1) ** 2,
        "|x - z|_2": np.linalg.norm(gaps, axis=-1),
        "|x|_1z1": np.outer(np.abs(X).sum(axis=1), Z[:, 0]),
        "|-3 x|_1 + 0 z1": np.repeat(3 * np.abs(X).sum(axis=1)[:, None], 5, axis=1),
        "|x1 - z1|_1": np.abs(gaps[..., 0]),
        "|[1, 2, 3] - x|_1 |z|_2": np.outer(np.abs(np.array([1, 2, 3]) - X).sum(axis=1), np.linalg.norm(Z, axis=1)),
    }.items():
        formula = read_kernel(text)
        np.testing.assert_allclose(formula.pairs(X, Z), values, rtol=1e-13)
        assert read_kernel(str(formula)).root == formula.root
    assert str(read_kernel("exp(-norm(x - z)_1)")) == "exp(-|x - z|_1)"
    assert read_kernel("|x - z|_1").latex() == r"\lVert x - z \rVert_1"
    for text in ("|x - z|_3", "|x - z|_inf", "|x - z|_12"):
        with pytest.raises(ParseError, match=r"index 1 or 2, as in \|x - z\|_1"):
            read_kernel(text)


def test_a_transpose_needs_no_space():
    M = [[2.0, 1.0], [0.0, 3.0]]
    X, Z = np.random.default_rng(4).normal(size=(2, 4, 2))
    for text in ("x^TMz", "x^T M z", "x^{T}Mz", r"x^\top M z", "x^TMx'"):
        np.testing.assert_allclose(read_kernel(text, {"M": M}).pairs(X, Z), X @ np.array(M) @ Z.T, rtol=1e-13)
    assert np.allclose(read_kernel("x1^T z1^T", {"T": 2}).pairs(X, Z), np.outer(X[:, 0] ** 2, Z[:, 0] ** 2))
