"""Work in a process of its own: what it finds, how long it takes, and the memory that it adds at its peak."""

from __future__ import annotations

import gc
import multiprocessing
import resource
import time
from collections.abc import Callable, Mapping
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, TypeVar

from seconds import Seconds

Found = dict[str, Any]
Result = TypeVar("Result")
STATUS, FORGET = Path("/proc/self/status"), Path("/proc/self/clear_refs")
LEAVING = 60.0
"""Seconds that a process may take to end."""
ONCE = 60.0
"""Work that takes more seconds of processors than this is not repeated; one that only had to wait for them is."""
TROUBLES = (ArithmeticError, AttributeError, LookupError, OSError, RuntimeError, TypeError, ValueError)
"""What a peer may raise: its reason is reported."""


class Failed(RuntimeError):  # noqa: N818  # it is an answer, not a mistake
    """A process that ended without a result; the text says how."""


def alone(
    job: Callable[..., Found], *arguments: Any, seconds: float = 3_600.0, gigabytes: float | None = None
) -> Found:
    """What a function of a script finds in a fresh process, which may take so long, and hold so much memory.

    A process without memory fails there, and leaves this one and the machine as they are.
    """
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(sender, gigabytes, job, arguments), daemon=True)
    process.start()
    sender.close()
    try:
        if not receiver.poll(seconds):
            raise Failed(f"not done after {seconds:.0f} s")
        found: Found = receiver.recv()
    except EOFError:
        process.join()
        raise Failed(f"the process ended without a result, exit code {process.exitcode}") from None
    else:
        process.join(LEAVING)  # some libraries write what they keep when they leave
    finally:
        process.kill()
        process.join()
    if "failed" in found:
        raise Failed(found["failed"])
    return found


def _work(sender: Connection, gigabytes: float | None, job: Callable[..., Found], arguments: tuple[Any, ...]) -> None:
    if gigabytes is not None:
        resource.setrlimit(resource.RLIMIT_DATA, (int(gigabytes * 1e9), resource.RLIM_INFINITY))
    try:
        found = job(*arguments)
    except MemoryError as error:
        found = {"failed": f"out of memory: {error}"}
    except ImportError as error:
        found = {"failed": f"cannot be loaded: {error}"}
    except TROUBLES as error:
        found = {"failed": f"{type(error).__name__}: {str(error).strip()[:300]}"}
    sender.send(found)
    sender.close()


def measured(action: Callable[[], Result]) -> tuple[Result, Found]:
    """What an action gives; its seconds, those of all its processors, and the megabytes that it added at its peak."""
    gc.collect()
    if FORGET.exists():  # otherwise the peak is that of the whole process, which is not less
        FORGET.write_text("5")
    before, start, busy = held("VmRSS"), time.perf_counter(), time.process_time()
    found = action()
    cost = {"seconds": time.perf_counter() - start, "cpu": time.process_time() - busy}
    return found, cost | {"megabytes": (held("VmHWM") - before) / 1e6}


def held(which: str) -> int:
    """Bytes, as Linux counts them: VmRSS is what this process holds, VmHWM its peak; elsewhere the peak for both."""
    if not STATUS.exists():
        return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    lines = STATUS.read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(which))


def compiled() -> int:
    """How many files of compiled code Mercer keeps on this machine."""
    from mercer.compute.codegen.cache_folder import directory  # only the process that takes turns asks

    kept = directory()
    return 0 if kept is None else sum(1 for _ in kept.glob("*.nbc"))


def in_turns(jobs: Mapping[str, partial[Found] | Callable[[], Found]], repeats: int) -> dict[str, Found]:
    """The fastest result of each job, taken in turns (A, B, A, B ...); long ones are done once.

    A job says its "seconds" itself, so that a warm-up does not count; of all turns these are remembered. One that fails
    has {"failed": why}, and ends all: there is nothing to compare then.
    """
    best: dict[str, Found] = {}
    for _ in range(repeats):
        for name, job in jobs.items():
            known = best.get(name)
            if known is None or known.get("cpu", 0.0) < ONCE:
                found = _tried(name, job)
                if "failed" in found:
                    return {**best, name: found}
                best[name] = found if known is None else _better(known, found)
    return best


def _better(known: Found, found: Found) -> Found:
    faster = found if found["seconds"] < known["seconds"] else known
    return faster | {"seconds": Seconds.best_of(known["seconds"], found["seconds"])}


def _tried(name: str, job: Callable[[], Found]) -> Found:
    """One turn; where it compiled formulas it is taken again, since those are kept and never compiled twice."""
    before = compiled()
    try:
        found = job()
        found = found if compiled() == before else job()
    except Failed as error:
        found = {"failed": str(error)}
    shown = {key: value for key, value in found.items() if isinstance(value, str | int | float)}
    told = ", ".join(
        f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}" for key, value in shown.items()
    )
    print(f"    {name}: {told}", flush=True)
    return found
