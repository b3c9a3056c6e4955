"""What the parts of the benchmark of scale share: how much is computed, where, and the lines of its table."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from alone import Found
from seconds import turns

ALPHA = 0.1
"""The penalty of all models."""
GIGABYTES = 20.0
"""What scikit-learn may hold; where that is not enough, both get fewer rows."""
LIMIT = 2_000.0
"""Megabytes that the exact fits, and those from a file, may add."""
LONGEST = 7_200.0
"""Seconds that any process may take."""


@dataclass(frozen=True)
class Sizes:
    """How much is computed."""

    exact: int | None = None
    covertype: int | None = None
    compared: int = 600_000
    landmarks: tuple[int, ...] = (1_000, 2_000)
    growth: tuple[int, ...] = (10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000)
    growing: int = 500
    repeats: int = 3
    sets: tuple[str, ...] = ("kin40k", "protein")
    shapes: tuple[str, ...] = ("gaussian", "matern")


QUICK = Sizes(3_000, 20_000, 10_000, (200,), (5_000, 15_000, 50_000, 150_000), 100, 2, ("kin40k",), ("gaussian",))


@dataclass(frozen=True)
class Place:
    """Where data is found."""

    data: Path
    work: Path


@dataclass(frozen=True)
class Row:
    """One result: a measure with its goal, what it was computed from, and whether all else was as it should be.

    memory : megabytes that ours and theirs added at their peaks, each in a process of its own
    accuracy : how good results are: what is measured, ours, and theirs
    """

    work: str
    against: str
    ours: float | None
    theirs: float | None
    measure: float
    unit: str
    goal: float | None
    more_is_better: bool
    fine: bool
    note: str
    memory: tuple[float | None, float | None] | None = None
    accuracy: tuple[str, float, float | None] | None = None

    @property
    def met(self) -> str:
        """Whether the goal is reached, and the results are as good as they should be."""
        if self.goal is None:
            return ""
        reached = self.measure >= self.goal if self.more_is_better else self.measure <= self.goal
        return "yes" if reached and self.fine else "NO"

    def record(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self) | {"met": self.met, "turns": turns(self.ours, self.theirs)}

    def cells(self) -> list[str]:
        """For the table, under HEAD."""
        goal = "" if self.goal is None else f"{'>=' if self.more_is_better else '<='} {self.goal:g}"
        times = ["" if seconds is None else f"{seconds:.2f}" for seconds in (self.ours, self.theirs)]
        return [self.work, self.against, *times, f"{self.measure:.3g} {self.unit}", goal, self.met, self.note]


HEAD = ["work", "against", "ours s", "other s", "measure", "goal", "met", "note"]


def faster(work: str, against: str, best: dict[str, Found], goal: float | None, fine: bool, note: str) -> Row:
    ours, theirs, held = best["ours"]["seconds"], best[against]["seconds"], peaks(best["ours"], best[against])
    return Row(work, against, ours, theirs, theirs / ours, "times faster", goal, True, fine, note, held)


def peaks(ours: Found, theirs: Found) -> tuple[float | None, float | None]:
    """Megabytes of both sides; one that was stopped has none."""
    return ours.get("megabytes"), theirs.get("megabytes")


def both(best: dict[str, Found], against: str) -> str:
    """Seconds of processors tell whether somebody had to wait for them."""
    ours, theirs = best["ours"], best[against]
    return f"CPU {ours['cpu']:.1f} / {theirs['cpu']:.1f} s, {ours['megabytes']:.0f} / {theirs['megabytes']:.0f} MB"


def held(work: str, found: Found, goal: float | None, note: str = "") -> Row:
    return Row(f"{work}: peak memory", "", found["seconds"], None, found["megabytes"], "MB", goal, False, True, note)


def failure(work: str, against: str, why: list[str]) -> Row:
    return Row(work, against, None, None, 0.0, "", 1.0, True, False, "FAILED: " + "; ".join(why))
