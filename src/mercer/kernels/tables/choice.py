"""What is done with one column, and why."""

from __future__ import annotations

from dataclasses import dataclass

from mercer.kernels.base import Kernel

LEFT_OUT = "left out"
PLACES = ("latitude", "longitude")
GAUSSIAN = ("numbers", *PLACES, "gapped", "categories")
"""Places that share the lengthscale of the Gaussian part."""


@dataclass(frozen=True)
class Choice:
    """One column of a table and its place in a proposed kernel.

    name : its name, or its position where it has none
    taken_for : "number", "category", "date", "text", "id", "constant", ..., or "as given"
    why : the reason, in words
    place : the group in which it stands: "numbers", "latitude" or "longitude", "gapped" or "categories"; "own" where it
        has kernels of its own in the product, "added" where these are added; "left out"
    moments : the mean and the deviation of a number
    periods : of the waves of a date, in days
    kernels : those of its own
    spread : the variance of its features: 1 for a number, for labels the chance that two rows differ
    readings : kernels of its own to choose among, by what they look at; `kernels` are those of one of them
    pair : of a latitude the name of its longitude, or the other way round, and by what points of the sphere of radius 1
        are divided
    """

    name: int | str
    taken_for: str
    why: str
    place: str = LEFT_OUT
    moments: tuple[float, float] = (0.0, 1.0)
    periods: tuple[float, ...] = ()
    kernels: tuple[Kernel, ...] = ()
    spread: float = 0.0
    readings: tuple[tuple[str, tuple[Kernel, ...]], ...] = ()
    pair: tuple[int | str, float] | None = None

    @property
    def part(self) -> str:
        """Its part of the kernel, in short."""
        waves = "".join(f" * periodic, {_called(period)}" for period in self.periods)
        if self.place == "numbers":
            return f"gaussian, divided by {self.moments[1]!r}{waves}"
        if self.place in PLACES and self.pair is not None:
            return f"gaussian, on the sphere with {self.pair[0]!r}, divided by {self.pair[1]!r}"
        if self.place == "gapped":
            return f"gapped, divided by {self.moments[1]!r}"
        if self.place == "categories":
            return "hamming"
        return " + ".join(map(str, self.kernels)) or LEFT_OUT


DAY, WEEK, YEAR = 1.0, 7.0, 365.2425
NAMES = {DAY: "a day", WEEK: "a week", YEAR: "a year"}


def _called(period: float) -> str:
    return NAMES.get(period, f"{period!r} days")
