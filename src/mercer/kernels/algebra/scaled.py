"""A kernel after each column was divided by a lengthscale of its own."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array, diags_array

from mercer.compute.codegen.sparse import is_sparse, with_data
from mercer.errors import InputError, KernelError, message, number_of
from mercer.kernels.algebra.mapped import Mapped
from mercer.kernels.base import Kernel
from mercer.kernels.domain import NONNEGATIVE, REALS, Domain
from mercer.kernels.fields import check_positive
from mercer.kernels.law import Law, moved
from mercer.kernels.points import Points, refuse_objects

if TYPE_CHECKING:
    from mercer.kernels.processes import StateSpace
    from mercer.kernels.waves import FrequencyGrid, WaveWeights


def check_lengthscales(owner: str, name: str, value: Any) -> tuple[float, ...]:
    """A tuple of positive numbers, at least one."""
    try:
        listed = np.asarray(value)
    except ValueError:  # lists of different lengths
        listed = np.empty(0)
    if listed.ndim != 1 or listed.size == 0:
        raise KernelError(
            message("one lengthscale per column", f"got {value!r}", "Give a list of numbers.", subject=owner)
        )
    return tuple(check_positive(owner, name, v) for v in listed.tolist())


class Scaled(Mapped):
    """A kernel with one lengthscale per column (anisotropy, ARD), written k.scaled([...]).

    `k(x, z) = k(x / lengthscales, z / lengthscales)`

    Parameters
    ----------
    kernel : Kernel
        The kernel inside.
    lengthscales : tuple of float
        One positive number per column.

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> Gaussian().scaled([1.0, 10.0])([[0.0, 0.0]], [[0.0, 10.0]]).round(4)
    array([[0.6065]])
    """

    formula = "k(x / lengthscales, z / lengthscales)"

    kernel: Kernel
    lengthscales: tuple[float, ...] = field(metadata={"check": check_lengthscales})

    @property
    def map_key(self) -> Hashable:
        return (type(self), self.lengthscales)

    def inner_points(self, points: Points) -> Points:
        refuse_objects(points, subject="scaled")
        width = points.values.shape[1]
        if width != len(self.lengthscales):
            needs, got = f"data of {number_of(len(self.lengthscales), 'column')}", f"the data has {width}"
            raise InputError(message(needs, got, "Give one lengthscale per column.", subject="scaled"))
        labels = tuple(f"scaled {points.label(i)}" for i in range(width))
        return replace(points, values=self._divide(points.values), labels=labels)

    def _divide(self, values: Any) -> Any:
        scales = np.array(self.lengthscales)
        return with_data(values, values.data / scales[values.indices]) if is_sparse(values) else values / scales

    @property
    def width(self) -> int | None:
        return len(self.lengthscales)

    @property
    def map_label(self) -> str:
        return "x / lengthscales"

    def image(self, domain: Domain) -> Domain:
        return NONNEGATIVE if domain.within(NONNEGATIVE) else REALS

    def inner_width(self, d: int | None) -> int | None:
        return self.width if d in (None, self.width) else 0

    def law(self, d: int) -> Law | None:
        if d != self.width:
            return None
        return moved(self.kernel.law(d), self.linear_map)

    def state_space(self) -> StateSpace:
        if self.width != 1:
            return super().state_space()
        from mercer.kernels.processes import StateSpace  # of one column alone

        found, (length,) = self.kernel.state_space(), self.lengthscales
        processes = tuple(replace(process, rate=process.rate / length) for process in found.processes)
        return StateSpace(processes, tuple(kernel.scaled(self.lengthscales) for kernel in found.others))

    def waves(self, grid: FrequencyGrid) -> WaveWeights | None:
        fits = len(grid.periods) == self.width
        return self.kernel.waves(grid.scaled(self.lengthscales)) if fits else None

    @property
    def linear_map(self) -> csr_array:
        return csr_array(diags_array(1 / np.array(self.lengthscales)))

    def rule(self) -> str:
        return "dividing columns by numbers is a map of the points (rule of the map)"

    def write(self, python: bool) -> tuple[str, int]:
        return self.write_postfix(python, "scaled", repr(list(self.lengthscales)))

    def latex(self, x: str = "x", z: str = "z") -> str:
        return self.kernel.latex(rf"\Lambda {x}", rf"\Lambda {z}")
