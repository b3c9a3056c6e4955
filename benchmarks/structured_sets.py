"""Real strings, graphs and tables for the benchmark of structured data, and where its files are."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pyarrow.parquet import read_table
from tables import Array

from mercer.kernels import Graph
from mercer.kernels.graphs import graphs_of

TEXTS = {"surnames": "name", "sms_spam": "text", "promoters": "sequence"}
"""Sets of strings, and the column that holds them."""
SPACES = re.compile(r"\s\s+")
"""What CountVectorizer makes one space of, whether one wants it or not."""


@dataclass(frozen=True)
class Place:
    """Where data is found, and where matrices go that are compared."""

    data: Path
    work: Path


def graphs(folder: Path, name: str, count: int | None = None) -> tuple[list[Graph], Array]:
    """The first graphs of a set, or all; and their classes."""
    table = read_table(folder / f"{name}.parquet").slice(0, count)
    return graphs_of(table), table["target"].to_numpy()


def strings(folder: Path, name: str) -> tuple[list[str], Array]:
    """All strings of a set, and their classes."""
    table = read_table(folder / f"{name}.parquet")
    return table[TEXTS[name]].to_pylist(), np.array(table["target"].to_pylist())


def some_strings(folder: Path, name: str, count: int) -> list[str]:
    """So many strings of a set, drawn with the seed 0, with one space for several."""
    every, _ = strings(folder, name)
    chosen = np.random.default_rng(0).permutation(len(every))[:count]
    return [SPACES.sub(" ", every[i]) for i in chosen.tolist()]


def frame(folder: Path, name: str) -> tuple[Any, Array]:
    """A table as pandas has it, as raw as it came, and its classes."""
    table = read_table(folder / f"{name}.parquet").to_pandas()
    return table, table.pop("target").astype(str).to_numpy()


def chosen(things: list[Any], rows: Array) -> list[Any]:
    """Those in some rows."""
    return [things[i] for i in rows.tolist()]
