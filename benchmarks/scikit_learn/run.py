"""scikit-learn's own tests, run against Mercer's classes: what passes, what fails, and why it may.

    python benchmarks/scikit_learn/run.py [AREA ...] [--json PATH]

The test files are the installed ones, found by import; none is copied. Each area has a module `adapters_<area>.py` here
with

    FILES = {"sklearn.svm.tests.test_svm": {"sklearn.svm:SVC": SVC, ...}, ...}

test modules, and which public names of scikit-learn are replaced by which adapters before such a module is imported. An
adapter (see `adapter.py`) has scikit-learn's name and signature, translates parameters and documented shapes, and does
nothing else. Each test file runs in a process of its own.

A test counts if it called an adapter, or if it failed. A failure needs a line in `contracts.py` that names the test, a
part of its error, and a reason; the same reason stands in docs/how_to/from_scikit_learn.md. The exit code is 1 where a
failure has no reason, or where a test file could not be run.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import adapter  # noqa: E402
import contracts  # noqa: E402

import mercer  # noqa: E402

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"


@dataclass(frozen=True)
class Ran:
    """What came of one test: its name with parameters, whether it called an adapter, and the error of a failed one."""

    file: str
    test: str
    outcome: str
    reached: bool
    error: str = ""

    @property
    def counts(self) -> bool:
        """Whether the test says anything of Mercer."""
        return self.outcome == FAILED or (self.reached and self.outcome == PASSED)

    @property
    def reason(self) -> str | None:
        """Why it may fail; None where nobody said why."""
        return contracts.reason_of(self.file, self.test, self.error)


def areas() -> list[str]:
    """The areas that have adapters."""
    return sorted(path.stem.removeprefix("adapters_") for path in HERE.glob("adapters_*.py"))


def files_of(area: str) -> dict[str, dict[str, Any]]:
    """The test modules of an area, and what is replaced for each."""
    found: dict[str, dict[str, Any]] = importlib.import_module(f"adapters_{area}").FILES
    return found


# -- in a process of its own --------------------------------------------------------------------------------------


class Recorder:
    """A plugin of pytest that writes down what came of each test."""

    def __init__(self, file: str) -> None:
        self.file, self.ran, self.broken = file, list[Ran](), list[str]()

    def pytest_runtest_setup(self, item: Any) -> None:
        adapter.REACHED.clear()

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self.broken.append(str(report.longrepr))

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "call" or report.outcome != PASSED:
            error = str(report.longrepr) if report.outcome == FAILED else ""
            reached = bool(adapter.REACHED) or adapter.__name__ in error
            self.ran.append(Ran(self.file, report.nodeid.rsplit("::", 1)[-1], report.outcome, reached, error))


def run_file(area: str, module: str, out: Path, only: str) -> None:
    """Replace scikit-learn's classes, run one test module, or those of its tests that `only` names, and write all."""
    import pytest

    for place, replacement in files_of(area)[module].items():
        owner, name = place.split(":")
        setattr(importlib.import_module(owner), name, replacement)
    recorder = Recorder(module.rsplit(".", 1)[-1])
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:randomly", "-c", os.devnull, "--rootdir", str(out.parent)]
    # One line of an error is enough for a contract; all of it costs more than the tests.
    options += ["--tb=line", "--no-header", "--no-summary", "-k", only]
    pytest.main([*options, "--pyargs", module], plugins=[recorder])
    out.write_text(json.dumps({"ran": [asdict(one) for one in recorder.ran], "broken": recorder.broken}))


# -- all of them --------------------------------------------------------------------------------------------------


def run(area: str, module: str, only: str = "") -> tuple[list[Ran], list[str]]:
    """What came of each test of a module, and what could not be collected; `only` is what -k of pytest takes."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "ran.json"
        command = [sys.executable, str(Path(__file__).resolve()), "--one", area, module, str(out), only]
        # The same Mercer as here, whatever a relative path in the environment means there.
        known = {**os.environ, "PYTHONPATH": str(Path(mercer.__file__).parents[1])}
        done = subprocess.run(command, cwd=folder, env=known, capture_output=True, text=True, check=False)  # noqa: S603
        if not out.exists():
            return [], [f"{module} did not run:\n{done.stdout[-2000:]}{done.stderr[-2000:]}"]
        found = json.loads(out.read_text())
    return [Ran(**one) for one in found["ran"]], found["broken"]


def table(ran: list[Ran]) -> str:
    """One line for each test file: tests that count, and of the failed ones those with a reason and those without."""
    lines = [f"{'file':30}{'tests':>7}{'count':>7}{'pass':>7}{'contract':>10}{'no reason':>11}"]
    for file in sorted({one.file for one in ran}):
        own = [one for one in ran if one.file == file]
        counted = [one for one in own if one.counts]
        failed = [one for one in counted if one.outcome == FAILED]
        known = sum(one.reason is not None for one in failed)
        numbers = f"{len(own):7}{len(counted):7}{len(counted) - len(failed):7}{known:10}{len(failed) - known:11}"
        lines.append(f"{file:30}{numbers}")
    return "\n".join(lines)


def report(ran: list[Ran], broken: list[str]) -> int:
    """Print the table, the reasons and what has none; the exit code."""
    print(table(ran))
    failed = [one for one in ran if one.outcome == FAILED]
    for reason, count in Counter(one.reason for one in failed if one.reason is not None).most_common():
        print(f"{count:5}  {reason}")
    bad = [one for one in failed if one.reason is None]
    for one in bad:
        print(f"no reason: {one.file}::{one.test}\n    {one.error.strip()[-400:]}")
    for message in broken:
        print(message)
    return 1 if bad or broken else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("areas", nargs="*", help=f"of {', '.join(areas())}; all where none is given")
    parser.add_argument("--json", type=Path, help="where to write what came of each test")
    parser.add_argument("--one", nargs=4, metavar=("AREA", "MODULE", "OUT", "ONLY"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        run_file(given.one[0], given.one[1], Path(given.one[2]), given.one[3])
        return 0
    ran: list[Ran] = []
    broken: list[str] = []
    for area in given.areas or areas():
        for module in files_of(area):
            found, trouble = run(area, module)
            ran += found
            broken += trouble
    if given.json:
        given.json.write_text(json.dumps([{**asdict(one), "reason": one.reason} for one in ran], indent=1))
    return report(ran, broken)


if __name__ == "__main__":
    sys.exit(main())
