"""Functions that go by a name inside kernels: the same in Python, in texts and in model files, and nothing else is."""

import builtins
import math
import pickle

import mpmath
import numpy as np
import pytest

import mercer
from mercer.errors import DomainError, InputError, KernelError, ModelFileError, ParseError
from mercer.kernels import NONNEGATIVE, REALS, Constant, Gaussian, Linear, Match, Min, Sigmoid, Spectrum
from mercer.kernels.algebra.named_functions import NAMED
from mercer.kernels.evaluation.evaluate import fused_from
from mercer.kernels.points import Points
from mercer.kernels.precision.mpmath_arrays import precisely
from mercer.kernels.precision.pairs import PrecisePairs
from mercer.kernels.proof.verify import check_kernel
from mercer.learners import KernelRidge, Perceptron

OF_PYTHON = {
    "abs": abs, "cos": math.cos, "exp": math.exp, "log1p": math.log1p, "sin": math.sin, "sqrt": math.sqrt,
    "tanh": math.tanh,
}  # fmt: skip
X = np.array([[0.25], [1.0], [3.0]])


def test_the_table_is_closed():
    assert sorted(NAMED) == sorted(OF_PYTHON)


@pytest.mark.parametrize("name", OF_PYTHON)
def test_a_name_is_the_function_in_every_reading(name):
    f = np.array([OF_PYTHON[name](x) for x in X[:, 0]])
    theirs = getattr(np, name)
    for k in (mercer.parse(f"constant.weighted({name})"), Constant(1.0).weighted(name)):
        assert k == Constant(1.0).weighted(theirs) == Constant(1.0).weighted(OF_PYTHON[name])
        assert hash(k) == hash(Constant(1.0).weighted(theirs))
        assert mercer.parse(str(k)) == k
        assert eval(repr(k), {"Constant": Constant}) == k  # noqa: S307
        assert pickle.loads(pickle.dumps(k)) == k  # noqa: S301
        assert np.allclose(k(X), np.outer(f, f), rtol=1e-15)
        assert np.allclose(k.diagonal(X), f * f, rtol=1e-15)
    moved = mercer.parse(f"linear.after({name})")
    assert moved == Linear().after(name) == Linear().after(theirs) == Linear().after(map=name)
    wide = np.array([[0.5, 2.0], [3.0, 0.0]])
    g = np.array([[OF_PYTHON[name](x) for x in row] for row in wide])
    assert np.allclose(moved(wide), g @ g.T, rtol=1e-14)
    with fused_from(0):
        assert np.allclose(Gaussian().after(name)(wide), Gaussian()(g), rtol=1e-12)


def test_exercise_21_e_prints_and_parses():
    k = Constant(1.0).weighted(np.exp)
    assert str(k) == "constant(variance=1.0).weighted(exp)"
    assert mercer.parse(str(k)) == k == Constant(1.0).weighted(mercer.exp)
    assert k([[0.3]], [[-1.1]])[0, 0] == pytest.approx(math.exp(0.3 - 1.1), rel=1e-15)
    assert mercer.parse("linear.weighted(function=exp)") == Linear().weighted("exp")
    assert mercer.parse("linear.weighted('exp')") == Linear().weighted("exp")
    assert mercer.parse("linear.after(map=tanh)") == Linear().after("tanh")  # sigmoid is a kernel by that name, too


def test_other_names_for_the_absolute_value():
    for f in (builtins.abs, math.fabs, np.fabs, np.absolute, np.abs):
        assert str(Linear().after(f)) == "linear.after(abs)"


def test_names_that_a_program_gives_come_first():
    def exp(rows):
        return rows[:, 0]

    assert mercer.parse("linear.weighted(exp)", {"exp": exp}) == Linear().weighted(exp)
    assert mercer.parse("linear.weighted(exp)", {"exp": exp}) != Linear().weighted("exp")


@pytest.mark.parametrize("name", OF_PYTHON)
def test_fifty_digits(name):
    theirs = {"abs": mpmath.fabs, "log1p": lambda x: mpmath.log(1 + x)}.get(name) or getattr(mpmath, name)
    with mpmath.workdps(50):
        f = [theirs(mpmath.mpf(x)) for x in X[:, 0]]
        points = Points(precisely(X))
        for k in (Constant(1.0).weighted(name), Linear().after(name)):
            K = k.evaluate(PrecisePairs(points, points))
            assert all(abs(K[i, j].value - f[i] * f[j]) < mpmath.mpf(10) ** -46 for i in range(3) for j in range(3))
            assert check_kernel(k, Points(X), np.array([1.0, -1.0, 0.5])).digits == 50


def test_witnesses_of_kernels_with_named_functions_have_fifty_digits():
    proof = mercer.prove(Sigmoid().after("sqrt"))
    assert (proof.status, proof.witness.digits, proof.domain) == ("refuted", 50, NONNEGATIVE)
    points, weights = proof.witness.points[:, 0], proof.witness.weights
    assert weights @ np.tanh(np.sqrt(np.outer(points, points))) @ weights < 0


@pytest.mark.parametrize(
    ("text", "domain", "status"),
    [
        ("constant.weighted(exp)", REALS, "proven"),
        ("constant.weighted(sqrt)", NONNEGATIVE, "proven"),
        ("linear.after(log1p)", NONNEGATIVE, "proven"),
        ("min.after(abs)", REALS, "proven"),
        ("min.after(exp)", REALS, "proven"),
        ("min.after(sqrt)", NONNEGATIVE, "proven"),
        ("min.after(tanh)", NONNEGATIVE, "proven"),
    ],
)
def test_where_they_are_kernels(text, domain, status):
    proof = mercer.prove(text)
    assert (proof.domain, proof.status) == (domain, status)
    assert np.linalg.eigvalsh(mercer.parse(text)(X)).min() > -1e-12


