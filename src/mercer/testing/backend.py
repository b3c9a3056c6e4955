"""The laws of backends. `check_backend` raises AssertionError with the name of the first law that is broken."""

from __future__ import annotations

import gc
import pickle
import weakref
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.backends.base import Accumulator, Backend, Evaluator, Layout, RowValues
from mercer.backends.context import use
from mercer.backends.lanes import NumPyOperations
from mercer.compute.runtime.threads import Progress, Watch
from mercer.errors import speaks
from mercer.kernels import Gaussian, Kernel, Matern, Polynomial
from mercer.kernels.evaluation.evaluate import evaluator, fused_from
from mercer.kernels.evaluation.plain import Plain
from mercer.kernels.points import DOUBLE, SINGLE, Points
from mercer.testing.boards import law_of_boards
from mercer.testing.laws import AGREEMENT, close, require
from mercer.testing.passes import Tried, known_passes
from mercer.testing.tables import here, law_of_tables

Array = NDArray[Any]
KERNELS: tuple[Kernel, ...] = (Gaussian(1.5), Gaussian(2.0) + 0.5 * Matern(0.5, 2.0) * Polynomial(2, 0.5))
"""One statistic alone, and several of different kinds."""
ROWS, LANDMARKS = 701, 130
"""Neither is a number of whole tiles."""
COLUMNS = (3, 20)
"""Few, so that distances are summed from differences, and many, so that they come from products."""
PROMISE = {"float64": AGREEMENT["float64"], "float32": AGREEMENT["float32"], "rough": 1e-4}
"""How far a value may be off, relative to sqrt(k(x, x) k(z, z)); "rough": by the rounding of |x|^2."""
SUMS = 1e-9
"""How far sums of passes may be off, relative to the largest."""
LAYOUT = Layout(3, rows=64)
PIECES = (0, 250, 510, ROWS)
"""Where pieces of rows begin and end."""
WIDE_ROWS, WIDE_LANDMARKS, THIN_SHARE = 3000, 400, 0.25
"""Rows and landmarks whose values are wide, and the part of their bytes that may go to and fro instead of them."""


class Ended(Exception):  # noqa: N818  # it is what a watch raises to end a computation
    """What a watch raises here."""


@speaks
def check_backend(backend: Backend) -> None:
    """Check a backend against the laws of its kind; plain NumPy is the reference.

    The laws: products (float64, float32 and rough, to the promise), symmetry (exact), bits (the same twice), passes
    (each that Mercer knows, also after it was pickled), lanes (added in their order), stopping (by a watch), resuming
    (from any state, to the same bits), boards (working sets of an SVM, where the backend has them), traffic (nothing
    wide goes to and fro), tables (that answer like arrays), and nothing held (afterwards). Cost: some hundred products
    of 701 x 130 pairs, and compiled code for two kernels.

    Parameters
    ----------
    backend : Backend
        `CPU()`, `CUDA()`, or one of your own.

    Raises
    ------
    AssertionError
        with the name of the law and what broke it

    Examples
    --------
    >>> from mercer.backends import CPU
    >>> from mercer.testing import check_backend
    >>> check_backend(CPU())
    """
    for name, law in LAWS.items():
        try:
            with fused_from(0):
                law(backend)
        except AssertionError as broken:
            raise AssertionError(f"{backend!r} breaks the law of {name}: {broken}") from broken


# -- what is tried ----------------------------------------------------------------------------------------------------


def _points(columns: int, single: bool = False, rows: int = ROWS, landmarks: int = LANDMARKS) -> tuple[Points, Points]:
    """Rows and landmarks."""
    random, dtype = np.random.default_rng(columns), SINGLE if single else DOUBLE
    sides = [random.normal(size=(count, columns)).astype(dtype).astype(np.float64) for count in (rows, landmarks)]
    return Points(sides[0], dtype=dtype), Points(sides[1], dtype=dtype)


def _whole(kernel: Kernel, left: Points, right: Points) -> Array:
    return Plain(kernel, left, right).matrix(DOUBLE, 1)[0]


def _allowed(kernel: Kernel, left: Points, right: Points, tolerance: float) -> Array:
    """How far each value may be off."""
    sizes = [np.sqrt(np.asarray(kernel.evaluate_diagonal(side), dtype=np.float64)) for side in (left, right)]
    return tolerance * np.outer(*sizes)


