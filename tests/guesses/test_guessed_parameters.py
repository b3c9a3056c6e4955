"""What is said about parameters that a class does not have, and that the numbers in it are right."""

import inspect
import re

import numpy as np
import pytest
from sklearn.base import clone

import mercer
from mercer import (
    KernelPCA,
    KernelPerceptron,
    KernelRidge,
    KernelSVC,
    displays,
    kernels,
    learners,
    lifts,
    solvers,
)
from mercer.guesses.parameters import ELSEWHERE, FORMULAS
from mercer.kernels import Gaussian, Hamming, Linear, Polynomial
from mercer.learners.estimator import KernelEstimator

X = np.random.default_rng(0).uniform(0.1, 2.0, size=(6, 2))
D2 = ((X[:, None] - X[None]) ** 2).sum(axis=2)
CLASSES = [
    one
    for module in (kernels, lifts, learners)
    for _, one in inspect.getmembers(module, inspect.isclass)
    if "__init__" in vars(one) and not inspect.isabstract(one)
    if issubclass(one, kernels.Kernel | lifts.Lift | KernelEstimator)
]


def refused(action):
    with pytest.raises(TypeError) as caught:
        action()
    return str(caught.value)


def number(text, name="lengthscale"):
    return float(re.search(rf"{name}=([\d.e+-]+\d)", text)[1])


@pytest.mark.parametrize("one", CLASSES, ids=lambda one: f"{one.__module__.split('.')[1]}.{one.__name__}")
def test_every_class_speaks_of_a_parameter_that_it_does_not_have(one):
    assert f"{one.__name__} has no parameter 'zzzzzz'" in refused(lambda: one(zzzzzz=1))


@pytest.mark.parametrize(
    ("kernel", "guess", "values"),
    [
        ("Gaussian", {"gamma": 0.7}, np.exp(-0.7 * D2)),
        ("Gaussian", {"eps": 0.7}, np.exp(-((0.7 * np.sqrt(D2)) ** 2))),
        ("Gaussian", {"sigma2": 0.7}, np.exp(-D2 / (2 * 0.7))),
        ("Laplace", {"gamma": 0.7}, np.exp(-0.7 * np.sqrt(D2))),
        ("ProductLaplace", {"gamma": 0.7}, np.exp(-0.7 * np.abs(X[:, None] - X[None]).sum(axis=2))),
        (
            "ExponentialChiSquared",
            {"gamma": 0.7},
            np.exp(-0.7 * ((X[:, None] - X[None]) ** 2 / (X[:, None] + X[None])).sum(axis=2)),
        ),
        ("Exponential", {"gamma": 0.7}, np.exp(0.7 * X @ X.T)),
    ],
)
def test_numbers_of_another_convention_give_the_same_kernel(kernel, guess, values):
    one = getattr(kernels, kernel)
    text = refused(lambda: one(**guess))
    assert np.allclose(one(lengthscale=number(text))(X), values, rtol=1e-12)


def test_both_conventions_of_sigma_are_named():
    text = refused(lambda: Gaussian(sigma=0.7))
    first, second = re.search(
        r"write lengthscale=(\S+) for exp\(-\|x - z\|\^2 / \(2 sigma\^2\)\).* = (\S+)\.$", text
    ).groups()
    assert np.allclose(Gaussian(float(first))(X), np.exp(-D2 / (2 * 0.7**2)))
    assert np.allclose(Gaussian(float(second))(X), np.exp(-D2 / 0.7**2))


def test_gamma_of_labels():
    rows = np.array([["a", "b"], ["a", "c"], ["d", "e"]], dtype=object)
    unequal = (rows[:, None] != rows[None]).sum(axis=2)
    text = refused(lambda: Hamming(gamma=0.7))
    assert np.allclose(Hamming(number(text))(rows), np.exp(-0.7 * unequal))


def test_gamma_of_a_polynomial_becomes_a_factor():
    text = refused(lambda: Polynomial(degree=3, gamma=0.5, coef0=1.0))
    written = re.search(r"so write (.*)\. Polynomial", text)[1]
    kernel = eval(written, {"Polynomial": Polynomial})  # noqa: S307
    assert np.allclose(kernel(X), (0.5 * X @ X.T + 1.0) ** 3, rtol=1e-12)


def test_numbers_beside_a_kernel_go_into_it():
    text = refused(lambda: KernelSVC(kernel="poly", degree=3, coef0=1, gamma=0.5))
    kernel = eval(re.search(r"Write kernel=(.*)\.$", text)[1], {"Polynomial": Polynomial})  # noqa: S307
    assert np.allclose(kernel(X), (0.5 * X @ X.T + 1.0) ** 3, rtol=1e-12)
    assert np.allclose(Gaussian(number(refused(lambda: KernelSVC(gamma=0.7))))(X), np.exp(-0.7 * D2))


def test_the_penalty_of_another_convention_gives_the_same_model():
    C, y = 0.3, X[:, 0] - 2 * X[:, 1] + 1
    weights = np.linalg.solve(X.T @ X + np.eye(2) / (2 * C), X.T @ y)  # of |w|^2 / 2 + C sum (y - w.x)^2
    alpha = number(refused(lambda: KernelRidge(C=C)), "alpha")
    model = KernelRidge("linear", alpha=alpha, fit_intercept=False).fit(X, y)
    assert np.allclose(model.predict(X), X @ weights, rtol=1e-10)
    assert number(refused(lambda: KernelSVC(lam=0.1)), "C") == 10.0


