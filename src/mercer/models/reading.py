"""A model file read once, from one open descriptor: what was checked is what is used."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from mercer.models.refusing import FOREIGN, refuse, shown
from mercer.models.safetensors import BLANK, DIGEST, Header, Tensor, header_of, length_of

PIECE_BYTES = 1 << 20
"""Bytes that are read at once where nothing is kept."""
READING = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
"""How a file is opened: a pipe is not waited for."""


@dataclass(frozen=True)
class Opened:
    """A file of which the header was read.

    file : at its first tensor
    size : bytes, in all
    hash : of the header, to go on with
    """

    file: BinaryIO
    size: int
    header: Header
    hash: Any


@contextmanager
def opened(path: str | PathLike[str]) -> Iterator[Opened]:
    """A model file, its header read and checked. Cost: at most 1 MB is read."""
    try:
        descriptor = os.open(path, READING)
    except (OSError, ValueError) as error:  # a path with a zero is a ValueError
        reason = getattr(error, "strerror", None) or error
        refuse("a file that can be opened", f"{shown(os.fspath(path))} cannot: {reason}", "Check the path.")
    try:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode):
            refuse("a regular file", f"{shown(os.fspath(path))} is a folder, a pipe or a device", FOREIGN)
        with open(descriptor, "rb", buffering=0, closefd=False) as file:
            yield _begun(file, about.st_size)
    finally:
        os.close(descriptor)


def _begun(file: BinaryIO, size: int) -> Opened:
    first = _read(file, min(8, size))
    raw = _read(file, length_of(first, size))
    header = header_of(raw, size)
    return Opened(file, size, header, hashlib.sha256(first + raw[: DIGEST.start] + BLANK + raw[DIGEST.stop :]))


def tensors_of(opened: Opened) -> dict[str, NDArray[Any]]:
    """All tensors, by name, where the digest holds. Memory: theirs, which is less than the file's size."""
    found = {name: _filled(opened, tensor) for name, tensor in opened.header.tensors.items()}
    _check_digest(opened)
    return found


def look_through(opened: Opened) -> None:
    """Check the digest, and keep nothing. Memory: one piece."""
    for tensor in opened.header.tensors.values():
        for start in range(0, tensor.size, PIECE_BYTES):
            opened.hash.update(_read(opened.file, min(PIECE_BYTES, tensor.size - start)))
    _check_digest(opened)


def _filled(opened: Opened, tensor: Tensor) -> NDArray[Any]:
    array = tensor.empty()
    view = array.reshape(-1).view(np.uint8).data if array.size else memoryview(b"")
    _fill(opened.file, view)
    opened.hash.update(view)
    if tensor.code == "BOOL" and array.size and array.view(np.uint8).max() > 1:
        refuse("zeros and ones for booleans", "got other bytes")
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _fill(file: BinaryIO, view: memoryview) -> None:
    """Read until the memory is full; the operating system may give less at once."""
    done = 0
    while done < len(view):
        more = file.readinto(view[done:])  # type: ignore[attr-defined]  # a raw file has it
        if not more:
            refuse("all of its bytes", f"it ended {len(view) - done:,} bytes early")
        done += more


def _read(file: BinaryIO, size: int) -> bytes:
    piece = bytearray(size)
    _fill(file, memoryview(piece))
    return bytes(piece)


def _check_digest(opened: Opened) -> None:
    if opened.hash.hexdigest() != opened.header.digest:
        refuse("the content that its SHA-256 names", "it was changed after it was written")
