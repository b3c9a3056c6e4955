"""The run of a fit: it shows progress, keeps the time limit and checkpoints, calls callbacks, and minds Ctrl-C."""

from __future__ import annotations

import math
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, Protocol, cast

import numpy as np

from mercer.compute.runtime.run import Run, State, Stopped
from mercer.compute.runtime.threads import WATCH_SECONDS, Progress
from mercer.errors import InputError, message
from mercer.learners.run.callbacks import Listened, Tree, teardown
from mercer.learners.run.checkpoint import Store
from mercer.learners.run.fingerprint import Parts
from mercer.learners.run.progress import Display, Pace, display_of, duration
from mercer.lifts.inputs import shown
from mercer.planner.plan import Stage

MAX_DISPLAY_SHARE = 0.005
"""The part of the time that displays and callbacks may take together: the slower they are, the less often they look."""
MAX_INTERVAL_SECONDS = 5.0
"""Seconds after which they look in any case."""
RAISE, KEEP, AUTO = "raise", "keep", "auto"
INTERRUPTED = "the fit was interrupted"
ASKED = "a callback asked to stop"


@dataclass(frozen=True)
class Terms:
    """How a fit is run, checked.

    time_limit : seconds, or None
    keep : whether Ctrl-C ends the fit with what it has, instead of raising KeyboardInterrupt
    verbose : True, False or "auto"
    checkpoint : the path of a file, or None
    """

    time_limit: float | None
    keep: bool
    verbose: bool | str
    checkpoint: Path | None

    @classmethod
    def of(cls, time_limit: Any, on_interrupt: Any, verbose: Any, checkpoint: Any) -> Terms:
        """The settings of a learner, or one clear error."""
        if not (isinstance(on_interrupt, str) and on_interrupt in (RAISE, KEEP)):
            needs = 'on_interrupt that is "raise" or "keep"'
            raise InputError(message(needs, f"got {shown(on_interrupt)}", 'Use "raise", the default.'))
        if not (isinstance(verbose, bool | np.bool_) or (isinstance(verbose, str) and verbose == AUTO)):
            needs = 'verbose that is True, False or "auto"'
            raise InputError(message(needs, f"got {shown(verbose)}", "Use False, the default."))
        how = verbose if isinstance(verbose, str) else bool(verbose)
        seconds = None if time_limit is None else _seconds(time_limit)
        return cls(seconds, on_interrupt == KEEP, how, None if checkpoint is None else _file(checkpoint))


def _seconds(given: Any) -> float:
    number = isinstance(given, int | float | np.integer | np.floating) and not isinstance(given, bool)
    if not (number and 0 < given < math.inf):
        needs = "a positive number of seconds, or None, for time_limit"
        raise InputError(message(needs, f"got {shown(given)}", "Use 60, say."))
    return float(given)


def _file(given: Any) -> Path:
    if not isinstance(given, str | os.PathLike) or not isinstance(os.fspath(given), str) or not os.fspath(given):
        needs = "the path of a file, or None, for checkpoint"
        raise InputError(message(needs, f"got {shown(given)}", 'Use "fit.checkpoint", say.'))
    path = Path(given).absolute()
    if path.is_dir():
        needs, got = "the path of a file for checkpoint", f"{path} is a folder"
        raise InputError(message(needs, got, "Add the name of a file."))
    if not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        needs = "a folder that can be written to for checkpoint"
        got = f"{path.parent} cannot be" if path.parent.is_dir() else f"{path.parent} does not exist"
        raise InputError(message(needs, got, "Create it, or choose another."))
    return path


