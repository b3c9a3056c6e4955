"""What is said where a module has no such name."""

import importlib
import re
import subprocess
import sys

import pytest

import mercer
from mercer import kernels, learners, lifts
from mercer.guesses.names import MEANT, OF_LIFTS, missing

MODULES = (mercer, kernels, lifts, learners)


@pytest.mark.parametrize("sentence", sorted({*MEANT.values(), *OF_LIFTS.values()}))
def test_every_name_that_is_offered_exists(sentence):
    paths = re.findall(r"mercer(?:\.\w+)+", sentence)
    assert paths or sentence in OF_LIFTS.values()
    for path in paths:
        module, _, name = path.rpartition(".")
        assert hasattr(importlib.import_module(module), name), path


@pytest.mark.parametrize(
    ("module", "guess", "answer"),
    [
        ("mercer", "Gaussian", "It is mercer.kernels.Gaussian."),
        ("mercer", "is_kernel", "Use mercer.prove(kernel)"),
        ("mercer", "KernelSVM", "Use mercer.KernelSVC"),
        ("mercer", "SVC", "Use mercer.KernelSVC"),
        ("mercer", "GaussianProcessRegressor", "Use mercer.KernelRidge"),
        ("mercer", "PolynomialFeatures", "Use mercer.lifts.Monomials"),
        ("mercer", "Polynomial", "There are mercer.kernels.Polynomial, the kernel; and mercer.lifts.Polynomial, its"),
        ("mercer", "HalfSpace", "It is mercer.geometry.HalfSpace."),
        ("mercer", "KernelRigde", "Did you mean mercer.KernelRidge?"),
        ("mercer", "KernelRidgeRegression", "It is mercer.KernelRidge."),
        ("mercer.lifts", "PolynomialLift", "It is mercer.lifts.Polynomial."),
        ("mercer.lifts", "RFF", "Use mercer.lifts.RandomFourier"),
        ("mercer.lifts", "RBFSampler", "Use mercer.lifts.RandomFourier"),
        ("mercer.lifts", "AllSubsets", "Use mercer.lifts.Subsets"),
        ("mercer.lifts", "Gaussian", "The features of a Gaussian are infinitely many"),
        ("mercer.lifts", "Matern", "mercer.kernels.Matern is a kernel: mercer.lift(kernel, d)"),
        ("mercer.kernels", "RBF", "It is mercer.kernels.Gaussian."),
        ("mercer.kernels", "Matern52", "It is mercer.parse('matern(nu=2.5)')."),
        ("mercer.kernels", "Quadratic", "It is mercer.parse('polynomial(degree=2)')."),
        ("mercer", "kernel_distance", "A kernel gives its distances |phi(x) - phi(z)|: mercer.kernels.Gaussian().dist"),
        ("mercer", "exercise", "Use mercer.lectures.exercise(17)"),
        ("mercer", "show", "Pictures are in mercer.displays"),
        ("mercer.learners", "GPR", "Use mercer.KernelRidge"),
    ],
)
def test_guesses_are_answered(module, guess, answer):
    home = importlib.import_module(module)
    assert not hasattr(home, guess)
    with pytest.raises(AttributeError, match=re.escape(f"module '{module}' has no attribute '{guess}'. {answer}")):
        getattr(home, guess)
    with pytest.raises(ImportError, match=re.escape(f"cannot import name '{guess}' from '{module}'. {answer}")):
        exec(f"from {module} import {guess}")  # noqa: S102


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_the_protocols_of_python_stay(module):
    assert getattr(module, "nothing_of_the_kind", 7) == 7
    assert not hasattr(module, "__wrapped__")
    with pytest.raises(ImportError, match="cannot import name 'nothing_of_the_kind'"):
        exec(f"from {module.__name__} import nothing_of_the_kind")  # noqa: S102
    names = {}
    exec(f"from {module.__name__} import *", names)  # noqa: S102
    assert "TYPE_CHECKING" not in names
    assert len(names) > 5


def test_nothing_is_said_of_names_that_nobody_uses():
    assert missing("mercer", "zzzzzz") == "module 'mercer' has no attribute 'zzzzzz'."


@pytest.mark.parametrize(
    "statement",
    [
        "import mercer; assert not hasattr(mercer, 'is_kernel')",
        "import mercer; assert not hasattr(mercer, '_anything')",
        "import mercer",
    ],
)
def test_a_guess_that_is_in_the_table_loads_nothing(statement):
    code = f"{statement}; import sys; print('numpy' in sys.modules, 'sklearn' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_submodules_are_imported_as_ever():
    code = "from mercer.kernels import text; from mercer.lifts import coerce; from mercer import tables; print('done')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["done"]


@pytest.mark.parametrize("name", ["fit", "transform", "fit_transform", "get_feature_names_out"])
def test_a_kernel_that_is_taken_for_a_lift_says_where_the_lift_is(name):
    with pytest.raises(AttributeError, match=r"it is a kernel\. Use mercer\.lift\(kernel, d\)"):
        getattr(mercer.kernels.Polynomial(2), name)
    with pytest.raises(AttributeError, match=r"object has no attribute 'degre'$"):
        mercer.kernels.Polynomial(2).degre  # noqa: B018
    assert hasattr(mercer.lifts.Polynomial(2), name)
