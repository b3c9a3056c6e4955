"""How long the lengthscales of a proposed kernel should be: by leave-one-out on a sample of the rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mercer.cli.options import seconds, size

if TYPE_CHECKING:
    from mercer.cli.fit import FitOptions

STRETCHED, SAMPLE = 1_500, 1_000
"""Up to so many rows kernel ridge tries stretches itself, on all of them; of more rows so many are drawn."""
STRETCHES = tuple(2.0**k for k in range(-3, 2))
"""What lengthscales are multiplied by. Long ones are rarely better: a proposal is wide already."""
TIME, MEMORY = 60.0, 2**28
"""Seconds and bytes below which a limit leaves no room to try stretches."""
WORTH = 0.97
"""A stretch must leave less than this part of the error, or it may be chance."""


def worth_stretching(options: FitOptions, kernel: Any, rows: int) -> bool:
    """Whether there is something to stretch, room and time to try, and no learner that does it itself."""
    if options.learner == "ridge" and rows <= STRETCHED:
        return False
    hurried = (seconds(options.time) or TIME) < TIME
    tight = options.memory is not None and size("--memory", options.memory) < MEMORY
    return has_lengthscales(kernel) and not hurried and not tight


def has_lengthscales(kernel: Any) -> bool:
    """Whether there is anything to stretch.

    >>> from mercer.kernels import Gaussian, Linear
    >>> has_lengthscales(Gaussian(2.0)), has_lengthscales(Linear())
    (True, False)
    """
    return bool(kernel.stretched(2.0) != kernel)


def stretched_kernel(kernel: Any, rows_at: Callable[[NDArray[np.intp]], Any], y: NDArray[Any], seed: int) -> Any:
    """The best of some stretches of a kernel, by the leave-one-out errors of kernel ridge on a sample.

    rows_at : gives rows by their positions. Cost: a decomposition of SAMPLE rows for each of STRETCHES.
    """
    chosen = sample_of(y, SAMPLE, seed)
    rows = rows_at(chosen)
    errors = {stretch: _left_out(kernel.stretched(stretch), rows, y[chosen]) for stretch in STRETCHES}
    best = min(errors, key=lambda stretch: errors[stretch])
    return kernel.stretched(best) if errors[best] < WORTH * errors[1.0] else kernel


def _left_out(kernel: Any, rows: Any, y: NDArray[Any]) -> float:
    """The least squared error of left-out rows, over all penalties; of classes, of their numbers -1 and 1."""
    from mercer.learners import KernelRidge, KernelRidgeClassifier

    learner = KernelRidge if y.dtype.kind == "f" else KernelRidgeClassifier
    path: Any = learner(kernel, verbose=False).fit(rows, y).loo_
    return float(path.errors.min(axis=0).sum())


def sample_of(y: NDArray[Any], count: int, seed: int) -> NDArray[np.intp]:
    """Positions of so many rows at random, with classes, or small and large numbers, in their shares.

    >>> sample_of(np.repeat(["a", "b"], [80, 20]), 5, seed=0) < 80
    array([ True,  True,  True,  True, False])
    """
    order = np.random.default_rng(seed).permutation(len(y))
    order = order[np.argsort(y[order], kind="stable")]
    places = np.linspace(0, len(y) - 1, min(count, len(y)))
    return np.sort(order[places.astype(np.intp)])
