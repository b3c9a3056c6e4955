"""How far rounding may have moved the predictions of a model: tried on the system itself, not bounded from afar.

The entries of A are off by about `unit` times e_i e_j, and a solution x therefore solves a system whose right side is
off by about unit e_i |e * x|, like a random vector. Such vectors are drawn and solved for; what comes back shows what
the system does to them. A bound by the condition number would be true, and larger by orders of magnitude: most of what an
ill-conditioned A amplifies is what predictions do not see.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.solvers.outcome import Decomposition

Array = NDArray[np.float64]
PROBES = 3
"""Random right sides that are tried."""
MARGIN = 32.0
"""What is found is multiplied by this: entries may be off by more than a unit, and not independently.

In problems that were also solved with 60 digits the true error is below the estimate (tests/learners/test_rounding.py).
"""


def perturbations(
    decomposition: Decomposition, multiply: Callable[[Array], Array], alphas: NDArray[Any], errors: Array
) -> tuple[Array, Array]:
    """|A d| and sqrt(d'A d) for errors d of the solution, one number an output, where b is off by `errors`.

    errors : (n, outputs), the size of the random error of each entry of b
    """
    random = np.random.default_rng(0)
    images, energies = np.zeros(errors.shape[1]), np.zeros(errors.shape[1])
    for _ in range(PROBES):
        moved = decomposition.solve(errors * random.standard_normal(errors.shape), alphas)
        image = multiply(moved)
        images = np.maximum(images, np.linalg.norm(image, axis=0))
        energies = np.maximum(energies, np.sqrt(np.maximum((moved * image).sum(axis=0), 0.0)))
    return MARGIN * images, MARGIN * energies
