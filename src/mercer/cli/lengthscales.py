"""How long the lengthscales of a proposed kernel should be, together or each for itself, by samples of the rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mercer.cli.options import seconds, size

if TYPE_CHECKING:
    from mercer.cli.fit import FitOptions
    from mercer.tuning import Stretch

Positions = NDArray[np.intp]

MAX_STRETCHED_ROWS = 1_500
"""Rows up to which kernel ridge tries stretches itself, on all of them."""
SAMPLE_ROWS = 1_000
"""Rows that are drawn where there are more."""
STRETCHES = tuple(2.0**k for k in range(-3, 2))
"""What lengthscales are multiplied by. Long ones are rarely better: a proposal is wide already."""
MIN_ROWS = 300
"""Rows that lengthscales of their own need, at least."""
MAX_LENGTHSCALES = 64
"""How many of these lengthscales there may be."""
MAX_CLASSES = 10
"""More are not told apart by lengthscales of their own."""
MIN_LIMIT_SECONDS = 60.0
"""Seconds below which a time limit leaves no room to try."""
MIN_LIMIT_BYTES = 2**28
"""Bytes below which a memory limit leaves no room to try."""
MAX_ERROR_SHARE = 0.97
"""One stretch of all lengthscales must leave less than this part of the error, or it may be chance."""
MAX_ERROR_SHARE_EACH = 0.95
"""The same for a lengthscale per column, where more was tried."""
MAX_NAMED_COLUMNS = 4
"""Columns that are named as those that matter most."""
UNTRIED = "one lengthscale per column was not tried:"
DATED = f"{UNTRIED} there are dates, and rows in between would speak for lengthscales too short for a forecast"
HURRIED = "no other lengthscales were tried: --time-limit is below a minute, or --memory-limit below 256 MiB"
TOGETHER = f"{STRETCHES[0]:g} to {STRETCHES[-1]:g}"
LESS = f"leaves {1 - MAX_ERROR_SHARE:.0%} less squared leave-one-out error".replace("%", " %")


@dataclass(frozen=True)
class Suited:
    """A kernel whose lengthscales suit the target, or the given one.

    taken : what was changed, in words; "" where nothing was
    refused : what was tried and not taken, or not tried, and why
    """

    kernel: Any
    taken: str = ""
    refused: str = ""


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows that are looked at, with their targets: numbers, or classes.

    rows_at : gives rows of the table by their positions
    """

    rows_at: Callable[[Positions], Any]
    y: NDArray[Any]
    positions: Positions

    def error(self, kernel: Any) -> float:
        """The least squared leave-one-out error, over all penalties; of classes, of their numbers -1 and 1."""
        from mercer.learners import KernelRidge, KernelRidgeClassifier

        learner = KernelRidge if self.y.dtype.kind == "f" else KernelRidgeClassifier
        path: Any = learner(kernel, verbose=False).fit(self.rows, self.y[self.positions]).loo_
        return float(path.errors.min(axis=0).sum())

    @property
    def rows(self) -> Any:
        """The rows themselves."""
        return self.rows_at(self.positions)

    def numbers(self) -> NDArray[np.float64]:
        """The targets as numbers: classes as a column each, of -1 and 1."""
        y = self.y[self.positions]
        return np.asarray(y if y.dtype.kind == "f" else 2.0 * (y[:, None] == np.unique(y)) - 1.0, dtype=np.float64)


def suited(
    options: FitOptions, kernel: Any, rows_at: Callable[[Positions], Any], y: NDArray[Any], dated: bool = False
) -> Suited:
    """A kernel whose lengthscales suit the target; the same kernel where none is better.

    Lengthscales are found on one sample, and those of columns must prove themselves on another one.

    dated : whether there are dates. Then the next rows are asked for, and those in between, by which lengthscales are
        found, speak for shorter ones than a forecast needs: each for itself is not tried
    """
    if not has_lengthscales(kernel):
        return Suited(kernel)
    if hurried(options):
        return Suited(kernel, refused=HURRIED)
    some, both = (
        Sample(rows_at, y, sample_of(y, count, options.random_state)) for count in (SAMPLE_ROWS, 2 * SAMPLE_ROWS)
    )
    first, second = (replace(both, positions=both.positions[half::2]) for half in (0, 1))
    alone = options.learner == "ridge" and len(y) <= MAX_STRETCHED_ROWS  # ridge stretches the whole kernel itself
    together = kernel if alone else _together(kernel, some)
    each, refused = (None, DATED) if dated else _each(kernel, first)
    if each is not None:
        usual, found = second.error(together), second.error(each.kernel)
        if found < MAX_ERROR_SHARE_EACH * usual:
            return Suited(each.kernel, _told(each, found / usual, len(second.positions)))
        refused = _refused(found / usual if usual else 1.0, len(second.positions))
    if together != kernel:
        return Suited(together, f"lengthscales by leave-one-out on {len(some.positions):,} rows: {together}", refused)
    common = "" if alone else f"lengthscales {TOGETHER} times as long, {len(some.positions):,} rows: none {LESS}"
    return Suited(kernel, refused="; ".join(filter(None, (refused, common))))


