"""Files written whole or not at all: under another name beside them, flushed, and moved into place.

Only a regular file is replaced. Devices and pipes are written to; a folder and a disk are refused. Links are followed.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from mercer.sources.durable import flush_folder

DRAFT = ".mercer-draft"
"""How the names of files end that are not whole yet."""
CREATING = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
"""How a draft is opened: it is new, and no link that somebody put there is followed."""
MIN_FREE_BYTES = 2**16
"""Bytes that a place must have room for before work begins."""


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """A file to write to, which takes the place of `path` at the end: the old or the new one is there, whole.

    Where `path` is a device or a pipe, what was written is copied into it.
    """
    check_place(path)
    if is_stream(path):
        with tempfile.TemporaryFile() as whole:
            yield whole
            whole.seek(0)
            with open(os.open(path, os.O_WRONLY), "wb") as stream:
                shutil.copyfileobj(whole, stream)
        return
    path = Path(os.path.realpath(path))  # where a link leads
    with _draft(path.parent) as (draft, file):
        yield file
        file.flush()
        os.fsync(file.fileno())
        file.close()
        if path.exists():
            draft.chmod(path.stat().st_mode & 0o777)
        os.replace(draft, path)
    flush_folder(path.parent)


def is_stream(path: Path) -> bool:
    """Whether something stands there that is written to and never replaced: a device, a pipe."""
    kind = _kind(path)
    return kind is not None and not stat.S_ISREG(kind)


def check_place(path: Path) -> None:
    """Refuse a place that cannot be written to; the system's errors would name a draft that the user never saw."""
    kind = _kind(path)
    if kind is not None and stat.S_ISDIR(kind):
        raise IsADirectoryError(errno.EISDIR, "The name of a file is needed; this is a folder", str(path))
    if kind is not None and (stat.S_ISBLK(kind) or stat.S_ISSOCK(kind)):
        raise OSError(errno.EINVAL, "A file is needed; this is a disk or a socket", str(path))
    found = path if is_stream(path) else Path(os.path.realpath(path))
    if not found.parent.is_dir():
        raise FileNotFoundError(
            errno.ENOENT, "Its folder must be a folder that exists; make it first", str(path.parent)
        )
    if not os.access(found if kind is not None else found.parent, os.W_OK):
        raise PermissionError(errno.EACCES, "A place that may be written to is needed; this is none", str(path))


def probe_place(path: Path) -> None:
    """Write some bytes beside a file, and remove them: folders that are full or closed are found before any work.

    A device is written nothing to, which one that is full refuses; a pipe is left alone, as it may wait for its reader.
    """
    check_place(path)
    kind = _kind(path)
    if kind is not None and stat.S_ISCHR(kind):
        descriptor = os.open(path, os.O_WRONLY | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_NONBLOCK", 0))
        try:
            os.write(descriptor, b"")
        finally:
            os.close(descriptor)
    elif not is_stream(path):
        with _draft(Path(os.path.realpath(path)).parent) as (_, file):
            file.write(bytes(MIN_FREE_BYTES))
            file.flush()


@contextmanager
def _draft(folder: Path) -> Iterator[tuple[Path, Any]]:
    """A new file in a folder, which is removed unless it is moved away."""
    draft = folder / f".{secrets.token_hex(8)}{DRAFT}"
    file = open(os.open(draft, CREATING, 0o666), "wb")  # noqa: SIM115  # closed below, or where the draft is moved
    try:
        yield draft, file
    finally:
        with suppress(OSError):  # what was not flushed is of no use
            file.close()
        with suppress(FileNotFoundError):
            draft.unlink()


def _kind(path: Path) -> int | None:
    """What stands at a path or where it leads, as `stat` says; None where nothing does."""
    try:
        return os.stat(path).st_mode
    except FileNotFoundError:
        return None