def _within(found: Array, wanted: Array, allowed: Array, what: str) -> None:
    require(found.shape == wanted.shape, f"{what}: the shape is {found.shape} instead of {wanted.shape}")
    share = float((np.abs(found - wanted) / allowed).max())
    require(share <= 1.0, f"{what}: off by {share:.3g} of what is allowed")


def _values(kernel: Kernel = KERNELS[0], part: slice = slice(None)) -> RowValues:
    left, right = _points(COLUMNS[0])
    return RowValues(evaluator(kernel, left.rows(part), right), subject=kernel)


def _cut(rows: Mapping[str, Array], part: slice) -> dict[str, Array]:
    return {name: column[part] for name, column in rows.items()}


def _added(backend: Backend, tried: Tried, watch: Watch | None = None) -> tuple[Accumulator, dict[str, Array]]:
    """A pass over all rows, and what it leaves with them."""
    sums = backend.accumulate(tried.work, LANDMARKS, LAYOUT)
    left = sums.add(_values(), tried.rows, watch)
    return sums, {name: here(each) for name, each in left.items()}


def _kept(sums: Accumulator) -> dict[str, Array]:
    return {name: np.array(value) for name, value in sums.state().items()}


def _same(found: Mapping[str, Array], wanted: Mapping[str, Array], what: str) -> None:
    """Fail unless arrays are the same, bit for bit."""
    require(found.keys() == wanted.keys(), f"{what}: there are {sorted(found)} instead of {sorted(wanted)}")
    for name, value in wanted.items():
        require(np.array_equal(found[name], value), f"{what}: {name} has other bits")


def _name(tried: Tried) -> str:
    return type(tried.work).__name__


# -- the laws ---------------------------------------------------------------------------------------------------------


def law_of_products(backend: Backend) -> None:
    """Values, and products with one vector and with several, are those of plain NumPy, to the promise."""
    V = np.random.default_rng(1).normal(size=(LANDMARKS, 3))
    cases = [(precision, kernel, columns) for precision in PROMISE for kernel in KERNELS for columns in COLUMNS]
    for precision, kernel, columns in cases:
        left, right = _points(columns, single=precision != "float64")
        found, wanted = evaluator(kernel, left, right, precision == "rough"), _whole(kernel, left, right)
        allowed, what = _allowed(kernel, left, right, PROMISE[precision]), f"{kernel}, {columns} columns, {precision}"
        _within(found.matrix(np.dtype(DOUBLE), 1)[0], wanted, allowed, f"matrix of {what}")
        few = V.shape[1] * len(V)  # sums round, too
        for W in (V, V[:, :1]):
            _within(found.times(W, 1), wanted @ W, few * allowed @ np.abs(W), f"product of {what}")
        _parts(found, wanted, allowed, what)


def _parts(found: Evaluator, wanted: Array, allowed: Array, what: str) -> None:
    """Some rows, and some rows with some columns."""
    rows, columns = np.array([5, 0, 300, 5]), np.arange(3, 90, 2)
    out = np.empty((len(rows), LANDMARKS))
    found.at(rows).fill(0, len(rows), out)
    _within(out, wanted[rows], allowed[rows], f"rows of {what}")
    block = found.within(rows, columns).matrix(np.dtype(DOUBLE), 1)[0]
    _within(block, wanted[rows][:, columns], allowed[rows][:, columns], f"block of {what}")
    _within(found.times(np.eye(LANDMARKS, 1), 1), wanted[:, :1], allowed[:, :1], f"column of {what}")


def law_of_symmetry(backend: Backend) -> None:
    """A matrix of rows with themselves is symmetric, bit for bit, and so are its products to rounding."""
    for columns in COLUMNS:
        left, _ = _points(columns)
        found, wanted = evaluator(KERNELS[0], left, left), _whole(KERNELS[0], left, left)
        require(found.symmetric, "it does not say that both sides are the same")
        K, _ = found.matrix(np.dtype(DOUBLE), 1)
        require(np.array_equal(K, K.T), f"{columns} columns: K is not K'")
        V = np.random.default_rng(2).normal(size=(ROWS, 2))
        close(found.times(V, 1), wanted @ V, "a symmetric product", 1e-11)
        part = np.arange(0, ROWS, 3)
        block, _ = found.within(part, part).matrix(np.dtype(DOUBLE), 1)
        require(np.array_equal(block, block.T), "a block of the same rows is not symmetric")


