"""All rows by conjugate gradients, against SciPy's on KeOps' products: the part `exact` of scale.py."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from alone import Found, alone, in_turns, measured
from scaling import ALPHA, LIMIT, Place, Row, Sizes, both, failure, faster, held
from scipy.sparse.linalg import LinearOperator, cg
from tables import FEW, Array, median_distance, split_of

from mercer import KernelRidge
from mercer.kernels import Gaussian, Matern
from mercer.solvers import ConjugateGradient

TOLERANCE = 1e-3
"""The relative residual that is asked."""
MOST_STEPS, MOST_SECONDS = 300, 150.0
"""What SciPy's conjugate gradients may take; where they are cut off, the ratio is a lower bound."""


@dataclass(frozen=True)
class System:
    """(K + alpha I) a = y on the rows of a set, in float32, without an intercept."""

    folder: Path
    name: str
    rows: int | None
    shape: str
    length: float = 1.0

    def data(self) -> tuple[Array, Array]:
        found = split_of(self.folder, self.name, 0.0).first(self.rows)
        return found.X.astype(np.float32), found.y.astype(np.float32)

    @property
    def kernel(self) -> Any:
        return Gaussian(self.length) if self.shape == "gaussian" else Matern(2.5, self.length)

    def values(self, squares: Array) -> Array:
        """The kernel from squared distances, in place of KeOps' and ours: plain NumPy."""
        if self.shape == "gaussian":
            return np.asarray(np.exp(squares / (-2 * self.length**2)))
        t = np.sqrt(squares * (5 / self.length**2))
        return np.asarray((1 + t + t * t / 3) * np.exp(-t))


def exact_ours(system: System) -> Found:
    X, y = system.data()
    solver = ConjugateGradient(tol=TOLERANCE)
    model = KernelRidge(system.kernel, alpha=ALPHA, fit_intercept=False, solver=solver, random_state=0)
    model.fit(X[:FEW], y[:FEW])
    _, cost = measured(lambda: model.fit(X, y))
    steps = {"steps": model.outcome_.iterations, "residual": float(model.residual_), "way": model.plan_.method}
    return cost | steps | {"converged": bool(model.converged_), "duals": np.asarray(model.dual_coef_)}


class Late(Exception):  # noqa: N818  # what was found so far is used
    """Raised where conjugate gradients take too long."""


def exact_keops(system: System) -> Found:
    X, y = system.data()
    K = _Products(system, X)
    _Products(system, X[:FEW]) @ y[:FEW]
    latest: dict[str, Any] = {"steps": 0, "duals": np.zeros(len(y))}
    start = time.perf_counter()

    def seen(duals: Array) -> None:
        latest.update(steps=latest["steps"] + 1, duals=duals.copy())
        if time.perf_counter() - start > MOST_SECONDS:
            raise Late

    def solve() -> bool:
        A = LinearOperator((len(y), len(y)), lambda v: K @ v + ALPHA * v, dtype=np.float64)
        try:
            duals, stopped = cg(A, y.astype(float), rtol=TOLERANCE, maxiter=MOST_STEPS, callback=seen)
        except Late:
            return False
        latest.update(duals=duals)
        return bool(stopped == 0)

    converged, cost = measured(solve)
    return cost | latest | {"converged": converged}


class _Products:
    """A kernel matrix that KeOps multiplies with, in float32, from data that is scaled once."""

    def __init__(self, system: System, X: Array) -> None:
        from pykeops.numpy import LazyTensor

        gaussian = system.shape == "gaussian"
        scaled = X * np.float32((0.5 if gaussian else 5.0) ** 0.5 / system.length)
        squares = LazyTensor(scaled[:, None, :]).sqdist(LazyTensor(scaled[None, :, :]))
        t = squares if gaussian else squares.sqrt()
        self.K = (-t).exp() if gaussian else (1 + t + t * t * (1 / 3)) * (-t).exp()

    def __matmul__(self, v: Array) -> Array:
        column = np.ascontiguousarray(v, dtype=np.float32).reshape(-1, 1)
        return np.asarray(self.K.__matmul__(column, backend="CPU")).reshape(-1).astype(np.float64)


def residuals(system: System, *duals: Array) -> list[float]:
    """|y - (K + alpha I) a| / |y| of each, in float64, from the definition, a block of rows at a time."""
    X, y = (values.astype(float) for values in system.data())
    A, norms = np.column_stack([found.astype(float) for found in duals]), (X * X).sum(axis=1)
    left = y[:, None] - ALPHA * A
    for start in range(0, len(X), 500):
        rows = slice(start, start + 500)
        squares = norms[rows, None] + norms - 2 * (X[rows] @ X.T)
        left[rows] -= system.values(np.maximum(squares, 0.0)) @ A
    return [float(norm) for norm in np.linalg.norm(left, axis=0) / np.linalg.norm(y)]


def exact(sizes: Sizes, place: Place) -> Iterator[Row]:
    """All rows by conjugate gradients."""
    for name in sizes.sets:
        for shape in sizes.shapes:
            system = System(place.data, name, sizes.exact, shape)
            X, _ = system.data()
            system = replace(system, length=median_distance(X))
            work = f"{name}, {len(X):,} x {X.shape[1]}, {shape}, float32, alpha {ALPHA:g}"
            print(f"  {work}", flush=True)
            yield from _solved(work, system, sizes.repeats)


def _solved(work: str, system: System, repeats: int) -> Iterator[Row]:
    against = "SciPy cg on KeOps"
    jobs = {"ours": partial(alone, exact_ours, system), against: partial(alone, exact_keops, system)}
    best = in_turns(jobs, repeats)
    failed = [f"{name}: {found['failed']}" for name, found in best.items() if "failed" in found]
    if failed:
        yield failure(work, against, failed)
        return
    ours, theirs = best["ours"], best[against]
    true = residuals(system, ours["duals"], theirs["duals"])
    cut = "" if theirs["converged"] else "; the other was cut off: the ratio is a lower bound"
    steps = f"steps {ours['steps']} / {theirs['steps']}"
    note = f"residuals {true[0]:.1e} / {true[1]:.1e}, {steps}, {both(best, against)}{cut}"
    row = faster(work, against, best, 8.0, ours["converged"] and true[0] <= 1.05 * TOLERANCE, note)
    yield replace(row, accuracy=("relative residual", true[0], true[1]))
    yield held(work, ours, LIMIT)
