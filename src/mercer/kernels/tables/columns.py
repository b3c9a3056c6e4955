"""One kernel for a table of columns of several kinds: a kernel for each column, added or multiplied."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from mercer.errors import KernelError, message
from mercer.kernels.algebra import Product, Sum
from mercer.kernels.base import Kernel

JOINS = {"sum": Sum, "product": Product}


def Columns(parts: Mapping[Any, Kernel] | Iterable[tuple[Any, Kernel]], join: str = "sum") -> Kernel:  # noqa: N802
    """The sum or the product of kernels, each on its own columns: k1.on(columns1) + k2.on(columns2) + ...

    A sum finds rows alike that agree in one part, a product those that agree in all. What comes back is an ordinary
    tree: it prints, parses, is proven, and its parts can be reached by `get_params`.

    Parameters
    ----------
    parts : dict or list of pairs
        Which kernel looks at which columns. Columns are a name, a position from 0, or several of these, in a tuple or
        (in pairs) a list.
    join : {"sum", "product"}, default="sum"
        How the kernels are joined.

    Returns
    -------
    Kernel
        A sum or a product of `On`.

    Examples
    --------
    >>> from mercer.kernels import Columns, Gaussian, Linear
    >>> print(Columns({"age": Linear(), ("height", "weight"): Gaussian("median")}))
    linear.on(['age']) + gaussian(lengthscale='median').on(['height', 'weight'])
    >>> Columns([(0, Linear()), ([1, 2], Gaussian(2.0))], join="product")([[3.0, 0.0, 0.0], [1.0, 0.0, 2.0]]).round(4)
    array([[9.    , 1.8196],
           [1.8196, 1.    ]])
    """
    if join not in JOINS:
        raise KernelError(message("join='sum' or join='product'", f"got {join!r}", "Use 'sum'.", subject="Columns"))
    placed = tuple(_placed(columns, kernel) for columns, kernel in _pairs(parts))
    if not placed:
        raise KernelError(
            message("at least one part", "got none", "Write {'age': Gaussian()}, say.", subject="Columns")
        )
    return placed[0] if len(placed) == 1 else JOINS[join](placed)


def _pairs(parts: Any) -> list[tuple[Any, Any]]:
    listed = list(parts.items()) if isinstance(parts, Mapping) else list(parts) if hasattr(parts, "__iter__") else None
    if isinstance(parts, str | Kernel) or listed is None or not all(_is_pair(part) for part in listed):
        got, remedy = f"got {parts!r:.60}", "Write {'age': Gaussian(), ('city', 'job'): Match()}."
        raise KernelError(message("a dict from columns to kernels, or pairs of both", got, remedy, subject="Columns"))
    return [(columns, kernel) for columns, kernel in listed]


def _is_pair(part: Any) -> bool:
    return isinstance(part, tuple | list) and len(part) == 2


def _placed(columns: Any, kernel: Any) -> Kernel:
    if not isinstance(kernel, Kernel):
        remedy = f"Write {kernel.__name__}()." if isinstance(kernel, type) else "Write Gaussian(), say."
        raise KernelError(message(f"a kernel for {columns!r}", f"got {kernel!r:.60}", remedy, subject="Columns"))
    return kernel.on(columns)
