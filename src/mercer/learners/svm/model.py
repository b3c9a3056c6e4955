"""The model of an SVM: its support, its predictor, and its audit by the exact kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.compute.runtime.run import Run
from mercer.learners.data.rows import n_rows
from mercer.learners.data.views import LiftView, TableView, View, check_landmarks
from mercer.learners.streaming.basis import Basis, LiftBasis, landmark_basis, steady
from mercer.learners.streaming.predictor import ByBasis, ByDuals, ByFeatures, Predictor
from mercer.learners.svm.methods import Exactly, Featured, Way, exactly, featured
from mercer.learners.svm.settings import MarginSettings
from mercer.learners.svm.subproblem import Sought
from mercer.lifts.nystrom import nystrom_of
from mercer.planner.svm import MarginPlan
from mercer.solvers.svm.box_qp import Rested
from mercer.solvers.svm.coordinate_descent import best_bias

Array = NDArray[np.float64]
Rows = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Model:
    """All functions of a machine.

    support : positions among the rows that were fitted, sorted
    coefficients : (support, functions)
    biases : (functions,)
    predictor : the predictor; None where there is no support, so that all is the bias
    """

    support: Rows
    coefficients: Array
    biases: Array
    predictor: Predictor | None

    def values(self, rows: Any) -> Array:
        """(rows, functions), in float64, of rows as they were read."""
        if self.predictor is None:
            return np.tile(self.biases, (n_rows(rows), 1))
        return self.predictor.values(rows)


@dataclass(frozen=True, eq=False)
class Audit:
    """What is needed to judge coefficients by the exact kernel, which they were not found with."""

    view: View
    sought: list[Sought]
    b: list[Array]

    def gap(self) -> float:
        """The duality gap: coefficients inside of the box solve the exact problem, too, only not as well."""
        K, total = self.view.operator(), 0.0
        for one, b in zip(self.sought, self.b, strict=True):
            support = np.flatnonzero(b)
            own = K if len(one.rows) == self.view.count else K.part(one.rows)
            g = one.problem.linear + (own.combine(support, b[support]) if len(support) else 0.0)
            total += max(0.0, one.problem.gap(b, g, best_bias(one.problem, g)))
        return total


def posed_way(
    who: str, view: View, plan: MarginPlan, settings: MarginSettings, random: np.random.Generator, run: Run
) -> tuple[Way, Basis | None]:
    """The solver, by the plan; and the functions of which the model is made, where it has features."""
    if plan.way == "exact":
        return exact_way(who, view, plan, settings), None
    check_landmarks(who, view)
    assert isinstance(view, TableView)  # noqa: S101  # a matrix was refused
    with run.stage(plan.way):
        basis = _basis(view, plan.rank, random)
        way = featured(basis, view.points, settings.featured(int(random.integers(2**31))), run)
    return way, basis


def exact_way(who: str, view: View, plan: MarginPlan, settings: MarginSettings) -> Exactly:
    """The solver with the kernel itself."""
    several, asked = plan.functions > 1 or len(plan.stages) > 1, settings.exact(view.count, plan.pool)
    return exactly(who, view, several, plan.whole, asked, patient=settings.max_iter is not None)


def _basis(view: TableView, count: int, random: np.random.Generator) -> Basis:
    if isinstance(view, LiftView):
        return LiftBasis(view.lift)
    assert view.kernel is not None  # noqa: S101  # it is approximated
    return steady(landmark_basis(nystrom_of(view.kernel, view.points, count, random), view.points))


def modelled(view: View, way: Way, basis: Basis | None, sought: list[Sought], rested: list[Rested]) -> Model:
    """The model: rows without coefficients are let go."""
    b = np.zeros((view.count, len(sought)))
    for k, (one, found) in enumerate(zip(sought, rested, strict=True)):
        b[one.rows, k] = found.b
    support, biases = np.flatnonzero(b.any(axis=1)), np.array([found.bias for found in rested])
    if len(support) == 0:
        return Model(support, b[support], biases, None)
    if basis is not None:
        assert isinstance(way, Featured)  # noqa: S101  # nothing else has a basis
        return Model(support, b[support], biases, ByBasis(basis, basis.to_raw(way.weights(b)), biases))
    assert isinstance(way, Exactly)  # noqa: S101  # there is no other
    return Model(support, b[support], biases, _by_duals(view.chosen(support), b[support], biases))


def _by_duals(view: View, coefficients: Array, biases: Array) -> Predictor:
    """By the rows of the support; where these have features, by one weight per feature."""
    if isinstance(view, LiftView):
        weights = view.features().T @ coefficients
        return ByFeatures(view, weights, np.zeros(len(weights)), biases)
    return ByDuals(view, coefficients, biases)
