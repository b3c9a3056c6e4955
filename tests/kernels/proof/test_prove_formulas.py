# ruff: noqa: RUF001 (letters that look like others are what students copy)
"""Formulas as lectures write them, answered by rules, exact coefficients and witnesses; with dense NumPy beside."""

import mpmath
import numpy as np
import pytest

import mercer
from mercer.errors import InputError, KernelError, ParseError
from mercer.kernels import Gaussian, Kernel, Laplace, Linear, Matern
from mercer.kernels.formulas import read_kernel
from mercer.kernels.proof.densities import Density, density_of, is_above

RANDOM = np.random.default_rng(11)


def assert_witness(proof, function, domain="reals"):
    """A refutation by points, recomputed with a Python function."""
    assert proof.status == "refuted", str(proof)
    points, weights = proof.witness.points, proof.witness.weights
    K = np.array([[float(function(x, z)) for z in points] for x in points])
    value = weights @ K @ weights
    assert value < 0
    assert value == pytest.approx(proof.witness.value, rel=1e-6)
    assert proof.witness.digits == 50
    assert not mercer.kernels.domain.domain_named(domain).misfits(points).any()


# -- exercise 21 of the lecture, as it is written ---------------------------------------------------------------------

EXERCISE_21 = {
    "A": ["1", "K(x, x') = 1"],
    "B": ["x.x'", "x · x′", "<x, x'>", r"\langle x, x' \rangle", r"x \cdot x^\prime", "x^T x'", "x@z", "dot(x, z)"],
    "C": ["1 + x.x'", "1 + <x, x'>", r"1 + x \cdot x'", "x.x' + 1"],
    "D": ["(1 + x.x')^2", "(1 + <x,z>)**2", r"(1 + x \cdot x')^2", "(1 + x.z)^2"],
    "E": ["exp(x + x')", r"\exp(x + x')", "e^(x + x')", "exp(x) exp(x')", "exp(x+z)"],
}


@pytest.mark.parametrize("text", [text for texts in EXERCISE_21.values() for text in texts])
def test_exercise_21_a_to_e_are_proven(text):
    proof = mercer.prove(text)
    assert proof.status == "proven", str(proof)
    assert proof.domain == "reals"
    d = proof.dimension or 2
    X = RANDOM.normal(size=(8, d))
    K = proof.kernel(X)
    np.testing.assert_allclose(K, read_kernel(text).pairs(X, X), rtol=1e-13)
    assert np.linalg.eigvalsh(K)[0] > -1e-12 * np.abs(K).max()


@pytest.mark.parametrize("text", ["min(x, x')", "min(x, z)", r"\min(x, x')", "min(s, t)"])
@pytest.mark.parametrize(
    ("domain", "status"),
    [("Z", "refuted"), ("N", "proven"), ("R+", "proven"), ("R", "refuted"), ("positive", "proven"), ("R>=0", "proven"),
     ("non-negative", "proven"), (r"\mathbb{Z}", "refuted"), ("\u2124", "refuted"), (None, "proven")],
)  # fmt: skip
def test_exercise_21_f_depends_on_the_domain(text, domain, status):
    proof = mercer.prove(text, domain=domain)
    assert proof.status == status, str(proof)
    if status == "refuted":
        assert_witness(proof, lambda x, z: np.minimum(x, z).sum(), domain)


# -- polynomials ------------------------------------------------------------------------------------------------------


def test_exercise_20_from_the_formula():
    first = mercer.prove("x1*z1 + x2*z3 + x3*z2")
    assert_witness(first, lambda x, z: x[0] * z[0] + x[1] * z[2] + x[2] * z[1])
    right = mercer.prove("x1*z1 + x2*z2 + x2*z3 + x3*z2 + x3*z3")
    assert right.status == "proven"
    assert "phi(x) = [x1, x2 + x3]" in " ".join(right.steps)
    phi = mercer.lift("x1*z1 + x2*z2 + x2*z3 + x3*z2 + x3*z3", 3)
    assert phi.get_feature_names_out().tolist() == ["x1", "x2 + x3"]


