"""How far rounding may have moved the predictions of a model: tried on the system itself, not bounded from afar.

The entries of A are off by about `unit` times e_i e_j, and a solution x therefore solves a system whose right side is
off by about unit e_i |e * x|, like a random vector. Such vectors are drawn and solved for; what comes back shows what
the system does to them: at the rows, and at new ones between them, where errors that the rows do not see may be large.
A bound by the condition number would be true, and larger by orders of magnitude: most of what an ill-conditioned A
amplifies is what predictions do not see.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.solvers.ridge.outcome import Decomposition

Array = NDArray[np.float64]
Draw = Callable[[np.random.Generator], Array]
Predict = Callable[[Array, Array], tuple[Array, ...]]
PROBES_PER_OUTPUT = 3
"""Random right sides that are tried."""
MAX_OUTPUTS_AT_ONCE = 16
"""Up to how many outputs are tried at once: more take memory and save no time."""
ERROR_FACTOR = 32.0
"""What is found is multiplied by this: entries may be off by more than a unit, and not independently.

In problems that were also solved with many digits true errors are below the estimate
(tests/learners/ridge/test_rounding.py).
"""


def perturbations(decomposition: Decomposition, predict: Predict, alphas: NDArray[Any], draw: Draw) -> Array:
    """How far predictions are moved, (tables, outputs): the root of the mean square over the rows of each table.

    Cost: a solve and a prediction for `PROBES_PER_OUTPUT` right sides an output.

    predict : from errors d of the solution, and what (A + alpha I) d is, to those of predictions: tables of (rows,
        outputs)
    draw : an error of the right side, (n, outputs), from a source of random numbers
    """
    random = np.random.default_rng(0)
    at_once = PROBES_PER_OUTPUT if len(alphas) <= MAX_OUTPUTS_AT_ONCE else 1
    found = []
    for _ in range(PROBES_PER_OUTPUT // at_once):
        errors = np.hstack([draw(random) for _ in range(at_once)])
        tables = predict(decomposition.roughly(errors, np.tile(alphas, at_once)), errors)
        found.append([ERROR_FACTOR * mean_size(table).reshape(at_once, -1).max(axis=0) for table in tables])
    return np.max(found, axis=0)  # type: ignore[no-any-return]


def mean_size(table: Array) -> Array:
    """The root of the mean square of each column."""
    return np.asarray(np.sqrt(np.square(table).mean(axis=0)))
