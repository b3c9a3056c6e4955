"""Mutants of tables: none may crash, hang, take memory, or raise anything but an InputError.

    python benchmarks/fuzz_tables.py [--count 20000] [--seed 0]

CSV, gzip, Parquet, Arrow, NPY, NPZ and LIBSVM are read by pyarrow, NumPy and scikit-learn, of which some is compiled:
so mutants are read in a process of their own, with a limit on its memory, and an alarm that ends it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

from table_seeds import WAYS, write_seeds

from mercer.errors import InputError
from mercer.tables.read import read_table

SECONDS = 5
"""That a table may take."""
GROWTH = 300 << 20
"""Bytes that the process may grow by."""
ADDRESSES = 1 << 30
"""Bytes of addresses that it may ask for beyond those it has: more is a MemoryError, or a crash."""
READERS = ("pyarrow.csv", "pyarrow.feather", "pyarrow.parquet", "sklearn.datasets", "mercer.kernels")
"""What is imported before processes are forked."""
BATCH = 250
"""Mutants that are read in one process."""


@dataclass
class Report:
    """What was seen: how tables ended, by format and kind of end, and every bad end with its mutant."""

    ends: Counter[str] = field(default_factory=Counter)
    bad: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Plan:
    """Which mutants are made.

    files : the tables that they are made of
    seed : of all of them
    count : how many there are
    """

    files: tuple[Path, ...]
    seed: int
    count: int

    def mutant(self, place: int) -> tuple[Path, bytes]:
        """The file that a mutant is made of, and its bytes."""
        rng = random.Random(self.seed * 10**9 + place)  # noqa: S311  # nothing is secret
        path = self.files[place % len(self.files)]
        return path, rng.choice(WAYS[path.suffix])(path.read_bytes(), rng)


def peak() -> int:
    """Bytes that the process had at its peak."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def told(path: Path) -> str:
    """How the reading of a table ended."""
    try:
        read_table(path)
    except InputError:
        return "refused"
    except Exception as error:  # noqa: BLE001  # this is what is looked for
        return f"BAD {type(error).__name__}: {str(error)[:200]}"
    return "read"


def child(plan: Plan, places: range, out: int, folder: Path) -> None:
    """Read mutants, and tell before and after each on a pipe."""
    warnings.simplefilter("ignore")
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + ADDRESSES,) * 2)
    for place in places:
        path, content = plan.mutant(place)
        target = folder / f"mutant{''.join(path.suffixes)}"
        target.write_bytes(content)
        os.write(out, json.dumps([place, "began"]).encode() + b"\n")
        before = peak()
        signal.alarm(SECONDS)
        end = told(target)
        signal.alarm(0)
        grown = peak() - before
        end = end if grown < GROWTH else f"BAD memory of {grown >> 20} MiB, {end}"
        os.write(out, json.dumps([place, end]).encode() + b"\n")


def batch(plan: Plan, places: range, folder: Path) -> Iterator[tuple[int, str]]:
    """The ends of mutants that one process reads, until it dies; the last is then the one that killed it."""
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        try:
            child(plan, places, writing, folder)
        finally:
            os._exit(0)
    os.close(writing)
    place, end = places.start, "began"
    with open(reading, "rb") as stream:
        for line in stream:
            place, end = json.loads(line)
            if end != "began":
                yield place, end
    _, status = os.waitpid(process, 0)
    if end == "began":
        code = os.waitstatus_to_exitcode(status)
        yield place, "BAD hang" if code == -signal.SIGALRM else f"BAD crash with {code}"


def fuzz(count: int, seed: int, folder: Path) -> Report:
    """Read so many mutants. Cost: some milliseconds each."""
    seeds = folder / "seeds"
    seeds.mkdir()
    if (process := os.fork()) == 0:  # pyarrow starts threads when it writes, and a process with threads is not forked
        try:
            write_seeds(seeds)
        finally:
            os._exit(0)
    os.waitpid(process, 0)
    plan, report, at = Plan(tuple(sorted(seeds.iterdir())), seed, count), Report(), 0
    while at < count:
        for place, end in batch(plan, range(at, min(count, at + BATCH)), folder):
            name = plan.files[place % len(plan.files)].name
            report.ends[f"{''.join(Path(name).suffixes)} {end.split(':')[0]}"] += 1
            at = place + 1
            if end.startswith("BAD"):
                report.bad.append(f"{name}, seed {seed}, mutant {place}: {end}")
    return report


def main() -> None:
    parser = argparse.ArgumentParser(description="Mutants of tables.")
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    began = time.perf_counter()
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")  # others take a gigabyte of addresses in advance
    for name in READERS:
        import_module(name)
    with tempfile.TemporaryDirectory() as folder:
        report = fuzz(given.count, given.seed, Path(folder))
    for words, many in sorted(report.ends.items()):
        print(f"{many:>9,}  {words}")
    for line in report.bad[:40]:
        print(line)
    taken = time.perf_counter() - began
    print(f"{given.count:,} mutants of tables in {taken:.0f} s, {len(report.bad)} bad ends")
    sys.exit(1 if report.bad else 0)


if __name__ == "__main__":
    main()
