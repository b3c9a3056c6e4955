"""The memory budget: how much a computation may hold, and what the machine or its container has free."""

from __future__ import annotations

import ctypes
import math
import numbers
import os
import re
import reprlib
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from mercer.errors import BudgetError, InputError, message

PROC = Path("/proc")
GROUPS = Path("/sys/fs/cgroup")
MOMENT = 0.1
"""Seconds for which what the system said is remembered: parts of one computation ask again and again."""

MAX_UNASKED_BYTES = 1 << 26
"""Bytes that are taken without asking how much is free: the answer takes longer than work of that size."""
_PREFIXES = "KMGTPE"
_SIZE = re.compile(
    rf"\s*([0-9]{{1,30}}(?:\.[0-9]{{1,30}})?)\s*(?:(?:([{_PREFIXES}])(I?))?B)?\s*", re.ASCII | re.IGNORECASE
)
_NO_LIMIT = 2**60  # version 1 of the control groups writes "none" as about 2**63


@dataclass(frozen=True)
class Budget:
    """How much memory a computation may hold at its peak, beyond what is held already.

    bytes : an integer; 0 on a machine that is full

    >>> budget = Budget.of("1.5 GiB")
    >>> budget.allows(8 * 10_000**2), budget.allows(8 * 20_000**2)
    (True, False)
    >>> print(budget)
    1.5 GiB
    """

    bytes: int

    @classmethod
    def of_machine(cls, fraction: float = 0.8) -> Budget:
        """A share, over 0 and up to 1, of what the machine or its container has free now."""
        if not 0 < fraction <= 1:
            got = f"got {fraction!r}"
            raise InputError(
                message("a fraction over 0 and up to 1", got, "Use 0.8 if in doubt.", subject="A memory budget")
            )
        return cls(int(fraction * free_memory()))

    @classmethod
    def of(cls, memory: int | str | Budget | None) -> Budget:
        """A budget from bytes, or from a text such as "4 GB" or "1.5 GiB".

        From None 80 % of what is free now, or the limit of the fit that is running (`limited`), if that is less.
        """
        if memory is None:
            free, limit = cls.of_machine(), _LIMIT.get()
            return free if limit is None or free.bytes < limit.bytes else limit
        if isinstance(memory, Budget):
            return memory
        size = _size_in(memory)
        if size is None or size < 1:
            needs = "a positive number of bytes, or a text of a number and a unit"
            remedy = 'Write 4000000000, "4 GB" (powers of 1000) or "4 GiB" (powers of 1024).'
            raise InputError(message(needs, f"got {reprlib.repr(memory)}", remedy, subject="A memory budget"))
        return cls(size)

    def allows(self, needed: int) -> bool:
        """Whether so many bytes fit."""
        return needed <= self.bytes

    def require(self, needed: int, purpose: str, remedy: str, subject: object = None) -> None:
        """Refuse a computation that needs more bytes than there are, before it starts."""
        if self.allows(needed):
            return
        need, have = text_of(needed), str(self)
        if need == have:  # rounding hides the difference
            need, have = f"{needed} bytes", f"{self.bytes} bytes"
        raise BudgetError(message(f"{need} for {purpose}", f"{have} may be used", remedy, subject=subject))

    def __str__(self) -> str:
        return text_of(self.bytes)


_LIMIT: ContextVar[Budget | None] = ContextVar("limit", default=None)


@contextmanager
def limited(memory: int | str | Budget | None) -> Iterator[None]:
    """Inside, and in threads that are started inside, nobody is given more; from None nothing changes.

    >>> with limited("1 KiB"), limited("2 KiB"):
    ...     print(Budget.of(None))
    1.0 KiB
    """
    outer = _LIMIT.get()
    own = outer if memory is None else Budget.of(memory)
    token = _LIMIT.set(own if outer is None or (own is not None and own.bytes < outer.bytes) else outer)
    try:
        yield
    finally:
        _LIMIT.reset(token)


def text_of(size: int) -> str:
    """A number of bytes for people, in powers of 1024 with one decimal: "18.2 GiB"."""
    if size < 1024:
        return f"{size} B"
    # 1023.96 KiB would be rounded to 1024.0 KiB, so it is already 1.0 MiB.
    power = next((k for k in range(1, len(_PREFIXES)) if round(size / 1024**k, 1) < 1024), len(_PREFIXES))
    return f"{size / 1024**power:.1f} {_PREFIXES[power - 1]}iB"


_LATEST = {"until": -math.inf, "bytes": 0}
"""What the system said last, and until when that counts."""


def free_memory(proc: Path = PROC, groups: Path = GROUPS) -> int:
    """The bytes that this process may still take: the least that the machine, its control groups and RLIMIT_AS leave.

    proc, groups : where the system shows its processes and its control groups
    """
    if proc is not PROC or groups is not GROUPS:
        return _least_room(proc, groups)
    now = time.monotonic()
    if now >= _LATEST["until"]:
        _LATEST.update(bytes=_least_room(proc, groups), until=now + MOMENT)
    return int(_LATEST["bytes"])


def _least_room(proc: Path, groups: Path) -> int:
    rooms = [*_left_in_machine(proc), *_left_in_groups(proc, groups), *_left_in_address_space(proc)]
    if not rooms:
        got = "this system reports none"
        raise BudgetError(
            message("the machine's free memory", got, 'Give one, such as "4 GB".', subject="A memory budget")
        )
    return min(rooms)