@pytest.mark.parametrize(
    ("action", "answer"),
    [
        (lambda: Gaussian(gamma=0.5), "gamma = 1 / (2 lengthscale^2), so gamma=0.5 is lengthscale=1.0."),
        (lambda: Gaussian(gamma=np.float64(0.5)), "so gamma=0.5 is lengthscale=1.0."),
        (lambda: Gaussian(gamma="auto"), "gamma = 1 / (2 lengthscale^2)."),
        (lambda: Gaussian(gamma=-1), "gamma = 1 / (2 lengthscale^2)."),
        (lambda: Gaussian(length_scale=2), "write lengthscale=2."),
        (lambda: Gaussian(lenghtscale=2), "Did you mean 'lengthscale'?"),
        (lambda: Gaussian(variance=2), "a factor stands before a kernel: 2.0 * Gaussian()."),
        (lambda: Polynomial(p=3), "write degree=3."),
        (lambda: Polynomial(coef0=0), "write offset=0."),
        (lambda: Polynomial(gamma=10.0, degree=10**6), "gamma**degree * Polynomial(degree, offset=coef0 / gamma)."),
        (lambda: kernels.Matern(gamma=1), "distances are divided by lengthscale."),
        (lambda: kernels.Matern(p=2.5), "write nu=2.5."),
        (lambda: KernelPerceptron(T=5), "write max_iter=5."),
        (lambda: KernelPerceptron(eta=0.1), "a step size changes no decision"),
        (
            lambda: KernelRidge(lam=0.1),
            "write alpha=0.1, of sum (y - f(x))^2 + alpha |f|^2; where the squares are a mean",
        ),
        (lambda: KernelRidge(regularization=0.1), "write alpha=0.1"),
        (lambda: KernelSVC(coef0=1), "it belongs to the kernel. Write kernel=Polynomial(degree=2, offset=1)."),
        (lambda: KernelSVC(gamma="scale"), "the median distance of the rows."),
        (lambda: KernelPCA(kernel="rbf", k=2), "write n_components=2."),
        (lambda: KernelPCA(2, kernel="rbf"), "KernelPCA got kernel twice: 2 by position, and by name."),
        (lambda: KernelSVC("rbf", 1.0), "KernelSVC takes kernel by position, and got 2 parameters so."),
        (lambda: Linear([[1.0]]), "Linear takes no parameter, and got 1. <x, M z> with M = A' A is Linear().after(A)."),
        (lambda: lifts.RandomFourier("rbf", D=100), "write n_components=100."),
        (lambda: lifts.RadialBasis(n_centers=7), "write n_components=7."),
        (lambda: lifts.Monomials(interaction_only=True), "Subsets(max_order=...)"),
        (lambda: kernels.Power(Linear(), p=3), "write exponent=3."),
        (lambda: lifts.RadialBasis("random", b=7), "write n_components=7."),
        (lambda: solvers.GradientDescent(learning_rate=0.1), "write step=0.1."),
        (
            lambda: solvers.GradientDescent(0.1),
            "takes parameters by name alone, and got 1 by position. Known: step, max",
        ),
        (lambda: solvers.ConjugateGradient(rank=3), "write preconditioner_rank=3."),
        (lambda: solvers.Cholesky(1), "Cholesky takes no parameter, and got 1."),
        (
            lambda: displays.GramDisplay(Gaussian(), []),
            "Use GramDisplay.from_estimator(...) or GramDisplay.from_kernel",
        ),
        (lambda: displays.BoundaryDisplay(KernelPerceptron(), [], []), "Use BoundaryDisplay.from_estimator(...)."),
    ],
)
def test_guesses_are_answered(action, answer):
    assert answer in refused(action)


def test_a_matrix_of_an_inner_product_is_a_map():
    A = np.array([[1.0, 2.0], [0.0, 3.0]])
    assert np.allclose(Linear().after(A)(X), X @ (A.T @ A) @ X.T)


def test_texts_and_set_params_say_the_same():
    for action in (
        lambda: mercer.parse("gaussian(gamma=0.5)"),
        lambda: Gaussian().set_params(gamma=0.5),
        lambda: KernelSVC(Gaussian()).set_params(kernel__gamma=0.5),
    ):
        with pytest.raises(ValueError, match=r"so gamma=0.5 is lengthscale=1.0"):
            action()
    with pytest.raises(ValueError, match=r"it belongs to the kernel. Write kernel=Gaussian\(lengthscale=1.0\)"):
        KernelSVC().set_params(C=2.0, gamma=0.5)
    assert KernelSVC().set_params(C=2.0).C == 2.0


def test_signatures_and_clones_stay_as_they_are():
    assert str(inspect.signature(Gaussian)) == "(lengthscale: 'float | str' = 1.0) -> None"
    assert list(inspect.signature(KernelPerceptron.__init__).parameters)[:3] == ["self", "kernel", "lengthscale"]
    assert clone(KernelRidge(alpha=2.0)).alpha == 2.0


def test_errors_inside_a_constructor_come_through():
    class Broken(lifts.Parabolic):
        def __init__(self, size=1):
            self.size = size + "a"

    with pytest.raises(TypeError, match="unsupported operand"):
        Broken(size=2)


def test_the_tables_name_classes_and_parameters_that_exist():
    homes = {
        name: one for module in (kernels, lifts, learners) for name, one in inspect.getmembers(module, inspect.isclass)
    }
    for (owner, _), formula in FORMULAS.items():
        assert formula.parameter in inspect.signature(homes[owner]).parameters
    for _, owners, _ in ELSEWHERE:
        assert set(owners.split()) <= homes.keys()
