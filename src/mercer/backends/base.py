"""The backend: what computes, and where wide arrays live.

*Thin* arrays (n x outputs, M x outputs, labels) are NumPy arrays of this process and cross freely. *Wide* ones (rows,
factors, features, squares of n or M rows) live at a backend and never cross.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from mercer.backends.board import Board
from mercer.backends.passes import Pass
from mercer.backends.row_functions import RowFunctions
from mercer.backends.squares import Square
from mercer.backends.tables import Table
from mercer.compute.codegen.formula import Group
from mercer.compute.codegen.pair_statistics import Measured
from mercer.compute.codegen.program import Method
from mercer.compute.codegen.symbols import Symbol
from mercer.compute.runtime.memory import Budget
from mercer.compute.runtime.run import State
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


@dataclass(frozen=True)
class Layout:
    """How rows are dealt to those who have sums of their own: bits depend on it, and it depends on the plan alone.

    lanes : who has sums of its own: a thread, a task; rows are dealt to them strip by strip, in turn. A card has one
    threads : that work together where there is one lane
    rows : of a strip; 0 for as many as suit the backend, which follows from lanes, threads and the width
    """

    lanes: int
    threads: int = 1
    rows: int = 0


@dataclass(frozen=True, eq=False)
class RowValues:
    """Numbers for each row of a piece, equally many for each.

    evaluator : of the rows with landmarks; None where there is a table
    table : (rows, width), float64, to be overwritten
    functions, points : of rows (rows, d), whose values are made where sums are; both or none
    triangle : a lower triangular L, where not the values are wanted but these times L'^-1; else None
    across : makes the evaluator of the landmarks with the rows, for products with the transposed values; or None
    subject : who is named where values are infinite
    """

    evaluator: Evaluator | None = None
    table: Array | None = None
    functions: RowFunctions | None = None
    points: Array | None = None
    triangle: Array | None = None
    across: Callable[[], Evaluator] | None = None
    subject: object = "The kernel"

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and numbers for each."""
        if self.table is not None:
            return len(self.table), self.table.shape[1]
        if self.functions is not None and self.points is not None:
            return len(self.points), self.functions.width
        if self.evaluator is None:
            raise ValueError("values of neither an evaluator nor a table")
        return self.evaluator.shape


class Accumulator(Protocol):
    """What a pass adds up, at a backend: every lane has sums of its own, across pieces."""

    def add(self, values: RowValues, rows: Mapping[str, Array], watch: Watch | None = None) -> dict[str, Array]:
        """The rows of a piece; what the pass leaves with them.

        An error, or a watch that raises one, leaves sums of nobody knows which rows.

        rows : columns of all rows of the piece; what is left is written to those of its name, or to new ones. One
            that is wide stays at the backend, unless an array of this process is given for it
        watch : takes progress
        """
        ...

    def state(self) -> State:
        """The sums of each lane, as "name lane", to go on from."""
        ...

    def joined(self) -> dict[str, Array]:
        """The sums of all lanes, added in their order; nothing is left here."""
        ...


class Traffic(NamedTuple):
    """Bytes that went to where wide arrays live, and that were brought back."""

    sent: int = 0
    brought: int = 0


class Backend(ABC):
    """What computes."""

    holds_squares: ClassVar[bool] = False
    """Whether symmetric matrices live here, and not in this process."""
    holds_tables: ClassVar[bool] = False
    """Whether features of all rows live here, and not in this process."""

    prefers_products: ClassVar[bool] = False
    """Whether products of matrices are faster than differences of a few coordinates."""

    def further_units(self, width: int) -> float:
        """Units that rounding moves float32's products of rows beside the usual ones, of so many columns."""
        return 0.0

    @property
    @abstractmethod
    def name(self) -> str:
        """As the parameter `backend` has it: "cpu", "cuda:0"."""

    def is_here(self) -> bool:
        """Whether it is on this machine: a model may have moved."""
        return True

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

    def square(self, rows: Evaluator | Array, diagonal: Array) -> Square | None:
        """A symmetric matrix at this backend; None where LAPACK of this process works on a stored array.

        rows : what computes its rows, or its values
        diagonal : that of the matrix
        """
        return None

    def board(self, rows: Evaluator, diagonal: Array) -> Board | None:
        """Where working sets of a symmetric matrix are chosen and moved; None where this process does so.

        rows : what computes its rows
        diagonal : that of the matrix
        """
        return None

    def table(self, shape: tuple[int, int], dtype: Any) -> Array | Table:
        """Room for a wide table, to be given to a pass as one of its columns."""
        return np.empty(shape, dtype)

    def accumulate(
        self, work: Pass, width: int, layout: Layout, state: State | None = None, after: Accumulator | None = None
    ) -> Accumulator:
        """What takes the rows of a pass, piece by piece; the lanes of this process, where a backend has none.

        width : numbers of a row
        state : of an accumulator of the same pass and layout, to go on from
        after : one that has been joined, whose memory may be used
        """
        from mercer.backends.lanes import lanes_of  # who evaluates kernels alone needs no LAPACK

        return lanes_of(work, width, layout, state, after)

    def traffic(self) -> Traffic:
        """How much went to and fro since this backend was made: nothing, where all is in the memory of this process."""
        return Traffic()
