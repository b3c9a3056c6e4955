"""The result of an SVM: its support, the predictor, and how it is audited by the exact kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.compute.consistency import shapes
from mercer.learners.data.rows import n_rows
from mercer.learners.data.views import View
from mercer.learners.streaming.predictor import ByFeatures, Predictor
from mercer.learners.svm.methods import Method
from mercer.learners.svm.subproblem import Subproblem
from mercer.solvers.svm.box_qp import BoxQP, QPResult
from mercer.solvers.svm.coordinate_descent import best_bias

Array = NDArray[np.float64]
Rows = NDArray[np.intp]
Plane = tuple[Fraction, ...]


@dataclass(frozen=True, eq=False)
class Model:
    """All functions of an SVM.

    support : positions among the rows that were fitted, sorted
    coefficients : (support, functions)
    biases : (functions,)
    predictor : None where there is no support, so that all is the bias
    """

    support: Rows
    coefficients: Array
    biases: Array
    predictor: Predictor | None

    def _inconsistency(self) -> str:
        shape = (self.support.size, self.biases.size)
        if self.support.size and self.support.min() < 0:
            return "the support names rows below 0"
        return shapes((self.support, shape[:1]), (self.coefficients, shape), (self.biases, shape[1:]))

    @classmethod
    def of(
        cls, view: View, method: Method, subproblems: Sequence[Subproblem], results: Sequence[tuple[BoxQP, QPResult]]
    ) -> Model:
        """The model; rows without coefficients are let go."""
        if len(subproblems) == 1 and len(subproblems[0].rows) == view.count:
            b = results[0][1].b[:, None]
        else:
            b = np.zeros((view.count, len(subproblems)))
            for k, (one, (_, result)) in enumerate(zip(subproblems, results, strict=True)):
                b[one.rows, k] = result.b
        support, biases = np.flatnonzero(b.any(axis=1)), np.array([result.bias for _, result in results])
        planes = [result.plane for _, result in results]
        if any(plane is not None for plane in planes):
            return cls(support, b[support], biases, _of_planes(view, support, b[support], biases, planes))
        predictor = method.predictor(view, support, b, biases) if len(support) else None
        return cls(support, b[support], biases, predictor)

    def values(self, rows: Any) -> Array:
        """(rows, functions), in float64, of rows as they were read."""
        if self.predictor is None:
            return np.tile(self.biases, (n_rows(rows), 1))
        return self.predictor.values(rows)

    @property
    def compared(self) -> int:
        """See `Predictor.compared`."""
        return 0 if self.predictor is None else self.predictor.compared


def _of_planes(view: View, support: Rows, b: Array, biases: Array, planes: Sequence[Plane | None]) -> ByFeatures:
    """By weights of features, which are measured from their mean: a margin may be small beside a far origin."""
    chosen = view.chosen(support).lifted()
    Z = chosen.features()
    means = Z.mean(axis=0)
    weights, levels = Z.T @ b, biases + means @ (Z.T @ b)
    for k, plane in enumerate(planes):
        if plane is not None:
            *normal, bias = plane
            weights[:, k] = [float(number) for number in normal]
            parts = (number * Fraction(mean) for number, mean in zip(normal, means.tolist(), strict=True))
            levels[k] = float(bias + sum(parts))
    return ByFeatures(chosen, weights, means, levels)


@dataclass(frozen=True, eq=False)
class Audit:
    """What is needed to judge coefficients by the exact kernel, which they were not found with.

    solved : (rows, problem in its box, coefficients) of each function
    """

    view: View
    solved: list[tuple[Rows, BoxQP, Array]]

    def gap(self) -> float:
        """The duality gap: coefficients inside of the box solve the exact problem, too, only not as well."""
        K, total = self.view.operator(), 0.0
        for rows, qp, b in self.solved:
            support = np.flatnonzero(b)
            own = K if len(rows) == self.view.count else K.part(rows)
            g = qp.linear + (own.combine(support, b[support]) if len(support) else 0.0)
            total += qp.gap(b, g, best_bias(qp, g))
        return total


@dataclass(frozen=True, eq=False)
class SVMResult:
    """What was learned.

    solved : of each function the problem in its box, and the coefficients
    audit : what the gap by the exact kernel takes; None where the fit was exact
    """

    solved: list[tuple[BoxQP, QPResult]]
    model: Model
    audit: Audit | None
