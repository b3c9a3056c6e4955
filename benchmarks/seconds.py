"""Times that remember their turns: the best counts, and all of them say how far to trust it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

Turns = dict[str, list[float]]


class Seconds(float):
    """The best of several times, which knows the others: a number wherever one is wanted."""

    every: tuple[float, ...]

    def __new__(cls, best: float, every: Iterable[float] = ()) -> Self:
        """A time of its own, where there are no others."""
        made = super().__new__(cls, best)
        made.every = tuple(every) or (float(best),)
        return made

    @classmethod
    def best_of(cls, *times: float) -> Self:
        """The best of times, each of which may itself be the best of several."""
        every = [one for each in times for one in every_turn(each)]
        return cls(min(every), every)


def every_turn(time: Any) -> list[float]:
    """All turns of a time; one where it knows no others, none where there is no time."""
    if time is None:
        return []
    return list(getattr(time, "every", (float(time),)))


def turns(ours: Any, theirs: Any) -> Turns:
    """For JSON: the turns of both sides."""
    return {"ours": every_turn(ours), "theirs": every_turn(theirs)}
