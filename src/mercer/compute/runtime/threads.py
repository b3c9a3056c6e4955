"""A pool of threads over pieces of work, with BLAS held to one thread inside, that can be interrupted."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np

from mercer.errors import InputError, message

ONE_THREAD_OPERATIONS = 1 << 28
"""n^2 (n + d) for n rows of d columns up to which BLAS gets one thread: more take longer to meet than they save, and
far longer where other processes want the cores."""
WATCH_SECONDS = 0.1
"""Seconds between two looks at the clock, the progress and the keyboard."""


@dataclass(frozen=True)
class Progress:
    """How far a computation is: pairs of points that are done, all of them, and the seconds since its start."""

    done: int
    total: int
    seconds: float


Watch = Callable[[Progress], object]
"""A function that takes progress about ten times a second; an error that it raises stops the computation."""


_PLANNED: ContextVar[int] = ContextVar("planned", default=0)


def available() -> int:
    """The number of threads that work by default: those of the plan that is followed, or what this process may use.

    That is its cores, or OMP_NUM_THREADS if less.
    """
    planned = _PLANNED.get()
    if planned:
        return planned
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    asked = os.environ.get("OMP_NUM_THREADS", "")
    return min(cores, max(1, int(asked))) if asked.isdecimal() else cores


def count(threads: int | None) -> int:
    """The number of threads for a request; None stands for all that are available."""
    if threads is None:
        return available()
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        raise InputError(message("a positive integer, or None", f"got {threads!r}", "Use 1 or 2.", subject="threads"))
    return threads


@contextmanager
def as_planned(workers: int, blas: int) -> Iterator[None]:
    """Inside, so many threads work, and BLAS has so many, however many cores there are now; 0 for what there is.

    Sums of several threads, and products of BLAS, have other bits with other numbers of threads.
    """
    token = _PLANNED.set(workers)
    try:
        with blas_threads(blas) if blas else nullcontext():
            yield
    finally:
        _PLANNED.reset(token)


class Clock:
    """Reports progress to a watch, about ten times a second and once at the end."""

    def __init__(self, total: int, watch: Watch | None) -> None:
        self.total = total
        self.watch = watch
        self.start = self.told = time.perf_counter()

    def tell(self, done: int) -> None:
        """Say how much is done, if it is time."""
        now = time.perf_counter()
        if self.watch is not None and (now - self.told >= WATCH_SECONDS or done == self.total):
            self.told = now
            self.watch(Progress(done, self.total, now - self.start))


class Stop:
    """A flag that tells all workers to leave their work, and what they have done so far."""

    def __init__(self, workers: int) -> None:
        self.raised = False
        self.done = [0] * workers

    def step(self, worker: int, pairs: int) -> bool:
        """Note the work of a tile; whether to go on."""
        self.done[worker] += pairs
        return not self.raised


Work = Callable[[int, Any, Stop], None]
"""work(worker, piece, stop): one piece, which calls stop.step after each tile and returns if that is false."""


def run(work: Work, pieces: Sequence[Sequence[Any]], total: int, watch: Watch | None = None) -> None:
    """Do all pieces, given as one list per worker; a worker takes its own list in order.

    Results do not depend on timing. An interruption (Ctrl-C), an error in a piece, or an error raised by
    `watch` stops all workers after the tile that they are at, and is raised here.
    """
    if len(pieces) == 1:
        _run_here(work, pieces[0], Clock(total, watch))
        return
    stop, clock = Stop(len(pieces)), Clock(total, watch)

    def serve(worker: int) -> None:
        with np.errstate(all="ignore"):  # a new thread does not have the caller's; results say what overflowed
            for piece in pieces[worker]:
                if stop.raised:
                    return
                work(worker, piece, stop)

    with one_thread_blas(), ThreadPoolExecutor(len(pieces)) as pool:
        # each with a copy of the caller's context: messages begin with the name of the method that is running
        futures = [pool.submit(copy_context().run, serve, worker) for worker in range(len(pieces))]
        try:
            _wait(futures, lambda: clock.tell(sum(stop.done)))
        finally:
            stop.raised = True
    clock.tell(total)


class Told(Stop):
    """Of the calling thread alone, whosever work it does: it reports its own progress."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(1)
        self.clock = clock

    def step(self, worker: int, pairs: int) -> bool:
        """Note the work of a tile, and report it; the end of all is reported by who knows that it is the end."""
        self.done[0] += pairs
        if self.done[0] < self.clock.total:
            self.clock.tell(self.done[0])
        return True


