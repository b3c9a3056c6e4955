"""Kernels of graphs against GraKeL: the parts `weisfeiler_lehman` and `shortest_path` of structured.py."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from alone import Found
from pyarrow.parquet import read_table
from scaling import Row
from structured_matrices import Jobs, compared, computed, fastest, in_processes
from structured_sets import Place, graphs

from mercer.kernels import Kernel, ShortestPath, WeisfeilerLehman

SET = "NCI1"
GOAL = 5.0
ROUNDS = 5
WARM = 1_200
"""Graphs of a first matrix, which loads and compiles: so many that ours goes the way of many."""
DICTIONARY, ADJACENCY = "dictionary", "adjacency"
"""The two forms in which GraKeL keeps a graph."""
Settings = tuple[str, str, dict[str, Any]]
ROUNDS_OF: dict[str, Settings] = {
    "GraKeL": ("WeisfeilerLehman", DICTIONARY, {"n_iter": ROUNDS}),
    "GraKeL, 2 jobs": ("WeisfeilerLehman", DICTIONARY, {"n_iter": ROUNDS, "n_jobs": 2}),
}
PATHS_OF: dict[str, Settings] = {
    "GraKeL, Floyd-Warshall": ("ShortestPath", ADJACENCY, {"algorithm_type": "floyd_warshall"}),
    "GraKeL, Dijkstra": ("ShortestPath", DICTIONARY, {"algorithm_type": "dijkstra"}),
}
"""How GraKeL may do it; the fastest counts. Its own choice is one of these, by the form in which graphs came."""


def ours(folder: Path, kernel: Kernel, count: int | None, file: Path) -> Found:
    kernel(graphs(folder, SET, WARM)[0])
    start = time.perf_counter()
    given, _ = graphs(folder, SET, count)
    built = time.perf_counter() - start
    return computed(lambda: kernel(given), file) | {"built": built}


def theirs(folder: Path, settings: Settings, count: int | None, file: Path) -> Found:
    name, form, options = settings
    kernel = getattr(import_module("grakel.kernels"), name)
    kernel(**options).fit_transform(_networks(folder, form, WARM))
    start = time.perf_counter()
    given = _networks(folder, form, count)
    built = time.perf_counter() - start
    return computed(lambda: kernel(**options).fit_transform(given), file) | {"built": built}


def _networks(folder: Path, form: str, count: int | None) -> list[Any]:
    """The first graphs as GraKeL has them: made anew, since they keep what was found of them."""
    table, make = read_table(folder / f"{SET}.parquet").slice(0, count), import_module("grakel").Graph
    drawn = _matrix if form == ADJACENCY else _neighbours
    pairs = zip(table["nodes"].to_pylist(), table["edges"].to_pylist(), strict=True)
    return [make(drawn(len(nodes), edges), dict(enumerate(nodes)), graph_format=form) for nodes, edges in pairs]


def _neighbours(nodes: int, edges: list[int]) -> dict[int, dict[int, float]]:
    found: dict[int, dict[int, float]] = {u: {} for u in range(nodes)}
    for u, v in zip(edges[::2], edges[1::2], strict=True):
        found[u][v] = found[v][u] = 1.0
    return found


def _matrix(nodes: int, edges: list[int]) -> Any:
    found = np.zeros((nodes, nodes))
    u, v = np.reshape(edges, (-1, 2)).astype(int).T
    found[u, v] = found[v, u] = 1.0
    return found


def _rows(place: Place, kernel: Kernel, peers: dict[str, Settings], quick: bool, repeats: int) -> Iterator[Row]:
    count = 300 if quick else None
    work = f"{kernel}, {count or 4_110:,} graphs of {SET}"
    jobs: Jobs = {"ours": partial(ours, place.data, kernel, count)}
    jobs |= {name: partial(theirs, place.data, settings, count) for name, settings in peers.items()}
    best = in_processes(jobs, place, repeats)
    first = fastest(best, list(peers))
    for who in sorted(peers, key=lambda name: name != first):
        yield compared(work, who, best, place, GOAL if who == first else None)


def weisfeiler_lehman(place: Place, quick: bool, repeats: int) -> Iterator[Row]:
    """The whole matrix of NCI1, 4,110 graphs, 5 rounds; the goal is for GraKeL's fastest settings."""
    yield from _rows(place, WeisfeilerLehman(ROUNDS), ROUNDS_OF, quick, repeats)


def shortest_path(place: Place, quick: bool, repeats: int) -> Iterator[Row]:
    """The whole matrix of NCI1, 4,110 graphs, with labels; the goal is for GraKeL's fastest settings."""
    yield from _rows(place, ShortestPath(), PATHS_OF, quick, repeats)
