"""Mutants of model files: none may run code, hang, take memory, or raise anything but a ModelFileError.

    python benchmarks/fuzz_files.py [--count 1000000] [--seed 0] [--use]

Half of them are changed byte by byte, half where it matters ([mutants.py](mutants.py)). An audit hook listens while a
file is loaded, and inspected: to every event of Python but those by which it reads that one file. `--use` also asks
models that were accepted for predictions: a crash of the process would show that a position was not checked.
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import random
import resource
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from mutants import Seed, mutant

from mercer.errors import ModelFileError
from mercer.models import inspect, load
from mercer.models.safetensors import VERSIONS

GOLDEN = Path(__file__).parent.parent / "tests" / "models" / "golden" / VERSIONS[-1]
SLOWEST = 2.0
"""Seconds that a load may take."""
ROOM = 64 << 20
"""Bytes that a load may take beside twice the file."""
HANGING = 120
"""Seconds for a hundred mutants, after which the process is ended, with a traceback of where it hangs."""
QUIET = ("object.__getattr__", "object.__setattr__", "object.__delattr__", "builtins.id", "sys._getframe")
"""Events that Python raises for its own ends."""
EACH = 8
"""Of so many mutants one is inspected as well."""


@dataclass
class Report:
    """What was seen.

    outcomes : how many were refused, by the words in front, and how many accepted
    events : what the audit hook heard while a file was loaded
    strange : other exceptions, with the seed of the mutant
    slowest, slow : seconds, and the mutant that took them
    grown : bytes by which the process grew beyond what it may
    """

    outcomes: Counter[str] = field(default_factory=Counter)
    events: Counter[str] = field(default_factory=Counter)
    strange: list[str] = field(default_factory=list)
    slowest: float = 0.0
    slow: str = ""
    grown: int = 0

    @property
    def clean(self) -> bool:
        """Whether nothing happened that must not."""
        return not self.events and not self.strange and self.slowest <= SLOWEST and self.grown <= 0


class Watch:
    """An audit hook that listens while it is armed: to all but reading the one file."""

    def __init__(self, path: str) -> None:
        self.armed, self.path = False, path
        self.heard: Counter[str] = Counter()
        sys.addaudithook(self._hear)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.armed or event in QUIET:
            return
        if event == "open" and (arguments[0] == self.path or isinstance(arguments[0], int)) and _reads(arguments):
            return
        self.heard[f"{event} {str(arguments)[:80]}"] += 1


def _reads(arguments: tuple[Any, ...]) -> bool:
    return arguments[1] in (None, "r", "rb") and not arguments[2] & 3  # neither O_WRONLY nor O_RDWR


def peak() -> int:
    """Bytes that the process had at its peak."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def used(model: Any) -> None:
    """Ask a model that was accepted for its opinion on a row; it may refuse in any words, but must not crash."""
    columns = getattr(model, "n_features_in_", 1)
    if not isinstance(columns, int) or columns > 1000:
        return
    for method in ("predict", "transform", "decision_function"):
        if hasattr(model, method):
            try:
                getattr(model, method)(np.full((2, columns), 0.5))
            except Exception:  # noqa: BLE001, S112  # whatever it says
                continue


class Trial:
    """One file that is tried again and again, with all that is watched meanwhile.

    path : of the file, which is written anew for each mutant
    """

    def __init__(self, path: str) -> None:
        self.watch, self.report, self.before = Watch(path), Report(), peak()
        self.report.events = self.watch.heard

    def ask(self, reader: Callable[[str], Any], name: str, size: int) -> Any:
        """What a reader makes of a mutant of so many bytes: a model, or nothing."""
        began, found, words = time.perf_counter(), None, "accepted"
        self.watch.armed = True
        try:
            found = reader(self.watch.path)
        except ModelFileError as error:
            words = str(error).split(";")[0][:60]
        except Exception as error:  # noqa: BLE001  # this is what is looked for
            words = "strange"
            self.report.strange.append(f"{name}: {type(error).__name__}: {str(error)[:200]}")
        self.watch.armed = False
        self._note(name, words, size, time.perf_counter() - began)
        return found

    def _note(self, name: str, words: str, size: int, seconds: float) -> None:
        report = self.report
        report.outcomes[words] += 1
        report.grown = max(report.grown, peak() - self.before - 2 * size - ROOM)
        if seconds > report.slowest:
            report.slowest, report.slow = seconds, name


def fuzz(count: int, seed: int = 0, use: bool = False) -> Report:
    """Load so many mutants of the golden files. Cost: about a millisecond each."""
    paths = sorted(GOLDEN.glob("*.mercer"))
    seeds = [Seed.of(path) for path in paths]
    for path in paths:
        load(path)
        inspect(path)
    start = random.Random(seed).randrange(2**40)  # noqa: S311  # nothing is secret
    with tempfile.NamedTemporaryFile(suffix=".mercer", buffering=0) as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trial = Trial(file.name)
        for i in range(count):
            rng = random.Random(start + i)  # noqa: S311
            content = mutant(rng.choice(seeds), rng)
            os.ftruncate(file.fileno(), len(content))  # the same file again: to make one takes longer than to load it
            os.pwrite(file.fileno(), content, 0)
            if i % 100 == 0:
                faulthandler.dump_traceback_later(HANGING, exit=True)
            model = trial.ask(load, f"seed {seed}, mutant {i}", len(content))
            if i % EACH == 0:
                trial.ask(inspect, f"seed {seed}, mutant {i} inspected", len(content))
            if use and model is not None:
                used(model)
    faulthandler.cancel_dump_traceback_later()
    return trial.report


def main() -> None:
    parser = argparse.ArgumentParser(description="Mutants of model files.")
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--use", action="store_true")
    given = parser.parse_args()
    began = time.perf_counter()
    report = fuzz(given.count, given.seed, given.use)
    taken = time.perf_counter() - began
    for words, many in report.outcomes.most_common(40):
        print(f"{many:>9,}  {words}")
    for line in [*map(str, report.events.most_common(20)), *report.strange[:20]]:
        print("BAD", line)
    print(f"the slowest took {report.slowest:.3f} s ({report.slow}); memory beyond the limit: {report.grown:,} bytes")
    told = f"{len(report.outcomes)} outcomes, {report.outcomes['accepted']:,} accepted"
    print(f"{given.count:,} mutants in {taken:.0f} s, {told}, {'clean' if report.clean else 'NOT CLEAN'}")
    sys.exit(0 if report.clean else 1)


if __name__ == "__main__":
    main()
