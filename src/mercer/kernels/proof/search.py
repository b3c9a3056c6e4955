"""The search for a witness: points and weights whose quadratic form is negative.

The search examines structured point sets over a range of sizes, simplest first; then, where a spectral
test has named a frequency, larger pieces of lattices at the spacing it suggests; then it moves the points
of the most promising sets downhill. What it finds it simplifies, so that a reader can recompute it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np
from scipy.optimize import minimize_scalar

from mercer.kernels.proof.configurations import Configuration, lattice_balls, lines, random_sets, structured
from mercer.kernels.proof.descent import downhill, pencil
from mercer.kernels.proof.examiner import SEED, Array, Candidate, Examiner, Map, distinct
from mercer.kernels.proof.limit import TimeUp
from mercer.kernels.proof.simplify import simplify

# The search stops at once at a normalised eigenvalue this negative, and otherwise compares candidates.
HANDSOME = -0.02
QUICK_SHARE = 0.1
"""The part of the usual sets that a quick search examines."""

STRETCH_FACTORS = (0.97, 1.03, 0.9, 1.1)
"""By which factors a set is stretched to look at it again."""
MOVE_LENGTH = 0.003
"""How far its points are moved then, in typical lengths."""


@dataclass(frozen=True, eq=False)
class Search:
    """A witness, or None where none was found, and the number of Gram matrices examined.

    time_up : whether the search was ended by its time limit
    """

    points: Array | None
    weights: Array | None
    value: float
    trials: int
    time_up: bool = False


def find_witness(
    gram: Map, place: Map, d: int, *, scale: float = 1.0, frequency: float | None = None, effort: float = 1.0
) -> Search:
    """Look for points and weights with a clearly negative quadratic form, and simplify what is found.

    `gram` gives the Gram matrix of the rows of an n x d array, `place` maps rows into the domain, `scale`
    is a typical length, `frequency` one at which a spectral test saw a negative value, and `effort`
    multiplies the number of sets tried. Where `gram` raises `TimeUp`, the search ends.
    """
    examiner = Examiner(gram, place)
    try:
        found = _scan(examiner, _structured_sets(examiner, d, scale, effort))
        if found is None and frequency is not None and frequency > 0.0:
            found = _scan(examiner, _lattice_sets(d, frequency, effort))
        if found is None:
            found = _descend(examiner, d, scale, effort)
    except TimeUp:
        return Search(None, None, 0.0, examiner.trials, time_up=True)
    return _ended(examiner, found, scale)


def shaken(gram: Map, place: Map, points: Array, scale: float) -> Iterator[Candidate]:
    """Candidates at points that were moved a little: off the jumps of a function that has some."""
    examiner, random = Examiner(gram, place), np.random.default_rng(SEED)
    for size in STRETCH_FACTORS:
        found = examiner.examine(size * points + MOVE_LENGTH * scale * random.normal(size=points.shape))
        if found is not None and found.clear:
            yield found


def quick_witness(gram: Map, place: Map, d: int, scale: float) -> Search:
    """The same among structured sets alone, and few of them: some hundredths of a second."""
    examiner = Examiner(gram, place)
    return _ended(examiner, _scan(examiner, _structured_sets(examiner, d, scale, QUICK_SHARE)), scale)


def _ended(examiner: Examiner, found: Candidate | None, scale: float) -> Search:
    """What was found, made simple."""
    if found is None:
        return Search(None, None, 0.0, examiner.trials)
    try:
        best = simplify(examiner, _polish(examiner, found, scale))
    except TimeUp:
        best = found  # as it stands
    return Search(best.points, best.weights, best.value, examiner.trials)


def _structured_sets(examiner: Examiner, d: int, scale: float, effort: float) -> Iterator[Iterable[Array]]:
    """Yield for each structured and random set its versions: sizes around `scale`, and shifts."""
    factors = np.concatenate(
        [np.geomspace(0.1, 10.0, 1 + 2 * round(12 * effort)), np.geomspace(0.01, 0.07, 4), np.geomspace(14.0, 100.0, 4)]
    )
    sizes = scale * factors[np.argsort(np.abs(np.log(factors)), kind="stable")]
    shifts = [] if examiner.stationary(d, scale) else _shifts(d, scale)
    for each in [*structured(d), *random_sets(d, round(10 * effort), SEED)]:
        shifted = _versions(each, sizes[::3], shifts if 2 <= len(each.points) <= 12 else [])
        yield chain((size * each.points for size in sizes), shifted)


def _shifts(d: int, scale: float) -> list[tuple[float, Array]]:
    """Return shifts as multiples of the size of the set (or, for 0, fixed) along directions."""
    first, ones = np.eye(d)[0], np.ones(d)
    return [(0.0, scale * first), (2.0, first), (-2.0, first), (1.5, ones)]


def _versions(each: Configuration, sizes: Array, shifts: list[tuple[float, Array]]) -> Iterator[Array]:
    """Yield one configuration at every shift and size."""
    for relative, direction in shifts:
        for size in sizes:
            yield size * each.points + (relative * size or 1.0) * direction


def _lattice_sets(d: int, frequency: float, effort: float) -> Iterator[Iterable[Array]]:
    """Yield lattice balls with spacings at which alternating signs have about the given frequency."""
    sizes = np.pi / frequency * np.geomspace(0.7, 1.3 * np.sqrt(d), round(10 * effort))
    for each in [*lines(d), *lattice_balls(d, round(200 * effort))]:
        yield (size * each.points for size in sizes)


def _scan(examiner: Examiner, sets: Iterable[Iterable[Array]]) -> Candidate | None:
    """Return the first handsome candidate, or else the simplest among the clear ones."""
    clear: list[Candidate] = []
    for versions in sets:
        best = _best_version(examiner, versions)
        if best is not None:
            if best.ratio < HANDSOME:
                return best
            clear.append(best)
    if not clear:
        return None
    enough = 0.1 * min(each.ratio for each in clear)
    return min((each for each in clear if each.ratio <= enough), key=lambda each: len(each.points))


def _best_version(examiner: Examiner, versions: Iterable[Array]) -> Candidate | None:
    """Return the most negative version, or the first that is negative enough."""
    best: Candidate | None = None
    for points in versions:
        found = examiner.examine_new(points)
        # Sizes come outwards from the typical length, which only a marked gain should leave.
        if found is not None and found.clear and (best is None or found.ratio < 1.2 * best.ratio):
            best = found
            if best.ratio < 5.0 * HANDSOME:
                break
    return best


def _descend(examiner: Examiner, d: int, scale: float, effort: float) -> Candidate | None:
    """Move the points of promising sets downhill until one is clearly negative."""
    starts: list[tuple[float, int, Array]] = []
    for each in [*structured(d, 16), *random_sets(d, round(20 * effort), SEED + 1)]:
        for size in scale * np.array([0.3, 0.6, 1.0, 1.6, 3.0]):
            points = distinct(examiner.placed(size * each.points))
            if 2 <= len(points) <= 16:
                starts.append((pencil(examiner, points, scale)[0], len(starts), points))
    for _, _, points in sorted(starts)[: round(16 * effort)]:
        found = downhill(examiner, points, scale)
        if found is not None and found.clear:
            return found
    return None


def _polish(examiner: Examiner, found: Candidate, scale: float) -> Candidate:
    """Tune the size of a set whose value is small and, where it is very small, the positions."""
    if len(found.points) == 1 or found.ratio < 5.0 * HANDSOME:
        return found

    def ratio(log_size: float) -> float:
        candidate = examiner.examine(np.exp(log_size) * found.points)
        return candidate.ratio if candidate is not None and candidate.clear else 0.0

    result = minimize_scalar(ratio, bounds=(-0.2, 0.2), method="bounded", options={"maxiter": 20})
    choices = [found, examiner.examine(np.exp(result.x) * found.points)]
    if found.ratio > HANDSOME and len(found.points) <= 16:
        choices.append(downhill(examiner, found.points, scale))
    return min((c for c in choices if c is not None and c.clear), key=lambda c: c.ratio)
