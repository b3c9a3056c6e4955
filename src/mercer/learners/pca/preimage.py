"""Pre-images: rows whose scores are given, by kernel ridge regression from scores to rows.

Most points of a kernel's space are no image of any row, and of those that are, the row cannot be computed. So the
inverse transform is learned from the training rows (Bakir, Weston and Schoelkopf), and leave-one-out says how well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.compute.codegen.sparse import is_sparse
from mercer.compute.runtime.memory import Budget
from mercer.learners.estimator import KernelEstimator
from mercer.learners.ridge.kernel_ridge import KernelRidge

Array = NDArray[np.float64]
KERNEL = "gaussian('median')"
"""On scores, whose distances are those of the kernel's space, as far as the components tell."""


@dataclass(frozen=True, eq=False)
class Preimages:
    """The inverse transform.

    model : from scores to rows
    error : the root of the mean squared error of a row that was left out, in units of the spread of all rows
    """

    model: KernelRidge
    error: float

    def rows(self, scores: NDArray[Any]) -> NDArray[Any]:
        """(rows, columns), for scores of one row each."""
        found = np.asarray(self.model.predict(scores))
        return found.reshape(len(found), -1)


def learn_preimages(
    estimator: KernelEstimator[Any, Any, Any], scores: Array, values: Any, seconds: float | None
) -> Preimages:
    """The regression from the scores of the training rows back to these.

    estimator : the learner whose limits hold here, too
    values : the training rows; sparse ones become dense
    seconds : that are left; None for as many as a plan of least squares takes
    """
    rows = _dense(values, estimator.memory_limit)
    model = KernelRidge(
        KERNEL,
        alpha="auto",
        memory_limit=estimator.memory_limit,
        time_limit=seconds,
        backend=estimator._backend,
        on_interrupt=estimator.on_interrupt,
        verbose=False,
        random_state=estimator.random_state,
    ).fit(scores, rows)
    return Preimages(model, _error(model, rows))


def _dense(values: Any, limit: Any) -> Array:
    if not is_sparse(values):
        return np.asarray(values, dtype=np.float64)
    needed = 8 * values.shape[0] * values.shape[1]
    Budget.of(limit).require(needed, "sparse rows as dense ones", "Use fit_inverse_transform=False.")
    return np.asarray(values.toarray(), dtype=np.float64)


def _error(model: KernelRidge, rows: Array) -> float:
    """By the leave-one-out errors at the alphas that were taken; of a sample where `model.plan_` says so."""
    path, spread = model.loo_, float(rows.var(axis=0).sum())
    if path is None or spread == 0:
        return 0.0
    taken = [int(np.argmin(np.abs(path.alphas - alpha))) for alpha in np.atleast_1d(model.alpha_)]
    return float(np.sqrt(path.errors[taken, np.arange(len(taken))].sum() / spread))
