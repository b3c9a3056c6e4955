"""Which kernels of one column have a form with states: processes, and finitely many features beside them."""

from __future__ import annotations

from dataclasses import dataclass

from mercer.compute.codegen import jit_cache
from mercer.kernels.processes import StateSpace
from mercer.learners.data.views import KernelView, View
from mercer.lifts.n_features import most_features

MAX_COMPONENTS = 8
"""Of all states together: the loops are written out for each number of them."""
MAX_FEATURES = 32
"""Functions of time beside processes: each is swept like an output."""


@dataclass(frozen=True)
class Form:
    """A kernel of one column as processes with a state and, beside these, finitely many features.

    components : of all states
    features : how many features there are, at most
    """

    space: StateSpace
    components: int
    features: int


def form_of(view: View) -> tuple[Form | None, str]:
    """The form of a kernel on its rows; or None, and why there is none."""
    if not isinstance(view, KernelView):
        return None, "the kernel is a lift or a matrix"
    points = view.points
    if points.sparse or points.stores or points.values.shape[1] != 1:
        return None, f"the rows have {points.values.shape[1]} columns" if points.values.shape[
            1
        ] != 1 else "rows are sparse"
    space = view.kernel.state_space()
    if not space.processes:
        return None, f"{view.kernel} has no part with a state that is known"
    if space.components > MAX_COMPONENTS:
        return None, f"the states of {view.kernel} have {space.components} components"
    sizes = [most_features(kernel, 1) for kernel in space.others]
    for kernel, size in zip(space.others, sizes, strict=True):
        if size is None or size > MAX_FEATURES:
            return None, f"{kernel} has neither a state nor a few features that are known"
    features = sum(size for size in sizes if size is not None)
    if features > MAX_FEATURES:
        return None, f"{view.kernel} has {features} features beside its states"
    if not jit_cache.numba_works():
        return None, "Numba cannot be imported"
    return Form(space, space.components, features), ""
