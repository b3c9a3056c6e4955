"""The rates of this machine, each from a small piece of the work that it stands for: a second or two in all."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import eigh, lapack

from mercer.backends.base import Backend
from mercer.backends.context import use
from mercer.operators import Gram
from mercer.planner.machine import ROUGH, TRANSFORMED, Machine

REPEATS, SECONDS = 2, 0.12
"""Each piece is done so often at least, and for so long: the shortest time counts, since others only add to it."""
KERNEL = "matern(nu=2.5, lengthscale={})"
"""Whose pairs are timed: the default of the learners, so that its code is compiled in any case."""
ROWS, NARROW, WIDE = 4000, 4, 32
"""Of the tables whose pairs are timed."""
MANY_ROWS = 100_000
"""Of those that keep a graphics card busy."""
SQUARE, FACTORED, SMALL = 1024, 1500, 400
"""Rows of the matrices that are multiplied, factored and, the smaller of two, decomposed."""
STREAM, SIDE = 1 << 23, 1 << 11
"""Numbers that are read, and written, 64 MB: more than most caches hold; and the columns that they stand in."""
CALLS = 2000
"""Calls that are timed together."""


def measure() -> Machine:
    """The rates of this machine, now; processes beside this one make it look slower."""
    random = np.random.default_rng(0)
    products, products32 = (2 * SQUARE**3 / _product(random, dtype) for dtype in (np.float64, np.float32))
    eigen, row = _eigen(random)
    read, written = _streams()
    alone, column = _pairs(random, np.float64, products)
    alone32, column32 = _pairs(random, np.float32, products32)
    return Machine(
        products=products,
        products32=products32,
        factor=max(0.0, _factor(random) / FACTORED**2 - FACTORED / 3 / products),
        eigen=eigen,
        eigen_row=row,
        bandwidth=read,
        fresh=written,
        pair=alone,
        pair_column=column,
        pair32=alone32,
        pair32_column=column32,
        call=_call(),
    )


def measure_backend(backend: Backend) -> Machine:
    """The rates of another backend: what it says of itself, and products with kernel matrices there."""
    rates, random = backend.rates(), np.random.default_rng(0)
    if not rates:
        return ROUGH
    with use(backend):
        alone, column = _pairs(random, np.float64, rates["products"], MANY_ROWS)
        alone32, column32 = _pairs(random, np.float32, rates["products32"], MANY_ROWS)
    return Machine(**rates, pair=alone, pair_column=column, pair32=alone32, pair32_column=column32)


def shortest(work: Callable[[], object]) -> float:
    """Seconds of a piece of work, the least of some times."""
    times: list[float] = []
    while len(times) < REPEATS or sum(times) < SECONDS:
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def _product(random: np.random.Generator, dtype: Any) -> float:
    A = random.normal(size=(SQUARE, SQUARE)).astype(dtype)
    return shortest(lambda: A @ A)


def _factor(random: np.random.Generator) -> float:
    A = _positive(random, FACTORED)
    return shortest(lambda: lapack.dpotrf(A, lower=1, clean=0))


def _eigen(random: np.random.Generator) -> tuple[float, float]:
    """The terms of n^3 and of n, through the times of two sizes."""
    sizes = (SMALL, TRANSFORMED)
    matrices = [_positive(random, n) for n in sizes]
    less, more = (shortest(lambda A=A: eigh(A, driver="evd", check_finite=False)) for A in matrices)  # type: ignore[misc]
    n, m = map(float, sizes)
    cubic = (more / m - less / n) / (m**2 - n**2)
    cubic = min(max(cubic, 0.5 * more / m**3), more / m**3)
    return cubic, max(0.0, more / m - cubic * m**2)


def _positive(random: np.random.Generator, n: int) -> Any:
    A = random.normal(size=(n, n))
    return np.asfortranarray(A @ A.T / n + np.eye(n))


def _streams() -> tuple[float, float]:
    """Bytes per second of a matrix times a vector, and of a new array."""
    A, v = np.full((STREAM // SIDE, SIDE), 0.5), np.ones(SIDE)
    return A.nbytes / shortest(lambda: A @ v), A.nbytes / shortest(lambda: np.full(A.shape, 0.5))


def _pairs(random: np.random.Generator, dtype: Any, products: float, rows: int = ROWS) -> tuple[float, float]:
    """Seconds of a pair without columns, and of each column: a line through two widths, no flatter than products."""
    narrow, wide = (_pair(random, dtype, columns, rows) for columns in (NARROW, WIDE))
    column = max(2 / products, (wide - narrow) / (WIDE - NARROW))
    return max(0.0, narrow - column * NARROW), column


def _pair(random: np.random.Generator, dtype: Any, columns: int, rows: int) -> float:
    X, v = random.normal(size=(rows, columns)).astype(dtype), np.ones((rows, 1), dtype=dtype)
    gram = Gram(KERNEL.format(math.sqrt(2 * columns)), X)  # about the median distance
    gram @ v  # compiled, or loaded
    return shortest(lambda: gram @ v) / (rows**2 / 2)


def _call() -> float:
    v = np.ones(8)
    return shortest(lambda: [v + v for _ in range(CALLS)]) / CALLS
