"""Laws that kernels of numbers and of structured data share, and how a violation is reported."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields
from typing import Any

import numpy as np

from mercer.kernels import After, Kernel, Weighted
from mercer.kernels.algebra.functions import name_of
from mercer.kernels.text import parse

PATHS = {"plain": 1 << 60, "fused": 0}
"""From how many pairs on each path uses the fused pass."""
AGREEMENT = {"float32": 1e-6, "float64": 1e-12}
"""How far the paths may differ, relative to sqrt(k(x, x) k(z, z))."""


def require(truth: Any, message: str) -> None:
    """Fail with a message unless something is true."""
    if not bool(truth):
        raise AssertionError(message)


def close(found: Any, wanted: Any, what: str, tolerance: float = 1e-10) -> None:
    """Fail unless two arrays agree to a part of their largest entry."""
    found, wanted = np.asarray(found, dtype=float), np.asarray(wanted, dtype=float)
    require(found.shape == wanted.shape, f"{what}: the shape is {found.shape} instead of {wanted.shape}")
    size = max(float(np.abs(wanted).max(initial=0.0)), 1e-300)
    gap = float(np.abs(found - wanted).max(initial=0.0))
    require(gap <= tolerance * size, f"{what}: the difference is {gap:.3g} at a size of {size:.3g}")


def law_of_value(kernel: Kernel, X: Any) -> None:
    """Frozen, hashable, equal by value."""
    twin = kernel.with_parameters(kernel.parameters())
    require(twin == kernel and hash(twin) == hash(kernel), "an equal kernel is not equal, or has another hash")
    require(kernel != object(), "it equals something that is no kernel")
    for item in fields(kernel):
        try:
            setattr(kernel, item.name, getattr(kernel, item.name))
        except FrozenInstanceError:
            continue
        raise AssertionError(f"the field {item.name} can be set")


def law_of_text(kernel: Kernel, X: Any) -> None:
    """str(kernel) parses back to an equal kernel."""
    again = parse(str(kernel), names=_names(kernel))
    require(again == kernel, f"{str(kernel)!r} parses to {again!r}")
    require("$" in kernel._repr_latex_() and kernel.latex(), "there is no LaTeX")


def law_of_parameters(kernel: Kernel, X: Any) -> None:
    """get_params and set_params are inverse to each other, and leave the kernel as it is."""
    shallow = kernel.get_params(deep=False)
    require(kernel.set_params(**shallow) == kernel, "set_params(**get_params()) gives another kernel")
    require(kernel.__sklearn_clone__() == kernel, "a clone is not equal")


def _names(kernel: Kernel) -> dict[str, Any]:
    """The names that a text of this kernel needs beyond those that every text knows."""
    found: dict[str, Any] = {}
    for child in kernel.children:
        found |= _names(child)
    if isinstance(kernel, Weighted):
        found[name_of(kernel.function)] = kernel.function
    elif isinstance(kernel, After) and kernel.matrix is None:
        found[name_of(kernel.map)] = kernel.map
    elif not kernel.children:
        found[kernel.name] = type(kernel)
    return found