POLYNOMIALS = {
    "x.z - 1": lambda x, z: x @ z - 1,
    "(x.z)^3 - x.z": lambda x, z: (x @ z) ** 3 - x @ z,
    "|x|^2 |z|^2 - (x.z)^2": lambda x, z: (x @ x) * (z @ z) - (x @ z) ** 2,
    "sum(x_k^2 z_k^2) - 0.001 x.z": lambda x, z: (x**2 * z**2).sum() - 0.001 * (x @ z),
    "(x1 z2 + x2 z1)^2": lambda x, z: (x[0] * z[1] + x[1] * z[0]) ** 2,
    "x1 z1 - 0.5 x1 z2 - 0.5 x2 z1 + 0.24 x2 z2": lambda x, z: (
        x[0] * z[0] + 0.24 * x[1] * z[1] - 0.5 * (x[0] * z[1] + x[1] * z[0])
    ),
}


@pytest.mark.parametrize("text", POLYNOMIALS)
@pytest.mark.parametrize("domain", ["reals", "integers", "naturals", "nonnegative"])
def test_polynomials_that_are_none_are_refuted_on_every_domain(text, domain):
    assert_witness(mercer.prove(text, domain=domain), POLYNOMIALS[text], domain)


def test_a_violation_that_few_points_show_is_found_by_solving():
    # C = [[1, 1], [1, 1 - 1e-9]] in the monomials x^3 and x^5: one part in 10^9.
    proof = mercer.prove("(x^3 + x^5)(z^3 + z^5) - 0.000000001 x^5 z^5")
    assert proof.status == "refuted"
    with mpmath.workdps(60):
        points = [mpmath.mpf(float(x[0])) for x in proof.witness.points]
        weights = [mpmath.mpf(float(c)) for c in proof.witness.weights]
        tiny = mpmath.mpf(1) / 10**9

        def k(x, z):
            return (x**3 + x**5) * (z**3 + z**5) - tiny * x**5 * z**5

        pairs = list(zip(points, weights, strict=True))
        value = sum(a * b * k(x, z) for x, a in pairs for z, b in pairs)
        assert value < 0
        assert float(value) == pytest.approx(proof.witness.value, rel=1e-9)


@pytest.mark.parametrize(
    ("text", "d"),
    [("(1 + x.z)^2 - 1", None), ("(x.z + 1)^3 - 3 x.z - 1", None), ("(1 + x1 z1 + x2 z2)^2 - 1 - x1 z1", None),
     ("x'[[2,1],[1,2]]z", None), ("sum(x_k z_k + x_k^2 z_k^2) - 0.5 x.z", None),
     ("2 x1 z1 + sqrt(6) x1 z2 + sqrt(6) x2 z1 + 3 x2 z2", None), ("x.z - x.z", None)],
)  # fmt: skip
def test_differences_of_polynomials_that_are_kernels_are_proven(text, d):
    proof = mercer.prove(text, d)
    assert proof.status == "proven", str(proof)
    columns = proof.dimension or 2
    X = RANDOM.normal(size=(10, columns))
    K = read_kernel(text).pairs(X, X)
    np.testing.assert_allclose(proof.kernel(X), K, rtol=1e-12, atol=1e-12)
    assert np.linalg.eigvalsh(K)[0] > -1e-10


@pytest.mark.parametrize(
    ("text", "function"),
    [("x1 z2", lambda x, z: x[0] * z[1]), ("x - z", lambda x, z: x[0] - z[0]), ("x", lambda x, z: x[0]),
     ("exp(x) z", lambda x, z: np.exp(x[0]) * z[0])],
)  # fmt: skip
def test_what_is_not_symmetric_is_refuted_by_two_points(text, function):
    proof = mercer.prove(text)
    assert proof.status == "refuted"
    assert isinstance(proof.witness, mercer.Asymmetry)
    x, z = proof.witness.points
    assert proof.witness.forward == pytest.approx(function(x, z))
    assert proof.witness.backward == pytest.approx(function(z, x))
    assert proof.witness.forward != proof.witness.backward


# -- what rules do not reach ------------------------------------------------------------------------------------------

SEARCHED = {
    "max(x, z)": max,
    "cos(x + z)": lambda x, z: np.cos(x + z),
    "exp(-|x - z|^4)": lambda x, z: np.exp(-(abs(x - z) ** 4)),
    "exp(-x z)": lambda x, z: np.exp(-x * z),
    "tanh(x.z)": lambda x, z: np.tanh(x * z),
    "|x - z|": lambda x, z: abs(x - z),
    "exp(-|x-z|^2) - exp(-|x-z|)": lambda x, z: np.exp(-((x - z) ** 2)) - np.exp(-abs(x - z)),
}


@pytest.mark.parametrize("text", SEARCHED)
def test_a_witness_is_searched_for_and_verified_with_50_digits(text):
    proof = mercer.prove(text, d=1)
    assert_witness(proof, lambda x, z: SEARCHED[text](x[0], z[0]))


