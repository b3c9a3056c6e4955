"""Mutations of model files: none may run code, hang, take memory, or raise anything but a ModelFileError.

    python benchmarks/fuzz_files.py [--count 1000000] [--seed 0] [--use]

Half of the mutants are changed byte by byte, half where it matters: values of the record, tensors, the header; and of
the former half, and of all the latter, the digest is made to hold, so that the reader gets to see them. An audit hook
listens while a file is loaded. `--use` also asks models that were accepted for predictions: a crash of the process
would show that a position was not checked.
"""

from __future__ import annotations

import argparse
import faulthandler
import hashlib
import json
import os
import random
import resource
import struct
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mercer.errors import ModelFileError
from mercer.files import inspect, load
from mercer.files.table import ENTRIES

GOLDEN = Path(__file__).parent.parent / "tests" / "files" / "golden"
SLOWEST = 2.0
"""Seconds that a load may take."""
ROOM = 64 << 20
"""Bytes that a load may take beside twice the file."""
QUIET = ("object.__getattr__", "object.__setattr__", "object.__delattr__", "builtins.id", "sys._getframe")
"""Events that Python raises for its own ends."""
EDGES = [None, True, False, 0, 1, -1, 2, 7, 63, 64, 2**31, 2**32, 2**53, 2**63 - 1, -(2**63), 2**64, 10**19]
VALUES: list[Any] = [
    *EDGES,
    0.0,
    -0.0,
    0.5,
    1e-308,
    1e308,
    -1e308,
    "",
    "x",
    "nan",
    "linear",
    "\x00",
    "é",
    "KernelRidge",
    [],
    {},
]
NUMBERS = [0.0, -0.0, 1.0, -1.0, 0.5, 1e300, -1e300, float("inf"), float("-inf"), float("nan"), 2.0**31, 2.0**53]
Tensors = dict[str, tuple[str, list[int], bytes]]


@dataclass
class Seed:
    """A whole file, taken apart."""

    raw: bytes
    record: Any
    tensors: Tensors

    @classmethod
    def of(cls, path: Path) -> Seed:
        """From a file."""
        raw = path.read_bytes()
        (length,) = struct.unpack("<Q", raw[:8])
        header = json.loads(raw[8 : 8 + length])
        metadata, data = header.pop("__metadata__"), raw[8 + length :]
        tensors = {
            name: (about["dtype"], about["shape"], data[slice(*about["data_offsets"])])
            for name, about in header.items()
        }
        return cls(raw, json.loads(metadata["record"]), tensors)


@dataclass
class Report:
    """What was seen.

    outcomes : how many were refused, by the words in front, and how many accepted
    events : what the audit hook heard while a file was loaded
    strange : other exceptions, with the seed of the mutant
    slowest : seconds
    grown : bytes by which the process grew beyond what it may
    """

    outcomes: Counter[str] = field(default_factory=Counter)
    events: Counter[str] = field(default_factory=Counter)
    strange: list[str] = field(default_factory=list)
    slowest: float = 0.0
    grown: int = 0

    @property
    def clean(self) -> bool:
        """Whether nothing happened that must not."""
        return not self.events and not self.strange and self.slowest <= SLOWEST and self.grown <= 0


# -- mutations --------------------------------------------------------------------------------------------------------


def signed(raw: bytes, lies: bool = False) -> bytes:
    """The same bytes with a digest that holds, and a length of the header that does, unless it lies."""
    if len(raw) < 200:
        return raw
    (length,) = struct.unpack("<Q", raw[:8])
    length = min(length, len(raw) - 8)
    start = raw[:8] if lies else struct.pack("<Q", length)
    blank = raw[8:35] + b"0" * 64 + raw[99:]
    return start + blank[:27] + hashlib.sha256(start + blank).hexdigest().encode() + blank[91:]