def law_of_bits(backend: Backend) -> None:
    """The same work gives the same bits, whatever was done in between."""
    left, right = _points(COLUMNS[0])
    V = np.random.default_rng(3).normal(size=(LANDMARKS, 2))
    found = evaluator(KERNELS[0], left, right)
    first = {"product": found.times(V, 2), "matrix": found.matrix(np.dtype(DOUBLE), 2)[0]}
    again = evaluator(KERNELS[0], left, right)
    _same({"product": again.times(V, 2), "matrix": again.matrix(np.dtype(DOUBLE), 2)[0]}, first, "once more")
    for tried in known_passes(ROWS, LANDMARKS):
        (sums, columns), (others, more) = _added(backend, tried), _added(backend, tried)
        _same(_kept(others), _kept(sums), f"{_name(tried)} once more")
        _same(more, columns, f"what {_name(tried)} leaves once more")


def law_of_passes(backend: Backend) -> None:
    """Each pass gives what it gives by NumPy in one piece; it is data, and changes nothing that it reads."""
    whole = _whole(KERNELS[0], *_points(COLUMNS[0]))
    for tried in known_passes(ROWS, LANDMARKS):
        name, key, before = _name(tried), tried.work.key(), {k: v.copy() for k, v in tried.rows.items()}
        sums, left = _added(backend, tried)
        state = _kept(sums)
        _same(tried.rows, before, f"columns that {name} reads")
        require(tried.work.key() == key, f"{name} has changed its own fields")
        again = pickle.loads(pickle.dumps(tried.work))  # noqa: S301  # our own
        require(again.key() == key, f"{name} has another name after it was pickled")
        _same(_kept(_added(backend, Tried(again, tried.rows))[0]), state, f"{name} after it was pickled")
        _as_by_numpy(tried, whole.copy(), sums.joined(), left)


def _as_by_numpy(tried: Tried, values: Array, found: Mapping[str, Array], left: Mapping[str, Array]) -> None:
    work, width = tried.work, values.shape[1]
    sums = {name: np.zeros(shape) for name, shape in work.sums(width).items()}
    rows = {name: np.empty((len(values), *each.shape), each.dtype) for name, each in work.columns(width).items()}
    work.add(values, {**tried.rows, **rows}, sums, NumPyOperations)
    require(found.keys() == sums.keys(), f"{_name(tried)} has the sums {sorted(found)}")
    require(left.keys() == rows.keys(), f"{_name(tried)} leaves {sorted(left)}")
    for name, wanted in sums.items():
        below = np.tril if name == "sums" else np.asarray  # squares are wanted on and below the diagonal
        close(below(found[name]), below(wanted), f"{name} of {_name(tried)}", SUMS)
    for name, wanted in rows.items():
        require(left[name].dtype == wanted.dtype, f"{name} of {_name(tried)} is in {left[name].dtype}")
        close(left[name], wanted, f"{name} of {_name(tried)}", 1e-6 if wanted.dtype == np.float32 else SUMS)


def law_of_lanes(backend: Backend) -> None:
    """Sums of lanes are added in their order, and none is forgotten."""
    for tried in known_passes(ROWS, LANDMARKS):
        sums, _ = _added(backend, tried)
        state = _kept(sums)
        lanes = 1 + max((int(name.rpartition(" ")[2]) for name in state), default=0)
        wanted = {name: state[f"{name} 0"] for name in tried.work.sums(LANDMARKS)}
        for lane in range(1, lanes):
            wanted = {name: value + state[f"{name} {lane}"] for name, value in wanted.items()}
        _same(sums.joined(), wanted, f"lanes of {_name(tried)}")


