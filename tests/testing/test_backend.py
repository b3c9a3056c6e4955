"""The law suite must accept the cores and reject every broken backend, by the right law."""

import importlib
import pkgutil
from dataclasses import dataclass

import numpy as np
import pytest

from mercer import learners, lifts, solvers
from mercer.backends import CPU, Pass, Traffic
from mercer.backends.lanes import Lanes
from mercer.learners.streaming.grid import GridSums
from mercer.operators import Dense
from mercer.solvers.svm.box_qp import BoxQP
from mercer.solvers.svm.cached_board import CachedBoard
from mercer.solvers.svm.kernel_cache import KernelCache
from mercer.testing import check_backend
from mercer.testing.backend import LAWS
from mercer.testing.boards import CHOSEN, ROWS
from mercer.testing.passes import known_passes


def test_the_cores_obey_the_laws():
    check_backend(CPU())


def subclasses(kind):
    return {kind} | {each for child in kind.__subclasses__() for each in subclasses(child)}


def test_every_pass_is_known():
    for package in (learners, lifts, solvers):
        for each in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(each.name)
    cores_alone = {GridSums}  # its sums are transforms, which no other backend has
    mine = {each for each in subclasses(Pass) - {Pass} - cores_alone if each.__module__.startswith("mercer.")}
    assert {type(each.work) for each in known_passes(10, 3)} == mine


# -- broken evaluators ------------------------------------------------------------------------------------------------


class Wrapped:
    """An evaluator that does as another one does."""

    def __init__(self, inner):
        self.inner = inner

    def __getattr__(self, name):
        return getattr(self.inner, name)


class Off(Wrapped):
    def times(self, V, workers, watch=None):
        return self.inner.times(V, workers, watch) * (1 + 1e-4)


class OffInOneBlock(Wrapped):
    def at(self, rows):
        return type(self)(self.inner.at(rows))

    def fill(self, i0, i1, out):
        sure = self.inner.fill(i0, i1, out)
        out[-1, -1] *= 1 + 1e-9
        return sure


class Lopsided(Wrapped):
    def matrix(self, dtype, workers, watch=None, out=None):
        K, sure = self.inner.matrix(dtype, workers, watch, out)
        if self.inner.symmetric:
            K[0, 1] += 1e-16
        return K, sure


class Drifting(Wrapped):
    count = 0

    def times(self, V, workers, watch=None):
        Drifting.count += 1
        return self.inner.times(V, workers, watch) * (1 + 1e-15 * Drifting.count)


class Deaf(Wrapped):
    def times(self, V, workers, watch=None):
        return self.inner.times(V, workers)


class DeafMatrix(Wrapped):
    def matrix(self, dtype, workers, watch=None, out=None):
        return self.inner.matrix(dtype, workers, None, out)


@dataclass(frozen=True)
class OtherEvaluator(CPU):
    kind: type = Wrapped

    def evaluator(self, traced):
        return self.kind(super().evaluator(traced))


# -- broken accumulators ----------------------------------------------------------------------------------------------


class Forgetful(Lanes):
    def joined(self):
        self.sums.pop()
        return super().joined()


class InOrderOfTime(Lanes):
    def joined(self):
        self.sums.reverse()
        return super().joined()


class DeafLanes(Lanes):
    def add(self, values, rows, watch=None):
        return super().add(values, rows)


class Anew(Lanes):
    def _restore(self, state):
        pass


class HalfRestored(Lanes):
    def _restore(self, state):
        super()._restore({name: np.where(name.endswith(" 2"), 0.0, value) for name, value in state.items()})


class Random(Lanes):
    """Whoever is free takes the next strip."""

    random = np.random.default_rng(0)

    def _strip(self, lane, start, values, columns):
        super()._strip(int(self.random.integers(self.layout.lanes)), start, values, columns)


class Spoiling(Lanes):
    def add(self, values, rows, watch=None):
        left = super().add(values, rows, watch)
        for name in self.work.reads:
            if name in rows:
                rows[name][0] += 1
        return left


class Unread(Lanes):
    """Leaves zeros with the rows."""

    def add(self, values, rows, watch=None):
        return {name: np.zeros_like(value) for name, value in super().add(values, rows, watch).items()}


class Careless(Lanes):
    """A sum that is off by little."""

    def joined(self):
        return {name: value * (1 + 1e-4) for name, value in super().joined().items()}


@dataclass(frozen=True)
class OtherLanes(CPU):
    kind: type = Lanes

    def accumulate(self, work, width, layout, state=None, after=None):
        return self.kind(work, width, layout, state)


