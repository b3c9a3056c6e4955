"""The tests on a graphics card, file by file: `python benchmarks/gpu_tests.py`, or `make gpu-test`.

Laws and generated code (tests/backends, tests/testing/test_backend.py), and the learners' own files with
`--backend cuda`. Each file is a process of its own, some at a time, that is ended after its limit; those that take
longest begin, in parts. The log has counts by file, every failure, why tests were left out, the card and the versions.

Nothing but pytest and the standard library is needed here. A file that imports a package which is not installed is
left out, with that as its reason.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import date
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOG = ROOT / "benchmarks" / "results" / "gpu-test.log"
LAWS = ("tests/backends", "tests/testing/test_backend.py")
"""What chooses its backends itself."""
LEARNERS = ("tests/learners",)
"""What is run with `--backend`."""
PARTS = {
    "test_cuda_card": 6, "test_cuda_interpreted": 3, "test_following": 2, "test_resuming": 2,
    "test_svm_on_landmarks": 2, "test_kernel_kmeans": 2,
}  # fmt: skip
"""Files that take long: they begin first, in so many parts."""
PROCESSES = 8
LIMIT = 300.0
"""Seconds of a file, or of a part."""
TOTAL = 560.0
"""Seconds of all."""
OUTCOME = re.compile(r"^(\S.*?::.*?) (PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)\b")
STARTED = re.compile(r"^(\S+\.py::.*\S)\s*$")
TOLD = re.compile(r"^(FAILED|ERROR) (.*)$")
LEFT_OUT = re.compile(r"^SKIPPED \[(\d+)\] \S+: (.*)$")
MISSING = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")
PATH = re.compile(r"(?<![\w.:/])(?:/[\w.+-]+)+/")
ABOUT = """
import platform
import numpy, scipy, sklearn, torch
from mercer.version import __version__
try:
    import triton
    code = "Triton " + triton.__version__
except ImportError:
    code = "no Triton"
card = torch.cuda.get_device_name(0) if torch.cuda.is_available() else "no card"
print(f"{card}; Mercer {__version__}, PyTorch {torch.__version__}, {code}, NumPy {numpy.__version__}, "
      f"SciPy {scipy.__version__}, scikit-learn {sklearn.__version__}")
