"""The folder of compiled code: used only where nobody but its owner can put anything, and files that are checked.

The folder is MERCER_CACHE_DIR, or the user's cache directory. A file of code begins with a digest of what it is for and
of what follows; it is read once, and what was read is what is checked and used. It is written under another name and
moved into place, so that processes that compile the same formula at once write the same twice.
"""

from __future__ import annotations

import hashlib
import logging
import os
import platform
import stat
import sys
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

import numpy as np

LOG = logging.getLogger("mercer.compute")
DIGEST_BYTES = 32
"""Bytes of the digest at the beginning of a file."""
WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


@cache
def directory() -> Path | None:
    """Where compiled code is kept: a folder that only this user can write to; None where there is none.

    Its name tells Python, Numba, NumPy and the processor, so that nothing that is found there is ever stale.
    """
    import numba
    from llvmlite import __version__, binding

    processor = f"{binding.get_host_cpu_name()}|{binding.get_host_cpu_features().flatten()}"
    parts = "|".join([platform.machine(), processor, np.__version__, __version__])
    machine = hashlib.sha256(parts.encode()).hexdigest()[:12]
    return private(f"numba{numba.__version__}-{sys.implementation.cache_tag}-{machine}")


def private(name: str) -> Path | None:
    """A folder of this name that only this user can write to; None where there is none."""
    path = Path(os.path.realpath(_root() / name))  # where links lead; from here on only this one is used
    try:
        for folder in reversed([path, *path.parents]):
            if not folder.exists():
                folder.mkdir(mode=0o700, exist_ok=True)
        why = _open_to_others(path)
    except OSError as error:
        why = str(error)
    if not why:
        return path
    remedy = (
        "Set MERCER_CACHE_DIR to a folder that only you can write to, in folders that only you or root can write to."
    )
    LOG.warning("Mercer cannot keep compiled code in %s: %s. It compiles anew in every process. %s", path, why, remedy)
    return None


def checked(name: str, purpose: str) -> bytes | None:
    """What is kept under a name; None where there is nothing, or where it is not what was written for this purpose."""
    folder = directory()
    if folder is None:
        return None
    try:
        with open(folder / name, "rb", opener=_not_following) as file:
            mine = _is_mine(os.fstat(file.fileno()))
            data = file.read() if mine else b""
    except FileNotFoundError:
        return None
    except OSError:  # a link, a folder
        data = b""
    if data[:DIGEST_BYTES] != _digest(purpose, data[DIGEST_BYTES:]):
        _tell(f"Compiled code in {folder} is damaged, or not what Mercer wrote there: it is compiled anew.")
        return None
    return data[DIGEST_BYTES:]


def keep(name: str, purpose: str, data: bytes) -> None:
    """Keep bytes under a name, for other processes; where that fails (a full disk, say) this one goes on without."""
    folder = directory()
    if folder is None:
        return
    try:
        write_private(folder / name, _digest(purpose, data) + data)
    except OSError as error:
        _tell(f"Mercer cannot keep compiled code in {folder}: {error}. Other processes compile it anew.")


def write_private(path: Path, data: bytes) -> None:
    """A file that only this user can read, whole or not at all: drafted under a name that nobody can foresee."""
    descriptor, draft = tempfile.mkstemp(dir=path.parent, suffix=".draft")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        os.replace(draft, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(draft)
        raise


def _root() -> Path:
    chosen = os.environ.get("MERCER_CACHE_DIR")
    if chosen:
        return Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "mercer"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "mercer"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mercer"


def _open_to_others(path: Path) -> str:
    """Why somebody else could put code there, or this process could not; "" where neither is so.

    A user who can write to a folder above can put another one in its place, except where the sticky bit is set: there
    only the owner of an entry can move it. Users other than root may own none of them.
    """
    if not os.access(path, os.W_OK):
        return "it cannot be written to"
    if not hasattr(os, "getuid"):
        return ""
    for folder in (path, *path.parents):
        about = folder.lstat()
        if not stat.S_ISDIR(about.st_mode):
            return f"{folder} is no folder"
        if about.st_uid != os.getuid() and (about.st_uid or folder == path):
            return f"{folder} belongs to another user"
        if about.st_mode & WRITABLE_BY_OTHERS and (folder == path or not about.st_mode & stat.S_ISVTX):
            return f"others can write to {folder}"
    return ""


def _is_mine(about: os.stat_result) -> bool:
    """Whether a file is a plain one that nobody else wrote, and nobody else can write."""
    if not stat.S_ISREG(about.st_mode):
        return False
    return not hasattr(os, "getuid") or (about.st_uid == os.getuid() and not about.st_mode & WRITABLE_BY_OTHERS)


def _not_following(path: str, flags: int) -> int:
    """Open a file, neither following a link nor waiting for a pipe."""
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))


def _digest(purpose: str, data: bytes) -> bytes:
    return hashlib.sha256(purpose.encode() + b"\0" + data).digest()


@cache
def _tell(message: str) -> None:
    """Say it once."""
    LOG.warning("%s", message)
