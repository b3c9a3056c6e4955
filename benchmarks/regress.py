"""What got slower between two runs of the suite, beyond the noise; ends with 1 where something did.

    python benchmarks/regress.py OLD.json NEW.json [--noise PART]

Where the same peer, in the same version, took turns with ours in both runs, ratios are compared: it saw the same
machine, and its code is the same. Otherwise seconds are, on the same processor, less what the peers say about the day.
Slower means that even the quartiles that speak for the new run say so, by more than --noise; of work that had a single
turn nobody knows the spread, and it has to be slower by a third. Memory counts from a tenth and 32 MB more, a score
from 0.005 less, and a result that is now a failure counts always.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from lines import FASTER, SCHEMA, Line, Spread, package_of

NOISE, LONE = 0.05, 0.33
"""The least slowdown that counts, of several turns and of one."""
SHORT = 0.002
"""Seconds below which times are those of the clock and of the caches."""
HEAVIER, MEGABYTES = 1.1, 32.0
WORSE, SCORES = 0.005, ("R^2", "accuracy")
"""A score counts as worse from here on; errors, which are often those of rounding, are judged by their own goals."""
OLDER = 2
"""The exit code where files cannot be compared."""


@dataclass(frozen=True)
class Change:
    """What became worse or better: by the surest of its bounds, and how it was found."""

    kind: str
    line: Line
    factor: float
    told: str

    @property
    def bad(self) -> bool:
        """Whether the run is to end with 1."""
        return self.kind != "faster"

    def __str__(self) -> str:
        line = self.line
        against = f" against {line.peer}" if line.peer else ""
        return f"{self.kind}: {line.part}, {line.work}{against}: {self.told}"


@dataclass(frozen=True)
class Run:
    """One file of results."""

    lines: dict[tuple[str, str, str, str], Line]
    machine: dict[str, Any]
    peers: dict[str, str]

    @classmethod
    def read(cls, path: Path) -> Run:
        """From JSON; another schema is refused."""
        record = json.loads(path.read_text())
        if record.get("schema") != SCHEMA:
            got = record.get("schema")
            raise ValueError(f"regress: the schema {SCHEMA} is needed; {path} has {got}. Run the suite again.")
        found = {line.key: line for line in map(Line.read, record["rows"])}
        peers = {peer["name"]: peer["version"] for peer in record.get("peers", [])}
        return cls(found, record["machine"], peers)

    def same_machine(self, other: Run) -> bool:
        """Whether seconds can be compared."""
        return self.machine.get("processor") == other.machine.get("processor")


def compared(old: Run, new: Run, noise: float = NOISE) -> Iterator[Change]:
    """All that changed, work by work."""
    same, slowness = new.same_machine(old), drift(old, new)
    for key in old.lines.keys() & new.lines.keys():
        before, after = old.lines[key], new.lines[key]
        if after.failed and not before.failed:
            yield Change("fails now", after, float("inf"), after.failed)
        elif not after.failed and not before.failed:
            found = by_ratio(before, after) if _comparable(before, old, new) else None
            if found is None and same:
                found = by_seconds(before, after, slowness)
            yield from judged(after, found, noise)
            yield from heavier(before, after)
            yield from worse(before, after)


def _comparable(line: Line, old: Run, new: Run) -> bool:
    """Whether a line has a peer, and it is of the same version in both runs."""
    package = package_of(line.peer)
    return bool(line.peer) and old.peers.get(package) == new.peers.get(package)


Bounds = tuple[float, float, bool]
"""The least and the largest slowdown that quartiles allow, and whether there was a single turn only."""


def by_ratio(before: Line, after: Line) -> Bounds | None:
    """The slowdown as the ratio of ratios; None where there are none."""
    if before.unit != FASTER or after.unit != FASTER or not before.ratio or not after.ratio or _short(before, after):
        return None
    if before.spread is None or after.spread is None:
        return before.ratio / after.ratio, before.ratio / after.ratio, True
    return before.spread[0] / after.spread[2], before.spread[2] / after.spread[0], False


def by_seconds(before: Line, after: Line, slowness: float) -> Bounds | None:
    """The slowdown of our own seconds, less that of the day."""
    one, two = before.ours, after.ours
    if one is None or two is None or _short(before, after):
        return None
    lone = min(one.turns, two.turns) < 2
    return two.quartiles[0] / one.quartiles[2] / slowness, two.quartiles[2] / one.quartiles[0] / slowness, lone


def _short(before: Line, after: Line) -> bool:
    return any(line.ours is not None and line.ours.best < SHORT for line in (before, after))


def judged(line: Line, found: Bounds | None, noise: float) -> Iterator[Change]:
    """Slower, faster, or within the noise."""
    if found is None:
        return
    least, most, lone = found
    margin = 1 + (max(noise, LONE) if lone else noise)
    if least > margin:
        yield Change("slower", line, least, f"at least {least:.2f} times{' (one turn)' * lone}")
    elif most < 1 / margin:
        yield Change("faster", line, most, f"at least {1 / most:.2f} times{' (one turn)' * lone}")


def heavier(before: Line, after: Line) -> Iterator[Change]:
    """More memory."""
    one, two = (line.memory[0] if line.memory else None for line in (before, after))
    if one is not None and two is not None and two > HEAVIER * one + MEGABYTES:
        yield Change("heavier", after, two / max(one, 1.0), f"{one:.0f} MB before, {two:.0f} MB now")


def worse(before: Line, after: Line) -> Iterator[Change]:
    """A lower score."""
    if before.accuracy is None or after.accuracy is None or after.accuracy[0] not in SCORES:
        return
    one, two = before.accuracy[1], after.accuracy[1]
    if one is not None and two is not None and two < one - WORSE:
        yield Change("worse", after, one - two, f"{after.accuracy[0]} {one:.4f} before, {two:.4f} now")


def drift(old: Run, new: Run) -> float:
    """How much slower the day was: the median over all peers whose code did not change; 1 where there are none."""
    found = []
    for key in old.lines.keys() & new.lines.keys():
        one, two = old.lines[key].theirs, new.lines[key].theirs
        if _comparable(old.lines[key], old, new) and _long(one) and _long(two) and one is not None and two is not None:
            found.append(two.best / one.best)
    return median(found) if found else 1.0


def _long(spread: Spread | None) -> bool:
    return spread is not None and spread.best >= SHORT


def report(old: Run, new: Run, changes: list[Change]) -> str:
    """For people: the worst first."""
    both = len(old.lines.keys() & new.lines.keys())
    apart = len(old.lines.keys() ^ new.lines.keys())
    lines = [f"{both} results are in both files, {apart} in one of them."]
    if not new.same_machine(old):
        lines.append("The machines differ: only ratios with peers of the same version are compared.")
    lines += [str(change) for change in sorted(changes, key=lambda each: (not each.bad, -each.factor))]
    bad = sum(change.bad for change in changes)
    return "\n".join([*lines, f"{bad} got worse, {len(changes) - bad} got faster, the rest is within the noise."])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--noise", type=float, default=NOISE, help="the least slowdown that counts")
    options = parser.parse_args()
    try:
        old, new = Run.read(options.old), Run.read(options.new)
    except ValueError as error:
        print(error)
        return OLDER
    if not old.lines.keys() & new.lines.keys():
        print("regress: the files have no result in common; compare two quick runs, or two full ones.")
        return OLDER
    changes = list(compared(old, new, options.noise))
    print(report(old, new, changes))
    return int(any(change.bad for change in changes))


if __name__ == "__main__":
    sys.exit(main())
