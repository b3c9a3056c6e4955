"""Moving the points of a set downhill, towards a negative quadratic form."""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, eigh
from scipy.optimize import minimize
from scipy.spatial.distance import cdist

from mercer.kernels.proof.examiner import Array, Candidate, Examiner


def downhill(examiner: Examiner, points: Array, scale: float) -> Candidate | None:
    """Minimise the pencil's eigenvalue over the positions, from these points."""
    shape = points.shape

    def objective(flat: Array) -> tuple[float, Array]:
        value, slope = pencil(examiner, flat.reshape(shape), scale)
        return value, slope.ravel()

    result = minimize(objective, points.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 30, "maxfun": 50})
    return examiner.examine(np.asarray(result.x, dtype=np.float64).reshape(shape))


def pencil(examiner: Examiner, points: Array, scale: float) -> tuple[float, Array]:
    """Return the smallest eigenvalue of K u = t B u and its gradient, B a Laplace Gram matrix.

    Descending the smallest eigenvalue of K alone runs into coinciding points, where it is 0; against B,
    which vanishes there too, it does not. One Gram matrix of the points and of the points displaced
    along every axis gives all the differences that the gradient needs.
    """
    n, d = points.shape
    step = 1e-6 * scale
    nothing = np.zeros((n, d))
    moved = [points + step * axis for axis in np.eye(d)]
    stack = examiner.placed(np.vstack([points, *moved]))
    full = examiner.gram(stack) if np.isfinite(stack).all() else None
    if full is None:
        return 1.0, nothing
    unit = np.sqrt(np.maximum(np.diag(full), 1e-6 * np.max(np.abs(full)) + 1e-290))
    full = full / np.outer(unit, unit)
    reference = np.exp(-cdist(stack, stack) / scale)
    try:
        values, vectors = eigh(full[:n, :n], reference[:n, :n] + 1e-10 * np.eye(n), subset_by_index=[0, 0])
    except LinAlgError:  # points have met, so that B is singular
        return 1.0, nothing
    return float(values[0]), _slope(full - values[0] * reference, vectors[:, 0], d) / step


def _slope(difference: Array, u: Array, d: int) -> Array:
    """Return the change of u' (K - t B) u as each coordinate takes one step, from the stacked matrix."""
    n = len(u)
    blocks = difference[:, :n].reshape(d + 1, n, n)
    change = blocks[1:] - blocks[0]
    own = np.diag(difference).reshape(d + 1, n)
    # A point that moves changes its products with the others twice, and its product with itself.
    others = change @ u - np.einsum("aii,i->ai", change, u)
    return np.asarray((2.0 * u * others + u**2 * (own[1:] - own[0])).T, dtype=np.float64)
