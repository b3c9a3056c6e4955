"""The search for a witness: points and weights whose quadratic form is negative.

The search examines structured point sets over a range of sizes, simplest first; then, where a spectral
test has named a frequency, larger pieces of lattices at the spacing it suggests; then it moves the points
of the most promising sets downhill. What it finds it simplifies, so that a reader can recompute it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, eigh
from scipy.optimize import minimize, minimize_scalar
from scipy.spatial.distance import cdist

from mercer.kernels.proof.configurations import Configuration, lattice_balls, lines, random_sets, structured

Array = NDArray[np.float64]
Map = Callable[[Array], Array]

# A form counts as negative below -CLEAR times the sum of its absolute terms: far above the 1e-16 or so
# of rounding in each term, so that it survives recomputation with more digits.
CLEAR = 1e-9
# The search stops at once at a normalised eigenvalue this negative, and otherwise compares candidates.
HANDSOME = -0.02
# Simplifying may give away this much of the negative value.
KEPT = 0.3
SEED = 20240229


@dataclass(frozen=True, eq=False)
class Search:
    """A witness, or None where none was found, and the number of Gram matrices examined."""

    points: Array | None
    weights: Array | None
    value: float
    trials: int


@dataclass(frozen=True, eq=False)
class _Candidate:
    """Points, their most negative weights (largest 1), and how negative.

    ratio is the smallest eigenvalue of K after scaling its diagonal to 1, which does not depend on the
    units of k; clear says that the form is negative beyond doubt.
    """

    points: Array
    weights: Array
    ratio: float
    value: float
    clear: bool


class _Examiner:
    """Evaluates Gram matrices in the domain and counts them."""

    def __init__(self, gram: Map, place: Map) -> None:
        self._gram = gram
        self._place = place
        self._seen: set[bytes] = set()
        self.trials = 0

    def placed(self, points: Array) -> Array:
        """Map points into the domain, one for one."""
        with np.errstate(all="ignore"):
            return np.asarray(self._place(points), dtype=np.float64)

    def gram(self, points: Array) -> Array | None:
        """Return the Gram matrix, or None where it is not finite."""
        self.trials += 1
        with np.errstate(all="ignore"):
            matrix = np.asarray(self._gram(points), dtype=np.float64)
        return 0.5 * (matrix + matrix.T) if np.isfinite(matrix).all() else None

    def examine(self, points: Array) -> _Candidate | None:
        """Place points, merge those that coincide, and return weights that make them negative, if any."""
        return self._judge(self._settled(points))

    def examine_new(self, points: Array) -> _Candidate | None:
        """Examine points unless the same set, once placed, was examined before."""
        settled = self._settled(points)
        if settled is not points:
            key = np.round(settled, 12).tobytes()
            if key in self._seen:
                return None
            self._seen.add(key)
        return self._judge(settled)

    def _settled(self, points: Array) -> Array:
        """Return the distinct points of the domain that these are mapped to: the same array if unmoved."""
        placed = self.placed(points)
        return points if np.array_equal(placed, points) else _distinct(placed)

    def _judge(self, points: Array) -> _Candidate | None:
        matrix = self.gram(points) if len(points) else None
        return None if matrix is None else _most_negative(points, matrix)

    def stays(self, points: Array) -> bool:
        """Whether the domain has these very points, all distinct."""
        return bool(np.array_equal(self.placed(points), points)) and len(_distinct(points)) == len(points)

    def stationary(self, d: int, scale: float) -> bool:
        """Whether a shift seems to leave the Gram matrix alone, so that shifted sets add nothing."""
        points = scale * np.random.default_rng(SEED).normal(size=(4, d))
        moved = points + scale * np.linspace(0.7, 1.3, d)
        if not self.stays(points) or not self.stays(moved):
            return False
        first, second = self.gram(points), self.gram(moved)
        return first is not None and second is not None and bool(np.allclose(first, second, 1e-6, 1e-9))


def find_witness(
    gram: Map, place: Map, d: int, *, scale: float = 1.0, frequency: float | None = None, effort: float = 1.0
) -> Search:
    """Look for points and weights with a clearly negative quadratic form, and simplify what is found.

    `gram` gives the Gram matrix of the rows of an n x d array, `place` maps rows into the domain, `scale`
    is a typical length, `frequency` one at which a spectral test saw a negative value, and `effort`
    multiplies the number of sets tried.
    """
    examiner = _Examiner(gram, place)
    found = _scan(examiner, _structured_sets(examiner, d, scale, effort))
    if found is None and frequency is not None and frequency > 0.0:
        found = _scan(examiner, _lattice_sets(d, frequency, effort))
    if found is None:
        found = _descend(examiner, d, scale, effort)
    if found is None:
        return Search(None, None, 0.0, examiner.trials)
    best = _simplify(examiner, _polish(examiner, found, scale))
    return Search(best.points, best.weights, best.value, examiner.trials)


def _distinct(points: Array) -> Array:
    """Drop rows that are not finite or repeat an earlier row to 12 digits."""
    points = points[np.isfinite(points).all(axis=1)]
    if len(points) < 2:
        return points
    size = float(np.max(np.abs(points))) or 1.0
    _, first = np.unique(np.round(points / size, 12), axis=0, return_index=True)
    return points if len(first) == len(points) else points[np.sort(first)]


def _most_negative(points: Array, matrix: Array) -> _Candidate | None:
    """Return the eigenvector of the smallest eigenvalue of the normalised matrix, if negative, as weights."""
    top = float(np.max(np.abs(matrix)))
    if top < 1e-290:
        return None
    # The floor keeps rounding in a diagonal that cancels from being blown up by the normalisation.
    unit = np.sqrt(np.maximum(np.diag(matrix) / top, 1e-6))
    normalised = matrix / top / np.outer(unit, unit)
    if np.linalg.eigvalsh(normalised)[0] > -1e-12:  # half the price, and nearly always the answer
        return None
    values, vectors = np.linalg.eigh(normalised)
    return _weighed(points, matrix, vectors[:, 0] / unit, float(values[0]))


def _weighed(points: Array, matrix: Array, weights: Array, ratio: float) -> _Candidate:
    """Scale the weights so that the largest is 1 and judge their quadratic form."""
    weights = weights / weights[np.argmax(np.abs(weights))]
    value = float(weights @ matrix @ weights)
    size = np.abs(weights)
    noise = 1e-13 * float(np.max(np.abs(matrix))) * float(size.sum()) ** 2
    clear = value < -CLEAR * float(size @ np.abs(matrix) @ size) - noise
    return _Candidate(points, weights, ratio, value, clear)


def _structured_sets(examiner: _Examiner, d: int, scale: float, effort: float) -> Iterator[Iterable[Array]]:
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


def _scan(examiner: _Examiner, sets: Iterable[Iterable[Array]]) -> _Candidate | None:
    """Return the first handsome candidate, or else the simplest among the clear ones."""
    clear: list[_Candidate] = []
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


def _best_version(examiner: _Examiner, versions: Iterable[Array]) -> _Candidate | None:
    """Return the most negative version, or the first that is negative enough."""
    best: _Candidate | None = None
    for points in versions:
        found = examiner.examine_new(points)
        # Sizes come outwards from the typical length, which only a marked gain should leave.
        if found is not None and found.clear and (best is None or found.ratio < 1.2 * best.ratio):
            best = found
            if best.ratio < 5.0 * HANDSOME:
                break
    return best


def _descend(examiner: _Examiner, d: int, scale: float, effort: float) -> _Candidate | None:
    """Move the points of promising sets downhill until one is clearly negative."""
    starts: list[tuple[float, int, Array]] = []
    for each in [*structured(d, 16), *random_sets(d, round(20 * effort), SEED + 1)]:
        for size in scale * np.array([0.3, 0.6, 1.0, 1.6, 3.0]):
            points = _distinct(examiner.placed(size * each.points))
            if 2 <= len(points) <= 16:
                starts.append((_pencil(examiner, points, scale)[0], len(starts), points))
    for _, _, points in sorted(starts)[: round(16 * effort)]:
        found = _downhill(examiner, points, scale)
        if found is not None and found.clear:
            return found
    return None


def _downhill(examiner: _Examiner, points: Array, scale: float) -> _Candidate | None:
    """Minimise the pencil's eigenvalue over the positions, from these points."""
    shape = points.shape

    def objective(flat: Array) -> tuple[float, Array]:
        value, slope = _pencil(examiner, flat.reshape(shape), scale)
        return value, slope.ravel()

    result = minimize(objective, points.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 30, "maxfun": 50})
    return examiner.examine(np.asarray(result.x, dtype=np.float64).reshape(shape))


