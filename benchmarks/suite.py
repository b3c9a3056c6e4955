"""All benchmarks as one run, with one record: every part, every peer, the machine and all versions.

    python benchmarks/suite.py [--quick] [--data FOLDER] [--only PART ...] [--json PATH] [--logs FOLDER] [--page]

Each part is a script of its own, runs in a process of its own, and writes what it says to a log. In it, those that are
compared take turns, and memory is that of a process for each side. A part or a peer that fails is in the record, with
the reason. --quick takes small sizes, and less than five minutes on two cores; the whole takes hours. With --only the
other parts stay in the record as they are. --page writes the page of the documentation from the record, and
fills the others with its figures.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lines import SCHEMA, Line
from peers import Peer, examined, known
from readers import READERS
from report import machine, version_of

HERE = Path(__file__).resolve().parent
DATA = HERE.parent.parent / "shared" / "data"
RESULTS, LOGS = HERE / "results", HERE.parent / "build" / "bench"
SMALL_TABLES = ("yacht", "german_credit")
TABLES = (
    *SMALL_TABLES, "housing", "concrete", "airfoil", "energy", "elevators", "california_housing", "mushrooms",
    "spambase", "adult",
)  # fmt: skip
QUICKLY, WHOLE = 120.0, 7_200.0
"""Seconds that a part may take."""
SHOWN = 300
"""Letters of a reason."""


@dataclass(frozen=True)
class Part:
    """One script: its arguments in a whole run and in a quick one, and whether it needs tables that come from outside.

    quick : a quick run leaves it out where this is None
    enough : those of a quick run where there are tables, and other parts meet the same peers
    """

    name: str
    whole: tuple[str, ...] = ()
    quick: tuple[str, ...] | None = ("--quick",)
    data: str = ""
    enough: tuple[str, ...] | None = None

    def command(self, options: argparse.Namespace, record: Path) -> list[str]:
        """What is run."""
        given = self.whole
        if options.quick:
            given = self.enough if self.enough and options.data.is_dir() else self.quick or ()
        where = [self.data.lstrip("?"), str(options.data)] if self.data and options.data.is_dir() else []
        return [sys.executable, str(HERE / f"{self.name}.py"), *given, *where, "--json", str(record)]


REQUIRED, IF_THERE = "--data", "?--data"
"""How a part is told of tables: it cannot do without, or draws its own rows."""
PARTS = (
    Part("kernels"),
    Part("gram", quick=("--quick", "--only", "products")),
    Part("lifts", data=IF_THERE, quick=("--quick", "--only", "fourier")),
    Part("ridge", quick=("--quick", "--only", "path")),
    Part("small", quick=("--quick", "--only", "fits")),
    Part("processes", data=IF_THERE),
    Part("series"),
    Part("relevance", ("--repeats", "1"), quick=None, data=REQUIRED),
    Part("scale", ("--repeats", "2"), ("--quick", "--only", "exact", "--repeats", "1"), data=REQUIRED),
    Part("grid", data=IF_THERE),
    Part("margins", ("--repeats", "2"), ("--quick", "--only", "exact", "--repeats", "1"), data=REQUIRED),
    Part("unsupervised", quick=("--quick", "--only", "clusters"), data=REQUIRED),
    Part("structured", ("--repeats", "2"), quick=("--quick", "--only", "weisfeiler_lehman"), data=REQUIRED),
    Part("growth", enough=("--quick", "--only", "ridge regression")),
    Part("truth"),
    Part("plans", ("--cases", "30"), quick=None),
    Part("watching", ("--interrupts", "4"), quick=None),
    Part("levels", ("--repeats", "50"), ("--quick", "--only", "levels", "--repeats", "5", "--data", "n = 100")),
    Part("defaults", ("--rows", "2000"), None, data=REQUIRED),
    Part("curves", quick=None, data=REQUIRED),
    Part("tool", TABLES, SMALL_TABLES[:1], data=REQUIRED),
)


@dataclass(frozen=True)
class Done:
    """How a part went: its seconds, those of all processors together, why it failed or was left out, when and where."""

    part: str
    seconds: float
    cpu: float = 0.0
    trouble: str = ""
    date: str = ""
    processor: str = ""


def run(part: Part, options: argparse.Namespace) -> tuple[Done, list[Line]]:
    """A part from its start to its lines."""
    why_not = _left_out(part, options)
    if why_not:
        return Done(part.name, 0.0, trouble=why_not), []
    record, log = options.logs / f"{part.name}.json", options.logs / f"{part.name}.log"
    record.unlink(missing_ok=True)
    start, busy = time.perf_counter(), _busy()
    trouble = _called(part.command(options, record), log, QUICKLY if options.quick else WHOLE)
    lines = list(READERS[part.name](json.loads(record.read_text()))) if record.exists() else []
    took, used, where = time.perf_counter() - start, _busy() - busy, str(machine()["processor"])
    return Done(part.name, took, used, trouble, time.strftime("%Y-%m-%d"), where), lines


def _busy() -> float:
    """Seconds of processors that all processes of parts took so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _left_out(part: Part, options: argparse.Namespace) -> str:
    if options.quick and part.quick is None:
        return "left out of quick runs"
    if part.data == REQUIRED and not options.data.is_dir():
        return f"left out: it needs a folder of tables (--data), and {options.data.name!r} is none"
    return ""


