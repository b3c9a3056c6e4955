"""The backend: who computes, and where wide arrays live.

*Thin* arrays (n x outputs, M x outputs, labels) are NumPy arrays of this process and cross freely. *Wide* ones (rows,
factors, features, squares of n or M rows) live at a backend and never cross.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mercer.compute.codegen.formula import Group
from mercer.compute.codegen.pair_statistics import Measured
from mercer.compute.codegen.program import Method
from mercer.compute.codegen.symbols import Symbol
from mercer.compute.runtime.memory import Budget
from mercer.compute.runtime.threads import Watch

Array = NDArray[Any]
Chosen = NDArray[np.intp] | None
"""Positions of rows; None for all."""


class Evaluator(Protocol):
    """A kernel on the rows of two sides, whose values are computed when they are asked for."""

    shape: tuple[int, int]
    """The numbers of rows of both sides."""
    dtype: np.dtype[Any]
    """The type of the values."""
    symmetric: bool
    """Whether both sides are the same."""
    threaded: bool
    """Whether threads may ask for different rows at once."""

    def at(self, rows: NDArray[np.intp]) -> Evaluator:
        """Some rows of the left side against all of the right; what belongs to the right side is shared."""
        ...

    def within(self, rows: Chosen, columns: Chosen) -> Evaluator:
        """Some rows against some columns; symmetric where both sides are one and both are the same."""
        ...

    def matrix(
        self, dtype: np.dtype[Any], workers: int, watch: Watch | None = None, out: Array | None = None
    ) -> tuple[Array, bool]:
        """All values, a symmetric matrix exactly symmetric, and whether all are surely finite."""
        ...

    def fill(self, i0: int, i1: int, out: Array) -> bool:
        """Some rows of a matrix that is not symmetric, by this thread alone, and whether all are surely finite."""
        ...

    def times(self, V: Array, workers: int, watch: Watch | None = None) -> Array:
        """The product with a matrix of m rows, in float64."""
        ...

    def peak(self, columns: int, workers: int) -> int:
        """Bytes of this process's memory that `times` holds at its peak, beside its result."""
        ...


@dataclass(frozen=True, eq=False)
class Traced:
    """What a kernel says of the rows of two sides, and how it is to be computed.

    formula : over statistics of pairs
    shape : the numbers of rows of both sides
    precision : "float32", "mixed" (statistics in float64, values in float32) or "float64"
    methods : how the statistics of each group come about
    measured : each group, measured from a common origin
    symmetric : whether both sides are the same
    rough : whether values may be off by the rounding of |x|^2
    """

    formula: Symbol
    shape: tuple[int, int]
    precision: str
    methods: dict[Group, Method]
    measured: dict[Group, Measured]
    symmetric: bool
    rough: bool = False


class Backend(ABC):
    """Who computes."""

    @property
    @abstractmethod
    def name(self) -> str:
        """As the parameter `backend` has it: "cpu", "cuda:0"."""

    @abstractmethod
    def signature(self) -> str:
        """What bits depend on beside the plan: the device and the versions of what computes on it."""

    @abstractmethod
    def budget(self) -> Budget:
        """Memory for wide arrays that may be taken now."""

    def rates(self) -> dict[str, float]:
        """How fast it computes, measured now: the fields of `mercer.planner.machine.Machine`, but for pairs of rows.

        Empty where plans are to take rough rates.
        """
        return {}

    @contextmanager
    def opened(self) -> Iterator[Backend]:
        """Itself for one fit or one prediction, with what it holds for that long."""
        yield self

    @abstractmethod
    def evaluator(self, traced: Traced) -> Evaluator | None:
        """Who evaluates a formula; None where it cannot be computed here."""
