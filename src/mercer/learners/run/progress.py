"""How far a fit is and how long it will take, and how that is shown: a bar on a terminal, lines elsewhere."""

from __future__ import annotations

import math
import multiprocessing
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any, TextIO

from mercer.planner.plan import Stage

TRUSTED_SHARE = 0.05
"""The part of a stage that must be done before what was seen counts as much as what was predicted."""
LATE_SHARE = 0.1
"""Of a stage that says nothing, this part of its silence is said to be left when the predicted time is over."""
MIN_SHOWN_SECONDS = 2.0
"""Seconds that a fit must take before "auto" shows anything."""
FIRST_INTERVAL_SECONDS = 5.0
"""Seconds between the first two lines; then twice as many each time."""
MAX_INTERVAL_SECONDS = 60.0
"""Seconds between two lines, at most."""
MIN_STAGE_SECONDS = 1e-9
"""What a stage takes at least, in seconds, so that parts of it can be told."""


class Pace:
    """Predicted seconds of stages, corrected by the ratio of real and predicted seconds of the work that was seen.

    Time left: that of the stage at hand by its own ratio, that of later ones by the ratio of all. Before anything is
    seen only the plan counts; after 5 % of a stage, or of all, both count the same; after a third the plan hardly.
    """

    def __init__(self, stages: Sequence[Stage], now: float) -> None:
        self.names = [stage.name for stage in stages]
        self._seconds = [max(stage.seconds, MIN_STAGE_SECONDS) for stage in stages]
        self._total = sum(self._seconds)
        self._passed = 0  # so many stages are done
        self._open = False
        self._part = 0.0  # of the stage at hand
        self._seen = self._took = 0.0  # predicted and real seconds of the work in stages that are done
        self._from, self._since = 0.0, now  # the part of this stage, and the time, from which on it is measured
        self._told = now  # when the part was told
        self._resumed = False

    @property
    def name(self) -> str:
        """The stage at hand, or the next one."""
        return self.names[min(self._passed, len(self.names) - 1)]

    def begin(self, name: str, now: float) -> bool:
        """A stage begins; whether it counts: not inside another one, nor one that the plan does not have (any more)."""
        if self._open or name not in self.names[self._passed :]:
            return False
        self._passed = self.names.index(name, self._passed)
        self._open, self._part, self._from, self._since, self._told = True, 0.0, 0.0, now, now
        return True

    def resume(self) -> None:
        """What is told next was done by an earlier run: it says nothing about the pace of this one."""
        self._resumed = True

    def tell(self, part: float, now: float) -> None:
        """The part of this stage that is done, from 0 to 1; it never falls."""
        if self._open and part >= self._part:
            self._part, self._told = min(part, 1.0), now
            if self._resumed:
                self._from, self._since, self._resumed = self._part, now, False

    def end(self, now: float, whole: bool = True) -> None:
        """The stage is over; one that failed or was stopped says nothing about the pace of others."""
        if whole and not self._resumed:
            self._seen += (1.0 - self._from) * self._seconds[self._passed]
            self._took += now - self._since
        self._passed += 1
        self._open, self._resumed = False, False
        self._part, self._from, self._since, self._told = 0.0, 0.0, now, now

    def fraction(self) -> float:
        """The part of all predicted seconds that is done."""
        here = self._part * self._seconds[self._passed] if self._open else 0.0
        return (sum(self._seconds[: self._passed]) + here) / self._total

    def left(self, now: float) -> float:
        """The seconds that are left, about."""
        if self._passed == len(self._seconds):
            return 0.0
        seconds, behind = self._seconds[self._passed], self._seen / self._total
        seen, took = (self._part - self._from) * seconds, self._told - self._since
        before = _blend(1.0, self._took, self._seen, behind)
        own = _blend(before, took, seen, seen / seconds)
        later = _blend(1.0, self._took + took, self._seen + seen, behind + seen / self._total)
        rest, silence = own * (1.0 - self._part) * seconds, now - self._told
        return max(rest - silence, LATE_SHARE * silence) + later * sum(self._seconds[self._passed + 1 :])


def _blend(before: float, took: float, predicted: float, part: float) -> float:
    """A ratio that was believed before, moved to took / predicted as far as the part that was seen can be trusted."""
    if predicted <= 0:
        return before
    weight = part**2 / (part**2 + TRUSTED_SHARE**2)
    return float(before ** (1.0 - weight) * max(took / predicted, MIN_STAGE_SECONDS) ** weight)


