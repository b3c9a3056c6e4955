"""One form for every result of every benchmark: what was done how fast, how well, in how much memory; the goal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
from seconds import Turns

SCHEMA = 1
"""Grows when a field changes its meaning."""
MORE, LESS = "more", "less"
FASTER = "times faster"
PACKAGES = {
    "intelex": "scikit-learn-intelex",
    "keops": "pykeops",
    "himalaya": "himalaya",
    "gpytorch": "gpytorch",
    "libsvm": "libsvm-official",
    "thundersvm": "thundersvm-cpu",
    "grakel": "grakel",
    "tslearn": "tslearn",
}
"""Words in the name of a peer, and the package that it comes from; all others are classes of scikit-learn."""


@dataclass(frozen=True)
class Spread:
    """Several times of the same work: the best, the quartiles, and how many there were."""

    best: float
    quartiles: tuple[float, float, float]
    turns: int

    @classmethod
    def of(cls, times: Sequence[float]) -> Spread | None:
        """Of all times; None where there is none."""
        return cls(float(min(times)), quartiles(times), len(times)) if times else None


@dataclass(frozen=True)
class Line:
    """One result.

    part, table, work, peer : what was done, and by whom besides us; together they are its name
    ours, theirs : seconds
    ratio, unit, better : the measure, what it counts, and whether more or less of it is better
    spread : the quartiles of the measure, where both sides had several turns
    accuracy : what is measured, ours, theirs
    memory : megabytes at the peak, ours and theirs, each in a process of its own
    goal, met : None where none was set
    failed : why there is no result
    """

    part: str
    table: str
    work: str
    peer: str = ""
    ours: Spread | None = None
    theirs: Spread | None = None
    ratio: float | None = None
    unit: str = FASTER
    better: str = MORE
    spread: tuple[float, float, float] | None = None
    accuracy: tuple[str, float | None, float | None] | None = None
    memory: tuple[float | None, float | None] | None = None
    goal: float | None = None
    met: bool | None = None
    failed: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        for name in ("spread", "accuracy", "memory"):  # JSON has lists only
            value = getattr(self, name)
            object.__setattr__(self, name, None if value is None else tuple(value))

    @property
    def key(self) -> tuple[str, str, str, str]:
        """The same in two runs."""
        return self.part, self.table, self.work, self.peer

    def record(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)

    @classmethod
    def read(cls, record: dict[str, Any]) -> Line:
        """From JSON."""
        known = {field.name: record[field.name] for field in fields(cls) if field.name in record}
        for name in ("ours", "theirs"):
            known[name] = _spread(known.get(name))
        return cls(**known)


@dataclass(frozen=True)
class Run:
    """The lines of one record, found by words."""

    lines: tuple[Line, ...]

    @classmethod
    def read(cls, record: dict[str, Any]) -> Run:
        """From JSON."""
        return cls(tuple(Line.read(row) for row in record["rows"]))

    def all(self, part: str, *words: str, peer: str | None = None, without: str = "") -> list[Line]:
        """Lines with these words in table or work, and this peer where one is named; at least one."""
        found = [
            line
            for line in self.lines
            if line.part == part
            and all(word in f"{line.table}: {line.work}" for word in words)
            and (peer is None or line.peer == peer)
            and not (without and without in line.work)
        ]
        if not found:
            raise LookupError(f"no line of {part} has {words} and the peer {peer}")
        return found

    def one(self, part: str, *words: str, peer: str | None = None, without: str = "") -> Line:
        """The only line like this."""
        found = self.all(part, *words, peer=peer, without=without)
        if len(found) > 1:
            raise LookupError(f"{len(found)} lines of {part} have {words} and the peer {peer}")
        return found[0]


def stopped(line: Line) -> bool:
    """Whether the other was stopped, so that the ratio is at least what is written."""
    return "stopped" in line.note or "cut off" in line.note


def package_of(peer: str) -> str:
    """The package of whom a line is compared with."""
    return next((package for word, package in PACKAGES.items() if word in peer.lower()), "scikit-learn")


def _spread(record: dict[str, Any] | None) -> Spread | None:
    return None if record is None else Spread(record["best"], tuple(record["quartiles"]), record["turns"])


def quartiles(values: Sequence[float]) -> tuple[float, float, float]:
    """The first, the middle and the third."""
    low, middle, high = np.quantile(np.asarray(values, dtype=float), [0.25, 0.5, 0.75])
    return float(low), float(middle), float(high)


def ratios(turns: Turns, inverse: bool = False) -> tuple[float, float, float] | None:
    """The quartiles of theirs / ours, turn by turn; of all pairs where one side had more turns.

    Turns that stand beside each other saw the same machine, so that their ratios vary less than the times do.
    """
    ours, theirs = np.asarray(turns["ours"]), np.asarray(turns["theirs"])
    if min(len(ours), len(theirs)) < 2:  # one turn has no spread
        return None
    found = theirs / ours if len(ours) == len(theirs) else (theirs[:, None] / ours).ravel()
    return quartiles(1 / found if inverse else found)