def test_a_formula_that_is_not_real_everywhere_is_not_proven():
    proof = mercer.prove("log(x) log(z)")
    assert proof.status == "unknown"
    assert "wherever log(x) is real, and on the reals it is not, at x = (0)" in str(proof).replace("\n     ", " ")
    assert mercer.prove("sqrt(x) sqrt(z)").domain == "nonnegative"
    assert mercer.prove("sqrt(x) sqrt(z)", domain="R").status == "unknown"


def test_sums_over_columns_are_proven_for_every_number_of_them():
    proof = mercer.prove("sum(min(x, z)^2)")
    assert (proof.status, proof.domain.name, proof.max_dimension) == ("proven", "nonnegative", None)
    X = RANDOM.uniform(0, 3, size=(6, 3))
    expected = (np.minimum(X[:, None, :], X[None, :, :]) ** 2).sum(axis=2)
    np.testing.assert_allclose(proof.kernel(X), expected, rtol=1e-14)
    assert mercer.prove("prod(1 + x_k z_k + x_k^2 z_k^2)").status == "proven"


def test_letters_of_scale_are_named_in_the_proof():
    proof = mercer.prove("exp(-|x-z|^2/(2 sigma^2))")
    assert proof.kernel == Gaussian(1.0)
    assert proof.steps[0] == "sigma has no value in the formula, and is taken as 1"
    assert mercer.prove("exp(-|x-z|^2/(2 sigma^2))", names={"sigma": 2}).kernel == Gaussian(2.0)
    assert mercer.prove("x'Mz", names={"M": [[1, 2], [2, 1]]}).status == "refuted"


def test_a_proof_of_a_formula_is_about_the_formula():
    proof = mercer.prove("(1 + x.x')^2")
    assert proof.claim == "(1 + x.z)^2 is a kernel on the reals, for every d."
    assert str(proof.kernel) == "polynomial(degree=2, offset=1.0)"
    assert proof.to_latex().startswith(
        r"\textbf{Claim} (proven). $k(x, z) = {\left( 1 + \langle x, z \rangle \right)}^{2}$"
    )
    for text in ("x1*z1 + x2*z3 + x3*z2", "gaussian - laplace", "f(x) k(x, z) f(z)", "x1 z2", "cos(x - z)"):
        latex = mercer.prove(text).to_latex()
        assert latex.count("{") == latex.count("}")
        assert latex.count("$") % 2 == 0


# -- functions that are only named ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    ["f(x) k(x,x') f(x')", "k(x, x) k(z, z)", "k1(x,z) + k2(x,z)", "k1(x,z) k2(x,z)", "exp(k(x, x'))", "(1 + k(x,z))^3",
     "f(x) f(z)", "3 k(x, z)", "k_1(x, x') + 2 k_2(x, x') x.x'", "f(x)^2 k(x, z) f(z)^2"],
)  # fmt: skip
def test_the_rules_are_proven_for_every_function_and_kernel(text):
    proof = mercer.prove(text)
    assert (proof.status, proof.max_dimension) == ("proven", None), str(proof)
    assert "stand" in proof.steps[0]


@pytest.mark.parametrize("text", ["k1(x,z) - k2(x,z)", "f(x) k(x,z) g(z)", "-k(x,z)", "f(x) + f(z)", "k(x,z) - 1"])
def test_what_is_no_rule_is_refuted_by_an_instance(text):
    proof = mercer.prove(text)
    assert proof.status == "refuted", str(proof)
    assert "not for every choice: with" in proof.steps[1]
    instance = proof.kernel
    points, weights = proof.witness.points, proof.witness.weights
    assert weights @ instance(points) @ weights < 0


def test_a_kernel_of_one_point_is_a_function_and_no_kernel():
    assert mercer.prove("k(x, x)").status == "unknown"
    assert mercer.prove("k(x, z) - k(x, x) k(z, z)").status == "refuted"


def test_named_functions_are_for_proofs_alone():
    with pytest.raises(ParseError, match=r"no 'k'|no value of 'k'"):
        mercer.parse("k(x, z) + 1")
    with pytest.raises(ParseError, match="takes the points"):
        mercer.prove("f(x + z) f(z)")


# -- differences of kernels -------------------------------------------------------------------------------------------


