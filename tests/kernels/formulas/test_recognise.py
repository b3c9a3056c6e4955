"""Formulas as kernels of rules and leaves, held to the formula's own values and to its text."""

from fractions import Fraction

import numpy as np
import pytest

import mercer
from mercer.kernels import Constant, Gaussian, Linear, Weighted
from mercer.kernels.formulas import Surd, kernel_of, read_feature, read_kernel
from mercer.kernels.formulas.coefficients import Coefficients

RANDOM = np.random.default_rng(7)

RECOGNISED = {
    "1 + x.x'": "1.0 + linear",
    "(1 + x.z)^2": "polynomial(degree=2, offset=1.0)",
    "(x.z)^3": "linear**3",
    "(1 + 2 x.z)^2": "(1.0 + 2.0*linear)**2",
    "x.z (1 + x.z)": "linear*(1.0 + linear)",
    "(1 + x.z)^2 - 1": "2.0*linear + linear**2",
    "x1 z1 + x2 z2": "linear.on([0, 1])",
    "x1^2 z1^2 + 2 x1 x2 z1 z2": "linear.on([0])**2 + 2.0*linear.on([0])*linear.on([1])",
    "(x1 + x2)(z2 + z1)": "constant(variance=1.0).weighted('x1 + x2')",
    "x.z + |x|^2 |z|^2": "parabolic",
    "prod(1 + x_k z_k)": "subsets",
    "min(x, x')": "min",
    "exp(x + x')": "constant(variance=1.0).weighted(exp)",
    "exp(x/2) x.z exp(z/2)": "linear.weighted('exp(0.5 x)')",
    "cos(x - z)": "constant(variance=1.0).weighted(cos) + constant(variance=1.0).weighted(sin)",
    "exp(2 x.z)": "exp(2.0*linear)",
    "exp(2 x.z - |x|^2 - |z|^2)": "exp(2.0*linear).weighted('exp(-|x|^2)')",
    "exp(-|x-z|^2/(2 s^2))": "gaussian(lengthscale=1.0)",
    "exp(-|x-z|^2/8)": "gaussian(lengthscale=2.0)",
    "exp(-(x1-z1)^2/8)": "gaussian(lengthscale=2.0).on([0])",
    "exp(-|x-z|/3)": "laplace(lengthscale=3.0)",
    "exp(-sum_k |x_k - z_k|)": "product_laplace(lengthscale=1.0)",
    "exp(-||x-y||_1)": "product_laplace(lengthscale=1.0)",
    "exp(-|x - z|_1/3)": "product_laplace(lengthscale=3.0)",
    "exp(-|x-z|_2)": "laplace(lengthscale=1.0)",
    "exp(-|x-z|_2^2/8)": "gaussian(lengthscale=2.0)",
    r"\exp\left(-2 \lVert x - z \rVert_1\right)": "product_laplace(lengthscale=0.5)",
    r"exp(-\|x - z\|_{1})": "product_laplace(lengthscale=1.0)",
    "exp(-‖x−z‖₁)": "product_laplace(lengthscale=1.0)",  # noqa: RUF001
    "exp(-norm(x - x')_1)": "product_laplace(lengthscale=1.0)",
    "|x|_1 |z|_1": "constant(variance=1.0).weighted('|x|_1')",
    "exp(-2 sin^2(pi (x - z)/3))": "periodic(period=3.0, lengthscale=1.0)",
    "1/(1 + |x-z|^2/2)": "rational_quadratic(shape=1.0, lengthscale=1.0)",
    "1/sqrt(1 + |x-z|^2)": "rational_quadratic(shape=0.5, lengthscale=1.0)",
    "sin(|x-z|)/|x-z|": "sinc(lengthscale=1.0)",
    "sin(2|x-z|)/(2|x-z|)": "sinc(lengthscale=0.5)",
    "(3/|x-z|) sin(|x-z|/3)": "sinc(lengthscale=3.0)",
    "sin(2(x-z))/(x-z)": "2.0*sinc(lengthscale=0.5)",
    "prod(sin(2(x_k - z_k))/(2(x_k - z_k)))": "product_sinc(lengthscale=0.5)",
    "exp(-(2|x-z|)^2/8)": "gaussian(lengthscale=1.0)",
    "(1 + x^Tx')^2": "polynomial(degree=2, offset=1.0)",
    "x^Tz": "linear",
    "prod(sin(x_k - z_k)/(x_k - z_k))": "product_sinc(lengthscale=1.0)",
    "x.z/(|x||z|)": "cosine",
    "tanh(2 x.z + 1)": "sigmoid(slope=2.0, offset=1.0)",
    "0.3 x.z - 0.1 x.z - 0.2 x.z + 1": "1.0",
}


