"""The regions of labels in a plane: their colours, and the lines between them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.errors import InputError, message

MAX_DRAWN_LABELS = 200
"""Different labels that are drawn, at most: each has its own colour and lines, and more cannot be distinguished."""


def told_apart(*labels: Any) -> NDArray[Any]:
    """The different labels, sorted; what has very many is no label, as what a regression predicts."""
    flat = [np.ravel(each) for each in labels]
    if len({isinstance(each[:1].tolist()[0], str) for each in flat if len(each)}) > 1:
        got = "the model has texts and the rows have numbers, or the other way round"
        raise InputError(message("labels of one kind", got, "Give y as it was fitted."))
    known = np.unique(np.concatenate(flat))
    if len(known) > MAX_DRAWN_LABELS:
        remedy = "Use a classifier; a regression of one column is drawn by CurveDisplay."
        raise InputError(message(f"at most {MAX_DRAWN_LABELS} different labels", f"got {len(known)}", remedy))
    return known


def coloured(axes: Any, across: Any, up: Any, codes: NDArray[Any], shades: list[Any]) -> Any:
    """A mesh of pale colours, since a filled contour would have a thin band of label 1 between 0 and 2.

    codes : (len(up), len(across)), positions in shades
    """
    from matplotlib.colors import ListedColormap

    limits = {"vmin": -0.5, "vmax": len(shades) - 0.5}
    mesh = {"cmap": ListedColormap(shades), "alpha": 0.25, "shading": "nearest", "rasterized": True, "zorder": 0}
    return axes.pcolormesh(across, up, codes, **limits, **mesh)


def parted(axes: Any, across: Any, up: Any, codes: NDArray[Any]) -> list[Any]:
    """The lines around the region of each label that is not everywhere."""
    lines = []
    for code in np.unique(codes):
        inside = (codes == code).astype(float)
        if inside.min() < 0.5:
            lines.append(axes.contour(across, up, inside, levels=[0.5], colors="black", linewidths=0.8))
    return lines


def scattered(axes: Any, rows: NDArray[Any], labels: NDArray[Any], known: NDArray[Any], shades: list[Any]) -> list[Any]:
    """One collection of points per label of `known`, in its colour; lines go below them."""
    style = {"s": 14, "edgecolors": "white", "linewidths": 0.3, "zorder": 2.5}
    return [
        axes.scatter(*rows[labels == label].T, color=[shade], label=str(label), **style)
        for label, shade in zip(known, shades, strict=True)
    ]
