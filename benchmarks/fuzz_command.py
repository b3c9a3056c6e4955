"""Random command lines with files of all kinds: none may show a traceback, hang, or change a file that it reads.

    python benchmarks/fuzz_command.py [--count 20000] [--seed 0]

Commands run in processes that are forked for some of them, each with an alarm. After each it is checked that the exit
code is one that is documented, that a failure says something, that no control character of a table is said, that
every file that is an input or is not Mercer's is the same bit for bit (unless --force was given for it), and that no
draft is left.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import re
import signal
import stat
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

SECONDS = 60
"""That a command may take."""
BATCH = 100
"""Commands that run in one process."""
CODES = {0, 1, 2, 3, 4, 5, 6}
RAW = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")

TABLES = ("t.csv", "c.csv", "evil.csv", "t.parquet", "t.npy", "t.svm", "t.csv.gz", "empty.csv", "noise.bin", "folder")
OTHERS = ("m.mercer", "c.mercer", "l.mercer", "cut.mercer", "r.html", "none.csv", "-", "/dev/null", "link", "hard.csv")
ONE_FILE = {"t.csv", "link", "hard.csv"}
"""Names of one file."""
OUTPUTS = (
    "new.mercer", "new.csv", "new.parquet", "new.npy", "new.arrow", "new.html", "t.csv", "link", "hard.csv", "m.mercer",
    "r.html", "notes.txt", "folder", "none/x.csv", "/dev/null", "/dev/full", "-", "dangling", "", ".", "\u202ename",
    "x" * 260, "m.mercer/x", "run.toml", "evil.csv", "new.xlsx",
)  # fmt: skip
NUMBERS = ("1", "3", "1000", "0", "-1", "2.5", "nan", "inf", "1e999", "4294967296", str(2**70), "9" * 5000, "x", "")
ENCODINGS = (
    "utf-8",
    "cp1252",
    "latin-1",
    "rot13",
    "base64",
    "punycode",
    "idna",
    "undefined",
    "\x1b[2J",
    "\udcff",
    "\0",
    "",
)
KERNELS = (
    "linear", "gaussian(1)", "gaussian", "sinc", "min", "gaussian(", "(" * 100, "linear.on(['a'])", "", "nothing", "1",
)  # fmt: skip
COMMON = {
    "--json": None,
    "--quiet": None,
    "--verbose": None,
    "--random-state": NUMBERS,
    "--config": ("run.toml",) * 3 + ("bad.toml", "none", "t.csv"),
}
COMMON |= {"--dump-config": None}
READING: dict[str, tuple[str, ...] | None] = {
    "--format": ("csv", "", "csv", "parquet", "npy", "libsvm", "xlsx"),
    "--separator": (",", ";", "\t", "::", "é", "\n", '"'), "--encoding": ENCODINGS,
    "--no-header": None, "--decimal": (".", ",", "x"), "--dates": ("day-first", "month-first", "x"),
    "--max-rows": NUMBERS, "--max-columns": NUMBERS, "--max-cells": NUMBERS, "--max-bytes": (*NUMBERS, "1GB", "1 KiB"),
}  # fmt: skip
LIMITS = {
    "--memory-limit": ("4GB", "1KB", "x", "-1GB", "1e400GB"),
    "--time-limit": ("60s", "1ms", "x", "1h", "1e-9s", "nan"),
}
TARGETS = ("y", "label", "a", "b", "target", "x0", "none", "", "\x1b]0;evil\x07", "\udcff")
FIT = {
    "--target": TARGETS, "--task": ("regression", "classification", "x"), "--kernel": KERNELS, "--alpha": NUMBERS,
    "--learner": ("ridge", "svm", "logistic", "perceptron", "x"), "--C": NUMBERS, "--drop": TARGETS,
    "--test": ("0", "0.5", "0.9", "1", "nan", "-1"), "--refit": None, "--strict": None, "--out": OUTPUTS,
    "--report": OUTPUTS, "--force": None, **LIMITS,
}  # fmt: skip
WRITING = {"--out": OUTPUTS, "--force": None}
SHAPES = {"--rows": NUMBERS, "--columns": NUMBERS, "--outputs": NUMBERS}
VERBS: dict[str, tuple[int, dict[str, tuple[str, ...] | None]]] = {
    "fit": (1, {**FIT, **READING}),
    "predict": (2, {"--keep": TARGETS, "--std": None, "--probabilities": None, **WRITING, **READING}),
    "score": (2, READING),
    "transform": (1, {"--kernel": KERNELS, "--n-components": NUMBERS, "--drop": TARGETS, "--lift": OTHERS,
                      "--save": OUTPUTS, **WRITING, **READING}),
    "plan": (1, {"--target": TARGETS, "--kernel": KERNELS, **SHAPES, **LIMITS, **READING}),
    "prove": (1, {"--columns": ("1", "3", "x", "-1"), "--domain": ("reals", "integers", "moon", "")}),
    "show": (1, {"--style": ("page", "slide", "x"), "--mark": ("B", "BE", "Z", ""), "--question": None, "--list": None,
                 **WRITING}),
    "inspect": (1, {}),
}  # fmt: skip
LIKELY = {"fit": {"--target": 0.95, "--out": 0.4, "--report": 0.1}, "plan": {"--target": 0.7}}
LIKELY |= {"predict": {"--out": 0.5, "--force": 0.3}, "transform": {"--out": 0.4, "--save": 0.4}}
"""Options that a verb often has, and how often."""
WEIGHTS = {"fit": 4, "predict": 4, "transform": 4}
"""How often verbs come that write; others come once."""


@dataclass
class Report:
    """How commands ended, by verb and code, and every bad end with its words."""

    ends: Counter[str] = field(default_factory=Counter)
    bad: list[str] = field(default_factory=list)


def write_files(folder: Path) -> None:
    """Tables, models and other files."""
    import gzip

    import numpy as np
    import pyarrow
    from pyarrow import parquet

    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 30)).round(3)
    names = {"a": a, "b": b, "label": np.where(a > b, "up", "down"), "y": (2 * a + b).round(3)}
    table = pyarrow.table(names)
    rows = [",".join(map(str, row)) for row in zip(*names.values(), strict=True)]
    text = "\n".join([",".join(names), *rows]) + "\n"
    os.chdir(folder)
    Path("t.csv").write_text(text)
    Path("c.csv").write_text(text.replace("y", "target"))
    evil = text.replace("b,label", "b\x1b]0;evil\x07\u202e\x9b2J,label").replace("up", "u\x1b[31mp")
    Path("evil.csv").write_text(evil)
    parquet.write_table(table, "t.parquet")
    np.save("t.npy", np.column_stack([a, b]))
    Path("t.svm").write_text("".join(f"{i % 2} 1:{i} 2:{i * i % 7}\n" for i in range(20)))
    Path("t.csv.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
    Path("empty.csv").write_bytes(b"")
    Path("noise.bin").write_bytes(random.Random(0).randbytes(3000))  # noqa: S311
    Path("folder").mkdir()
    Path("notes.txt").write_text("not of Mercer")
    Path("link").symlink_to("t.csv")
    Path("dangling").symlink_to("nowhere")
    os.link("t.csv", "hard.csv")
    Path("run.toml").write_text('[fit]\nrandom_state = 3\ndrop = ["b"]\n[predict]\nquiet = true\n')
    odd = (
        f"random_state = {2**70}",
        f"random_state = {'9' * 5000}",
        "drop = 'a'",
        "alpha = 'x'",
        "target = [[1]]",
        "out = 't.csv'",
    )
    Path("bad.toml").write_text("\n".join(f"[{verb}]\n{line}" for verb, line in zip(VERBS, odd, strict=False)) + "\n")
    quick = ("--kernel", "linear", "--quiet")
    _run(["fit", "t.csv", "--target", "y", "--drop", "label", "--out", "m.mercer", "--report", "r.html", *quick])
    _run(["fit", "t.csv", "--target", "label", "--learner", "logistic", "--drop", "y", "--out", "c.mercer", *quick])
    _run(["transform", "t.csv", "--drop", "y", "--drop", "label", "--save", "l.mercer", "--out", "/dev/null", *quick])
    Path("cut.mercer").write_bytes(Path("m.mercer").read_bytes()[:300])


def words(place: int, seed: int) -> list[str]:
    """A command line."""
    rng = random.Random(seed * 10**9 + place)  # noqa: S311  # nothing is secret
    verb = rng.choice([verb for verb in VERBS for _ in range(WEIGHTS.get(verb, 1))])
    many, options = VERBS[verb]
    options = {**options, **COMMON}
    pools = {"prove": (KERNELS,), "inspect": (OTHERS,), "predict": (OTHERS[:4] * 3 + OTHERS, TABLES + OTHERS)}
    pools["score"] = pools["predict"]
    given = [rng.choice(pool) for pool in pools.get(verb, ((*TABLES, *TABLES[:4] * 3, *OTHERS),))]
    given = given[: rng.choice([many] * 9 + [0])] + [rng.choice(TABLES)] * (rng.random() < 0.03)
    chosen = [flag for flag, often in LIKELY.get(verb, {}).items() if rng.random() < often]
    chosen += rng.sample(list(options), min(len(options), rng.choice([0, 0, 1, 1, 2, 3, 5])))
    for flag in dict.fromkeys(chosen):
        values = options[flag]
        likely = values if values is None or rng.random() < 0.4 else values[:3]
        given += [flag] if likely is None else [flag, rng.choice(likely)]
    return [verb, *given]


def _run(given: list[str]) -> tuple[int, str, str]:
    """The code of a command in this process, and what it said."""
    from typer.testing import CliRunner

    from mercer.cli.app import app

    done = CliRunner().invoke(app, given, input=b"a,b,y\n1,2,3\n2,3,5\n4,4,1\n")
    error = done.exception
    if error is not None and not isinstance(error, SystemExit):
        where = "".join(traceback.format_exception(error)[-3:])
        return -1, done.stdout, f"{type(error).__name__}: {where[-600:]}"
    return done.exit_code, done.stdout, done.stderr


def state(folder: Path) -> dict[str, str]:
    """What every file is: its kind, and the digest of what it holds."""
    found = {}
    for path in sorted(folder.rglob("*")):
        mode = path.lstat().st_mode
        held = os.readlink(path) if stat.S_ISLNK(mode) else path.read_bytes() if stat.S_ISREG(mode) else b""
        digest = hashlib.sha256(held if isinstance(held, bytes) else held.encode()).hexdigest()
        found[str(path.relative_to(folder))] = f"{stat.S_IFMT(mode)} {digest}"
    return found


def judged(given: list[str], before: dict[str, str], folder: Path) -> str:
    """How a command ended; "BAD ..." where it broke a promise."""
    code, out, said = _run(given)
    if code == -1:
        return f"BAD traceback: {said}"
    if code not in CODES:
        return f"BAD code {code}"
    if code and not said.strip():
        return f"BAD silence with code {code}"
    if RAW.search(said) or ("--out" not in given and given[0] != "predict" and RAW.search(out)):
        return "BAD control characters"
    after = state(folder)
    outputs = {given[i + 1] for i, word in enumerate(given[:-1]) if word in ("--out", "--report", "--save")}
    changed = {name for name, held in before.items() if after.get(name) != held}
    if changed - (replaced(given, outputs) if code in (0, 1, 6) else set()):
        return f"BAD change of {sorted(changed)} with code {code}"
    for name in after.keys() - before.keys():
        if name.endswith("draft") or name not in outputs:
            return f"BAD file {name} is left"
    return str(code)


def replaced(given: list[str], outputs: set[str]) -> set[str]:
    """The files that a command may replace: those that Mercer wrote, with --force all, but none that it reads."""
    read = {*given[1:3], *(given[i + 1] for i, word in enumerate(given[:-1]) if word in ("--config", "--lift"))}
    read |= ONE_FILE if read & ONE_FILE else set()
    forced = outputs | ({"t.csv"} if "link" in outputs else set())
    return (forced if "--force" in given else outputs & {"m.mercer", "r.html"}) - read


def child(seed: int, places: range, out: int) -> None:
    """Run commands in a folder of their own, and tell before and after each on a pipe."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder)
        before, held = state(folder), contents(folder)
        for place in places:
            given = words(place, seed)
            os.write(out, json.dumps([place, "began"]).encode() + b"\n")
            signal.alarm(SECONDS)
            end = judged(given, before, folder)
            signal.alarm(0)
            os.write(out, json.dumps([place, f"{given[0]} {end}"]).encode() + b"\n")
            restore(folder, held, before)