def duration(seconds: float) -> str:
    """Seconds in words.

    >>> duration(0.2), duration(80), duration(200), duration(4000)
    ('1 s', '80 s', '3 min 20 s', '1 h 7 min')
    """
    whole = max(1, round(seconds))
    if whole < 100:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60} min"


# -- displays ---------------------------------------------------------------------------------------------------------


class Display(ABC):
    """Shows how far a fit is.

    worth : seconds that the fit must be expected to take, all in all, before anything is shown
    """

    def __init__(self, name: str, worth: float) -> None:
        self.name, self.worth = name, worth
        self.begun = False

    def look(self, pace: Pace, elapsed: float, now: float) -> None:
        """Show what is to be shown; called about ten times a second."""
        self.begun = self.begun or elapsed + pace.left(now) > self.worth
        if self.begun:
            self.show(pace, now)

    @abstractmethod
    def show(self, pace: Pace, now: float) -> None:
        """Show the part that is done and the time left."""

    @abstractmethod
    def close(self, ending: str | None, whole: bool = False) -> None:
        """The fit is over; the ending says how, and is None where an error says more; `whole` if all was done."""


class Lines(Display):
    """A line at the start, then at growing intervals: "KernelRidge: pass 34 %, 12 s left"."""

    def __init__(self, name: str, worth: float, stream: TextIO) -> None:
        super().__init__(name, worth)
        self.stream = stream
        self._pause, self._next = FIRST_INTERVAL_SECONDS, -math.inf

    def show(self, pace: Pace, now: float) -> None:
        if now < self._next:
            return
        self._next, self._pause = now + self._pause, min(2 * self._pause, MAX_INTERVAL_SECONDS)
        self._write(f"{pace.name} {round(100 * pace.fraction())} %, {duration(pace.left(now))} left")

    def close(self, ending: str | None, whole: bool = False) -> None:
        if ending is not None and self.begun:
            self._write(ending)

    def _write(self, text: str) -> None:
        self.stream.write(f"{self.name}: {text}\n")
        self.stream.flush()


class Bar(Display):
    """A bar of Rich, which is imported when it is first shown."""

    def __init__(self, name: str, worth: float) -> None:
        super().__init__(name, worth)
        self._bar: Any = None
        self._task: Any = None

    def show(self, pace: Pace, now: float) -> None:
        if self._bar is None:
            self._start()
        left = f"{duration(pace.left(now))} left"
        self._bar.update(self._task, completed=pace.fraction(), description=f"{self.name}: {pace.name}", left=left)
        self._bar.refresh()

    def _start(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

        texts = TextColumn("{task.description}", markup=False), TextColumn("{task.fields[left]}", markup=False)
        columns = (texts[0], BarColumn(), TaskProgressColumn(), texts[1])
        self._bar = Progress(*columns, console=Console(stderr=True), auto_refresh=False)
        self._task = self._bar.add_task(self.name, total=1.0, left="")
        self._bar.start()

    def close(self, ending: str | None, whole: bool = False) -> None:
        if self._bar is None:
            return
        if ending is not None:
            self._bar.update(self._task, description=self.name, left=ending, completed=1.0 if whole else None)
        self._bar.stop()


def display_of(name: str, verbose: bool | str, others: bool) -> Display | None:
    """The display of a fit, or None; `others` says that callbacks watch it too, and "auto" leaves it to them."""
    seen = verbose if isinstance(verbose, bool) else not others and _alone() and _terminal()
    if not seen or sys.stderr is None:
        return None
    worth = 0.0 if isinstance(verbose, bool) else MIN_SHOWN_SECONDS
    bar = _terminal() and find_spec("rich") is not None
    return Bar(name, worth) if bar else Lines(name, worth, sys.stderr)


def _terminal() -> bool:
    """Whether somebody looks: standard error is a terminal, or this is a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell" or (sys.stderr is not None and sys.stderr.isatty())


def _alone() -> bool:
    """Whether this is no worker of a search, many of which would write over each other."""
    here = threading.current_thread() is threading.main_thread()
    return here and multiprocessing.current_process().name == "MainProcess"