def _run_here(work: Work, pieces: Sequence[Any], clock: Clock) -> None:
    """All pieces by this thread: another one would take longer to start than little work takes."""
    stop = Told(clock)
    with one_thread_blas(), np.errstate(all="ignore"):
        for piece in pieces:
            work(0, piece, stop)
    clock.tell(clock.total)


def _wait(futures: list[Future[None]], report: Callable[[], None]) -> None:
    pending: set[Future[None]] = set(futures)
    while pending:
        done, pending = wait(pending, timeout=WATCH_SECONDS, return_when=FIRST_EXCEPTION)
        for future in done:
            future.result()
        if pending:
            report()


@cache
def _libraries() -> tuple[Any, ...]:
    """The libraries of BLAS in this process, as threadpoolctl controls them."""
    from threadpoolctl import ThreadpoolController

    return tuple(ThreadpoolController().select(user_api="blas").lib_controllers)


@cache
def _owners() -> tuple[Any, ...]:
    """The classes of these libraries that remember which thread has set a limit."""
    return tuple({type(library) for library in _libraries() if hasattr(library, "clear_controlling_thread")})


def _allow_any_thread() -> None:
    """Let this thread change the limit of BLAS.

    From 3.7 on, threadpoolctl listens only to the first thread that has set a limit. Here the last computation to leave
    may be in another thread than the first to enter, and without this BLAS would keep its one thread for ever.
    """
    for owner in _owners():
        owner.clear_controlling_thread(force=True)


def are_few(rows: int, columns: int) -> bool:
    """Whether so many rows of so many columns are so little work that one thread of BLAS does it sooner."""
    return rows > 1 and float(rows) ** 2 * (rows + columns) <= ONE_THREAD_OPERATIONS


def few_threads(rows: int, columns: int) -> AbstractContextManager[None]:
    """One thread for BLAS inside, where so many rows of so many columns are little work; all of them elsewhere."""
    return one_thread_blas() if are_few(rows, columns) else nullcontext()


def of_blas() -> int:
    """How many threads BLAS has now."""
    return max((library.get_num_threads() or 1 for library in _libraries()), default=1)


class _Holder:
    """The numbers of threads that computations hold BLAS to, and how many its libraries had before.

    The least counts: what is held to one thread inside of something stays so. One lock guards all of it.
    """

    lock = threading.Lock()
    held: ClassVar[list[int]] = []
    before: ClassVar[list[tuple[Any, int]]] = []
    changed = False


def one_thread_blas() -> AbstractContextManager[None]:
    """BLAS uses one thread inside; the first to enter holds it, the last to leave lets it go."""
    return blas_threads(1)


@contextmanager
def blas_threads(count: int) -> Iterator[None]:
    """BLAS uses so many threads inside, also where it had fewer; one that is held to fewer already stays there."""
    held = _Holder.held
    with _Holder.lock:
        least = min(held, default=0)
        held.append(count)
        if not least:
            _hold(count)
        elif count < least:
            _set(count)
    try:
        yield
    finally:
        with _Holder.lock:
            held.remove(count)
            least = min(held, default=0)
            if not least:
                _let_go()
            elif least > count:
                _set(least)


def _hold(count: int) -> None:
    """So many threads for each library; in the processes of a search they have one already."""
    _Holder.before, _Holder.changed, other = [], False, False
    for library in _libraries():
        now = library.get_num_threads()
        if now is not None:
            _Holder.before.append((library, now))
            other = other or now != count
    if other:
        _set(count)


def _set(count: int) -> None:
    _allow_any_thread()
    _Holder.changed = True
    for library, _ in _Holder.before:
        library.set_num_threads(count)


def _let_go() -> None:
    if _Holder.changed:
        _allow_any_thread()
        for library, before in _Holder.before:
            library.set_num_threads(before)
        _allow_any_thread()
