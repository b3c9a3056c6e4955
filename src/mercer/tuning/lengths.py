"""The lengthscales of a tree of kernels as one list of numbers: read, named, replaced, and their slopes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from mercer.kernels import Kernel
from mercer.kernels.algebra.mapped import Mapped
from mercer.kernels.algebra.scaled import Scaled
from mercer.kernels.points import Points

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Lengths:
    """Lengthscales that stand together in a tree: those of the columns of one node, or a single one.

    names : what each belongs to
    values : the numbers
    columns : the rows as the node sees them, where it depends on the sum of ((x_j - z_j) / l_j)^2 alone; else None
    """

    names: tuple[str, ...]
    values: tuple[float, ...]
    columns: Array | None = None

    def shares(self, weighted: Array, lengths: Array) -> Array:
        """What each length adds to sum_ab weighted_ab, where that is the slope of all of them together.

        A function of u = sum_j u_j with u_j = ((x_j - z_j) / l_j)^2 has the slope f'(u) (-2 u_j) by log l_j, so that
        each share of the sum over j is u_j / u. Cost: m^2 d operations for m rows.
        """
        if self.columns is None:
            return np.array([weighted.sum()])
        Z = self.columns / lengths
        Z -= Z.mean(axis=0)
        u = cdist(Z, Z, "sqeuclidean")
        Q = np.divide(weighted, u, out=np.zeros_like(u), where=u > 0)
        return np.asarray(2 * (Q.sum(axis=1) @ np.square(Z) - np.einsum("ij,ij->j", Z, Q @ Z)))


def columned(kernel: Kernel, points: Points) -> Kernel:
    """The kernel with one lengthscale per column, where it has none yet and sees several columns of numbers.

    A tree that chooses or maps columns says itself what belongs together: its lengthscales are those it has.
    """
    width = points.shape[1]
    plain = width > 1 and not points.stores and kernel.has_lengthscale and not _maps(kernel)
    return kernel.scaled([1.0] * width) if plain else kernel


def _maps(kernel: Kernel) -> bool:
    return isinstance(kernel, Mapped) or any(map(_maps, kernel.children))


def lengths_of(kernel: Kernel, points: Points) -> list[Lengths]:
    """All lengthscales, from left to right. Below one lengthscale per column no other is free."""
    found: list[Lengths] = []

    def note(node: Kernel, seen: Points, values: tuple[float, ...]) -> tuple[float, ...]:
        found.extend(_noted(node, seen, values))
        return values

    _visited(kernel, points, lambda node, seen: node.inner_points(seen), note)
    return found


def replaced(kernel: Kernel, values: Iterable[float]) -> Kernel:
    """The kernel with other lengthscales, in the same order."""
    given = iter(values)
    return _visited(kernel, None, lambda *_: None, lambda node, seen, values: tuple(float(next(given)) for _ in values))


def _noted(node: Kernel, points: Points, values: tuple[float, ...]) -> list[Lengths]:
    width = points.shape[1]
    if not isinstance(node, Scaled):
        return [Lengths((points.label(0) if width == 1 else f"{type(node).__name__} of {width} columns",), values)]
    names = tuple(points.label(column) for column in range(width))
    if node.kernel.radial:
        return [Lengths(names, values, _dense(points.values))]
    return [Lengths((name,), (value,)) for name, value in zip(names, values, strict=True)]


def _dense(values: Any) -> Array:
    return np.asarray(values.toarray() if hasattr(values, "toarray") else values, dtype=np.float64)


Seen = TypeVar("Seen")


def _visited(
    kernel: Kernel,
    seen: Seen,
    inner: Callable[[Mapped, Seen], Seen],
    visit: Callable[[Kernel, Seen, tuple[float, ...]], tuple[float, ...]],
) -> Kernel:
    """The kernel with the lengthscales that `visit` gives for a node, what it sees, and those that it has.

    seen : what the kernel sees: points, or None where that does not matter
    inner : what the children of a node see that maps points
    """
    if isinstance(kernel, Scaled):
        return kernel.with_parameters({"lengthscales": visit(kernel, seen, kernel.lengthscales)})
    if kernel.children:
        below = inner(kernel, seen) if isinstance(kernel, Mapped) else seen
        kernel = kernel.with_children(tuple(_visited(child, below, inner, visit) for child in kernel.children))
    own = kernel.parameters().get("lengthscale")
    if not isinstance(own, float):
        return kernel
    return kernel.with_parameters({"lengthscale": visit(kernel, seen, (own,))[0]})
