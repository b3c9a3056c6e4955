"""The machine: how fast it multiplies, decomposes, reads memory and evaluates kernels; measured once, kept on disk."""

from __future__ import annotations

import hashlib
import json
import logging
import math
import os
import platform
import threading
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import scipy

from mercer.backends.base import Backend
from mercer.backends.context import CORES
from mercer.compute.codegen import cache_folder, jit_cache
from mercer.compute.runtime.threads import available

LOG = logging.getLogger("mercer.planner")
TRANSFORMED = 1000
"""Rows up to which the decomposition was measured; from there on its matrix comes from memory at every step."""
BUSY = 1.2
"""Processes a core that want to work, over the last minute, above which a machine is busy."""
VERSION = 2
"""Of what is measured at backends: rates that were kept of an older one are measured again."""
_LOCK = threading.Lock()
_KNOWN: dict[str, Machine] = {}


@dataclass(frozen=True)
class Machine:
    """Rates of one machine, from which times are predicted; all are positive, or at least zero.

    Parameters
    ----------
    products, products32 : float
        Operations per second of matrix products in float64 and float32.
    factor : float
        Seconds for n^2 of a Cholesky factor of n rows, beyond n^3 / 3 operations of products.
    eigen, eigen_row : float
        Seconds for n^3, and for n, of eigenvectors of n rows.
    bandwidth, fresh : float
        Bytes per second that are read, and that are written to newly allocated memory.
    pair, pair_column : float
        Seconds of the fused pass for a pair of rows, and for each of their columns, in float64.
    pair32, pair32_column : float
        The same in float32.
    call : float
        Seconds of a call to NumPy that computes almost nothing.
    turn, thin : float, default=0.0
        Seconds until a backend has done what takes almost no time, a few numbers being sent and brought; and more of
        them for each number of a vector. 0 where all is in the memory of this process.

    Examples
    --------
    >>> ROUGH.cholesky(20_000) < ROUGH.eigenvectors(20_000)
    True
    """

    products: float
    products32: float
    factor: float
    eigen: float
    eigen_row: float
    bandwidth: float
    fresh: float
    pair: float
    pair_column: float
    pair32: float
    pair32_column: float
    call: float
    turn: float = 0.0
    thin: float = 0.0

    def multiply(self, operations: float, single: bool = False) -> float:
        """Seconds of matrix products.

        Parameters
        ----------
        operations : float
            Floating-point operations.
        single : bool, default=False
            Whether in float32.

        Returns
        -------
        float
        """
        return operations / (self.products32 if single else self.products)

    def read(self, numbers: float) -> float:
        """Seconds to read from memory.

        Parameters
        ----------
        numbers : float
            Numbers of float64.

        Returns
        -------
        float
        """
        return 8 * numbers / self.bandwidth

    def store(self, numbers: float) -> float:
        """Seconds to write to memory that was not used before.

        Parameters
        ----------
        numbers : float
            Numbers of float64.

        Returns
        -------
        float
        """
        return 8 * numbers / self.fresh

    def cholesky(self, n: int, single: bool = False) -> float:
        """Seconds of a Cholesky factor: n^3 / 3 operations, and n^2 outside of products.

        Parameters
        ----------
        n : int
            Rows.
        single : bool, default=False
            Whether in float32.

        Returns
        -------
        float
        """
        return self.multiply(n**3 / 3, single) + self.factor * float(n) ** 2

    def eigenvectors(self, n: int) -> float:
        """Seconds for all eigenvectors of a matrix.

        The reduction to a tridiagonal matrix reads what is left of the matrix, a triangle, at each of n steps: in all
        4 n^3 / 3 bytes, which come from memory where the matrix is larger than the one that was measured.

        Parameters
        ----------
        n : int
            Rows.

        Returns
        -------
        float
        """
        streamed = 4 / 3 * max(0.0, float(n) ** 3 - float(TRANSFORMED) ** 3)
        return self.eigen * float(n) ** 3 + self.eigen_row * n + streamed / self.bandwidth

    def leading_eigenvectors(self, n: int, products: int) -> float:
        """Seconds for some of the eigenvectors of a stored matrix, by so many products with a vector.

        Parameters
        ----------
        n : int
            Rows.
        products : int
            Products with half of the matrix, each followed by four with a basis that grows by a vector.

        Returns
        -------
        float
        """
        return self.read(products * (float(n) ** 2 / 2 + 2.0 * n * products)) + 10 * products * self.call

    def pairs(self, count: float, columns: int, single: bool = False) -> float:
        """Seconds of the fused pass, times one vector.

        Parameters
        ----------
        count : float
            Pairs of rows.
        columns : int
            Columns of the rows.
        single : bool, default=False
            Whether in float32.

        Returns
        -------
        float
        """
        alone, column = (self.pair32, self.pair32_column) if single else (self.pair, self.pair_column)
        return count * (alone + column * columns)

    @classmethod
    def here(cls) -> Machine:
        """The machine at hand: known to this process, found on disk, or measured, which takes a second or two.

        Returns
        -------
        Machine
        """
        key = _key()
        with _LOCK:
            if key not in _KNOWN:
                _KNOWN[key] = _read(_file(key), key) or _measured(key)
            return _KNOWN[key]

    @classmethod
    def of(cls, backend: Backend) -> Machine:
        """The rates of a backend: known to this process, found on disk, or measured.

        Parameters
        ----------
        backend : Backend
            What computes.

        Returns
        -------
        Machine
        """
        if backend is CORES:
            return cls.here()
        key = f"{backend.signature()}, {VERSION}"
        with _LOCK:
            if key not in _KNOWN:
                _KNOWN[key] = _read(_file(key), key) or _measured(key, backend)
            return _KNOWN[key]

    @classmethod
    def measured(cls) -> Machine:
        """The machine at hand, measured anew; what was kept of it is replaced.

        Returns
        -------
        Machine
        """
        key = _key()
        with _LOCK:
            _KNOWN[key] = _measured(key)
            return _KNOWN[key]