def _called(command: list[str], log: Path, seconds: float) -> str:
    """Run, with all that is said in the log; the reason where it failed, else nothing."""
    with log.open("w") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, start_new_session=True)  # noqa: S603
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            return f"stopped after {seconds:.0f} s"
        finally:  # a part leaves nobody behind, however it ended
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    if process.returncode == 0:
        return ""
    said = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    return f"exit code {process.returncode}: {said[-1][:SHOWN] if said else 'it said nothing'}"


def crashed(done: Done) -> bool:
    """Whether a part ended otherwise than it should have; one that was left out did not."""
    return bool(done.trouble) and not done.trouble.startswith("left out")


def about() -> dict[str, Any]:
    """The machine, and the versions of all that ran. Its load is left out: that of a part is left by the one before."""
    extra = {name: version_of(name) for name in ("torch", "pandas", "pyarrow", "matplotlib")}
    here = {what: found for what, found in machine().items() if what != "load before"}
    return here | extra | {"threads": os.environ.get("OMP_NUM_THREADS", "as they come")}


@dataclass
class Results:
    """The record, which is written after each part."""

    path: Path
    quick: bool
    machine: dict[str, Any]
    peers: list[Peer]
    parts: dict[str, dict[str, Any]]
    rows: list[Line]
    growth: dict[str, Any]

    @classmethod
    def begun(cls, path: Path, quick: bool, again: bool) -> Results:
        """A new record; with `again` one that keeps what other parts left in it."""
        old = json.loads(path.read_text()) if again and path.exists() else {}
        rows = [Line.read(row) for row in old.get("rows", [])]
        before = {peer["name"]: Peer(**peer) for peer in old.get("peers", [])}  # parts that stay met those that worked
        peers = [before.get(peer.name, peer) if peer.trouble else peer for peer in examined(*known())]
        return cls(path, quick, about(), peers, old.get("parts", {}), rows, old.get("growth", {}))

    def add(self, done: Done, lines: list[Line], logs: Path) -> None:
        """What a part found, in place of what it found before."""
        self.rows = [line for line in self.rows if line.part != done.part] + lines
        self.parts[done.part] = asdict(done)
        if done.part == "growth" and (logs / "growth.json").exists():
            self.growth = json.loads((logs / "growth.json").read_text())
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(json.dumps(self.record(), indent=1) + "\n")

    def record(self) -> dict[str, Any]:
        """For JSON, in the order of the parts, whenever they ran."""
        order = {part.name: place for place, part in enumerate(PARTS)}
        parts = {name: self.parts[name] for name in sorted(self.parts, key=order.__getitem__)}
        rows = [line.record() for line in sorted(self.rows, key=lambda line: order[line.part])]
        return {
            "schema": SCHEMA, "date": time.strftime("%Y-%m-%d"), "quick": self.quick, "machine": self.machine,
            "peers": [asdict(peer) for peer in self.peers], "parts": parts, "rows": rows, "growth": self.growth,
        }  # fmt: skip


def asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes, less than five minutes")
    parser.add_argument("--data", type=Path, default=DATA, help="a folder of Parquet files")
    parser.add_argument("--only", nargs="+", choices=[part.name for part in PARTS], help="some parts")
    parser.add_argument("--json", type=Path, help="where the record goes")
    parser.add_argument("--logs", type=Path, default=LOGS, help="where parts say what they do")
    parser.add_argument(
        "--page", action="store_true", help="write docs/benchmarks.md and its pictures, and fill other pages"
    )
    options = parser.parse_args()
    options.json = options.json or RESULTS / f"suite{'-quick' * options.quick}.json"
    options.logs.mkdir(parents=True, exist_ok=True)
    options.data, options.logs = options.data.resolve(), options.logs.resolve()
    return options


def main() -> int:
    options, start = asked(), time.perf_counter()
    results = Results.begun(options.json, options.quick, again=bool(options.only))
    for peer in results.peers:
        print(f"{peer.name} {peer.version}: {peer.trouble or 'works'}", flush=True)
    lost = []
    for part in PARTS:
        if options.only and part.name not in options.only:
            continue
        done, lines = run(part, options)
        results.add(done, lines, options.logs)
        lost += [done.part] if crashed(done) else []
        spent = f"{done.seconds:.0f} s ({done.cpu:.0f} s of processors)"
        print(f"{part.name}: {spent}, {_counted(lines)}{done.trouble}", flush=True)
    if options.page:
        from figures import fill
        from page import write

        write(json.loads(options.json.read_text()), options.json.name)
        fill(options.json)
    print(f"{time.perf_counter() - start:.0f} s; the record is {options.json}")
    return int(bool(lost))


def _counted(lines: list[Line]) -> str:
    goals = [line for line in lines if line.met is not None]
    failed = sum(bool(line.failed) for line in lines)
    met = f", {sum(bool(line.met) for line in goals)} of {len(goals)} goals met" if goals else ""
    return f"{len(lines)} results{met}{f', {failed} failed' * bool(failed)}. " if lines else ""


if __name__ == "__main__":
    sys.exit(main())
