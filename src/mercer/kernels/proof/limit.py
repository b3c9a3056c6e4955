"""How long a search may take."""

from __future__ import annotations

import math
import numbers
import time
from typing import Any

from mercer.errors import KernelError

DEFAULT_SECONDS = 30.0
"""How long `prove` searches by default."""


class TimeUp(Exception):  # noqa: N818  # it ends a search, as StopIteration ends a loop
    """A search has taken as long as it may."""


class Limit:
    """A time limit that starts now. Every evaluation of a kernel asks it.

    seconds : a positive number; None for no limit
    """

    def __init__(self, seconds: float | None = None) -> None:
        self.seconds = math.inf if seconds is None else float(seconds)
        self._start = time.monotonic()

    def check(self) -> None:
        """Raise `TimeUp` where the time is up."""
        if time.monotonic() - self._start > self.seconds:
            raise TimeUp


def limit_of(given: Any) -> Limit:
    """A limit of so many seconds; None for none."""
    wrong = isinstance(given, bool) or not isinstance(given, numbers.Real)
    if given is not None and (wrong or not float(given) > 0):
        raise KernelError(f"prove: time_limit must be a positive number of seconds or None, got {given!r}. Use 30.0.")
    return Limit(given)