def contents(folder: Path) -> dict[str, bytes]:
    """What the plain files of a folder hold."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file() and not path.is_symlink()}


def restore(folder: Path, held: dict[str, bytes], before: dict[str, str]) -> None:
    """The files as they were."""
    for path in folder.iterdir():
        if path.name not in before:
            path.unlink()
    for name, content in held.items():
        path = folder / name
        if path.read_bytes() != content:
            path.write_bytes(content)
    if state(folder) != before:
        raise RuntimeError("a command did to its folder what cannot be undone")


def batch(seed: int, places: range) -> Iterator[tuple[int, str]]:
    """The ends of commands of one process, until it dies; the last is then the one that killed it."""
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        try:
            child(seed, places, writing)
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


def fuzz(count: int, seed: int) -> Report:
    """Run so many commands. Cost: a tenth of a second each, or so."""
    report, at = Report(), 0
    while at < count:
        for place, end in batch(seed, range(at, min(count, at + BATCH))):
            report.ends[" ".join(end.split()[:2])] += 1
            at = place + 1
            if "BAD" in end:
                report.bad.append(f"seed {seed}, {place}: {words(place, seed)!r:.600}\n    {end}")
    return report


def main() -> None:
    parser = argparse.ArgumentParser(description="Random command lines.")
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    began = time.perf_counter()
    report = fuzz(given.count, given.seed)
    for end, many in sorted(report.ends.items()):
        print(f"{many:>9,}  {end}")
    for line in report.bad[:60]:
        print(line)
    print(f"{given.count:,} commands in {time.perf_counter() - began:.0f} s, {len(report.bad)} bad ends")
    sys.exit(1 if report.bad else 0)


if __name__ == "__main__":
    main()
