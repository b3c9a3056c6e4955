"""A model file written whole or not at all: under another name beside it, flushed, and moved into place."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.files.layout import BLANK, CODES, DIGEST, FORMAT, METADATA, MOST_HEADER, MOST_TENSORS, VERSIONS
from mercer.files.refusing import refuse
from mercer.sources.durable import flush_folder

DRAFT = ".mercer-draft"
"""How the names of files end that are not whole yet."""
SMALLER = "Fit on fewer rows, or with fewer columns, or keep the parts in several files."


def write(path: str | PathLike[str], record: str, arrays: Sequence[NDArray[Any]]) -> None:
    """A record and its tensors as one file. Cost: two passes over the arrays, one to hash and one to write."""
    own = [np.ascontiguousarray(array, array.dtype.newbyteorder("<")) for array in arrays]
    order = sorted(range(len(own)), key=lambda i: -own[i].itemsize)  # wide numbers first: all are aligned
    raw = _header(record, {str(i): own[i] for i in order})
    tensors = [_bytes(own[i]) for i in order]
    start = len(raw).to_bytes(8, "little")
    digest = hashlib.sha256(start + raw)
    for tensor in tensors:
        digest.update(tensor)
    signed = raw[: DIGEST.start] + digest.hexdigest().encode() + raw[DIGEST.stop :]
    write_whole(Path(path), iter([start + signed, *tensors]))


def _bytes(array: NDArray[Any]) -> memoryview:
    """The memory of an array as it stands."""
    return array.reshape(-1).view(np.uint8).data if array.size else memoryview(b"")


def _header(record: str, arrays: dict[str, NDArray[Any]]) -> bytes:
    """The header with an empty digest, filled with spaces so that the tensors begin at a multiple of 8."""
    if len(arrays) > MOST_TENSORS:
        refuse(f"at most {MOST_TENSORS:,} tensors", f"the model has {len(arrays):,}", SMALLER)
    entries: dict[str, Any] = {
        METADATA: {"sha256": BLANK.decode(), "format": FORMAT, "version": VERSIONS[-1], "record": record}
    }
    at = 0
    for name, array in arrays.items():
        entries[name] = {
            "dtype": CODES[array.dtype],
            "shape": list(array.shape),
            "data_offsets": [at, at + array.nbytes],
        }
        at += array.nbytes
    raw = json.dumps(entries, separators=(",", ":")).encode()
    raw += b" " * (-len(raw) % 8)
    if len(raw) > MOST_HEADER:
        refuse(f"a header of at most {MOST_HEADER:,} bytes", f"that of the model takes {len(raw):,}", SMALLER)
    return raw


def write_whole(path: Path, pieces: Iterator[bytes | memoryview]) -> None:
    """A new file in the place of an old one: at any moment the old or the new one is there, whole."""
    path = Path(os.path.realpath(path))  # where a link leads
    _check_place(path)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}{DRAFT}")
    try:
        with open(draft, "xb") as file:
            for piece in pieces:
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            draft.chmod(path.stat().st_mode & 0o777)
        os.replace(draft, path)
    except BaseException:
        with suppress(OSError):
            draft.unlink()
        raise
    flush_folder(path.parent)


def _check_place(path: Path) -> None:
    """Errors of the operating system would name the draft, and moving it asks no right to write an old file."""
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "A model needs the name of a file; this is a folder", str(path))
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "A model needs a folder that exists; make it first", str(path.parent))
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise PermissionError(errno.EACCES, "A model needs a place that may be written to; this is none", str(path))