class Planned(Protocol):
    """A plan of any learner, as a run sees it."""

    @property
    def rows(self) -> int:
        """Of the data."""
        ...

    @property
    def columns(self) -> int:
        """Of the data."""
        ...

    @property
    def backend(self) -> str:
        """What computes."""
        ...

    @property
    def lanes(self) -> int:
        """How many threads have sums of their own; 0 for as many as there are."""
        ...

    @property
    def threads(self) -> int:
        """How many threads BLAS has; 0 for as many as it has."""
        ...

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The parts of the work, by name; there may be none."""
        ...

    @property
    def seconds(self) -> float:
        """What all of it is to take."""
        ...


_HEARS: ContextVar[Callable[[Planned], object] | None] = ContextVar("hears", default=None)


@contextmanager
def plans_told_to(hear: Callable[[Planned], object]) -> Iterator[None]:
    """Inside, `hear` gets the plan of each fit when its work begins: the one that is followed, not one made before."""
    token = _HEARS.set(hear)
    try:
        yield
    finally:
        _HEARS.reset(token)


class Watched(Run):
    """The run of one fit; made by `watched`.

    clock : seconds; tests have one of their own
    """

    def __init__(
        self, name: str, estimator: object, terms: Terms, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        self.name, self.estimator, self.terms = name, estimator, terms
        self.store: Store | None = None
        self.stopped = False
        self._clock = clock
        self._start = self._offered = clock()
        self._deadline = math.inf if terms.time_limit is None else self._start + terms.time_limit
        self._due = self._next = math.inf  # when `tell` has to look; when displays and callbacks do
        self._why: str | None = None
        self._usable = 0  # how many `stoppable` are open
        self._done, self._scale = 0.0, 0.0  # steps of the stage at hand, and what one of them is of it
        self._pace: Pace | None = None
        self._display: Display | None = None
        self._tree: Tree | None = None
        self._ready = False
        self._listened = bool(getattr(estimator, "_skl_callbacks", ()))  # or handed down by a search or pipeline

    # -- before the work ----------------------------------------------------------------------------------------------

    def resume(self, fingerprint: Callable[[], Parts]) -> None:
        """Go on from the checkpoint where there is one of the same fit; to be called when the data has been read."""
        if self.terms.checkpoint is not None:
            self.store = Store(self.name, self.terms.checkpoint, fingerprint, self._clock)

    def recall(self, name: str, make: Callable[[], Any]) -> Any:
        """What the fit that is resumed noted under this name, or what is made now: values of JSON."""
        return make() if self.store is None else self.store.recall(name, make)

    def foresee(self, plan: Callable[[], Planned | None]) -> None:
        """Show about how long it will take, before the work is planned: that may take seconds itself."""
        if self.terms.verbose is False:
            return
        self._display = display_of(self.name, self.terms.verbose, self._listened)
        found = None if self._display is None else plan()
        if found is not None:
            now = self._clock()
            self._pace = Pace(found.stages or (Stage("fit", found.seconds),), now)
            self._show(now, 0.0)

    def follow(self, plan: Planned, **data: Any) -> None:
        """The work begins: show how long it will take, and set callbacks up. `data` may have X, y and metadata."""
        if (hear := _HEARS.get()) is not None:
            hear(plan)
        if self.terms.verbose is not False:
            self._display = self._display or display_of(self.name, self.terms.verbose, self._listened)
        if self._display is None and not self._listened and self.terms.checkpoint is None:
            return  # nobody looks
        now, stages = self._clock(), plan.stages or (Stage("fit", plan.seconds),)
        self._pace = Pace(stages, now)
        self._tree = Tree(cast(Listened, self.estimator), stages, data) if self._listened else None
        if self._display is not None or self._tree is not None:
            self._show(now, 0.0)
            self._next = self._due = now + WATCH_SECONDS  # what was loaded for the first time is not counted

    # -- what computations see ----------------------------------------------------------------------------------------

    @contextmanager
    def stage(self, name: str, total: float = 1.0) -> Iterator[None]:
        outer, counts = self._scale, self._begin(name)
        self._done, self._scale = 0.0, 1.0 / total if counts and total > 0 else 0.0
        whole = told = False
        try:
            yield
            whole = told = True
        except Stopped:
            told = True
            raise
        finally:
            self._scale = outer
            if counts:
                self._end(whole, told)

    def _begin(self, name: str) -> bool:
        """Whether this is a stage of the plan, that now begins."""
        now = self._clock()
        if self._pace is None or not self._pace.begin(name, now):
            return False
        if self._tree is not None:
            self._tree.enter(name)
        if now >= self._next:
            self._show(now, 0.0)
        return True

    def _end(self, whole: bool, told: bool) -> None:
        """A stage of the plan is over; callbacks are not told of the end of one that failed."""
        if self._pace is not None:
            self._pace.end(self._clock(), whole)
        if told and self._tree is not None and self._tree.leave():
            self._stop(ASKED)

    @contextmanager
    def stoppable(self) -> Iterator[None]:
        self._usable += 1
        self._due = -math.inf  # a limit may have passed before there was anything to use
        try:
            yield
        finally:
            self._usable -= 1

    def tell(self, done: float) -> None:
        self._done = done
        now = self._clock()
        if now >= self._due:
            self._look(now, done * self._scale)

    def watch(self, progress: Progress) -> None:
        now = self._clock()
        if now >= self._due:
            self._look(now, (self._done + progress.done / max(progress.total, 1)) * self._scale)

    def offer(self, key: str, state: Callable[[], State]) -> None:
        if self.store is None:
            return
        now, before = self._clock(), self._offered
        self._offered = now
        last = now < self._deadline <= now + (now - before) + self.store.cost  # the next offer would come too late
        self.store.offer(key, state, now_or_never=last or self.stopped)

    def saved(self, key: str) -> State | None:
        found = None if self.store is None else self.store.saved(key)
        if found is not None and self._pace is not None:
            self._pace.resume()
            self._due = -math.inf
        return found

    # -- looking ------------------------------------------------------------------------------------------------------

    def _look(self, now: float, part: float = 0.0) -> None:
        """Show what is due, and stop where that is due."""
        if self._pace is not None:
            self._pace.tell(part, now)
        if now >= self._next:
            self._show(now, part)
        if now >= self._deadline:
            self._stop(f"the time limit of {self.terms.time_limit:g} s was reached")
        self._due = min(self._next, self._deadline) if self._usable else self._next  # before a signal can set it
        if self._why is not None and self._usable:
            self.stopped = True
            raise Stopped(self._why)

    def _show(self, now: float, part: float) -> None:
        if self._display is not None and self._pace is not None:
            self._display.look(self._pace, now - self._start, now)
        if self._tree is not None and self._tree.reach(part):
            self._stop(ASKED)
        after = self._clock()
        self._next = after + min(max(WATCH_SECONDS, (after - now) / MAX_DISPLAY_SHARE), MAX_INTERVAL_SECONDS)

    def _stop(self, why: str) -> None:
        """Stop at the next chance, for the first reason."""
        self._why = self._why or why
        self._due = -math.inf

    # -- after the work -----------------------------------------------------------------------------------------------

    def ready(self) -> None:
        """The estimator has all that it needs to predict: callbacks that ask for a model get one at the end."""
        self._ready = True

    def finish(self) -> None:
        """The fit has succeeded, with all or with what it had when it was stopped; a stopped one keeps its file."""
        if self._tree is not None:
            self._tree.finish(self._ready)
        if self._display is not None:
            took = duration(self._clock() - self._start)
            self._display.close(f"stopped after {took}" if self.stopped else f"done in {took}", not self.stopped)
            self._display = None
        if self.store is not None and not self.stopped:
            self.store.finish()

    def close(self) -> None:
        """Let go of the screen and of callbacks, however the fit ended."""
        if self._display is not None:
            self._display.close(None)
        if self._listened:
            teardown(self.estimator)

    # -- Ctrl-C -------------------------------------------------------------------------------------------------------

    @contextmanager
    def minding(self) -> Iterator[None]:
        """Ctrl-C ends the fit with what it has, where that is asked for; elsewhere, and the second time, it raises."""
        if not (self.terms.keep and threading.current_thread() is threading.main_thread()):
            yield
            return
        before = signal.getsignal(signal.SIGINT)
        if not callable(before):
            yield
            return

        def interrupt(number: int, frame: FrameType | None) -> None:
            if self._usable and self._why != INTERRUPTED:
                self._why = INTERRUPTED
                self._due = -math.inf
            else:
                before(number, frame)

        try:
            signal.signal(signal.SIGINT, interrupt)
            yield
        finally:
            signal.signal(signal.SIGINT, before)


@contextmanager
def watched(
    name: str, estimator: object, terms: Terms, clock: Callable[[], float] = time.perf_counter
) -> Iterator[Watched]:
    """The run of a whole fit: around reading, planning, computing and storing what was found."""
    run = Watched(name, estimator, terms, clock)
    with run.minding():
        try:
            yield run
            run.finish()
        finally:
            run.close()
