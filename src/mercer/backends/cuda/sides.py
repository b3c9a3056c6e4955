"""Both sides of a formula's groups, on a device: rows from their common origin, and what belongs to one row alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch

from mercer.backends.base import Chosen
from mercer.backends.cuda.resident import Resident
from mercer.compute.codegen.pair_statistics import Measured


@dataclass(frozen=True, eq=False)
class Sides:
    """The rows of a group on a device.

    left, right : (n, d) and (m, d), as they are given
    origin : (d,), from which products are measured; None for zero
    """

    left: torch.Tensor
    right: torch.Tensor
    origin: torch.Tensor | None

    @classmethod
    def of(cls, measured: Measured, resident: Resident, dtype: torch.dtype) -> Sides:
        """Those of a group, sent when they are not there yet."""
        group = measured.group
        left = resident.rows(group.left, dtype)
        right = left if group.right is group.left else resident.rows(group.right, dtype)
        origin = None if measured.origin is None else resident.sent(measured.origin, torch.float64)
        return cls(left, right, origin)

    @cached_property
    def moved(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Both from the origin."""
        if self.origin is None:
            return self.left, self.right
        left = _from(self.left, self.origin)
        return left, left if self.right is self.left else _from(self.right, self.origin)

    @cached_property
    def norms(self) -> tuple[torch.Tensor, torch.Tensor]:
        """|x - o|^2 of each row."""
        left, right = self.moved
        found = _squares(left)
        return found, found if right is left else _squares(right)

    @cached_property
    def shifts(self) -> tuple[torch.Tensor, torch.Tensor]:
        """<x - o, o> + |o|^2 / 2 of each row."""
        left, right = self.moved
        if self.origin is None:
            return torch.zeros_like(self.norms[0]), torch.zeros_like(self.norms[1])
        half = float(self.origin @ self.origin) / 2
        found = ((x.double() @ self.origin + half).to(x.dtype) for x in (left, right))
        return next(found), next(found)

    def within(self, rows: torch.Tensor | None, columns: torch.Tensor | None) -> Sides:
        """Some rows of both sides; what is known of them goes along."""
        left = self.left if rows is None else self.left[rows]
        same = self.right is self.left and columns is rows
        part = replace(self, left=left, right=left if same else self.right if columns is None else self.right[columns])
        for name in ("moved", "norms", "shifts"):
            if name in self.__dict__:
                one, two = self.__dict__[name]
                one, two = (one if rows is None else one[rows]), (two if columns is None else two[columns])
                part.__dict__[name] = one, one if same else two
        return part


def index(chosen: Chosen, resident: Resident) -> torch.Tensor | None:
    """Positions on the device; None for all."""
    return None if chosen is None else resident.sent(np.asarray(chosen), torch.int64)


def _from(rows: torch.Tensor, origin: torch.Tensor) -> torch.Tensor:
    """Rows from the origin, subtracted in float64 whatever comes out."""
    return (rows.double() - origin).to(rows.dtype)


def _squares(rows: torch.Tensor) -> torch.Tensor:
    return (rows.double() * rows.double()).sum(dim=1).to(rows.dtype)


def entries(vector: Any, dtype: torch.dtype, resident: Resident) -> torch.Tensor:
    """A vector of the formula: one number per row, or per column."""
    return resident.sent(np.asarray(vector), dtype)
