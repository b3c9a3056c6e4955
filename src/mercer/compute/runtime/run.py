"""A run: one long computation, seen from inside. It takes progress, says when to stop, and keeps what is offered.

A solver calls `tell` between its steps, hands `watch` to products, and offers its state. What becomes of that
(a bar, a file, a deadline) is not its business: `Run` does nothing; `learners/run/fit_run.py` has the one that does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from numpy.typing import NDArray

from mercer.compute.runtime.threads import Progress, Watch

State = Mapping[str, NDArray[Any]]
"""What a computation needs to go on from a point: arrays of numbers by name, none of dtype object."""


class Stopped(Exception):  # noqa: N818  # it is no error: what was found so far is used
    """Raised by a run inside a computation that is to end now, with what it has; the text says why."""


class Run:
    """A run without an observer.

    The work has stages, by the names of the plan; a stage counts its own steps, from 0 to a total. `Stopped` comes from
    `tell` and `watch` alone, and only inside `stoppable`: elsewhere there is nothing yet that could be used. A
    computation catches it where it can return what it has.
    """

    @contextmanager
    def stage(self, name: str, total: float = 1.0) -> Iterator[None]:
        """A part of the work, of so many steps."""
        yield

    @contextmanager
    def stoppable(self) -> Iterator[None]:
        """Where `Stopped` may be raised: from here on there is something that can be used."""
        yield

    def tell(self, done: float) -> None:
        """So many steps of this stage are done; raises `Stopped` where the run is to end."""

    def over(self, done: float) -> bool:
        """The same between pieces of work that may be left out: whether to leave out those that are to come."""
        try:
            with self.stoppable():
                self.tell(done)
        except Stopped:
            return True
        return False

    def watch(self, progress: Progress) -> None:
        """How far the step at hand is: for `Gram(..., watch=run.watch)`; raises `Stopped`, which ends the product."""

    def offer(self, key: str, state: Callable[[], State]) -> None:
        """Say that `state` would do to go on from here; it is called where it is time to save, and not else."""

    def saved(self, key: str) -> State | None:
        """What was last offered under this key by a run that was cut off; None where there is none."""
        return None


def telling(run: Run, done: float, more: float) -> Watch:
    """A watch for a part of a stage: `more` steps, after those that are done."""

    def tell(progress: Progress) -> None:
        run.tell(done + more * progress.done / max(progress.total, 1))

    return tell


IDLE = Run()
"""For computations without an observer."""