def _pencil(examiner: _Examiner, points: Array, scale: float) -> tuple[float, Array]:
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


def _polish(examiner: _Examiner, found: _Candidate, scale: float) -> _Candidate:
    """Tune the size of a set whose value is small and, where it is very small, the positions."""
    if len(found.points) == 1 or found.ratio < 5.0 * HANDSOME:
        return found

    def ratio(log_size: float) -> float:
        candidate = examiner.examine(np.exp(log_size) * found.points)
        return candidate.ratio if candidate is not None and candidate.clear else 0.0

    result = minimize_scalar(ratio, bounds=(-0.2, 0.2), method="bounded", options={"maxiter": 20})
    choices = [found, examiner.examine(np.exp(result.x) * found.points)]
    if found.ratio > HANDSOME and len(found.points) <= 16:
        choices.append(_downhill(examiner, found.points, scale))
    return min((c for c in choices if c is not None and c.clear), key=lambda c: c.ratio)


def _simplify(examiner: _Examiner, found: _Candidate) -> _Candidate:
    """Use fewer points, then fewer decimals in the points, then fewer in the weights."""
    fewer = _fewer_points(examiner, found)
    return _rounded_weights(examiner, _rounded_points(examiner, fewer))


def _fewer_points(examiner: _Examiner, found: _Candidate) -> _Candidate:
    """Leave out points as long as the rest stay clearly negative."""
    best, matrix = found, examiner.gram(found.points)
    while matrix is not None and len(best.points) > 1:
        choices = []
        for i in np.argsort(np.abs(best.weights))[: 24 if len(best.points) <= 24 else 4]:
            rest = np.delete(np.arange(len(best.points)), i)
            candidate = _most_negative(best.points[rest], matrix[np.ix_(rest, rest)])
            if candidate is not None and candidate.clear and candidate.ratio <= KEPT * found.ratio:
                choices.append((candidate.ratio, int(i), candidate))
        if not choices:
            break
        _, left_out, best = min(choices, key=lambda choice: choice[:2])
        matrix = np.delete(np.delete(matrix, left_out, 0), left_out, 1)
    return best


def _rounded_points(examiner: _Examiner, found: _Candidate) -> _Candidate:
    """Round the coordinates to the fewest decimals that keep the value clearly negative."""
    for points in _roundings(found.points):
        if examiner.stays(points):
            candidate = examiner.examine(points)
            if candidate is not None and candidate.clear and candidate.ratio <= KEPT * found.ratio:
                return candidate
    return found


def _rounded_weights(examiner: _Examiner, found: _Candidate) -> _Candidate:
    """Round the weights likewise; points whose weight becomes 0 go."""
    for weights in _roundings(found.weights):
        used = weights != 0.0
        matrix = examiner.gram(found.points[used])
        if matrix is not None:
            candidate = _weighed(found.points[used], matrix, weights[used], found.ratio)
            if candidate.clear and candidate.value <= KEPT * found.value:
                return candidate
    return found


def _roundings(values: Array) -> Iterator[Array]:
    """Yield the values with one significant digit of the largest, then two, and so on up to nine."""
    size = float(np.max(np.abs(values)))
    first = -int(np.floor(np.log10(size))) if size > 0.0 else 0
    for digits in range(first, first + 9):
        yield np.round(values, digits) + 0.0  # adding 0 turns -0 into 0
