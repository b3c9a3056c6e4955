"""Do the tests notice when the code is wrong? Mutants of the code, each against the tests that reach its line.

    python benchmarks/code_mutants.py solvers --count 150
    python benchmarks/code_mutants.py --control solvers

The tests of an area are collected once. A first child process runs them all and writes down which lines each one
reaches, and for how long it runs. Then every mutant gets a child of its own, in which the functions of the changed file
get the changed code, and the tests that reach the line run, quickest first, until one fails. A mutant that no test
notices has survived, and so has one on a line that no test reaches. With `--control` nothing is changed, so that
everything must survive: it shows that what kills mutants is the change. What runs while modules are imported, as the
tables of the loader do, is out of reach, and counts as survived. Needs `coverage`, and a system that can fork.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import resource
import signal
import sys
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest
from code_changes import Change, changes

ROOT = Path(__file__).resolve().parents[1]
AREAS: dict[str, tuple[list[str], list[str]]] = {
    "kernels": (
        [
            "kernels/*.py",
            "kernels/radial/*.py",
            "kernels/dot/*.py",
            "kernels/coordinate/*.py",
            "kernels/algebra/*.py",
            "kernels/evaluation/*.py",
            "kernels/precision/*.py",
        ],
        ["tests/kernels/test_*.py", "tests/kernels/proof", "tests/html/test_html_kernels.py", "src/mercer/kernels"],
    ),
    "proof": (
        ["kernels/proof/*.py"],
        ["tests/kernels/proof", "tests/html/test_html_kernels.py", "src/mercer/kernels/proof"],
    ),
    "solvers": (
        ["solvers/*/*.py"],
        [
            "tests/solvers",
            "tests/learners/perceptron",
            "tests/learners/ridge/test_rounding.py",
            "src/mercer/solvers",
        ],
    ),
    "loader": (["models/*.py"], ["tests/models/test_model_*.py"]),
}
"""Of each area the files that are changed, and the tests that should notice."""
HOW = ["-o", "addopts=--doctest-modules", "-p", "no:terminal", "-p", "no:cacheprovider", "-p", "no:xdist"]
SLOWEST = 8.0
"""Seconds of a test above which it is not asked."""
MEMORY = 8 << 30
KILLED, SURVIVED, LATE, UNREACHED = "killed", "survived", "late", "not reached"
Lines = dict[str, dict[int, list[str]]]


@dataclass(frozen=True)
class Record:
    """What the tests of an area do when nothing is changed.

    seconds : by test, of those that pass
    lines : by file and line, the tests that reach it
    """

    seconds: dict[str, float]
    lines: Lines

    def tests(self, change: Change, budget: float) -> list[str]:
        """The tests that reach a change, quickest first: as many as end within the budget, and at least three."""
        known = self.lines.get(str(change.path.relative_to(ROOT)), {})
        at = [change.line] if change.line in known else range(change.first, change.last + 1)
        found = {test for line in at for test in known.get(line, []) if self.seconds.get(test, SLOWEST) < SLOWEST}
        spent, chosen = 0.0, list[str]()
        for test in sorted(found, key=lambda test: (self.seconds[test], test)):
            spent += self.seconds[test]
            if spent > budget and len(chosen) >= 3:
                break
            chosen.append(test)
        return chosen


class Judge:
    """A plugin of pytest that runs mutants where pytest would run the tests."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.failed = False
        self.results: list[tuple[Change, str]] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        """A failure need not be made small: that it fails is enough."""
        from hypothesis import Phase, settings  # pytest wants to be the first to import it

        settings.register_profile("mutants", settings(), phases=[Phase.explicit, Phase.generate], database=None)
        settings.load_profile("mutants")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.failed |= bool(report.failed)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items = {item.nodeid: item for item in session.items}
        record = self._record(items)
        functions = _functions()
        gc.freeze()
        chosen = _sample(self.options)
        for number, change in enumerate(chosen):
            verdict = self._judged(change, record, items, functions)
            self.results.append((change, verdict))
            _tell(number, len(chosen), change, verdict)
        return True

    def _record(self, items: dict[str, pytest.Item]) -> Record:
        path = Path(self.options.record)
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            _in_child(lambda: _write_record(self, items, path), limit=3600.0)
        kept = json.loads(path.read_text(encoding="utf-8"))
        lines = {file: {int(line): tests for line, tests in known.items()} for file, known in kept["lines"].items()}
        return Record({test: seconds for test, seconds in kept["seconds"].items() if test in items}, lines)

    def _judged(self, change: Change, record: Record, items: dict[str, pytest.Item], functions: Any) -> str:
        names = record.tests(change, self.options.budget)
        if not names:
            return UNREACHED
        expected = sum(record.seconds[name] for name in names)

        def trial() -> bool:
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            if not self.options.control:
                _put_in_place(change.compiled(), functions)
            return all(self.passes(items[name]) for name in names)

        return _in_child(trial, limit=30.0 + 10.0 * expected)

    def passes(self, item: pytest.Item) -> bool:
        """Whether a test passes, here and now."""
        self.failed = False
        item.ihook.pytest_runtest_protocol(item=item, nextitem=None)
        return not self.failed


