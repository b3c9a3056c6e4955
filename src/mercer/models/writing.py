"""A model file written whole or not at all: under another name beside it, flushed, and moved into place."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.models.refusing import refuse
from mercer.models.safetensors import BLANK, CODES, DIGEST, FORMAT, MAX_HEADER_BYTES, MAX_TENSORS, METADATA, VERSIONS
from mercer.sources.replacing import replacing

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
    write_whole(Path(path), [start + signed, *tensors])


def _bytes(array: NDArray[Any]) -> memoryview:
    """The memory of an array as it stands."""
    return array.reshape(-1).view(np.uint8).data if array.size else memoryview(b"")


def _header(record: str, arrays: dict[str, NDArray[Any]]) -> bytes:
    """The header with an empty digest, filled with spaces so that the tensors begin at a multiple of 8."""
    if len(arrays) > MAX_TENSORS:
        refuse(f"at most {MAX_TENSORS:,} tensors", f"the model has {len(arrays):,}", SMALLER)
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
    if len(raw) > MAX_HEADER_BYTES:
        refuse(f"a header of at most {MAX_HEADER_BYTES:,} bytes", f"that of the model takes {len(raw):,}", SMALLER)
    return raw


def write_whole(path: Path, pieces: Iterable[bytes | memoryview]) -> None:
    """A new file in the place of an old one: at any moment the old or the new one is there, whole."""
    with replacing(path) as file:
        for piece in pieces:
            file.write(piece)