ROUGH = Machine(
    products=5e10,
    products32=1e11,
    factor=4e-9,
    eigen=1e-10,
    eigen_row=3e-5,
    bandwidth=2e10,
    fresh=5e9,
    pair=1.2e-9,
    pair_column=3e-11,
    pair32=1e-9,
    pair32_column=3e-11,
    call=2e-6,
)
"""Two cores of 2021 or so: what small problems are planned with, for which nothing is measured."""


def _measured(key: str, backend: Backend = CORES) -> Machine:
    from mercer.planner.benchmark_machine import measure, measure_backend

    LOG.info("Mercer measures %s: a second or two, once.", "this machine" if backend is CORES else backend.name)
    busy, found = _busy(), measure() if backend is CORES else measure_backend(backend)
    _write(_file(key), key, found, busy)
    return found


# -- on disk ----------------------------------------------------------------------------------------------------------


def _key() -> str:
    """What the rates depend on: the processor, its cores, the threads that may work, and the libraries."""
    limits = [os.environ.get(name, "") for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")]
    parts = (_model(), os.cpu_count(), available(), *limits, np.__version__, scipy.__version__)
    return "|".join(map(str, parts))


def _model() -> str:
    """The name of the processor, as the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else f"{platform.machine()} {platform.processor()}"


def _file(key: str) -> Path | None:
    """Where the rates are kept: beside compiled code; None where none is kept."""
    kept = cache_folder.directory() if jit_cache.numba_works() else None
    return None if kept is None else kept / f"machine_{hashlib.sha256(key.encode()).hexdigest()[:16]}.json"


def _busy() -> bool:
    """Whether others work here: rates that were measured then are kept only until the machine is free."""
    return hasattr(os, "getloadavg") and os.getloadavg()[0] > BUSY * (os.cpu_count() or 1)


def _read(file: Path | None, key: str) -> Machine | None:
    """What a file says of this machine; None where there is none, or it is of another machine, out of date, broken."""
    try:
        record = json.loads(file.read_text(encoding="utf-8")) if file is not None else {}
        if not isinstance(record, dict) or record.pop("key", None) != key or (record.pop("busy", True) and not _busy()):
            return None
        found = Machine(**{name: float(rate) for name, rate in record.items()})
    except (OSError, ValueError, TypeError):
        return None
    return found if _sensible(found) else None


def _sensible(machine: Machine) -> bool:
    """Whether nothing is divided by zero, and no time is negative or endless."""
    rates = asdict(machine)
    divisors = [rates[name] for name in ("products", "products32", "bandwidth", "fresh")]
    return all(math.isfinite(rate) and rate >= 0 for rate in rates.values()) and min(divisors) > 0


def _write(file: Path | None, key: str, machine: Machine, busy: bool) -> None:
    """Cache the measured rates atomically; ignore failures."""
    if file is None:
        return
    try:
        cache_folder.write_private(file, json.dumps({"key": key, "busy": busy, **asdict(machine)}, indent=1).encode())
    except OSError as error:
        LOG.info("%s cannot be written: %s", file, error)