def test_where_they_are_not_defined_nothing_is_proven():
    proof = mercer.prove("linear.after(log1p)", d=1, domain="reals", time_limit=1)
    assert proof.status == "unknown"
    assert "log1p is not real everywhere on the reals" in str(proof)
    proof = mercer.prove("constant.weighted(sqrt)", domain="reals", time_limit=1)
    assert proof.status == "unknown"
    assert "sqrt is not real everywhere" in str(proof)
    proof = mercer.prove("constant.weighted(exp)", d=2)
    assert "exp takes rows of one column, not of 2" in str(proof)
    assert mercer.prove("min.after(sin)", domain="reals", d=1).status == "refuted"


def test_a_bound_on_the_dimension_holds_behind_a_map():
    assert mercer.prove("sinc.after(sin)", d=3).status == "proven"
    assert mercer.prove("sinc.after(sin)").status != "proven"
    assert mercer.prove("sinc.after(abs)", d=5).status != "proven"


REFUSED = {
    "root": (lambda: Constant(1.0).weighted("sqrt")([[4.0], [-1.0]]), "sqrt of -1 is not .column 0, row 1"),
    "root of columns": (lambda: Linear().after("sqrt")([[4.0, 1.0], [1.0, -2.5]]), r"sqrt of -2.5 .*column 1, row 1"),
    "logarithm": (lambda: Linear().after("log1p")([[-1.0]]), "log1p of -1"),
    "overflow": (lambda: Constant(1.0).weighted("exp")([[800.0]]), "exp of 800 is not.*Scale the columns"),
    "diagonal": (lambda: Constant(1.0).weighted("sqrt").diagonal([[-1.0]]), "sqrt of -1"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_rows_on_which_they_are_not_real_are_named(name):
    evaluate, words = REFUSED[name]
    with pytest.raises(DomainError, match=words):
        evaluate()


def test_log1p_is_evaluated_wherever_it_is_real():
    assert Linear().after("log1p")([[-0.5]])[0, 0] == pytest.approx(math.log(0.5) ** 2, rel=1e-15)


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: Linear().weighted("expp"), KernelError, "got 'expp'. Did you mean 'exp'"),
        (lambda: Linear().after("square"), KernelError, "Named functions: abs, cos, exp, log1p, sin, sqrt, tanh"),
        (lambda: mercer.parse("linear.weighted(square)"), ParseError, "no function 'square'. Named functions: abs"),
        (lambda: mercer.parse("linear.after(tnh)"), ParseError, "no function 'tnh'. Did you mean 'tanh'"),
        (lambda: mercer.parse("linear.weighted(linear)"), ParseError, "needs a function of rows"),
        (lambda: mercer.parse("linear.weighted(exp(linear))"), ParseError, "needs a function of rows"),
        (lambda: mercer.parse("function(exp)"), ParseError, "exp needs a kernel inside"),
        (lambda: Linear().weighted("exp")([[1.0, 2.0]]), InputError, r"one column for exp; the data has 2.*on\(0\)"),
        (lambda: Spectrum(1).weighted("exp")(["a"]), InputError, "needs numbers; column 0 holds strings"),
        (lambda: Match().weighted(math.exp)(["a"]), InputError, "needs numbers; column 0 holds categories"),
    ],
)
def test_what_is_refused(make, error, words):
    with pytest.raises(error, match=words):
        make()


def test_features_are_called_by_the_function():
    assert mercer.lift(Linear().after("log1p"), 2).get_feature_names_out(["a", "b"]).tolist() == [
        "log1p(a)",
        "log1p(b)",
    ]
    lift = mercer.lift("(1 + linear).weighted(sqrt)", 1)
    assert lift.get_feature_names_out(["age"]).tolist() == ["sqrt(age)", "sqrt(age) * age"]
    assert np.allclose(lift.transform(X), np.sqrt(X) * np.hstack([np.ones((3, 1)), X]))


@pytest.mark.parametrize(
    "text", ["constant.weighted(exp)", "(1 + linear).after(tanh)", "gaussian(1).after(log1p).on(0)"]
)
def test_model_files_hold_them(text, tmp_path):
    y = np.array([1.0, 2.0, 0.5])
    model = KernelRidge(mercer.parse(text), alpha=0.1, fit_intercept=False).fit(X, y)
    K = mercer.parse(text)(X)
    assert np.allclose(model.predict(X), K @ np.linalg.solve(K + 0.1 * np.eye(3), y))
    mercer.save(model, tmp_path / "m.mercer")
    again = mercer.load(tmp_path / "m.mercer")
    assert again.kernel_ == model.kernel_
    assert np.array_equal(again.predict(X), model.predict(X))


def test_a_function_of_the_same_name_is_not_saved_as_another(tmp_path):
    def exp(rows):
        return rows[:, 0] + 2

    model = KernelRidge(Linear().weighted(exp), alpha=1.0).fit(X, X[:, 0])
    with pytest.raises(ModelFileError, match="holds a function"):
        mercer.save(model, tmp_path / "m.mercer")


def test_features_of_a_learner():
    rows, labels = np.array([[0.0], [1.0], [4.0], [9.0]]), np.array([0, 0, 1, 1])
    model = Perceptron("linear.after(sqrt)").fit(rows, labels)
    assert model.lift_.get_feature_names_out().tolist() == ["sqrt(x1)"]
    assert (model.predict(rows) == labels).all()


def test_min_after_a_map_into_its_domain():
    assert Min().after("abs")([[-2.0]], [[3.0]]) == 2.0