def by_bytes(seed: Seed, rng: random.Random) -> bytes:
    """Bytes flipped, written over, put in, taken out, doubled or cut off."""
    raw = bytearray(seed.raw)
    for _ in range(rng.choice([1, 1, 1, 2, 4, 16])):
        at, size = rng.randrange(len(raw)), rng.choice([1, 1, 2, 8, 64])
        kind = rng.randrange(6)
        if kind == 0:
            raw[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            raw[at : at + size] = rng.randbytes(size)
        elif kind == 2:
            raw[at:at] = rng.randbytes(size)
        elif kind == 3:
            del raw[at : at + size]
        elif kind == 4:
            raw[at:at] = raw[at : at + size]
        elif len(raw) > 300:
            del raw[rng.randrange(200, len(raw)) :]
        if not raw:
            return b""
    return signed(bytes(raw), rng.random() < 0.1) if rng.random() < 0.7 else bytes(raw)


def places(node: Any) -> Iterator[tuple[Any, Any]]:
    """Every container of a tree with every key of it."""
    for key, below in list(node.items() if isinstance(node, dict) else enumerate(node)):
        yield node, key
        if isinstance(below, dict | list):
            yield from places(below)


def stranger(record: Any, tensors: Tensors, rng: random.Random) -> Any:
    """A value that may stand where another one stood."""
    kind = rng.randrange(10)
    if kind < 4:
        return rng.choice(VALUES)
    if kind == 4:
        return {"object": rng.randrange(-1, len(record["objects"]) + 1)}
    if kind == 5:
        return {"array": rng.randrange(-1, len(tensors) + 1)} | ({"order": "F"} if rng.random() < 0.3 else {})
    if kind == 6:
        return {rng.choice(["tuple", "list", "dict", "float", "dtype", "kernel", "number"]): rng.choice(VALUES)}
    if kind == 7:
        return rng.choice(list(ENTRIES))
    node, key = rng.choice(list(places(record)))
    return json.loads(json.dumps(node[key]))


def by_record(seed: Seed, rng: random.Random) -> bytes:
    """Values of the record replaced, moved, doubled or taken out."""
    record, tensors = json.loads(json.dumps(seed.record)), dict(seed.tensors)
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        node, key = rng.choice(list(places(record)))
        kind = rng.randrange(6)
        if kind < 4:
            node[key] = stranger(seed.record, tensors, rng)
        elif kind == 4 and isinstance(node, dict):
            node[rng.choice([*VALUES[-9:-2], "fields", "__class__", "__reduce__", key])] = node.pop(key)
        elif isinstance(node, list):
            node.insert(rng.randrange(len(node) + 1), stranger(seed.record, tensors, rng))
        else:
            node.pop(key)
        if not record.get("objects"):
            break
    return put_together(record, tensors, rng)


def by_tensors(seed: Seed, rng: random.Random) -> bytes:
    """Numbers, shapes and dtypes of tensors changed."""
    tensors = dict(seed.tensors)
    for _ in range(rng.choice([1, 1, 2, 4])):
        name = rng.choice(list(tensors))
        code, shape, content = tensors[name]
        kind = rng.randrange(5)
        if kind < 2 and len(content) >= 8:
            at = 8 * rng.randrange(len(content) // 8)
            word = struct.pack("<d", rng.choice(NUMBERS)) if code == "F64" else _whole(rng)
            content = content[:at] + word[: len(content) - at] + content[at + 8 :]
        elif kind == 2:
            shape = rng.choice([shape[::-1], [*shape, 1], [1, *shape], shape[:-1], [len(content)], [0], []])
        elif kind == 3:
            code = rng.choice(["F64", "I64", "U64", "F32", "I32", "U8", "I8", "BOOL", "F16"])
        else:
            size = rng.randrange(0, 64)
            content, shape = rng.randbytes(8 * size), [size]
        tensors[name] = code, shape, content
    return put_together(seed.record, tensors, rng)


def _whole(rng: random.Random) -> bytes:
    value = rng.choice([one for one in EDGES if isinstance(one, int) and -(2**63) <= one < 2**63])
    return struct.pack("<q", value)


def put_together(record: Any, tensors: Tensors, rng: random.Random) -> bytes:
    """A file with a digest that holds; now and then its header lies."""
    about: dict[str, Any] = {}
    at = 0
    for name, (code, shape, content) in tensors.items():
        about[name] = {"dtype": code, "shape": list(shape), "data_offsets": [at, at + len(content)]}
        at += len(content)
    if rng.random() < 0.1:
        node, key = rng.choice(list(places(about)) or [({}, "x")])
        node[key] = rng.choice(VALUES)
    metadata = {"sha256": "0" * 64, "format": "mercer model", "version": "1", "record": json.dumps(record)}
    raw = json.dumps({"__metadata__": metadata, **about}, separators=(",", ":")).encode()
    data = b"".join(content for _, _, content in tensors.values())
    return signed(struct.pack("<Q", len(raw)) + raw + data)


WAYS: tuple[Callable[[Seed, random.Random], bytes], ...] = (by_bytes, by_bytes, by_record, by_tensors)


# -- the watch --------------------------------------------------------------------------------------------------------


class Watch:
    """An audit hook that listens while it is armed: to all but reading the one file."""

    def __init__(self) -> None:
        self.armed, self.path = False, ""
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


def grown(before: int) -> int:
    """Bytes by which the process has grown at its peak."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before


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


def fuzz(count: int, seed: int = 0, use: bool = False, folder: Path = GOLDEN) -> Report:
    """Load so many mutants of the files of a folder. Cost: about a millisecond each."""
    seeds = [Seed.of(path) for path in sorted(folder.glob("**/*.mercer"))]
    report, watch, start = Report(), Watch(), random.Random(seed).randrange(2**40)  # noqa: S311
    for path in sorted(folder.glob("**/*.mercer")):
        load(path)
        inspect(path)
    before = grown(0)
    largest = 2 * max(len(one.raw) for one in seeds)
    with tempfile.NamedTemporaryFile(suffix=".mercer", buffering=0) as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        watch.path = file.name
        for i in range(count):
            if i % 1000 == 0:
                faulthandler.dump_traceback_later(600, exit=True)  # what hangs is to be seen
            rng = random.Random(start + i)  # noqa: S311  # nothing is secret
            content = rng.choice(WAYS)(rng.choice(seeds), rng)
            os.ftruncate(file.fileno(), len(content))  # the same file again: to make one takes longer than to load it
            os.pwrite(file.fileno(), content, 0)
            _try(watch, report, f"seed {seed}, mutant {i}", use)
    faulthandler.cancel_dump_traceback_later()
    report.events, report.grown = watch.heard, grown(before) - largest - ROOM
    return report


def _try(watch: Watch, report: Report, name: str, use: bool) -> None:
    began, model = time.perf_counter(), None
    watch.armed = True
    try:
        model = load(watch.path)
        report.outcomes["accepted"] += 1
    except ModelFileError as error:
        report.outcomes[str(error).split(";")[0][:60]] += 1
    except Exception as error:  # noqa: BLE001  # this is what is looked for
        report.strange.append(f"{name}: {type(error).__name__}: {str(error)[:200]}")
    watch.armed = False
    report.slowest = max(report.slowest, time.perf_counter() - began)
    if use and model is not None:
        used(model)


def main() -> None:
    parser = argparse.ArgumentParser(description="Mutations of model files.")
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--use", action="store_true")
    given = parser.parse_args()
    began = time.perf_counter()
    report = fuzz(given.count, given.seed, given.use)
    taken = time.perf_counter() - began
    print(f"{given.count:,} mutants in {taken:.0f} s, the slowest {report.slowest:.3f} s")
    print(f"growth beyond what is allowed: {report.grown:,} bytes (negative: within)")
    for words, many in report.outcomes.most_common(40):
        print(f"{many:>9,}  {words}")
    for line in [*map(str, report.events.most_common(20)), *report.strange[:20]]:
        print("BAD", line)
    sys.exit(0 if report.clean else 1)


if __name__ == "__main__":
    main()
