"""log det(K + alpha I) with copies counted, on what an intercept leaves: what a marginal likelihood needs of it.

With an intercept of a flat prior this is log det(M) + log(1'M^-1 1) for M = K + alpha I over all copies, the
determinant on the vectors orthogonal to u, plus log N.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mercer.operators import Centering
from mercer.solvers.ridge.cholesky_factor import Factor
from mercer.solvers.ridge.mixed_precision_cholesky import SingleFactor
from mercer.solvers.ridge.outcome import Decomposition

Array = NDArray[np.float64]


def in_dual(known: Decomposition | None, centering: Centering, pull: float, alphas: Array) -> Array | None:
    """From a decomposition of P D K D P + tau u u'; None where it does not serve all of the alphas."""
    if known is None or not serves(known, alphas):
        return None
    found = np.array([known.log_determinant(alpha) for alpha in alphas])
    with np.errstate(divide="ignore", invalid="ignore"):
        if centering.intercept:
            found -= np.log(pull + alphas) - np.log(centering.total)
        copies = centering.total - len(centering.weights)
        return found + (copies * np.log(alphas) if copies else 0.0)


def in_primal(known: Decomposition | None, centering: Centering, features: int, alphas: Array) -> Array | None:
    """From a decomposition of Z'Z: K has no more eigenvalues than features, the others are alpha."""
    if known is None or not serves(known, alphas):
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        rest = (centering.total - centering.intercept - features) * np.log(alphas)
        mean = np.log(centering.total) if centering.intercept else 0.0
        return np.array([known.log_determinant(alpha) for alpha in alphas]) + rest + mean


def serves(decomposition: Decomposition, alphas: Array) -> bool:
    """Whether a decomposition serves all of these alphas: a Cholesky factor knows one, in float32 nearly."""
    if isinstance(decomposition, SingleFactor):
        return False
    return not isinstance(decomposition, Factor) or bool((alphas == decomposition.alpha).all())
