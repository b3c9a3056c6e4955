"""Systems whose solutions are known, for the laws of solvers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import hilbert

from mercer.solvers import System
from mercer.testing.laws import require

Array = NDArray[np.float64]
UNKNOWNS = 12
ROUNDING = 1e-12
"""The residual that rounding may leave, or hide, beside what a solver states."""
LARGE = 1e-3
"""The residual above which a solver has not converged, whatever it was asked."""
EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Problem:
    """A system that can be posed again and again: solvers may use up what they are given."""

    A: Array
    targets: Array
    alphas: Array

    def system(self, **further: Any) -> System:
        """The system, on copies."""
        return System(self.A.copy(), self.targets.copy(), self.alphas.copy(), **further)

    def left(self, x: Array) -> Array:
        """b - (A + alpha I) x."""
        return np.asarray(self.targets - self.A @ x - self.alphas * x)

    def residual(self, x: Array) -> float:
        """The largest |b - (A + alpha I) x| / |b|; b = 0 leaves x = 0 with none."""
        sizes = np.linalg.norm(self.targets, axis=0)
        return float((np.linalg.norm(self.left(x), axis=0) / np.where(sizes > 0, sizes, 1.0)).max())

    def distance(self, residual: float) -> Array:
        """How far from the solution, at most, a residual leaves each output."""
        lowest = np.linalg.eigvalsh(self.A)[0] + self.alphas
        return np.asarray((residual + ROUNDING) * np.linalg.norm(self.targets, axis=0) / lowest)

    def columns(self, chosen: list[int]) -> Problem:
        """Some of the outputs."""
        return replace(self, targets=self.targets[:, chosen], alphas=self.alphas[chosen])


def easy(n: int = UNKNOWNS, outputs: int = 3) -> Problem:
    """A with eigenvalues from 1 to 6, and outputs of different sizes."""
    rng = np.random.default_rng(n)
    Q = np.linalg.qr(rng.normal(size=(n, n)))[0]
    A = (Q * np.linspace(1.0, 6.0, n)) @ Q.T
    return Problem((A + A.T) / 2, rng.normal(size=(n, outputs)) * 10.0 ** np.arange(outputs), np.full(outputs, 0.5))


def hopeless() -> dict[str, Problem]:
    """Systems without a ridge that have no solution, or many, or one that rounding hides."""
    rng = np.random.default_rng(0)
    tall, b = rng.normal(size=(UNKNOWNS, 4)), rng.normal(size=(UNKNOWNS, 2))
    twins = np.asarray(np.kron(np.eye(UNKNOWNS // 2), np.ones((2, 2))), dtype=np.float64)
    matrices = {"zero": 0 * twins, "of twins": twins, "of rank 4": tall @ tall.T, "of ones": np.ones_like(twins)}
    cases = {f"a matrix {name}": Problem(A, b, np.zeros(2)) for name, A in matrices.items()}
    cases["a singular matrix with solutions"] = Problem(twins, twins @ b, np.zeros(2))
    cases["the Hilbert matrix"] = Problem(hilbert(UNKNOWNS), b, np.zeros(2))
    return cases


def near(found: Array, wanted: Array, allowed: Array, what: str) -> None:
    """Fail unless each column is as near as allowed."""
    require(found.shape == wanted.shape, f"{what}: the shape is {found.shape} instead of {wanted.shape}")
    gaps = np.linalg.norm(found - wanted, axis=0)
    worst = int((gaps - allowed).argmax())
    text = f"{what}: output {worst} is off by {gaps[worst]:.3g}, the residual allows {allowed[worst]:.3g}"
    require(bool((gaps <= allowed).all()), text)


def residual_is(problem: Problem, x: Array, said: float, what: str) -> None:
    """Fail unless a stated residual is the true one, beside rounding."""
    true, sizes = problem.residual(x), np.linalg.norm(problem.targets, axis=0)
    reach = np.linalg.norm(np.abs(problem.A) @ np.abs(x), axis=0) / np.where(sizes > 0, sizes, 1.0)
    allowed = ROUNDING * true + 10 * len(problem.A) * EPS * (1 + float(reach.max()))
    require(abs(true - said) <= allowed, f"{what}: the residual is {true:.6g}, but {said:.6g} is stated")
