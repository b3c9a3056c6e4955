"""Parquet files, read a few rows at a time."""

from __future__ import annotations

import hashlib
import os
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from pathlib import Path

from mercer.errors import InputError, message
from mercer.sources.arrow import Columns, footer_of, pyarrow_parquet
from mercer.sources.base import Batch, Source
from mercer.sources.rebatch import rebatched
from mercer.sources.tables import rows_at_once

SUFFIX = ".parquet"
BUFFER_BYTES = 1 << 16
"""Bytes of a column that are read from the disk at once, 64 KiB: without that a whole row group would be held."""
FOOTER_BYTES = 8
"""Bytes at the end of a file: the length of the footer in four of them, and the name of the format."""


@dataclass(frozen=True)
class _File:
    """A file, as it was when it was first looked at.

    stamp : its size in bytes, and when it was changed, in nanoseconds
    starts : where each row group begins among the rows of all files, and where the last one ends
    """

    path: Path
    stamp: tuple[int, int]
    starts: tuple[int, ...]

    def unchanged(self) -> None:
        """Refuse a file that was changed since."""
        if _stamp(self.path) != self.stamp:
            got = f"{self.path.name} was changed after it was first read"
            raise InputError(
                message("the same data in every pass", got, "Make a new Parquet(path).", subject="Parquet")
            )


@dataclass(frozen=True, eq=False)
class Parquet(Source):
    """The rows of a Parquet file, or of all `*.parquet` files of a folder, sorted by name, with one schema.

    Features are numbers: of float32 where all columns are float32 or narrower, and some are floating; else of float64.
    Needs pyarrow, which comes with `pip install "mercer[files]"`. Memory: two batches, and a buffer per column; a late
    start skips whole row groups unread.

    Parameters
    ----------
    path : str or Path
        The file or the folder.
    columns : sequence of str or None, default=None
        The features; None for all columns that are neither target nor weight (nor what pandas wrote as the labels of
        rows).
    target : str, sequence of str or None, default=None
        The column of targets or labels, or several.
    weight : str or None, default=None
        The column that says how often each row counts.

    Examples
    --------
    >>> import tempfile, os, pyarrow, pyarrow.parquet
    >>> from mercer.sources import Parquet
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "rows.parquet")
    ...     pyarrow.parquet.write_table(pyarrow.table({"size": [1.0, 2.0], "price": [10.0, 20.0]}), path)
    ...     rows = Parquet(path, target="price")
    ...     rows.names, rows.count, next(rows.batches(2)).targets
    (('size',), 2, array([10., 20.]))

    `KernelRidge().fit(rows)` learns from them.
    """

    path: str | os.PathLike[str]
    _: KW_ONLY
    columns: Sequence[str] | None = None
    target: str | Sequence[str] | None = None
    weight: str | None = None

    def __post_init__(self) -> None:
        _ = self._columns, self._files  # complain of what is not there

    @property
    def count(self) -> int:
        return self._files[-1].starts[-1]

    @property
    def names(self) -> tuple[str, ...] | None:
        return self._columns.features

    @cached_property
    def grain(self) -> int:
        """Twice the largest row group: then a whole one lies between."""
        return 2 * max(last - first for file in self._files for first, last in pairwise(file.starts))

    def batches(self, size: int, start: int = 0, what: str = "all") -> Iterator[Batch]:
        every = what == "all" or not self._columns.others
        return rebatched(self._read(min(size, rows_at_once(len(self._columns.read(every)))), start, every), size)

    def fingerprint(self) -> bytes:
        found = hashlib.blake2b(repr(self._columns.roles).encode(), digest_size=32)
        for file in self._files:
            found.update(repr((file.path.name, _stamp(file.path))).encode())
            found.update(_footer(file.path))
        return found.digest()

    # -- reading ------------------------------------------------------------------------------------------------------

    def _read(self, size: int, start: int, every: bool) -> Iterator[Batch]:
        """Batches of at most `size` rows, of which the first begins at `start`."""
        for file in self._files:
            if file.starts[-1] <= start:
                continue
            file.unchanged()
            group = max(0, bisect_right(file.starts, start) - 1)
            at = file.starts[group]
            groups = list(range(group, len(file.starts) - 1))
            with pyarrow_parquet().ParquetFile(file.path, buffer_size=BUFFER_BYTES, pre_buffer=False) as opened:
                for records in opened.iter_batches(size, groups, self._columns.read(every)):
                    first, at = at, at + records.num_rows
                    if at > start:
                        skip = max(0, start - first)
                        yield self._columns.batch(records.slice(skip), first + skip, every)

    @cached_property
    def _paths(self) -> list[Path]:
        path = Path(self.path)
        if not path.exists():
            raise FileNotFoundError(
                message("a file or a folder", f"{str(path)!r} is not there", "Check the path.", subject="Parquet")
            )
        if not path.is_dir():
            return [path]
        found = sorted(file for file in path.glob(f"*{SUFFIX}") if not file.name.startswith((".", "_")))
        if not found:
            got, remedy = f"{str(path)!r} holds none", "Files in folders inside it are not looked for."
            raise InputError(message(f"a folder of *{SUFFIX} files", got, remedy, subject="Parquet"))
        return found

    @cached_property
    def _columns(self) -> Columns:
        features = (self.columns,) if isinstance(self.columns, str) else self.columns
        return Columns.of(footer_of(self._paths[0]), features, self.target, self.weight)

    @cached_property
    def _files(self) -> tuple[_File, ...]:
        files: list[_File] = []
        for path in self._paths:
            stamp, footer = _stamp(path), footer_of(path)
            self._columns.same(footer)
            starts = accumulate(footer.groups, initial=files[-1].starts[-1] if files else 0)
            files.append(_File(path, stamp, tuple(starts)))
        if files[-1].starts[-1] == 0:
            raise InputError(
                message("at least one row", "there is none", "Check how it was written.", subject="Parquet")
            )
        return tuple(files)


def _stamp(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_size, found.st_mtime_ns


def _footer(path: Path) -> bytes:
    """The end of a file, which says where its columns are, how they are written, and between which numbers they lie."""
    with path.open("rb") as file:
        file.seek(-FOOTER_BYTES, os.SEEK_END)
        length = int.from_bytes(file.read(FOOTER_BYTES)[:4], "little")
        file.seek(-FOOTER_BYTES - length, os.SEEK_END)
        return file.read(length)
