"""How a kernel is evaluated on two tables: fused or plainly, in which precision, by products or by differences.

A product of matrices is the fastest source of squared distances and inner products, and rounds them. How far is known
before (`Measured.error`), and how much the values of the kernel change by that is rehearsed (rehearsal.py). The fastest
way whose values stay within the promise is taken: for float32 data in float32, or with statistics in float64 and the
rest in float32; in float64; in float64 with distances from differences, which are always accurate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mercer.backends.base import Evaluator, Traced
from mercer.backends.choosing import at_rows
from mercer.backends.context import current
from mercer.compute.codegen.formula import Group
from mercer.compute.codegen.pair_statistics import Measured
from mercer.compute.codegen.precision import fits_single
from mercer.compute.codegen.program import Method
from mercer.compute.codegen.structure import Leaves, leaves
from mercer.kernels.evaluation.precision_check import Route, keeps_promise
from mercer.kernels.evaluation.trace import TracedPairs, trace
from mercer.kernels.points import SINGLE, Points

if TYPE_CHECKING:
    from mercer.kernels.base import Kernel

MAX_COLUMNS_BY_DIFFERENCES = 12
"""Up to so many columns, differences cost no more than a product."""


def bound(kernel: Kernel, left: Points, right: Points, rough: bool = False) -> Evaluator | None:
    """The evaluator that the backend at hand has for a kernel on two tables; None where it has none.

    That is so where the kernel's code cannot be followed, and on this machine's cores without Numba.

    rough : whether values may be off by more than is promised: by the rounding of |x|^2, and not of |x - z|^2
    """
    with at_rows(left.values, right.values):
        return _bound(kernel, left, right, rough)


def _bound(kernel: Kernel, left: Points, right: Points, rough: bool) -> Evaluator | None:
    pairs = TracedPairs(left, right)
    try:
        formula = trace(kernel, pairs)
    except (
        TypeError,
        ValueError,
    ):  # Untraceable, or code that fails on symbols; a fault of its own shows again plainly
        return None
    found = leaves(formula)
    units = current().further_units if current().prefers_products else None
    measured = {
        group: Measured(group, asks != {"dot"}, units(group.width) if units else 0.0)
        for group, asks in found.asked.items()
    }
    route = roughly(found, pairs, measured) if rough else choose(kernel, found, pairs, measured)
    shape = (left.values.shape[0], right.values.shape[0])
    return current().evaluator(Traced(formula, shape, route.precision, route.methods, measured, left is right, rough))


def roughly(found: Leaves, pairs: TracedPairs, measured: dict[Group, Measured]) -> Route:
    """Products in the dtype of the data, whatever they round."""
    methods = {group: _quick(asks, measured[group]) for group, asks in found.asked.items()}
    return Route("float32" if _single(found, pairs) else "float64", methods)


def choose(kernel: Kernel, found: Leaves, pairs: TracedPairs, measured: dict[Group, Measured]) -> Route:
    """The fastest route that keeps the promise; the accurate one needs no rehearsal."""
    asked = found.asked
    quick = {group: _quick(asks, measured[group]) for group, asks in asked.items()}
    if measured and all(group.sparse for group in measured):  # there is no faster way than the accurate one
        return Route("float64", quick)
    sure = {group: _sure(asks, measured[group]) for group, asks in asked.items()}
    candidates = [Route("float64", quick)] if quick != sure else []
    if _single(found, pairs):
        product = {group: _product(asks, measured[group]) for group, asks in asked.items()}
        mixed = [Route("mixed", quick), Route("mixed", sure)] if found.structure.is_parted else []
        slower = [product, sure] if current().prefers_products else [product]
        others = [Route("float32", methods) for methods in slower if methods != quick]
        candidates = [Route("float32", quick), *others, *mixed, *candidates]
    chosen = (route for route in candidates if keeps_promise(kernel, pairs, route, measured))
    return next(chosen, Route("float64", sure))


def _single(found: Leaves, pairs: TracedPairs) -> bool:
    """Whether float32 may serve: the data are of it, and dense, and so may be the numbers."""
    if any(group.sparse for group in found.groups):
        return False
    return pairs.left.dtype == pairs.right.dtype == SINGLE and fits_single(found.values, found.groups)


def _product(asks: frozenset[str], measured: Measured) -> Method:
    """A product of matrices; the tiles of sparse groups hold squared distances, already repaired."""
    if measured.group.sparse:
        return Method("product" if asks == {"dot"} else "ready")
    return Method("product", _moved(asks, measured), "root" in asks, "root" in asks and _few(measured))


def _quick(asks: frozenset[str], measured: Measured) -> Method:
    """Differences for few columns, a product for many; where the backend has units for these, one without repairs."""
    if current().prefers_products and not measured.group.sparse:
        return Method("product", _moved(asks, measured))
    return _sure(asks, measured) if _few(measured) else _product(asks, measured)


def _sure(asks: frozenset[str], measured: Measured) -> Method:
    """Differences, wherever distances are needed."""
    if asks == {"dot"}:
        return Method("product")
    if measured.group.sparse:
        return Method("ready")
    return Method("differences", _moved(asks, measured))


def _moved(asks: frozenset[str], measured: Measured) -> bool:
    return "dot" in asks and measured.origin is not None


def _few(measured: Measured) -> bool:
    return measured.group.width <= MAX_COLUMNS_BY_DIFFERENCES