@pytest.mark.parametrize("text", RECOGNISED)
def test_formulas_are_recognised_and_keep_their_values(text: str) -> None:
    formula = read_kernel(text)
    kernel = kernel_of(formula)
    assert str(kernel) == RECOGNISED[text]
    assert mercer.parse(str(kernel)) == kernel
    d = formula.width or max(2, formula.least_width)
    X, Z = RANDOM.uniform(0.1, 2.0, size=(6, d)), RANDOM.uniform(0.1, 2.0, size=(5, d))
    np.testing.assert_allclose(kernel(X, Z), formula.pairs(X, Z), rtol=1e-13)


@pytest.mark.parametrize(
    ("text", "d", "expected"),
    [
        ("x1*z1 + x2*z2 + x2*z3 + x3*z2 + x3*z3", 3, "linear.after([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]])"),
        ("x'[[1,0,0],[0,1,1],[0,1,1]]z", None, "linear.after([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]])"),
        ("x'[[2,1],[1,2]]z", 2, "2.0*constant(variance=1.0).weighted('x1 + 0.5 x2') + 1.5*linear.on([1])"),
        ("sum(min(x, z)^2)", 2, "min.on([0])**2 + min.on([1])**2"),
        ("sum(x_k^2 z_k^2)", 2, "linear.on([0])**2 + linear.on([1])**2"),
    ],
)
def test_where_the_number_of_columns_is_known_more_can_be_taken_apart(text, d, expected) -> None:
    formula = read_kernel(text)
    kernel = kernel_of(formula, d)
    assert str(kernel) == expected
    X = RANDOM.uniform(0.1, 2.0, size=(5, d or formula.width))
    np.testing.assert_allclose(kernel(X), formula.pairs(X, X), rtol=1e-13)


@pytest.mark.parametrize(
    "text",
    ["x1*z1 + x2*z3 + x3*z2", "x.z - 1", "cos(x + z)", "max(x, z)", "x - z", "exp(-x.z)", "1/(1 - x.z)", "x1 z2",
     "exp(x) x.z", "exp(-|x-z|^2) - exp(-|x-z|)", "x'[[1,2],[2,1]]z", "(1 + x.z)^0.5"],
)  # fmt: skip
def test_what_no_rule_makes_a_kernel_is_not_recognised(text: str) -> None:
    assert kernel_of(read_kernel(text)) is None


def test_a_quadratic_form_in_the_exponent_is_weights_and_a_kernel() -> None:
    formula = read_kernel("exp(-(x-z)'[[2,1],[1,2]](x-z))")
    kernel = kernel_of(formula)
    assert kernel is not None
    assert mercer.prove(kernel, d=2).status == "proven"
    X = RANDOM.normal(size=(6, 2))
    np.testing.assert_allclose(kernel(X), formula.pairs(X, X), rtol=1e-12)


def test_named_functions_are_rules() -> None:
    kernel = kernel_of(read_kernel("f(x) k(x, x') f(x')", assumed=True))
    assert isinstance(kernel, Weighted)
    assert str(kernel) == "k(x, z).weighted('f(x)')"
    assert kernel.latex() == r"\left( f(x) \right) \, \left( k(x, z) \right) \, \left( f(z) \right)"
    assert kernel_of(read_kernel("f(x) k(x, z) g(z)", assumed=True)) is None


