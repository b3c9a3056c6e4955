"""Kernels on a line that are covariances of processes with a state: what comes next depends on the state alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mercer.kernels.base import Kernel

MAX_SIZE = 5
"""The largest state of one process: nu = 9/2."""


@dataclass(frozen=True)
class Process:
    """A Matern process of half-integer smoothness.

    size : the components of its state, nu + 1/2
    rate : per unit of the line, sqrt(2 nu) / lengthscale
    variance : its covariance at distance 0
    """

    size: int
    rate: float
    variance: float = 1.0


@dataclass(frozen=True)
class StateSpace:
    """A kernel on a line as a sum of covariances of processes, and of kernels that are none.

    processes : those that are
    others : those that are not
    """

    processes: tuple[Process, ...] = ()
    others: tuple[Kernel, ...] = ()

    @property
    def components(self) -> int:
        """Of the states of all processes together."""
        return sum(process.size for process in self.processes)

    def scaled(self, factor: float, other: Kernel) -> StateSpace:
        """The same times a number; `other` is the kernel that is this number."""
        moved = tuple(replace(process, variance=factor * process.variance) for process in self.processes)
        return StateSpace(moved, tuple(other * kernel for kernel in self.others))


def matern(nu: float, lengthscale: float) -> Process | None:
    """The process of a Matern kernel; None where its state is not finite, or large."""
    size = nu + 0.5
    if size != int(size) or not 1 <= size <= MAX_SIZE:
        return None
    return Process(int(size), float((2 * nu) ** 0.5 / lengthscale))