def _size_in(memory: object) -> int | None:
    """The bytes that a number or a text means; None where it means none."""
    if isinstance(memory, str):
        match = _SIZE.fullmatch(memory)
        return None if match is None else int(Fraction(match[1]) * _unit(match[2] or "", bool(match[3])))
    return int(memory) if isinstance(memory, numbers.Integral) and not isinstance(memory, bool) else None


def _unit(prefix: str, binary: bool) -> int:
    power = _PREFIXES.index(prefix.upper()) + 1 if prefix else 0
    return int((1024 if binary else 1000) ** power)


# The machine


def _left_in_machine(proc: Path) -> list[int]:
    if sys.platform == "win32":
        return _left_in_windows(ctypes.windll.kernel32)
    available = _field(proc / "meminfo", "MemAvailable:")
    return _left_in_pages(os.sysconf) if available is None else [1024 * available]


def _left_in_pages(sysconf: Callable[[str], int]) -> list[int]:
    """The free pages, or half of all pages where the system (macOS) does not count the free ones."""
    for name, share in (("SC_AVPHYS_PAGES", 1), ("SC_PHYS_PAGES", 2)):
        try:
            pages, page = sysconf(name), sysconf("SC_PAGE_SIZE")
        except (OSError, ValueError):  # a name that this system does not know
            continue
        if pages > 0 and page > 0:
            return [pages * page // share]
    return []


class _WindowsMemory(ctypes.Structure):
    """MEMORYSTATUSEX of the Windows API."""

    _fields_ = (
        ("dwLength", ctypes.c_uint32),
        ("dwMemoryLoad", ctypes.c_uint32),
        ("ullTotalPhys", ctypes.c_uint64),
        ("ullAvailPhys", ctypes.c_uint64),
        ("ullTotalPageFile", ctypes.c_uint64),
        ("ullAvailPageFile", ctypes.c_uint64),
        ("ullTotalVirtual", ctypes.c_uint64),
        ("ullAvailVirtual", ctypes.c_uint64),
        ("ullAvailExtendedVirtual", ctypes.c_uint64),
    )


def _left_in_windows(kernel32: Any) -> list[int]:
    """The free physical memory, or less where the commit limit or the address space leaves less."""
    status = _WindowsMemory(dwLength=ctypes.sizeof(_WindowsMemory))
    if not kernel32.GlobalMemoryStatusEx(ctypes.byref(status)):
        return []
    return [int(status.ullAvailPhys), int(status.ullAvailPageFile), int(status.ullAvailVirtual)]


# The container


class _Files(NamedTuple):
    """How a version of the control groups calls what is needed of a group."""

    limit: str
    usage: str
    reclaimable: str

    def left_in(self, group: Path) -> int | None:
        """What a group leaves; None where it sets no limit that can be read.

        Usage counts the page cache. Its inactive part is given up on demand, so it is not held.
        """
        limit = _number(group / self.limit)
        if limit is None or limit >= _NO_LIMIT:
            return None
        held = (_number(group / self.usage) or 0) - (_field(group / "memory.stat", self.reclaimable) or 0)
        return max(0, limit - max(0, held))


_VERSION_1 = _Files("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
_VERSION_2 = _Files("memory.max", "memory.current", "inactive_file")


def _left_in_groups(proc: Path, groups: Path) -> list[int]:
    """What the process's own groups and all groups around them leave, whichever versions are mounted."""
    own = _own_groups(proc / "self" / "cgroup")
    mounts = (
        (_VERSION_2, groups, ""),
        (_VERSION_2, groups / "unified", ""),  # beside version 1
        (_VERSION_1, groups / "memory", "memory"),
    )
    rooms: list[int] = []
    for files, top, name in mounts:
        for group in _outwards(top, own.get(name, "/")):
            room = files.left_in(group) if os.path.exists(group / files.limit) else None
            if room is not None:
                rooms.append(room)
    return rooms


def _own_groups(file: Path) -> dict[str, str]:
    """The path of the process's group for each controller; version 2 has the controller ""."""
    rows = [line.split(":", 2) for line in _lines(file)]
    return {name: row[2] for row in rows if len(row) == 3 for name in row[1].split(",")}


def _outwards(top: Path, path: str) -> list[Path]:
    """A group, its parents and the top group.

    In a container the path may be the host's, which does not exist here, or lead out by ".."; then the top group is
    the one that limits the process.
    """
    parts = PurePosixPath(path).parts[1:]
    inside = 0 if ".." in parts else len(parts)
    return [top.joinpath(*parts[:depth]) for depth in range(inside, -1, -1)]


def _left_in_address_space(proc: Path) -> list[int]:
    if sys.platform == "win32":
        return []
    import resource

    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return []
    return [max(0, limit - 1024 * (_field(proc / "self" / "status", "VmSize:") or 0))]


# The system's files: what is absent, forbidden or no number is not known


def _lines(file: Path) -> list[str]:
    try:  # the name of a group may be any bytes
        return file.read_text(encoding="utf-8", errors="surrogateescape").split("\n")
    except OSError:
        return []


def _number(file: Path) -> int | None:
    """The number that a file holds, if it holds one rather than "max"."""
    text = "".join(_lines(file)).strip()
    return int(text) if text.isdecimal() else None


def _field(file: Path, name: str) -> int | None:
    """The number after a name, in a file with a name and a number per line."""
    for line in _lines(file):
        row = line.split()
        if len(row) > 1 and row[0] == name and row[1].isdecimal():
            return int(row[1])
    return None
