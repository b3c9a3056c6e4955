"""Real tables for the benchmarks, from a folder of Parquet files: standardised columns, a target, rows held out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow.parquet import read_table, write_table
from scipy.spatial.distance import pdist

Array = NDArray[Any]
HELD_OUT = 0.1
"""The part of the rows that models are scored on; the order is that of a permutation with the seed 0."""
DELAYS = (-60.0, 180.0)
"""Minutes of delay to which those of flights are clipped: a few flights were days late."""
NAMES = ("from_lat", "from_lon", "to_lat", "to_lon", "time_sin", "time_cos", "day", "distance")
TARGET = "delay"
DAY = 24 * 60
FEW = 2_000
"""Rows of a small fit, which loads and compiles before the one that counts."""
GROUP = 100_000
"""Rows of a row group of the files that are written here."""


@dataclass(frozen=True)
class Split:
    """Training rows and held-out rows."""

    X: Array
    y: Array
    new: Array
    true: Array

    def first(self, rows: int | None) -> Split:
        """The same with fewer training rows."""
        return Split(self.X[:rows], self.y[:rows], self.new, self.true)

    def cast(self, dtype: str) -> Split:
        """The same in other numbers; labels stay as they are."""
        return Split(*(values.astype(dtype) if values.dtype.kind == "f" else values for values in self._all))

    @property
    def _all(self) -> tuple[Array, ...]:
        return self.X, self.y, self.new, self.true


def table_of(folder: Path, name: str) -> tuple[Array, Array]:
    """The features as they are, in float64, and the target."""
    table = read_table(folder / f"{name}.parquet")
    kept = [column for column in table.column_names if column != "target" and not column.startswith("_")]
    return np.column_stack([table[column].to_numpy().astype(np.float64) for column in kept]), table["target"].to_numpy()


def split(X: Array, y: Array, part: float = HELD_OUT) -> Split:
    """Shuffled rows, the last of them held out, standardised by the mean and the deviation of the others."""
    order = np.random.default_rng(0).permutation(len(X))
    kept = len(X) - round(part * len(X))
    X, y = X[order], y[order]
    mean, deviation = X[:kept].mean(axis=0), X[:kept].std(axis=0)
    X -= mean
    X /= np.where(deviation > 0, deviation, 1.0)
    return Split(X[:kept], y[:kept], X[kept:], y[kept:])


def split_of(folder: Path, name: str, part: float = HELD_OUT) -> Split:
    """A table of the folder, split; a real target is standardised, too, and labels stay as they are."""
    found = split(*table_of(folder, name), part)
    if found.y.dtype.kind != "f":
        return found
    mean, deviation = found.y.mean(dtype=float), found.y.std(dtype=float)
    y, true = ((target.astype(float) - mean) / deviation for target in (found.y, found.true))
    return Split(found.X, y, found.new, true)


def median_distance(X: Array) -> float:
    """Between 2,000 rows, drawn with the seed 0: the lengthscale of everybody."""
    rows = np.random.default_rng(0).permutation(len(X))[:2_000]
    return float(np.median(pdist(X[rows].astype(float))))


# -- flights ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Flights:
    """Delays of flights as Parquet files of float32: rows to train with, rows held out, and a few to warm up with.

    Features: latitude and longitude of both airports, sine and cosine of the time of day, the day, the distance; all
    standardised. The target is the delay in minutes, clipped to DELAYS. Rows whose airport is not known are left out.
    The order is shuffled, so that the first rows are a sample.
    """

    folder: Path

    @classmethod
    def prepared(cls, data: Path, work: Path) -> Flights:
        """The files, written to `work` where they are not there yet."""
        found = cls(work)
        if not found.train.exists():  # the last one that is written
            work.mkdir(parents=True, exist_ok=True)
            parts = split(*_flights(data))
            _written(found.test, parts.new, parts.true)
            _written(found.few, parts.X[:FEW], parts.y[:FEW])
            _written(found.train, parts.X, parts.y)
        return found

    @property
    def train(self) -> Path:
        return self.folder / "flights_train.parquet"

    @property
    def test(self) -> Path:
        return self.folder / "flights_test.parquet"

    @property
    def few(self) -> Path:
        return self.folder / "flights_few.parquet"

    def split(self) -> Split:
        """All rows as arrays of float32."""
        return Split(*columns_of(self.train), *columns_of(self.test))


def _flights(folder: Path) -> tuple[Array, Array]:
    flights, airports = read_table(folder / "flights_3m.parquet"), read_table(folder / "flights_airports.parquet")
    places = dict(zip(airports["iata"].to_pylist(), _two(airports, "latitude", "longitude"), strict=True))
    ends = np.hstack([_places(flights[end], places) for end in ("origin", "destination")])
    minute = flights["minute"].to_numpy().astype(float)
    turn = 2 * np.pi * (minute % DAY) / DAY
    when = np.column_stack([np.sin(turn), np.cos(turn), minute // DAY])
    X = np.column_stack([ends, when, flights["distance"].to_numpy().astype(float)])
    known = np.isfinite(X).all(axis=1)
    return X[known], np.clip(flights["target"].to_numpy().astype(float), *DELAYS)[known]


def _two(table: Any, first: str, second: str) -> Array:
    return np.column_stack([table[name].to_numpy().astype(float) for name in (first, second)])


def _places(codes: Any, places: dict[str, Array]) -> Array:
    encoded = codes.combine_chunks()
    known = [places.get(code, np.full(2, np.nan)) for code in encoded.dictionary.to_pylist()]
    return np.asarray(np.array(known)[encoded.indices.to_numpy()])


def _written(path: Path, X: Array, y: Array) -> None:
    columns = {name: column.astype(np.float32) for name, column in zip((*NAMES, TARGET), (*X.T, y), strict=True)}
    draft = path.with_suffix(".draft")  # nobody finds half a file
    write_table(pa.table(columns), draft, row_group_size=GROUP)
    draft.replace(path)


def columns_of(path: Path) -> tuple[Array, Array]:
    """The features and the target of a file of flights."""
    table = read_table(path)
    return np.column_stack([table[name].to_numpy() for name in NAMES]), table[TARGET].to_numpy()