def hurried(options: FitOptions) -> bool:
    """Whether limits leave no room to try."""
    tight = options.memory_limit is not None and size("--memory-limit", options.memory_limit) < MIN_LIMIT_BYTES
    return tight or (seconds(options.time_limit) or MIN_LIMIT_SECONDS) < MIN_LIMIT_SECONDS


def has_lengthscales(kernel: Any) -> bool:
    """Whether there is anything to stretch.

    >>> from mercer.kernels import Gaussian, Linear
    >>> has_lengthscales(Gaussian(2.0)), has_lengthscales(Linear())
    (True, False)
    """
    return bool(kernel.stretched(2.0) != kernel)


def _together(kernel: Any, sample: Sample) -> Any:
    """The best of some stretches of all lengthscales. Cost: a decomposition of the sample for each."""
    errors = {stretch: sample.error(kernel.stretched(stretch)) for stretch in STRETCHES}
    best = min(errors, key=lambda stretch: errors[stretch])
    return kernel.stretched(best) if errors[best] < MAX_ERROR_SHARE * errors[1.0] else kernel


def _each(kernel: Any, sample: Sample) -> tuple[Stretch | None, str]:
    """Each lengthscale for itself, by the likelihood; None and the reason where rows are few, or lengthscales many.

    One lengthscale alone is nothing to choose among, and no word is lost on it.
    """
    from mercer.kernels.evaluation.evaluate import read
    from mercer.tuning import stretch
    from mercer.tuning.lengths import lengths_of

    if 2 * len(sample.positions) < MIN_ROWS:
        return None, f"{UNTRIED} fewer than {MIN_ROWS} rows are fitted"
    rows, targets = sample.rows, sample.numbers()
    if (targets == targets[0]).all():
        return None, f"{UNTRIED} the rows of the sample have one target"
    points = read(kernel, rows)
    count = sum(len(group.values) for group in lengths_of(kernel.resolve(rows), points))
    if count < 2:
        return None, ""
    if count > MAX_LENGTHSCALES:
        return None, f"{UNTRIED} there would be {count:,}, more than {MAX_LENGTHSCALES}"
    if targets.ndim == 2 and targets.shape[1] > MAX_CLASSES:
        return None, f"{UNTRIED} {targets.shape[1]:,} classes are more than {MAX_CLASSES}"
    return stretch(kernel, rows, targets, random_state=0), ""


def _refused(part: float, rows: int) -> str:
    return (
        f"one lengthscale per column was tried: on {rows:,} other rows the squared leave-one-out error is {part:.3g} "
        f"times that of one common lengthscale; from {MAX_ERROR_SHARE_EACH:g} on, the common one is kept"
    )


def _told(each: Stretch, part: float, rows: int) -> str:
    order = np.argsort(each.stretches, kind="stable")[:MAX_NAMED_COLUMNS]
    names = ", ".join(f"{each.names[i].removeprefix('column ')} times {each.stretches[i]:.2g}" for i in order)
    return (
        f"{len(each.stretches)} lengthscales, one per column, by the likelihood of {each.rows:,} rows. On {rows:,} "
        f"other rows the squared leave-one-out error is {part:.3g} times that of one common lengthscale. "
        f"Shortest, so most important: {names}"
    )


def sample_of(y: NDArray[Any], count: int, seed: int) -> Positions:
    """Positions of so many rows at random, with classes, or small and large numbers, in their shares.

    >>> sample_of(np.repeat(["a", "b"], [80, 20]), 5, seed=0) < 80
    array([ True,  True,  True,  True, False])
    """
    order = np.random.default_rng(seed).permutation(len(y))
    order = order[np.argsort(y[order], kind="stable")]
    places = np.linspace(0, len(y) - 1, min(count, len(y)))
    return np.sort(order[places.astype(np.intp)])
