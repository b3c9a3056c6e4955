"""How a kernel is evaluated on two tables: fused or plainly, in which precision, by products or by differences.

A product of matrices is the fastest source of squared distances and inner products, and rounds them. How far is known
before (`Measured.error`), and how much the values of the kernel change by that is rehearsed (rehearsal.py). The fastest
way whose values stay within the promise is taken: for float32 data in float32, or with statistics in float64 and the
rest in float32; in float64; in float64 with distances from differences, which are always accurate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mercer.backends.base import Evaluator, Traced
from mercer.backends.context import current
from mercer.compute.codegen.formula import Group, asked, groups
from mercer.compute.codegen.pair_statistics import Measured
from mercer.compute.codegen.precision import exponents, fits_single
from mercer.compute.codegen.program import Method
from mercer.compute.codegen.symbols import Symbol
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
    pairs = TracedPairs(left, right)
    try:
        formula = trace(kernel, pairs)
    except (
        TypeError,
        ValueError,
    ):  # Untraceable, or code that fails on symbols; a fault of its own shows again plainly
        return None
    wanted = {group: asked(formula, group) for group in groups(formula)}
    measured = {group: Measured(group, movable=asks != {"dot"}) for group, asks in wanted.items() if asks}
    route = roughly(formula, pairs, measured) if rough else choose(kernel, formula, pairs, measured)
    shape = (left.values.shape[0], right.values.shape[0])
    return current().evaluator(Traced(formula, shape, route.precision, route.methods, measured, left is right, rough))


def roughly(formula: Symbol, pairs: TracedPairs, measured: dict[Group, Measured]) -> Route:
    """Products in the dtype of the data, whatever they round."""
    dense = not any(group.sparse for group in groups(formula))
    single = dense and pairs.left.dtype == pairs.right.dtype == SINGLE and fits_single(formula)
    methods = {group: _quick(formula, each) for group, each in measured.items()}
    return Route("float32" if single else "float64", methods)


def choose(kernel: Kernel, formula: Symbol, pairs: TracedPairs, measured: dict[Group, Measured]) -> Route:
    """The fastest route that keeps the promise."""
    product = {group: _product(formula, each) for group, each in measured.items()}
    quick = {group: _quick(formula, each) for group, each in measured.items()}
    sure = {group: _sure(formula, each) for group, each in measured.items()}
    candidates = [Route("float64", quick)]
    if measured and all(group.sparse for group in measured):  # there is no faster way than the accurate one
        return Route("float64", quick)
    dense = not any(group.sparse for group in groups(formula))
    if dense and pairs.left.dtype == pairs.right.dtype == SINGLE and fits_single(formula):
        mixed = [Route("mixed", quick), Route("mixed", sure)] if exponents(formula) else []
        otherwise = sure if current().prefers_products else product
        second = [Route("float32", otherwise)] if otherwise != quick else []
        candidates = [Route("float32", quick), *second, *mixed, *candidates]
    chosen = (route for route in candidates if keeps_promise(kernel, pairs, route, measured))
    return next(chosen, Route("float64", sure))


def _product(formula: Symbol, measured: Measured) -> Method:
    """A product of matrices; the tiles of sparse groups hold squared distances, already repaired."""
    wanted = asked(formula, measured.group)
    if measured.group.sparse:
        return Method("product" if wanted == {"dot"} else "ready")
    return Method("product", _moved(formula, measured), "root" in wanted, "root" in wanted and _few(measured))


def _quick(formula: Symbol, measured: Measured) -> Method:
    """Differences for few columns, a product for many, and wherever the backend has units for products."""
    few = _few(measured) and not current().prefers_products
    return _sure(formula, measured) if few else _product(formula, measured)


def _sure(formula: Symbol, measured: Measured) -> Method:
    """Differences, wherever distances are needed."""
    if asked(formula, measured.group) == {"dot"}:
        return Method("product")
    if measured.group.sparse:
        return Method("ready")
    return Method("differences", _moved(formula, measured))


def _moved(formula: Symbol, measured: Measured) -> bool:
    return "dot" in asked(formula, measured.group) and measured.origin is not None


def _few(measured: Measured) -> bool:
    return measured.group.width <= MAX_COLUMNS_BY_DIFFERENCES