# -- exact decisions ---------------------------------------------------------------------------------------------------


def integer_matrices() -> list[np.ndarray]:
    """Symmetric matrices of small integers: some of low rank and semidefinite, some indefinite."""
    found = []
    for size in (1, 2, 3, 5):
        for rank in range(1, size + 2):
            A = RANDOM.integers(-2, 3, size=(rank, size))
            signs = np.diag(RANDOM.choice([1, 1, 1, -1], size=rank))
            found.append(A.T @ signs @ A)
    return found


@pytest.mark.parametrize("matrix", integer_matrices(), ids=str)
def test_a_decision_agrees_with_eigenvalues_and_multiplies_out(matrix: np.ndarray) -> None:
    if not matrix.any():
        matrix = np.eye(len(matrix), dtype=int)
    formula = read_kernel("x'Mz", {"M": matrix.tolist()})
    size = len(matrix)
    decision = Coefficients(formula.polynomial(size)).decided()  # type: ignore[arg-type]
    assert decision is not None
    if np.linalg.eigvalsh(matrix)[0] < -1e-9:
        assert decision.direction is not None
        v = np.zeros(size)
        for place, value in decision.direction.items():
            (((_, column), _),) = decision.monomials[place]
            v[column] = float(value)
        assert v @ matrix @ v < 0
    else:
        total = np.zeros((size, size))
        for feature in decision.features:
            row = np.zeros(size)
            for (((_, column), _),), factor in feature.row:
                row[column] = float(factor)
            total += float(feature.weight) * np.outer(row, row)
        np.testing.assert_allclose(total, matrix, atol=1e-12)
        assert len(decision.features) == np.linalg.matrix_rank(matrix)


def test_surds_are_decided_exactly() -> None:
    # The determinant is 2 * 3 - (sqrt 6)^2 = 0 exactly, and below zero for the next integer under the root.
    assert kernel_of(read_kernel("2 x1 z1 + sqrt(6) x1 z2 + sqrt(6) x2 z1 + 3 x2 z2")) is not None
    assert kernel_of(read_kernel("2 x1 z1 + sqrt(6) x1 z2 + sqrt(6) x2 z1 + 2.9999999999999999999 x2 z2")) is None


def test_a_zero_on_the_diagonal_gives_a_direction() -> None:
    decision = Coefficients(read_kernel("x1 z2 + x2 z1 + 3 x2 z2").polynomial(2)).decided()  # type: ignore[arg-type]
    assert decision is not None
    assert {place: value.fraction for place, value in (decision.direction or {}).items()} == {0: Fraction(-2), 1: 1}
    assert Surd.of(1) == (decision.direction or {})[1]


# -- formulas as weights ---------------------------------------------------------------------------------------------


def test_a_weight_may_be_a_formula_which_prints_parses_and_lifts() -> None:
    kernel = Linear().weighted("1 + x1^2")
    assert kernel == mercer.parse(str(kernel)) == Linear().weighted(read_feature("1 + x1^2"))
    assert hash(kernel) == hash(mercer.parse(str(kernel)))
    X = RANDOM.normal(size=(4, 2))
    w = 1 + X[:, 0] ** 2
    np.testing.assert_allclose(kernel(X), w[:, None] * (X @ X.T) * w[None, :], rtol=1e-13)
    lift = mercer.lift(kernel, 2)
    assert lift.get_feature_names_out().tolist() == ["x1 + x1^3", "x2 + x1^2 x2"]
    np.testing.assert_allclose(lift.transform(X) @ lift.transform(X).T, kernel(X), rtol=1e-12)


def test_exercise_21_e_is_saved_in_a_model_file(tmp_path) -> None:
    kernel = Constant().weighted("exp(x)") + Gaussian()
    X = RANDOM.normal(size=(20, 1))
    model = mercer.KernelRidge(kernel).fit(X, X[:, 0])
    mercer.save(model, tmp_path / "model.mercer")
    np.testing.assert_array_equal(mercer.load(tmp_path / "model.mercer").predict(X), model.predict(X))