# -- broken boards ----------------------------------------------------------------------------------------------------


class Board(CachedBoard):
    """One that is right, by a matrix of this process."""

    @classmethod
    def of(cls, rows):
        K = Dense(rows.matrix(rows.dtype, 1)[0], symmetric=True)
        return cls(K, KernelCache(K, ROWS**2, CHOSEN))


class Still(Board):
    """The gradient does not follow the last coefficient that moves."""

    def move(self, chosen, b, moves):
        moves[-1] = 0.0
        super().move(chosen, b, moves)


class Kinkless(Board):
    def begin(self, rows, box, b, g):
        super().begin(rows, BoxQP(g, box.lower, box.upper), b, g)


class Unsorted(Board):
    """Takes whoever comes first."""

    def chosen(self, size):
        self._rises, self._falls = np.arange(len(self._b), dtype=float), -np.arange(len(self._b), dtype=float)
        return super().chosen(size)


class Strict(Board):
    """Leaves out what another one violates."""

    def shrink(self, share):
        self._high, self._low = self._high - 0.5, self._low + 0.5
        return super().shrink(share)


class Turned(Board):
    def square(self, chosen):
        square, slopes = super().square(chosen)
        return square[::-1], slopes


class Noisy(Board):
    count = 0

    def gradient(self):
        Noisy.count += 1
        return super().gradient() * (1 + 1e-15 * Noisy.count)


@dataclass(frozen=True)
class OtherBoard(CPU):
    kind: type = Board

    def board(self, rows, diagonal):
        return self.kind.of(rows)


def test_a_right_board_obeys_the_law():
    LAWS["boards"](OtherBoard())


# -- broken otherwise -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Keeping(CPU):
    kept = []  # noqa: RUF012  # that is what is wrong

    def evaluator(self, traced):
        self.kept.append(traced.measured)
        return super().evaluator(traced)


@dataclass(frozen=True)
class Chatty(CPU):
    gone = [0]  # noqa: RUF012

    def accumulate(self, work, width, layout, state=None, after=None):
        self.gone[0] += 1 << 22
        return super().accumulate(work, width, layout, state, after)

    def traffic(self):
        return Traffic(0, self.gone[0])


@dataclass(frozen=True)
class Narrow(CPU):
    """Tables have fewer digits than were asked for."""

    def table(self, shape, dtype):
        return np.empty(shape, np.float32)


@dataclass(frozen=True)
class Scratch(CPU):
    """What is written to a table is lost."""

    def table(self, shape, dtype):
        return np.zeros(shape, dtype)

    def accumulate(self, work, width, layout, state=None, after=None):
        return OtherRoom(work, width, layout, state)


class OtherRoom(Lanes):
    def add(self, values, rows, watch=None):
        return super().add(values, {name: value for name, value in rows.items() if name != "Z"}, watch)


BROKEN = [
    (OtherEvaluator(Off), "products"),
    (OtherEvaluator(OffInOneBlock), "products"),
    (OtherEvaluator(Lopsided), "symmetry"),
    (OtherEvaluator(Drifting), "bits"),
    (OtherEvaluator(Deaf), "stopping"),
    (OtherEvaluator(DeafMatrix), "stopping"),
    (OtherLanes(Forgetful), "passes"),
    (OtherLanes(Careless), "passes"),
    (OtherLanes(Spoiling), "bits"),
    (OtherLanes(Unread), "passes"),
    (OtherLanes(InOrderOfTime), "lanes"),
    (OtherLanes(DeafLanes), "stopping"),
    (OtherLanes(Anew), "resuming"),
    (OtherLanes(HalfRestored), "resuming"),
    (OtherLanes(Random), "bits"),
    *((OtherBoard(kind), "boards") for kind in (Still, Kinkless, Unsorted, Strict, Turned, Noisy)),
    (Chatty(), "traffic"),
    (Narrow(), "tables"),
    (Scratch(), "tables"),
    (Keeping(), "nothing held"),
]


@pytest.mark.parametrize(("broken", "law"), BROKEN, ids=lambda each: getattr(each, "kind", type(each)).__name__)
def test_a_broken_backend_is_caught_by_the_right_law(broken, law):
    with pytest.raises(AssertionError, match=f"breaks the law of {law}:"):
        check_backend(broken)


def test_every_law_catches_somebody():
    assert {law for _, law in BROKEN} == set(LAWS)
