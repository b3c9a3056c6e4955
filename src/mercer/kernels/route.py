"""How a kernel is evaluated on two tables: fused or plainly, in which precision, by products or by differences.

A product of matrices is the fastest source of squared distances and inner products, and rounds them. How far is known
before (`Measured.error`), and how much the values of the kernel change by that is rehearsed (rehearsal.py). The fastest
way whose values stay within the promise is taken: in float32, for float32 data; in float64; in float64 with distances
from differences, which are always accurate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mercer.compute import code
from mercer.compute.formula import Group, asked, groups
from mercer.compute.fused import Fused
from mercer.compute.source import Method
from mercer.compute.statistics import Measured
from mercer.compute.symbols import Symbol, Untraceable
from mercer.kernels.points import SINGLE, Points
from mercer.kernels.rehearsal import Route, keeps_promise
from mercer.kernels.traced import TracedPairs, trace

if TYPE_CHECKING:
    from mercer.kernels.base import Kernel

FEW_COLUMNS = 4
"""Up to so many columns, differences cost no more than a product."""


def fused(kernel: Kernel, left: Points, right: Points) -> Fused | None:
    """The fused pass for a kernel on two tables; None where its code cannot be followed, or Numba is missing."""
    if not code.numba_works():
        return None
    pairs = TracedPairs(left, right)
    try:
        formula = trace(kernel, pairs)
    except Untraceable:
        return None
    measured = {group: Measured(group) for group in groups(formula) if asked(formula, group)}
    route = choose(kernel, formula, pairs, measured)
    shape = (left.values.shape[0], right.values.shape[0])
    return Fused(formula, shape, route.dtype, route.methods, measured, left is right)


def choose(kernel: Kernel, formula: Symbol, pairs: TracedPairs, measured: dict[Group, Measured]) -> Route:
    """The fastest route that keeps the promise."""
    single = pairs.left.dtype == pairs.right.dtype == SINGLE
    for dtype in ("float32", "float64") if single else ("float64",):
        route = Route(dtype, {group: _method(formula, each) for group, each in measured.items()})
        if keeps_promise(kernel, pairs, route, measured):
            return route
    return Route("float64", {group: Method("differences", _moved(formula, each)) for group, each in measured.items()})


def _method(formula: Symbol, measured: Measured) -> Method:
    wanted = asked(formula, measured.group)
    if measured.group.width <= FEW_COLUMNS and wanted != {"dot"}:
        return Method("differences", _moved(formula, measured))
    return Method("product", _moved(formula, measured), "root" in wanted)


def _moved(formula: Symbol, measured: Measured) -> bool:
    return "dot" in asked(formula, measured.group) and measured.origin is not None
