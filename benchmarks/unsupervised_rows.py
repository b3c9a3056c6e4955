"""Rows for the benchmark of unsupervised learning: the ten quantitative columns of covertype, standardised."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pyarrow.parquet import ParquetFile, read_table
from tables import Array, median_distance

SET, COLUMNS = "covertype", 10
"""The set, and how many of its columns are quantities; the others are zeros and ones."""
WARM, LOADED = 3_100, 500
"""Rows of a small fit, which loads and compiles: so many that ours goes the way of many, and fewer for the others."""
NEAR = 20_000
"""The first rows, of which some say what the lengthscale is: the same for every size."""


@dataclass(frozen=True)
class Rows:
    """The first rows of the table, in a shuffled order, in numbers of some kind.

    file : the whole table of float64, as NumPy writes it
    """

    file: Path
    count: int
    dtype: str = "float64"

    def values(self, start: int = 0) -> Array:
        """So many rows from a place on."""
        return np.asarray(np.load(self.file, mmap_mode="r")[start : start + self.count].astype(self.dtype))

    def few(self, count: int = WARM) -> Array:
        """Rows for the small fit."""
        return self.values()[:count]

    @property
    def length(self) -> float:
        """The lengthscale of everybody: the median distance."""
        return median_distance(np.load(self.file, mmap_mode="r")[:NEAR])

    @property
    def gamma(self) -> float:
        """The same for those who write exp(-gamma |x - z|^2)."""
        return 1 / (2 * self.length**2)

    @property
    def title(self) -> str:
        """How tables call it."""
        return f"{SET}, {self.count:,} x {COLUMNS}, {self.dtype}"


def prepared(data: Path, work: Path) -> Path:
    """The file of the table, written to `work` where it is not there yet."""
    file = work / f"{SET}-{COLUMNS}.npy"
    if not file.exists():
        work.mkdir(parents=True, exist_ok=True)
        source = data / f"{SET}.parquet"
        names = ParquetFile(source).schema_arrow.names[:COLUMNS]
        table = read_table(source, columns=names)
        X = np.column_stack([table[name].to_numpy().astype(np.float64) for name in names])
        X = np.random.default_rng(0).permutation(X)
        draft = file.with_name("draft.npy")  # nobody finds half a file
        np.save(draft, (X - X.mean(axis=0)) / X.std(axis=0))
        draft.replace(file)
    return file