def test_differences_are_answered():
    assert_witness(
        mercer.prove("gaussian - laplace"),
        lambda x, z: np.exp(-((x - z) @ (x - z)) / 2) - np.exp(-np.linalg.norm(x - z)),
    )
    proven = mercer.prove("2*gaussian - gaussian")
    assert (proven.status, proven.kernel, proven.max_dimension) == ("proven", Gaussian(), None)
    assert mercer.prove("0.3*gaussian - 0.1*gaussian - 0.2*gaussian + linear").kernel == Linear()
    assert mercer.prove("(1 + linear)**2 - 1").status == "proven"
    assert_witness(mercer.prove("linear**2 - linear"), lambda x, z: (x @ z) ** 2 - x @ z)
    assert_witness(mercer.prove("-gaussian"), lambda x, z: -np.exp(-((x - z) @ (x - z)) / 2))
    assert_witness(mercer.prove("gaussian + -1"), lambda x, z: np.exp(-((x - z) @ (x - z)) / 2) - 1)
    assert mercer.prove("gaussian*(2*gaussian - gaussian)").status in ("proven", "unknown")


def test_exponentials_less_their_first_terms_are_series():
    assert mercer.prove("exp(linear) - 1").status == "proven"
    assert mercer.prove("exp(x.z) - 1 - x.z").status == "proven"
    assert mercer.prove("exponential(2) - 0.03125*linear**2").status == "proven"  # (1/4)^2 / 2! is 1/32
    proof = mercer.prove("exponential(2) - 0.04*linear**2", d=1)
    assert proof.status != "proven"


def test_the_series_is_that_of_mpmath():
    for n in range(6):
        coefficient = float(mpmath.taylor(lambda t: mpmath.exp(t / 4), 0, 6)[n])
        below, above = 0.99 * coefficient, 1.01 * coefficient
        rest = f"linear**{n}" if n else "1"
        assert mercer.prove(f"exponential(2) - {below!r}*{rest}").status == "proven"
        assert mercer.prove(f"exponential(2) - {above!r}*{rest}", d=1, time_limit=2.0).status != "proven"


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize(
    ("first", "second"),
    [(Gaussian(0.5), Gaussian(1.0)), (Gaussian(1.0), Gaussian(0.5)), (Laplace(1.0), Gaussian(1.0)),
     (Laplace(0.5), Gaussian(2.0)), (Laplace(0.5), Laplace(1.0)), (Matern(1.5, 1.0), Gaussian(1.0)),
     (Laplace(1.0), Matern(1.5, 1.0)), (Matern(1.5, 1.0), Laplace(1.0))],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("ratio", [1.1, 2.0, 5.0, 30.0])
def test_densities_are_compared_as_on_a_grid_of_frequencies(first: Kernel, second: Kernel, d, ratio):
    one, other = density_of(first), density_of(second)
    assert one is not None
    assert other is not None
    found = is_above(mercer.kernels.formulas.signed.plain_fraction(ratio), one, other, d)
    w = np.concatenate([[0.0], np.geomspace(1e-3, 1e4, 3_000)])
    gap = np.log(ratio) + _log_density(one, d, w) - _log_density(other, d, w)
    assert found == bool((gap >= -1e-12).all())


def _log_density(density: Density, d, w):
    """The transforms of Rasmussen and Williams, section 4.2, in floats."""
    from scipy.special import gammaln

    length = float(density.length)
    if density.nu is None:
        return d * np.log(length) + d / 2 * np.log(2 * np.pi) - length**2 * w**2 / 2
    nu = float(density.nu)
    head = d * np.log(2) + d / 2 * np.log(np.pi) + gammaln(nu + d / 2) + nu * np.log(2 * nu) - gammaln(nu)
    return head - 2 * nu * np.log(length) - (nu + d / 2) * np.log(2 * nu / length**2 + w**2)


def test_a_proven_difference_has_positive_eigenvalues():
    proof = mercer.prove("2*laplace - gaussian")
    assert (proof.status, proof.max_dimension) == ("proven", 2)
    X = RANDOM.normal(size=(40, 2))
    assert np.linalg.eigvalsh(2 * Laplace()(X) - Gaussian()(X))[0] > -1e-12


def test_messages_about_differences_are_true_and_say_what_to_ask():
    for make in (lambda: Gaussian() - Laplace(), lambda: 2 * Gaussian() - Gaussian()):
        with pytest.raises(KernelError) as caught:
            make()
        assert "negative" not in str(caught.value)
        question = str(caught.value).split('mercer.prove("')[1].split('")')[0]
        assert mercer.prove(question).status in ("proven", "refuted")
    with pytest.raises(KernelError, match=r"mercer\.prove"):
        -1 * Gaussian()


# -- texts that are neither -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [("gaussian * x.z", "not both"), ("gausian - laplace", "Did you mean 'gaussian'"), ("x'Mz", r"names=\{'M'"),
     ("gausian", "Did you mean"), ("(1 + x.z", r"'\)' is needed"), ("", "got nothing")],
)  # fmt: skip
def test_one_helpful_error(text, words):
    with pytest.raises(ParseError, match=words):
        mercer.prove(text)


