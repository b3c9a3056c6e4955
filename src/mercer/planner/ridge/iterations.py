"""How many iterations conjugate gradients take, from what is known of the eigenvalues."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence

ASSUMED, AT = 20.0, 1000
"""Iterations with a preconditioner of rank 1000, where nothing is known of the kernel matrix."""
LEFT = 0.5
"""Randomly pivoted factors leave about as much as the best ones of half their rank."""
LEAST = 2.0
"""Iterations that are always taken."""
HEAD, TAIL = 0.1, 0.33
"""The part of a sample's eigenvalues that shows how they fall: the first are few, and the last are too small."""
TAKEN: tuple[int, ...] = (0, *(2**k for k in range(12)))
"""Eigenvalues that steps take care of one by one, in the bound."""
TOLERANCE = 1e-6
"""The relative residual to reach, where the solver does not say."""


def iterations(rank: int, spectrum: Sequence[float] | None, alpha: float | None, tolerance: float = TOLERANCE) -> float:
    """About min_j j + sqrt(kappa_j) / 2 ln(2 / tolerance), with kappa_j = 1 + lambda_(r + j + 1) / alpha, r = rank / 2.

    The preconditioner takes care of the r largest eigenvalues, and each step can take care of one more. Without a
    spectrum, or without alpha, eigenvalues that fall like 1/k are assumed, of which rank 1000 leaves 20 iterations.

    >>> iterations(1000, None, None)
    20.0
    >>> spectrum = [100 / (k + 1) ** 2 for k in range(300)]
    >>> iterations(20, spectrum, 0.1) < iterations(10, spectrum, 0.1)
    True
    """
    if spectrum is None or alpha is None or alpha <= 0 or len(spectrum) < 2:
        return max(LEAST, ASSUMED * math.sqrt(AT / max(rank, 1)))
    reached = min(max(tolerance, sys.float_info.epsilon), 1.0)  # rounding ends what asks for less
    each, r = math.log(2 / reached) / 2, int(LEFT * rank)
    return max(LEAST, min(j + each * math.sqrt(1 + eigenvalue(r + j, spectrum) / alpha) for j in TAKEN))


def eigenvalue(position: int, spectrum: Sequence[float]) -> float:
    """The eigenvalue at a position, 0 for the largest: beyond a third of those that are known, by their power law.

    >>> round(eigenvalue(1000, [1 / (k + 1) ** 2 for k in range(300)]) * 1001**2, 6)
    1.0
    """
    last = max(1, int(TAIL * len(spectrum)))
    if position <= last:
        return max(0.0, spectrum[position])
    first = int(HEAD * len(spectrum))
    ends = max(spectrum[first], 0.0), max(spectrum[last], 0.0)
    if ends[1] == 0.0 or last <= first:
        return ends[1]
    slope = max(0.0, math.log(ends[0] / ends[1]) / math.log((last + 1) / (first + 1)))
    return float(ends[1] * ((last + 1) / (position + 1)) ** slope)
