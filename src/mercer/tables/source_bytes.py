"""Where the bytes of a table come from: a file, or standard input, plain or gzipped; and what they are."""

from __future__ import annotations

import gzip
import re
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from mercer.errors import InputError, message
from mercer.tables.limits import TableLimits

CHUNK_BYTES = 2**20
STDIN = "-"
MAX_GROWTH = 200
"""How many times larger a table may be than its gzip file: text grows three to fifty times, a bomb a thousand times."""
MIN_CHECKED_BYTES = 64 * 2**20
"""Bytes from which on that is looked at."""
GZIP = b"\x1f\x8b"
MAGIC = {
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"\xff\xff\xff\xff": "arrow",
    b"\x93NUMPY": "npy",
    b"PK\x03\x04": "npz",
}
"""How files of numbers begin; a stream of Arrow begins with four bytes of ones."""
OTHERS = {b"\xd0\xcf\x11\xe0": "an old Excel workbook", b"<!doctype": "a web page", b"<html": "a web page"} | {
    b'{"': "JSON", b"[{": "JSON", b"%PDF": "a PDF", b"SQLite format 3": "a database", b"<?xml": "XML"
}  # fmt: skip
"""How files begin that are no tables."""
FORMATS = ("csv", "parquet", "arrow", "npy", "npz", "libsvm")
_LIBSVM = re.compile(rb"[-+0-9.eE]+(?:,[-+0-9.eE]+)*(?:\s+(?:qid|\d+):\S+)+\s*(?:#.*)?")


@dataclass(frozen=True)
class TableInput:
    """A table as bytes that can be read more than once.

    name : how messages call it
    path : of a plain file, which may be a temporary one
    gzipped : whether its bytes are packed
    """

    name: str
    path: Path
    gzipped: bool

    @contextmanager
    def opened(self) -> Iterator[IO[bytes]]:
        """The bytes, unpacked on the way; damage is an InputError."""
        try:
            with self._stream() as stream:
                yield stream
        except (gzip.BadGzipFile, zlib.error, EOFError) as error:
            got, remedy = f"unpacking it fails: {error}", "Copy the file again, or pack it again."
            raise InputError(message("a whole gzip file", got, remedy, subject=self.name)) from error

    def _stream(self) -> IO[bytes]:
        return cast("IO[bytes]", gzip.open(self.path, "rb")) if self.gzipped else self.path.open("rb")

    def check_expansion(self, stream: Any, unpacked: int) -> None:
        """Refuse what grows as no table does; `stream` is what was opened, and so many bytes were read from it."""
        if self.gzipped and unpacked > MIN_CHECKED_BYTES and unpacked > MAX_GROWTH * max(1, stream.fileobj.tell()):
            got = f"it grows more than {MAX_GROWTH} times when it is unpacked"
            raise InputError(
                message("a table inside of gzip", got, "If it is one, use gunzip first.", subject=self.name)
            )

    def head(self, size: int = 4096) -> bytes:
        """The first bytes, unpacked."""
        with self.opened() as stream:
            return stream.read(size)

    def format(self) -> str:
        """What the bytes are, by how they begin; text is CSV unless its first line reads as LIBSVM's."""
        head = self.head()
        self._refuse_others(head)
        found = next((name for magic, name in MAGIC.items() if head.startswith(magic)), None)
        if found is not None:
            return found
        first = next((line for line in head.split(b"\n") if line.strip() and not line.startswith(b"#")), b"")
        named = self.path.suffix.lower() in (".libsvm", ".svm", ".svmlight")
        return "libsvm" if named or _LIBSVM.fullmatch(first.strip()) else "csv"

    def _refuse_others(self, head: bytes) -> None:
        """Refuse what people mistake for a table, by its name."""
        start = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:15].lower()
        kind = next((kind for magic, kind in OTHERS.items() if start.startswith(magic.lower())), "")
        if head.startswith(b"PK") and (b"[Content_Types].xml" in head or b"xl/" in head):
            kind = "an Excel workbook"
        if kind:
            remedy = "Save it as CSV." if "Excel" in kind else "Write it as CSV or Parquet."
            raise InputError(message("a table", f"it is {kind}", remedy, subject=self.name))


@contextmanager
def table_input(source: str | Path, limits: TableLimits, stdin: Any = None) -> Iterator[TableInput]:
    """A file by its path, or all of standard input for "-", which is copied to a temporary file."""
    if str(source) != STDIN:
        path = Path(source)
        _refuse_absent(path)
        yield TableInput(path.name, path, _is_gzip(path))
        return
    with tempfile.TemporaryDirectory(prefix="mercer-") as folder:
        path = Path(folder) / "stdin"
        _copy(_standard_input() if stdin is None else stdin, path, limits)
        yield TableInput("standard input", path, _is_gzip(path))


def _standard_input() -> IO[bytes]:
    if sys.stdin is None:  # a process may be started without
        raise InputError(
            message("a table", "it is closed", "Pipe a table into it, or give a path.", subject="standard input")
        )
    return sys.stdin.buffer


def arrow_errors(*more: type[Exception]) -> tuple[type[Exception], ...]:
    """What pyarrow raises where a file is damaged, and more; a memory that is full is not among them."""
    import pyarrow

    kinds = (pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError, pyarrow.ArrowIndexError, pyarrow.ArrowKeyError)
    return (*kinds, pyarrow.ArrowTypeError, pyarrow.ArrowCapacityError, UnicodeDecodeError, *more)


@contextmanager
def refusing_damage(name: str, needs: str) -> Iterator[None]:
    """What pyarrow says of a damaged file, or of one that asks for more memory than there is, as an InputError."""
    import pyarrow

    try:
        yield
    except arrow_errors(OSError, EOFError, pyarrow.ArrowMemoryError) as error:
        full = isinstance(error, MemoryError)
        needs, remedy = ("a table that memory can hold", "Use fewer rows.") if full else (needs, "Write it again.")
        got = f"pyarrow says: {str(error).strip().rstrip('.')[:300]}"
        raise InputError(message(needs, got, remedy, subject=name)) from error


def _refuse_absent(path: Path) -> None:
    if path.is_file():
        if path.stat().st_size:
            return
        raise InputError(message("a table", "the file is empty", "Check how it was written.", subject=path.name))
    got = "it is a folder" if path.is_dir() else "there is no such file" if not path.exists() else "it is no file"
    raise InputError(message(f"a table at {path}", got, "Check the path.", subject="mercer"))


def _is_gzip(path: Path) -> bool:
    with path.open("rb") as stream:
        return stream.read(2) == GZIP


def _copy(stream: IO[bytes], path: Path, limits: TableLimits) -> None:
    """Copy until the end, or until it is too much."""
    size = 0
    with path.open("wb") as out:
        while chunk := stream.read(CHUNK_BYTES):
            size += len(chunk)
            limits.check("standard input", size=size)
            out.write(chunk)
    if not size:
        raise InputError(message("a table", "got nothing", "Pipe a table into it.", subject="standard input"))