"""


@dataclass(frozen=True)
class Outcome:
    """What became of a file.

    counts : passed, failed, error, skipped, xfailed, xpassed
    failures : a line for each
    left_out : reasons, with how many tests each left out
    ended : why it was ended early, or not begun; "" where it was not
    """

    file: str
    seconds: float
    counts: Counter[str] = field(default_factory=Counter)
    failures: tuple[str, ...] = ()
    left_out: Counter[str] = field(default_factory=Counter)
    ended: str = ""

    @property
    def good(self) -> bool:
        """Whether nothing failed, and all tests had their turn."""
        return not (self.ended or self.failures or self.counts["failed"] or self.counts["error"])

    def line(self) -> str:
        """Of the log."""
        told = ", ".join(f"{count} {name}" for name, count in self.counts.items()) or "nothing ran"
        return f"{'ok  ' if self.good else 'FAIL'} {self.file}: {told} in {self.seconds:.0f} s"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the files, write the log, and return 0 where all is well."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", help="files or folders; all by default")
    parser.add_argument("--backend", default="cuda", help="of the learners' tests: cuda, cuda:1, torch")
    parser.add_argument("--processes", type=int, default=PROCESSES)
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds of a file")
    parser.add_argument("--total", type=float, default=TOTAL, help="seconds of all: files after it are not begun")
    parser.add_argument("--quick", action="store_true", help="leave out tests that are marked slow")
    parser.add_argument("--log", type=Path, default=LOG)
    asked = parser.parse_args(arguments)
    files, end, start = ordered(asked.files), time.monotonic() + asked.total, time.monotonic()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(asked.processes) as pool:
        environment = surroundings(Path(folder), asked.backend)
        about = told_by(ABOUT, environment)
        waiting = [
            pool.submit(run, name, command(file, part, asked.backend, asked.quick), environment, asked.limit, end)
            for name, file, part in parted(files)
        ]
        found = []
        for each in waiting:
            found.append(each.result())
            print(found[-1].line(), *found[-1].failures, sep="\n  ", flush=True)
    text = report(found, about, asked.backend, time.monotonic() - start)
    asked.log.parent.mkdir(parents=True, exist_ok=True)
    asked.log.write_text(text, encoding="utf-8")
    print(text[: text.index("\n\n")])
    return 0 if all(each.good for each in found) and any(each.counts["passed"] for each in found) else 1


# -- what runs --------------------------------------------------------------------------------------------------------


def ordered(given: Sequence[str]) -> list[str]:
    """The files of tests, those first that take long."""
    files: list[str] = []
    for name in given or (*LAWS, *LEARNERS):
        place = ROOT / name
        found = sorted(place.rglob("test_*.py")) if place.is_dir() else [place]
        files += [file.relative_to(ROOT).as_posix() for file in found]
    return sorted(dict.fromkeys(files), key=lambda file: Path(file).stem not in PARTS)


def parted(files: Sequence[str]) -> list[tuple[str, str, str]]:
    """What is run: its name in the log, the file, and which part of it, as pytest is told."""
    found = []
    for file in files:
        count = PARTS.get(Path(file).stem, 1)
        parts = [f"{k + 1}/{count}" for k in range(count)]
        found += [(f"{file} {part}" if count > 1 else file, file, part) for part in parts]
    return found


def command(file: str, part: str, backend: str, quick: bool) -> list[str]:
    """How a file is run: one line for each test before it begins, and its outcome after it."""
    own = [] if file.startswith(LAWS) else [f"--backend={backend}"]
    own += [] if part == "1/1" else [f"--part={part}"]
    marked = ["-m", "not slow"] if quick else []
    settings = ["-v", "-rfEs", "--tb=line", "-p", "no:cacheprovider", "--color=no"]
    return [sys.executable, "-m", "pytest", *settings, *own, *marked, file]


def surroundings(folder: Path, backend: str) -> dict[str, str]:
    """The environment of the tests: one cache of compiled code for all of them, a few threads each."""
    threads = str(max(1, (os.cpu_count() or 1) // PROCESSES))
    device = {"cuda": "cuda:0", "torch": "cpu"}.get(backend, backend)
    given = {"MERCER_CACHE_DIR": str(folder), "OMP_NUM_THREADS": threads, "COLUMNS": "400", "PYTHONUNBUFFERED": "1"}
    return {**given, **os.environ, "PYTHONPATH": str(ROOT / "src"), "MERCER_TEST_DEVICE": device}


def run(file: str, words: Sequence[str], environment: dict[str, str], limit: float, end: float) -> Outcome:
    """Run a file until it ends, or its limit does."""
    start = time.monotonic()
    if start >= end:
        return Outcome(file, 0.0, ended="not begun: the time of all files was over")
    seconds = min(limit, end - start)
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(  # noqa: S603
            words, cwd=ROOT, env=environment, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            process.wait(seconds)
            late = False
        except subprocess.TimeoutExpired:
            late = True
            os.killpg(process.pid, signal.SIGKILL)  # with what it started: a card's call hears no other signal
            process.wait()
        output.seek(0)
        text = output.read().decode(errors="replace")
    took = time.monotonic() - start
    return read(file, text, took, process.returncode, f"ended after {seconds:.0f} s" if late else "")


def told_by(code: str, environment: dict[str, str]) -> str:
    """What a piece of Python prints, on one line."""
    words = [sys.executable, "-c", code]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
    return done.stdout.strip() or f"unknown: {done.stderr.strip().splitlines()[-1:]}"


# -- what is read of it -----------------------------------------------------------------------------------------------


def read(file: str, text: str, seconds: float, status: int, ended: str) -> Outcome:
    """What the output of a file says."""
    lines = text.splitlines()
    missing = MISSING.search(text)
    if status != 0 and missing and not any(map(OUTCOME.match, lines)) and is_absent(missing[1]):
        return Outcome(file, seconds, left_out=Counter({f"{file}: {missing[1]} is not installed": 1}))
    counts: Counter[str] = Counter()
    last = ""
    for line in lines:
        done = OUTCOME.match(line)
        if done:
            counts[NAMES[done[2]]] += 1
        last = "" if done else (begun[1] if (begun := STARTED.match(line)) else last)
    failures = [f"{found[1]} {plain(found[2])}" for found in map(TOLD.match, lines) if found]
    left_out: Counter[str] = Counter()
    for found in filter(None, map(LEFT_OUT.match, lines)):
        left_out[plain(found[2])] += int(found[1])
    if ended:
        failures += [plain(line) for line in lines if OUTCOME.match(line) and " FAILED" in line]
        ended += f", in {last}" if last else ""
    elif status not in ENDS and not failures:
        ended = f"ended with status {status}" + (f", in {last}" if last else "")
    return Outcome(file, seconds, counts, tuple(failures + ([f"ENDED {ended}"] if ended else [])), left_out, ended)


NAMES = {
    "PASSED": "passed", "FAILED": "failed", "ERROR": "error", "SKIPPED": "skipped", "XFAIL": "xfailed",
    "XPASS": "xpassed",
}  # fmt: skip
ENDS = (0, 1, 5)
"""All passed, some failed, no test was left to run."""


def is_absent(module: str) -> bool:
    """Whether a package is not installed."""
    return find_spec(module.partition(".")[0]) is None


def plain(text: str) -> str:
    """A line without the folders of a machine."""
    return PATH.sub("", text.replace(f"{ROOT}/", "")).strip()


def report(found: Sequence[Outcome], about: str, backend: str, seconds: float) -> str:
    """The log."""
    total: Counter[str] = sum((each.counts for each in found), Counter())
    left_out: Counter[str] = sum((each.left_out for each in found), Counter())
    counted = ", ".join(f"{total[name]} {name}" for name in NAMES.values() if total[name]) or "nothing ran"
    bad = [each for each in found if not each.good]
    head = [
        f"Tests on a card, {date.today().isoformat()}: {counted}; {len(found)} files and parts, {len(bad)} not passed",
        f"{about}, Python {platform.python_version()}; learners with --backend {backend}; {seconds:.0f} s",
    ]
    parts = ["\n".join(head)]
    if bad:
        parts.append(
            "\n".join(["Not passed", *(f"  {line}" for each in bad for line in (each.line(), *each.failures))])
        )
    if left_out:
        reasons = (f"  {count}: {reason}" for reason, count in left_out.most_common())
        parts.append("\n".join(["Left out", *reasons]))
    parts.append("\n".join(["Files", *(f"  {each.line()}" for each in sorted(found, key=lambda each: each.file))]))
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    sys.exit(main())
