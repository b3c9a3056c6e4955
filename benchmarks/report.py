"""What the benchmarks share: times taken in turns, a row that knows its goal, a table, and the machine's name."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from llvmlite import binding
from seconds import Seconds, turns
from threadpoolctl import threadpool_info

FASTER, COST, MEGABYTES, SECONDS = "times faster", "times its cost", "MB", "s"
"""What a row measures: the more of the first the better, the less of the others."""
TRUSTED = {"float32": 2e-6, "float64": 1e-12}
"""The largest error with which a goal still counts as met."""
PACKAGES = ("mercer", "numpy", "scipy", "numba", "scikit-learn", "pykeops")
ABSENT = "not installed"


@dataclass(frozen=True)
class Row:
    """One comparison: seconds of ours (also with building the operator), of what it is compared with, and the goal.

    error, their_error : the largest relative error of ours and of theirs, against float64 from the definition
    memory : megabytes that ours and theirs add at their peaks, each in a process of its own
    failed : why the other has no time
    """

    work: str
    dtype: str
    ours: float
    against: str
    theirs: float | None
    measure: float
    unit: str
    goal: float | None = None
    error: float | None = None
    built: float | None = None
    memory: tuple[float, float] | None = None
    failed: str = ""
    their_error: float | None = None

    @property
    def verdict(self) -> str:
        """Whether the goal is met; no speed makes up for wrong numbers."""
        if self.failed:
            return "FAILED"
        if self.error is not None and not self.error <= TRUSTED[self.dtype]:
            return "WRONG"
        if self.goal is None:
            return ""
        return "yes" if (self.measure >= self.goal if self.unit == FASTER else self.measure <= self.goal) else "NO"

    def record(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self) | {"verdict": self.verdict, "turns": turns(self.ours, self.theirs)}

    def cells(self) -> list[str]:
        """For the table, under HEAD."""
        goal = "" if self.goal is None else f"{'>=' if self.unit == FASTER else '<='} {self.goal:g}"
        times = [_number(seconds) for seconds in (self.ours, self.built, self.theirs)]
        measure = f"{self.measure:.3g} {self.unit}"
        return [self.work, self.dtype, *times, self.against, measure, goal, self.verdict, _number(self.error, "8.0e")]


LONG = 2.0
"""Seconds of an action that two turns are enough for."""
HEAD = ["work", "dtype", "ours s", "+ build", "other s", "the other", "measure", "goal", "met", "error"]


def best_seconds(actions: Mapping[str, Callable[[], Any]], repeats: int) -> dict[str, Seconds]:
    """The best time of each action, taken in turns (A, B, A, B ...) after one turn that does not count.

    The first turn compiles, packs and warms up. An action that takes seconds has two turns that count, whatever
    `repeats` says. A result is dropped before the next action starts.
    """
    found: dict[str, list[float]] = {name: [] for name in actions}
    for turn in range(repeats + 1):
        for name, action in actions.items():
            if turn > 2 and min(found[name]) >= LONG:
                continue
            start = time.perf_counter()
            action()
            if turn:
                found[name].append(time.perf_counter() - start)
    return {name: Seconds.best_of(*times) for name, times in found.items()}


def show(title: str, rows: Iterable[Row]) -> None:
    """Print a table."""
    lines = [HEAD, *(row.cells() for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    print(f"\n{title}")
    for line in lines:
        cells = [cell.ljust(width) for cell, width in zip(line, widths, strict=True)]
        print("  ".join(["", *cells]).rstrip(), flush=True)


def machine() -> dict[str, Any]:
    """Where the numbers were taken: processor, memory, system, and the versions of everybody."""
    blas = [f"{pool['internal_api']} {pool['version']} ({pool['num_threads']} threads, {pool.get('architecture')})"
            for pool in threadpool_info() if pool["user_api"] == "blas"]  # fmt: skip
    return {
        "processor": f"{_processor()} ({binding.get_host_cpu_name()}), {os.cpu_count()} cores",
        "memory GiB": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "system": f"{platform.system()} {platform.machine()}",
        "load before": round(os.getloadavg()[0], 2),
        "BLAS": "; ".join(sorted(set(blas))),
        "python": platform.python_version(),
        **{package: version_of(package) for package in PACKAGES},
    }


def version_of(package: str) -> str:
    """A package's version; a peer may be absent."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ABSENT


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _number(value: float | None, form: str = ".4f") -> str:
    return "" if value is None else f"{value:{form}}".strip()
