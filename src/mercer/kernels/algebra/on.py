"""A kernel on some of the columns."""

from __future__ import annotations

import numbers
from collections.abc import Hashable
from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from mercer.errors import KernelError, message
from mercer.kernels.algebra.mapped import Mapped
from mercer.kernels.base import Kernel
from mercer.kernels.domain import REALS, Domain
from mercer.kernels.latex import escaped
from mercer.kernels.law import Law, moved
from mercer.kernels.lift_builder import Features, LiftBuilder
from mercer.kernels.points import Column, Points

if TYPE_CHECKING:
    from mercer.kernels.waves import FrequencyGrid, WaveWeights


def check_columns(owner: str, name: str, value: Any) -> tuple[Column, ...]:
    """A tuple of positions or names, at least one."""
    listed = (value,) if isinstance(value, str | numbers.Integral) else value
    needs, remedy = "columns by position or name", "Write on(0), on([0, 2]) or on(['age'])."
    if isinstance(listed, str | bytes) or not hasattr(listed, "__iter__"):
        raise KernelError(message(needs, f"got {value!r}", remedy, subject=owner))
    columns = tuple(_plain(c) for c in listed)
    if not columns or not all(isinstance(c, str) or type(c) is int for c in columns):
        raise KernelError(message(needs, f"got {value!r}", remedy, subject=owner))
    return columns


def _plain(column: Any) -> Any:
    """A position or a name as Python has it: NumPy's own print as other texts."""
    if isinstance(column, str):
        return str.__str__(column)
    return int(column) if isinstance(column, numbers.Integral) and not isinstance(column, bool) else column


class On(Mapped):
    """A kernel on a choice of columns, written k.on(columns). Kernels on different columns add and multiply.

    `k(x, z) = k(x[columns], z[columns])`

    Parameters
    ----------
    kernel : Kernel
        The kernel inside.
    columns : int, str or list
        Positions from 0, or names; a single one, or a list.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> (Linear().on(0) * Linear().on([1, 2]))([[2.0, 1.0, 1.0]])
    array([[8.]])
    """

    formula = "k(x[columns], z[columns])"

    kernel: Kernel
    columns: tuple[Column, ...] = field(metadata={"check": check_columns})

    @property
    def map_key(self) -> Hashable:
        return (type(self), self.columns)

    def inner_points(self, points: Points) -> Points:
        return points.columns(self.columns, subject="on")

    @property
    def needed(self) -> frozenset[Column] | None:
        return frozenset(self.columns)

    @property
    def kinds(self) -> dict[Column | None, str]:
        inner = self.kernel.kinds
        if None in inner:
            return dict.fromkeys(self.columns, inner[None])
        chosen = Points(np.empty((0, len(self.columns))))  # it refuses positions that are not there
        return {
            self.columns[chosen.position(c, subject="on")] if isinstance(c, int) else c: k for c, k in inner.items()
        }

    @property
    def map_label(self) -> str:
        return f"x{list(self.columns)}"

    def image(self, domain: Domain) -> Domain:
        return domain if domain.by_coordinate else REALS

    def inner_width(self, d: int | None) -> int | None:
        positions = [c if c >= 0 else -c - 1 for c in self.columns if isinstance(c, int)]
        return 0 if d is not None and any(position >= d for position in positions) else len(self.columns)

    def law(self, d: int) -> Law | None:
        width = len(self.columns)
        if self.inner_width(d) == 0 or any(isinstance(column, str) for column in self.columns):
            return None  # where names stand is not known here
        chosen = np.array([int(column) % d for column in self.columns])
        matrix = csr_array((np.ones(width), (np.arange(width), chosen)), shape=(width, d))
        return moved(self.kernel.law(width), matrix)

    def waves(self, grid: FrequencyGrid) -> WaveWeights | None:
        from mercer.kernels.waves import on_columns  # few kernels are asked

        d = len(grid.periods)
        if self.inner_width(d) == 0 or any(isinstance(column, str) for column in self.columns):
            return None  # where names stand is not known here
        chosen = [int(column) % d for column in self.columns]
        if len(set(chosen)) < len(chosen):
            return None
        return on_columns(self.kernel.waves(grid.columns(chosen)), chosen, grid)

    @property
    def is_linear(self) -> bool:
        return True

    def finite_lift(self, build: LiftBuilder[Features]) -> Features:
        return build.chosen(self.kernel, self.columns)

    def rule(self) -> str:
        return "choosing columns is a map of the points (rule of the map)"

    def write(self, python: bool) -> tuple[str, int]:
        return self.write_postfix(python, "on", repr(list(self.columns)))

    def latex(self, x: str = "x", z: str = "z") -> str:
        below = ", ".join(escaped(str(c)) for c in self.columns)
        return self.kernel.latex(rf"{{{x}}}_{{[{below}]}}", rf"{{{z}}}_{{[{below}]}}")
