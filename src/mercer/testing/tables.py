"""The law of wide tables: features of all rows at a backend, beside plain NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.backends.base import Backend, Layout, RowValues
from mercer.backends.lanes import NumPyOperations
from mercer.backends.row_functions import WaveFunctions
from mercer.backends.tables import Table, leading
from mercer.learners.streaming.feature_pass import Features
from mercer.testing.laws import close, require

Array = NDArray[Any]
ROWS, COLUMNS, WIDTH, SOME = 701, 3, 130, 7
LAYOUT = Layout(3, rows=64)
EXACT = {"float64": 1e-9, "float32": 1e-6}
"""How far products may be off, relative to the largest."""


def here(Z: Array | Table) -> Array:
    """A table in this process, wherever it is."""
    return Z if isinstance(Z, np.ndarray) else Z.to_host()


def law_of_tables(backend: Backend) -> None:
    """A wide table is written by passes, answers like an array, and stays where it is."""
    random = np.random.default_rng(4)
    points, W, R = (random.normal(size=shape) for shape in ((ROWS, COLUMNS), (WIDTH, 2), (ROWS, 2)))
    waves = WaveFunctions(random.normal(size=(WIDTH, COLUMNS)), np.ones(COLUMNS), 0.5, random.uniform(size=WIDTH))
    exact = waves.values(points, NumPyOperations())
    for dtype, rounding in EXACT.items():
        Z: Any = backend.table((ROWS, WIDTH), dtype)
        before = backend.traffic().brought
        sums = backend.accumulate(Features(dtype), WIDTH, LAYOUT)
        sums.add(RowValues(functions=waves, points=points), {"Z": Z})
        require(Z.dtype == np.dtype(dtype), f"a table is of {Z.dtype} instead of {dtype}")
        close(np.asarray(Z @ W), exact @ W, f"Z W in {dtype}", rounding)
        close(np.asarray(Z.T @ R[:, 0]), exact.T @ R[:, 0], f"Z'r in {dtype}", rounding)
        close(np.asarray(leading(Z, SOME) @ W[:SOME]), exact[:, :SOME] @ W[:SOME], f"columns in {dtype}", rounding)
        require(backend.traffic().brought == before, f"a table in {dtype} is brought where nobody asks for it")
        close(here(Z), exact, f"Z in {dtype}", rounding)
