"""The layout of a model file, which is that of safetensors: a length, a header of JSON, and raw numbers.

Eight bytes hold the length of the header; then comes the header, and then one tensor after the other, without a gap.
The header says of every tensor its dtype, its shape, and where it begins and ends; under "__metadata__" it holds a
SHA-256 of the whole file (its own 64 letters read as zeros), the format, its version, and the record of the model.
Everything is checked against the size of the file before memory is allocated.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.models.refusing import FOREIGN, refuse, shown
from mercer.models.strict_json import strict_json

FORMAT = "mercer model"
VERSIONS = ("2",)
"""The versions of the format that can be read; the last is the one that is written."""
OLD = {"1": "Mercer 0.1"}
"""Versions that this one no longer reads, and what does."""
METADATA = "__metadata__"
OPENING = b'{"__metadata__":{"sha256":"'
"""How every header begins: the digest stands at a fixed place."""
DIGEST = slice(len(OPENING), len(OPENING) + 64)
"""Where the digest stands in the header."""
BLANK = b"0" * 64
"""What stands there while the digest is computed."""
SHORTEST = DIGEST.stop + 2
MAX_HEADER_BYTES = 1_000_000
"""Bytes of a header."""
STARTS = {
    b"\x80": "a pickle, which Mercer never loads",
    b"PK": "a zip archive",
    b"\x1f\x8b": "gzip",
    b"x": "a packed pickle",
    b"<": "a page of HTML",
    b"PAR1": "a table in Parquet",
    b"\x93NUMPY": "an array of NumPy",
    b"\x89HDF": "HDF5",
}
"""How other files begin that are taken for models; Mercer's begin with a small number."""
MAX_TENSORS = 4096
MAX_AXES = 8
DTYPES: dict[str, np.dtype[Any]] = {
    "BOOL": np.dtype("?"),
    "U8": np.dtype("u1"),
    "I8": np.dtype("i1"),
    "U16": np.dtype("<u2"),
    "I16": np.dtype("<i2"),
    "U32": np.dtype("<u4"),
    "I32": np.dtype("<i4"),
    "U64": np.dtype("<u8"),
    "I64": np.dtype("<i8"),
    "F16": np.dtype("<f2"),
    "F32": np.dtype("<f4"),
    "F64": np.dtype("<f8"),
}
"""What safetensors calls the dtypes that are kept."""
CODES = {dtype: code for code, dtype in DTYPES.items()}


@dataclass(frozen=True)
class Tensor:
    """One tensor as the header states it.

    code : its dtype in the words of safetensors
    shape : of as many axes as NumPy's array has
    size : its bytes
    """

    code: str
    shape: tuple[int, ...]
    size: int

    def empty(self) -> np.ndarray[Any, np.dtype[Any]]:
        """Memory for it; its size was compared with that of the file."""
        return np.empty(self.shape, DTYPES[self.code])


@dataclass(frozen=True)
class Header:
    """What the header states.

    tensors : by name, in the order of the file
    digest : the SHA-256 of the file, as 64 letters
    record : the text of the record, not read yet
    """

    tensors: Mapping[str, Tensor]
    digest: str
    record: str


def length_of(first: bytes, size: int) -> int:
    """The length of the header of a file of so many bytes, from its first eight."""
    if not size:
        refuse("at least a header", "the file is empty")
    length = int.from_bytes(first, "little")
    if len(first) < 8 or length < SHORTEST:
        refuse("at least a header", f"it has {size} bytes, and states a header of {length}", FOREIGN)
    if length > MAX_HEADER_BYTES:
        known = next((f"it begins like {what}" for start, what in STARTS.items() if first.startswith(start)), "")
        refuse(f"a header of at most {MAX_HEADER_BYTES:,} bytes", known or f"it states one of {length:,}", FOREIGN)
    if 8 + length > size:
        refuse("its whole header", f"it ends after {size:,} of {8 + length:,} bytes")
    return length


def header_of(raw: bytes, size: int) -> Header:
    """The header from its bytes, checked against the size of the file."""
    if not raw.startswith(OPENING) or not re.fullmatch(rb"[0-9a-f]{64}", raw[DIGEST]):
        refuse("the opening of Mercer's files", f"got {shown(raw[:40])}", FOREIGN)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        refuse("a header in UTF-8", f"byte {error.start} of it is none")
    found = strict_json(text, "header")
    record = _record(found.pop(METADATA))
    return Header(_tensors(found, size - 8 - len(raw)), text[DIGEST], record)


def _record(metadata: Any) -> str:
    if not isinstance(metadata, dict) or metadata.get("format") != FORMAT:
        refuse(f"the format {FORMAT!r}", f"got {shown(metadata)}", FOREIGN)
    version = metadata.get("version")
    if version not in VERSIONS:
        old = OLD.get(version) if isinstance(version, str) else None
        remedy = "Install a newer Mercer, or save the model with this one."
        if old is not None:
            remedy = f"{old} reads it: predict with that, or fit the model again with this one."
        refuse(f"a version among {', '.join(VERSIONS)}", f"it is of version {shown(version)}", remedy)
    keys = {"sha256", "format", "version", "record"}
    if set(metadata) != keys or not isinstance(metadata["record"], str):
        refuse(f"the entries {', '.join(sorted(keys))}", f"there are {shown(sorted(metadata))}")
    return str(metadata["record"])


def _tensors(entries: dict[str, Any], room: int) -> dict[str, Tensor]:
    """The tensors, which fill so many bytes without a gap."""
    if len(entries) > MAX_TENSORS:
        refuse(f"at most {MAX_TENSORS:,} tensors", f"it states {len(entries):,}", FOREIGN)
    found, at = {}, 0
    for name, entry in entries.items():
        tensor, begin = _tensor(name, entry)
        if begin != at:
            refuse("tensors one after the other", f"{shown(name)} begins at {begin}, where {at} is due")
        found[name], at = tensor, at + tensor.size
        if at > room:
            refuse("tensors inside of the file", f"{shown(name)} ends at {at:,}, and there are {room:,} bytes")
    if at != room:
        refuse("no bytes beyond its tensors", f"they take {at:,}, and there are {room:,}")
    return found


def _tensor(name: str, entry: Any) -> tuple[Tensor, int]:
    """One tensor, and where it begins."""
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        refuse("dtype, shape and data_offsets of a tensor", f"{shown(name)} has {shown(entry)}")
    code, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(code, str) or code not in DTYPES:
        refuse(f"a dtype among {', '.join(DTYPES)}", f"that of {shown(name)} is {shown(code)}")
    if not _sizes(shape) or len(shape) > MAX_AXES:
        refuse(f"a shape of at most {MAX_AXES} sizes", f"that of {shown(name)} is {shown(shape)}")
    if not _sizes(offsets) or len(offsets) != 2:
        refuse("two offsets", f"those of {shown(name)} are {shown(offsets)}")
    size = math.prod(shape) * DTYPES[code].itemsize
    if offsets[1] - offsets[0] != size:
        got = f"{shown(name)} has {offsets[1] - offsets[0]:,} of {size:,}"
        refuse("as many bytes as a shape takes", got)
    if math.prod(filter(None, shape)) >= 1 << 60:  # one axis is empty, and NumPy counts the others
        refuse("shapes that memory could hold", f"that of {shown(name)} is {shown(shape)}")
    return Tensor(code, tuple(shape), size), offsets[0]


def _sizes(given: Any) -> bool:
    """Whether these are integers from 0 on that NumPy can count with."""
    return isinstance(given, list) and all(type(one) is int and 0 <= one < 1 << 60 for one in given)
