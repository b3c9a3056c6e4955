"""Small tables in every format that is read, and mutants of them."""

from __future__ import annotations

import gzip
import io
import random
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

ROWS = 40
WORDS = [
    b'"',
    b",",
    b";",
    b"\n",
    b"\r",
    b"\t",
    b"\x00",
    b"\xff",
    b"1e999",
    b"-",
    b"nan",
    b"NULL",
    b":",
    b" ",
    b"#",
    b"qid:1",
]
WORDS += [b"9" * 30, b"1:", b"0:1", b"-1:1", b"2000000000:1", b"\xef\xbb\xbf", b"2020-13-45", b'"' * 3, b"," * 200]
EDGES = [0, 1, -1, 7, 255, 2**16, 2**24, 2**31 - 1, -(2**31), 2**30]
LARGE = [2**31, 2**33, 2**40, 2**62, 2**63 - 1, -(2**63)]
VARINTS = [
    b"\xff\xff\xff\xff\x0f",
    b"\xfe\xff\xff\xff\x0f",
    b"\x80\x80\x80\x80\x08",
    b"\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
]
"""Numbers as Parquet's footers and pages write them."""
HEADERS = {
    b"<f8": [b"<f4", b"|O8", b"<U9", b"<i8", b"|V8", b"<c16", b"<U9999999", b"<m8", b"<U0", b"<f16", b"<M8[s]"],
    b"(40": [b"(41", b"(0", b"(-1", b"(9999999999", b"(1,40", b"('a'", b"(True"],
    b"False": [b"True", b"None", b"1+1", b"open('x')"],
    b"{": [b"[" * 30, b"{" * 90, b"(" * 200, b"-" * 9000, b"1+" * 4000],
}
"""What stands in the header of an array, and what may stand there instead."""


def columns() -> dict[str, Any]:
    """The columns of a small table: numbers, missing ones, texts, truths, dates, categories, times, lists."""
    import pyarrow

    days = pyarrow.array([18_000 + i for i in range(ROWS)], pyarrow.int32()).cast(pyarrow.date32())
    return {
        "a": np.arange(ROWS) / 7,
        "b": pyarrow.array([None if i % 5 == 0 else i for i in range(ROWS)], pyarrow.int64()),
        "c": [f"text {i % 4}" for i in range(ROWS)],
        "d": [i % 3 == 0 for i in range(ROWS)],
        "e": days,
        "f": pyarrow.array(["xyz"[i % 3] for i in range(ROWS)]).dictionary_encode(),
        "g": pyarrow.array(range(ROWS), pyarrow.int64()).cast(pyarrow.timestamp("us", "Europe/Berlin")),
        "h": pyarrow.array([[i % 7, 0] for i in range(ROWS)], pyarrow.list_(pyarrow.int64())),
    }


def write_seeds(folder: Path) -> None:
    """A file of each format, and of each way to pack it."""
    import pyarrow

    table = pyarrow.table(columns())
    text = b"a,b,c,d\n" + b"".join(
        b'%d.5,%d,"text, %d",2020-01-%02d\n' % (i, -i, i % 4, i % 28 + 1) for i in range(ROWS)
    )
    sparse = b"".join(b"%d 1:%d 3:0.5 %d:2\n" % (i % 2, i, 4 + i % 3) for i in range(ROWS))
    plain = {"t.csv": text, "semicolons.csv": text.replace(b",", b";"), "t.csv.gz": gzip.compress(text, mtime=0)}
    plain |= {"t.libsvm": sparse, "t.libsvm.gz": gzip.compress(sparse, mtime=0)}
    for name, content in plain.items():
        (folder / name).write_bytes(content)
    _write_numpy(folder)
    _write_arrow(folder, table)
    _write_parquet(folder, table)


def _write_numpy(folder: Path) -> None:
    rows = np.arange(3.0 * ROWS).reshape(ROWS, 3)
    np.save(folder / "t.npy", rows)
    np.save(folder / "texts.npy", np.array([f"t{i}" for i in range(ROWS)]))
    np.savez(folder / "t.npz", X=rows, y=np.arange(ROWS))
    np.savez_compressed(folder / "packed.npz", X=rows, y=np.arange(ROWS))


def _write_arrow(folder: Path, table: Any) -> None:
    from pyarrow import feather, ipc

    for packing in ("uncompressed", "lz4", "zstd"):
        feather.write_feather(table, folder / f"{packing}.arrow", packing, chunksize=16)
    with ipc.new_stream(folder / "stream.arrow", table.schema) as writer:
        writer.write_table(table, max_chunksize=16)