def law_of_stopping(backend: Backend) -> None:
    """A watch is told of each computation, and what it raises ends it; the next one is as if nothing had been."""
    left, right = _points(COLUMNS[0])
    found, V = evaluator(KERNELS[0], left, right), np.ones((LANDMARKS, 2))
    tried = known_passes(ROWS, LANDMARKS)[0]
    before = found.times(V, 2), _kept(_added(backend, tried)[0])

    def ending(progress: Progress) -> None:
        require(0 <= progress.done <= progress.total, f"{progress.done} of {progress.total} are done")
        raise Ended

    works: dict[str, Callable[[], object]] = {
        "a product": lambda: found.times(V, 2, ending),
        "a matrix": lambda: found.matrix(np.dtype(DOUBLE), 2, ending),
        "a pass": lambda: _added(backend, tried, ending),
        "a pass over a table": lambda: backend.accumulate(tried.work, LANDMARKS, LAYOUT).add(
            RowValues(table=np.ones((ROWS, LANDMARKS))), tried.rows, ending
        ),
    }
    for name, work in works.items():
        try:
            work()
        except Ended:
            continue
        raise AssertionError(f"{name} goes on, whatever a watch raises")
    require(np.array_equal(found.times(V, 2), before[0]), "a product that was stopped has changed the next")
    _same(_kept(_added(backend, tried)[0]), before[1], "a pass after one that was stopped")


def law_of_resuming(backend: Backend) -> None:
    """From the state after any piece a pass goes on to the same bits."""
    parts = [slice(start, stop) for start, stop in pairwise(PIECES)]
    for tried in known_passes(ROWS, LANDMARKS):
        sums, states = backend.accumulate(tried.work, LANDMARKS, LAYOUT), []
        for part in parts:
            sums.add(_values(part=part), _cut(tried.rows, part))
            states.append(_kept(sums))
        wanted = sums.joined()
        for done, state in enumerate(states, 1):
            again = backend.accumulate(tried.work, LANDMARKS, LAYOUT, state, after=sums)
            for part in parts[done:]:
                again.add(_values(part=part), _cut(tried.rows, part))
            _same(again.joined(), wanted, f"{_name(tried)} from the state after {done} of {len(parts)} pieces")


def law_of_traffic(backend: Backend) -> None:
    """Values of the kernel stay where they are computed: by the backend's own count, little goes to and fro."""
    left, right = _points(COLUMNS[0], rows=WIDE_ROWS, landmarks=WIDE_LANDMARKS)
    allowed = THIN_SHARE * 8 * WIDE_ROWS * WIDE_LANDMARKS
    tried = next(each for each in known_passes(WIDE_ROWS, WIDE_LANDMARKS) if "v" in vars(each.work))
    before = backend.traffic()
    sums = backend.accumulate(tried.work, WIDE_LANDMARKS, LAYOUT)
    found = evaluator(KERNELS[0], left, right)
    sums.add(RowValues(found), tried.rows)
    sums.joined()
    found.times(np.ones((WIDE_LANDMARKS, 2)), 1)
    after = backend.traffic()
    for name in ("sent", "brought"):
        gone = getattr(after, name) - getattr(before, name)
        require(0 <= gone <= allowed, f"{gone} bytes are {name}, of at most {allowed:.0f}")


def law_of_nothing_held(backend: Backend) -> None:
    """When all is done, nobody holds the rows, nor what was made of them."""

    def work() -> list[weakref.ref[Any]]:
        left, right = _points(COLUMNS[0])
        with use(backend) as opened:
            tried = known_passes(ROWS, LANDMARKS)[0]
            sums = opened.accumulate(tried.work, LANDMARKS, LAYOUT)
            found = evaluator(KERNELS[0], left, right)
            sums.add(RowValues(found), tried.rows)
            found.times(np.ones((LANDMARKS, 1)), 1)
            joined = sums.joined()
        held = [left.values, right.values, found, sums, tried.work, *joined.values(), *tried.rows.values()]
        return [weakref.ref(each) for each in held]

    left = work()
    gc.collect()
    still = [type(each).__name__ for each in (ref() for ref in left) if each is not None]
    require(not still, f"still held: {', '.join(still)}")


def _inside(law: Callable[[Backend], None]) -> Callable[[Backend], None]:
    """A law of what a backend does while it is in use."""

    def opened(backend: Backend) -> None:
        with use(backend) as here:
            law(here)

    return opened


LAWS: dict[str, Callable[[Backend], None]] = {
    "products": _inside(law_of_products),
    "symmetry": _inside(law_of_symmetry),
    "bits": _inside(law_of_bits),
    "passes": _inside(law_of_passes),
    "lanes": _inside(law_of_lanes),
    "stopping": _inside(law_of_stopping),
    "resuming": _inside(law_of_resuming),
    "boards": _inside(law_of_boards),
    "traffic": _inside(law_of_traffic),
    "tables": _inside(law_of_tables),
    "nothing held": law_of_nothing_held,
}
