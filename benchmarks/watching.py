"""What watching costs, and how quickly a fit lets go: progress, checkpoints, and Ctrl-C at random moments.

    python benchmarks/watching.py [--quick] [--interrupts N] [--json PATH]

For each way, on random rows: the part of a fit that progress takes (plain lines, and a callback that is told of every
step), the part that checkpoints take, the longest time between two of them, and the first sign of life. These are times
inside of the calls, not differences of whole fits, which differ by more than what is looked for. Then fits in processes
of their own get Ctrl-C at random moments, and the time until `fit` has raised counts. Goals: 1 % for progress, 2 % for
checkpoints, 30 seconds of work that may be lost, half a second to the first sign, one second for Ctrl-C.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import signal
import tempfile
import time
from collections.abc import Callable
from contextlib import redirect_stderr
from dataclasses import dataclass, replace
from functools import wraps
from io import StringIO
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from alone import Found, alone
from numpy.typing import NDArray
from report import machine

from mercer import KernelRidge
from mercer.learners.run.checkpoint import Store
from mercer.learners.run.fit_run import Watched
from mercer.lifts import Nystrom
from mercer.solvers import ConjugateGradient

Array = NDArray[Any]
RESULTS = Path(__file__).parent / "results"
GOALS = {"progress": 0.01, "checkpoints": 0.02, "lost s": 30.0, "first sign s": 0.5, "Ctrl-C s": 1.0}
WARM = 500
"""Rows of a first fit, which loads and compiles."""
COLUMNS = 10


@dataclass(frozen=True)
class Case:
    """A way, and how many rows and landmarks lead to it."""

    way: str
    rows: int
    landmarks: int = 0

    def data(self) -> tuple[Array, Array]:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(self.rows, COLUMNS)).astype(np.float32)
        return X, (np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=self.rows)).astype(np.float32)

    def model(self, **settings: Any) -> Any:
        """A learner that goes this way, if it has as many rows."""
        kernel: Any = "gaussian(3)"
        if self.landmarks:
            kernel = Nystrom(kernel, self.landmarks, random_state=0)
        solver = ConjugateGradient(tol=1e-6) if self.way == "conjugate gradients" else "auto"
        return KernelRidge(kernel, alpha=0.1, solver=solver, random_state=0, **settings)

    def warm(self, X: Array, y: Array) -> None:
        """A small fit."""
        replace(self, landmarks=min(self.landmarks, 20)).model().fit(X[:WARM], y[:WARM])


CASES = (
    Case("direct", 8_000),
    Case("conjugate gradients", 30_000),
    Case("one pass", 400_000, 1_000),
    Case("nystrom iterative", 60_000, 4_000),
)
QUICK = tuple(replace(case, rows=case.rows // 10, landmarks=case.landmarks // 5) for case in CASES)


class Told:
    """A callback that does nothing."""

    def setup(self, estimator: Any, context: Any) -> None: ...

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None: ...

    def on_fit_task_end(self, estimator: Any, context: Any) -> bool:
        return False

    def teardown(self, estimator: Any, context: Any) -> None: ...


class Clock:
    """The seconds inside some methods of a class, and when they were called."""

    def __init__(self, kind: type, *names: str) -> None:
        self.seconds, self.ends, self.depth = 0.0, list[float](), 0
        for name in names:
            setattr(kind, name, self._timed(getattr(kind, name)))

    def _timed(self, method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def timed(*arguments: Any, **more: Any) -> Any:
            start, self.depth = time.perf_counter(), self.depth + 1
            try:
                return method(*arguments, **more)
            finally:
                end, self.depth = time.perf_counter(), self.depth - 1
                if self.depth == 0:
                    self.seconds += end - start
                    self.ends.append(end)

        return timed


class Lines(StringIO):
    """Where lines go; it knows when the first one came."""

    first: float | None = None

    def write(self, text: str) -> int:
        self.first = self.first or time.perf_counter()
        return super().write(text)


def watched(case: Case) -> Found:
    """Progress and checkpoints of one fit each."""
    X, y = case.data()
    case.warm(X, y)
    looks = Clock(Watched, "tell", "watch", "_begin", "_end")
    lines, start = Lines(), time.perf_counter()
    with redirect_stderr(lines):
        model = case.model(verbose=True).set_callbacks(Told()).fit(X, y)
    whole = time.perf_counter() - start
    found = {"way": model.plan_.method, "seconds": whole, "progress": looks.seconds / whole}
    found["first sign s"] = (lines.first or start + whole) - start
    saves, written = Clock(Store, "offer"), Clock(Store, "_write")
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        model = case.model(verbose=False, checkpoint=Path(folder) / "fit.checkpoint").fit(X, y)
        whole = time.perf_counter() - start
    gaps = np.diff([start, *written.ends, start + whole])
    return found | {"saved way": model.plan_.method, "checkpoints": saves.seconds / whole, "lost s": float(gaps.max())}


class Stoppable(Protocol):
    """What is interrupted: rows, a model, and a small fit that comes first."""

    def data(self) -> tuple[Array, Array]: ...

    def model(self, **settings: Any) -> Any: ...

    def warm(self, X: Array, y: Array) -> None: ...


def interrupted(case: Stoppable, sender: Connection) -> None:
    """A fit that says when it begins, and how long after the signal it has raised."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    X, y = case.data()
    case.warm(X, y)
    sender.send(None)
    start = time.perf_counter()
    try:
        case.model(verbose=False).fit(X, y)
    except KeyboardInterrupt:
        sender.send(time.time())
    else:
        sender.send(time.perf_counter() - start)