def _write_parquet(folder: Path, table: Any) -> None:
    from pyarrow import parquet

    for packing in ("none", "snappy", "gzip", "zstd"):
        parquet.write_table(table, folder / f"{packing}.parquet", compression=packing, row_group_size=16)
    parquet.write_table(table, folder / "plain.parquet", compression="none", use_dictionary=False)
    parquet.write_table(table, folder / "second.parquet", compression="none", data_page_version="2.0")
    encodings = {"a": "BYTE_STREAM_SPLIT", "b": "DELTA_BINARY_PACKED", "c": "DELTA_BYTE_ARRAY", "d": "RLE"}
    parquet.write_table(
        table.select(list("abcd")),
        folder / "encoded.parquet",
        compression="none",
        use_dictionary=False,
        column_encoding=encodings,
        data_page_version="2.0",
    )


# -- mutants ----------------------------------------------------------------------------------------------------------


def by_bytes(raw: bytes, rng: random.Random) -> bytes:
    """Bytes flipped, written over, put in, taken out, doubled or cut off; more often at the end, where footers are."""
    found = bytearray(raw)
    for _ in range(rng.choice([1, 1, 1, 2, 4, 12])):
        if not found:
            break
        _change(found, rng)
    return bytes(found)


def _change(raw: bytearray, rng: random.Random) -> None:
    low = len(raw) // 2 if rng.random() < 0.4 else 0
    at, kind = rng.randrange(low, len(raw)), rng.randrange(9)
    if kind == 0:
        raw[at] ^= 1 << rng.randrange(8)
    elif kind == 1:
        raw[at] = rng.randrange(256)
    elif kind == 2:
        raw[at : at + 4] = struct.pack("<i", rng.choice(EDGES))
    elif kind == 3:
        raw[at : at + 8] = struct.pack("<Q", rng.choice(LARGE) % 2**64)
    elif kind == 4:
        size = rng.choice([0, 1, 2, 4])
        raw[at : at + size] = rng.choice(VARINTS)
    elif kind == 5:
        raw[at:at] = rng.randbytes(rng.choice([1, 2, 8, 64]))
    elif kind == 6:
        del raw[at : at + rng.choice([1, 2, 8, 64])]
    elif kind == 7:
        raw[at:at] = raw[at : at + rng.choice([1, 8, 64, 500])]
    else:
        del raw[at:]


def by_words(raw: bytes, rng: random.Random) -> bytes:
    """Marks and odd words put into a text."""
    for _ in range(rng.choice([1, 1, 2, 5])):
        at = rng.randrange(len(raw) + 1)
        raw = raw[:at] + rng.choice(WORDS) * rng.choice([1, 1, 1, 50]) + raw[at + rng.choice([0, 0, 1, 5]) :]
    return raw


def by_gzip(raw: bytes, rng: random.Random) -> bytes:
    """A text changed before it is packed."""
    return gzip.compress(by_words(gzip.decompress(raw), rng), compresslevel=1, mtime=0)


def by_members(raw: bytes, rng: random.Random) -> bytes:
    """Arrays of a zip file changed before they are packed, so that its sums hold."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(raw)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            content = old.read(name)
            new.writestr(name, by_header(content, rng) if rng.random() < 0.6 else content)
    return out.getvalue()


def by_header(raw: bytes, rng: random.Random) -> bytes:
    """The header of an array changed: dtype, shape and order stand there as text."""
    if rng.random() < 0.3:
        return by_bytes(raw, rng)
    old = rng.choice(list(HEADERS))
    new = rng.choice(HEADERS[old])
    return raw.replace(old, new, 1)


def by_fields(raw: bytes, rng: random.Random) -> bytes:
    """Numbers of Parquet's footer and pages changed: each stands behind a byte that ends with 5 or 6."""
    found = [at for at, byte in enumerate(raw) if byte in (0x15, 0x16, 0x25, 0x26)]
    for at in rng.sample(found, min(len(found), rng.choice([1, 1, 2]))):
        end = next((i for i in range(at + 1, len(raw)) if raw[i] < 128), at)
        raw = raw[: at + 1] + rng.choice([*VARINTS, b"\x00", b"\x01", b"\x80\x20"]) + raw[end + 1 :]
    return raw


Way = Callable[[bytes, random.Random], bytes]
WAYS: dict[str, tuple[Way, ...]] = {
    ".csv": (by_bytes, by_words, by_words),
    ".libsvm": (by_bytes, by_words, by_words),
    ".gz": (by_bytes, by_gzip),
    ".npy": (by_bytes, by_header),
    ".npz": (by_bytes, by_members),
    ".arrow": (by_bytes,),
    ".parquet": (by_bytes, by_fields),
}
