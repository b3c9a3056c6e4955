"""What the examples of an own kernel, lift and solver promise, against plain definitions; and that laws would tell."""

import sys
from dataclasses import dataclass, replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad

import mercer
from mercer import KernelRidge
from mercer.backends import choosing
from mercer.solvers import System
from mercer.testing import check_lift, check_solver

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent


def example(name):
    """A script as a module that pickle finds again."""
    spec = spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    sys.modules[name] = module_from_spec(spec)
    spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


KERNEL, LIFT, SOLVER = example("own_kernel"), example("own_lift"), example("own_solver")
ON_CARD = example("own_kernel_on_a_card")


class WrongKernel(LIFT.Bent):
    @property
    def kernel(self):
        return mercer.kernels.Linear()


@dataclass(frozen=True)
class Hopeful(SOLVER.LeastNorm):
    def solve(self, system):
        return replace(super().solve(system), converged=True)


@pytest.mark.parametrize("name", ["kernel", "lift", "solver"])
def test_it_runs_and_prints_what_the_page_shows(name, capsys):
    sys.modules[f"own_{name}"].main()
    page = (ROOT / "docs" / "how_to" / f"own_{name}.md").read_text()
    shown = page.rpartition("```text\n")[2].partition("```")[0]
    said = capsys.readouterr().out
    if name == "solver":  # a residual is rounding
        assert said.startswith(shown.partition("Residual")[0])
        assert said.endswith("condition number 1400.\n")
    else:
        assert said == shown


# -- the kernel ------------------------------------------------------------------------------------------------------


def test_the_kernel_is_its_formula():
    X, Z = np.random.default_rng(0).normal(size=(2, 20, 3))
    wanted = [[np.prod(1 / np.cosh((x - z) / 2)) for z in Z] for x in X]
    np.testing.assert_allclose(KERNEL.Sech(2.0)(X, Z), wanted, rtol=1e-13)


def test_far_points_have_nothing_in_common():
    assert KERNEL.Sech()([[0.0]], [[1e4]])[0, 0] == 0.0


@pytest.mark.parametrize("w", [0.0, 0.5, 2.0])
def test_its_fourier_transform_is_the_one_of_its_proof(w):
    found = 2 * quad(lambda t: np.cos(w * t) / np.cosh(t), 0, 40)[0]
    assert found == pytest.approx(np.pi / np.cosh(np.pi * w / 2), rel=1e-8)


def test_it_is_proven_and_composes():
    assert mercer.prove(KERNEL.Sech(2.0) * mercer.kernels.Linear(), d=3).status == "proven"


# -- a kernel on a card ----------------------------------------------------------------------------------------------


def test_the_kernel_for_a_card_is_its_formula():
    X, Z = np.random.default_rng(0).normal(size=(2, 20, 3))
    wanted = 1 / (1 + ((X[:, None] - Z) ** 2).sum(axis=2) / 4)
    np.testing.assert_allclose(ON_CARD.Cauchy(2.0)(X, Z), wanted, rtol=1e-13)


def test_without_a_card_it_runs_on_the_cores(capsys, monkeypatch):
    monkeypatch.setattr(choosing, "_looked", lambda number: (None, "PyTorch finds none"))
    ON_CARD.main(500)
    said = capsys.readouterr().out
    assert said.startswith("least squares on 500 rows x 6 columns, 1 output: direct")
    assert "on the cores: R^2 0." in said
    assert "no card: KernelRidge needs " in said


def test_with_one_it_says_how_far_both_are_from_each_other(capsys, monkeypatch):
    pytest.importorskip("torch", reason="a card needs PyTorch")

    class Card(mercer.backends.CUDA):  # PyTorch on the cores, under the name of a card
        name = "cuda:0"

    monkeypatch.setattr(choosing, "_looked", lambda number: (Card("cpu"), ""))
    ON_CARD.main(500)
    said = capsys.readouterr().out
    assert "on cuda:0: R^2 0." in said
    assert float(said.partition("differ by ")[2].partition(" ")[0]) < 1e-8


# -- the lift --------------------------------------------------------------------------------------------------------


def test_features_multiply_to_the_kernel():
    X = np.random.default_rng(1).normal(size=(15, 4))
    lift = LIFT.Bent().fit(X)
    wanted = [[sum(a * b for a, b in zip(x, z, strict=True) if a * b > 0) for z in X] for x in X]
    np.testing.assert_allclose(lift.transform(X) @ lift.transform(X).T, wanted, atol=1e-13)


def test_a_wrong_kernel_of_a_lift_would_be_noticed():
    with pytest.raises(AssertionError, match="law of the kernel"):
        check_lift(WrongKernel())


# -- the solver ------------------------------------------------------------------------------------------------------


def test_the_shortest_solution_is_found_where_there_are_many():
    A, b = np.ones((3, 3)), np.array([[3.0], [3.0], [3.0]])
    outcome = SOLVER.LeastNorm().solve(System(A, b, np.zeros(1)))
    np.testing.assert_allclose(outcome.value, np.linalg.pinv(A) @ b, atol=1e-13)
    assert outcome.converged
    assert outcome.condition > 1e15


def test_no_solution_is_not_called_one():
    outcome = SOLVER.LeastNorm().solve(System(np.ones((2, 2)), np.array([[1.0], [-1.0]]), np.zeros(1)))
    assert not outcome.converged
    assert outcome.residual == pytest.approx(1.0)


def test_a_model_by_it_is_the_usual_one():
    X = np.random.default_rng(2).normal(size=(40, 2))
    usual = KernelRidge("gaussian(1)", alpha=0.1).fit(X, X[:, 0])
    own = KernelRidge("gaussian(1)", alpha=0.1, solver=SOLVER.LeastNorm()).fit(X, X[:, 0])
    np.testing.assert_allclose(own.predict(X), usual.predict(X), atol=1e-11)


def test_a_solver_that_hopes_would_be_noticed():
    with pytest.raises(AssertionError, match="law of truth"):
        check_solver(Hopeful())