def test_a_number_of_columns_that_does_not_fit_is_refused():
    with pytest.raises(InputError, match="at least 3 columns"):
        mercer.prove("x1 z1 + x3 z3", d=2)
    assert mercer.prove("x1 z1 + x3 z3", d=5).dimension == 5


# -- parse, learners, lifts -------------------------------------------------------------------------------------------


def test_learners_take_formulas_that_are_recognised():
    X, y = RANDOM.normal(size=(30, 2)), RANDOM.normal(size=30)
    one = mercer.KernelRidge("(1 + x.z)^2", alpha=0.1).fit(X, y)
    other = mercer.KernelRidge("polynomial(degree=2)", alpha=0.1).fit(X, y)
    np.testing.assert_array_equal(one.predict(X), other.predict(X))
    with pytest.raises(ParseError, match=r"mercer\.prove"):
        mercer.KernelRidge("x1*z1 + x2*z3 + x3*z2").fit(RANDOM.normal(size=(9, 3)), np.arange(9.0))
    with pytest.raises(ParseError, match="lengthscale is found from the data"):
        mercer.KernelRidge("exp(-|x-z|^2/(2 s^2))").fit(X, y)


@pytest.mark.parametrize(
    ("text", "d", "names"),
    [("(1 + x.z)^2 - 1", 2, ["sqrt(2) x1", "sqrt(2) x2", "x1^2", "sqrt(2) x1 x2", "x2^2"]),
     ("x.z + |x|^2 |z|^2", 2, ["x1", "x2", "x1^2 + x2^2"]), ("exp(x + x')", 1, ["exp(x1)"]),
     ("cos(x - z)", 1, ["cos(x1)", "sin(x1)"]), ("prod(1 + x_k z_k)", 2, ["1", "x1", "x2", "x1 x2"]),
     ("sum(x_k^2 z_k^2)", 2, ["x1^2", "x2^2"]), ("x'[[2,1],[1,2]]z", 2, ["sqrt(2) x1 + sqrt(1/2) x2", "sqrt(3/2) x2"])],
)  # fmt: skip
def test_lifts_of_formulas_have_named_features(text, d, names):
    phi = mercer.lift(text, d)
    assert phi.get_feature_names_out().tolist() == names
    X = RANDOM.normal(size=(5, d))
    F = phi.transform(X)
    np.testing.assert_allclose(F @ F.T, read_kernel(text).pairs(X, X), rtol=1e-12, atol=1e-12)


# -- numbers that are only named --------------------------------------------------------------------------------------

OF_NUMBERS = {
    "(x.z + c)^3": ("c",),
    "a exp(-|x - z|^2) + b x.z": ("a", "b"),
    "(a x.z + b)^2": ("a", "b"),
    "exp(c x.z)": ("c",),
    "a (x.z + b(1 + x.z)^2)": ("a", "b"),
    "w1 x1 z1 + w_2 x2 z2": ("w1", "w2"),
    r"θ x·z + \mu": ("mu", "theta"),
    "c^2 x.z": ("c",),
}


@pytest.mark.parametrize("text", OF_NUMBERS)
def test_numbers_may_be_only_named_and_stand_for_all_of_at_least_0(text):
    proof = mercer.prove(text)
    named = OF_NUMBERS[text]
    assert proof.status == "proven", str(proof)
    assert "of at least 0" in proof.steps[0]
    assert proof.claim.endswith(f"{named[-1]} of at least 0.")
    X = np.random.default_rng(5).normal(size=(12, 2))
    for seed in range(6):  # with numbers in their place it is a kernel each time
        values = dict(zip(named, np.random.default_rng(seed).exponential(size=len(named)), strict=True))
        typed = text.replace("w_2", "w2")
        matrix = mercer.kernels.formulas.read_kernel(typed, values).pairs(X, X)
        assert np.linalg.eigvalsh(matrix).min() > -1e-9 * np.abs(matrix).max()


