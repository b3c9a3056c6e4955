"""Tables for the benchmark of margins: rows to train with and rows held out, standardised, as float64."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow.parquet import read_table
from tables import Array, Split, split, table_of

PIXELS = 784


@dataclass(frozen=True)
class Task:
    """A classification: a set, so many training rows, and whether one class stands against all others.

    C : the price of a violated margin; the kernel is exp(-gamma |x - z|^2)
    """

    folder: Path
    name: str
    rows: int
    binary: bool
    C: float

    @property
    def title(self) -> str:
        """How tables call it."""
        return f"{self.name}, {self.rows:,} rows, {'2' if self.binary else 'all'} classes"

    def data(self) -> Split:
        """The rows."""
        found = _READERS.get(self.name, _plain)(self.folder, self.name)
        y, true = found.y, found.true
        if self.binary:
            largest = max(np.unique(y), key=lambda label: (y == label).sum())
            y, true = (np.where(labels == largest, 1, -1) for labels in (y, true))
        return Split(found.X, y, found.new, true).first(self.rows)

    def gamma(self, X: Array) -> float:
        """What scikit-learn calls "scale"."""
        return float(1 / (X.shape[1] * X.var()))


def _plain(folder: Path, name: str) -> Split:
    return split(*table_of(folder, name))


def _adult(folder: Path, name: str) -> Split:
    """Categories become columns of zeros and ones."""
    table = read_table(folder / f"{name}.parquet")
    columns: list[Any] = []
    for column in table.column_names:
        if column == "target" or column.startswith("_"):
            continue
        values = table[column].combine_chunks()
        if not pa.types.is_large_string(values.type):
            columns.append(values.to_numpy(zero_copy_only=False).astype(np.float64)[:, None])
            continue
        encoded = values.dictionary_encode(null_encoding="encode")
        columns.append((encoded.indices.to_numpy()[:, None] == np.arange(len(encoded.dictionary))).astype(np.float64))
    return split(np.hstack(columns), np.array(table["target"].to_pylist()))


def _mnist(folder: Path, name: str) -> Split:
    """Pixels from 0 to 1, not standardised."""
    table = read_table(folder / f"{name}.parquet")
    flat = np.frombuffer(table["pixels"].combine_chunks().buffers()[1], np.uint8)
    X, y = flat.reshape(-1, PIXELS) / 255.0, table["target"].to_numpy()
    order = np.random.default_rng(0).permutation(len(X))
    X, y = X[order], y[order]
    return Split(X[:-10_000], y[:-10_000], X[-10_000:], y[-10_000:])


_READERS = {"adult": _adult, "mnist": _mnist}
