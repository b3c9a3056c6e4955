"""The task: what is to be fitted, and what is known of it before any work."""

from __future__ import annotations

from dataclasses import dataclass, replace

from mercer.planner.plan import Plan

MOST = 10**12
"""Features that a plan may have: those of a kernel of high degree may be more than the range of floats."""


@dataclass(frozen=True)
class Task:
    """What is to be fitted.

    rows, columns, outputs : of the data
    features : of the finite lift, None where there is none
    alphas : how many penalties a whole path has; 1 where alpha is given, and so many as differ where several are
    path : whether alpha is chosen by leave-one-out, which takes a decomposition that serves every alpha
    lengthscales : how many are tried
    approximable : whether landmarks can stand for the kernel: it is known, and rows are points
    spectral : whether random features can: its spectral law is known
    landmarks : of the Nystrom lift that was given; None where none was
    sought : how many were requested; fewer are kept where the kernel has no more
    lift_given : whether the features are those of a lift that was given, so that no kernel is to be matched
    products : whether products with the kernel matrix can be had without the matrix
    single : whether the rows are in float32, for which products in float32 do
    pair : seconds for a pair of these rows in a product with one vector, where that was measured
    spectrum : the largest eigenvalues of the kernel matrix, descending, as a sample of rows estimates them; or None
    alpha : the penalty, where it is known
    stored : whether the rows are in memory; False where they come in pieces from a source
    copied : numbers that are held beside every method: rows that were converted, targets, weights, coefficients

    >>> from mercer.planner import Task
    >>> task = Task(1000, 8, 1, None, 45, True)
    >>> task.rows, task.path
    (1000, True)
    """

    rows: int
    columns: int
    outputs: int
    features: int | None
    alphas: int = 1
    path: bool = False
    lengthscales: int = 1
    approximable: bool = False
    spectral: bool = False
    landmarks: int | None = None
    sought: int | None = None
    lift_given: bool = False
    products: bool = False
    single: bool = False
    pair: float | None = None
    spectrum: tuple[float, ...] | None = None
    alpha: float | None = None
    stored: bool = True
    copied: int = 0

    @property
    def countable(self) -> bool:
        """Whether there is a finite lift whose features somebody could hold."""
        return self.features is not None and self.features <= MOST

    @property
    def width(self) -> int:
        """How many features there are; 0 without a lift that somebody could hold."""
        return self.features if self.features is not None and self.countable else 0

    def approximates(self, way: Plan) -> bool:
        """Whether a method gives another model than that of the kernel, or of the lift that was given."""
        return not way.exact and self.landmarks is None

    def beside(self, way: Plan) -> Plan:
        """A method with the memory that is held beside it."""
        return replace(way, bytes=way.bytes + 8 * self.copied)

    def of_rows(self, rows: int) -> Task:
        """The same task on other rows, of which as much is copied each."""
        return replace(self, rows=rows, copied=-(-self.copied * rows // self.rows))

    @property
    def tuned(self) -> bool:
        """Whether alpha or the lengthscale is chosen."""
        return self.path or self.lengthscales > 1