def _in_child(act: Any, limit: float) -> str:
    """What a forked child says: that all is well, that it is not, or nothing within the limit."""
    sys.stdout.flush()
    child = os.fork()
    if not child:
        os.setpgid(0, 0)
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        code = 1
        try:
            code = 0 if act() else 1
        finally:
            os._exit(code)
    return _waited(child, time.monotonic() + limit)


def _waited(child: int, end: float) -> str:
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return SURVIVED if status == 0 else KILLED
        time.sleep(0.005)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return LATE


def _write_record(judge: Judge, items: dict[str, pytest.Item], path: Path) -> bool:
    import coverage

    watch = coverage.Coverage(data_file=None, source=[str(ROOT / "src" / "mercer")])
    watch.start()
    seconds = {}
    for name, item in items.items():
        watch.switch_context(name)
        start = time.perf_counter()
        if judge.passes(item):
            seconds[name] = time.perf_counter() - start
    watch.stop()
    data = watch.get_data()
    lines = {str(Path(file).relative_to(ROOT)): data.contexts_by_lineno(file) for file in data.measured_files()}
    draft = path.with_suffix(".draft")
    draft.write_text(json.dumps({"seconds": seconds, "lines": lines}), encoding="utf-8")
    draft.replace(path)
    return True


def _functions() -> dict[tuple[str, str, int], list[FunctionType]]:
    """Every function that was made of the library's code, by its file, name and first line."""
    gc.unfreeze()
    found: dict[tuple[str, str, int], list[FunctionType]] = defaultdict(list)
    for each in gc.get_objects():
        if isinstance(each, FunctionType) and each.__code__.co_filename.startswith(str(ROOT / "src")):
            found[_key(each.__code__)].append(each)
    return found


def _key(code: CodeType) -> tuple[str, str, int]:
    return code.co_filename, code.co_qualname, code.co_firstlineno


def _put_in_place(code: CodeType, functions: dict[tuple[str, str, int], list[FunctionType]]) -> None:
    for below in code.co_consts:
        if isinstance(below, CodeType):
            for function in functions.get(_key(below), []):
                function.__code__ = below
            _put_in_place(below, functions)


def _sample(options: argparse.Namespace) -> list[Change]:
    patterns = AREAS[options.area][0]
    files = sorted({path for pattern in patterns for path in (ROOT / "src" / "mercer").glob(pattern)})
    every = [change for path in files for change in changes(path) if options.only in str(path)]
    random.Random(options.seed).shuffle(every)  # noqa: S311
    print(f"{options.area}: {len(files)} files, {len(every)} mutants, of which {options.count} are tried", flush=True)
    return every[: options.count]


def _tell(number: int, count: int, change: Change, verdict: str) -> None:
    if verdict != KILLED:
        where = f"{change.path.relative_to(ROOT)}:{change.line}"
        text = change.path.read_text(encoding="utf-8").splitlines()[change.line - 1].strip()
        print(f"[{number + 1}/{count}] {verdict}: {where} {change.what}: {text}", flush=True)


def _options() -> argparse.Namespace:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("area", choices=AREAS)
    asked.add_argument("--count", type=int, default=150, help="mutants that are tried, drawn at random")
    asked.add_argument("--seed", type=int, default=0)
    asked.add_argument("--only", default="", help="part of the path of the files that are changed")
    asked.add_argument("--budget", type=float, default=15.0, help="seconds of tests for each mutant")
    asked.add_argument("--control", action="store_true", help="change nothing: everything must survive")
    asked.add_argument("--record", help="where the reached lines are kept; build/mutants/AREA.json")
    options = asked.parse_args()
    options.record = options.record or ROOT / "build" / "mutants" / f"{options.area}.json"
    return options


def main() -> None:
    """One area; the score is the share of mutants that were noticed, the late ones among them."""
    options = _options()
    judge = Judge(options)
    os.chdir(ROOT)
    tests = [str(path) for pattern in AREAS[options.area][1] for path in sorted(ROOT.glob(pattern))]
    pytest.main([*HOW, *tests], plugins=[judge])
    found = [verdict for _, verdict in judge.results]
    counts = {name: found.count(name) for name in (KILLED, LATE, SURVIVED, UNREACHED)}
    noticed = counts[KILLED] + counts[LATE]
    print(f"{options.area}: {noticed} of {len(found)} noticed, {noticed / max(1, len(found)):.1%}; {counts}")


if __name__ == "__main__":
    main()