def latencies(case: Stoppable, whole: float, count: int) -> list[float]:
    """Seconds from Ctrl-C to the end of the fit, at random moments of it."""
    rng, found, context = np.random.default_rng(0), list[float](), multiprocessing.get_context("spawn")
    while len(found) < count:
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=interrupted, args=(case, sender), daemon=True)
        process.start()
        receiver.recv()
        time.sleep(rng.uniform(0.05, 0.8) * whole)
        sent = time.time()
        os.kill(process.pid or 0, signal.SIGINT)
        ended = receiver.recv()
        process.kill()  # a call of LAPACK may go on in its own thread
        process.join()
        if ended >= sent:  # else it was done before
            found.append(ended - sent)
    return found


def measure(case: Case, interrupts: int) -> Found:
    """All of a case."""
    found = alone(watched, case)
    late = latencies(case, found["seconds"], interrupts)
    return found | {"Ctrl-C s": max(late), "Ctrl-C, median s": float(np.median(late)), "interrupts": len(late)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few rows; goals mean little there")
    parser.add_argument("--interrupts", type=int, default=10, help="of each way")
    parser.add_argument("--json", type=Path, help="where the record goes")
    options = parser.parse_args()
    path = options.json or RESULTS / f"watching{'-quick' * options.quick}.json"
    path.parent.mkdir(exist_ok=True)
    rows: list[Found] = []
    head = ["way", "rows", "seconds", *GOALS]
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for case in QUICK if options.quick else CASES:
        found = measure(case, options.interrupts)
        if not options.quick and {found["way"], found["saved way"]} != {case.way}:
            raise SystemExit(f"{case.way}: {found['way']} and {found['saved way']} were measured")
        met = {name: bool(found[name] <= goal) for name, goal in GOALS.items()}
        rows.append({"case": found["way"], "rows": case.rows, **found, "met": met})
        told = [f"{found[name]:.2g}{'' if met[name] else ' (NO)'}" for name in GOALS]
        print("| " + " | ".join([found["way"], f"{case.rows:,}", f"{found['seconds']:.1f}", *told]) + " |", flush=True)
        path.write_text(json.dumps({"machine": machine(), "goals": GOALS, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
