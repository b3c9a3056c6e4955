"""A formula in the words of PyTorch, tile by tile: what serves where Triton does not, and what it is compared with."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import reduce
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from mercer.backends.base import Chosen, Traced
from mercer.backends.cuda.evaluator import DeviceEvaluator
from mercer.backends.cuda.resident import Resident
from mercer.backends.cuda.sides import Sides, entries, index
from mercer.compute.codegen.formula import Group, Total, nodes
from mercer.compute.codegen.precision import STATISTICS, VALUES
from mercer.compute.codegen.symbols import Symbol
from mercer.compute.runtime.threads import Clock, Watch

TILE_NUMBERS = {"cuda": 1 << 27, "cpu": 1 << 20}
"""Numbers of a tile, about: a formula holds some ten of them at once."""
TYPES = {"float32": torch.float32, "float64": torch.float64}

WORDS: dict[str, Callable[..., torch.Tensor]] = {
    "add": torch.add,
    "subtract": torch.sub,
    "multiply": torch.mul,
    "divide": torch.div,
    "less": torch.lt,
    "less_equal": torch.le,
    "greater": torch.gt,
    "greater_equal": torch.ge,
    "equal": torch.eq,
    "not_equal": torch.ne,
    "and": torch.logical_and,
    "or": torch.logical_or,
    "minimum": lambda a, b: torch.where(a < b, a, b),
    "maximum": lambda a, b: torch.where(a > b, a, b),
    "absolute": torch.abs,
    "power": torch.pow,
    "sqrt": torch.sqrt,
    "exp2": torch.exp2,
    "log2": torch.log2,
    "sin": torch.sin,
    "cos": torch.cos,
    "tanh": torch.tanh,
    "sin_pi": lambda a: torch.sin(torch.pi * (a - 2 * torch.round(a / 2))),
    "atan2_positive": torch.atan2,
    "arctan": torch.atan,
    "arcsin": torch.asin,
    "arccos": torch.acos,
    "arctan2": torch.atan2,
    "tan": torch.tan,
    "sinh": torch.sinh,
    "cosh": torch.cosh,
    "arcsinh": torch.asinh,
    "arccosh": torch.acosh,
    "arctanh": torch.atanh,
    "expm1": torch.expm1,
    "log1p": torch.log1p,
    "log10": torch.log10,
    "hypot": torch.hypot,
    "fmod": torch.fmod,
    "erf": torch.erf,
    "erfc": torch.erfc,
    "floor": torch.floor,
    "ceil": torch.ceil,
    "rint": torch.round,
    "trunc": torch.trunc,
}
"""What each word of a formula is called here."""


class Eager(DeviceEvaluator):
    """A formula bound to the rows of two sides, on the device of `resident`."""

    def __init__(self, traced: Traced, resident: Resident) -> None:
        self.formula, self.resident, self.methods = traced.formula, resident, traced.methods
        self.shape, self.symmetric = traced.shape, traced.symmetric
        self.dtype: np.dtype[Any] = np.dtype(VALUES[traced.precision])
        self._values = TYPES[VALUES[traced.precision]]
        self._statistics = TYPES[STATISTICS[traced.precision]]
        self._limits = {
            group: measured.limit(STATISTICS[traced.precision])
            for group, measured in traced.measured.items()
            if traced.methods[group].repaired
        }
        self._sides = {
            group: Sides.of(measured, resident, self._statistics) for group, measured in traced.measured.items()
        }
        for total in (node.value for node in nodes(self.formula) if isinstance(node.value, Total)):
            if total.group not in self._sides:
                left = resident.rows(total.group.left, self._statistics)
                same = total.group.right is total.group.left
                right = left if same else resident.rows(total.group.right, self._statistics)
                self._sides[total.group] = Sides(left, right, None)
        self._vectors = {
            id(node): entries(node.value, self._statistics, resident)
            for node in nodes(self.formula)
            if node.name in ("row", "column")
        }

    def at(self, rows: NDArray[np.intp]) -> Eager:
        """Some rows of the left side against all of the right."""
        return self.within(rows, None)

    def within(self, rows: Chosen, columns: Chosen) -> Eager:
        """Some rows against some columns."""
        part, i = copy(self), index(rows, self.resident)
        j = i if columns is rows else index(columns, self.resident)
        part.symmetric = self.symmetric and columns is rows
        n, m = self.shape
        part.shape = n if rows is None else len(rows), m if columns is None else len(columns)
        part._sides = {group: sides.within(i, j) for group, sides in self._sides.items()}
        chosen = {"row": i, "column": j}
        part._vectors = {
            id(node): self._vectors[id(node)]
            if chosen[node.name] is None
            else self._vectors[id(node)][chosen[node.name]]
            for node in nodes(self.formula)
            if id(node) in self._vectors
        }
        return part

    # -- values ---------------------------------------------------------------------------------------------------

    def device_rows(self, i0: int, i1: int) -> torch.Tensor:
        """(i1 - i0, m): the values of some rows, on the device."""
        known: dict[int, torch.Tensor] = {}
        for node in nodes(self.formula):
            known[id(node)] = self._value(node, known, i0, i1)
        found = known[id(self.formula)].to(self._values)
        return torch.broadcast_to(found, (i1 - i0, self.shape[1])).contiguous()

    def _value(self, node: Symbol, known: dict[int, torch.Tensor], i0: int, i1: int) -> torch.Tensor:
        rows = slice(i0, i1)
        if node.name in ("number", "whole"):
            return torch.tensor(float(node.value), dtype=self._statistics, device=self.resident.device)
        if node.name == "row":
            return self._vectors[id(node)][rows, None]
        if node.name == "column":
            return self._vectors[id(node)][None, :]
        if isinstance(node.value, Total):
            return _total(node.value, self._sides[node.value.group], rows)
        if isinstance(node.value, Group) and not node.parts:
            return self._statistic(node.name, node.value, rows)
        parts = [known[id(part)] for part in node.parts]
        if node.name == "angle":
            return parts[0]
        if node.name == "select":
            return torch.where(parts[0] != 0, parts[1], parts[2])
        return WORDS[node.name](*parts)

    def _statistic(self, name: str, group: Group, rows: slice) -> torch.Tensor:
        sides, method = self._sides[group], self.methods[group]
        if name == "dot":
            left, right = sides.moved
            found = left[rows] @ right.T
            return found + (sides.shifts[0][rows, None] + sides.shifts[1]) if method.shifted else found
        if method.kind == "differences":
            squares = _by_differences(sides.left[rows], sides.right)
        else:
            left, right = sides.moved
            inner = left[rows] @ right.T
            squares = (sides.norms[0][rows, None] + sides.norms[1] - inner - inner).clip(min=0)
            if method.repaired:
                near = torch.nonzero(squares < self._limits[group], as_tuple=True)
                squares[near] = (sides.left[rows][near[0]] - sides.right[near[1]]).square().sum(dim=1)
        return torch.sqrt(squares) if name == "root" else squares

    @property
    def step(self) -> int:
        return max(1, TILE_NUMBERS[self.resident.device.type] // max(1, self.shape[1]))

    def device_times(self, V: torch.Tensor, watch: Watch | None = None) -> torch.Tensor:
        n, m = self.shape
        out = torch.empty((n, V.shape[1]), dtype=torch.float64, device=self.resident.device)
        clock = Clock(n * m, watch)
        for i0 in range(0, n, self.step):
            i1 = min(i0 + self.step, n)
            out[i0:i1] = self.device_rows(i0, i1).double() @ V.double()
            self.resident.settle()
            clock.tell(i1 * m)
        return out


def _by_differences(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """|x - z|^2, coordinate by coordinate."""
    out = torch.zeros((len(left), len(right)), dtype=left.dtype, device=left.device)
    for k in range(left.shape[1]):
        out += (left[:, k, None] - right[None, :, k]).square_()
    return out


def _total(total: Total, sides: Sides, rows: slice) -> torch.Tensor:
    """A sum or product over the coordinates."""
    join = torch.add if total.joined_by == "sum" else torch.mul
    left = sides.left[rows]
    terms = (_term(total.term, left[:, k, None], sides.right[None, :, k]) for k in range(left.shape[1]))
    return reduce(join, terms)


def _term(term: Symbol, x: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
    """The term of one coordinate."""
    known: dict[int, torch.Tensor] = {}
    for node in nodes(term):
        if node.name in ("x", "z"):
            known[id(node)] = x if node.name == "x" else z
        elif node.constant:
            known[id(node)] = torch.tensor(float(node.value), dtype=x.dtype, device=x.device)
        else:
            parts = [known[id(part)] for part in node.parts]
            chosen = node.name == "select"
            known[id(node)] = torch.where(parts[0] != 0, parts[1], parts[2]) if chosen else WORDS[node.name](*parts)
    return known[id(term)]
