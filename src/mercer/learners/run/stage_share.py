"""One part of several alike, as one step of a stage."""

from __future__ import annotations

from contextlib import AbstractContextManager

from mercer.compute.runtime.run import Run, Stopped
from mercer.compute.runtime.threads import Progress

HALF_DONE_ROUNDS = 20.0
"""Rounds after which a part counts as half done: nobody knows the last one before."""


class StageShare(Run):
    """One of several searches, as one step of a stage.

    before : how many were done before
    """

    def __init__(self, run: Run, before: int) -> None:
        self._run, self._before = run, before
        self.stopped = False

    def stoppable(self) -> AbstractContextManager[None]:  # type: ignore[override]  # that of the whole
        return self._run.stoppable()

    def tell(self, done: float) -> None:
        try:
            self._run.tell(self._before + 1.0 - 2.0 ** (-done / HALF_DONE_ROUNDS))
        except Stopped:
            self.stopped = True
            raise

    def watch(self, progress: Progress) -> None:
        self._run.watch(progress)