def test_numbers_times_any_kernel():
    proof = mercer.prove("a k1(x, z) + b k2(x, z)")
    claim = "a k1(x, z) + b k2(x, z) is a kernel on the reals, for every d, and all numbers a and b of at least 0."
    assert proof.claim == claim
    assert proof.steps[0] == "a and b stand for any numbers of at least 0, k1 and k2 for any kernels"
    assert mercer.prove("alpha_1 k_1(x, x') + c f(x) f(x')").status == "proven"
    assert mercer.prove("b min(x, z)").domain.name == mercer.prove("min(x, z)").domain.name
    assert r"\theta_{1} \, \langle x, z \rangle" in mercer.prove("theta_1 x.z").to_latex()


@pytest.mark.parametrize(
    "text", ["a x.z - b", "(x.z - c)^2", "c x1 z2", "-c x.z", "a k1(x, z) - b k2(x, z)", "c |x - z|"]
)
def test_what_fails_for_a_number_is_refuted_by_one(text):
    proof = mercer.prove(text)
    assert proof.status == "refuted", str(proof)
    assert any("not for every choice: with" in step for step in proof.steps)
    assert "of at least 0" not in proof.claim


def test_what_rules_leave_open_is_not_claimed():
    proof = mercer.prove("exp(-c |x - z|^2)")
    assert proof.status == "unknown"
    assert "names={'c': 1.0}" in proof.steps[-1]
    assert mercer.prove("exp(-c |x - z|^2)", names={"c": 0.5}).status == "proven"
    assert mercer.prove("b min(x, z)", domain="R").status == "refuted"


def test_what_is_taken_as_1_is_said_beside_what_is_named():
    assert "gamma has no value in the formula, and is taken as 1" in mercer.prove("a x.z + gamma k(x, z)").steps


def test_numbers_are_named_for_proofs_alone():
    for ask in (lambda: mercer.parse("(x.z + c)^3"), lambda: mercer.lift("c x.z", d=2)):
        with pytest.raises(ParseError, match="no value of 'c'"):
            ask()
    with pytest.raises(ParseError, match="no value of 'M'"):
        mercer.prove("x'Mz")


# -- formulas that are no kernels, where one is needed -----------------------------------------------------------------


@pytest.mark.parametrize(("text", "d"), [("x1*z1 + x2*z3 + x3*z2", 3), ("x.z - 1", 2), ("x1 z2 + x2 z1", None)])
def test_a_refuted_polynomial_says_that_it_is_no_kernel(text, d):
    with pytest.raises(ParseError, match=r"This formula is no kernel: .* = -[0-9.]+.*mercer\.prove\("):
        mercer.lift(text, d=d) if d else mercer.parse(text)


def test_what_no_coefficients_refute_is_not_called_no_kernel():
    for text in ("cos(x1 z1)", "x.z - 1"):  # the second without a number of columns
        with pytest.raises(ParseError, match="not made of kernels that are known here"):
            mercer.parse(text)


def test_names_reach_lifts_and_checks():
    M = [[2.0, 1.0], [1.0, 2.0]]
    X = np.random.default_rng(6).normal(size=(5, 2))
    for d in (2, X):
        phi = mercer.lift("x'Mz", d, names={"M": M}).transform(X)
        np.testing.assert_allclose(phi @ phi.T, X @ np.array(M) @ X.T, rtol=1e-12)
    assert mercer.check(["2 x1", "2 x2"], "c x.z", names={"c": 4}).status == "equal"
    assert mercer.check(["x1", "x2"], "c x.z", names={"c": 4}).status == "different"
    with pytest.raises(ParseError, match=r"no kernel: .*names=\.\.\.\) has the proof"):
        mercer.lift("x'Mz", 2, names={"M": [[0, 1], [1, 0]]})
    with pytest.raises(InputError, match="the text of a kernel, to use names"):
        mercer.lift(["x1"], 2, names={"a": 1.0})


def test_what_is_asked_in_another_way_is_told_how():
    with pytest.raises(ParseError, match="A minus stands in front of a term, as in linear - 2"):
        mercer.prove("gaussian * -1")
    with pytest.raises(KernelError, match=r"got the class Gaussian\. Give Gaussian\(\.\.\.\)"):
        mercer.prove(mercer.kernels.Gaussian)
    with pytest.raises(ParseError, match="Did you mean 'gaussian'"):
        mercer.check(["x1"], "gausian")
