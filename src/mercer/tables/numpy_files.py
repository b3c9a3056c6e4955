"""Tables of NumPy: NPY as columns x0, x1, ..., NPZ as an array of rows and one array a further column."""

from __future__ import annotations

import re
import zipfile
import zlib
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from mercer.errors import InputError, message
from mercer.tables.limits import TableLimits
from mercer.tables.source_bytes import TableInput

MAX_ARRAYS = 1_000
"""Arrays of an NPZ file, at most."""
MAX_HEADER_BYTES = 2**16
"""Bytes of the header of an array, at most."""
DTYPE = r"[<>|=]?(?:\?|b1|f[248]|[iu][1248]|U[1-9]\d{0,8})"
"""What is read: booleans, numbers of one to eight bytes, texts."""
_KEY = r"""(?P<quote>['"])%s(?P=quote)\s*:\s*"""
ENTRIES = (
    _KEY % "descr" + r"""(?P<value>(?P<mark>['"])[^'"{}\\]{1,200}(?P=mark)|\[[^{}]*\])""",
    _KEY % "fortran_order" + r"(?P<value>True|False)\b",
    _KEY % "shape" + r"\((?P<value>[^(){}]{0,200})\)",
)
"""The entries of a header, dtype, order and shape, in the form in which NumPy, of any age, and others write them."""
LAST_LETTER = 0x10FFFF
"""The largest number of a letter in Unicode; 0xD800 to 0xDFFF are halves of letters."""


def read_npy(given: TableInput, limits: TableLimits) -> Any:
    """An Arrow table of an array of two dimensions, or of one column."""
    with given.path.open("rb") as stream:
        return _table(_columns(given.name, "x", _array(given.name, stream, given.path.stat().st_size, limits)))


def read_npz(given: TableInput, limits: TableLimits) -> Any:
    """An Arrow table: arrays of two dimensions give columns x0, x1, ... after their name, others one of their name."""
    columns: dict[str, NDArray[Any]] = {}
    try:
        with zipfile.ZipFile(given.path) as archive:
            names = [name for name in archive.namelist() if name.endswith(".npy")]
            _check_count(given.name, names)
            for name in names:
                with archive.open(name) as stream:
                    found = _array(f"{given.name}, {name}", stream, archive.getinfo(name).file_size, limits)
                columns |= _columns(given.name, name.removesuffix(".npy"), found)
                limits.check(given.name, len(found), len(columns), sum(column.nbytes for column in columns.values()))
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, OSError) as error:
        got = f"zipfile says: {error}"
        raise InputError(
            message("a sound NPZ file", got, "Write it again with np.savez.", subject=given.name)
        ) from error
    return _table(_of_one_length(given.name, columns))


def _array(name: str, stream: IO[bytes], there: int, limits: TableLimits) -> NDArray[Any]:
    """An array whose header was checked before memory was taken; objects would need pickles, and are refused.

    there : how many bytes the file has
    """
    shape, fortran, dtype = _header(name, stream)
    rows, columns = shape[0], (*shape, 1)[1]
    size = rows * columns * dtype.itemsize
    limits.check(name, rows, columns, size)
    data = stream.read(size) if size <= there else b""
    if len(data) < size:
        got = f"{min(there, size - 1):,} bytes are there"
        raise InputError(message(f"{size:,} bytes of entries", got, "Copy the file again.", subject=name))
    _refuse_letters(name, data, dtype)
    return np.frombuffer(data, dtype).reshape(shape, order="F" if fortran else "C")


def _header(name: str, stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, order and dtype. The header is no expression here: its three entries are found, and nothing else may be.

    Whatever it says of its length, no more is read than one takes.
    """
    start = stream.read(10)
    width = 2 if start[6:7] == b"\x01" else 4
    start += stream.read(width - 2)
    length = int.from_bytes(start[8:], "little")
    text = stream.read(length).decode("latin-1") if length <= MAX_HEADER_BYTES else ""
    found = [re.search(pattern, text) for pattern in ENTRIES]
    rest = text
    for match in filter(None, found):
        rest = rest.replace(match[0], "", 1)
    descr, order, shape = (match["value"] if match else "" for match in found)
    if start[:6] != b"\x93NUMPY" or not all(found) or not re.fullmatch(r"\{[\s,]*\}\s*", rest):
        got, remedy = "dtype, order and shape were not found in it, or more was", "Write it again with np.save."
        raise InputError(message("a sound NPY header", got, remedy, subject=name))
    return _shape(name, shape), order == "True", _dtype(name, descr.strip("'\""))


def _dtype(name: str, descr: str) -> np.dtype[Any]:
    if not re.fullmatch(DTYPE, descr):
        remedy = "Save numbers of at most 8 bytes, or texts of a fixed width from 1 on."
        raise InputError(
            message("numbers, booleans or texts", f"got an array of dtype {descr:.60}", remedy, subject=name)
        )
    return np.dtype(descr)


def _shape(name: str, shape: str) -> tuple[int, ...]:
    sizes = shape.replace("L", "").rstrip(", ").split(",")  # Python 2 wrote 3L
    if len(sizes) > 2 or not all(re.fullmatch(r"\s*[0-9]{1,18}\s*", size) for size in sizes):
        got = f"got an array of shape ({shape:.60})"
        raise InputError(message("one or two dimensions", got, "Save one row per observation.", subject=name))
    return tuple(map(int, sizes))


def _refuse_letters(name: str, data: bytes, dtype: np.dtype[Any]) -> None:
    """Refuse texts of numbers that are no letters; Python would not make them."""
    if dtype.kind != "U" or not data:
        return
    codes = np.frombuffer(data, np.dtype(np.uint32).newbyteorder(dtype.byteorder))
    if codes.max() > LAST_LETTER or ((codes >= 0xD800) & (codes < 0xE000)).any():
        got, remedy = "some are no letters", "Write it again with np.save."
        raise InputError(message("texts of Unicode's letters", got, remedy, subject=name))


def _columns(name: str, key: str, values: NDArray[Any]) -> dict[str, NDArray[Any]]:
    if values.ndim == 1:
        return {key: values}
    prefix = "x" if key in ("X", "x", "data", "arr_0") else f"{key}_"
    return {f"{prefix}{i}": np.ascontiguousarray(values[:, i]) for i in range(values.shape[1])}


def _of_one_length(name: str, columns: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    lengths = {len(column) for column in columns.values()}
    if len(lengths) != 1:
        got = f"got arrays of {', '.join(map(str, sorted(lengths)[:5])) or 'no'} rows"
        raise InputError(
            message("arrays of the same number of rows", got, "Save X and y of the same rows.", subject=name)
        )
    return columns


def _check_count(name: str, names: list[str]) -> None:
    if len(names) > MAX_ARRAYS:
        remedy = "Put columns together into one array."
        raise InputError(message(f"at most {MAX_ARRAYS:,} arrays", f"got {len(names):,}", remedy, subject=name))


def _table(columns: dict[str, NDArray[Any]]) -> Any:
    import pyarrow

    native = {name: column.astype(column.dtype.newbyteorder("=")) for name, column in columns.items()}
    return pyarrow.table({n: pyarrow.array(c.tolist() if c.dtype.kind == "U" else c) for n, c in native.items()})
